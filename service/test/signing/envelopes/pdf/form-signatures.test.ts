import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fillsOwnFields } from "@signsealship/evidence/envelope";
import { openUnlocked } from "@signsealship/evidence/pdf";
import { verifySignatures } from "@signsealship/evidence/seal";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes } from "@signsealship/testing/inputs/zoo";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import fc from "fast-check";
import {
  askPyHanko,
  type Operation,
} from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { appendRevision, bodyOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { type PageBox, shownPlace, toUserSpace } from "../../../../src/kernel/pdf/pages/page-box.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { planFields } from "../../../../src/signing/envelopes/envelopes.ts";
import { tryAll } from "../../../../src/signing/envelopes/preflight/trial.ts";
import { pdfsig, qpdfAccepts } from "../../../evidence/seals/pdf/oracles.ts";
import { formWith } from "./made-forms.ts";
import { openSigning } from "./signing.ts";

const folder = mkdtempSync(join(tmpdir(), "form-signatures-"));

const signing = await openSigning();
after(() => rmSync(folder, { recursive: true }));

const planned = (bytes: Buffer, signers: number) =>
  planFields(inlineWorkers, { holder: "firm", bytes, signers, fields: null });
const namesOf = async (bytes: Buffer, signers: number) =>
  (await planned(bytes, signers)).map(({ signer, existing }) => [signer, existing?.name ?? "a mark"]);

const column = (names: readonly string[]) =>
  formWith(names.map((name, index) => ({ name, rect: `72 ${700 - 60 * index} 252 ${740 - 60 * index}` })));

test("a document's empty signature fields belong to the signers: by number, else from the top of the first page down", async () => {
  assert.deepEqual(await namesOf(column(["signer2", "Signer_1"]), 2), [
    [2, "signer2"],
    [1, "Signer_1"],
  ]);
  assert.deepEqual(await namesOf(column(["seller", "buyer"]), 2), [
    [1, "seller"],
    [2, "buyer"],
  ]);
  assert.deepEqual(await namesOf(column(["seller", "buyer"]), 1), [[1, "seller"]]);
  assert.deepEqual(await namesOf(column(["Signature7", "Signature9"]), 2), [
    [1, "Signature7"],
    [2, "Signature9"],
  ]);
});

test("a field named for a signer whom the order does not have stays empty", async () => {
  assert.deepEqual(await namesOf(column(["signer5", "signer2"]), 3), [[2, "signer2"]]);
  assert.deepEqual(await namesOf(column(["signer1", "Signer 5 - signature"]), 2), [[1, "signer1"]]);
  assert.deepEqual(await namesOf(column(["signer_5"]), 1), []);
  assert.deepEqual(await namesOf(column(["signer5"]), 6), [[5, "signer5"]]);
});

test("a number after a role tells its people apart, and is not a signer's number", async () => {
  const fields = ["buyer2", "seller1", "buyer1", "tenant 1", "tenant 2"];
  assert.deepEqual(await namesOf(column(fields), 5), [
    [3, "buyer2"],
    [2, "seller1"],
    [1, "buyer1"],
    [4, "tenant 1"],
    [5, "tenant 2"],
  ]);
});

test("a number after “signature” counts the people of the name's role, or the signers if it has no role", async () => {
  assert.deepEqual(await namesOf(column(["BuyerSignature2", "BuyerSignature1"]), 2), [
    [2, "BuyerSignature2"],
    [1, "BuyerSignature1"],
  ]);
  assert.deepEqual(await namesOf(column(["Borrower Sig 1", "LenderSig1"]), 2), [
    [1, "Borrower Sig 1"],
    [2, "LenderSig1"],
  ]);
  assert.deepEqual(await namesOf(column(["eSignature2", "eSignature1"]), 2), [
    [2, "eSignature2"],
    [1, "eSignature1"],
  ]);
});

test("a role with several fields is one signer, whose further fields show the signature again", async () => {
  assert.deepEqual(await namesOf(column(["buyer_top", "seller", "buyer_end"]), 2), [
    [1, "buyer_top"],
    [2, "seller"],
    [1, "a mark"],
  ]);
});

test("the fields of notaries and witnesses stay empty, and so do invisible ones", async () => {
  assert.deepEqual(await namesOf(column(["NotarySignature", "witness 1", "Sign here"]), 3), [[1, "Sign here"]]);
  assert.deepEqual(await namesOf(formWith([{ name: "a", rect: "0 0 0 0" }]), 1), []);
  assert.deepEqual(await namesOf(formWith([{ name: "a", flags: 2 }]), 1), []);
  assert.deepEqual(await namesOf(zooBytes("signed-once.pdf"), 1), []);
});

test("a field whose name programs read differently belongs to nobody, and one that is listed twice is one field", async () => {
  const renamed = column(["bu.er"]).toString("latin1").replace("(bu.er)", "(bu\x80er)");
  assert.deepEqual(await namesOf(Buffer.from(renamed, "latin1"), 1), []);
  const once = column(["buyer"]).toString("latin1");
  const catalog = bodyOf(once, 1).replace("/Fields [20 0 R]", "/Fields [20 0 R 20 0 R]");
  const twice = Buffer.from(appendRevision(once, [[1, catalog]]), "latin1");
  const { planned: fields } = await tryAll(twice, { sha256: "0".repeat(64), signers: ["Jane"], fields: null });
  const { bytes, fields: prepared } = await signing.prepare(twice, fields, ["Jane"]);
  const signed = await signing.act(bytes, prepared, 1, { name: "Jane" });
  const own = new Map(prepared.map(({ name, kind }) => [name, kind]));
  assert.equal(fillsOwnFields(await openUnlocked(signed), bytes.length, own), true);
});

test("the place of a rectangle on the shown page is the inverse of a place in user space", () => {
  const box = fc.record({
    shown: fc.constantFrom<PageBox["shown"][]>([0, 0, 612, 792], [36, 72, 500, 700], [-10, -10, 400, 300]),
    rotate: fc.constantFrom<PageBox["rotate"][]>(0, 90, 180, 270),
    unit: fc.constantFrom(0.5, 1, 2),
  });
  const side = fc.integer({ min: 1, max: 200 });
  const place = fc.record({ x: side, y: side, width: side, height: side });
  fc.assert(fc.property(box, place, (on, at) => assert.deepEqual(shownPlace(on, toUserSpace(on, at).rect), { ...at })));
});

test("a field on a rotated page is where a reader shows it", async () => {
  const [field] = await planned(formWith([{ name: "a", rect: "100 100 300 150" }], "/Rotate 90"), 1);
  assert.deepEqual(field?.place, { x: 100, y: 100, width: 50, height: 200 });
});

async function signedBy(bytes: Buffer, names: readonly string[]): Promise<Buffer> {
  const prepared = await signing.prepare(bytes, await planned(bytes, names.length), names);
  let signed: Buffer = prepared.bytes;
  for (const [index, name] of names.entries()) signed = await signing.act(signed, prepared.fields, index + 1, { name });
  return signed;
}

const permitted = (bytes: Buffer) => {
  const [answer] = askPyHanko([{ judge: bytes }]);
  return answer?.signatures?.map((each) => [each.field, each.permitted]);
};

test(
  "the fields themselves are signed, whatever they locked and required, and a signer without one signs on an added page",
  needs("pyhanko", "poppler", "qpdf"),
  async () => {
    const fields = [
      { name: "seller", rect: "72 600 252 640", more: "/Lock << /Type /SigFieldLock /Action /All >>" },
      { name: "buyer", rect: "72 500 252 540", more: "/SV << /Type /SV /Ff 1 /Filter /Other >>" },
    ];
    const signed = await signedBy(formWith(fields), ["Jane Doe", "王小明", "Zoë"]);
    const [seller, buyer, third] = permitted(signed) ?? [];
    assert.deepEqual([seller, buyer, third?.[1]], [["seller", true], ["buyer", true], true]);
    const path = join(folder, "own.pdf");
    writeFileSync(path, signed);
    assert.ok(await qpdfAccepts(path));
    assert.deepEqual(
      (await pdfsig(path)).map(({ valid }) => valid),
      [true, true, true],
    );
  },
);

const certified: Operation = ["certify", 2];
for (const [what, make] of [
  ["certified for forms (P 2)", certified],
  ["signed", ["approve", "Other"]],
] as const)
  test(
    `the empty field of a document that is ${what} is signed, and nothing else is changed`,
    needs("pyhanko"),
    async () => {
      const empty = formWith([
        { name: "seller", rect: "72 600 252 640" },
        { name: "buyer", rect: "72 500 252 540" },
      ]);
      const [made] = askPyHanko([{ pdf: empty, make: [make] }]);
      const original = Buffer.from(made?.pdf ?? []);
      const signed = await signedBy(original, ["Jane Doe", "Bob"]);
      assert.ok(signed.subarray(0, original.length).equals(original));
      assert.deepEqual(
        permitted(signed)?.map(([, holds]) => holds),
        [true, true, true],
      );
      if (what === "signed")
        await assert.rejects(signedBy(original, ["Jane", "Bob", "Eve"]), /can't be added: the document is signed/);
    },
  );

test(
  "a signer without a field in a certified document signs invisibly, by all readers' rules",
  needs("pyhanko", "poppler", "qpdf"),
  async () => {
    const own = formWith([{ name: "seller", rect: "72 600 252 640" }]);
    const made = askPyHanko([
      { pdf: own, make: [certified] },
      { pdf: makePdf(), make: [["certify", 3]] },
    ]);
    for (const [index, { pdf }] of made.entries()) {
      const original = Buffer.from(pdf ?? []);
      const signed = await signedBy(original, ["Jane Doe", "Bob"]);
      assert.deepEqual(
        permitted(signed)?.map(([, holds]) => holds),
        [true, true, true],
      );
      const judged = await verifySignatures(signed, [], Date.now(), createNodeCrypto());
      assert.deepEqual(
        judged.flatMap(({ claims }) => claims).filter(({ state }) => state === "fails"),
        [],
      );
      const path = join(folder, `invisible-${index}.pdf`);
      writeFileSync(path, signed);
      assert.ok(await qpdfAccepts(path));
      assert.ok((await pdfsig(path)).every(({ valid }) => valid));
      await assert.rejects(
        signing.prepare(original, [{ kind: "date", signer: 1, page: 0, place }], ["Jane Doe"]),
        /can't be added: the document is certified, and allows no new fields that show/,
      );
    }
  },
);

const place = { x: 72, y: 72, width: 180, height: 40 };
