import { readFileSync } from "node:fs";
import { withAddress } from "../../kernel/http/openapi/samples.ts";

/** The guides, in the order in which a newcomer reads them. Each is a file of `service/guides`. */
export const guideNames = [
  "quickstart",
  "keys",
  "test-and-live",
  "idempotency",
  "errors",
  "limits",
  "paging",
  "webhooks",
  "templates",
  "filling",
  "bulk",
  "embedding",
  "rooms",
  "evidence",
  "going-live",
] as const;

export type GuideName = (typeof guideNames)[number];

export type Guide = {
  name: GuideName;
  title: string;
  /** The first paragraph. */
  lead: string;
  markdown: string;
};

const folder = new URL("../../../guides/", import.meta.url);

/** Reads the guides. @throws Error when a file is missing or has no title */
export const readGuides = (baseUrl: string): Guide[] => guideNames.map((name) => readGuide(name, baseUrl));

function readGuide(name: GuideName, baseUrl: string): Guide {
  const markdown = withAddress(readFileSync(new URL(`${name}.md`, folder), "utf8"), baseUrl);
  const [heading = "", lead = ""] = markdown.split("\n\n");
  if (!heading.startsWith("# ")) throw new Error(`the guide ${name} has no title`);
  return { name, title: heading.slice(2).trim(), lead, markdown };
}
