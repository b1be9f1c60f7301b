import assert from "node:assert/strict";
import { after, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { whileWritesWait } from "@signsealship/testing/lock-waits";
import { ownProcess, type Service, startService } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { giveLiveAccess, newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { openLiveService } from "../../fulfilment/live-service.ts";

// The double identifies the requesting node by its key.
const live = await forTests(openLiveService({ ...ownProcess, STRIPE_SECRET_KEY: "sk_live_one" }));
const { stripe, db, harness } = live;
let second = await startService({
  DATA_DIR: harness.service.dataDir,
  RATE_LIMITS: "off",
  ...stripe.settings("live"),
  STRIPE_SECRET_KEY: "sk_live_two",
  ...ownProcess,
});
after(() => second.stop());

const key = live.headers.Authorization.slice("Bearer ".length);
const owner = (await newMember(harness.service, "owner@acme.example", key)).headers;
const [firm] = await db.query<{ partnerId: string }>(sql`SELECT partner_id AS "partnerId" FROM members`);
await giveLiveAccess(harness.service, firm?.partnerId ?? "");

const post = ({ baseUrl }: Service, path: string, fields: Record<string, string> = {}) =>
  postForm(baseUrl + path, fields, { ...owner, Accept: "text/html", Origin: new URL(baseUrl).origin });
await post(second, "/dashboard/environment", { environment: "live" });
const setup = /cs_test_[0-9a-f]+/.exec(await (await post(second, "/dashboard/billing/method")).text());
for (const event of stripe.finishSetup(setup?.[0] ?? "")) await stripe.deliver(second.baseUrl, event);
await until(async () => (await db.query(sql`SELECT FROM payment_methods WHERE state = 'active'`)).length === 1);

/** Places an order that the firm pays. The firm's API key may not spend, so an owner charges it later. */
async function place(): Promise<string> {
  const { orderCode } = await live.place({ svc_sign: "true", pay_by: "firm", create_checkout: "false" });
  await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'firm-charge'`)).length === 0);
  return orderCode;
}
/** The orders that one payment charges: a single order, or those of a room. */
type Target = { path: string; codes: readonly string[]; fields: Record<string, string> };
/** The form with which a page charges the sum that it shows. */
async function shownAt(page: string): Promise<Omit<Target, "codes">> {
  const answer = await fetch(live.url() + page, { headers: { ...owner, Accept: "text/html" } });
  const text = await answer.text();
  const shown = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(text)?.[1] ?? "";
  const fields = { total_cents: shown("total_cents"), charged_method: shown("charged_method") };
  return { path: `${page}/charge`, fields };
}
const alone = async (): Promise<Target> => {
  const code = await place();
  return { ...(await shownAt(`/dashboard/orders/${code}`)), codes: [code] };
};
const together = async (): Promise<Target> => {
  const codes = [await place(), await place(), await place()];
  const headers = { ...live.headers, "Content-Type": "application/json" };
  const call = async (path: string, body: object) =>
    (await fetch(live.url() + path, { method: "POST", headers, body: JSON.stringify(body) })).json();
  const { roomCode } = (await call("/api/rooms", { name: "12 Elm Street" })) as { roomCode: string };
  for (const orderCode of codes) await call(`/api/rooms/${roomCode}/orders`, { orderCode });
  return { ...(await shownAt(`/dashboard/rooms/${roomCode}`)), codes };
};
const charge = (node: Service, { path, fields }: Target) => post(node, path, fields);
const chargesOf = (code: string) =>
  db.query<{ state: string; intent: string | null }>(sql`
    SELECT c.state, c.payment_intent AS intent FROM firm_charges c JOIN orders o ON o.id = c.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND c.state <> 'refused' ORDER BY c.asked_at`);
let intentsBefore = 0;
const newIntents = () => [...stripe.firm.intents.values()].slice(intentsBefore);
const paymentsOf = (code: string) =>
  db.query(
    sql`SELECT FROM payments p JOIN orders o ON o.id = p.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`,
  );

/**
 * Kills the node in the middle of its work and restarts it, while the other node continues. `look` runs directly after
 * the kill: the other node may take over the work before the restart ends.
 */
async function kill(node: Service, look = async () => {}): Promise<void> {
  await node.kill();
  await look();
  const again = await node.restart();
  if (node === second) second = again;
  else harness.service = again;
}

/**
 * Asserts that the processor charged only once. Each order must be paid once, although the charge's event arrives
 * twice.
 */
async function requireOnePayment({ codes }: Target): Promise<void> {
  const [first = ""] = codes;
  const intent = await until(async () => {
    await live.hurry("firm-charge");
    return (await chargesOf(first)).find(({ state }) => state === "answered")?.intent;
  });
  assert.equal(newIntents().length, 1);
  const event = stripe.chargeEvent(intent);
  for (const node of [second, harness.service]) assert.equal((await stripe.deliver(node.baseUrl, event)).status, 200);
  for (const code of codes) {
    assert.equal(await live.statusOf(code), "EsignPending");
    assert.equal((await paymentsOf(code)).length, 1);
    assert.deepEqual(await chargesOf(code), [{ state: "succeeded", intent }]);
  }
}

for (const [words, target] of [
  ["an order", alone],
  ["three orders of a room", together],
] as const) {
  const prepared = async () => {
    const found = await target();
    intentsBefore = stripe.firm.intents.size;
    return found;
  };

  test(`${words}, killed before the charge is on record: nothing was charged, and the other node charges once`, async () => {
    const found = await prepared();
    await whileWritesWait(
      db,
      sql`firm_charges`,
      () => charge(harness.service, found),
      () => kill(harness.service),
    );
    for (const code of found.codes) assert.deepEqual(await chargesOf(code), []);
    assert.equal(newIntents().length, 0);
    assert.equal((await charge(second, found)).status, 303);
    await requireOnePayment(found);
  });

  // `hang`: the processor never handles the request. `mute`: the processor charges, but its response is lost.
  for (const [failure, when] of [
    ["hang", "after the charge is on record, before the processor has it"],
    ["mute", "after the processor charged, before its answer is on record"],
  ] as const)
    test(`${words}, killed ${when}: the other node charges once in all`, async () => {
      const found = await prepared();
      stripe.fail(failure);
      const before = stripe.requests.length;
      assert.equal((await charge(second, found)).status, 303);
      const asked = await until(() => stripe.requests.slice(before).find(({ path }) => path === "/v1/payment_intents"));
      await kill(asked.authorization.endsWith("two") ? second : harness.service, async () => {
        for (const code of found.codes)
          assert.deepEqual(
            (await chargesOf(code)).map(({ state }) => state),
            ["asked"],
          );
        assert.equal(newIntents().length, failure === "mute" ? 1 : 0);
      });
      await requireOnePayment(found);
    });

  test(`${words}, both nodes killed after the answer is on record: the event still pays once`, async () => {
    const found = await prepared();
    assert.equal((await charge(second, found)).status, 303);
    await until(async () => (await chargesOf(found.codes[0] ?? "")).some(({ state }) => state === "answered"));
    const states = await Promise.all(found.codes.map(async (code) => (await chargesOf(code))[0]?.state));
    assert.deepEqual(new Set(states), new Set(["answered"]));
    await kill(second);
    await kill(harness.service);
    await requireOnePayment(found);
  });

  test(`${words}, killed after the event, before its commit: nothing moved, and the event sent again pays once`, async () => {
    const found = await prepared();
    await charge(second, found);
    const { intent } = await until(async () =>
      (await chargesOf(found.codes[0] ?? "")).find(({ state }) => state === "answered"),
    );
    const event = stripe.chargeEvent(intent ?? "");
    await whileWritesWait(
      db,
      sql`billing_documents`,
      () => stripe.deliver(harness.service.baseUrl, event),
      () => kill(harness.service),
    );
    for (const code of found.codes) {
      assert.equal(await live.statusOf(code), "QuoteReady");
      assert.equal((await paymentsOf(code)).length, 0);
    }
    await requireOnePayment(found);
  });
}
