import { archivedFiles } from "./archived.ts";
import { attachedRecords } from "./attached.ts";
import { indexed, type Made } from "./case.ts";
import { changes } from "./changes.ts";
import { closingSets } from "./closing.ts";
import { cmsForms } from "./cms-forms.ts";
import { custodySets } from "./custody.ts";
import { documents } from "./documents.ts";
import { earlierRules } from "./earlier-rules.ts";
import { finished } from "./finished.ts";
import { forged, movedGaps } from "./forged.ts";
import { issued } from "./issued.ts";
import { logged } from "./logged.ts";
import { proofRecords } from "./proof-records.ts";
import { provenTimes } from "./proven-time.ts";
import { purposes } from "./purposes.ts";
import { reading } from "./reading.ts";
import { restated } from "./restated.ts";
import { retired } from "./retired.ts";
import { roomDocuments } from "./room-documents.ts";
import { roomRecords } from "./room-records.ts";
import { changed, runningOver, sealedFiles } from "./sealed.ts";
import { trustFiles } from "./signers.ts";
import { tailRules } from "./tail-rules.ts";
import { oddTails } from "./tails.ts";
import { oddValues } from "./values.ts";
import { ways } from "./ways.ts";
import { zips } from "./zips.ts";

/** JSON with a line for each member of a case, and for each claim. */
function asLines(cases: readonly ReturnType<typeof indexed>[]): string {
  const text = JSON.stringify(cases, null, 1);
  return `${text.replace(/\{\n\s+"claim": ("[^"]*"),\n\s+"state": ("\w+")\n\s+\}/g, '{ "claim": $1, "state": $2 }')}\n`;
}

/** The files of packages/evidence/vectors/whole by their names: the same bytes in each run. */
export async function wholeVectors(): Promise<ReadonlyMap<string, Uint8Array>> {
  const families: readonly Made[] = [
    await sealedFiles(),
    await issued(),
    await retired(),
    await provenTimes(),
    await logged(),
    await reading(),
    await purposes(),
    await attachedRecords(),
    oddValues(),
    cmsForms(),
    oddTails(),
    tailRules(),
    await ways(),
    await changed(),
    await runningOver(),
    await restated(),
    forged(),
    await movedGaps(),
    await documents(),
    await changes(),
    await finished(),
    archivedFiles(),
    earlierRules(),
    zips(),
    proofRecords(),
    roomRecords(),
    closingSets(),
    roomDocuments(),
    await custodySets(),
  ];
  const files = new Map<string, Uint8Array>();
  for (const [name, pem] of Object.entries(trustFiles)) files.set(name, Buffer.from(pem));
  for (const family of families) for (const [name, bytes] of family.files) files.set(name, bytes);
  const cases = families.flatMap((family) => family.cases.map(indexed));
  return files.set("index.json", Buffer.from(asLines(cases)));
}
