// Writes packages/evidence/vectors/whole and parts: bin/run service/test/evidence/seals/make-vectors/make.ts
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { partsForm, partsIndex } from "./parts/parts.ts";
import { wholeVectors } from "./whole-vectors.ts";

const vectors = fileURLToPath(new URL("../../../../../packages/evidence/vectors/", import.meta.url));
const parts = `${vectors}parts/index.json`;
mkdirSync(dirname(parts), { recursive: true });
writeFileSync(parts, partsIndex());
writeFileSync(`${dirname(parts)}/form.pdf`, partsForm());
const folder = `${vectors}whole/`;
const files = await wholeVectors();
rmSync(folder, { recursive: true, force: true });
let length = 0;
for (const [name, bytes] of files) {
  mkdirSync(dirname(folder + name), { recursive: true });
  writeFileSync(folder + name, bytes);
  length += bytes.length;
}
console.log(`${files.size} files, ${Math.round(length / 1024)} KiB`);
