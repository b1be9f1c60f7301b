import assert from "node:assert/strict";
import { hash, randomUUID } from "node:crypto";
import { test } from "node:test";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import { fieldTexts, openUnlocked } from "@signsealship/evidence/pdf";
import { wholeFile } from "@signsealship/testing/blobs";
import { forTests } from "@signsealship/testing/for-tests";
import { asService } from "@signsealship/testing/row-mac";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { askPyHanko } from "../../../../../packages/evidence/test/pdf/changes/oracles/pyhanko-oracle.ts";
import type { Principal } from "../../../../src/kernel/identity/identity.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { setBuyer } from "../../../../src/orders/billing/billing.ts";
import { run as fillForm } from "../../../../src/orders/fills/pdf/fill-form-task.ts";
import { isWhatWasAsked } from "../../../../src/pages/signing/browser/check-act.ts";
import type { Link } from "../../../../src/signing/envelopes/envelopes.ts";
import { oneActKey } from "../../../../src/signing/envelopes/signer-authority.ts";
import { everyKind } from "../../../orders/fills/made-form.ts";
import { browser, consentText, openCeremonyService } from "./ceremony-service.ts";

const running = await forTests(openCeremonyService());

const line = (y: number, x = 72) => ({ page: 1, x, y, width: 150, height: 18 });
const box = (y: number, x = 72) => ({ page: 1, x, y, width: 14, height: 14 });
const fields = [
  { kind: "signature", signer: 1, ...line(100), height: 40 },
  { kind: "checkbox", signer: 1, ...box(160), id: "has_pets", label: "Pets" },
  {
    kind: "number",
    signer: 1,
    ...line(190),
    id: "fee",
    label: "Fee",
    value: 40,
    format: { currency: "USD" },
    show_when: { field: "has_pets", operator: "checked" },
  },
  { kind: "initials", signer: 1, ...line(220), width: 60, show_when: { field: "has_pets", operator: "checked" } },
  { kind: "date", signer: 1, ...line(250), show_when: { field: "has_pets", operator: "checked" } },
  {
    kind: "multiple",
    signer: 1,
    page: 1,
    label: "Rooms",
    id: "rooms",
    most: 2,
    options: ["Attic", "Garage", "Yard"].map((label, n) => ({ label, x: 72 + n * 30, y: 280, width: 14, height: 14 })),
  },
  { kind: "number", signer: 1, ...line(310), id: "rent", label: "Rent", value: 1000, read_only: true },
  {
    kind: "number",
    signer: 1,
    ...line(340),
    id: "total",
    label: "Total",
    formula: "rent + fee",
    format: { currency: "USD" },
  },
  { kind: "signature", signer: 2, ...line(100, 330), height: 40 },
  { kind: "text", signer: 2, ...line(160, 330), label: "Breed", show_when: { field: "has_pets", operator: "checked" } },
  {
    kind: "text",
    signer: 2,
    ...line(190, 330),
    label: "Key",
    show_when: { field: "rooms", operator: "equals", value: "Yard" },
  },
  { kind: "number", signer: 2, ...line(220, 330), label: "Yearly", formula: "total * 12", format: { decimals: 0 } },
];

let unique = 1;
async function ordered(asked: readonly object[] = fields) {
  const people = ["Jane", "Max"].map((name, n) => ({
    name,
    email: `${name.toLowerCase()}-r${unique++}@example.com`,
    routing: n + 1,
  }));
  await running.order(people, { fields: JSON.stringify(asked) });
  const linkOf = async (n: number) => {
    const link = await running.linkOf(people[n]?.email ?? "");
    await running.ceremony.consent(link, consentText, browser);
    return link;
  };
  return { jane: await linkOf(0), linkOfMax: () => linkOf(1) };
}

/** Builds a request to sign, and sends nothing. The keys of `given` are the labels of fields or options. */
async function request(link: Link, given: Record<string, string>) {
  const view = await running.ceremony.view(link);
  const values = new Map(
    view.fields.flatMap(({ name, option, label }) => {
      const value = given[option ?? label ?? ""];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
  const mark = { kind: "typed", text: "Jane" } as const;
  return { view, asked: { revision: view.document?.revision ?? 0, mark, values } };
}

const signBy = async (link: Link, given: Record<string, string>) =>
  running.ceremony.sign(link, (await request(link, given)).asked, browser);

/** Signs as the page's script does. @returns the act's record */
async function signByScript(link: Link, given: Record<string, string>, hiddenLabels: readonly string[]) {
  const { view, asked } = await request(link, given);
  const key = oneActKey();
  const document = await wholeFile((await running.ceremony.document(link)).file);
  const act = await running.ceremony.prepare(link, { ...asked, publicKey: key.publicKey }, browser);
  assert.ok(act.outcome === "prepared");
  const own = new Map(view.fields.map(({ name, kind }) => [name, kind] as const));
  const hidden = new Set(view.fields.flatMap(({ name, label }) => (hiddenLabels.includes(label ?? "") ? [name] : [])));
  const all = { document, fields: own, options: new Map<string, string>(), values: asked.values, mark: asked.mark };
  const record = canonicalJson(act.record);
  assert.equal(await isWhatWasAsked({ ...act, record }, { ...all, hidden }), true);
  const other = new Set([...own].flatMap(([name, kind]) => (kind === "number" ? [name] : [])));
  assert.equal(
    await isWhatWasAsked({ ...act, record }, { ...all, hidden: other }),
    false,
    "a value where none is shown",
  );
  assert.deepEqual(await running.ceremony.complete(link, await key.sign(act.signedAttrs)), {
    outcome: "signed",
    completed: true,
  });
  return act.record;
}

type Values = readonly (JsonObject & { readonly value: string })[];

test(
  "hidden fields are neither required nor drawn, and numbers are calculated over two turns",
  needs("pyhanko"),
  async () => {
    const { jane, linkOfMax } = await ordered();
    const hiddenToo = { Pets: "Off", Fee: "99", Attic: "On", Yard: "On", Total: "$1,000.00" };
    await assert.rejects(signBy(jane, { ...hiddenToo, Total: "$1,040.00" }), /Total is \$1,000\.00\. Look at it/);
    await assert.rejects(signBy(jane, { ...hiddenToo, Garage: "On" }), /Rooms takes at most 2 of its options/);
    await assert.rejects(signBy(jane, { ...hiddenToo, Attic: "Off", Yard: "Off" }), /Rooms needs at least 1 of its/);
    assert.deepEqual(await signBy(jane, hiddenToo), { outcome: "signed", completed: false });

    const max = await linkOfMax();
    const { view } = await request(max, {});
    assert.deepEqual(
      view.referenced.map(({ id, texts }) => [id, texts]),
      [
        ["has_pets", []],
        ["rooms", ["Attic"]],
        ["rooms", []],
        ["rooms", ["Yard"]],
        ["total", ["$1,000.00"]],
      ],
    );
    await assert.rejects(signBy(max, { Yearly: "12,000" }), /Key must be filled in/);
    const record = await signByScript(max, { Key: "7", Breed: "", Yearly: "12,000" }, ["Breed"]);
    const values = record["values"] as unknown as Values;
    assert.deepEqual(
      values.map(({ value, notShown }) => [value, notShown]),
      [
        ["", { field: "has_pets", operator: "checked" }],
        ["7", undefined],
        ["12,000", undefined],
      ],
    );

    await until(async () => (await running.ceremony.view(jane)).copies.length === 2);
    const sealed = await wholeFile(await running.ceremony.copy(jane, "sealed"));
    const texts = [...fieldTexts(await openUnlocked(sealed)).values()];
    assert.deepEqual(texts.filter((text) => text !== null && text !== "").sort(), [
      "$1,000.00",
      "1,000",
      "12,000",
      "7",
      "Off",
      "Off",
      "On",
      "On",
    ]);
    const [answer] = askPyHanko([{ judge: sealed }]);
    assert.deepEqual(
      answer?.signatures?.map(({ permitted }) => permitted),
      [true, true, true],
    );
  },
);

test("a field whose condition holds is required, and drawn with its typed value", async () => {
  const { jane } = await ordered();
  const given = { Pets: "On", Attic: "On", Total: "$1,000.00" };
  await assert.rejects(signBy(jane, given), /Fee must be filled in/);
  await assert.rejects(signBy(jane, { ...given, Fee: "25" }), /Total is \$1,025\.00/);
  const { outcome } = await signBy(jane, { ...given, Fee: "25", Total: "$1,025.00" });
  assert.equal(outcome, "signed");
  const document = await wholeFile((await running.ceremony.document(jane)).file);
  const texts = [...fieldTexts(await openUnlocked(document)).values()];
  for (const value of ["$25.00", "$1,025.00", "J"]) assert.ok(texts.includes(value), value);
  assert.ok(texts.some((text) => /^\d{4}-\d{2}-\d{2}$/.test(text ?? "")));
});

test("a date is the day in the firm’s time zone, on the page and in the document", async () => {
  const userId = randomUUID();
  await asService(
    running,
    sql`INSERT INTO users (id, email, created_at) VALUES (${userId}, 'owner@acme.example', now())`,
  );
  const asked = [
    { kind: "signature", signer: 1, ...line(100), height: 40 },
    { kind: "date", signer: 1, ...line(160), format: "us" },
  ];
  const night = new Date();
  night.setUTCHours(24 + 3, 30, 0, 0);
  const dayIn = (hours: number) => {
    const [year, month, day] = new Date(night.getTime() + hours * 3_600_000).toISOString().slice(0, 10).split("-");
    return `${month}/${day}/${year}`;
  };
  for (const [zone, hours] of [
    ["Pacific/Honolulu", -10],
    ["Pacific/Guam", 10],
  ] as const) {
    const { jane } = await ordered([...asked, { kind: "signature", signer: 2, ...line(100, 330), height: 40 }]);
    const [{ partnerId } = { partnerId: "" }] = await running.db.query<{ partnerId: string }>(
      sql`SELECT partner_id AS "partnerId" FROM orders ORDER BY created_at DESC LIMIT 1`,
    );
    const owner = { partnerId, member: { userId, role: "owner", liveAccess: true } } as Principal;
    await setBuyer(running.deps, owner, { name: "Acme Title", address: "", zone });
    const ceremony = running.openAt(() => night);
    const view = await ceremony.view(jane);
    assert.equal(view.fields.find(({ kind }) => kind === "date")?.value, dayIn(hours));
    const { asked: filled } = await request(jane, {});
    await ceremony.sign(jane, filled, browser);
    const texts = [...fieldTexts(await openUnlocked(await wholeFile((await ceremony.document(jane)).file))).values()];
    assert.ok(texts.includes(dayIn(hours)), `${texts} in ${zone}`);
  }
});

test("a signer can't enter a number that would prevent a later signer from signing", async () => {
  const { jane, linkOfMax } = await ordered([
    { kind: "signature", signer: 1, ...line(100), height: 40 },
    { kind: "number", signer: 1, ...line(160), id: "qty", label: "Quantity" },
    { kind: "signature", signer: 2, ...line(100, 330), height: 40 },
    { kind: "number", signer: 2, ...line(160, 330), id: "each", label: "Each", formula: "1000 / qty" },
    { kind: "number", signer: 2, ...line(190, 330), label: "Sum", formula: "each * qty * qty", format: { max: 5000 } },
    { kind: "number", signer: 2, ...line(220, 330), id: "off", label: "Off" },
    { kind: "number", signer: 2, ...line(250, 330), label: "Rest", formula: "qty / off" },
  ]);
  await assert.rejects(
    signBy(jane, { Quantity: "0" }),
    /Each, which signer 2 signs, can't be calculated from your answers: it would divide by zero/,
  );
  await assert.rejects(
    signBy(jane, { Quantity: "6" }),
    /Sum, which signer 2 signs, would be out of its bounds by your answers/,
  );
  assert.deepEqual(await signBy(jane, { Quantity: "4" }), { outcome: "signed", completed: false });
  const max = await linkOfMax();
  const given = { Each: "250", Sum: "4,000" };
  await assert.rejects(signBy(max, { ...given, Off: "0" }), /Rest can't be calculated: it divides by zero/);
  assert.deepEqual(await signBy(max, { ...given, Off: "2", Rest: "2" }), { outcome: "signed", completed: true });
});

test("a form that was filled in online is signed and sealed, and pyHanko accepts both", needs("pyhanko"), async () => {
  const form = everyKind();
  const answers = new Map([
    ["buyer", ["Jane Doe"]],
    ["agree", ["on"]],
  ]);
  const output = await fillForm(form, { answers, options: [], docSha256: hash("sha256", form) });
  assert.ok("tail" in output, JSON.stringify(output));
  const email = `jane-r${unique++}@example.com`;
  const places = JSON.stringify([{ kind: "signature", signer: 1, page: 1, x: 72, y: 700, width: 150, height: 40 }]);
  await running.order([{ name: "Jane Doe", email }], { fields: places }, Buffer.concat([form, output.tail]));
  const link = await running.linkOf(email);
  await running.ceremony.consent(link, consentText, browser);
  assert.deepEqual(await signBy(link, {}), { outcome: "signed", completed: true });
  await until(async () => (await running.ceremony.view(link)).copies.length === 2);
  const sealed = await wholeFile(await running.ceremony.copy(link, "sealed"));
  assert.ok([...fieldTexts(await openUnlocked(sealed)).values()].includes("Jane Doe"));
  const [answer] = askPyHanko([{ judge: sealed }]);
  assert.deepEqual(
    answer?.signatures?.map(({ permitted }) => permitted),
    [true, true],
  );
});
