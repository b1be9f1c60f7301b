import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fieldTexts, openUnlocked } from "@signsealship/evidence/pdf";
import { sealReasons, verifyProof, verifySignatures } from "@signsealship/evidence/seal";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes } from "@signsealship/testing/inputs/zoo";
import { judgedByDss } from "@signsealship/testing/tools/dss";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { appendRevision, bodyOf, endOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { createSealer } from "../../../../src/evidence/seals/sealer.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import type { PlannedField, PreparedField } from "../../../../src/signing/envelopes/pdf/fields.ts";
import { mutoolVerdict, pdfsig, qpdfAccepts } from "../../../evidence/seals/pdf/oracles.ts";
import { memoryKey, selfSigned } from "../../../evidence/seals/signers.ts";
import { inkIn, penInk } from "./pixels.ts";
import { openSigning } from "./signing.ts";

const folder = mkdtempSync(join(tmpdir(), "field-types-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const key = memoryKey("p-256");
const certificate = await selfSigned(key, Date.now());
const sealDocument = createSealer({
  workers: inlineWorkers,
  random: systemRandom,
  identity: { key, chain: [certificate], chainPem: "" },
  clock: () => new Date(),
  stamp: null,
});

let signing: Awaited<ReturnType<typeof openSigning>>;
before(async () => {
  signing = await openSigning();
});

const colors = ["Red", "Blue", "Green"];

/** Fields of all nine types for one signer, with their left edge at `x`. @param first how many fields precede them */
function allTypes(signer: number, x: number, first: number): PlannedField[] {
  const at = (y: number, width = 150, height = 18) => ({ x, y, width, height });
  const box = (y: number, dx = 0) => ({ x: x + dx, y, width: 14, height: 14 });
  const common = { signer, page: 0 } as const;
  return [
    { ...common, kind: "signature", place: at(100, 180, 40) },
    { ...common, kind: "initials", place: at(150, 60, 24) },
    { ...common, kind: "date", place: at(190) },
    { ...common, kind: "name", place: at(220) },
    { ...common, kind: "text", place: at(250), label: "Parcel", required: false },
    { ...common, kind: "number", place: at(280), label: "Price", required: false },
    { ...common, kind: "checkbox", place: box(310), label: "Lead paint", required: false },
    { ...common, kind: "dropdown", place: at(340), label: "Color", options: colors, required: false },
    { ...common, kind: "radio", place: box(370), label: "Title", option: "Sole", radio: first + 8 },
    { ...common, kind: "radio", place: box(370, 40), label: "Title", option: "Joint", radio: first + 8 },
  ];
}

const ofTwo = (): PlannedField[] => [...allTypes(1, 72, 0), ...allTypes(2, 330, 10)];
const filled = {
  initials: "JD",
  date: "2026-01-15",
  name: "Jane Doe",
  Parcel: "12-345",
  Price: "1,250.00",
  "Lead paint": "On",
  Color: "Blue",
  Joint: "On",
};
const empty = { initials: "JD", date: "2026-01-15", name: "Jane Doe", Sole: "On" };

type Made = { first: Buffer; signed: Buffer; prepared: Buffer; fields: readonly PreparedField[] };

async function made(one: Record<string, string>, two: Record<string, string>, planned = ofTwo()): Promise<Made> {
  const { bytes, fields } = await signing.prepare(makePdf(), planned, ["Jane Doe", "Max Roe"]);
  const first = await signing.act(bytes, fields, 1, { name: "Jane Doe", values: one });
  return {
    prepared: bytes,
    first,
    signed: await signing.act(first, fields, 2, { name: "Max Roe", values: two }),
    fields,
  };
}

const fieldOf = ({ fields }: Made, signer: number, kind: string, option?: string): PreparedField => {
  const found = fields.find((each) => each.signer === signer && each.kind === kind && each.option === option);
  assert.ok(found, `${kind} of signer ${signer}`);
  return found;
};

function edited(pdf: Buffer, { object }: PreparedField, from: RegExp, to: string): Buffer {
  const text = pdf.toString("latin1");
  const body = bodyOf(text, object);
  assert.match(body, from);
  return Buffer.from(appendRevision(text, [[object, body.replace(from, to)]]), "latin1");
}

const byPyHanko = (pdf: Buffer): boolean[] => {
  const [answer] = askPyHanko([{ judge: pdf }]);
  assert.ok(answer?.signatures, JSON.stringify(answer));
  return answer.signatures.map(({ permitted }) => permitted);
};

/** For each act, true if every claim of our verifier is valid. */
async function byUs(pdf: Buffer): Promise<boolean[]> {
  const all = await verifySignatures(pdf, [], Date.now(), createNodeCrypto());
  return all.map(({ claims }) => claims.every(({ state }) => state === "holds"));
}

describe("two signers with fields of all nine types", needs("pyhanko", "poppler", "mupdf", "qpdf"), () => {
  for (const [what, one, two] of [
    ["filled in", filled, filled],
    ["left empty where they may be", empty, empty],
    ["filled in by the first alone", filled, empty],
    ["filled in by the second alone", empty, filled],
  ] as const)
    test(`have valid acts for every reader after the last one, with fields ${what}`, async () => {
      const { signed } = await made(one, two);
      assert.deepEqual(byPyHanko(signed), [true, true]);
      assert.deepEqual(await byUs(signed), [true, true]);
      const path = join(folder, `${what}.pdf`);
      writeFileSync(path, signed);
      assert.equal((await pdfsig(path)).filter(({ valid }) => valid).length, 2);
      assert.match(await mutoolVerdict(path), /edits since signing|unchanged since signing/);
      assert.ok(await qpdfAccepts(path));
    });

  test("have a valid seal at the end, which fails together with the act when a box is unchecked afterwards", async () => {
    const one = await made(filled, filled);
    const { bytes } = await sealDocument({ bytes: one.signed, reason: sealReasons.signed.test, locks: "document" });
    assert.deepEqual(byPyHanko(bytes), [true, true, true]);
    const trust = { sealAnchors: [certificate], tsaAnchors: [] };
    const judge = (pdf: Buffer) => verifyProof(pdf, trust, Date.now(), { crypto: createNodeCrypto() });
    assert.equal((await judge(bytes)).verdict, "verified");
    const unchecked = edited(
      bytes,
      fieldOf(one, 1, "checkbox"),
      /\/V\s*\/On\s*\/AS\s*\/On|\/AS\s*\/On\s*\/V\s*\/On/,
      "/V/Off/AS/Off",
    );
    const [act, , seal] = byPyHanko(unchecked);
    assert.deepEqual([act, seal], [false, false]);
    assert.equal((await judge(unchecked)).verdict, "not_verified");
  });

  const changes: readonly [string, kind: string, option: string | undefined, RegExp, string][] = [
    ["checkbox", "checkbox", undefined, /\/V\s*\/On/, "/V/Off"],
    ["choice", "dropdown", undefined, /\/V\s*\(Blue\)/, "/V(Red)"],
    ["option", "radio", "Joint", /\/V\s*\/On/, "/V/Off"],
    ["number", "number", undefined, /\/V\s*\(1,250\.00\)/, "/V(9)"],
  ];
  for (const [what, kind, option, from, to] of changes)
    test(`have the first act invalid, and the second valid, after the first one's ${what} changes`, async () => {
      const one = await made(filled, filled);
      const changed = edited(one.signed, fieldOf(one, 1, kind, option), from, to);
      assert.deepEqual(byPyHanko(changed), [false, true]);
      assert.deepEqual(await byUs(changed), [false, true]);
    });

  // Changes that signer 2 makes after signer 1 has signed. Each has two verdicts on signer 1's signature: that of
  // pyHanko, and that of our check of later changes.
  const drawing = "<</Type/XObject/Subtype/Form/BBox[0 0 14 14]/Length 14>>\nstream\n0 0 14 14 re f\nendstream";
  const rows: readonly [string, kind: string, RegExp, (size: number) => string, byReader: boolean, ours: boolean][] = [
    ["checks a box", "checkbox", /\/V\s*\/Off\s*\/AS\s*\/Off/, () => "/V/On/AS/On", true, true],
    ["gives a box another drawing", "checkbox", /\/On \d+ 0 R/, (size) => `/On ${size} 0 R`, true, true],
    ["gives a box another state", "checkbox", /\/On (\d+) 0 R/, (size) => `/On $1 0 R/Both ${size} 0 R`, true, true],
    ["chooses", "dropdown", /\/FT\s*\/Ch/, () => "/FT/Ch/V(Red)", true, true],
    ["chooses, with the place in the list", "dropdown", /\/FT\s*\/Ch/, () => "/FT/Ch/V(Red)/I[0]", false, true],
    ["changes the choices", "dropdown", /\/Opt\s*\[/, () => "/Opt[(Other)", false, false],
    ["types a number", "number", /\/FT\s*\/Tx/, () => "/FT/Tx/V(7)", true, true],
    ["types a text, and makes it read-only", "text", /\/FT\s*\/Tx/, () => "/FT/Tx/V(7)/Ff 1", true, true],
    ["makes a choice read-only", "dropdown", /\/Ff 131072/, () => "/Ff 131073", true, true],
    ["chooses an option", "radio", /\/V\s*\/Off\s*\/AS\s*\/Off/, () => "/V/On/AS/On", true, true],
  ];
  for (const [what, kind, from, to, byReader, ours] of rows)
    test(`have a first act that is ${byReader ? "" : "not "}valid for pyHanko where the second ${what}`, async () => {
      const one = await made(filled, filled);
      const text = one.first.toString("latin1");
      const field = fieldOf(one, 2, kind, kind === "radio" ? "Sole" : undefined);
      const { size } = endOf(text);
      const body = bodyOf(text, field.object);
      assert.match(body, from);
      const changed = appendRevision(text, [
        [field.object, body.replace(from, to(size))],
        [size, drawing],
      ]);
      const pdf = Buffer.from(changed, "latin1");
      assert.deepEqual(byPyHanko(pdf), [byReader]);
      assert.deepEqual(await byUs(pdf), [ours]);
    });
});

/** A document with fields of all nine types, signed by five people. Every second one left the optional fields empty. */
async function signedByFive(): Promise<Buffer> {
  const planned = [1, 2, 3, 4, 5].flatMap((signer) =>
    allTypes(signer, 20 + 110 * (signer - 1), 10 * (signer - 1)).map((field) => ({
      ...field,
      place: { ...field.place, width: Math.min(field.place.width, 100) },
    })),
  );
  const names = ["Ann", "Ben", "Cleo", "Dan", "Eve"];
  const { bytes, fields } = await signing.prepare(makePdf(), planned, names);
  let signed: Buffer = bytes;
  for (const [index, name] of names.entries())
    signed = await signing.act(signed, fields, index + 1, { name, values: index % 2 === 0 ? filled : empty });
  return signed;
}

test(
  "five signers fill in fields of all nine types, and each act stays valid",
  needs("pyhanko", "poppler", "mupdf"),
  async () => {
    const signed = await signedByFive();
    const valid = Array.from({ length: 5 }, () => true);
    assert.deepEqual(byPyHanko(signed), valid);
    assert.deepEqual(await byUs(signed), valid);
    const path = join(folder, "five.pdf");
    writeFileSync(path, signed);
    assert.equal((await pdfsig(path)).filter((each) => each.valid).length, 5);
    assert.match(await mutoolVerdict(path), /edits since signing|unchanged since signing/);
  },
);

// Java takes seconds to start, so this test runs only with FUZZ=full or FUZZ=long.
if (repeats(1, 0) === 1)
  test(
    "EU DSS accepts the acts of five signers with fields of all nine types, and the seal",
    needs("dss"),
    async () => {
      const path = join(folder, "five-dss.pdf");
      const sealed = await sealDocument({
        bytes: await signedByFive(),
        reason: sealReasons.signed.test,
        locks: "document",
      });
      writeFileSync(path, sealed.bytes);
      const judged = judgedByDss([path]);
      assert.equal(judged.length, 6);
      assert.deepEqual(
        judged.filter(({ verdict, indication }) => verdict !== "good" || indication === "TOTAL_FAILED"),
        [],
      );
    },
  );

for (const name of ["encrypted-open-aes-256.pdf", "encrypted-open-rc4-128.pdf"])
  test(`an encrypted document accepts all nine types: ${name}`, needs("poppler"), async () => {
    // The page of this document measures 200 by 100 points.
    const scaled = ofTwo().map(({ place: { x, y, width, height }, ...field }) => ({
      ...field,
      place: { x: x / 3.2, y: y / 8, width: width / 3.2, height: Math.max(height / 8, 10) },
    }));
    const { bytes, fields } = await signing.prepare(zooBytes(name), scaled, ["Jane Doe", "Max Roe"]);
    const first = await signing.act(bytes, fields, 1, { name: "Jane Doe", values: filled });
    const signed = await signing.act(first, fields, 2, { name: "Max Roe", values: filled });
    assert.deepEqual(await byUs(signed), [true, true]);
    const path = join(folder, name);
    writeFileSync(path, signed);
    assert.equal((await pdfsig(path)).filter(({ valid }) => valid).length, 2);
    const texts = fieldTexts(await openUnlocked(signed));
    for (const [kind, value] of [
      ["dropdown", "Blue"],
      ["number", "1,250.00"],
      ["checkbox", "On"],
    ] as const)
      assert.deepEqual(
        fields.filter((field) => field.kind === kind).map((field) => texts.get(field.name)),
        [value, value],
      );
  });

test(
  "two readers draw the mark of a box and of an option while it is on, and not while it is off",
  needs("mupdf", "poppler"),
  async () => {
    const { first } = await made(filled, filled);
    const path = join(folder, "states.pdf");
    writeFileSync(path, first);
    const inkAt = (x: number, y: number) => inkIn(path, penInk, { x, y, width: 14, height: 14 });
    const marks = [
      [await inkAt(72, 310), await inkAt(330, 310)],
      [await inkAt(112, 370), await inkAt(72, 370)],
    ] as const;
    for (const [on, off] of marks) {
      assert.ok(on.mutool >= 5 && on.poppler >= 5, JSON.stringify(on));
      assert.deepEqual(off, { mutool: 0, poppler: 0 });
    }
  },
);

test("a radio is a name above checkboxes, a dropdown has no /I, and no entry asks readers to draw", async () => {
  const one = await made(filled, filled);
  const text = one.signed.toString("latin1");
  assert.doesNotMatch(text, /NeedAppearances|\/JavaScript|\/AA\b|\/I\s*\[/);
  const option = bodyOf(text, fieldOf(one, 1, "radio", "Sole").object);
  const parent = bodyOf(text, Number(/\/Parent (\d+) 0 R/.exec(option)?.[1]));
  assert.match(option, /\/T\s*\(o1\)/);
  assert.doesNotMatch(parent, /\/FT/);
  assert.match(bodyOf(text, fieldOf(one, 1, "dropdown").object), /\/FT\s*\/Ch\s*\/Ff 131072/);
});

test("an act changes only a checkbox's value and state", async () => {
  const one = await made(filled, filled);
  const { object } = fieldOf(one, 1, "checkbox");
  const without = (pdf: Buffer) => bodyOf(pdf.toString("latin1"), object).replace(/\/(?:V|AS)\s*\/\w+|\s/g, "");
  assert.equal(without(one.signed), without(one.prepared));
});

describe("fields that the sender fills in", needs("pyhanko", "poppler"), () => {
  const place = (y: number, height = 18, width = 150) => ({ x: 72, y, width, height });
  const common = { signer: 1, page: 0 } as const;
  const planned: PlannedField[] = [
    { ...common, kind: "signature", place: place(100, 40) },
    { ...common, kind: "text", place: place(150), label: "County", value: "Clackamas" },
    { ...common, kind: "text", place: place(180), label: "State", value: "Oregon", readOnly: true },
    { ...common, kind: "number", place: place(210), label: "Price", value: "$1,000.00", readOnly: true },
    { ...common, kind: "checkbox", place: place(240, 14, 14), label: "Cash", value: "On", readOnly: true },
    { ...common, kind: "checkbox", place: place(260, 14, 14), label: "Loan", value: "On" },
    { ...common, kind: "dropdown", place: place(280), label: "Color", options: colors, value: "Red", readOnly: true },
    { ...common, kind: "dropdown", place: place(310), label: "Other", options: colors, value: "Red" },
    { ...common, signer: 2, kind: "signature", place: { ...place(100, 40), x: 330 } },
    { ...common, signer: 2, kind: "text", place: { ...place(150), x: 330 }, value: "x", readOnly: true },
  ];

  test("are read-only when nobody else fills them in, in no lock, and every act stays valid", async () => {
    const one = await made({ County: "Marion", Loan: "Off", Other: "Green" }, {}, planned);
    assert.deepEqual(byPyHanko(one.signed), [true, true]);
    assert.deepEqual(await byUs(one.signed), [true, true]);
    const { bytes } = await sealDocument({ bytes: one.signed, reason: sealReasons.signed.test, locks: "document" });
    assert.deepEqual(byPyHanko(bytes), [true, true, true]);
    const text = one.signed.toString("latin1");
    for (const field of one.fields.filter(({ readOnly }) => readOnly)) {
      assert.match(bodyOf(text, field.object), /\/Ff (?:1|131073)\b/);
      for (const lock of text.match(/\/SigFieldLock.*?>>/g) ?? []) assert.ok(!lock.includes(field.name));
    }
    assert.match(bodyOf(text, one.fields[1]?.object ?? 0), /\/V\s*\(Marion\)/);
    assert.match(bodyOf(text, one.fields[7]?.object ?? 0), /\/V\s*\(Green\)/);
  });

  test("make the acts invalid when they change afterwards", async () => {
    const one = await made({}, {}, planned);
    const field = one.fields[2];
    assert.ok(field);
    const changed = edited(one.signed, field, /\/V\s*\(Oregon\)/, "/V(Idaho)");
    assert.deepEqual(await byUs(changed), [false, false]);
  });
});
