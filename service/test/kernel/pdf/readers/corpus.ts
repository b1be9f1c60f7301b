import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import parts from "../../../../../packages/evidence/vectors/parts/index.json" with { type: "json" };

/** A file that is read on demand. */
export type Sample = { readonly name: string; readonly bytes: () => Uint8Array };

const root = fileURLToPath(new URL("../../../../../", import.meta.url));
const folders = ["packages/evidence/vectors", "testing/inputs/zoo/pdfs", "examples"];
const form = readFileSync(`${root}packages/evidence/vectors/parts/form.pdf`);

type Part = (typeof parts)[number] & { readonly again?: { at: number; times: number; of: string } };

/** The text of a vector part. `again` inserts a string that repeats many times, so that the part's file stays small. */
function textOf({ text = "", again }: Part): string {
  return again === undefined ? text : text.slice(0, again.at) + again.of.repeat(again.times) + text.slice(again.at);
}

/** PDFs of the repository: vectors, parts of vectors, the collection of unusual files, and examples. */
export function corpus(): Sample[] {
  const files = folders.flatMap((folder) =>
    globSync(`${folder}/**/*.pdf`, { cwd: root })
      .toSorted()
      .map((name) => ({ name, bytes: () => readFileSync(`${root}${name}`) })),
  );
  const texts = (parts as readonly Part[])
    .filter(({ kind }) => ["pdf", "attachment", "changes"].includes(kind))
    .map((part) => ({
      name: part.name,
      bytes: () => {
        const own = Buffer.from(textOf(part), "latin1");
        return part.kind === "changes" ? Buffer.concat([form, own]) : own;
      },
    }));
  return [...files, ...texts];
}
