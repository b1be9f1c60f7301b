import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { canonicalJson } from "@signsealship/evidence/manifest";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { appendRevision, bodyOf, endOf, type NewObject } from "../../../../packages/evidence/test/seal/signed-pdf.ts";
import { isWhatWasAsked, type PreparedAct } from "../../../src/pages/signing/browser/check-act.ts";
import type { PlannedField } from "../../../src/signing/envelopes/pdf/fields.ts";
import { oneActKey } from "../../../src/signing/envelopes/signer-authority.ts";
import { openSigning } from "../../signing/envelopes/pdf/signing.ts";

const sha256 = (...parts: readonly Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
const name = "Jane Doe";
const place = { x: 72, y: 100, width: 180, height: 40 };
const planned: PlannedField[] = [
  { kind: "signature", signer: 1, page: 0, place },
  { kind: "text", signer: 1, page: 0, place: { ...place, y: 200 } },
  { kind: "signature", signer: 2, page: 0, place: { ...place, y: 300 } },
  { kind: "text", signer: 2, page: 0, place: { ...place, y: 400 } },
];

const mark = { kind: "typed", text: name };
const typed = "12-345";

const bare = makePdf({ pages: 2 }).toString("latin1");
const contents = Number(/\/Contents (\d+) 0 R/.exec(bodyOf(bare, 5))?.[1]);
/**
 * The document with a structure tree whose only element is the content stream of the first page. A revision may change
 * such elements, but must not change the page this way.
 */
const shielded = appendRevision(bare, [
  [1, bodyOf(bare, 1).replace(/>>\s*$/, `/StructTreeRoot<</Type/StructTreeRoot/K[${contents} 0 R]>>>>`)],
]);

const signing = await openSigning();
const { bytes: document, fields } = await signing.prepare(Buffer.from(shielded, "latin1"), planned, [name, "Max Roe"]);
const record = canonicalJson({
  keyHeldBy: "browser",
  mark,
  revision: { sha256: sha256(document).toString("hex") },
  values: [{ field: fields[1]?.name ?? "", kind: "text", value: typed }],
});
const doing = { name, values: { text: typed } };
const made = { publicKey: oneActKey().publicKey, actSha256: sha256(Buffer.from(record)).toString("hex") };
const act = { ...(await signing.open(document, fields, 1, doing, made)).act, record };

const isAsked = (one: PreparedAct): Promise<boolean> => {
  const own = fields.filter(({ signer }) => signer === 1).map((field) => [field.name, field.kind] as const);
  const values = new Map([[fields[1]?.name ?? "", typed]]);
  return isWhatWasAsked(one, { document, fields: new Map(own), options: new Map(), values, mark });
};
const numberOf = (index: number): number => fields[index]?.object ?? 0;
const whole = (): string => Buffer.concat([document, act.tail]).toString("latin1");

/** The tail with a /ByteRange that covers the whole tail, as a malicious service could write it. */
function covering(tail: Buffer): Buffer {
  const { contentsStart, contentsEnd } = act;
  const [from, to] = [document.length + contentsStart, document.length + contentsEnd];
  const text = tail.toString("latin1");
  const ranges = `0 ${from} ${to} ${document.length + tail.length - to}`;
  const own = text.indexOf("/ByteRange[", contentsEnd);
  const end = text.indexOf("]", own);
  const room = end - own - "/ByteRange[".length;
  assert.ok(own > 0 && ranges.length <= room);
  return Buffer.from(`${text.slice(0, own)}/ByteRange[${ranges.padEnd(room)}${text.slice(end)}`, "latin1");
}

/**
 * The act with another tail, and with attributes that have the digest of that tail. A malicious service could send
 * both.
 */
function withTail(tail: Buffer): PreparedAct {
  const { contentsStart, contentsEnd } = act;
  const digestOf = (bytes: Uint8Array) =>
    sha256(document, bytes.subarray(0, contentsStart), bytes.subarray(contentsEnd)).toString("latin1");
  const attributes = Buffer.from(act.signedAttrs).toString("latin1");
  assert.ok(attributes.includes(digestOf(act.tail)));
  const signedAttrs = Buffer.from(
    attributes.replace(digestOf(act.tail), () => digestOf(tail)),
    "latin1",
  );
  return { ...act, tail, signedAttrs };
}

const withMore = (...objects: readonly NewObject[]): PreparedAct =>
  withTail(covering(Buffer.from(appendRevision(whole(), objects), "latin1").subarray(document.length)));

/** The act with one text of its signature dictionary replaced by another text of the same length. */
function withSignature(from: string | RegExp, to: string | ((found: string) => string)): PreparedAct {
  const text = Buffer.from(act.tail).toString("latin1");
  const replaced = text.replace(from, to as string);
  assert.notEqual(replaced, text);
  assert.equal(replaced.length, text.length);
  return withTail(Buffer.from(replaced, "latin1"));
}
const ownHash = (): string => `/SSSActSha256<${sha256(Buffer.from(act.record)).toString("hex")}>`;
/** The number of the signature's object in the tail. */
const signatureNumber = (): number => Number(/\/V (\d+) 0 R/.exec(bodyOf(whole(), numberOf(0)))?.[1]);

const pageNumber = (): number => Number(/\/P (\d+) 0 R/.exec(bodyOf(whole(), numberOf(0)))?.[1]);
const changed = (number: number, from: RegExp, to: string): NewObject => {
  const body = bodyOf(whole(), number);
  assert.match(body, from);
  return [number, body.replace(from, to)];
};
const stream = (content: string): string => `<</Length ${content.length}>>\nstream\n${content}\nendstream`;

test("an act that fills in the signer's own fields is signed", async () => {
  assert.equal(await isAsked(act), true);
  const again = withMore([numberOf(1), bodyOf(whole(), numberOf(1))]);
  assert.equal(await isAsked(again), true, "what is added to it counts, not that it is more");
});

test("a number in the service's own form counts as the typed number, -0 too; a number in another form does not", async () => {
  const signing = await openSigning();
  const numbers = planned.map((field) => (field.kind === "text" ? { ...field, kind: "number" as const } : field));
  const prepared = await signing.prepare(makePdf(), numbers, [name, "Max Roe"]);
  const own = prepared.fields.filter(({ signer }) => signer === 1);
  const field = own[1]?.name ?? "";
  for (const [wrote, value, expected] of [
    ["-0", "0", true],
    ["-0.00", "$0.00", true],
    ["-1250", "-$1,250.00", true],
    ["-1250", "$1,250.00", false],
    ["0.01", "$0.00", false],
  ] as const) {
    const record = canonicalJson({
      keyHeldBy: "browser",
      mark,
      revision: { sha256: sha256(prepared.bytes).toString("hex") },
      values: [{ field, kind: "number", value }],
    });
    const made = { publicKey: oneActKey().publicKey, actSha256: sha256(Buffer.from(record)).toString("hex") };
    const one = await signing.open(prepared.bytes, prepared.fields, 1, { name, values: { number: value } }, made);
    const fields = new Map(own.map((each) => [each.name, each.kind]));
    const asked = { document: prepared.bytes, fields, options: new Map(), values: new Map([[field, wrote]]), mark };
    assert.equal(await isWhatWasAsked({ ...one.act, record }, asked), expected, `${wrote} as ${value}`);
  }
});

/** Decreases the number at the end of a match by one, and keeps its number of digits. */
const shorter = (found: string): string =>
  found.replace(/\d+$/, (digits) => String(Number(digits) - 1).padStart(digits.length, "0"));

const attacks: readonly [string, () => PreparedAct][] = [
  [
    "draws over a page",
    () => {
      const { size } = endOf(whole());
      return withMore(changed(pageNumber(), /\/Contents (\d+ 0 R)/, `/Contents [$1 ${size} 0 R]`), [
        size,
        stream("0 0 99 99 re f"),
      ]);
    },
  ],
  [
    "replaces content that the document names as a tag, too",
    () => withMore([contents, stream("BT /F1 24 Tf 72 700 Td (I owe 1000000 dollars) Tj ET")]),
  ],
  [
    "puts a stamp on a page",
    () => {
      const { size } = endOf(whole());
      const stamp = "<</Type/Annot/Subtype/Stamp/Rect[0 0 99 99]/F 4>>";
      return withMore(changed(pageNumber(), /\/Annots\s*\[/, `/Annots [${size} 0 R `), [size, stamp]);
    },
  ],
  ["fills in another signer's field", () => withMore(changed(numberOf(3), />>\s*$/, "/V(99)>>"))],
  [
    "moves the signer's field over the text",
    () => withMore(changed(numberOf(1), /\/Rect\s*\[[^\]]*\]/, "/Rect[0 0 600 700]")),
  ],
  [
    "gives the signer's field an action",
    () => withMore(changed(numberOf(1), />>\s*$/, "/A<</S/URI/URI(https://x.example)>>>>")),
  ],
  [
    "opens with an action",
    () =>
      withMore(
        changed(Number(/\/Root (\d+) 0 R/.exec(whole())?.[1]), />>\s*$/, "/OpenAction<</S/JavaScript/JS(0)>>>>"),
      ),
  ],
  [
    "takes a page away",
    () =>
      withMore(changed(Number(/\/Parent (\d+) 0 R/.exec(bodyOf(whole(), pageNumber()))?.[1]), /\/Count 2/, "/Count 1")),
  ],
  [
    "writes another value than was typed into the signer's field",
    () => {
      const tail = Buffer.from(act.tail).toString("latin1");
      assert.ok(tail.includes(`/V (${typed})`));
      return withTail(Buffer.from(tail.replace(`/V (${typed})`, "/V (12-999)"), "latin1"));
    },
  ],
  [
    "writes another value a second time",
    () => withMore(changed(numberOf(1), /\/V \([^)]*\)/, "/V<FEFF0039003000300030>")),
  ],
  [
    "shows rich text in the place of the value",
    () => withMore(changed(numberOf(1), />>\s*$/, "/RV(<body><p>9000</p></body>)>>")),
  ],
  ["empties the signer's field", () => withMore(changed(numberOf(1), /\/V \([^)]*\)/, ""))],
  [
    "names another record in its signature, and this one in a comment",
    () => {
      const bad = withSignature(ownHash(), ownHash().replace(/<.*>/, `<${"0".repeat(64)}>`));
      const more = Buffer.concat([bad.tail, Buffer.from(`%${ownHash()}\n`)]);
      return withTail(covering(more));
    },
  ],
  [
    "names another record in its signature, and this one in an object that nothing leads to",
    () => {
      const { size } = endOf(whole());
      const text = Buffer.from(withMore([size, `<<${ownHash()}>>`]).tail).toString("latin1");
      return withTail(Buffer.from(text.replace(ownHash(), `/SSSActSha256<${"0".repeat(64)}>`), "latin1"));
    },
  ],
  ["states a /ByteRange that leaves out the end", () => withSignature(/(\/ByteRange\[\d+ \d+ \d+ )\d+/, shorter)],
  ["states a /ByteRange with another gap", () => withSignature(/(\/ByteRange\[\d+ )\d+/, shorter)],
  [
    "has its value in another place than the one that is left open",
    () => withMore([signatureNumber(), bodyOf(whole(), signatureNumber())]),
  ],
  [
    "is the value of another signer's field",
    () =>
      withMore(
        changed(numberOf(0), /\/V \d+ 0 R/, ""),
        changed(numberOf(2), />>\s*$/, `/V ${signatureNumber()} 0 R>>`),
      ),
  ],
  [
    "adds a second signature",
    () => {
      const { size } = endOf(whole());
      const second = bodyOf(whole(), signatureNumber());
      return withMore([size, second], changed(numberOf(2), />>\s*$/, `/V ${size} 0 R>>`));
    },
  ],
  ["leaves its field without the signature", () => withMore(changed(numberOf(0), /\/V \d+ 0 R/, ""))],
  ["can't be read", () => withMore([numberOf(1), "<</Type"])],
];
for (const [what, attack] of attacks)
  test(`an act that ${what} is not signed`, async () => {
    assert.equal(await isAsked(attack()), false);
  });

test("an act whose record states another value, mark, document or holder is not signed", async () => {
  const says = (change: (record: string) => string): Promise<boolean> => {
    const record = change(act.record);
    assert.notEqual(record, act.record);
    const [was = "", is = ""] = [act.record, record].map((text) => sha256(Buffer.from(text)).toString("hex"));
    const tail = Buffer.from(Buffer.from(act.tail).toString("latin1").replace(was, is), "latin1");
    return isAsked({ ...withTail(tail), record });
  };
  assert.equal(await says((record) => record.replace(typed, "12-346")), false);
  assert.equal(await says((record) => record.replace(/"values":\[.*?\]/, '"values":[]')), false, "nothing is left out");
  assert.equal(await says((record) => record.replace(/"values":\[(.*?)\]/, '"values":[$1,$1]')), false);
  assert.equal(
    await says((record) => record.replace('"kind":"text"', '"kind":"name"')),
    false,
    "the page says the kinds",
  );
  assert.equal(await says((record) => record.replace(name, "John Doe")), false);
  assert.equal(await says((record) => record.replace('"browser"', '"service"')), false);
  assert.equal(await says((record) => record.replace(/"sha256":"./, '"sha256":"x')), false);
  assert.equal(await says((record) => record.replace("{", '{"more":1,')), true, "what else it says is no concern");
});
