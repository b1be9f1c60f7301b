import { code, type Flow, fine, muted, section, tableHead } from "@signsealship/certificate";
import type { ChainLink } from "../store.ts";
import { instantText } from "./content.ts";

/** Every version up to this one, with the hash of its manifest. */
export function chainList(flow: Flow, chain: readonly ChainLink[]): void {
  section(flow, "Versions of this passport", 80);
  tableHead(flow, { Version: 0, Sealed: 58, "Manifest, SHA-256": 178 });
  for (const { version, createdAt, manifestSha256 } of chain) {
    flow.cells([
      [`Version ${version}`, { ...fine, weight: version === chain.length ? "semibold" : "regular" }, 0],
      [instantText(createdAt.toISOString()), { ...fine, colour: muted }, 58],
      [manifestSha256, { ...code, size: 7.6 }, 178],
    ]);
  }
  flow.skip(10);
}

/** Commands that check the certificate without this service. */
export const checkSteps = (manifestSha256: string) =>
  [
    ["pdfsig certificate.pdf", "The seal is a CMS signature over the whole file."],
    ["pdfdetach -save 1 -o manifest.json certificate.pdf", "The manifest is attached as it was hashed."],
    ["sha256sum manifest.json", `It prints ${manifestSha256.slice(0, 12)}…, the manifest’s hash above.`],
  ] as const;
