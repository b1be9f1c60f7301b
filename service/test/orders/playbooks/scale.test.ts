import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { newPartner, ownProcess, type Service } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { hasSqlState, sqlState } from "../../../src/kernel/platform/database/sql-errors.ts";
import { openSecretsKey, tokenSha256 } from "../../../src/kernel/platform/secrets.ts";
import { openTask } from "../../../src/kernel/tasks/tasks.ts";
import { callbackPath } from "../../../src/orders/playbooks/callback-token.ts";
import { endedStatement, undecidedStatement } from "../../../src/orders/playbooks/list-store.ts";
import { createCallbacks, decideByOperator, overviewOfExecutions } from "../../../src/orders/playbooks/playbooks.ts";
import { decideStatement, expireStatement } from "../../../src/orders/playbooks/store.ts";
import { explain } from "../../explain.ts";
import { openPlaybooksService } from "./playbooks-service.ts";

const many = 2_000;
const day = 86_400;

/** The accepted decision for each execution, by the execution's id. */
const accepted = new Map<string, string>();
const ids = Array.from({ length: many }, () => randomUUID());

/** The number of timers that keep the process of a service awake. */
async function timersOf(service: Service): Promise<number> {
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
  return Number(/^nodejs_active_resources\{type="Timeout"\} (\d+)$/m.exec(metrics)?.[1] ?? Number.NaN);
}

const running = await forTests(openPlaybooksService(ownProcess));
const { partnerId } = await newPartner(running.service);
const timersBefore = await timersOf(running.service);
const { tokenOf } = createCallbacks(await openSecretsKey(`file:${running.service.dataDir}/keys/secrets`));
const columns = sql`id, partner_id, environment, playbook, arguments, callback_sha256, started_at, expires_at`;
await running.db.query(sql`
  INSERT INTO playbook_executions (${columns})
  SELECT id, ${partnerId}, 'test', 'approval_gate', '{"kind": "many", "subjectId": "s"}', token, now(),
    now() + interval '30 days'
  FROM unnest(${ids}::uuid[], ${ids.map((id) => tokenSha256(tokenOf(id)))}::bytea[]) AS w (id, token)`);
await running.db.query(sql`
  INSERT INTO playbook_executions (${columns}, outcome, completed_at, ended_by)
  SELECT gen_random_uuid(), ${partnerId}, 'test', 'approval_gate', '{"kind": "old", "subjectId": "s"}',
    sha256(n::text::bytea), t, t + interval '30 days', 'approved', t + interval '1 day', 'callback'
  FROM (SELECT n, now() - n * interval '1 min' AS t FROM generate_series(1, 20000) n) s`);
await running.db.transaction((tx) =>
  openTask(
    tx,
    { kind: "playbook_gate", at: new Date(), environment: "test", subject: sql`w.id` },
    sql`unnest(${ids}::text[]) AS w (id)`,
  ),
);
await running.db.query(sql`
  INSERT INTO tasks (kind, environment, subject, state, due_at, created_at, ended_at, ended_by)
  SELECT 'playbook_gate', 'test', gen_random_uuid()::text, 'done', now(), now(), now(), 'system' FROM generate_series(1, 20000)`);
await running.db.query(sql`ANALYZE playbook_executions, tasks`);

const now = new Date();
const decision = { outcome: "a", at: now, actor: "operator" };
const token = tokenSha256("1");
const known = { id: ids[0] ?? "", partnerId: ids[0] ?? "" };

for (const [name, statement, index] of [
  ["expiry, nothing due", expireStatement(now, 1000), "playbook_executions_waiting"],
  ["expiry, all due", expireStatement(new Date(now.getTime() + 31 * day * 1000), 1000), "playbook_executions_waiting"],
  [
    "decision by callback",
    decideStatement({ callbackSha256: token }, known, decision),
    "playbook_executions_callback_sha256_key",
  ],
  ["decision by the operator", decideStatement({ id: known.id }, known, decision), "playbook_executions_pkey"],
  ["first page of the operator", undecidedStatement("test", now, null, 101), "playbook_executions_waiting"],
  ["later page of the operator", undecidedStatement("test", now, ids[0] ?? "", 101), "playbook_executions_waiting"],
  ["what ended lately", endedStatement("test", 20), "playbook_executions_ended"],
] as const)
  test(`${name}: by its index, however many executions wait and have ended`, async () => {
    for (const mode of ["custom", "generic"] as const) {
      const plan = await explain(running.db, statement, { mode });
      assert.ok(
        plan.some((node) => node["Index Name"] === index),
        `${mode}: ${JSON.stringify(plan)}`,
      );
      const whole = plan.filter((node) => node["Node Type"] === "Seq Scan" && node["Relation Name"] !== "partners");
      assert.deepEqual(whole, [], mode);
    }
  });

/** The number of rows of the executions' table that all statements have read so far, on open and closed connections. */
async function rowsRead(): Promise<number> {
  await running.db.query(sql`SELECT pg_stat_force_next_flush()`);
  const [row] = await running.db.query<{ read: number }>(sql`
    SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables WHERE relname = 'playbook_executions'`);
  return row?.read ?? Number.NaN;
}

const nobodyConnected = async () =>
  (await running.db.query(sql`SELECT FROM pg_stat_activity WHERE application_name LIKE 'signsealship%'`)).length === 0;

const callBack = (service: Service, id: string, decision: string) =>
  fetch(service.baseUrl + callbackPath(tokenOf(id)), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ decision }),
  });

test("a restart reads none of the waiting executions, and keeps no timer and no job for them", async () => {
  await running.service.stop();
  await until(nobodyConnected);
  const before = await rowsRead();
  running.service = await running.service.restart();
  const [first = ""] = ids;
  assert.equal((await callBack(running.service, first, "first")).status, 200);
  accepted.set(first, "first");
  const timers = await timersOf(running.service);
  assert.ok(timers < timersBefore + 10, `${timers} timers, ${timersBefore} when none waited`);
  assert.equal((await running.db.query(sql`SELECT FROM jobs`)).length, 0);
  await running.service.stop();
  await until(nobodyConnected);
  const read = (await rowsRead()) - before;
  assert.ok(read >= 1 && read < 10, `${read} rows were read`);
  running.service = await running.service.restart();
});

test("the operator sees a page of them and their number", async () => {
  const { waiting, waitingTotal, next } = await overviewOfExecutions(
    { db: running.db, clock: systemClock },
    "test",
    "",
  );
  assert.deepEqual([waiting.length, waitingTotal, next], [100, many - accepted.size, waiting.at(-1)?.id]);
});

test("executions that are all due at once end once each, with one line, while two nodes sweep and decisions compete", async () => {
  // Nobody decides the other executions, so only the sweep can end them.
  const decidable = ids.slice(1, 1_200);
  let swept = false;
  let n = 0;

  async function decideOn(): Promise<void> {
    while (!swept) {
      n += 1;
      const id = decidable[(n * 7_919) % decidable.length] ?? "";
      const decision = `by ${n}`;
      const taken =
        n % 2 === 0
          ? (await callBack(running.service, id, decision)).status === 200
          : await decideByOperator({ db: running.db, clock: systemClock }, id, decision).then(
              () => true,
              (error: { code?: string }) => {
                // On a busy machine, the sweep may lock the execution for longer than a statement waits for a lock.
                if (!hasSqlState(error, sqlState.lockNotAvailable)) assert.equal(error.code, "conflict");
                return false;
              },
            );
      if (taken) {
        assert.ok(!accepted.has(id));
        accepted.set(id, decision);
      }
    }
  }

  const deciding = Array.from({ length: 4 }, decideOn);
  const ahead = { NODE_ENV: "test", TIME_TRAVEL: String(31 * day) };
  const sweepers = await Promise.all([running.second(ahead), running.second(ahead)]);
  try {
    await until(
      async () =>
        (await running.db.query(sql`SELECT FROM playbook_executions WHERE outcome IS NULL LIMIT 1`)).length === 0,
    );
  } finally {
    swept = true;
    await Promise.all(deciding);
    await Promise.all(sweepers.map((node) => node.stop()));
  }

  const rows = await running.db.query<{ id: string; outcome: string; lines: number; agree: boolean }>(sql`
    SELECT e.id, e.outcome, count(a.id) AS lines, bool_and(a.actor = e.ended_by AND a.occurred_at = e.completed_at
      AND a.action = CASE e.ended_by WHEN 'system' THEN 'playbook.expired' ELSE 'playbook.decided' END) AS agree
    FROM playbook_executions e LEFT JOIN audit_log a ON a.detail->>'executionName' = 'executions/' || e.id
    WHERE e.arguments->>'kind' = 'many' GROUP BY e.id`);
  assert.equal(rows.length, many);
  assert.deepEqual(
    rows.filter(({ lines, agree }) => lines !== 1 || !agree),
    [],
  );
  for (const { id, outcome } of rows) assert.equal(outcome, accepted.get(id) ?? "expired");
  assert.ok(accepted.size > 0, "no decision was in time");
});
