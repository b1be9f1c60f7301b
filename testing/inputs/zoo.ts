import { readFileSync } from "node:fs";
import { join } from "node:path";
import expectations from "./zoo/expectations.json" with { type: "json" };

/** A file of the zoo (PDFs of many programs). `expected` is `sealed`, or the reason why sealing is refused. */
export type ZooFile = { readonly name: string; readonly expected: string; readonly path: string };

/** Every file of the zoo with the expected outcome of sealing it. `zoo/make.sh` regenerates the files. */
export function zooFiles(): ZooFile[] {
  return Object.entries(expectations).map(([name, expected]) => ({
    name,
    expected,
    path: join(import.meta.dirname, "zoo", "pdfs", name),
  }));
}

/** The bytes of one file, named as in `expectations.json`. */
export function zooBytes(name: string): Buffer {
  return readFileSync(join(import.meta.dirname, "zoo", "pdfs", name));
}
