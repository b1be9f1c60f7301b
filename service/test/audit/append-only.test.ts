import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import type { Database } from "../../src/platform/database.ts";

const partnerId = "00000000-0000-4000-8000-000000000001";
let db: Database;

before(async () => {
  db = await newDatabase();
  await db.rows("INSERT INTO partners (id, name, tier) VALUES ($1, 'Acme Title', 'trial')", [partnerId]);
});
after(() => db.close());

test("audit lines and events can be added but not changed, removed or truncated", async () => {
  await db.rows("INSERT INTO audit_log (occurred_at, action, actor) VALUES (now(), 'test', 'system')");
  await db.rows(
    "INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject) VALUES (now(), 'order.created', 'x', $1, 'live', 'y')",
    [partnerId],
  );
  for (const table of ["audit_log", "events"])
    for (const statement of [
      `UPDATE ${table} SET occurred_at = now()`,
      `DELETE FROM ${table}`,
      `TRUNCATE ${table} CASCADE`,
    ])
      await assert.rejects(db.rows(statement), /is append-only/);
});
