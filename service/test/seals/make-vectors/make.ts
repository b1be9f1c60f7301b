// Writes packages/evidence/vectors/whole: bin/run service/test/seals/make-vectors/make.ts
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { indexed, type Made } from "./case.ts";
import { changes } from "./changes.ts";
import { closingSets } from "./closing.ts";
import { documents } from "./documents.ts";
import { forged, movedGaps } from "./forged.ts";
import { issued } from "./issued.ts";
import { proofRecords } from "./proof-records.ts";
import { purposes } from "./purposes.ts";
import { reading } from "./reading.ts";
import { roomRecords } from "./room-records.ts";
import { changed, sealedFiles } from "./sealed.ts";
import { trustFiles } from "./signers.ts";
import { oddValues } from "./values.ts";
import { zips } from "./zips.ts";

const folder = fileURLToPath(new URL("../../../../packages/evidence/vectors/whole/", import.meta.url));

function write(name: string, bytes: Uint8Array | string): void {
  mkdirSync(dirname(folder + name), { recursive: true });
  writeFileSync(folder + name, bytes);
}

/** JSON with a line for each member of a case, and for each claim. */
function asLines(cases: readonly ReturnType<typeof indexed>[]): string {
  const text = JSON.stringify(cases, null, 1);
  return `${text.replace(/\{\n\s+"claim": ("[^"]*"),\n\s+"state": ("\w+")\n\s+\}/g, '{ "claim": $1, "state": $2 }')}\n`;
}

const families: readonly Made[] = [
  await sealedFiles(),
  await issued(),
  await reading(),
  await purposes(),
  oddValues(),
  await changed(),
  forged(),
  await movedGaps(),
  await documents(),
  await changes(),
  zips(),
  proofRecords(),
  roomRecords(),
  closingSets(),
];
rmSync(folder, { recursive: true, force: true });
for (const [name, pem] of Object.entries(trustFiles)) write(name, pem);
let bytes = 0;
for (const { files } of families) {
  for (const [name, data] of files) {
    write(name, data);
    bytes += data.length;
  }
}
const cases = families.flatMap((family) => family.cases.map(indexed));
write("index.json", asLines(cases));
console.log(`${cases.length} cases, ${Math.round(bytes / 1024)} KiB of files`);
