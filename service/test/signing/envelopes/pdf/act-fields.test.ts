import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { type ActFields, fillsOwnFields } from "@signsealship/evidence/envelope";
import { changesSince, openUnlocked } from "@signsealship/evidence/pdf";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import {
  appendRevision,
  bodyOf,
  endOf,
  type NewObject,
} from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { run as checkAct } from "../../../../src/signing/envelopes/pdf/check-act-task.ts";
import { ownFields, type PlannedField, type PreparedField } from "../../../../src/signing/envelopes/pdf/fields.ts";
import { oneActKey } from "../../../../src/signing/envelopes/signer-authority.ts";
import { openSigning } from "./signing.ts";

const common = { signer: 1, page: 0 } as const;
const place = (y: number) => ({ x: 72, y, width: 150, height: 30 });
const box = (x: number) => ({ x, y: 300, width: 14, height: 14 });
const planned: PlannedField[] = [
  { ...common, kind: "signature", place: place(100) },
  { ...common, kind: "text", place: place(150) },
  { ...common, kind: "dropdown", place: place(200), options: ["Red", "Blue"] },
  { ...common, kind: "checkbox", place: box(72) },
  { ...common, kind: "radio", place: box(100), option: "Yes", radio: 4 },
  { ...common, kind: "radio", place: box(130), option: "No", radio: 4 },
  { ...common, signer: 2, kind: "signature", place: place(400) },
  { ...common, signer: 2, kind: "checkbox", place: box(400) },
  { ...common, kind: "text", place: place(450), value: "Oregon", readOnly: true },
];
const values = { text: "Parcel 7", dropdown: "Red", checkbox: "On", Yes: "On" };

let signing: Awaited<ReturnType<typeof openSigning>>;
let document: Buffer;
let fields: readonly PreparedField[];
let signed: Buffer;
before(async () => {
  signing = await openSigning();
  ({ bytes: document, fields } = await signing.prepare(makePdf(), planned, ["Jane", "Max"]));
  signed = await signing.act(document, fields, 1, { name: "Jane", values });
});

const own = (): ActFields => new Map(ownFields(fields, 1).map(({ name, kind }) => [name, kind]));
const objectOf = (index: number): number => fields[index]?.object ?? 0;
const fills = async (bytes: Buffer, length = document.length) =>
  fillsOwnFields(await openUnlocked(bytes), length, own());

/** The act, and a later revision with more objects. The verifier checks both, because both follow the document. */
function withMore(...objects: readonly NewObject[]): Buffer {
  return Buffer.from(appendRevision(signed.toString("latin1"), objects), "latin1");
}
function changed(index: number, from: RegExp, to: string): NewObject {
  const body = bodyOf(signed.toString("latin1"), objectOf(index));
  assert.match(body, from);
  return [objectOf(index), body.replace(from, to)];
}
const size = (): number => endOf(signed.toString("latin1")).size;
const drawing = "<</Type/XObject/Subtype/Form/BBox[0 0 14 14]/Length 14>>\nstream\n0 0 14 14 re f\nendstream";
const numberIn = (index: number, pattern: RegExp): number =>
  Number(pattern.exec(bodyOf(signed.toString("latin1"), objectOf(index)))?.[1]);

test("an act fills in its signer's own fields, and may leave boxes unchanged", async () => {
  assert.equal(await fills(signed), true);
  assert.equal(await fills(await signing.act(document, fields, 1, { name: "Jane" })), true);
});

describe("an act is refused that", () => {
  const attacks: readonly [string, permitted: boolean, () => NewObject[]][] = [
    [
      "gives a checkbox another drawing",
      true,
      () => [changed(3, /\/AP\s*<<\s*\/N\s*<<\s*\/On \d+/, `/AP<</N<</On ${size()}`), [size(), drawing]],
    ],
    [
      "gives a checkbox another state",
      true,
      () => [changed(3, /\/AP\s*<<\s*\/N\s*<<\s*\/On (\d+)/, `/AP<</N<</Both ${size()} 0 R/On $1`), [size(), drawing]],
    ],
    ["redraws a state in its place", false, () => [[numberIn(3, /\/On (\d+) 0 R/), drawing]]],
    ["sets the place of the choice", true, () => [changed(2, /\/V\s*\(Red\)/, "/V(Red)/I[0]")]],
    ["changes the choices", false, () => [changed(2, /\/Opt\s*\[/, "/Opt[(Green)")]],
    ["sets two options of a radio", true, () => [changed(5, /\/V\s*\/Off\s*\/AS\s*\/Off/, "/V/On/AS/On")]],
    ["shows another state than its value", true, () => [changed(3, /\/AS\s*\/On/, "/AS/Off")]],
    ["gives a checkbox a state of no name", true, () => [changed(3, /\/V\s*\/On\s*\/AS\s*\/On/, "/V/Yes/AS/Yes")]],
    ["fills in another signer's box", true, () => [changed(7, /\/V\s*\/Off\s*\/AS\s*\/Off/, "/V/On/AS/On")]],
    ["fills in the sender's field", false, () => [changed(8, /\/V\s*\(Oregon\)/, "/V(Idaho)")]],
    ["makes a field read-only", true, () => [changed(1, /\/FT\s*\/Tx/, "/FT/Tx/Ff 1")]],
    ["moves a field", false, () => [changed(1, /\/Rect\s*\[[^\]]*\]/, "/Rect[0 0 600 700]")]],
    ["replaces a field by nothing", false, () => [[objectOf(1), "null"]]],
    ["hides a field", false, () => [changed(3, /\/F 4\b/, "/F 6")]],
  ];
  for (const [what, permitted, attack] of attacks)
    test(what, async () => {
      const bytes = withMore(...attack());
      assert.equal(await fills(bytes), false);
      const level = changesSince(await openUnlocked(bytes), document.length);
      assert.equal(level === "forms" || level === "signatures", permitted, "as the judge of later changes takes it");
    });
});

test("an act whose trailer names another catalog is refused", async () => {
  const catalog = bodyOf(signed.toString("latin1"), 1);
  const added = withMore([size(), catalog]).toString("latin1");
  const at = added.lastIndexOf("/Root 1 0 R");
  const swapped = `${added.slice(0, at)}/Root ${size()} 0 R${added.slice(at + "/Root 1 0 R".length)}`;
  assert.equal(await fills(Buffer.from(swapped, "latin1")), false);
});

test("an act whose document does not end at the stated place is refused", async () => {
  assert.equal(await fills(signed, document.length - 10), false);
});

/**
 * The document with other fields in its form, and more objects. @param change changes the text between the brackets of
 * /Fields
 */
function withFields(change: (listed: string) => string, ...more: readonly NewObject[]): string {
  const prepared = document.toString("latin1");
  const form = Number(/\/AcroForm (\d+) 0 R/.exec(bodyOf(prepared, 1))?.[1]);
  const body = bodyOf(prepared, form).replace(/(\/Fields\s*\[)([^\]]*)/, (_, key, listed) => key + change(listed));
  return appendRevision(prepared, [[form, body], ...more]);
}
const fillsAfter = (odd: string, ...objects: readonly NewObject[]) =>
  fills(Buffer.from(appendRevision(odd, objects), "latin1"), odd.length);

test("a field that the form lists under a second name is not the signer's own", async () => {
  const own = objectOf(1);
  const filled: NewObject = [own, bodyOf(document.toString("latin1"), own).replace("/FT/Tx", "/FT/Tx/V(Parcel 7)")];
  assert.match(filled[1], /Parcel 7/);
  const twice = withFields((listed) => `${own} 0 R ${listed}`);
  assert.equal(await fillsAfter(twice, filled), true, "one name, listed twice");
  const next = endOf(document.toString("latin1")).size;
  const other = withFields((listed) => `${next} 0 R ${listed}`, [next, `<</T(other)/Kids[${own} 0 R]>>`]);
  assert.equal(await fillsAfter(other, filled), false);
});

test("an act over a document whose fields have no end is refused, even if it repairs them", async () => {
  const next = endOf(document.toString("latin1")).size;
  const odd = withFields((listed) => `${next} 0 R ${listed}`, [next, `<</T(x)/Kids[${next} 0 R]>>`]);
  assert.equal(await fillsAfter(odd, [next, "<</T(x)>>"]), false);
});

/** The reason why the service rejects a signed act; null when it accepts the act. */
async function said(of: readonly PreparedField[], more: Record<string, string> = {}): Promise<string | null> {
  const key = oneActKey();
  const doing = { name: "Jane", values: { ...values, ...more } };
  const { act, close } = await signing.open(document, of, 1, doing, key);
  const leaf = signing.issued.at(-1)?.der ?? new Uint8Array();
  const input = { leaf, actSha256: "0a1b2c3d".repeat(8), preparedBytes: document.length };
  const bytes = close(await key.sign(act.signedAttrs));
  return checkAct(bytes, { ...input, documentBytes: document.length, fields: own(), at: new Date() });
}

test("the service stores no act with two options of a radio, or with another signer's box", async () => {
  assert.equal(await said(fields), null);
  assert.equal(await said(fields, { No: "On" }), "it changes more than its own fields");
  const all = fields.map((field) => (field.kind === "checkbox" ? { ...field, signer: 1 } : field));
  assert.equal(await said(all), "it changes more than its own fields");
});
