import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createTypeset, type Faces, openFaces, type Typeset } from "@signsealship/certificate";
import { makePdf } from "@signsealship/testing/pdf-maker";
import { needs } from "@signsealship/testing/tools";
import { askPyHanko } from "../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { buildAct } from "../../../src/envelopes/pdf/act.ts";
import type { PlannedField, PreparedField, SignatureMark } from "../../../src/envelopes/pdf/fields.ts";
import { MisplacedField, prepareDocument } from "../../../src/envelopes/pdf/prepare.ts";
import {
  type Authority,
  issueSignerCertificate,
  makeRoot,
  makeSignerAuthority,
  oneActKey,
} from "../../../src/envelopes/signer-authority.ts";
import { createCmsSigner } from "../../../src/seals/cms.ts";
import { completeSeal, hashTail } from "../../../src/seals/pdf/seal-pdf.ts";
import { mutoolOpens, pdfsig, qpdfAccepts } from "../../seals/pdf/oracles.ts";
import { memoryKey, someInstant } from "../../seals/signers.ts";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes);
const folder = mkdtempSync(join(tmpdir(), "act-"));
let faces: Faces;
let typeset: Typeset;
let authority: Authority;

before(async () => {
  faces = await openFaces();
  typeset = createTypeset(faces);
  const made = { host: "seal.example", at: someInstant };
  const root = await makeRoot({ ...made, key: memoryKey("rsa"), serialNumber: randomBytes(16) });
  authority = await makeSignerAuthority(root, { ...made, key: memoryKey("p-256"), serialNumber: randomBytes(16) });
});
after(() => rmSync(folder, { recursive: true }));

const place = (x: number, y: number, width = 180, height = 48) => ({ x, y, width, height });

/** A document with the fields of its signers. */
async function prepared(original: Buffer, planned: PlannedField[], signers: string[]) {
  for (const name of signers) await faces.prepare(name);
  const docSha256 = sha256(original).digest("hex");
  const { tail, fields } = prepareDocument(original, { planned, signers, docSha256 }, typeset);
  return { bytes: Buffer.concat([original, tail]), fields };
}

/** The document with one more act. */
async function acted(
  document: Buffer,
  fields: readonly PreparedField[],
  signer: number,
  { name, mark, values = {} }: { name: string; mark?: SignatureMark; values?: Record<string, string> },
): Promise<Buffer> {
  const own = fields.filter((field) => field.signer === signer);
  const caption = `${name} · 2026-01-15 12:00 UTC · 0a1b2c3d`;
  for (const text of [name, caption, ...Object.values(values)]) await faces.prepare(text);
  const hash = sha256(document);
  const act = {
    fields: own,
    values: new Map(own.map((field) => [field.name, values[field.kind] ?? ""])),
    mark: mark ?? ({ kind: "typed", text: name } as const),
    caption,
    signerName: name,
    reason: "I agree to sign this electronically",
    at: new Date(someInstant),
    actSha256: "0a1b2c3d".repeat(8),
  };
  const key = oneActKey();
  const chain = await issueSignerCertificate(authority, {
    name,
    email: "jane@example.com",
    publicKey: key.publicKey,
    statement: "https://seal.example/signers",
    serialNumber: randomBytes(16),
    at: someInstant,
  });
  const cms = createCmsSigner({ key, chain });
  const tail = buildAct(document, hash.copy().digest("hex"), { ...act, reserve: cms.maxLength() }, typeset);
  const open = hashTail(tail, hash, document.length);
  const signature = await cms.sign(open);
  return Buffer.concat([document, completeSeal(open, signature.cms()).tail]);
}

const twoSigners: PlannedField[] = [
  { kind: "signature", signer: 1, page: 0, place: place(72, 600) },
  { kind: "date", signer: 1, page: 0, place: place(72, 660, 120, 20) },
  { kind: "signature", signer: 2, page: 1, place: place(320, 600) },
  { kind: "name", signer: 2, page: 1, place: place(320, 660, 180, 20) },
  { kind: "signature", signer: 1, page: 1, place: place(72, 600) },
];

test(
  "two signers' acts and every one before stay valid for pyHanko, pdfsig, mutool and qpdf",
  needs("pyhanko", "poppler", "mupdf", "qpdf"),
  async () => {
    const original = makePdf({ pages: 2 });
    const { bytes, fields } = await prepared(original, twoSigners, ["Jane Doe", "王小明"]);
    const drawn = {
      kind: "drawn",
      width: 300,
      height: 100,
      strokes: [
        [
          [10, 80],
          [90, 10],
          [160, 90],
        ],
        [[200, 50]],
      ],
    } as const;
    const first = await acted(bytes, fields, 1, { name: "Jane Doe", values: { date: "2026-01-15" }, mark: drawn });
    const second = await acted(first, fields, 2, { name: "王小明", values: { name: "王小明" } });
    for (const earlier of [original, bytes, first])
      assert.equal(Buffer.compare(second.subarray(0, earlier.length), earlier), 0);
    const path = join(folder, "two.pdf");
    writeFileSync(path, second);
    if (process.env["KEEP"]) writeFileSync(process.env["KEEP"], second);
    assert.deepEqual(await pdfsig(path), [
      { valid: true, whole: false },
      { valid: true, whole: true },
    ]);
    assert.ok(await mutoolOpens(path));
    assert.ok(await qpdfAccepts(path));
    const [answer] = askPyHanko([{ judge: second }]);
    assert.equal(answer?.error, undefined);
    assert.deepEqual(
      answer?.signatures?.map(({ permitted }) => permitted),
      [true, true],
      JSON.stringify(answer),
    );
  },
);

test("a field that is on no page is named", async () => {
  const beside: PlannedField[] = [{ kind: "signature", signer: 1, page: 0, place: place(600, 600) }];
  await assert.rejects(
    prepared(makePdf(), beside, ["Jane"]),
    (error) => error instanceof MisplacedField && error.field === 0,
  );
  const after: PlannedField[] = [{ kind: "signature", signer: 1, page: 3, place: place(10, 10) }];
  await assert.rejects(prepared(makePdf(), after, ["Jane"]), /page 4 of a document with 1 pages/);
});
