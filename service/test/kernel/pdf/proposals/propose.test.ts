import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { signatureForms } from "@signsealship/testing/inputs/signature-forms";
import { zooBytes, zooFiles } from "@signsealship/testing/inputs/zoo";
import { openWithPdfJs } from "../../../../src/kernel/pdf/pdf-js.ts";
import { readContent } from "../../../../src/kernel/pdf/proposals/content.ts";
import { linesIn } from "../../../../src/kernel/pdf/proposals/lines.ts";
import { kindOfLabel } from "../../../../src/kernel/pdf/proposals/patterns.ts";
import { propose, proposeAll } from "../../../../src/kernel/pdf/proposals/propose.ts";
import { isRoleOf } from "../../../../src/kernel/pdf/proposals/role.ts";
import type { Operators, Ops } from "../../../../src/kernel/pdf/proposals/walk.ts";
import { madeForm } from "../../../orders/fills/made-form.ts";

async function contentOf(pdf: Buffer) {
  const { opening, OPS } = await openWithPdfJs(pdf);
  try {
    const document = await opening.promise;
    return await readContent(await document.getPage(1), OPS);
  } finally {
    await opening.destroy();
  }
}

const proposalsOf = async (pdf: Buffer) => propose(await contentOf(pdf));

describe("proposes the places of a form, and no others:", () => {
  for (const { name, pdf, places } of signatureForms())
    test(name, async () => {
      const proposals = await proposalsOf(pdf);
      const left = [...proposals];
      for (const { kind, x, y } of places) {
        const at = left.findIndex(
          ({ kind: each, rect }) =>
            each === kind && x >= rect.x - 6 && x <= rect.x + rect.width && Math.abs(rect.y + rect.height - y) <= 6,
        );
        assert.notEqual(at, -1, `${kind} at ${x}, ${y} in ${JSON.stringify(proposals)}`);
        left.splice(at, 1);
      }
      assert.deepEqual(left, []);
    });
});

test("the example's own lines are proposed, and the notary's are not", async () => {
  const proposals = await proposalsOf(
    readFileSync(new URL("../../../../../examples/lien-release.pdf", import.meta.url)),
  );
  assert.deepEqual(
    proposals.map(({ kind }) => kind),
    ["signature", "date"],
  );
});

test("a blank for a part of a date is not proposed for the whole date", async () => {
  const kindsOf = async (line: string) => {
    const content = `BT /F1 10 Tf 72 300 Td (${line}) Tj ET\nBT /F1 10 Tf 72 240 Td (Signature of Buyer: ${"_".repeat(30)}) Tj ET`;
    return (await proposalsOf(makePdf({ content }))).map(({ kind }) => kind);
  };
  for (const line of [
    "Dated this ________ day of ______________, 20____.",
    "Dated this _______________ day of ______________, 20____.",
    "Executed this __________ day of ______________, 2026.",
  ])
    assert.deepEqual(await kindsOf(line), ["signature"], line);
  for (const line of ["Dated: ______________", "Signed on ______________ by the buyer."])
    assert.deepEqual((await kindsOf(line)).toSorted(), ["date", "signature"], line);
});

test("the places of witnesses are proposed apart, with the role of a witness, and those of a notary are not", async () => {
  const text = (x: number, y: number, words: string) => `BT /F1 10 Tf ${x} ${y} Td (${words}) Tj ET`;
  const rule = (x: number, y: number) => `0.75 w ${x} ${y} m ${x + 180} ${y} l S`;
  const content = [
    text(72, 700, "IN WITNESS WHEREOF, the parties have signed this agreement on the dates below."),
    rule(72, 650),
    text(72, 638, "Signature of Buyer"),
    rule(330, 650),
    text(330, 638, "Date"),
    rule(72, 580),
    text(72, 568, "Signature of Witness"),
    rule(330, 580),
    text(330, 568, "Date"),
    text(72, 520, "WITNESSES:"),
    rule(72, 490),
    rule(72, 466),
    text(72, 455, "Print name"),
    text(72, 380, "Notary Public"),
    rule(150, 380),
  ].join("\n");
  const { signers, witnesses } = proposeAll(await contentOf(makePdf({ content })));
  const placesOf = (list: typeof signers) =>
    list.map(({ kind, role, rect }) => [kind, role, Math.round(792 - rect.y - rect.height)]);
  assert.deepEqual(placesOf(signers), [
    ["signature", "Buyer", 650],
    ["date", null, 650],
  ]);
  assert.deepEqual(placesOf(witnesses), [
    ["signature", "Witness", 580],
    ["date", "Witness", 580],
    ["signature", "Witness", 490],
    ["name", "Witness", 466],
  ]);
});

test("a date next to the line of a witness is the witness's, although it is beside the column of the witness", async () => {
  const content = [
    "BT /F1 10 Tf 72 640 Td (Signature of Buyer) Tj 0 -100 Td (WITNESS:) Tj ET 0.75 w 72 652 m 290 652 l S",
    "72 500 m 290 500 l S 340 500 m 460 500 l S",
    "BT /F1 10 Tf 72 488 Td (Signature of Witness) Tj 268 0 Td (Date) Tj ET",
  ].join("\n");
  const { signers, witnesses } = proposeAll(await contentOf(makePdf({ content })));
  assert.deepEqual(
    [signers, witnesses].map((list) => list.map(({ kind }) => kind)),
    [["signature"], ["signature", "date"]],
  );
});

test("a document's own fields for witnesses are proposed apart", async () => {
  const own = (name: string, y: number) => ({
    kind: "signature" as const,
    name,
    options: [],
    rect: { x: 72, y, width: 180, height: 24 },
  });
  const fields = [own("BuyerSignature", 100), own("Witness_1_Signature", 200), own("NotarySignature", 300)];
  const content = { ...(await contentOf(makePdf())), own: fields };
  const { signers, witnesses } = proposeAll(content);
  assert.deepEqual(
    [signers, witnesses].map((list) => list.map(({ kind, rect }) => [kind, rect.y])),
    [[["signature", 100]], [["signature", 200]]],
  );
});

test("nothing is proposed in files that nobody has to sign", async () => {
  let read = 0;
  for (const { name } of zooFiles()) {
    const proposals = await proposalsOf(zooBytes(name)).catch(() => null);
    if (proposals) read++;
    assert.deepEqual(proposals ?? [], [], name);
  }
  assert.ok(read > 90, `${read} files were read`);
});

test("a form's own empty choices are proposed with their options, and those that an order would not take are not", async () => {
  const choice = (name: string, options: readonly string[], more = "") =>
    `/FT /Ch /Ff 131072 /T (${name}) /TU (${name}) /Opt [${options.map((each) => `(${each})`).join(" ")}] ${more}`;
  const button = (state: string, x: number, y: number) => ({
    entries: `/AS /Off /AP << /N << /${state} 3 0 R /Off 3 0 R >> >>`,
    rect: `${x} ${y} ${x + 12} ${y + 12}`,
  });
  const radio = (name: string, y: number, states: readonly string[], more = "") => ({
    entries: `/FT /Btn /Ff 49152 /T (${name}) /TU (${name}) ${more}`,
    kids: states.map((state, index) => button(state, 72 + 100 * index, y)),
  });
  const states = Array.from({ length: 51 }, (_, index) => `State ${index}`);
  const pdf = madeForm([
    { entries: choice("County", ["Clackamas", " ", "Multnomah"], "/V ( )"), rect: "72 600 272 620" },
    { entries: choice("Chosen", ["A", "B"], "/V (A)"), rect: "300 600 400 620" },
    { entries: choice("State of birth", states), rect: "72 560 272 580" },
    { entries: choice("Single", ["A"]), rect: "300 560 400 580" },
    radio("Title", 500, ["Sole", "Joint"]),
    radio("Picked", 470, ["Yes", "No"], "/V /Yes"),
    radio("Lonely", 440, ["Yes"]),
    radio("Nameless", 410, ["Same", "Same"]),
  ]);
  const found = (await proposalsOf(pdf)).map(({ kind, label, rect, options, reason }) => [
    kind,
    label,
    Math.round(rect.x),
    Math.round(rect.y),
    reason,
    options.map((each) => (each.rect ? [each.label, each.rect.x, each.rect.y] : each.label)),
  ]);
  assert.deepEqual(found, [
    ["dropdown", "County", 72, 172, "own_field", ["Clackamas", "Multnomah"]],
    ["text", "State of birth", 72, 212, "own_field", []],
    ["text", "Single", 300, 212, "own_field", []],
    [
      "radio",
      "Title",
      72,
      280,
      "own_field",
      [
        ["Sole", 72, 280],
        ["Joint", 172, 280],
      ],
    ],
  ]);
});

test("labels are read by their words", () => {
  for (const [label, kind] of [
    ["Signature of Buyer:", "signature"],
    ["By", "signature"],
    ["Authorized Signatory", "signature"],
    ["Print Name", "name"],
    ["Name (print)", "name"],
    ["Date signed:", "date"],
    ["Buyer's initials", "initials"],
    ["Signature of Notary", "notary"],
    ["Title", "other"],
    ["Property address", "other"],
    ["PRINCIPAL signs here: ==>", "signature"],
    ["Loan Officer", "signature"],
    ["Loan number", "other"],
    ["Interpreter", "signature"],
    ["(MM/DD/YYYY)", "date"],
    ["MM/DD/YYYY of birth", null],
    ["Witness", "notary"],
    ["Governing law", null],
    ["", null],
  ] as const)
    assert.equal(kindOfLabel(label), kind, label);
});

test("the line of a party's agent names the agent and the party", async () => {
  const form = signatureForms().find(({ name }) => name === "things that belong to a party, and people who do");
  assert.ok(form);
  const signed = (await proposalsOf(form.pdf)).filter(({ kind }) => kind === "signature");
  assert.deepEqual(
    signed.map(({ role }) => role),
    ["Buyer’s agent", "Buyer"],
  );
});

test("a role signs for its own party, and not for that party's agent", () => {
  for (const [role, party] of [
    ["Buyer", "Buyers"],
    ["Buyer 2", "Buyer"],
    ["Buyer (husband)", "Husband"],
    ["Homebuyer", "Buyer"],
    ["Agent", "Buyer's agent"],
    ["Buyer’s agent", "Agent"],
    ["Buyer Agent", "Buyer's agent"],
    ["Agent of the Buyer", "Buyer's agent"],
    ["Parent", "Parent of student"],
    ["Receiving Party", "Receiving party"],
    ["Agente", "Agente del comprador"],
  ] as const)
    assert.equal(isRoleOf(role, party), true, `${role} for ${party}`);
  for (const [role, party] of [
    ["Buyer", "Buyer's agent"],
    ["Buyer", "Agent for the Buyer"],
    ["Buyer’s agent", "Buyer"],
    ["Agent for Buyer", "Buyer"],
    ["Seller's agent", "Buyer's agent"],
    ["Buyer", "Co-buyer"],
    ["Comprador", "Agente del comprador"],
    ["Disclosing Party", "Receiving party"],
    ["Seller", "Buyer"],
    ["Escrow officer", ""],
  ] as const)
    assert.equal(isRoleOf(role, party), false, `${role} for ${party}`);
});

test("a path of many points is compared with its bounds once for each point", (t) => {
  const compared = (count: number): number => {
    const points = Array.from({ length: count }, (_, n) => [
      n === 0 ? 0 : 1,
      n % 2 === 0 ? 90 : 10,
      n % 3 === 0 ? 90 : 10,
    ]);
    let numbers = 0;
    for (const name of ["min", "max"] as const) {
      const original = Math[name];
      t.mock.method(Math, name, (...values: number[]) => {
        numbers += values.length;
        return original(...values);
      });
    }
    const path = Float32Array.from(points.flat());
    linesIn(
      { fnArray: [1], argsArray: [[2, [path]]] } as unknown as Operators,
      { constructPath: 1 } as Ops,
      [1, 0, 0, 1, 0, 0],
    );
    t.mock.restoreAll();
    return numbers;
  };
  const [few, many] = [compared(1_000), compared(200_000)];
  assert.ok(few > 0 && many <= 200 * few, `${few} numbers for 1,000 points, ${many} for 200,000`);
});

test("words and lines are read whole although their characters are set apart or drawn twice", async () => {
  const wordsOf = async (content: string) => {
    const { opening, OPS } = await openWithPdfJs(makePdf({ content }));
    try {
      const { runs } = await readContent(await (await opening.promise).getPage(1), OPS);
      // Leaves out the page number that `makePdf` draws on each page.
      return runs.map(({ text }) => text).filter((text) => !text.startsWith("Page "));
    } finally {
      await opening.destroy();
    }
  };
  assert.deepEqual(await wordsOf("BT /F1 12 Tf 6 Tc 72 600 Td (SIGNED BY) Tj ET"), ["SIGNED BY"]);
  assert.deepEqual(await wordsOf("BT /F1 12 Tf 72 600 Td (S I G N E D   B Y) Tj ET"), ["SIGNED BY"]);
  assert.deepEqual(await wordsOf("BT /F1 12 Tf 5 Tc 72 600 Td (________) Tj ET"), ["________"]);
  assert.deepEqual(await wordsOf("BT /F1 12 Tf 72 600 Td (____ ____) Tj ET"), ["____", "____"]);
  const twice = "BT /F1 12 Tf 72 600 Td (Buyer) Tj ET BT /F1 12 Tf 72.3 600 Td (Buyer) Tj ET";
  assert.deepEqual(await wordsOf(twice), ["Buyer"]);
  assert.deepEqual(await wordsOf("BT /F1 12 Tf 72 600 Td (Buyer) Tj 80 0 Td (Date) Tj ET"), ["Buyer", "Date"]);
});
