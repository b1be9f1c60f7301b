import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { createPartner } from "../../../src/firms/partners/partners.ts";
import { auditLine } from "../../../src/kernel/audit/audit.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";

const at = new Date("2026-03-04T05:06:07.089Z");
const nobody = "00000000-0000-4000-8000-000000000000";

const db = await forTests(newDatabase());
const { partnerId } = await createPartner({ db, clock: systemClock }, { name: "Acme", tier: "trial", live: false });

type Line = { actor: string; partner_id: string | null; from_status: string | null; detail: unknown };

const linesOf = (action: string) =>
  db.query<Line>(
    sql`SELECT actor, partner_id, from_status, detail FROM audit_log WHERE action = ${action} ORDER BY id`,
  );

describe("a line of the audit log", () => {
  test("is written with its values, and without members that were not given", async () => {
    await db.query(auditLine({ at, action: "a.alone", actor: "operator", partnerId, detail: { reason: "it's due" } }));
    const [row] = await db.query<Record<string, unknown>>(sql`SELECT * FROM audit_log WHERE action = 'a.alone'`);
    const { id: _id, row_mac: mac, ...line } = row ?? {};
    assert.equal((mac as Buffer).length, 36);
    assert.deepEqual(line, {
      occurred_at: at,
      action: "a.alone",
      actor: "operator",
      partner_id: partnerId,
      order_id: null,
      room_id: null,
      from_status: null,
      to_status: null,
      detail: { reason: "it's due" },
      // The position in the chain is assigned later: see `chain.ts`.
      chain_position: null,
      chain_placed_at: null,
      chain_sha256: null,
    });
  });

  test("stores each input as a value, whatever it contains", async () => {
    const hostile = "'; DROP TABLE audit_log; --";
    await db.query(
      auditLine({ at, action: "a.hostile", actor: hostile, fromStatus: "$1", detail: { [hostile]: hostile } }),
    );
    assert.deepEqual(await linesOf("a.hostile"), [
      { actor: hostile, partner_id: null, from_status: "$1", detail: { [hostile]: hostile } },
    ]);
  });

  test("as part of a change is written for each changed row, and only then", async () => {
    const line = { at, action: "a.part", actor: "operator", partnerId, detail: { name: "Acme" } };
    const changeOf = (id: string) => sql`
      WITH changed AS (UPDATE partners SET tier = 'ProOffice' WHERE id = ${id} RETURNING *),
        audit AS (${auditLine(line, sql`changed`)})
      SELECT count(*) AS changed FROM changed`;
    assert.deepEqual(await db.query(changeOf(nobody)), [{ changed: 0 }]);
    assert.deepEqual(await linesOf("a.part"), []);
    assert.deepEqual(await db.query(changeOf(partnerId)), [{ changed: 1 }]);
    assert.deepEqual(await linesOf("a.part"), [
      { actor: "operator", partner_id: partnerId, from_status: null, detail: { name: "Acme" } },
    ]);
  });

  test("is rolled back with its transaction", async () => {
    const failing = db.transaction(async (tx) => {
      await tx.query(auditLine({ at, action: "a.undone", actor: "operator" }));
      throw new Error("after the line");
    });
    await assert.rejects(failing, /after the line/);
    assert.deepEqual(await linesOf("a.undone"), []);
  });

  test("is not written for a partner that does not exist", async () => {
    await assert.rejects(db.query(auditLine({ at, action: "a.foreign", actor: "operator", partnerId: nobody })));
  });

  test("can be neither changed nor deleted", async () => {
    await db.query(auditLine({ at, action: "a.kept", actor: "operator" }));
    for (const change of [
      sql`UPDATE audit_log SET actor = 'somebody else' WHERE action = 'a.kept'`,
      sql`DELETE FROM audit_log WHERE action = 'a.kept'`,
      sql`TRUNCATE audit_log`,
    ])
      await assert.rejects(db.query(change), /audit_log is append-only/);
    assert.equal((await linesOf("a.kept")).length, 1);
  });

  test("has the same text for any values, so that it is planned once", () => {
    const short = auditLine({ at, action: "x", actor: "operator" });
    const long = auditLine({ at, action: "y", actor: "system", partnerId, orderId: 1, toStatus: "Paid", detail: {} });
    assert.equal(short.text, long.text);
  });
});
