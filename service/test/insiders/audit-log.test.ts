import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { runCli, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sql } from "../../src/platform/database/sql.ts";
import { type Insider, openInsider } from "./insider.ts";

const folder = temporaryFolder();
let service: Service;
let insider: Insider;

before(async () => {
  service = await startService({ DATA_DIR: folder.path });
  insider = openInsider(service.dataDir);
});
after(async () => {
  await insider.close();
  await service.stop();
  folder.remove();
});

test("doctor names a line of the past that was put into the audit log, also with an id of the past", async () => {
  const insert = sql`INSERT INTO audit_log (id, occurred_at, action, actor) OVERRIDING SYSTEM VALUE`;
  await insider.run(sql`${insert} VALUES (-5, now() - interval '30 days', 'order.refunded', 'operator')`);
  const line = sql`SELECT chain_position AS position FROM audit_log WHERE id = -5 AND chain_position IS NOT NULL`;
  const { position } = await until(async () => (await insider.run<{ position: number }>(line))[0]);
  const { stdout } = await runCli({ DATA_DIR: service.dataDir }, "doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: { name: string; result: string; detail: string }[] };
  assert.deepEqual(
    checks.find(({ name }) => name === "audit log"),
    {
      name: "audit log",
      result: "warning",
      detail: `line ${position} got a place more than a minute after the time of the line: backdated, or no service ran`,
    },
  );
});
