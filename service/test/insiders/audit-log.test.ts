import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { newPartner, runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { openInsider } from "./insider.ts";

const folder = temporaryFolder();

const service = await forTests(startService({ DATA_DIR: folder.path }));
const insider = await forTests(openInsider(service.dataDir));

async function auditFinding() {
  const { stdout } = await runCli({ DATA_DIR: service.dataDir }, "doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: { name: string; result: string; detail: string }[] };
  return checks.find(({ name }) => name === "audit log");
}

test("a line that somebody inserted into the audit log, with a present or past time, gets no position, and doctor names it", async () => {
  const { partnerId } = await newPartner(service);
  const [now] = await insider.run<{ id: number }>(sql`
    INSERT INTO audit_log (occurred_at, action, actor) VALUES (now(), 'order.refunded', 'operator') RETURNING id`);
  await insider.run(sql`
    INSERT INTO audit_log (id, occurred_at, action, actor) OVERRIDING SYSTEM VALUE
    VALUES (-5, now() - interval '30 days', 'order.refunded', 'operator')`);
  const { keyId } = await service.cli<{ keyId: string }>("key", "issue", partnerId);
  await service.cli("key", "revoke", keyId);
  const placed = sql`SELECT FROM audit_log WHERE action = 'key.revoked' AND chain_position IS NOT NULL`;
  await until(async () => (await insider.run(placed)).length === 1);
  const forged = sql`SELECT id FROM audit_log WHERE chain_position IS NULL ORDER BY id`;
  assert.deepEqual(await insider.run(forged), [{ id: -5 }, { id: now?.id }]);
  assert.deepEqual(await auditFinding(), {
    name: "audit log",
    result: "failed",
    detail: `the line with id -5 was not written by the service; the line with id ${now?.id} was not written by the service`,
  });
});
