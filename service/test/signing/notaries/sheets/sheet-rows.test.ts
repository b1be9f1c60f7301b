import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import type { Tx } from "../../../../src/kernel/platform/database/database.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { addNotary } from "../../../../src/signing/notaries/notaries.ts";
import { loadScripts } from "../../../../src/signing/notaries/sheets/scripts.ts";
import {
  endSheet,
  lockOpenSheet,
  markStep,
  noteEvent,
  openSheet,
  restartSheet,
} from "../../../../src/signing/notaries/sheets/sheet.ts";
import { openTurn } from "../../../../src/signing/notaries/sheets/steps.ts";
import { findSheet, recordsOf, type Sheet } from "../../../../src/signing/notaries/sheets/store.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";

const running = await forTests(openHarness());
const partner = await newPartner(running.service);
const nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
const commission = {
  commissionName: "Nora Ames",
  state: "OH",
  county: "Franklin",
  commissionNumber: "1",
  commissionExpires: "2040-01-31",
  status: "active",
};
await addNotary({ db: running.db, clock: () => new Date() }, nora.id, commission, "operator");
const [notary] = await running.db.query<{ id: string }>(sql`SELECT id FROM notaries`);
const script = loadScripts(fileURLToPath(new URL("../../../../data/notarial-scripts.yaml", import.meta.url))).of({
  act: "acknowledgment",
  mode: "ipen",
  state: "OH",
  isSigned: false,
});
const holds = () => null;
const by = () => ({ by: nora.id, at: new Date() });
const { db, rowMac } = running;

/** A new sheet for a new order. @returns the sheet's id */
async function newSheet(): Promise<string> {
  const { baseUrl } = running.service;
  const body = orderForm({ ...minimal, svc_notary: "true" });
  const placed = await fetch(`${baseUrl}/api/partner/orders`, { method: "POST", headers: partner.headers, body });
  const { orderCode: code } = (await placed.json()) as { orderCode: string };
  await fetch(`${baseUrl}/api/partner/sandbox/orders/${code}/advance`, { method: "POST", headers: partner.headers });
  const [task] = await db.query<{ taskId: number; orderId: number }>(sql`
    SELECT t.id AS "taskId", o.id AS "orderId" FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.ok(task && script && notary);
  const opening = { ...task, notaryId: notary.id, script, people: [{ n: 1, name: "Ann" }] };
  const opened = await db.transaction((tx) => openSheet(tx, rowMac, opening, by()));
  await assert.rejects(
    db.transaction((tx) => openSheet(tx, rowMac, opening, by())),
    { code: "conflict", message: "An act is open for this order already." },
  );
  return opened.id;
}

const at = (id: string, work: (tx: Tx, sheet: Sheet) => Promise<unknown>) =>
  db.transaction(async (tx) => work(tx, await lockOpenSheet(tx, rowMac, id)));
const mark = (id: string, name: string, choice: string | null = null) =>
  at(id, (tx, sheet) => markStep(tx, rowMac, sheet, { name, signer: name === "open" ? null : 1, choice }, by(), holds));
const read = (id: string) => findSheet({ db, rowMac }, id);

test("of two requests that mark the same step concurrently, one succeeds, and the other learns which step is open", async () => {
  const id = await newSheet();
  const outcomes = await Promise.allSettled([mark(id, "open"), mark(id, "open")]);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  const refused = outcomes.find((each): each is PromiseRejectedResult => each.status === "rejected");
  assert.match(String(refused?.reason), /Another step is open: Appearance \(Ann\)/);
  assert.equal((await read(id))?.marks.length, 1);
});

test("each mark contains the hash of the previous one", async () => {
  const id = await newSheet();
  await mark(id, "open");
  await at(id, (tx, sheet) => noteEvent(tx, rowMac, sheet, { name: "handed_over", signer: 1 }, by()));
  await mark(id, "appear");
  const records = await recordsOf(db, id);
  const before = records.map(({ record }) => (JSON.parse(record) as { previousSha256: string | null }).previousSha256);
  assert.deepEqual(before, [null, records[0]?.sha256, records[1]?.sha256]);
  assert.equal((await read(id))?.headSha256, records[2]?.sha256);
});

test("an act that begins again has all its steps open, except those that are kept", async () => {
  const id = await newSheet();
  await mark(id, "open");
  await mark(id, "appear");
  await mark(id, "identify", "credential");
  await at(id, (tx, sheet) => restartSheet(tx, rowMac, sheet, { cause: "line", keep: ["identify"] }, by()));
  await mark(id, "open");
  await mark(id, "appear");
  const sheet = await read(id);
  assert.equal(sheet && openTurn(sheet)?.step.name, "alone");
  assert.equal(sheet?.marks.filter(({ name }) => name === "open").length, 2);
});

test("an act is done only after its last step; one that has ended accepts no marks, and another may begin", async () => {
  const id = await newSheet();
  await assert.rejects(
    at(id, (tx, sheet) => endSheet(tx, rowMac, sheet, { outcome: "done" }, by())),
    { code: "conflict", message: "A step is open: Opening." },
  );
  await at(id, (tx, sheet) => endSheet(tx, rowMac, sheet, { outcome: "abandoned" }, by()));
  await assert.rejects(mark(id, "open"), { code: "conflict", message: "This act has ended." });
  assert.equal((await read(id))?.outcome, "abandoned");
});

for (const [name, change] of [
  ["a mark's words", sql`UPDATE notary_sheet_marks SET record = replace(record, 'credential', 'personal_knowledge')`],
  ["a mark without its MAC", sql`UPDATE notary_sheet_marks SET row_mac = NULL`],
  ["the last mark cut off", sql`DELETE FROM notary_sheet_marks WHERE position = 3`],
  ["an end that goes with it", sql`DELETE FROM notary_sheet_marks WHERE position = 3`],
  ["a script with fewer steps", sql`UPDATE notary_sheets SET script = jsonb_set(script, '{steps}', '[]')`],
  ["a run that was set higher", sql`UPDATE notary_sheets SET run = 2`],
] as const)
  test(`a sheet that was altered in the database is refused: ${name}`, async () => {
    const id = await newSheet();
    await mark(id, "open");
    await mark(id, "appear");
    await mark(id, "identify", "credential");
    // Disables the trigger as the owner of the tables, which the service's role may not do.
    await db.transaction(async (tx) => {
      await tx.query(sql`ALTER TABLE notary_sheet_marks DISABLE TRIGGER notary_sheet_marks_append_only`);
      await tx.query(
        sql`${change} ${name.startsWith("the last") || name.startsWith("an end") ? sql`AND` : sql`WHERE`} ${
          change.text.includes("notary_sheet_marks") ? sql`sheet_id = ${id}` : sql`id = ${id}`
        }`,
      );
      if (name.startsWith("an end")) {
        const before = (await recordsOf(tx, id)).at(-1)?.sha256 ?? null;
        await tx.query(sql`UPDATE notary_sheets SET head_position = 2, head_sha256 = ${before} WHERE id = ${id}`);
      }
      await tx.query(sql`ALTER TABLE notary_sheet_marks ENABLE TRIGGER notary_sheet_marks_append_only`);
    });
    await assert.rejects(read(id), /not what (?:the service wrote|was written)|does not end with/);
  });
