import assert from "node:assert/strict";
import { test } from "node:test";
import type { StripeEvent } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { whileWritesWait } from "@signsealship/testing/lock-waits";
import { ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { type Statement, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../../../src/kernel/platform/database/state-mac.ts";
import { billingDocumentState } from "../../../../src/orders/payments/records/documents.ts";
import { giveLiveAccess, newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { openLiveService } from "../../fulfilment/live-service.ts";

const live = await forTests(openLiveService(ownProcess));
const { stripe, db, harness } = live;
const key = live.headers.Authorization.slice("Bearer ".length);
const owner = { cookie: (await newMember(harness.service, "owner@acme.example", key)).headers.Cookie };
const [firm] = await db.query<{ partnerId: string }>(sql`SELECT partner_id AS "partnerId" FROM members`);
await giveLiveAccess(harness.service, firm?.partnerId ?? "");
const agent = await newOperator(harness, { roles: ["agent"] });
const approver = await newOperator(harness, { roles: ["approver"] });

type Person = { cookie: string };
const post = (path: string, { cookie }: Person, fields: Record<string, string> = {}) =>
  postForm(live.url() + path, fields, { cookie, Accept: "text/html", Origin: new URL(live.url()).origin });
const look = async (path: string, { cookie }: Person) =>
  (await fetch(live.url() + path, { headers: { cookie, Accept: "text/html" } })).text();
const rows = async (from: Statement) => (await db.query(sql`SELECT FROM ${from}`)).length;
await post("/dashboard/environment", owner, { environment: "live" });

async function kill(): Promise<void> {
  await harness.service.kill();
  harness.service = await harness.service.restart();
}

/** Kills the service while its write to the table waits, so that the transaction is aborted. */
const killAt = (table: Statement, begin: () => Promise<unknown>) =>
  whileWritesWait(db, table, begin, () => harness.service.kill()).then(async () => {
    harness.service = await harness.service.restart();
  });

type Method = { id: string; state: string; method: string | null };
const newestMethod = async () =>
  (await db.query<Method>(sql`SELECT id, state, method FROM payment_methods ORDER BY added_at DESC LIMIT 1`))[0];
const openSetup = async () =>
  /cs_test_[0-9a-f]+/.exec(await (await post("/dashboard/billing/method", owner)).text())?.[0] ?? "";
/** Delivers events. The service must confirm each. */
async function deliver(events: readonly StripeEvent[]): Promise<void> {
  for (const event of events) assert.equal((await stripe.deliver(live.url(), event)).status, 200);
}
const isDetached = (method: Method | undefined) => stripe.firm.methods.get(method?.method ?? "")?.["customer"] === null;

async function activeMethod(): Promise<Method> {
  await deliver(stripe.finishSetup(await openSetup()));
  return until(async () => {
    await live.hurry("payment-method");
    const method = await newestMethod();
    return method?.state === "active" ? method : undefined;
  });
}

test("killed before the opened setup is on record: there is no method, and the owner begins again", async () => {
  await killAt(sql`payment_methods`, openSetup);
  assert.equal(await rows(sql`payment_methods`), 0);
  assert.equal((await activeMethod()).state, "active");
});

test("killed before the setup's event is on record: the event sent again replaces the method once", async () => {
  const before = await newestMethod();
  const events = stripe.finishSetup(await openSetup());
  await killAt(sql`payment_methods`, () => deliver(events));
  assert.equal(await rows(sql`payment_methods WHERE state = 'active'`), 1);
  for (let time = 0; time < 2; time++) await deliver(events);
  await until(async () => {
    for (const queue of ["payment-method", "payment-method-end"]) await live.hurry(queue);
    return isDetached(before);
  });
  const now = await newestMethod();
  assert.equal(now?.state, "active");
  assert.equal(isDetached(now), false);
  assert.equal(await rows(sql`payment_methods WHERE state = 'active'`), 1);
});

test("killed while the saved method is read from the processor: its job activates it after the restart", async () => {
  const events = stripe.finishSetup(await openSetup());
  stripe.fail("hang");
  const asked = () => stripe.requests.filter(({ path }) => path.startsWith("/v1/setup_intents/")).length;
  const before = asked();
  await deliver(events);
  await until(() => asked() > before);
  await kill();
  await until(async () => {
    await live.hurry("payment-method");
    return (await newestMethod())?.state === "active";
  });
  assert.equal(await rows(sql`payment_methods WHERE state = 'active'`), 1);
  assert.equal(await rows(sql`audit_log WHERE action = 'payment_method.added'`), 3);
});

test("killed before a removal is on record: the method stays, and nothing is detached", async () => {
  const method = await newestMethod();
  await killAt(sql`payment_methods`, () => post(`/dashboard/billing/methods/${method?.id}/remove`, owner));
  assert.equal((await newestMethod())?.state, "active");
  assert.equal(isDetached(method), false);
});

// `hang`: the processor never handles the request. `mute`: it detaches the method, but its response is lost.
for (const failure of ["hang", "mute"] as const)
  test(`killed while the processor detaches the method (${failure}): it is detached, and no job is left`, async () => {
    const method = await activeMethod();
    await until(async () => {
      await live.hurry("payment-method-end");
      return (await rows(sql`jobs WHERE queue = 'payment-method-end'`)) === 0;
    });
    stripe.fail(failure);
    const asked = () => stripe.requests.filter(({ path }) => path.endsWith("/detach")).length;
    const before = asked();
    assert.equal((await post(`/dashboard/billing/methods/${method.id}/remove`, owner)).status, 303);
    await until(() => asked() > before);
    await kill();
    await until(async () => {
      await live.hurry("payment-method-end");
      return (await rows(sql`jobs WHERE queue = 'payment-method-end'`)) === 0;
    });
    assert.equal((await newestMethod())?.state, "removed");
    assert.ok(isDetached(method));
  });

test("a refund made at the processor, killed at each step: it is booked once, as two people said", async () => {
  const codes = [await live.place({ svc_sign: "true" }), await live.place({ svc_sign: "true" })].map(
    (o) => o.orderCode,
  );
  const call = async (path: string, body: object) => {
    const headers = { ...live.headers, "Content-Type": "application/json" };
    const answer = await fetch(live.url() + path, { method: "POST", headers, body: JSON.stringify(body) });
    return (await answer.json()) as Record<string, string>;
  };
  const { roomCode } = await call("/api/rooms", { name: "12 Elm Street" });
  for (const orderCode of codes) await call(`/api/rooms/${roomCode}/orders`, { orderCode });
  const { checkoutUrl = "" } = await call(`/api/rooms/${roomCode}/checkout`, {});
  const paid = stripe.pay(stripe.sessionOf(checkoutUrl));
  await deliver([paid]);
  const events = stripe.refundByHand(String(paid.data.object["payment_intent"]), 500);
  await killAt(sql`refunds`, () => deliver(events));
  assert.equal(await rows(sql`refunds`), 0);
  await deliver(events);
  const page = () => look("/operator/payments", agent);
  const form = await until(async () => {
    const shown = await page();
    return /name="refund" value/.test(shown) ? shown : undefined;
  });
  const [first = "", second = ""] = [...form.matchAll(/name="(part-\d+)"/g)].map(([, name]) => name);
  const refund = /name="refund" value="([^"]+)"/.exec(form)?.[1] ?? "";
  const fields = { refund, reason: "the payer asked", [first]: "3.00", [second]: "2.00" };
  const path = "/operator/payments/assignments";

  await killAt(sql`refund_assignments`, () => post(path, agent, fields));
  assert.equal(await rows(sql`refund_assignments`), 0);
  assert.equal((await post(path, agent, fields)).status, 303);

  const id = /assignments\/([0-9a-f-]{36})\/approve/.exec(await look("/operator/payments", approver))?.[1] ?? "";
  await killAt(sql`billing_documents`, () => post(`${path}/${id}/approve`, approver));
  assert.equal(await rows(sql`billing_documents WHERE kind = 'credit_note'`), 0);
  assert.equal(await rows(sql`refund_assignments WHERE state = 'requested'`), 1);
  assert.equal((await post(`${path}/${id}/approve`, approver)).status, 303);
  await kill();
  await deliver(events);
  const credited = await db.query<{ cents: number }>(
    sql`SELECT part_cents AS cents FROM billing_documents WHERE kind = 'credit_note' ORDER BY part_cents`,
  );
  assert.deepEqual(
    credited.map(({ cents }) => cents),
    [200, 300],
  );
  assert.notEqual((await post(`${path}/${id}/approve`, approver)).status, 303);
});

test("killed while a month is closed: each month is closed once, with its sums", async () => {
  await db.transaction(async (tx) => {
    await tx.query(sql`ALTER TABLE billing_documents DISABLE TRIGGER USER`);
    await tx.query(sql`UPDATE billing_documents SET booked_at = booked_at - interval '32 days'`);
    await writeStateMacs(tx, billingDocumentState, sql`true`);
    await tx.query(sql`ALTER TABLE billing_documents ENABLE TRIGGER USER`);
  });
  const restarted = async () => {
    harness.service = await harness.service.restart();
  };
  const statements = () => rows(sql`billing_statements`);
  const balances = () => rows(sql`billing_balances`);
  await harness.service.kill();
  // Months are closed when a service starts.
  for (const [table, closed] of [
    [sql`billing_statements`, false],
    [sql`billing_balances`, true],
  ] as const) {
    let starting: Promise<void> = Promise.resolve();
    await whileWritesWait(
      db,
      table,
      () => (starting = restarted()),
      async () => {
        await starting;
        await harness.service.kill();
      },
    );
    assert.equal((await statements()) > 0, closed);
    assert.equal(await balances(), 0);
  }
  await restarted();
  await until(async () => (await balances()) > 0 && (await balances()) === (await statements()));
  await kill();
  assert.equal(await rows(sql`(SELECT month FROM billing_statements GROUP BY month HAVING count(*) > 1) twice`), 0);
  assert.equal(await balances(), await statements());
});
