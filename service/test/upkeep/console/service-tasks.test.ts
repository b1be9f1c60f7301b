import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { asService, changeRowsOf } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { type NewTask, openTask, taskState } from "../../../src/kernel/tasks/tasks.ts";
import { mailNewTasks, openServiceTasks, sendMorningMails } from "../../../src/upkeep/console/console.ts";
import { newOperator, newSession } from "../../firms/operators/console-people.ts";

const running = await forTests(openHarness());
const pem = await (await fetch(`${running.service.baseUrl}/seal/certificate.pem`)).text();

const on = (time: string) => () => new Date(time);
const tasks = (kind: string) =>
  running.db.query<{ state: string; reason: string; endedBy: string | null }>(
    sql`SELECT state, reason, ended_by AS "endedBy" FROM tasks WHERE kind = ${kind} ORDER BY id`,
  );

const open = (task: NewTask) => running.db.transaction((tx) => openTask(tx, task));
const endAll = () =>
  changeRowsOf(
    running.db,
    taskState,
    sql`ended_at IS NULL`,
    sql`state = 'dropped', ended_at = now(), ended_by = 'test'`,
  );

describe("tasks about the service itself", () => {
  const look = (time: string) =>
    openServiceTasks({ db: running.db, clock: on(time), certificates: [{ name: "seal", pem }] });

  test("exist for jobs that failed for good: one for a queue, done when they are gone, not reopened after a note", async () => {
    const fail = (jobs = 1) =>
      running.db.query(sql`
      INSERT INTO jobs (queue, payload, due_at, failed_at)
      SELECT 'lost-mails', '{}', now(), now() FROM generate_series(1, ${jobs})`);
    // Inserts all jobs by one statement, because the service's own sweep may run between two statements.
    await fail(2);
    await look("2026-11-23T15:00:00Z");
    await look("2026-11-23T15:05:00Z");
    assert.deepEqual(await tasks("job_dead"), [
      { state: "open", reason: "2 jobs of the queue lost-mails failed for good.", endedBy: null },
    ]);
    await running.db.query(sql`DELETE FROM jobs WHERE queue = 'lost-mails'`);
    await look("2026-11-23T15:10:00Z");
    assert.deepEqual(
      (await tasks("job_dead")).map(({ state, endedBy }) => [state, endedBy]),
      [["done", "system"]],
    );
    await fail();
    await look("2026-11-23T15:15:00Z");
    const seen = sql`state = 'done', ended_at = now(), ended_by = 'operator', outcome = 'seen'`;
    const isOurs = sql`kind = 'job_dead' AND ended_by IS DISTINCT FROM 'system'`;
    await changeRowsOf(running.db, taskState, isOurs, seen);
    await look("2026-11-23T15:20:00Z");
    assert.deepEqual(
      (await tasks("job_dead")).map(({ state }) => state),
      ["done", "done"],
    );
    await fail();
    await running.db.query(sql`UPDATE jobs SET failed_at = now() + interval '1 minute' WHERE queue = 'lost-mails'`);
    await look("2026-11-23T15:25:00Z");
    assert.equal((await tasks("job_dead")).at(-1)?.state, "open", "one that failed after the word");
  });

  test("exist for a certificate that expires within 60 days", async () => {
    await look("2026-11-23T15:00:00Z");
    assert.deepEqual(await tasks("key_expiry"), []);
    await look("2099-01-01T00:00:00Z");
    const [task] = await tasks("key_expiry");
    assert.match(task?.reason ?? "", /^The certificate of the seal expires on 20\d\d-\d\d-\d\d\.$/);
  });
});

test("allow an admin to retry failed jobs, which is on record; a reader can't", async () => {
  await running.db.query(sql`DELETE FROM jobs`);
  await running.db.query(
    sql`INSERT INTO jobs (queue, payload, due_at, failed_at, attempts) VALUES ('lost-mails', '{}', now(), now(), 10)`,
  );
  const auditor = await newOperator(running, { roles: ["auditor"] });
  const admin = await newOperator(running, { roles: ["admin"] });
  const retry = (cookie: string, queue = "lost-mails") =>
    fetch(`${running.service.baseUrl}/operator/health/queues/${queue}/retry`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie },
      body: new URLSearchParams({}),
    });
  assert.equal((await retry(auditor.cookie)).status, 403);
  await open({ kind: "job_dead", at: new Date(), environment: "live", subject: "lost-mails" });
  const [dead] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM tasks WHERE state = 'open' AND kind = 'job_dead'`,
  );
  for (const act of ["claim", "release", "done"]) {
    const path = `${running.service.baseUrl}/operator/tasks/${dead?.id}/${act}`;
    const asked = {
      method: "POST",
      headers: { cookie: auditor.cookie },
      body: new URLSearchParams({ outcome: "seen" }),
    };
    assert.equal((await fetch(path, asked)).status, 403, act);
  }
  assert.equal((await retry(admin.cookie, "%00")).status, 404);
  assert.equal((await retry(admin.cookie)).status, 303);
  const jobs = await running.db.query(
    sql`SELECT attempts, failed_at AS "failedAt" FROM jobs WHERE queue = 'lost-mails'`,
  );
  assert.deepEqual(jobs, [{ attempts: 0, failedAt: null }]);
  const lines = await running.db.query(sql`SELECT actor, detail FROM audit_log WHERE action = 'jobs.retried'`);
  assert.deepEqual(lines, [{ actor: `operator:${admin.id}`, detail: { queue: "lost-mails", retried: 1 } }]);
});

test("a task about money or keys is claimed with a passkey, and ended with a recent one by somebody who may decide", async () => {
  const answer = (id: number, act: string, cookie: string) =>
    fetch(`${running.service.baseUrl}/operator/tasks/${id}/${act}`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie, Accept: "application/json" },
      body: new URLSearchParams({ outcome: "The bank has our answer." }),
    });
  const refusal = async (id: number, act: string, cookie: string) =>
    ((await (await answer(id, act, cookie)).json()) as { error: string }).error;
  const { headers } = await newPartner(running.service);
  const body = orderForm(minimal);
  assert.equal(
    (await fetch(`${running.service.baseUrl}/api/partner/orders`, { method: "POST", headers, body })).ok,
    true,
  );
  const [order] = await running.db.query<{ id: number }>(sql`SELECT id FROM orders`);
  const orderId = order?.id ?? 0;
  for (const [kind, role] of [
    ["dispute", "approver"],
    ["key_expiry", "admin"],
  ] as const) {
    // The service's own sweep may run at any time. It closes tasks that it doesn't need, unless they are about an
    // order. So this task is about an order.
    await open({ kind, at: new Date(), environment: "live", subject: "passkeys", orderId });
    await openServiceTasks({ db: running.db, clock: () => new Date(), certificates: [] });
    const [task] = await running.db.query<{ id: number }>(
      sql`SELECT id FROM tasks WHERE kind = ${kind} AND subject = 'passkeys'`,
    );
    const id = task?.id ?? 0;
    const without = await newOperator(running, { roles: [role], passkey: false });
    for (const act of ["claim", "done"]) assert.match(await refusal(id, act, without.cookie), /^Add a passkey first/);
    const person = await newOperator(running, { roles: [role] });
    const earlier = await newSession(running, person.id, { at: new Date(Date.now() - 16 * 60_000) });
    assert.equal((await answer(id, "claim", earlier.cookie)).status, 303);
    assert.match(await refusal(id, "done", earlier.cookie), /^Sign in with a passkey/);
    if (role === "approver") {
      const decidesFrom = (at: Date) =>
        asService(running, sql`UPDATE operators SET decides_from = ${at} WHERE user_id = ${person.id}`);
      await decidesFrom(new Date(Date.now() + 3_600_000));
      assert.match(await refusal(id, "done", person.cookie), /You may decide from/);
      await decidesFrom(new Date());
    }
    assert.equal((await answer(id, "done", person.cookie)).status, 303);
  }
});

describe("the morning's mail", () => {
  const send = (time: string) => sendMorningMails({ db: running.db, clock: on(time) });

  test("is sent once on a business day after the opening, to operators for whom tasks wait", async () => {
    await endAll();
    await newOperator(running, { roles: ["shipper"], email: "shipper@desk.example" });
    await newOperator(running, { roles: ["agent"], email: "agent@desk.example" });
    const friday = new Date("2026-11-20T15:00:00Z");
    await open({ kind: "fax_send", at: friday, environment: "live", subject: "x" });
    await open({ kind: "quote", at: friday, environment: "test", subject: "x" });
    assert.equal(await send("2026-11-22T15:00:00Z"), 0, "a Sunday");
    assert.equal(await send("2026-11-23T13:59:00Z"), 0, "before nine in New York");
    const sent = await Promise.all([send("2026-11-23T14:00:00Z"), send("2026-11-23T14:00:00Z")]);
    assert.deepEqual(sent.sort(), [0, 1]);
    assert.equal(await send("2026-11-23T18:00:00Z"), 0);
    assert.equal(await send("2026-11-26T18:00:00Z"), 0, "Thanksgiving");
    const mails = await running.db.query<{ payload: object }>(
      sql`SELECT payload FROM jobs WHERE queue = 'operator-mail'`,
    );
    assert.ok(mails.length <= 1);
  });
});

test("the gauges count open and overdue tasks in live", async () => {
  const text = await (await fetch(`${running.service.baseUrl}/metrics`)).text();
  assert.match(text, /^tasks_open\{kind="fax_send"\} 1$/m);
  assert.match(text, /^tasks_overdue\{kind="fax_send"\} [01]$/m);
  assert.doesNotMatch(text, /tasks_open\{kind="quote"\}/);
});

test("the command line lists, shows and ends tasks", async () => {
  const cli = <T>(...args: string[]) => running.service.cli<T>(...args);
  const {
    tasks: [found],
  } = await cli<{ tasks: { id: number; kind: string }[] }>("task", "list", "--kind", "fax_send");
  assert.equal(found?.kind, "fax_send");
  assert.equal((await cli<{ subject: string }>("task", "show", String(found?.id))).subject, "x");
  await assert.rejects(cli("task", "done", String(found?.id), "--outcome", "sent"), /ends when its work is done/);
  assert.deepEqual(await cli("order", "list", "--status", "attention"), { orders: [] });
  assert.deepEqual(await cli("order", "find", "nobody"), { orders: [] });
});

test("operators are mailed about new tasks that they may do, at most once in 15 minutes for each kind, by one node", async () => {
  await newOperator(running, { roles: ["admin"] });
  await endAll();
  await running.db.query(sql`DELETE FROM task_mails`);
  const start = Date.now();
  const at = (minutes: number) => ({ db: running.db, clock: () => new Date(start + minutes * 60_000) });
  const openReview = (subject: string) =>
    open({ kind: "access_request", at: new Date(start), environment: "live", subject });
  assert.equal(await mailNewTasks(at(0)), 0);
  await openReview("one");
  const mailed = await Promise.all(Array.from({ length: 4 }, () => mailNewTasks(at(0))));
  const once = Math.max(...mailed);
  assert.ok(once > 0);
  assert.equal(
    mailed.reduce((sum, count) => sum + count, 0),
    once,
  );
  await openReview("two");
  assert.equal(await mailNewTasks(at(14)), 0);
  assert.equal(await mailNewTasks(at(15)), once);
  assert.equal(await mailNewTasks(at(60)), 0);
});
