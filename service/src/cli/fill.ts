import { readFile } from "node:fs/promises";
import { maxUploadBytes } from "../http/multipart.ts";
import { addFill } from "../orders/orders.ts";
import { StartupError } from "../platform/errors.ts";
import { lines, textOption, type Verb, withResources } from "./verb.ts";

export const fillVerbs: Verb[] = [
  {
    name: "fill add",
    args: ["FILE"],
    flags: "[--slug S]",
    options: { slug: { type: "string" } },
    summary: "Stores a completed PDF and answers with the fill token that one order may use.",
    async run([file = ""], values) {
      const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
        throw new StartupError(`FILE ${file} cannot be read (${error.code})`);
      });
      return withResources(async (resources) => {
        const added = await addFill(resources, bytes, {
          slug: textOption(values, "slug") ?? null,
          maxBytes: maxUploadBytes,
        });
        return { json: added, text: lines(added) };
      });
    },
  },
];
