import assert from "node:assert/strict";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { databaseOfRunning } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { systemClock } from "../../src/kernel/platform/clock.ts";
import { isSealed, type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { claimTask, finishTask, openTask, releaseTask, verifyTasks } from "../../src/kernel/tasks/tasks.ts";
import { dueTasks, findTask, openServiceTasks, tasksOfOrder } from "../../src/upkeep/console/console.ts";
import { rowsWhole } from "../../src/upkeep/doctor/records.ts";
import { openInsider } from "./insider.ts";

const running = await forTests(openHarness());
const insider = await forTests(openInsider(running.service.dataDir));
const firm = newClient(running.service.baseUrl, (await newPartner(running.service)).key, (status) => status < 300);
const deps = { db: running.db, clock: systemClock };
const doctor = () => rowsWhole(running);

let subjects = 0;

/** A task of the service, open or claimed. */
async function newTask(claimedBy: string | null = null): Promise<number> {
  const subject = `subject ${subjects++}`;
  const task = { kind: "job_dead", at: new Date(), environment: "live", subject, reason: "It failed." } as const;
  await running.db.transaction((tx) => openTask(tx, task));
  const [row] = await running.db.query<{ id: number }>(sql`SELECT id FROM tasks WHERE subject = ${subject}`);
  const id = row?.id ?? 0;
  if (claimedBy !== null) await claimTask(deps, id, claimedBy);
  return id;
}

const attacks: [string, string | null, (id: number) => Statement[]][] = [
  ["another reason", null, (id) => [sql`UPDATE tasks SET reason = 'Call +1 900 555 0100.' WHERE id = ${id}`]],
  ["another person's claim", "operator:a", (id) => [sql`UPDATE tasks SET claimed_by = 'operator:b' WHERE id = ${id}`]],
  [
    "a claim that nobody made",
    null,
    (id) => [sql`UPDATE tasks SET state = 'claimed', claimed_by = 'operator:b', claimed_at = now() WHERE id = ${id}`],
  ],
  [
    "a reason and back again",
    null,
    (id) => [
      sql`UPDATE tasks SET reason = 'x' WHERE id = ${id}`,
      sql`UPDATE tasks SET reason = 'It failed.' WHERE id = ${id}`,
    ],
  ],
  ["no MAC", null, (id) => [sql`UPDATE tasks SET row_mac = NULL WHERE id = ${id}`]],
  [
    "another row's MAC",
    null,
    (id) => [sql`UPDATE tasks SET row_mac = (SELECT row_mac FROM tasks WHERE id <> ${id} LIMIT 1) WHERE id = ${id}`],
  ],
];

test("an altered task is shown as altered, counts as unclaimed, and doctor names it", async () => {
  await newTask();
  await doctor();
  for (const [name, claimedBy, statements] of attacks) {
    const id = await newTask(claimedBy);
    for (const statement of statements(id)) await insider.run(statement);
    assert.match((await findTask(running.db, id))?.reason ?? "", /^This task was altered/, name);
    await assert.rejects(claimTask(deps, id, "operator:a"), /not what the service wrote/, name);
    await assert.rejects(releaseTask(deps, id, "operator:b"), /not what the service wrote/, name);
    await assert.rejects(finishTask(deps, id, "operator:a", "seen"), /not what the service wrote/, name);
    await assert.rejects(doctor(), new RegExp(`the service did not write tasks [0-9, ]*\\b${id}\\b`), name);
    await mend(id);
  }
  await doctor();
});

/** Removes a task, as the owner of the tables with their triggers disabled. */
const mend = (id: number) =>
  running.db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    await tx.query(sql`DELETE FROM tasks WHERE id = ${id}`);
  });

test("doctor names a task that was hidden by a forged end, and it can't be removed", async () => {
  const id = await newTask();
  for (const statement of [
    sql`DELETE FROM tasks WHERE id = ${id}`,
    sql`TRUNCATE tasks CASCADE`,
    sql`UPDATE tasks SET due_at = due_at + interval '1 year' WHERE id = ${id}`,
    sql`UPDATE tasks SET environment = 'test' WHERE id = ${id}`,
    sql`UPDATE tasks SET kind = 'quote', subject = 'x' WHERE id = ${id}`,
  ])
    await assert.rejects(insider.run(statement), /append-only|permission denied|never/, statement.text);
  await insider.run(
    sql`UPDATE tasks SET state = 'done', ended_at = now(), ended_by = 'system', outcome = 'settled' WHERE id = ${id}`,
  );
  await assert.rejects(doctor(), new RegExp(`the service did not write tasks ${id} so`));
  await mend(id);
});

test("verifies ended tasks, too, so that the log and the metrics report tasks with a forged end", async () => {
  const id = await newTask();
  await insider.run(
    sql`UPDATE tasks SET state = 'done', ended_at = now(), ended_by = 'system', outcome = 'settled' WHERE id = ${id}`,
  );
  const reported: unknown[] = [];
  const db = databaseOfRunning(running.service.dataDir);
  db.useRowMac({
    ...running.rowMac,
    holds(table, members, mac, row) {
      const isAuthentic = running.rowMac.holds(table, members, mac);
      if (!isAuthentic) reported.push(Number(row?.["id"]));
      return isAuthentic;
    },
  });
  await verifyTasks(db, new AbortController().signal);
  await db.close();
  assert.ok(reported.includes(id));
  await mend(id);
});

test("failed jobs are shown again when the end of their task was forged", async () => {
  await running.db.query(sql`INSERT INTO jobs (queue, payload, due_at, failed_at) VALUES ('lost', '{}', now(), now())`);
  const look = () => openServiceTasks({ db: running.db, clock: systemClock, certificates: [] });
  const isLost = sql`kind = 'job_dead' AND subject = 'lost'`;
  await look();
  await insider.run(
    sql`UPDATE tasks SET state = 'done', ended_at = now() + interval '1 year', ended_by = 'operator:a', outcome = 'seen' WHERE ${isLost}`,
  );
  await look();
  const found = await running.db.query<{ id: number; state: string }>(
    sql`SELECT id, state FROM tasks WHERE ${isLost} ORDER BY id`,
  );
  assert.deepEqual(
    found.map(({ state }) => state),
    ["done", "open"],
  );
  await running.db.query(sql`DELETE FROM jobs WHERE queue = 'lost'`);
  for (const { id } of found) await mend(id);
});

test("an inserted or copied task is shown as altered", async () => {
  const genuine = await newTask();
  await finishTask(deps, genuine, "operator:a", "seen");
  const [copy] = await insider.run<{ id: number }>(sql`
    INSERT INTO tasks (kind, environment, subject, reason, due_at, created_at, row_mac)
    SELECT kind, environment, subject, reason, due_at, created_at, row_mac FROM tasks WHERE id = ${genuine} RETURNING id`);
  const shown = await dueTasks(running.db, "live", ["job_dead"], 100);
  assert.match(shown.find(({ id }) => id === copy?.id)?.reason ?? "", /^This task was altered/);
  await assert.rejects(doctor(), new RegExp(`the service did not write tasks ${copy?.id} so`));
  await mend(copy?.id ?? 0);
});

test("an order moves regardless of changes to its task, which gets no MAC by that", async () => {
  const { orderCode } = await firm.ok<{ orderCode: string }>(
    "POST",
    "/api/partner/orders",
    orderForm({ ...minimal, svc_notary: "true" }),
  );
  await firm.ok("POST", `/api/partner/sandbox/orders/${orderCode}/checkout`);
  const [order] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", orderCode)}`,
  );
  const orderId = order?.id ?? 0;
  await insider.run(sql`UPDATE tasks SET reason = 'Any notary will do.' WHERE order_id = ${orderId}`);
  for (let n = 0; n < 4; n++) await firm.call("POST", `/api/partner/sandbox/orders/${orderCode}/advance`);
  const [task] = await tasksOfOrder(running.db, orderId);
  assert.deepEqual([task?.kind, task?.state], ["notarize", "done"]);
  assert.match(task?.reason ?? "", /^This task was altered/);
  await assert.rejects(doctor(), new RegExp(`the service did not write tasks ${task?.id} so`));
});

test("an order whose payer was changed is neither shown nor mailed about", async () => {
  const { orderCode } = await firm.ok<{ orderCode: string }>(
    "POST",
    "/api/partner/orders",
    orderForm({ ...minimal, pay_by: "firm" }),
  );
  await firm.ok("GET", `/api/partner/orders/${orderCode}`);
  await insider.run(sql`UPDATE orders SET pay_by = 'client' WHERE ${isSealed(sql`code`, "order", orderCode)}`);
  assert.match(await firm.refused(503, "GET", `/api/partner/orders/${orderCode}`), /not what the service wrote/);
  await firm.refused(503, "POST", `/api/partner/orders/${orderCode}/checkout`);
});
