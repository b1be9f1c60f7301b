import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fieldTexts, openUnlocked } from "@signsealship/evidence/pdf";
import { verifySignatures } from "@signsealship/evidence/seal";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { appendRevision, bodyOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import type { RequestedField } from "../../../../src/orders/order/order.ts";
import { plan } from "../../../../src/signing/envelopes/pdf/placement/plan.ts";
import { mutoolVerdict, pdfsig, qpdfAccepts } from "../../../evidence/seals/pdf/oracles.ts";
import { emptyForm, formWith, placesOfEmpty } from "./made-forms.ts";
import { openSigning } from "./signing.ts";

type Name = keyof typeof placesOfEmpty;

const folder = mkdtempSync(join(tmpdir(), "document-fields-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const signing = await openSigning();

/**
 * A field that the order requests. @param name the form's field at whose place it is, or its distance from the top in
 * points
 */
const at = (name: Name | number, kind: RequestedField["kind"], signer: number, more: object = {}): RequestedField =>
  ({
    kind,
    signer,
    page: 1,
    x: 72,
    y: typeof name === "number" ? name : placesOfEmpty[name],
    width: 150,
    height: 20,
    label: null,
    required: true,
    ...more,
  }) as RequestedField;

const used = async (document: Buffer, fields: readonly RequestedField[]) =>
  (await plan(document, { signers: 2, fields })).map(({ existing }) => existing?.name ?? null);

const requested: readonly RequestedField[] = [
  at("Buyer Name", "text", 1, { label: "Your name" }),
  at("agreed", "checkbox", 1, { required: false, label: "Agreed" }),
  at("signature", "signature", 1),
  at("color", "dropdown", 2, { label: "Color", options: [{ label: "Red" }, { label: "Blue" }] }),
  at("seller.name", "name", 2),
  at(600, "signature", 2, { height: 40 }),
];

test("gives a signer the document's own empty field at the place that the order lists", async () => {
  assert.deepEqual(await used(emptyForm(), requested), [
    "Buyer Name",
    "agreed",
    "signature",
    "color",
    "seller.name",
    null,
  ]);
});

test("gives the own field also when the place is a little off, and none when it is far off or on another page", async () => {
  const near = at("Buyer Name", "text", 1, { x: 75, y: placesOfEmpty["Buyer Name"] + 1 });
  assert.deepEqual(await used(emptyForm(), [near]), ["Buyer Name"]);
  const far = at("Buyer Name", "text", 1, { x: 110 });
  assert.deepEqual(await used(emptyForm(), [far, { ...near, page: 2 }]), [null, null]);
});

test("gives an own field to the first of two requested fields alone", async () => {
  const twice = [at("Buyer Name", "text", 1), at("Buyer Name", "date", 2)];
  assert.deepEqual(await used(emptyForm(), twice), ["Buyer Name", null]);
});

for (const [name, why] of [
  ["fixed", "is read-only"],
  ["prefilled", "has a value"],
  ["twice", "has two widgets"],
  ["secret", "is a password"],
  ["inherits", "inherits a value"],
] as const)
  test(`places a field above an own field that ${why}`, async () => {
    assert.deepEqual(await used(emptyForm(), [at(name, "text", 1)]), [null]);
  });

test("places a field above an own field that has the name of another one", async () => {
  assert.deepEqual(await used(emptyForm(), [at("double", "text", 1)]), ["double"]);
  assert.deepEqual(await used(emptyForm("fixed"), [at("double", "text", 1)]), [null]);
});

test("places a field of another type above an own field", async () => {
  const fields = [at("Buyer Name", "checkbox", 1), at("agreed", "text", 1), at("color", "number", 1)];
  assert.deepEqual(await used(emptyForm(), fields), [null, null, null]);
});

function altered(object: number, from: RegExp, to: string, more: readonly [number, string][] = []): Buffer {
  const text = emptyForm().toString("latin1");
  const body = bodyOf(text, object);
  assert.match(body, from);
  return Buffer.from(appendRevision(text, [[object, body.replace(from, to)], ...more]), "latin1");
}

const first = requested.slice(0, 1);
const catalog = 1;
const onPage = 5;
for (const [what, form] of [
  ["in a form that XFA describes too", altered(catalog, /\/AcroForm <</, "/AcroForm << /XFA []")],
  ["with a name that pages could mistake", altered(20, /Buyer Name/, "Buyer <b>")],
  ["with a name like those of our own fields", altered(20, /Buyer Name/, "SignSealShip-1")],
  ["that its page lists twice", altered(onPage, /\[20 0 R/, "[20 0 R 20 0 R")],
  ["that the form lists twice", altered(catalog, /\/Fields \[20 0 R/, "/Fields [20 0 R 20 0 R")],
  ["that the form lists beside its parent, too", altered(catalog, /\/Fields \[/, "/Fields [24 0 R ")],
  [
    "in a form with a field that is no object of its own",
    altered(catalog, /\/Fields \[/, "/Fields [<< /T (x) /FT /Tx >> "),
  ],
  ["outside its page", altered(20, /\/Rect \[72 (\d+) 222/, "/Rect [-40 $1 222")],
  ["that is no widget", altered(20, /\/Subtype \/Widget/, "/Subtype /Popup")],
  ["in an optional layer", altered(20, /\/FT \/Tx/, "/FT /Tx /OC 46 0 R")],
  ["that names a parent outside the form", altered(20, /\/FT \/Tx/, "/FT /Tx /Parent 46 0 R")],
] as const)
  test(`uses no own field ${what}`, async () => {
    assert.deepEqual(await used(form, first), [null]);
  });

test("asks at the own field's place, even when the order's place is a little off", async () => {
  const near = at("Buyer Name", "text", 1, { x: 75, y: placesOfEmpty["Buyer Name"] + 1, height: 19 });
  const [planned] = await plan(emptyForm(), { signers: 2, fields: [near] });
  assert.deepEqual(planned?.place, { x: 72, y: placesOfEmpty["Buyer Name"], width: 150, height: 20 });
});

test("of two requested signatures of one signer, one is signed in an own field", async () => {
  const form = formWith([{ name: "a" }, { name: "b", rect: "320 100 520 150" }]);
  const place = { y: 642, width: 200, height: 50 };
  const both = [at(0, "signature", 1, { ...place, x: 100 }), at(0, "signature", 1, { ...place, x: 320 })];
  assert.deepEqual(await used(form, both), ["a", null]);
  assert.deepEqual(await used(makePdf(), both), [null, null]);
});

describe("own fields that two signers filled in", needs("pyhanko", "poppler", "mupdf", "qpdf"), () => {
  const signed = async () => {
    const planned = await plan(emptyForm(), { signers: 2, fields: requested });
    const { bytes, fields } = await signing.prepare(emptyForm(), planned, ["Jane Doe", "Max Roe"]);
    const values = { "Your name": "Jane Elizabeth Doe", Agreed: "On" };
    const first = await signing.act(bytes, fields, 1, { name: "Jane Doe", values });
    const second = { name: "Max Roe", values: { Color: "Blue", name: "Max Roe" } };
    return signing.act(first, fields, 2, second);
  };

  test("hold the values under their own names, and every act is valid for every reader", async () => {
    const pdf = await signed();
    const texts = fieldTexts(await openUnlocked(pdf));
    assert.deepEqual(
      ["Buyer Name", "agreed", "color", "seller.name"].map((name) => texts.get(name)),
      ["Jane Elizabeth Doe", "On", "Blue", "Max Roe"],
    );
    const ours = await verifySignatures(pdf, [], Date.now(), createNodeCrypto());
    assert.deepEqual(
      ours.map(({ claims }) => claims.every(({ state }) => state === "holds")),
      [true, true],
    );
    const [answer] = askPyHanko([{ judge: pdf }]);
    assert.deepEqual(
      answer?.signatures?.map(({ permitted }) => permitted),
      [true, true],
      JSON.stringify(answer),
    );
    const path = join(folder, "signed.pdf");
    writeFileSync(path, pdf);
    assert.equal((await pdfsig(path)).filter(({ valid }) => valid).length, 2);
    assert.match(await mutoolVerdict(path), /edits since signing|unchanged since signing/);
    assert.ok(await qpdfAccepts(path));
  });

  test("are valid for pyHanko also where partial names of the document have periods, which pyHanko refuses", async () => {
    const form = altered(20, /Buyer Name/, "Buyer.Name");
    const planned = await plan(form, { signers: 2, fields: requested });
    assert.equal(planned[0]?.existing?.name, "Buyer.Name");
    const { bytes, fields } = await signing.prepare(form, planned, ["Jane Doe", "Max Roe"]);
    assert.equal(fields[0]?.name, "Buyer_Name");
    const values = { "Your name": "Jane Elizabeth Doe", Agreed: "On" };
    const signedOnce = await signing.act(bytes, fields, 1, { name: "Jane Doe", values });
    const pdf = await signing.act(signedOnce, fields, 2, {
      name: "Max Roe",
      values: { Color: "Blue", name: "Max Roe" },
    });
    const [answer] = askPyHanko([{ judge: pdf }]);
    assert.deepEqual(
      answer?.signatures?.map(({ permitted }) => permitted),
      [true, true],
      JSON.stringify(answer),
    );
    assert.equal(fieldTexts(await openUnlocked(pdf)).get("Buyer_Name"), "Jane Elizabeth Doe");
    const ours = await verifySignatures(pdf, [], Date.now(), createNodeCrypto());
    assert.ok(ours.every(({ claims }) => claims.every(({ state }) => state === "holds")));
  });

  test("lose the format, default value and actions that the form's author gave them", async () => {
    const body = bodyOf((await signed()).toString("latin1"), 20);
    for (const key of ["MaxLen", "AA", "DV", "Q"]) assert.match(body, new RegExp(`/${key}\\s+null`));
  });
});
