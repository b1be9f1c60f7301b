import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { deflateSync } from "node:zlib";
import { anyCharacter } from "@signsealship/testing/inputs/any-character";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { needs } from "@signsealship/testing/tools/tools";
import fc from "fast-check";
import { appendRevision, bodyOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { PdfRefusal } from "../../../../src/kernel/pdf/refusal.ts";
import { lookUpPdf } from "../../../../src/kernel/pdf/xref/lookup.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { createPreflight, planFields } from "../../../../src/signing/envelopes/envelopes.ts";
import { readTag } from "../../../../src/signing/envelopes/pdf/placement/tags/tag.ts";
import { mayHoldTags } from "../../../../src/signing/envelopes/pdf/placement/tags/tag-fields.ts";
import { examineText } from "../../../../src/signing/envelopes/preflight/examine-text.ts";
import { readTextIn } from "../../../../src/signing/envelopes/reading/read-text.ts";
import { blackInk, inkIn, inkOn, penInk } from "./pixels.ts";
import { openSigning } from "./signing.ts";

const folder = mkdtempSync(join(tmpdir(), "tags-"));

const signing = await openSigning();
after(() => rmSync(folder, { recursive: true }));

/** A page of US Letter with this content, and further objects. */
function pageWith(content: string, pageEntries = "", more: readonly (readonly [number, string])[] = []): Buffer {
  const bare = makePdf().toString("latin1");
  const page = bodyOf(bare, 5).replace(/ >>$/, ` ${pageEntries} >>`);
  const data = deflateSync(Buffer.from(content, "latin1")).toString("latin1");
  const stream = `<< /Length ${data.length} /Filter /FlateDecode >>\nstream\n${data}\nendstream`;
  return Buffer.from(appendRevision(bare, [[5, page], [6, stream], ...more]), "latin1");
}

const line = (text: string, y: number) => `BT /F1 12 Tf 100 ${y} Td (${text}) Tj ET\n`;
const planned = (bytes: Buffer, signers = 2) =>
  planFields(inlineWorkers, { holder: "firm", bytes, signers, fields: null });

test("tags state which field is for whom", () => {
  const plain = { label: null, required: true, width: null, height: null, more: {}, option: null };
  for (const [inner, tag] of [
    ["signature, r1", { ...plain, kind: "signature", role: { number: 1 } }],
    [" DATE ,R12 ", { ...plain, kind: "date", role: { number: 12 } }],
    ["text, r2, label=Unit", { ...plain, kind: "text", role: { number: 2 } }],
    ["Sign;type=signature;role=Buyer", { ...plain, kind: "signature", role: { name: "Buyer" } }],
    [
      "Unit;role=Buyer;required=false",
      { ...plain, kind: "text", role: { name: "Buyer" }, label: "Unit", required: false },
    ],
    ["type=datenow;width=90;height=20", { ...plain, kind: "date", role: null, width: 90, height: 20 }],
    ["number, r2", { ...plain, kind: "number", role: { number: 2 } }],
    ["checkbox, r1", { ...plain, kind: "checkbox", role: { number: 1 }, required: false }],
    [
      "Rent;type=number;id=rent;decimals=2;currency=USD;min=1;default=900",
      {
        ...plain,
        kind: "number",
        role: null,
        label: "Rent",
        more: { id: "rent", value: "900", format: { decimals: 2, min: 1, currency: "USD" } },
      },
    ],
    [
      "State;type=select;options=TX, CA;readonly=true;value=TX",
      {
        ...plain,
        kind: "dropdown",
        role: null,
        label: "State",
        more: { value: "TX", read_only: true, options: [{ label: "TX" }, { label: "CA" }] },
      },
    ],
    [
      "Married;type=radio;option=Yes;show_when=state:equals:TX: east",
      {
        ...plain,
        kind: "radio",
        role: null,
        label: "Married",
        option: "Yes",
        more: { show_when: { field: "state", operator: "equals", value: "TX:east" } },
      },
    ],
    ["Heat;type=radio;options=Gas,Oil", null],
    ["State;type=select", null],
    ["When;type=date;format=DD/MM/YYYY;readonly=true", { ...plain, kind: "date", role: null }],
    ["Sign;type=signature;format=drawn;default=x", { ...plain, kind: "signature", role: null }],
    ["Unit;type=text;readonly=true", { ...plain, kind: "text", role: null, label: "Unit" }],
    ["radio, r1", null],
    ["signature, r0", null],
    ["signature", null],
    ["first_name", null],
    ["Photo;type=image", null],
    ["a;b", null],
    ["toString, r1", null],
  ] as const)
    assert.deepEqual(readTag(inner), tag, inner);
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), (text) => void readTag(text)));
});

test("each tag becomes a field at its place, and other programs' braces do not", async () => {
  const content =
    line("Buyer: {{signature, r1}}", 700) +
    line("{{date, r1}} {{initials, r2}}", 650) +
    line("{{Name of the unit;role=r2;type=text;required=false}}", 600) +
    line("{{merge_field}} {{#if}}", 550);
  const fields = await planned(pageWith(content));
  assert.deepEqual(
    fields.map(({ kind, signer, label, required }) => [kind, signer, label, required]),
    [
      ["signature", 1, null, true],
      ["date", 1, null, true],
      ["initials", 2, null, true],
      ["text", 2, "Name of the unit", false],
    ],
  );
  const [signature, date, initials] = fields.map(({ place }) => place);
  assert.ok(signature && date && initials);
  assert.ok(signature.x > 130 && signature.x < 145 && signature.width >= 120 && signature.height === 28);
  assert.ok(Math.abs(date.x - 100) < 1 && Math.abs(date.y + date.height - (792 - 650 + 3.6)) < 1, JSON.stringify(date));
  assert.ok(initials.x > date.x + date.width && initials.x < date.x + date.width + 12);
});

test("tags request numbers, boxes, choices, conditions and formulas with the members of the API", async () => {
  const content =
    line("{{Rent;type=number;id=rent;currency=USD}}", 720) +
    line("{{Months;type=number;id=months;decimals=0;default=12;readonly=true}}", 690) +
    line("{{Total;type=number;formula=rent * months;currency=USD}}", 660) +
    line("{{I have a pet;type=checkbox;id=pet}}", 630) +
    line("{{Name of the pet;type=text;show_when=pet:checked}}", 600) +
    line("{{Heating;type=radio;option=Gas;width=14;height=10}}", 570) +
    line("{{Heating;type=radio;option=Oil}}", 540) +
    line("{{Floors;type=multiple;option=First;least=2}}", 510) +
    line("{{Floors;type=multiple;option=Second}}", 480) +
    line("{{State;type=dropdown;options=TX,CA;value=CA}}", 450) +
    line("{{type=signature}}", 420);
  const fields = await planned(pageWith(content), 1);
  assert.deepEqual(
    fields.map(({ kind, label, option, value, options, radio }) => [
      kind,
      label ?? null,
      option ?? options,
      value,
      radio,
    ]),
    [
      ["number", "Rent", undefined, undefined, undefined],
      ["number", "Months", undefined, "12", undefined],
      ["number", "Total", undefined, undefined, undefined],
      ["checkbox", "I have a pet", undefined, undefined, undefined],
      ["text", "Name of the pet", undefined, undefined, undefined],
      ["radio", "Heating", "Gas", undefined, 5],
      ["radio", "Heating", "Oil", undefined, 5],
      ["checkbox", "Floors", "First", undefined, 7],
      ["checkbox", "Floors", "Second", undefined, 7],
      ["dropdown", "State", ["TX", "CA"], "CA", undefined],
      ["signature", null, undefined, undefined, undefined],
    ],
  );
  const [, months, total, pet, name, gas, oil, first] = fields;
  assert.equal(months?.readOnly, true);
  assert.equal(total?.formula, "rent * months");
  assert.deepEqual([pet?.id, pet?.required, pet?.place.width], ["pet", false, 12]);
  assert.ok((pet?.covers?.width ?? 0) > 150, "a box hides its tag, which is longer");
  assert.deepEqual(name?.showWhen, { field: "pet", operator: "checked" });
  assert.deepEqual([gas?.place.width, gas?.place.height, oil?.place.width], [14, 10, 12]);
  assert.deepEqual(first?.choices, { least: 2, most: 2 });
  assert.ok(total?.covers, "a field hides its tag");
});

test(
  "a field of every type hides the text of its tag, before and after it is filled",
  needs("mupdf", "poppler"),
  async () => {
    const tags = [
      "{{Address;type=text}}",
      "{{type=date}}",
      "{{I have a pet;type=checkbox}}",
      "{{Heating;type=radio;option=Gas}}",
      "{{Heating;type=radio;option=Oil}}",
      "{{State;type=dropdown;options=TX,CA}}",
      "{{Rent;type=number}}",
      "{{type=signature}}",
    ];
    const original = pageWith(tags.map((tag, index) => line(tag, 700 - 40 * index)).join(""));
    const { bytes, fields } = await signing.prepare(original, await planned(original, 1), ["Jane Doe"]);
    const values = { Address: "9 Elm Street", date: "2026-01-15", State: "TX", Rent: "900" };
    const signed = await signing.act(bytes, fields, 1, { name: "Jane Doe", values });
    const all = { x: 60, y: 60, width: 500, height: 360 };
    const inkOf = async (name: string, file: Buffer) => {
      const path = join(folder, `hidden-${name}.pdf`);
      writeFileSync(path, file);
      return inkIn(path, blackInk, all);
    };
    const bare = await inkOf("bare", original);
    assert.ok(bare.mutool > 500 && bare.poppler > 500, JSON.stringify(bare));
    for (const [name, file] of Object.entries({ prepared: bytes, signed })) {
      const shown = await inkOf(name, file);
      // The fields hide the tags. A few dark pixels remain, from the outlines of the boxes and from the filled values.
      assert.ok(shown.mutool < 100 && shown.poppler < 100, `${name}: ${JSON.stringify(shown)}`);
    }
  },
);

test("a tag that breaks a rule of the API’s fields is refused with its own words", async () => {
  const other = line("{{signature, r1}}", 420);
  for (const [tag, rule] of [
    ["{{Heat;type=radio;option=Gas}}", "options must be an array of 2 to 50 objects"],
    ["{{Rent;type=number;default=abc}}", "value must be a number such as 1234.50"],
    ["{{Rent;type=number;min=high}}", "format.min must be a number from -10000000000 to 10000000000"],
    ["{{Total;type=number;formula=rent * 2}}", "formula must name the id of a field: rent is not one"],
    ["{{Pet;type=text;show_when=pet:checked}}", "show_when.field must name the id of a field: pet is not one"],
    ["{{Pet;type=text;show_when=pet:is}}", "show_when.operator must be one of "],
  ] as const)
    await assert.rejects(planned(pageWith(line(tag, 700) + other), 1), (error: Error) => {
      assert.ok(error.message.startsWith(`needs_repair: ${tag} on page 1: ${rule}`), error.message);
      return true;
    });
  const ofOther =
    line("{{Pet;type=checkbox;role=r2;id=pet}}", 700) + line("{{Name;type=text;role=r1;show_when=pet:checked}}", 600);
  await assert.rejects(planned(pageWith(ofOther + other)), /must name a field of the same signer/);
});

test("a field is no wider than its tag when more text is on its line", async () => {
  const [alone, before, apart] = (
    await planned(
      pageWith(
        line("{{type=signature}}", 700) +
          line("{{type=signature}} here", 600) +
          line("{{type=signature}}", 500) +
          "BT /F1 12 Tf 300 500 Td (here) Tj ET",
      ),
    )
  ).map(({ place }) => place.width);
  assert.equal(alone, 120);
  assert.ok(before && before < 105, String(before));
  assert.equal(apart, before);
});

test("roles by name are assigned to signers in the order of the text", async () => {
  const roles = ["Seller", "Buyer", "Seller"].map((role, n) =>
    line(`{{Sign;type=signature;role=${role}}}`, 700 - 50 * n),
  );
  assert.deepEqual(
    (await planned(pageWith(roles.join("")))).map(({ signer }) => signer),
    [1, 2, 1],
  );
});

test("a tag for an unknown signer is refused by name; a signer without a tag signs on an added page", async () => {
  const bytes = pageWith(line("{{signature, r3}}", 700));
  const preflight = createPreflight(inlineWorkers);
  const order = { holder: "firm", sha256: "0".repeat(64), fields: null };
  await assert.rejects(
    preflight({ ...order, bytes, signers: ["Jane", "Bob"] }),
    /^ServiceError: document can't be signed: \{\{signature, r3\}\} on page 1 is for signer 3, and the order has 2 signers\.$/,
  );
  assert.equal((await preflight({ ...order, bytes, signers: ["Jane", "Bob", "Eve"] })).pages, 1);
  const { fields } = await signing.prepare(bytes, await planned(bytes, 3), ["Jane", "Bob", "Eve"]);
  assert.deepEqual(
    fields.map(({ kind, signer, page }) => [kind, signer, page]),
    [
      ["signature", 3, 0],
      ["signature", 1, 1],
      ["date", 1, 1],
      ["signature", 2, 1],
      ["date", 2, 1],
    ],
  );
});

/** The text has kerning, as typesetting programs write it. */
const kerned = "BT /F1 12 Tf 100 500 Td [({)-20({sign)10(ature, r1})-5(})] TJ ET";

for (const rotate of [0, 90, 180, 270])
  for (const more of ["", "/CropBox [36 72 500 700]", "/UserUnit 2", "/CropBox [-10 -10 400 600] /UserUnit 0.5"])
    test(`a tag is found and hidden at its shown place: /Rotate ${rotate} ${more}`, needs("mupdf"), async () => {
      const original = pageWith(kerned, `/Rotate ${rotate} ${more}`);
      const path = join(folder, `tag${rotate}.pdf`);
      writeFileSync(path, original);
      const [left, top, right, bottom] = await inkOn(path, (r) => r < 200);
      const fields = await planned(original, 1);
      const [{ place, covers } = assert.fail("no tag found")] = fields;
      assert.ok(covers);
      const hidden = { ...covers, x: place.x + covers.x, y: place.y + place.height - covers.y - covers.height };
      // On a page that is turned sideways, the tag runs vertically, and its field keeps the usual width. So the widths
      // are compared only on other pages.
      if (rotate % 180 === 0) {
        assert.ok(hidden.x <= left && hidden.x + hidden.width >= right, JSON.stringify([hidden, left, right]));
        assert.ok(
          right - left > 0.9 * hidden.width && bottom - top > 0.6 * hidden.height,
          `${right - left} ${bottom - top} ${JSON.stringify(hidden)}`,
        );
      }
      assert.ok(place.x <= left && place.y <= top && place.y + place.height >= bottom, JSON.stringify([place, top]));
      const prepared = await signing.prepare(original, fields, ["Jane"]);
      writeFileSync(path, await signing.act(prepared.bytes, prepared.fields, 1, { name: "Jane" }));
      assert.deepEqual((await inkOn(path, blackInk)).slice(2), [0, 0], "the tag is still to be seen");
      const [, , penRight, penBottom] = await inkOn(path, penInk);
      assert.ok(penRight <= place.x + place.width + 1 && penBottom <= place.y + place.height + 1);
    });

for (const [what, more] of [
  ["on it", line("I owe 1000000.", 501)],
  ["on it, in white", `1 1 1 rg ${line("I owe 1000000.", 501)}`],
  ["beside its middle, turned", "BT /F1 12 Tf 0 1 -1 0 140 480 Tm (I owe 1000000.) Tj ET"],
] as const)
  test(`a tag with words ${what} is not hidden, and neither are they`, needs("mupdf"), async () => {
    const original = pageWith(`${line("{{signature, r1}}", 500)}${more}`);
    const fields = await planned(original, 1);
    assert.deepEqual(
      fields.map(({ covers }) => covers),
      [undefined],
    );
    const path = join(folder, "words.pdf");
    const inkOf = async (bytes: Buffer) => {
      writeFileSync(path, bytes);
      return (await inkIn(path, blackInk, { x: 90, y: 270, width: 150, height: 40 })).mutool;
    };
    const { bytes, fields: prepared } = await signing.prepare(original, fields, ["Jane"]);
    assert.ok((await inkOf(await signing.act(bytes, prepared, 1, { name: "." }))) >= (await inkOf(original)));
  });

test("a tag is hidden when words are before, behind, above and below it", async () => {
  const text = `${line("above", 514.4)}${line("Sign {{signature, r1}} here", 500)}${line("below", 485.6)}`;
  assert.ok((await planned(pageWith(text), 1))[0]?.covers);
});

test("more tags than a document can have fields are refused without reading all of them", async () => {
  const many = (count: number) => pageWith(line("{{date;role=r1}}", 700).repeat(count));
  await assert.rejects(planned(many(20_000), 1), /its text has more than 500 tags; name the places in fields$/);
  const call = { holder: "firm", bytes: many(300), sha256: "", signers: ["Jane"], fields: null };
  await assert.rejects(createPreflight(inlineWorkers)(call), /is more than the 100 fields of page 1/);
});

for (const [what, content, why] of [
  [
    "5 MB of braces in one string",
    () => `BT /F1 12 Tf (${"{".repeat(5_000_000)}) Tj ET`,
    "text has more than 1,000,000 characters",
  ],
  [
    "200 MB of strings",
    () => `BT /F1 12 Tf ${"(aa{{) Tj ".repeat(20_000_000)} ET`,
    "contents inflate to more than 64 MiB",
  ],
  [
    "20 MB of empty strings",
    () => `BT /F1 12 Tf ({{) Tj ${"() Tj ".repeat(3_500_000)} ET`,
    "contents with text inflate to more than 16 MiB",
  ],
  ["6,000 pairs of braces", () => line("{{x}}", 700).repeat(6_000), "page of it has more than 5000 pairs of braces"],
  ["20,000 tags in one place", () => line("{{Signature;role=A}}", 700).repeat(20_000), "text has more than 500 tags"],
] as const) {
  test(`a document with ${what} is refused for its tags by name, and its words are not read`, async () => {
    const bytes = pageWith(content());
    assert.ok(bytes.length < 1_000_000, `${bytes.length} bytes`);
    await assert.rejects(
      planned(bytes),
      ({ message }: Error) => message.includes(why) && message.endsWith("name the places in fields"),
    );
  });
}

test("the words of a document with too much text are not read, and a notice says so", async () => {
  const bytes = pageWith(`BT /F1 12 Tf (${"{".repeat(5_000_000)}) Tj ET`);
  await assert.rejects(readTextIn(inlineWorkers, { holder: "firm", bytes }), { code: "conflict" });
  const told = await examineText(lookUpPdf(bytes), []);
  assert.deepEqual(told, [{ code: "partly_examined", page: null, text: null }]);
});

test("a stored file of noise is not text, whatever it contains by chance", async () => {
  const noise = Buffer.concat([randomBytes(20_000_000), Buffer.from(" BT ({{)Tj ET")]).toString("latin1");
  const stream = `<< /Length ${noise.length} >>\nstream\n${noise}\nendstream`;
  const bytes = pageWith(line("{{signature, r1}}", 700), "", [[20, stream]]);
  assert.equal((await planned(bytes)).length, 1);
});

test("a document with tags is planned or refused, whatever is broken in it", async () => {
  const whole = pageWith(line("{{signature, r1}}", 700));
  const edits = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 })), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(edits, async (changes) => {
      const broken = Buffer.from(whole);
      for (const [at, byte] of changes) broken[at] = byte;
      await planned(broken, 1).catch((error: unknown) => assert.ok(error instanceof PdfRefusal, String(error)));
    }),
    { numRuns: 150 },
  );
});

describe("a document is read for tags only when it may hold one:", () => {
  const cmap = (map: string) => `<< /Length ${map.length} >>\nstream\n${map}\nendstream`;
  const text = "BT /F1 12 Tf [<0001>-3<0001>] TJ ET";
  for (const [what, bytes, may] of [
    ["plain text", pageWith(line("no braces", 700)), false],
    ["one brace", pageWith(line("a {b} c {d}", 700)), false],
    ["two braces", pageWith(line("{{signature, r1}}", 700)), true],
    ["two braces, kerned", pageWith(kerned), true],
    ["two braces in hex", pageWith("BT /F1 12 Tf <7B7B> Tj ET"), true],
    ["two braces of a font of two bytes", pageWith("BT /F1 12 Tf <007B007B> Tj ET"), true],
    ["two braces as octal numbers", pageWith("BT /F1 12 Tf (\\173\\173) Tj ET"), true],
    ["a font whose codes are its own", pageWith(text, "", [[40, cmap("1 beginbfchar <0001> <007B> endbfchar")]]), true],
    ["a range of them", pageWith(text, "", [[40, cmap("1 beginbfrange <0001> <0060> <0020> endbfrange")]]), true],
    [
      "a range without braces",
      pageWith(text, "", [[40, cmap("1 beginbfrange <0001> <0020> <0041> endbfrange")]]),
      false,
    ],
    ["a font that names them", pageWith(text, "", [[40, "<< /Differences [1 /braceleft] >>"]]), true],
    ["noise", makePdf({ bytes: 200_000 }), false],
  ] as const)
    test(what, () => assert.equal(mayHoldTags(bytes), may));

  test("no document of the zoo costs more than reading it", () => {
    for (const { name } of zooFiles()) assert.equal(typeof mayHoldTags(zooBytes(name)), "boolean", name);
  });
});
