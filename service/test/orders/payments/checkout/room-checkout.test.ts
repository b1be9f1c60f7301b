import assert from "node:assert/strict";
import { after, test } from "node:test";
import { databaseOf } from "@signsealship/testing/database";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { makeJobsDue } from "@signsealship/testing/due-jobs";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { changeOrder, rowMacOf } from "@signsealship/testing/row-mac";
import { newPartner, ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { systemClock } from "../../../../src/kernel/platform/clock.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { type MoveDeps, moveOrder, orderHistory } from "../../../../src/orders/fulfilment/fulfilment.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { silent } from "../../order/orders-database.ts";

const folder = temporaryFolder();
after(() => service.stop());
const stripe = await forTests(startStripe());
let service = await startService({
  DATA_DIR: folder.path,
  RATE_LIMITS: "off",
  ...stripe.settings("live"),
  ...ownProcess,
});
const acme = await newPartner(service, { live: true, name: "Acme Title", tier: "ClosingDesk" });
const other = await newPartner(service, { live: true, name: "Other Title" });
const db = await forTests(databaseOf(folder.path));

type Firm = { headers: { Authorization: string } };
type Paid = { status: string; payments: { amountCents: number; refundedAt: string | null }[] };
type Checkout = {
  checkoutUrl: string;
  orders: { orderCode: string; totalCents: number }[];
  totalCents: number;
  payBy: "client" | "firm";
  error?: string;
};

async function call<T>(path: string, { headers }: Firm, body?: object, more: Record<string, string> = {}) {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method: "POST",
    headers: { ...headers, ...(body && { "Content-Type": "application/json" }), ...more },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) as T };
}

async function place(firm: Firm = acme, fields: Record<string, string> = {}): Promise<string> {
  const body = orderForm({ ...minimal, svc_sign: "true", ...fields });
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers: firm.headers,
    body,
  });
  return ((await response.json()) as { orderCode: string }).orderCode;
}

const attach = (room: string, orderCode: string) => call(`/api/rooms/${room}/orders`, acme, { orderCode });

async function roomOf(...codes: string[]): Promise<string> {
  const { roomCode } = (await call<{ roomCode: string }>("/api/rooms", acme, { name: "12 Elm Street" })).body;
  for (const code of codes) assert.equal((await attach(roomCode, code)).status, 200);
  return roomCode;
}

/** A room with three orders, of which the second has another amount. */
async function closing(): Promise<{ room: string; codes: [string, string, string] }> {
  const codes: [string, string, string] = [
    await place(),
    await place(acme, { svc_fax: "true", fax_to: "+12125550123" }),
    await place(),
  ];
  return { room: await roomOf(...codes), codes };
}

const checkout = (room: string, firm: Firm = acme, more: Record<string, string> = {}) =>
  call<Checkout>(`/api/rooms/${room}/checkout`, firm, undefined, more);

async function open(room: string): Promise<Checkout & { session: string }> {
  const { status, body } = await checkout(room);
  assert.equal(status, 200, body.error);
  return { ...body, session: stripe.sessionOf(body.checkoutUrl) };
}

const single = async (code: string): Promise<string> =>
  stripe.sessionOf((await call<Checkout>(`/api/partner/orders/${code}/checkout`, acme)).body.checkoutUrl);
const deliver = (event: ReturnType<typeof stripe.event>) => stripe.deliver(service.baseUrl, event);
// Reads and moves orders in this process. A command-line verb would start a process for each of hundreds of reads.
const orderOf = async (code: string) => (await orderHistory(db, code)) as unknown as Paid;
const statuses = (codes: readonly string[]) => Promise.all(codes.map(async (code) => (await orderOf(code)).status));
const stateOf = (session: string) => stripe.sessions.get(session)?.["status"];
const intentOf = (session: string) => String(stripe.sessions.get(session)?.["payment_intent"]);
const noDocument = () => assert.fail("these moves have no document");
const blobs = { write: noDocument, discard: noDocument } as unknown as MoveDeps["blobs"];
const rowMac = await rowMacOf(folder.path);
const moves: MoveDeps = { db, clock: systemClock, log: silent, blobs, rowMac, openSealer: noDocument };
const move = (code: string, to: string, reason: string) =>
  moveOrder(moves, { code, to, document: null, facts: { reason } });
const cancel = (code: string) => move(code, "Cancelled", "asked by the client");
const refundsOf = (session: string) => stripe.refunds.filter((each) => each["payment_intent"] === intentOf(session));

const tasksOf = (code: string) =>
  db.query<{ subject: string; state: string }>(sql`
    SELECT subject, state FROM tasks WHERE kind = 'payment_unapplied' AND order_id =
      (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`);

/** Two totals over the orders' recorded payments: the unrefunded amount, and the refunded amount. */
async function sums(codes: readonly string[]) {
  const payments = (await Promise.all(codes.map(orderOf))).flatMap((each) => each.payments);
  const sum = (list: Paid["payments"]) => list.reduce((total, { amountCents }) => total + amountCents, 0);
  return {
    held: sum(payments.filter((each) => !each.refundedAt)),
    back: sum(payments.filter((each) => each.refundedAt)),
  };
}

test("opens one checkout with a line for each payable order of the firm, and names no order in full", async () => {
  const { room, codes } = await closing();
  const foreign = await place(other);
  await attach(room, foreign);
  const { status, body, text } = await checkout(room);
  assert.equal(status, 200, text);
  assert.deepEqual(Object.keys(body).sort(), ["checkoutUrl", "orders", "payBy", "requestId", "totalCents"]);
  assert.deepEqual(
    body.orders.map(({ orderCode }) => orderCode),
    codes,
  );
  assert.equal(
    body.totalCents,
    body.orders.reduce((sum, { totalCents }) => sum + totalCents, 0),
  );
  assert.equal(stripe.sessions.get(stripe.sessionOf(body.checkoutUrl))?.["amount_total"], body.totalCents);
  const asked = JSON.stringify(stripe.requests.at(-1)?.params);
  for (const code of [...codes, foreign, room]) assert.doesNotMatch(asked, new RegExp(code));
  assert.deepEqual(await statuses([...codes, foreign]), Array(4).fill("QuoteReady"));
  assert.equal((await open(room)).checkoutUrl, body.checkoutUrl);
});

test("takes only the orders that one payer pays: the client's first, the firm's when asked or when none is the client's", async () => {
  const [mine, theirs, also] = [
    await place(acme, { pay_by: "firm" }),
    await place(),
    await place(acme, { pay_by: "firm" }),
  ];
  const room = await roomOf(mine, theirs, also);
  const codesOf = async (query = "") =>
    (await call<Checkout>(`/api/rooms/${room}/checkout${query}`, acme)).body.orders.map(({ orderCode }) => orderCode);
  assert.deepEqual(await codesOf(), [theirs]);
  assert.deepEqual(await codesOf("?pay_by=firm"), [mine, also]);
  assert.deepEqual(await codesOf("?pay_by=client"), [theirs]);
  const wrong = await call<Checkout>(`/api/rooms/${room}/checkout?pay_by=bank`, acme);
  assert.deepEqual([wrong.status, wrong.body.error], [400, "pay_by must be client or firm."]);

  const member = (await newMember(service, `payer${theirs.slice(0, 6)}@acme.example`, acme.key)).headers;
  const shown = await page(`/dashboard/rooms/${room}`, member);
  assert.match(shown, /Open the checkout for \$[\d.]+<[\s\S]*Open the checkout for \$[\d.]+, which your firm pays/);
  const clients = await leave(`/orders/${theirs}/checkout`);
  await deliver(stripe.pay(clients));
  assert.deepEqual(await statuses([mine, theirs, also]), ["QuoteReady", "EsignPending", "QuoteReady"]);
  assert.equal((await call<Checkout>(`/api/rooms/${room}/checkout?pay_by=client`, acme)).status, 409);
  const firms = (await call<Checkout>(`/api/rooms/${room}/checkout`, acme)).body;
  await deliver(stripe.pay(stripe.sessionOf(firms.checkoutUrl)));
  assert.deepEqual(await statuses([mine, theirs, also]), Array(3).fill("EsignPending"));
});

test("opens the firm's checkout by itself while a bank decides on the client's debit, and says whose orders it pays", async () => {
  const [mine, theirs] = [await place(acme, { pay_by: "firm" }), await place()];
  const room = await roomOf(mine, theirs);
  const first = await open(room);
  assert.equal(first.payBy, "client");
  await deliver(stripe.payByBank(first.session));
  const next = await open(room);
  assert.deepEqual([next.payBy, next.orders.map(({ orderCode }) => orderCode)], ["firm", [mine]]);
  const asked = await call<Checkout>(`/api/rooms/${room}/checkout?pay_by=client`, acme);
  assert.deepEqual([asked.status, /^A bank payment is being processed/.test(asked.body.error ?? "")], [409, true]);
  await deliver(stripe.payByBank(next.session));
  const neither = await checkout(room);
  assert.deepEqual([neither.status, /^A bank payment is being processed/.test(neither.body.error ?? "")], [409, true]);
});

test("says when a payer pays no order of the room, and whose orders there are", async () => {
  const firms = await roomOf(await place(acme, { pay_by: "firm" }));
  const clients = await roomOf(await place());
  const refusal = async (room: string, payBy: string) => {
    const { status, body } = await call<Checkout>(`/api/rooms/${room}/checkout?pay_by=${payBy}`, acme);
    return `${status} ${body.error}`;
  };
  assert.match(await refusal(firms, "client"), /^409 No order of this room is paid by a client\. .*use pay_by=firm\.$/);
  assert.match(
    await refusal(clients, "firm"),
    /^409 No order of this room is paid by your firm\. .*use pay_by=client\.$/,
  );
  assert.equal((await checkout(await roomOf())).body.error, "No order of this room is payable.");
});

test("takes pay_by also in a JSON body, and refuses two that differ", async () => {
  const [mine, theirs] = [await place(acme, { pay_by: "firm" }), await place()];
  const room = await roomOf(mine, theirs);
  const ask = (body: unknown, query = "") =>
    call<Checkout>(`/api/rooms/${room}/checkout${query}`, acme, body as object);
  assert.equal((await ask({ pay_by: "firm" })).body.payBy, "firm");
  assert.equal((await ask({ pay_by: "firm" }, "?pay_by=firm")).body.payBy, "firm");
  assert.equal((await ask({})).body.payBy, "client");
  assert.equal((await ask([])).body.payBy, "client");
  for (const wrong of ["bank", 1, null, ["firm"]]) {
    const { status, body } = await ask({ pay_by: wrong });
    assert.deepEqual([status, body.error], [400, "pay_by must be client or firm."], String(wrong));
  }
  const { status, body } = await ask({ pay_by: "firm" }, "?pay_by=client");
  assert.deepEqual([status, body.error], [400, "pay_by must be the same in the query and in the body."]);
  const post = (type: string, sent: string) =>
    fetch(`${service.baseUrl}/api/rooms/${room}/checkout`, {
      method: "POST",
      headers: { ...acme.headers, "Content-Type": type },
      body: sent,
    });
  assert.equal((await post("application/x-www-form-urlencoded", "")).status, 200, "an empty body of any type");
  assert.equal((await post("application/x-www-form-urlencoded", "pay_by=firm")).status, 415);
  const once = { "Idempotency-Key": `room-${room.slice(0, 12)}` };
  const first = await call<Checkout>(`/api/rooms/${room}/checkout`, acme, { pay_by: "firm" }, once);
  assert.equal(
    (await call<Checkout>(`/api/rooms/${room}/checkout?pay_by=firm`, acme, undefined, once)).text,
    first.text,
  );
});

test("the same Idempotency-Key with another payer is refused", async () => {
  const room = await roomOf(await place(acme, { pay_by: "firm" }), await place());
  const more = { "Idempotency-Key": "payer-of-this-room" };
  const ask = (payer: string) => call<Checkout>(`/api/rooms/${room}/checkout?pay_by=${payer}`, acme, undefined, more);
  assert.equal((await ask("client")).status, 200);
  assert.equal((await ask("client")).status, 200);
  assert.equal((await ask("firm")).status, 409);
});

test("pays all of its orders by one event, and none again by its repetitions", async () => {
  const { room, codes } = await closing();
  const { session, totalCents } = await open(room);
  const event = stripe.pay(session);
  for (const each of [event, event, { ...event, id: `${event.id}_again` }])
    assert.equal((await deliver(each)).status, 200);
  assert.deepEqual(await statuses(codes), Array(3).fill("EsignPending"));
  assert.deepEqual(await sums(codes), { held: totalCents, back: 0 });
  const again = await checkout(room);
  assert.deepEqual([again.status, again.body.error], [409, "No order of this room is payable."]);
});

test("answers the same Idempotency-Key with the same bytes, another firm with a 404, and twenty concurrent requests with one checkout", async () => {
  const { room, codes } = await closing();
  const key = { "Idempotency-Key": "checkout-of-a-room" };
  const first = await checkout(room, acme, key);
  assert.equal((await checkout(room, acme, key)).text, first.text);
  for (const [code, firm] of [
    [room, other],
    ["0".repeat(40), acme],
    ["x", acme],
  ] as const) {
    const { status, text } = await checkout(code, firm);
    assert.deepEqual([status, text], [404, '{"error":"Room not found."}']);
  }
  const before = stripe.sessions.size;
  await cancel(codes[0]);
  const answers = await Promise.all(Array.from({ length: 20 }, () => checkout(room)));
  const good = answers.filter(({ status }) => status === 200);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]), JSON.stringify(answers));
  assert.equal(new Set(good.map(({ body }) => body.checkoutUrl)).size, 1);
  assert.equal(stripe.sessions.size, before + 1);
});

test("leaves out an order without a price", async () => {
  const code = await place();
  const unpriced = await place(acme, { ...shipping, ship_state: "PR", ship_postal: "00000" });
  const { orders } = await open(await roomOf(code, unpriced));
  assert.deepEqual(
    orders.map(({ orderCode }) => orderCode),
    [code],
  );
});

test("ends a checkout of a single order at the processor first, and vice versa", async () => {
  const { room, codes } = await closing();
  const alone = await single(codes[1]);
  const { session } = await open(room);
  assert.equal(stateOf(alone), "expired");
  const next = await single(codes[1]);
  assert.deepEqual([stateOf(session), stateOf(next)], ["expired", "open"]);
  await deliver(stripe.pay(next));
  const rest = await open(room);
  assert.deepEqual(
    rest.orders.map(({ orderCode }) => orderCode),
    [codes[0], codes[2]],
  );
});

test("expires when one of its orders is canceled, and the next checkout pays the rest", async () => {
  const { room, codes } = await closing();
  const { session } = await open(room);
  await cancel(codes[1]);
  await until(() => stateOf(session) === "expired");
  const next = await open(room);
  await deliver(stripe.pay(next.session));
  assert.deepEqual(await statuses(codes), ["EsignPending", "Cancelled", "EsignPending"]);
});

test("pays two of three when one was canceled during the payment, and a person decides on the third share", async () => {
  const { room, codes } = await closing();
  const { session, orders, totalCents } = await open(room);
  const event = stripe.pay(session);
  await cancel(codes[1]);
  await deliver(event);
  assert.deepEqual(await statuses(codes), ["EsignPending", "Cancelled", "EsignPending"]);
  assert.equal((await tasksOf(codes[1])).length, 1);
  assert.equal((await orderOf(codes[1])).payments[0]?.amountCents, orders[1]?.totalCents);
  assert.deepEqual(await sums(codes), { held: totalCents, back: 0 });
});

test("does not count an order as paid twice that was paid alone a moment before", async () => {
  const { room, codes } = await closing();
  const alone = await single(codes[0]);
  const paidAlone = stripe.pay(alone);
  const refused = await checkout(room);
  assert.deepEqual([refused.status, refused.body.error], [409, "A payment was just made. Wait a moment."]);
  await deliver(paidAlone);
  const { session } = await open(room);
  await deliver(stripe.pay(session));
  assert.deepEqual(await statuses(codes), Array(3).fill("EsignPending"));
  assert.deepEqual(await Promise.all(codes.map(async (code) => (await orderOf(code)).payments.length)), [1, 1, 1]);
});

const lastReasonOf = async (code = "") => {
  const [last] = await db.query<{ reason: string }>(sql`
    SELECT a.detail->>'reason' AS reason FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE a.action = 'order.transition' AND ${isSealed(sql`o.code`, "order", code)} ORDER BY a.id DESC LIMIT 1`);
  return last?.reason ?? "";
};

test("holds all of its orders when the event states no sum or no currency, and says so", async () => {
  for (const [paid, words] of [
    [{ amount_total: null, currency: null }, /^An unknown sum was paid, and \$\d+\.\d\d was asked for, for 3 orders/],
    [{ amount_total: 500, currency: null }, /^500 \(no currency, smallest unit\) was paid/],
  ] as const) {
    const { room, codes } = await closing();
    const { session } = await open(room);
    await deliver(stripe.pay(session, paid));
    assert.deepEqual(await statuses(codes), Array(3).fill("OnHold"));
    assert.match(await lastReasonOf(codes[2]), words);
  }
});

test("holds all of its orders when the sum is wrong, shows the money once, and refunds all of it", async () => {
  for (const wrong of [{ amount_total: 5 }, { currency: "eur" }]) {
    const { room, codes } = await closing();
    const { session } = await open(room);
    await deliver(stripe.pay(session, wrong));
    assert.deepEqual(await statuses(codes), Array(3).fill("OnHold"));
    assert.match(
      await lastReasonOf(codes[2]),
      /^(?:\$0\.05|\d+ \(eur, smallest unit\)) was paid, and \$\d+\.\d\d was asked for, for 3 orders\. All of them wait until the operator/,
    );
    const paid = Number(stripe.sessions.get(session)?.["amount_total"]);
    assert.deepEqual(await sums(codes), { held: paid, back: 0 });
    const first = (await Promise.all(codes.map(orderOf))).findIndex(({ payments }) => payments.length === 1);
    const release = (code = "") => moveOrder(moves, { code, to: null, document: null, facts: {} });
    await assert.rejects(release(codes[first]), /A payment of a wrong sum is held for this order/);
    const other = codes.find((_, index) => index !== first);
    assert.equal((await release(other)).status, "QuoteReady");
    await move(codes[first] ?? "", "RefundPending", "wrong sum");
    await until(() => refundsOf(session).length === 1);
    assert.equal(refundsOf(session)[0]?.["amount"], paid);
  }
});

test("holds only the order whose total differs from its part", async () => {
  const { room, codes } = await closing();
  const { session } = await open(room);
  // Changes the price with a valid MAC, as if a person had priced the order again.
  await changeOrder(db, codes[1], sql`subtotal_cents = subtotal_cents + 1, total_cents = total_cents + 1`);
  await deliver(stripe.pay(session));
  assert.deepEqual(await statuses(codes), ["EsignPending", "OnHold", "EsignPending"]);
});

test("is refused while a bank debit for it is in process, which fails or pays all", async () => {
  for (const [outcome, expected] of [
    ["failed", "PaymentFailed"],
    ["succeeded", "EsignPending"],
  ] as const) {
    const { room, codes } = await closing();
    const { session } = await open(room);
    await deliver(stripe.payByBank(session));
    assert.deepEqual(await statuses(codes), Array(3).fill("AwaitingPayment"));
    for (const { status, body } of [
      await checkout(room),
      await call<Checkout>(`/api/partner/orders/${codes[0]}/checkout`, acme),
    ]) {
      assert.equal(status, 409);
      assert.match(body.error ?? "", /^A bank payment is being processed\./);
    }
    await deliver(stripe.bankAnswers(session, outcome));
    assert.deepEqual(await statuses(codes), Array(3).fill(expected));
    if (outcome === "failed") assert.equal((await open(room)).orders.length, 3);
  }
});

test("a declined card and an expired page move all of its orders, which can be paid again", async () => {
  const { room, codes } = await closing();
  const { session } = await open(room);
  const { metadata } = stripe.sessions.get(session) ?? {};
  await deliver(stripe.event("payment_intent.payment_failed", { id: "pi_declined", metadata }));
  assert.deepEqual(await statuses(codes), Array(3).fill("PaymentFailed"));
  assert.equal((await open(room)).session, session);
  await deliver(stripe.event("checkout.session.expired", { ...stripe.sessions.get(session), status: "expired" }));
  assert.deepEqual(await statuses(codes), Array(3).fill("AwaitingPayment"));
  await deliver(stripe.pay((await open(room)).session));
  assert.deepEqual(await statuses(codes), Array(3).fill("EsignPending"));
});

const page = async (path: string, cookie?: Record<string, string>) =>
  (await fetch(service.baseUrl + path, { headers: { Accept: "text/html", ...cookie } })).text();

/** Submits a form that leads to the processor. @returns the id of the checkout session */
async function leave(path: string, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(service.baseUrl + path, { method: "POST", headers: { Accept: "text/html", ...headers } });
  assert.equal(answer.status, 200);
  return stripe.sessionOf(answer.headers.get("refresh") ?? "");
}

test("a client pays all documents of the closing from the page of one, and none of another client", async () => {
  const { room, codes } = await closing();
  const stranger = await place(acme, { email: "somebody.else@example.com" });
  await attach(room, stranger);
  const text = await page(`/orders/${codes[1]}`);
  assert.match(text, /Pay all 3 documents together: \$/);
  assert.match(text, /Pay this document alone: \$/);
  const session = await leave(`/orders/${codes[1]}/checkout/together`);
  const paid = await fetch(`${stripe.url}/c/pay/${session}`, { method: "POST", redirect: "manual" });
  assert.equal(new URL(paid.headers.get("location") ?? "").pathname, "/checkout/returned");
  assert.match(await page("/checkout/returned"), /being confirmed/);
  assert.match(await page("/checkout/cancelled"), /Nothing was paid/);
  await deliver(stripe.paidByPayers.at(-1) ?? assert.fail("nobody paid"));
  assert.deepEqual(await statuses([...codes, stranger]), [...Array(3).fill("EsignPending"), "QuoteReady"]);
  assert.doesNotMatch(await page(`/orders/${stranger}`), /together/);
});

test("a member opens the checkout of a room from its page, which states when there is none", async () => {
  const member = (await newMember(service, "agent@acme.example", acme.key)).headers;
  const { room, codes } = await closing();
  const { totalCents } = await open(room);
  const sum = `$${(totalCents / 100).toFixed(2)}`;
  const text = await page(`/dashboard/rooms/${room}`, member);
  assert.ok(text.includes(`Open the checkout for ${sum}`), text);
  const path = `/dashboard/rooms/${room}/checkout`;
  const session = await leave(path, member);
  await deliver(stripe.pay(session));
  assert.deepEqual(await statuses(codes), Array(3).fill("EsignPending"));
  assert.doesNotMatch(await page(`/dashboard/rooms/${room}`, member), /Open the checkout/);
  const refused = await postForm(service.baseUrl + path, {}, { ...member, Accept: "text/html" });
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /No order of this room is payable/);
});

test("a page that a program opens by following its links ends no checkout", async () => {
  const { codes } = await closing();
  const session = await leave(`/orders/${codes[0]}/checkout/together`);
  const asked = stripe.requests.length;
  for (const path of ["checkout", "checkout/together"])
    for (const code of codes) await fetch(`${service.baseUrl}/orders/${code}/${path}`);
  assert.deepEqual([stripe.requests.length, stateOf(session)], [asked, "open"]);
});

test("an order that was altered in the database is left out with a message, and the others are paid together", async () => {
  const { room, codes } = await closing();
  await db.query(sql`UPDATE orders SET customer_name = 'Eve' WHERE ${isSealed(sql`code`, "order", codes[1])}`);
  const text = await page(`/orders/${codes[0]}`);
  assert.match(text, /Pay all 2 documents together/);
  assert.match(text, /One more document of this closing can’t be paid right now, and is left out/);
  const { orders, session } = await open(room);
  assert.deepEqual(
    orders.map(({ orderCode }) => orderCode),
    [codes[0], codes[2]],
  );
  await deliver(stripe.pay(session));
  assert.deepEqual(await statuses([codes[0], codes[2]]), Array(2).fill("EsignPending"));
  assert.equal((await fetch(`${service.baseUrl}/orders/${codes[1]}`)).status, 503);
});

test("a client whose room was altered still pays the order alone", async () => {
  const { room, codes } = await closing();
  await db.query(sql`UPDATE rooms SET name = 'Other' WHERE ${isSealed(sql`code`, "room", room)}`);
  assert.match(await page(`/orders/${codes[0]}`), />Pay \$10\.20</);
});

test("waits for another request that creates the same checkout, and answers 409 after a time-out", async () => {
  const { room } = await closing();
  const inUse = { status: 409, type: "idempotency_error" } as const;
  stripe.fail(inUse, inUse);
  assert.equal((await checkout(room)).status, 200);
  const { room: other } = await closing();
  stripe.fail(...Array(200).fill(inUse));
  const { status, body } = await checkout(other);
  // `recover` also drops a failure that was prepared for one path.
  stripe.failAt("POST /v1/checkout/sessions", { status: 400 });
  stripe.recover();
  assert.deepEqual([status, body.error], [409, "The checkout just changed. Try again."]);
  assert.equal((await checkout(other)).status, 200);
});

for (const [name, failures] of [
  // The processor's library retries a failed request by itself, so it must fail twice.
  ["fails", [{ status: 500 }, { status: 500 }]],
  ["says that the words are others", [{ status: 400, type: "idempotency_error" }]],
  ["asks for a pause", [{ status: 429 }]],
  ["refuses the key", [{ status: 401 }]],
] as const)
  test(`creates no second session when the first answer was lost and the processor then ${name}`, async () => {
    const { room, codes } = await closing();
    const isOpen = ({ status, client_reference_id: id, metadata }: Record<string, unknown>) =>
      status === "open" && (codes.includes(String(id)) || shared.has((metadata as Record<string, string>)["checkout"]));
    const rows = () =>
      db.query<{ id: string }>(sql`
        SELECT DISTINCT checkout_id AS id FROM checkout_parts c JOIN orders o ON o.id = c.order_id
        WHERE ${isSealed(sql`o.code`, "order", codes[0])}`);
    stripe.fail("cut", "cut", ...failures);
    assert.equal((await checkout(room)).status, 502);
    await checkout(room);
    const { session } = await open(room);
    const shared = new Set<string | undefined>((await rows()).map(({ id }) => id));
    assert.deepEqual(
      [...stripe.sessions.values()].filter(isOpen).map(({ id }) => id),
      [session],
    );
  });

async function paidClosing() {
  const { room, codes } = await closing();
  const { session, orders, totalCents } = await open(room);
  await deliver(stripe.pay(session));
  return { codes, session, orders, totalCents };
}

const refund = (code: string) => move(code, "RefundPending", "asked by the firm");

test("refunds only the share of one of its orders, then the others", async () => {
  const { codes, session, orders, totalCents } = await paidClosing();
  await refund(codes[1]);
  await until(() => refundsOf(session).length === 1);
  assert.equal(refundsOf(session)[0]?.["amount"], orders[1]?.totalCents);
  for (const event of stripe.refundEvents(refundsOf(session)[0] ?? {})) await deliver(event);
  assert.deepEqual(await statuses(codes), ["EsignPending", "Refunded", "EsignPending"]);
  const back = orders[1]?.totalCents ?? 0;
  assert.deepEqual(await sums(codes), { held: totalCents - back, back });
  await Promise.all([refund(codes[0]), refund(codes[2])]);
  await until(() => refundsOf(session).length === 3);
  for (const given of refundsOf(session).slice(1)) for (const event of stripe.refundEvents(given)) await deliver(event);
  assert.deepEqual(await statuses(codes), Array(3).fill("Refunded"));
  assert.deepEqual(await sums(codes), { held: 0, back: totalCents });
});

test("a refund of the whole charge at the processor refunds all of its orders; a partial one without our name moves none", async () => {
  const { codes, session, totalCents } = await paidClosing();
  const charge = { payment_intent: intentOf(session), amount: totalCents, currency: "usd" };
  await deliver(stripe.event("charge.refunded", { ...charge, refunded: false }));
  await deliver(
    stripe.event("refund.updated", { ...charge, id: "re_1", amount: 100, status: "succeeded", metadata: {} }),
  );
  assert.deepEqual(await statuses(codes), Array(3).fill("EsignPending"));
  await deliver(stripe.event("charge.refunded", { ...charge, refunded: true }));
  assert.deepEqual(await statuses(codes), Array(3).fill("Refunded"));
  assert.deepEqual(await sums(codes), { held: 0, back: totalCents });
});

test("a partial refund that somebody made at the processor opens one task, and one that was requested here none", async () => {
  const { codes, session } = await paidClosing();
  const opened = () =>
    db.query<{ subject: string; reason: string }>(sql`
      SELECT t.subject, t.reason FROM tasks t JOIN orders o ON o.id = t.order_id
      WHERE t.kind = 'refund_by_hand' AND ${isSealed(sql`o.code`, "order", codes[0])}`);
  await refund(codes[1]);
  await until(() => refundsOf(session).length === 1);
  for (const event of stripe.refundEvents(refundsOf(session)[0] ?? {})) await deliver(event);
  const events = stripe.refundByHand(intentOf(session), 100);
  for (const event of [...events, ...events.map((each) => ({ ...each, id: `${each.id}_again` }))]) await deliver(event);
  await until(async () => (await opened()).length === 1);
  await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'refund-check'`)).length === 0);
  const [task, ...more] = await opened();
  assert.deepEqual(more, []);
  assert.match(task?.reason ?? "", /^\$1\.00 of a payment for 3 orders went back at the processor/);
  assert.deepEqual(await statuses(codes), ["EsignPending", "Refunded", "EsignPending"]);
});

test("pays no order when the refund of the whole charge comes before the payment", async () => {
  const { room, codes } = await closing();
  const { session, totalCents } = await open(room);
  const paid = stripe.pay(session);
  const { metadata } = stripe.sessions.get(session) ?? {};
  const charge = { payment_intent: intentOf(session), amount: totalCents, currency: "usd", metadata, refunded: true };
  await deliver(stripe.event("charge.refunded", charge));
  await deliver(paid);
  assert.deepEqual(await statuses(codes), Array(3).fill("QuoteReady"));
  assert.equal((await sums(codes)).held, 0);
});

test("pays by no share that was inserted into the database", async () => {
  const { room, codes } = await closing();
  const { session } = await open(room);
  await db.query(sql`
    INSERT INTO checkout_parts (checkout_id, order_id, position, amount_cents)
    SELECT c.id, o.id, 9, 0 FROM checkout_sessions c, orders o
    WHERE c.session_id = ${session} AND ${isSealed(sql`o.code`, "order", await place())}`);
  assert.equal((await deliver(stripe.pay(session))).status, 503);
  assert.deepEqual(await statuses(codes), Array(3).fill("QuoteReady"));
});

test("answers 409 and not 503 while another transaction keeps one of its orders locked", async () => {
  const { room, codes } = await closing();
  const alone = () => call<Checkout>(`/api/partner/orders/${codes[1]}/checkout`, acme);
  const answers = await db.transaction(async (tx) => {
    await tx.query(sql`SELECT FROM orders WHERE ${isSealed(sql`code`, "order", codes[1])} FOR UPDATE`);
    // The first request waits for this transaction to unlock the order. The other requests wait for the first.
    return Promise.all([alone(), alone(), alone()].concat(checkout(room)));
  });
  for (const { status, body } of answers)
    assert.deepEqual([status, body.error], [409, "The checkout just changed. Try again."]);
  assert.equal((await checkout(room)).status, 200);
});

test("two concurrent checkouts of two rooms with common orders leave one checkout for each order", async () => {
  const { room, codes } = await closing();
  const second = await roomOf(codes[2], codes[1], await place());
  const alone = () => call<Checkout>(`/api/partner/orders/${codes[1]}/checkout`, acme);
  for (let round = 0; round < 5; round++) {
    const asked = [checkout(room), checkout(second), alone(), checkout(second), alone(), checkout(room), alone()];
    for (const { status, text } of await Promise.all<{ status: number; text: string }>(asked))
      assert.ok(status === 200 || status === 409, `${status} ${text}`);
  }
  const isOpen = ({ status }: Record<string, unknown>) => status === "open";
  const lines = new Map<string, number>();
  for (const session of [...stripe.sessions.values()].filter(isOpen)) {
    const id = String((session["metadata"] as Record<string, string>)["checkout"]);
    for (const { code } of await db.query<{ code: string }>(sql`
      SELECT o.code AS "code@order" FROM checkout_sessions s LEFT JOIN checkout_parts c ON c.checkout_id = s.id
        JOIN orders o ON o.id = coalesce(s.order_id, c.order_id) WHERE s.id = ${id}`))
      lines.set(code, (lines.get(code) ?? 0) + 1);
  }
  for (const code of codes) assert.ok((lines.get(code) ?? 0) <= 1, `${code} can be paid ${lines.get(code)} times`);
});

test("a kill while the event is applied moves all of its orders or none, and the repeated event moves all", async () => {
  for (let round = 0; round < 4; round++) {
    const { room, codes } = await closing();
    const { session, totalCents } = await open(room);
    const event = stripe.pay(session);
    const cut = deliver(event).catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, round * 6));
    await service.kill();
    await cut;
    service = await service.restart();
    assert.equal(new Set(await statuses(codes)).size, 1);
    await deliver(event);
    assert.deepEqual(await statuses(codes), Array(3).fill("EsignPending"));
    assert.deepEqual(await sums(codes), { held: totalCents, back: 0 });
  }
});

test("a kill during the refund of a share refunds it once", async () => {
  const { codes, session, orders } = await paidClosing();
  stripe.fail("cut", "cut");
  await refund(codes[0]);
  await until(() => stripe.requests.at(-1)?.path === "/v1/refunds");
  await service.kill();
  service = await service.restart();
  await makeJobsDue(db, "refund");
  await until(() => refundsOf(session).length > 0);
  await makeJobsDue(db, "refund");
  await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'refund'`)).length === 0);
  assert.deepEqual(
    refundsOf(session).map((each) => each["amount"]),
    [orders[0]?.totalCents],
  );
});

// The kill loses one of four responses: to the look-up of one order's session, to the session's expiry, to the look-up
// after the expiry, or to the creation.
for (const answered of [0, 1, 2, 3])
  test(`leaves one payable session after a kill at request ${answered + 1} of a shared checkout`, async () => {
    const { room, codes } = await closing();
    const alone = await single(codes[0]);
    const before = stripe.requests.length;
    stripe.hangAfter(answered);
    const lost = checkout(room).catch(() => null);
    await until(() => stripe.requests.length === before + answered + 1);
    await service.kill();
    await lost;
    service = await service.restart();
    const { session, totalCents } = await open(room);
    assert.deepEqual([stateOf(alone), stateOf(session)], ["expired", "open"]);
    await deliver(stripe.pay(session));
    assert.deepEqual(await statuses(codes), Array(3).fill("EsignPending"));
    assert.deepEqual(await sums(codes), { held: totalCents, back: 0 });
  });
