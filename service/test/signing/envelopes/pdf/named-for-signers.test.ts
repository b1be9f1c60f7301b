import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fillsOwnFields } from "@signsealship/evidence/envelope";
import { fieldTexts, openUnlocked } from "@signsealship/evidence/pdf";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { needs } from "@signsealship/testing/tools/tools";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import { appendRevision, bodyOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { inlineWorkers } from "../../../../src/kernel/platform/workers/inline.ts";
import { maxFields } from "../../../../src/orders/order/order.ts";
import { plan } from "../../../../src/signing/envelopes/pdf/placement/plan.ts";
import { planFields } from "../../../../src/signing/envelopes/pdf/placement/plan-fields.ts";
import { tryAll } from "../../../../src/signing/envelopes/preflight/trial.ts";
import { mutoolVerdict, pdfsig, qpdfAccepts } from "../../../evidence/seals/pdf/oracles.ts";
import { openSigning } from "./signing.ts";

const folder = mkdtempSync(join(tmpdir(), "named-for-signers-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const signing = await openSigning();

const drawing = "<< /Type /XObject /Subtype /Form /BBox [0 0 12 12] /Length 14 >>\nstream\n0 0 12 12 re f\nendstream";
const typed = "/DA (/Helv 10 Tf 0 g)";
const states = (on: string) => `/AS /Off /AP << /N << /${on} 90 0 R /Off 91 0 R >> >>`;

/**
 * A page with these fields, one below another, in as many columns as necessary. A field with `radio` has a button for
 * each of its states.
 */
function formOf(fields: readonly { entries: string; width?: number; radio?: readonly string[] }[]): Buffer {
  const bare = makePdf().toString("latin1");
  const objects: [number, string][] = [
    [90, drawing],
    [91, drawing.replace("re f", "re n")],
  ];
  const [listed, shown]: [number[], number[]] = [[], []];
  let [left, top] = [72, 720];
  const widget = (entries: string, width = 150) => {
    top -= 30;
    if (top < 60) [left, top] = [left + width + 10, 690];
    const number = 100 + objects.length;
    objects.push([
      number,
      `<< /Type /Annot /Subtype /Widget /F 4 /P 5 0 R /Rect [${left} ${top} ${left + width} ${top + 18}] ${entries} >>`,
    ]);
    shown.push(number);
    return number;
  };
  for (const { entries, width, radio } of fields) {
    if (!radio) {
      listed.push(widget(entries, width));
      continue;
    }
    const parent = 100 + objects.length;
    listed.push(parent);
    objects.push([parent, ""]);
    const kids = radio.map((state) => widget(`/Parent ${parent} 0 R ${states(state)}`, 18));
    const at = objects.findIndex(([number]) => number === parent);
    objects[at] = [parent, `<< ${entries} /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] >>`];
  }
  const refs = (numbers: readonly number[]) => numbers.map((number) => `${number} 0 R`).join(" ");
  const page = bodyOf(bare, 5).replace(/ >>$/, ` /Annots [${refs(shown)}] >>`);
  const catalog = bodyOf(bare, 1).replace(/ >>$/, ` /AcroForm << /Fields [${refs(listed)}] ${typed} >> >>`);
  return Buffer.from(appendRevision(bare, [[5, page], [1, catalog], ...objects]), "latin1");
}

const text = (name: string, more = "") => ({ entries: `/FT /Tx /T (${name}) ${typed} ${more}` });
// A partial name must not contain a period (ISO 32000-1, 12.7.3.2), and pyHanko rejects a form with one.
const lease = formOf([
  { entries: "/FT /Sig /T (signer2_signature)" },
  { entries: "/FT /Sig /T (signer1_signature)" },
  text("signer1_phone_number", "/Ff 2"),
  text("signer2_unit", "/TU (Which unit do you rent?)"),
  text("Signer 1 - date"),
  { entries: `/FT /Btn /T (signer2_pets) /V /Off ${states("Yes")}`, width: 18 },
  { entries: `/FT /Ch /Ff 131074 /T (signer1_color) /Opt [(Red) [(b) (Blue)] (Red)] ${typed}` },
  { entries: "/FT /Btn /Ff 49152 /T (signer2_title)", radio: ["Sole", "Joint"] },
  text("phone"),
  text("signer3_phone"),
  text("signer1_fixed", "/Ff 1"),
  text("signer1_given", "/V (by the author)"),
]);

const planned = (original: Buffer, signers = 2) => plan(original, { signers, fields: null });
const optionsOf = ({ options, option }: { options?: readonly string[]; option?: string }) => options ?? option ?? "";

test("empty fields whose names begin with a signer are that signer's, with the form's words, lists and duties", async () => {
  const fields = await planned(lease);
  assert.deepEqual(
    fields.map((field) => [
      field.signer,
      field.kind,
      field.label ?? null,
      field.required ?? true,
      optionsOf(field),
      field.existing?.name,
    ]),
    [
      [2, "signature", null, true, "", "signer2_signature"],
      [1, "signature", null, true, "", "signer1_signature"],
      [1, "text", "Phone number", true, "", "signer1_phone_number"],
      [2, "text", "Which unit do you rent?", false, "", "signer2_unit"],
      [1, "date", "Date", true, "", "Signer 1 - date"],
      [2, "checkbox", "Pets", false, "", "signer2_pets"],
      [1, "dropdown", "Color", true, ["Red", "Blue"], "signer1_color"],
      [2, "radio", "Title", false, "Sole", "signer2_title.Sole"],
      [2, "radio", "Title", false, "Joint", "signer2_title.Joint"],
    ],
  );
});

test("a form without signature fields has an added page, or tags, for the signatures", async () => {
  const form = formOf([text("signer1.phone")]);
  assert.deepEqual(
    (await planned(form, 1)).map(({ kind }) => kind),
    ["text"],
  );
  const tried = await tryAll(form, { sha256: "0".repeat(64), signers: ["Jane"], fields: null });
  assert.equal(tried.planned.length, 1);
});

test("places in the order's own list are the whole list", async () => {
  const place = { page: 1, x: 300, y: 600, width: 150, height: 30 };
  const fields = [{ kind: "signature", signer: 1, ...place, label: null, required: true }] as const;
  assert.equal((await plan(lease, { signers: 1, fields })).length, 1);
});

/** Plans the fields as the service does for an order that is already placed. */
const opened = (bytes: Buffer, signers = 2) =>
  planFields(inlineWorkers, { holder: "firm", bytes, signers, fields: null });

test("a field that breaks a rule, or whose list can't be read, stays closed once the order is placed", async () => {
  const list = "/FT /Ch /Ff 131072";
  const form = formOf([
    text("signer1.initials"),
    text("signer1_phone"),
    { entries: `${list} /T (signer1_color) /Opt [(${"Blue ".repeat(40).trim()})] ${typed}` },
    { entries: `${list} /T (signer2_color) /Opt [(Red) (Blue)] ${typed}` },
  ]);
  assert.deepEqual(
    (await opened(form)).map(({ signer, kind, label }) => [signer, kind, label]),
    [
      [1, "text", "Phone"],
      [2, "dropdown", "Color"],
    ],
  );
  assert.deepEqual(await opened(lease), await planned(lease));
});

test("fields beyond the limit of an order's list stay closed once the order is placed", async () => {
  const many = formOf(
    Array.from({ length: maxFields + 1 }, (_, index) => ({ ...text(`signer1_${index}`), width: 10 })),
  );
  await assert.rejects(planned(many, 1), { name: "UnmatchedTag" });
  assert.equal((await opened(many, 1)).length, maxFields);
});

test("a tag that fits no signer is a fault of the document once the order is placed", async () => {
  const tagged = makePdf({ content: "BT /F1 12 Tf 72 600 Td ({{signature, r3}}) Tj ET" });
  await assert.rejects(opened(tagged), { name: "PdfRefusal", reason: "needs_repair", detail: /is for signer 3/ });
});

test("a field that breaks a rule is refused by its name, and a form that was signed gives nobody its texts", async () => {
  await assert.rejects(planned(formOf([text("signer1.initials")]), 1), {
    name: "UnmatchedTag",
    message: /its field signer1\.initials on page 1: width must be at most 120 points/,
  });
  const { bytes, fields } = await signing.prepare(lease, (await planned(lease)).slice(0, 2), ["Jane Doe", "Max Roe"]);
  const signed = await signing.act(bytes, fields, 2, { name: "Max Roe" });
  assert.ok((await planned(signed)).every(({ kind }) => kind === "signature"));
});

test(
  "two signers fill in their fields of the form, and every act is valid for every reader",
  needs("pyhanko", "poppler", "mupdf", "qpdf"),
  async () => {
    const names = ["Jane Doe", "Max Roe"];
    const { bytes, fields } = await signing.prepare(lease, await planned(lease), names);
    const jane = { "Phone number": "555 0100", Date: "2026-01-15", Color: "Blue" };
    const first = await signing.act(bytes, fields, 1, { name: "Jane Doe", values: jane });
    const max = { "Which unit do you rent?": "4B", Pets: "On", Joint: "On" };
    const both = await signing.act(first, fields, 2, { name: "Max Roe", values: max });
    const texts = fieldTexts(await openUnlocked(both));
    assert.deepEqual(
      ["signer1_phone_number", "Signer 1 - date", "signer1_color", "signer2_unit", "signer2_pets", "phone"].map(
        (name) => texts.get(name),
      ),
      ["555 0100", "2026-01-15", "Blue", "4B", "On", ""],
    );
    const own = new Map(fields.filter(({ signer }) => signer === 2).map(({ name, kind }) => [name, kind]));
    assert.equal(fillsOwnFields(await openUnlocked(both), first.length, own), true);
    const [answer] = askPyHanko([{ judge: both }]);
    assert.deepEqual(
      answer?.signatures?.map(({ permitted }) => permitted),
      [true, true],
      JSON.stringify(answer),
    );
    const path = join(folder, "both.pdf");
    writeFileSync(path, both);
    assert.equal((await pdfsig(path)).filter(({ valid }) => valid).length, 2);
    assert.match(await mutoolVerdict(path), /edits since signing|unchanged since signing/);
    assert.ok(await qpdfAccepts(path));
  },
);
