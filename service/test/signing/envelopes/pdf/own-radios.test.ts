import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fillsOwnFields } from "@signsealship/evidence/envelope";
import { fieldTexts, openUnlocked } from "@signsealship/evidence/pdf";
import { verifySignatures } from "@signsealship/evidence/seal";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { python } from "@signsealship/testing/tools/python";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { appendRevision, bodyOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import type { RequestedField } from "../../../../src/orders/order/order.ts";
import { plan } from "../../../../src/signing/envelopes/pdf/placement/plan.ts";
import { mutoolVerdict, pdfsig, qpdfAccepts, run } from "../../../evidence/seals/pdf/oracles.ts";
import { inkIn, penInk } from "./pixels.ts";
import { openSigning } from "./signing.ts";

const folder = mkdtempSync(join(tmpdir(), "own-radios-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const signing = await openSigning();

const radio = 20;
const options = [21, 22, 23] as const;
const states = ["Sole", "Joint", "Trust"] as const;
const shape = (mark: string) =>
  `<< /Type /XObject /Subtype /Form /BBox [0 0 12 12] /Length ${mark.length} >>\nstream\n${mark}\nendstream`;
const topOf = (index: number) => 100 + 30 * index;

/** A page with an empty radio of three options, `title.ownership`, and with an empty text field. */
function radioForm(): Buffer {
  const bare = makePdf().toString("latin1");
  const widget = (index: number) =>
    `<< /Type /Annot /Subtype /Widget /Parent ${radio} 0 R /F 4 /P 5 0 R /Rect [72 ${680 - 30 * index} 84 ${692 - 30 * index}] /AS /Off /MK << /CA (l) >> /AP << /N << /${states[index]} 30 0 R /Off 31 0 R >> >> >>`;
  const objects: [number, string][] = [
    [19, `<< /T (title) /Kids [${radio} 0 R] >>`],
    [
      radio,
      `<< /T (ownership) /Parent 19 0 R /FT /Btn /Ff 49152 /DA (/ZaDb 0 Tf 0 g) /Kids [${options.map((each) => `${each} 0 R`).join(" ")}] >>`,
    ],
    ...options.map((object, index): [number, string] => [object, widget(index)]),
    [24, "<< /Type /Annot /Subtype /Widget /FT /Tx /T (other) /F 4 /P 5 0 R /Rect [72 500 222 520] >>"],
    [30, shape("0 0 12 12 re f")],
    [31, shape("")],
  ];
  const page = bodyOf(bare, 5).replace(
    / >>$/,
    ` /Annots [${[...options, 24].map((each) => `${each} 0 R`).join(" ")}] >>`,
  );
  const catalog = bodyOf(bare, 1).replace(/ >>$/, " /AcroForm << /Fields [19 0 R 24 0 R] >> >>");
  return Buffer.from(appendRevision(bare, [[5, page], [1, catalog], ...objects]), "latin1");
}

type Option = { label: string; place: { x: number; y: number; width: number; height: number } };
const all: readonly Option[] = states.map((label, index) => ({
  label,
  place: { x: 72, y: topOf(index), width: 12, height: 12 },
}));

const asks = (places: readonly Option[] = all, more: object = {}): RequestedField =>
  ({
    kind: "radio",
    signer: 1,
    page: 1,
    x: 72,
    y: 100,
    width: 12,
    height: 72,
    label: "Ownership",
    required: true,
    options: places,
    ...more,
  }) as RequestedField;
const signature = (signer: number): RequestedField =>
  ({
    kind: "signature",
    signer,
    page: 1,
    x: 72 + 200 * (signer - 1),
    y: 600,
    width: 150,
    height: 40,
    label: null,
    required: true,
  }) as RequestedField;

const used = async (document: Buffer, fields: readonly RequestedField[]) =>
  (await plan(document, { signers: 2, fields })).map(({ existing }) => existing?.name ?? null);
const none = [null, null, null];

test("gives a signer the document's own radio when the options are at its buttons", async () => {
  assert.deepEqual(await used(radioForm(), [asks()]), [
    "title.ownership.Sole",
    "title.ownership.Joint",
    "title.ownership.Trust",
  ]);
});

test("gives the options in the order of the places, also when a place is a little off", async () => {
  const moved = all.map(({ label, place }) => ({ label, place: { ...place, x: place.x + 0.5 } }));
  const [one, two, three] = await used(radioForm(), [asks([moved[2] ?? assert.fail(), ...moved.slice(0, 2)])]);
  assert.deepEqual([one, two, three], ["title.ownership.Trust", "title.ownership.Sole", "title.ownership.Joint"]);
});

test("gives a radio to the first of two requested choices alone", async () => {
  assert.deepEqual((await used(radioForm(), [asks(), asks(all, { signer: 2 })])).slice(3), none);
});

test("places options of its own unless exactly the radio's buttons are requested", async () => {
  assert.deepEqual(await used(radioForm(), [asks(all.slice(0, 2))]), [null, null]);
  const away = all.map((option, index) => (index === 2 ? { ...option, place: { ...option.place, x: 300 } } : option));
  assert.deepEqual(await used(radioForm(), [asks(away)]), none);
  const twice = [...all.slice(0, 2), { ...(all[1] ?? assert.fail()), label: "Again" }];
  assert.deepEqual(await used(radioForm(), [asks(twice)]), none);
});

test("a choice of several, and a checkbox, get no button of a radio", async () => {
  assert.deepEqual(await used(radioForm(), [asks(all, { kind: "multiple" })]), none);
  const box = { ...asks(), kind: "checkbox", options: undefined, y: topOf(0), height: 12 } as unknown as RequestedField;
  assert.deepEqual(await used(radioForm(), [box]), [null]);
});

/** The form with one more annotation on its page, and one more field if `isField`. */
function withMore(entries: string, isField = false): Buffer {
  const text = radioForm().toString("latin1");
  const page = bodyOf(text, 5).replace("/Annots [", "/Annots [25 0 R ");
  const catalog = isField ? bodyOf(text, 1).replace("/Fields [", "/Fields [25 0 R ") : bodyOf(text, 1);
  const widget = `<< /Type /Annot /Subtype /Widget /F 4 /P 5 0 R /Rect [300 500 450 520] ${entries} >>`;
  return Buffer.from(
    appendRevision(text, [
      [5, page],
      [1, catalog],
      [25, widget],
    ]),
    "latin1",
  );
}

test("uses no radio when a field of the form has the name of one of its options", async () => {
  // Periods separate the parts of a field's full name. Here, one part itself contains periods.
  const top = withMore("/FT /Tx /T (title.ownership.Joint)", true);
  assert.deepEqual(await used(top, [asks()]), none);
  const named = ["title.ownership.Sole", "title.ownership.Joint", "title.ownership.Trust"];
  assert.deepEqual(await used(withMore("/FT /Tx /T (title.ownership.Other)", true), [asks()]), named);
});

test("uses no radio when a page shows a button that names it as its parent and is not one of its kids", async () => {
  const states = "/AS /Off /AP << /N << /Joint 30 0 R /Off 31 0 R >> >>";
  for (const parent of [`${radio} 0 R`, `${options[1]} 0 R`, `<< /Parent ${radio} 0 R >>`])
    assert.deepEqual(await used(withMore(`/Parent ${parent} ${states}`), [asks()]), none, parent);
  const link = withMore("/Parent 24 0 R");
  assert.notDeepEqual(await used(link, [asks()]), none, "a parent that is another field");
});

function altered(object: number, from: RegExp, to: string): Buffer {
  const text = radioForm().toString("latin1");
  const body = bodyOf(text, object);
  assert.match(body, from);
  return Buffer.from(appendRevision(text, [[object, body.replace(from, to)]]), "latin1");
}

for (const [why, form] of [
  ["that has a value", altered(radio, /\/FT/, "/V /Joint /FT")],
  ["that is read-only", altered(radio, /49152/, "49153")],
  ["that is a push button, too", altered(radio, /49152/, String(49152 | (1 << 16)))],
  ["that is no radio by its flags", altered(radio, /49152/, "0")],
  ["that inherits a value", altered(19, /\/T/, "/V /Joint /T")],
  ["with a button that is chosen", altered(22, /\/AS \/Off/, "/AS /Joint")],
  ["with two buttons of one state", altered(23, /\/Trust/, "/Joint")],
  ["with a button of two states", altered(23, /\/Trust 30 0 R/, "/Trust 30 0 R /More 30 0 R")],
  ["with a button without drawings", altered(23, /\/AP .*>> >>/, ">>")],
  ["with a button that readers hide", altered(23, /\/F 4/, "/F 2")],
  ["with a button in an optional layer", altered(23, /\/F 4/, "/F 4 /OC 40 0 R")],
  ["with a button that has a name", altered(23, /\/F 4/, "/F 4 /T (mine)")],
  ["with a button outside its page", altered(23, /\/Rect \[72/, "/Rect [-72")],
  ["with a button that the page lists twice", altered(5, /\/Annots \[/, "/Annots [23 0 R ")],
  ["whose name pages could mistake", altered(radio, /ownership/, "own<b>")],
] as const)
  test(`uses no own radio ${why}`, async () => {
    assert.deepEqual(await used(form, [asks()]), none);
  });

test("states whose names can't be part of a name become numbers", async () => {
  const form = altered(23, /\/Trust/, "/In#20Trust");
  assert.deepEqual(
    await used(form, [asks()]),
    [1, 2, 3].map((n) => `title.ownership.o${n}`),
  );
});

const readPython = `
import sys, json
from pyhanko.pdf_utils.reader import PdfFileReader
reader = PdfFileReader(open(sys.argv[1], "rb"), strict=False)
found = {}
def walk(fields, above):
    for ref in fields:
        field = ref.get_object()
        name = ".".join(above + ([str(field["/T"])] if "/T" in field else []))
        if "/Kids" in field: walk(field["/Kids"], name.split("."))
        elif field.get("/FT") == "/Btn": found[name] = [str(field["/V"]), str(field["/AS"])]
walk(reader.root["/AcroForm"]["/Fields"], [])
print(json.dumps(found))`;

describe("an own radio that a signer filled in", needs("pyhanko", "poppler", "mupdf", "qpdf"), () => {
  for (const signers of [1, 2])
    test(`has the choice for every reader, and every act is valid, with ${signers} signers`, async () => {
      const names = ["Jane Doe", "Max Roe"].slice(0, signers);
      const requested = [asks(), ...names.map((_, index) => signature(index + 1))];
      const planned = await plan(radioForm(), { signers, fields: requested });
      const { bytes, fields } = await signing.prepare(radioForm(), planned, names);
      let pdf: Buffer = bytes;
      for (const [index, name] of names.entries())
        pdf = await signing.act(pdf, fields, index + 1, { name, ...(index === 0 && { values: { Joint: "On" } }) });
      const expected = { Sole: "Off", Joint: "On", Trust: "Off" };

      const texts = fieldTexts(await openUnlocked(pdf));
      assert.deepEqual(
        Object.fromEntries(states.map((state) => [state, texts.get(`title.ownership.${state}`)])),
        expected,
      );
      const ours = await verifySignatures(pdf, [], Date.now(), createNodeCrypto());
      assert.ok(ours.length === signers && ours.every(({ claims }) => claims.every(({ state }) => state === "holds")));

      const [answer] = askPyHanko([{ judge: pdf }]);
      assert.deepEqual(
        answer?.signatures?.map(({ permitted }) => permitted),
        names.map(() => true),
        JSON.stringify(answer),
      );
      const path = join(folder, `signed-${signers}.pdf`);
      writeFileSync(path, pdf);
      const read = spawnSync(python, ["-c", readPython, path], { encoding: "utf8" });
      assert.deepEqual(
        JSON.parse(read.stdout || read.stderr),
        Object.fromEntries(
          Object.entries(expected).map(([state, value]) => [`title.ownership.${state}`, [`/${value}`, `/${value}`]]),
        ),
      );

      const qpdf = await run("qpdf", ["--json", "--json-key=acroform", path]);
      const { acroform } = JSON.parse(qpdf.output) as {
        acroform: { fields: { fullname: string; value: string | null; fieldtype: string }[] };
      };
      const boxes = acroform.fields.filter(({ fieldtype }) => fieldtype === "/Btn");
      assert.deepEqual(
        Object.fromEntries(boxes.map(({ fullname, value }) => [fullname.split(".").at(-1), value?.slice(1)])),
        expected,
      );
      for (const [index, state] of states.entries()) {
        const { output } = await run("mutool", ["show", path, String(options[index])]);
        assert.match(output, new RegExp(`/AS /${expected[state]}\\b`), output);
        const box = { x: 72, y: topOf(index), width: 12, height: 12 };
        const { mutool, poppler } = await inkIn(path, penInk, box);
        assert.deepEqual([mutool > 0, poppler > 0], [state === "Joint", state === "Joint"], state);
      }

      assert.equal((await pdfsig(path)).filter(({ valid }) => valid).length, signers);
      assert.match(await mutoolVerdict(path), /edits since signing|unchanged since signing/);
      assert.ok(await qpdfAccepts(path));
    });

  test("is refused with two choices", async () => {
    const planned = await plan(radioForm(), { signers: 1, fields: [asks(), signature(1)] });
    const { bytes, fields } = await signing.prepare(radioForm(), planned, ["Jane Doe"]);
    const values = { Joint: "On", Trust: "On" };
    const pdf = await signing.act(bytes, fields, 1, { name: "Jane Doe", values });
    const file = await openUnlocked(pdf);
    const own = new Map(fields.map(({ name, kind }) => [name, kind]));
    assert.equal(fillsOwnFields(file, bytes.length, own), false);
    const one = await signing.act(bytes, fields, 1, { name: "Jane Doe", values: { Joint: "On" } });
    assert.equal(fillsOwnFields(await openUnlocked(one), bytes.length, own), true);
  });
});
