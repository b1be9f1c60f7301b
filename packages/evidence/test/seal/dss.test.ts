import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { judgedByDss } from "@signsealship/testing/tools/dss";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { wholeCases, wholeFolder } from "../whole-cases.ts";

const { test } = testsNeeding("dss");
const isFull = repeats(1, 0) === 1;
const pathOf = (file: string) => fileURLToPath(new URL(file, wholeFolder));
/**
 * True if the service made the file and no bytes precede the PDF header. DSS (the EU's validation library) requires a
 * PDF to begin with its header.
 */
const isOurs = (file: string) => /^(sealed|documents|custody)\//.test(file) && !/junk/.test(file);
const filesOf = (role: string): string[] => [
  ...new Set(
    wholeCases
      .filter(({ verdict, claims }) => verdict.startsWith("verified") && claims.every(({ state }) => state !== "fails"))
      .filter(({ files }) => role in files)
      .flatMap(({ files }) => files[role] ?? [])
      .filter(isOurs),
  ),
];

test("EU DSS accepts each signature in documents and certificates that our verifier accepts", () => {
  const files = ["sealed", "document", "certificate"].flatMap(filesOf);
  const some = isFull ? files : files.filter((_, index) => index % 10 === 0);
  const judged = judgedByDss(some.map(pathOf));
  assert.deepEqual(new Set(judged.map(({ path }) => path)), new Set(some.map(pathOf)));
  assert.deepEqual(
    judged.filter(({ verdict, indication }) => verdict !== "good" || indication === "TOTAL_FAILED"),
    [],
  );
});

test("EU DSS accepts no file with a changed byte", () => {
  const [judged] = judgedByDss([pathOf("changed/a-letter-of-the-page.pdf")]);
  assert.equal(judged?.verdict, "bad");
  assert.equal(judged?.indication, "TOTAL_FAILED");
});
