import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { runCli } from "@signsealship/testing/service";
import { isSealed, type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { rowsWhole } from "../../src/upkeep/doctor/records.ts";
import { openWebhooksService } from "../outgoing/webhooks/webhooks-service.ts";
import { openInsider } from "./insider.ts";

const running = await forTests(openWebhooksService());
const insider = await forTests(openInsider(running.service.dataDir));

async function finding(): Promise<{ result: string; detail: string }> {
  const { stdout } = await runCli({ DATA_DIR: running.service.dataDir }, "doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: { name: string; result: string; detail: string }[] };
  const { result = "", detail = "" } = checks.find(({ name }) => name === "rows") ?? {};
  return { result, detail };
}

/** Runs statements as the owner of the tables, with their triggers disabled. */
const mend = (table: Statement, ...statements: Statement[]) =>
  running.db.transaction(async (tx) => {
    await tx.query(sql`ALTER TABLE ${table} DISABLE TRIGGER USER`);
    for (const statement of statements) await tx.query(statement);
    await tx.query(sql`ALTER TABLE ${table} ENABLE TRIGGER USER`);
  });

test("doctor names a forged mark of deletion that the running service has not refused yet", async () => {
  const [forged] = await insider.run<{ id: string }>(sql`
    INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac) VALUES ('y', 'x', now(), ${Buffer.alloc(36)})
    RETURNING id`);
  await assert.rejects(rowsWhole(running), {
    message: new RegExp(`the service did not write marks of deletion ${forged?.id}`),
  });
  await mend(sql`refused_marks`, sql`DELETE FROM refused_marks WHERE mark_id = ${forged?.id}`);
  await mend(sql`deleted_blobs`, sql`DELETE FROM deleted_blobs WHERE id = ${forged?.id}`);
});

test("doctor names altered rows and refused marks of deletion, and finds none after the owner has restored them", async () => {
  const firm = await running.partner();
  await firm.subscribe("/hook", ["order.created"]);
  const code = await firm.order();
  await firm.ok("POST", "/api/rooms", { name: "12 Elm Street" });
  const untouched = await finding();
  assert.equal(untouched.result, "ok", untouched.detail);
  assert.match(untouched.detail, /^\d+ rows, each as the service wrote it$/);

  type Row = { id: string; version: number; mac: Buffer };
  const [partner] = await running.db.query<Row & { name: string }>(sql`
    SELECT id, name, state_version AS version, row_mac AS mac FROM partners WHERE id = ${firm.partnerId}`);
  const [order] = await running.db.query<Row & { updated: Date }>(sql`
    SELECT id, updated_at AS updated, state_version AS version, state_mac AS mac FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  assert.ok(partner && order);
  await insider.run(sql`UPDATE partners SET name = 'First National Title' WHERE id = ${partner.id}`);
  await insider.run(sql`UPDATE orders SET updated_at = '2020-01-01' WHERE id = ${order.id}`);
  const [forged] = await insider.run<{ id: string }>(sql`
    INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac) VALUES ('x', 'x', now(), ${Buffer.alloc(36)})
    RETURNING id`);
  await insider.run(sql`INSERT INTO refused_marks (mark_id, refused_at) VALUES (${forged?.id}, now())
    ON CONFLICT DO NOTHING`);
  const altered = await finding();
  assert.equal(altered.result, "failed");
  assert.match(altered.detail, new RegExp(`the service did not write orders ${order.id} so`));
  assert.match(altered.detail, new RegExp(`the service did not write partners ${partner.id} so`));
  assert.match(altered.detail, new RegExp(`the service did not write marks of deletion ${forged?.id}`));

  await mend(
    sql`partners`,
    sql`UPDATE partners SET name = ${partner.name}, state_version = ${partner.version}, row_mac = ${partner.mac}
      WHERE id = ${partner.id}`,
  );
  await mend(
    sql`orders`,
    sql`UPDATE orders SET updated_at = ${order.updated}, state_version = ${order.version}, state_mac = ${order.mac}
      WHERE id = ${order.id}`,
  );
  await mend(sql`refused_marks`, sql`DELETE FROM refused_marks WHERE mark_id = ${forged?.id}`);
  await mend(sql`deleted_blobs`, sql`DELETE FROM deleted_blobs WHERE id = ${forged?.id}`);
  const mended = await finding();
  assert.equal(mended.result, "ok", mended.detail);
  await firm.ok("GET", `/api/partner/orders/${code}`);
});
