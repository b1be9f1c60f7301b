import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { appendRevision, bodyOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { type Check, checkUpload, type UploadRules } from "../../../../src/signing/notaries/uploads/check.ts";
import { openSigning } from "../../envelopes/pdf/signing.ts";
import { type NotaryPlace, type NotarySoftware, openNotarySoftware } from "../signing/notary-software.ts";

const { test, before, after } = testsNeeding("pyhanko", "qpdf");

const sentence = "Performed online using audio-video communication.";
const at = new Date("2026-06-01T12:00:00Z");
const folder = mkdtempSync(join(tmpdir(), "notary-"));
let software: NotarySoftware;
let signed: { bytes: Buffer; dateField: number };

before(async () => {
  software = await openNotarySoftware({
    Nora: ["2026-01-01", "2028-01-01"],
    Stranger: ["2026-01-01", "2028-01-01"],
  });
  signed = await signedByOne();
});
after(() => {
  software.close();
  rmSync(folder, { recursive: true });
});

/** A document that a signer has signed, so that the signature locks the date field. */
async function signedByOne() {
  const signing = await openSigning();
  const place = { x: 72, y: 600, width: 180, height: 48 };
  const planned = [
    { kind: "signature", signer: 1, page: 0, place },
    { kind: "date", signer: 1, page: 0, place: { ...place, y: 660, height: 20 } },
  ] as const;
  const { bytes, fields } = await signing.prepare(makePdf({ text: sentence }), planned, ["Jane Doe"], {
    isNotarized: true,
  });
  const done = await signing.act(bytes, fields, 1, { name: "Jane Doe", values: { date: "2026-01-15" } });
  return { bytes: done, dateField: fields.find(({ kind }) => kind === "date")?.object ?? 0 };
}

const rulesFor = (given: Buffer, more: Partial<UploadRules> = {}): UploadRules => ({
  revision: { bytes: given.length, sha256: createHash("sha256").update(given).digest("hex") },
  certificate: parseCertificatesPem(software.certificates["Nora"] ?? "")[0]?.der ?? null,
  mayBePaper: false,
  sentences: [],
  drawnLines: [],
  tsaRoots: "",
  at,
  ...more,
});

const troubles = (checks: readonly Check[]) =>
  checks.filter(({ state }) => state !== "holds").map(({ name, state }) => `${name} ${state}`);

const check = async (given: Buffer, upload: Buffer, more: Partial<UploadRules> = {}) =>
  checkUpload(upload, rulesFor(given, more));

test("a file that a notary signs with the registered certificate is accepted, whether or not the document was signed before", async () => {
  for (const given of [signed.bytes, makePdf()]) {
    const report = await check(given, await software.sign(given, "Nora"));
    assert.deepEqual(troubles(report.checks), [], JSON.stringify(report.checks));
    assert.equal(report.checks.length, 10);
    assert.equal(report.isPaper, false);
  }
});

test("another certificate than the registered one is refused by name, and so is any when none is registered", async () => {
  const upload = await software.sign(signed.bytes, "Stranger");
  const { checks } = await check(signed.bytes, upload);
  assert.deepEqual(troubles(checks), ["registered_certificate fails"]);
  const unregistered = await check(signed.bytes, upload, { certificate: null });
  assert.deepEqual(troubles(unregistered.checks), ["registered_certificate fails"]);
});

test("a certificate that has expired, or is not valid yet, is refused by name", async () => {
  const upload = await software.sign(signed.bytes, "Nora");
  for (const day of ["2028-01-02", "2025-12-31"]) {
    const { checks } = await check(signed.bytes, upload, { at: new Date(`${day}T12:00:00Z`) });
    assert.deepEqual(troubles(checks), ["certificate_in_date fails"]);
  }
});

test("a file that was rewritten before it was signed is refused by name; for an act in ink it counts as a scan", async () => {
  const [given, rewritten] = ["given.pdf", "rewritten.pdf"].map((name) => join(folder, name)) as [string, string];
  writeFileSync(given, makePdf({ text: sentence }));
  execFileSync("qpdf", ["--object-streams=generate", given, rewritten]);
  const upload = await software.sign(readFileSync(rewritten), "Nora");
  const refused = await check(readFileSync(given), upload);
  assert.deepEqual(troubles(refused.checks), ["our_revision fails"]);
  assert.equal(refused.isPaper, false);
  const scan = await check(readFileSync(given), upload, { mayBePaper: true });
  assert.deepEqual(troubles(scan.checks), ["our_revision warns"]);
  assert.equal(scan.isPaper, true);
});

test("a locked field that was changed is refused by name", async () => {
  const text = signed.bytes.toString("latin1");
  const body = bodyOf(text, signed.dateField).replace(/\/V \(2026-01-15\)/, "/V (2025-12-31)");
  assert.match(body, /2025-12-31/);
  const changed = Buffer.from(appendRevision(text, [[signed.dateField, body]]), "latin1");
  const { checks } = await check(signed.bytes, await software.sign(changed, "Nora"));
  assert.deepEqual(troubles(checks), ["earlier_signatures fails"]);
  assert.match(checks.find(({ name }) => name === "earlier_signatures")?.why ?? "", /which the signature locks/);
});

test("content that was painted over a page is refused by name", async () => {
  const given = makePdf();
  const text = given.toString("latin1");
  const painted = Buffer.from(
    appendRevision(text, [
      [
        5,
        bodyOf(text, 5)
          .replace(/>>\s*$/, "/Contents 90 0 R>>")
          .replace(/\/Contents 6 0 R/, ""),
      ],
      [90, "<< /Length 9 >>\nstream\n0 0 9 9 re\nendstream"],
    ]),
    "latin1",
  );
  const { checks } = await check(given, await software.sign(painted, "Nora"));
  assert.deepEqual(troubles(checks), ["permitted_changes fails"]);
});

test("replaced content is refused by name, even if the document names it as a tag", async () => {
  const text = makePdf().toString("latin1");
  const tagged = bodyOf(text, 1).replace(/>>\s*$/, "/StructTreeRoot<</Type/StructTreeRoot/K[6 0 R]>>>>");
  const given = Buffer.from(appendRevision(text, [[1, tagged]]), "latin1");
  assert.deepEqual(troubles((await check(given, await software.sign(given, "Nora"))).checks), []);
  const words = "BT /F1 24 Tf 72 700 Td (I owe 1000000 dollars) Tj ET";
  const content = `<< /Length ${words.length} >>\nstream\n${words}\nendstream`;
  const replaced = Buffer.from(appendRevision(given.toString("latin1"), [[6, content]]), "latin1");
  const { checks } = await check(given, await software.sign(replaced, "Nora"));
  assert.deepEqual(troubles(checks), ["permitted_changes fails"]);
});

test("a signature that is as large as the page, or covers words or another's field, is refused by name", async () => {
  const why = async (given: Buffer, notes: string | undefined, place: NotaryPlace) => {
    const { checks } = await check(given, await software.sign(given, "Nora", notes, place));
    const found = checks.find(({ name }) => name === "visible_place");
    return found?.state === "fails" ? found.why : null;
  };
  const { bytes } = signed;
  assert.match(
    (await why(bytes, undefined, { box: [0, 0, 612, 792] })) ?? "",
    /additions take 100 percent of the page/,
  );
  assert.match((await why(bytes, undefined, { box: [100, 100, 402, 200] })) ?? "", /is 302 by 100 points large/);
  assert.match((await why(bytes, undefined, { box: [100, 100, 300, 260] })) ?? "", /is 200 by 160 points large/);
  assert.equal(await why(bytes, undefined, { box: [260, 100, 560, 250] }), null);
  assert.equal(await why(bytes, undefined, { box: [300, 100, 450, 400] }), null, "upright, as on a page shown turned");
  assert.match((await why(bytes, undefined, { box: [72, 690, 272, 740] })) ?? "", /covers words .*“Performed online/);
  const field = { box: [100, 150, 200, 180] };
  assert.match((await why(bytes, undefined, field)) ?? "", /covers another field/, "the signature of Jane Doe");
  const wide = { box: [300, 40, 500, 90], notesBox: [20, 200, 600, 500] };
  assert.match((await why(makePdf(), "words", wide)) ?? "", /additions take \d+ percent/);
  assert.match(
    (await why(makePdf(), "words", { ...wide, notesBox: [72, 700, 400, 740] })) ?? "",
    /an addition covers words/,
  );
});

test("a signature in a reserved field of the document is accepted, whatever is below it", async () => {
  const text = makePdf({ text: sentence }).toString("latin1");
  const waiting = "<< /Type /Annot /Subtype /Widget /FT /Sig /T (Notary) /F 4 /Rect [60 680 560 760] /P 5 0 R >>";
  const given = Buffer.from(
    appendRevision(text, [
      [5, bodyOf(text, 5).replace(/>>\s*$/, "/Annots [90 0 R]>>")],
      [90, waiting],
      [1, bodyOf(text, 1).replace(/>>\s*$/, "/AcroForm << /SigFlags 1 /Fields [90 0 R] >> >>")],
    ]),
    "latin1",
  );
  const { checks } = await check(given, await software.sign(given, "Nora", undefined, { field: "Notary" }));
  assert.deepEqual(troubles(checks), []);
});

test("a signature that does not cover the whole file is refused by name", async () => {
  const upload = await software.sign(signed.bytes, "Nora");
  const longer = Buffer.from(appendRevision(upload.toString("latin1"), [[900, "<< /Nothing true >>"]]), "latin1");
  const { checks } = await check(signed.bytes, longer);
  assert.ok(troubles(checks).includes("whole_file fails"), JSON.stringify(checks));
});

test("a missing, a second and a broken signature are refused by name", async () => {
  const upload = await software.sign(signed.bytes, "Nora");
  const more = Buffer.from(appendRevision(signed.bytes.toString("latin1"), [[900, "<< /Nothing true >>"]]), "latin1");
  assert.deepEqual(troubles((await check(signed.bytes, more)).checks), ["one_signature fails"]);
  const twice = await software.sign(upload, "Nora");
  assert.ok(troubles((await check(signed.bytes, twice)).checks).includes("one_signature fails"));
  const at = upload.lastIndexOf("Notary");
  const broken = Buffer.from(upload);
  broken.write("X", at);
  assert.ok(troubles((await check(signed.bytes, broken)).checks).includes("signature_valid fails"));
  assert.deepEqual(
    troubles((await check(signed.bytes, Buffer.concat([signed.bytes, Buffer.from("junk")]))).checks).slice(0, 1),
    ["one_signature fails"],
  );
});

test("the required sentence is found on a page and in a note, with any spacing; if it is missing, the notary is warned", async () => {
  const written = { sentences: [sentence.toUpperCase().replace("ONLINE", "  online")] };
  const upload = await software.sign(signed.bytes, "Nora");
  assert.deepEqual(troubles((await check(signed.bytes, upload, written)).checks), []);
  const plain = makePdf();
  assert.deepEqual(troubles((await check(plain, await software.sign(plain, "Nora"), written)).checks), [
    "required_sentence warns",
  ]);
  const noted = await software.sign(plain, "Nora", sentence);
  assert.deepEqual(troubles((await check(plain, noted, written)).checks), []);
});
