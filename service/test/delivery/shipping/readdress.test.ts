import assert from "node:assert/strict";
import { test } from "node:test";
import type { StripeEvent } from "@signsealship/testing/doubles/stripe";
import { makeJobsDue } from "@signsealship/testing/due-jobs";
import { forTests } from "@signsealship/testing/for-tests";
import { newPartner, ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { openLabelsWorld } from "./labels-world.ts";

const world = await forTests(openLabelsWorld({ ...ownProcess, SHIP_RATE_TOLERANCE: "0" }));
const { db, stripe, easypost } = world;
const { headers } = await newPartner(world.harness.service, { live: true, name: "Beta Title", tier: "ClosingDesk" });

type Corrections = {
  error?: string;
  refusals: Record<string, string | null>;
  supplements: { amountCents: number; label: string; state: string }[];
};

const elsewhere = {
  ship_name: "Lender Inc.",
  ship_line1: "9 Other Street",
  ship_city: "Albany",
  ship_state: "NY",
  ship_postal: "12207",
};

async function call<T>(code: string, path: string, body?: object) {
  const response = await fetch(`${world.url()}/api/partner/orders/${code}/${path}`, {
    method: "POST",
    headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as T & { error?: string } };
}

const correct = (code: string, more: object = {}) => call<Corrections>(code, "corrections", { ...elsewhere, ...more });
const corrections = async (code: string) =>
  (await (await fetch(`${world.url()}/api/partner/orders/${code}/corrections`, { headers })).json()) as Corrections;
const place = (fields: Record<string, string> = {}) => world.place(fields, headers);

/** A paid order whose label was bought for the quoted address. */
async function labeled() {
  const code = await world.payFor(await place());
  return { code, first: await world.boughtLabel(code) };
}

/** Makes the carrier offer only this rate during the work. */
async function atRate<T>(rate: string, work: () => Promise<T>): Promise<T> {
  const { offers } = easypost;
  const usual = offers.splice(0, offers.length, { carrier: "USPS", service: "GroundAdvantage", rate, days: 3 });
  try {
    return await work();
  } finally {
    offers.splice(0, offers.length, ...usual);
  }
}

/** A labeled order whose corrected address costs $4.07 more than the quoted $5.93. */
const dearer = () =>
  atRate("10.00", async () => {
    const { code, first } = await labeledAtUsual();
    assert.equal((await correct(code)).status, 200);
    const asked = await until(async () => (await corrections(code)).supplements.find(({ state }) => state === "asked"));
    return { code, first, asked };
  });

/** Orders whose labels were bought before a test changes the carrier's offers. */
const ready: { code: string; first: Awaited<ReturnType<typeof labeled>>["first"] }[] = [];
for (let n = 0; n < 8; n++) ready.push(await labeled());
async function labeledAtUsual() {
  const next = ready.pop();
  assert.ok(next);
  return next;
}

const checkout = (code: string) => call<{ checkoutUrl: string }>(code, "checkout");
const deliver = (event: StripeEvent) => stripe.deliver(world.url(), event);
const payments = (code: string) =>
  db.query<{ cents: number; supplement: string | null }>(sql`
    SELECT p.amount_cents::int AS cents, s.state AS supplement FROM payments p JOIN orders o ON o.id = p.order_id
      LEFT JOIN supplements s ON s.payment_id = p.id
    WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY p.id`);
const states = async (code: string) =>
  (await world.labels(code)).map(({ state, refundState }) => `${state}/${refundState}`);
const addressOf = (trackingNumber: string) =>
  JSON.stringify(
    [...easypost.shipments.values()].find((each) => each["tracking_code"] === trackingNumber)?.["to_address"],
  );

test("a parcel that waits to be handed over gets a new label with the corrected address, and its first label is returned", async () => {
  const { code, first } = await labeled();
  assert.equal((await corrections(code)).refusals["address"], null);
  assert.equal((await correct(code)).status, 200);
  const second = await until(async () => {
    const found = (await world.labels(code)).find(({ number, state }) => number === 2 && state === "bought");
    return found?.fileSha256 ? found : null;
  });
  assert.notEqual(second.trackingNumber, first.trackingNumber);
  assert.match(addressOf(second.trackingNumber) ?? "", /9 OTHER STREET/i);
  assert.deepEqual(await states(code), ["bought/submitted", "bought/null"]);
  assert.deepEqual((await corrections(code)).supplements, []);
  const { cookie } = await newOperator(world.harness, { roles: ["shipper"] });
  assert.match(
    await world.page(`/operator/paper/${code}`, cookie),
    new RegExp(`name="tracking"[^>]*value="${second.trackingNumber}"`),
  );

  await world.deliver(second.trackerId, "in_transit");
  await until(async () => (await world.statusOf(code)) === "Shipped");
  const refused = await correct(code, { ship_line1: "1 Third Street" });
  assert.deepEqual([refused.status, refused.body.error], [409, "The parcel is on its way."]);
});

test("the payer is asked to pay for dearer postage, and the label is bought once, after the processor's event", async () => {
  await atRate("10.00", async () => {
    const { code, asked } = await dearer();
    assert.deepEqual([asked.amountCents, asked.label], [407, "USPS Ground Advantage postage to the corrected address"]);
    assert.deepEqual(await states(code), ["bought/submitted", "not_bought/null"]);
    assert.equal(
      (await world.tasks(code)).some(({ kind }) => kind === "postage_dearer"),
      false,
    );
    const page = await world.page(`/orders/${code}`, "");
    assert.match(page, /postage to it costs more. The parcel waits until \$4\.07 more is paid/);
    assert.match(page, /Pay \$4\.07/);
    await until(() =>
      world.mails().some((mail) => mail.includes("An additional amount is due") && mail.includes(code)),
    );

    const { body } = await checkout(code);
    const session = stripe.sessionOf(body.checkoutUrl);
    assert.equal((await checkout(code)).body.checkoutUrl, body.checkoutUrl);
    const event = stripe.pay(session);
    await Promise.all([deliver(event), deliver(event)]);
    await deliver({ ...event, id: `${event.id}_again` });
    await until(async () => (await world.labels(code)).at(-1)?.state === "bought");
    const [total, extra, ...others] = await payments(code);
    assert.equal(others.length, 0);
    assert.deepEqual([total?.supplement, extra], [null, { cents: 407, supplement: "paid" }]);
    assert.equal((await world.labels(code)).at(-1)?.cents, 1000);
    assert.equal(await world.statusOf(code), "ShippingPending");
    const closed = await checkout(code);
    assert.deepEqual([closed.status, closed.body.error], [409, "An order in ShippingPending is not payable."]);

    const receipts = (await (
      await fetch(`${world.url()}/api/partner/orders/${code}/receipts`, { headers })
    ).json()) as { receipts: { kind: string; amountCents: number }[] };
    assert.deepEqual(
      receipts.receipts.map(({ amountCents }) => amountCents),
      [total?.cents, 407],
    );
    assert.match(await world.page(`/orders/${code}`, ""), /\$4\.07/);
  });
});

test("a payment for a supplement that is no longer needed becomes a task for a person, and does not change the order's status", async () => {
  const { code } = await dearer();
  const session = stripe.sessionOf((await checkout(code)).body.checkoutUrl);
  const event = stripe.pay(session);
  // Shipping to this next address costs only the quoted price. So the supplement is withdrawn, and a payment of the
  // supplement can't be applied.
  assert.equal((await correct(code, { ship_line1: "10 Near Street" })).status, 200);
  await until(async () => (await world.labels(code)).at(-1)?.state === "bought");
  await deliver(event);
  const task = await until(async () => (await world.tasks(code)).find(({ kind }) => kind === "payment_unapplied"));
  assert.equal(task.state, "open");
  assert.deepEqual(
    (await corrections(code)).supplements.map(({ state }) => state),
    ["withdrawn"],
  );
  assert.equal(await world.statusOf(code), "ShippingPending");
});

test("a supplement that was refunded pays for no later label: the payer is asked for it again", async () => {
  await atRate("10.00", async () => {
    const { code } = await dearer();
    const session = stripe.sessionOf((await checkout(code)).body.checkoutUrl);
    await deliver(stripe.pay(session));
    await until(async () => (await world.labels(code)).at(-1)?.state === "bought");
    const charge = { payment_intent: stripe.sessions.get(session)?.["payment_intent"], amount: 407, currency: "usd" };
    await deliver(stripe.event("charge.refunded", { ...charge, refunded: true }));
    assert.equal((await correct(code, { ship_line1: "11 Far Street" })).status, 200);
    const supplements = await until(async () => {
      const found = (await corrections(code)).supplements;
      return found.length === 2 ? found : null;
    });
    assert.deepEqual(
      supplements.map(({ state, amountCents }) => [state, amountCents]),
      [
        ["paid", 407],
        ["asked", 407],
      ],
    );
    assert.deepEqual((await states(code)).at(-1), "not_bought/null");
  });
});

test("a room asks for the sum that its checkout charges, with the supplements of its orders", async () => {
  await atRate("10.00", async () => {
    const { code } = await dearer();
    const { orderCode: other } = await place();
    const post = async (path: string, body?: object) => {
      const response = await fetch(`${world.url()}/api/rooms${path}`, {
        method: "POST",
        headers: { ...headers, ...(body && { "Content-Type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await response.json()) as { roomCode: string; totalCents: number; error?: string };
    };
    const { roomCode, error } = await post("", { name: "12 Elm Street" });
    assert.ok(roomCode, error);
    for (const orderCode of [code, other]) await post(`/${roomCode}/orders`, { orderCode });
    const page = await world.page(`/orders/${other}`, "");
    const { totalCents } = await post(`/${roomCode}/checkout`);
    assert.match(page, new RegExp(`Pay all 2 documents together: \\$${(totalCents / 100).toFixed(2)}`));
    assert.ok(totalCents > 407);
  });
});

test("a person decides about postage that is dearer by less than the processor's smallest payment", async () => {
  await atRate("6.40", async () => {
    const { code } = await labeledAtUsual();
    assert.equal((await correct(code)).status, 200);
    const task = await until(async () => (await world.tasks(code)).find(({ kind }) => kind === "postage_dearer"));
    assert.match(task.reason ?? "", /is \$6\.40; at most \$5\.93 is paid without asking/);
    assert.deepEqual((await corrections(code)).supplements, []);
  });
});

test("an operator who buys the label at its price withdraws the supplement and closes its checkout", async () => {
  const { code } = await dearer();
  const session = stripe.sessionOf((await checkout(code)).body.checkoutUrl);
  const { cookie } = await newOperator(world.harness, { roles: ["agent", "shipper"] });
  await atRate("10.00", async () => {
    assert.equal((await world.post(`/operator/paper/${code}/buy`, cookie, { most: "1000" })).status, 303);
    await until(async () => (await world.labels(code)).at(-1)?.state === "bought");
  });
  await until(() => stripe.sessions.get(session)?.["status"] === "expired");
  assert.deepEqual(
    (await corrections(code)).supplements.map(({ state }) => state),
    ["withdrawn"],
  );
});

test("a person decides about the next label when the refund of the first was rejected, because both would be valid", async () => {
  const { code, first } = await labeled();
  easypost.failOn(/^POST \/v2\/shipments\/[^/]+\/refund$/, { status: 422, code: "SHIPMENT.REFUND.UNAVAILABLE" });
  const before = easypost.labels();
  assert.equal((await correct(code)).status, 200);
  const second = await until(async () => {
    const found = (await world.labels(code)).find(({ number }) => number === 2);
    return found && ["not_bought", "bought"].includes(found.state) ? found : null;
  });
  assert.deepEqual(await states(code), ["bought/rejected", "not_bought/null"]);
  assert.equal(easypost.labels(), before, "no second label is paid while the first is valid");
  assert.match(second.why ?? "", new RegExp(`${first.trackingNumber} .* is still valid and paid`));
  const { cookie } = await newOperator(world.harness, { roles: ["shipper"] });
  assert.match(await world.page(`/operator/paper/${code}`, cookie), /Destroy it before you buy another/);
  const most = String(second.cents);
  assert.equal((await world.post(`/operator/paper/${code}/buy`, cookie, { most })).status, 303);
  await until(async () => (await world.labels(code)).at(-1)?.state === "bought");
  assert.deepEqual(await states(code), ["bought/rejected", "not_bought/null", "bought/null"]);
});

test("of a correction and a hand-over at the same time, the later one takes the earlier into account", async () => {
  const { code, first } = await labeledAtUsual();
  const { cookie } = await newOperator(world.harness, { roles: ["shipper"] });
  const form = { carrier: "USPS", tracking: first.trackingNumber };
  const [corrected] = await Promise.all([
    correct(code),
    world.post(`/operator/paper/${code}/moves/shipped`, cookie, form),
  ]);
  assert.equal(await world.statusOf(code), "Shipped");
  const [label] = await world.labels(code);
  if (corrected.status === 409) assert.equal(label?.refundState, null);
  else assert.notEqual(label?.refundState, null);
  assert.ok([200, 409].includes(corrected.status));
});

test("while a label is being bought, or its purchase has an unknown outcome, the address stays unchanged", async () => {
  easypost.failOn(/^POST \/v2\/shipments\/[^/]+\/buy$/, "hang");
  const code = await world.payFor(await place());
  await until(async () => (await world.labels(code)).some(({ state }) => state === "buying"));
  await until(async () => easypost.failing() === 0);
  const refused = await correct(code);
  assert.equal(refused.status, 409);
  assert.match(refused.body.error ?? "", /A label is being bought at this moment|Nobody knows yet/);
});

/** Kills the service with SIGKILL, restarts it, and expires the leases of the killed process. */
async function killAndRestart(): Promise<void> {
  const { harness } = world;
  await harness.service.kill();
  // The killed node's last statement may still run and cause a deadlock. `db.transaction` then tries again.
  await db.transaction((tx) =>
    tx.query(sql`UPDATE provider_calls SET begun_at = begun_at - interval '10 minutes' WHERE state = 'begun'`),
  );
  await makeJobsDue(db);
  harness.service = await harness.service.restart();
}

test("a service that is killed while the carrier voids a label voids it once, and only then buys the next", async () => {
  const { code } = await labeled();
  const before = easypost.labels();
  const refunds = () => easypost.requests.filter(({ path }) => path.endsWith("/refund")).length;
  const asked = refunds();
  easypost.failOn(/^POST \/v2\/shipments\/[^/]+\/refund$/, "hang");
  assert.equal((await correct(code)).status, 200);
  await until(() => refunds() === asked + 1);
  assert.deepEqual(await states(code), ["bought/intended"], "no second label while nobody knows of the first");
  await killAndRestart();
  await until(async () => (await world.labels(code)).at(-1)?.state === "bought");
  await until(async () => (await states(code)).join() === "bought/submitted,bought/null");
  assert.deepEqual([refunds(), easypost.labels()], [asked + 1, before + 1]);
});

test("a service that is killed when a supplement has just been paid buys the label once", async () => {
  await atRate("10.00", async () => {
    const { code } = await dearer();
    const before = easypost.labels();
    const event = stripe.pay(stripe.sessionOf((await checkout(code)).body.checkoutUrl));
    await deliver(event);
    await killAndRestart();
    await deliver(event);
    await until(async () => (await world.labels(code)).at(-1)?.state === "bought");
    assert.equal(easypost.labels(), before + 1);
    assert.deepEqual(
      (await payments(code)).map(({ supplement }) => supplement),
      [null, "paid"],
    );
  });
});
