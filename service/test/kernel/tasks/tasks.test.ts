import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { changeOrder } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import type { Blobs } from "../../../src/kernel/platform/blobs/blobs.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { isSealed, type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { claimTask, finishTask, type NewTask, openTask, releaseTask } from "../../../src/kernel/tasks/tasks.ts";
import { moveOrder } from "../../../src/orders/fulfilment/move-order.ts";
import { beginNextSegment } from "../../../src/orders/fulfilment/order-jobs.ts";
import { type Task, tasksOfOrder } from "../../../src/upkeep/console/console.ts";

const running = await forTests(openHarness());
const { headers } = await newPartner(running.service);

const post = (path: string, body: FormData | undefined = undefined) =>
  fetch(running.service.baseUrl + path, { method: "POST", headers, ...(body && { body }) });

async function order(fields: Record<string, string>, pay = true): Promise<string> {
  const answer = await post("/api/partner/orders", orderForm({ ...minimal, ...fields }));
  const { orderCode } = (await answer.json()) as { orderCode: string };
  if (pay) await post(`/api/partner/sandbox/orders/${orderCode}/checkout`);
  return orderCode;
}

const noSealer = () => Promise.reject(new Error("nothing is sealed here"));
/** Moves an order as the command line does. @param to null ends a hold */
const move = (code: string, to: string | null, reason?: string) =>
  moveOrder(
    {
      db: running.db,
      clock: systemClock,
      log: openLog("silent"),
      blobs: {} as Blobs,
      rowMac: running.rowMac,
      openSealer: noSealer,
    },
    { code, to, document: null, facts: { reason } },
  );

async function tasksOf(code: string): Promise<Task[]> {
  const [row] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  return tasksOfOrder(running.db, row?.id ?? 0);
}

const open = (task: NewTask, from?: Statement) => running.db.transaction((tx) => openTask(tx, task, from));
const standing = async (code: string) => (await tasksOf(code)).map(({ kind, state }) => `${kind} ${state}`).reverse();

describe("an order's moves open and close the tasks of people", () => {
  test("for a notarization, held, released, failed and reopened", async () => {
    const code = await order({ svc_notary: "true" });
    assert.deepEqual(await standing(code), ["notarize open"]);
    await claimTask({ db: running.db, clock: systemClock }, (await tasksOf(code))[0]?.id ?? 0, "operator:n");
    await move(code, "OnHold", "a call");
    assert.deepEqual(await standing(code), ["notarize paused", "order_on_hold open"]);
    assert.equal((await tasksOf(code))[0]?.reason, "a call");
    await move(code, null);
    assert.deepEqual(await standing(code), ["notarize claimed", "order_on_hold done"]);
    await move(code, "NotarizationFailed", "nobody came");
    assert.deepEqual(await standing(code), ["notarize done", "order_on_hold done", "notarization_exception open"]);
    await move(code, "NotarizationPending");
    assert.deepEqual((await standing(code)).slice(2), ["notarization_exception done", "notarize open"]);
    assert.equal((await tasksOf(code)).at(-1)?.endedBy, "operator");
  });

  test("for labels and packets by the kind of shipping, and for failures", async () => {
    const label = await order({ ...shipping });
    assert.deepEqual(await standing(label), ["label_print open"]);
    await move(label, "ShippingFailed", "lost");
    assert.deepEqual(await standing(label), ["label_print done", "shipping_exception open"]);
    assert.deepEqual(await standing(await order({ ...shipping, ship_method: "print_mail" })), ["packet_print open"]);
    assert.deepEqual(await standing(await order({ fax_to: "2125550123" })), ["fax_send open"]);
  });

  test("are due in half the time for a paid rush", async () => {
    const code = await order({ svc_notary: "true" });
    await move(code, "NotarizationFailed", "x");
    await changeOrder(
      running.db,
      code,
      sql`lines = lines || '[{"type": "RushFee", "amountCents": 0, "quantity": 1, "label": "x"}]'`,
    );
    await move(code, "NotarizationPending");
    const [rush, , usual] = (await tasksOf(code)).map(({ dueAt }) => dueAt.getTime());
    assert.ok((rush ?? 0) < (usual ?? 0));
  });

  test("are dropped by a refund", async () => {
    const code = await order({ svc_notary: "true" });
    await move(code, "RefundPending", "asked for");
    assert.deepEqual(await standing(code), ["notarize dropped"]);
    const held = await order({ svc_notary: "true" });
    const money = { kind: "payment_unapplied", at: new Date(), environment: "test", orderId: sql`o.id` } as const;
    await open(money, sql`orders o WHERE ${isSealed(sql`code`, "order", held)}`);
    await move(held, "OnHold", "x");
    await move(held, "RefundPending", "asked for");
    assert.deepEqual(await standing(held), ["notarize dropped", "payment_unapplied open", "order_on_hold dropped"]);
  });

  test("exist from its creation for an order without a price", async () => {
    const code = await order({ svc_notary: "true" });
    const at = new Date();
    const quote = { kind: "quote", at, environment: "test", orderId: sql`o.id` } as const;
    for (let n = 0; n < 2; n++) await open(quote, sql`orders o WHERE ${isSealed(sql`code`, "order", code)}`);
    assert.deepEqual(await standing(code), ["notarize open", "quote open"]);
  });
});

describe("a task", () => {
  const deps = () => ({ db: running.db, clock: systemClock });
  const refusal = (code: string) => (error: unknown) => error instanceof ServiceError && error.code === code;
  const newTask = async () => (await tasksOf(await order({ svc_notary: "true" })))[0]?.id ?? 0;

  test("is claimed by one of ten concurrent callers", async () => {
    const id = await newTask();
    const claims = await Promise.allSettled(
      Array.from({ length: 10 }, (_, n) => claimTask(deps(), id, `operator:${n}`)),
    );
    assert.equal(claims.filter(({ status }) => status === "fulfilled").length, 1);
    for (const claim of claims) if (claim.status === "rejected") assert.ok(refusal("conflict")(claim.reason));
    const [row] = await running.db.query<{ lines: number }>(
      sql`SELECT count(*)::int AS lines FROM audit_log WHERE action = 'task.claimed' AND (detail->>'task')::bigint = ${id}`,
    );
    assert.equal(row?.lines, 1);
  });

  test("is released only by the person who has claimed it", async () => {
    const id = await newTask();
    await assert.rejects(releaseTask(deps(), id, "operator:a"), refusal("conflict"));
    await claimTask(deps(), id, "operator:a");
    await assert.rejects(releaseTask(deps(), id, "operator:b"), refusal("conflict"));
    await releaseTask(deps(), id, "operator:a");
    await claimTask(deps(), id, "operator:b");
    await releaseTask(deps(), id, "operator:c", true);
  });

  test("that has ended or never existed can't be claimed", async () => {
    const code = await order({ svc_notary: "true" });
    const id = (await tasksOf(code))[0]?.id ?? 0;
    await move(code, "OnHold", "x");
    await assert.rejects(claimTask(deps(), id, "operator:a"), refusal("conflict"));
    await assert.rejects(claimTask(deps(), 2 ** 40, "operator:a"), refusal("not_found"));
  });

  test("ends with a note only if nothing else would end it", async () => {
    await assert.rejects(finishTask(deps(), await newTask(), "operator:a", "done"), refusal("conflict"));
    await open({ kind: "job_dead", at: new Date(), environment: "live", subject: "refund" });
    const [dead] = await running.db.query<{ id: number }>(sql`SELECT id FROM tasks WHERE kind = 'job_dead'`);
    for (const outcome of [" ", "a\u0000b"])
      await assert.rejects(finishTask(deps(), dead?.id ?? 0, "operator:a", outcome), refusal("validation"));
    await finishTask(deps(), dead?.id ?? 0, "operator:a", "The mail server is back.");
    await assert.rejects(finishTask(deps(), dead?.id ?? 0, "operator:a", "again"), refusal("conflict"));
  });
});

describe("access requests and playbooks", () => {
  test("have a task while they wait, which ends with the decision", async () => {
    const state = async (kind: string) =>
      (await running.db.query<{ state: string }>(sql`SELECT state FROM tasks WHERE kind = ${kind} ORDER BY id`)).map(
        (row) => row.state,
      );
    await fetch(`${running.service.baseUrl}/api/partner/request`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        firmName: "A",
        contactName: "B",
        workEmail: "a@gmail.com",
        role: "Owner",
        useCase: "Deeds",
      }),
    });
    assert.deepEqual(await state("access_request"), ["open"]);
    const { requests } = await running.service.cli<{ requests: { requestId: string }[] }>("request", "list");
    await running.service.cli("request", "decline", requests[0]?.requestId ?? "");
    assert.deepEqual(await state("access_request"), ["done"]);
  });
});

describe("a live order whose service has ended", () => {
  test("begins the next service automatically, once, and not from another status", async () => {
    const code = await order({ svc_sign: "true", svc_notary: "true" });
    const [row] = await running.db.query<{ id: number }>(
      sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
    );
    const status = async () =>
      (
        await running.db.query<{ status: string }>(
          sql`SELECT status FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
        )
      )[0]?.status;
    const deps = { db: running.db, clock: systemClock, log: openLog("silent") };
    await beginNextSegment(deps, row?.id ?? 0);
    assert.equal(await status(), "EsignPending");
    await changeOrder(running.db, code, sql`status = 'EsignComplete'`);
    await Promise.all([beginNextSegment(deps, row?.id ?? 0), beginNextSegment(deps, row?.id ?? 0)]);
    assert.equal(await status(), "NotarizationPending");
    assert.deepEqual((await standing(code)).slice(-1), ["notarize open"]);
  });

  test("has its job from the moment it ends, and none if it is a test order", async () => {
    // The number of orders that have a job. Jobs are not counted one by one: before a pause, the service queues a
    // second job of the order, and then removes the first.
    const jobs = async () =>
      (
        await running.db.query<{ n: number }>(sql`
          SELECT count(DISTINCT payload ->> 'orderId')::int AS n FROM jobs WHERE queue = 'next-segment'`)
      )[0]?.n;
    const code = await order({ fax_to: "2125550123", svc_notary: "true" });
    await changeOrder(running.db, code, sql`status = 'FaxPending'`);
    await move(code, "FaxDelivered");
    assert.equal(await jobs(), 0);
    await changeOrder(running.db, code, sql`status = 'FaxPending', environment = 'live'`);
    await move(code, "FaxDelivered");
    assert.equal(await jobs(), 1);
  });
});
