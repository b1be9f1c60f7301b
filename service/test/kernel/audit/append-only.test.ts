import assert from "node:assert/strict";
import { test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { sql } from "../../../src/kernel/platform/database/sql.ts";

const partnerId = "00000000-0000-4000-8000-000000000001";

const db = await forTests(newDatabase());
await db.query(sql`INSERT INTO partners (id, name, tier) VALUES (${partnerId}, 'Acme Title', 'trial')`);

test("audit lines and events can be added but not changed, removed or truncated", async () => {
  await db.query(sql`INSERT INTO audit_log (occurred_at, action, actor) VALUES (now(), 'test', 'system')`);
  await db.query(sql`
    INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject)
    VALUES (now(), 'order.created', 'x', ${partnerId}, 'live', 'y')`);
  for (const table of [sql`audit_log`, sql`events`])
    for (const statement of [
      sql`UPDATE ${table} SET occurred_at = now()`,
      sql`DELETE FROM ${table}`,
      sql`TRUNCATE ${table} CASCADE`,
    ])
      await assert.rejects(db.query(statement), /is append-only/);
});
