import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { Principal } from "../../../../src/kernel/identity/identity.ts";
import type { PaymentMethod, PaymentOfFirm } from "../../../../src/orders/payments/payments.ts";
import { billingBody, limitRefusal } from "../../../../src/pages/dashboard/billing/body.ts";
import type { BillingView } from "../../../../src/pages/dashboard/billing/view.ts";
import { firmPaysPart } from "../../../../src/pages/dashboard/orders/firm-pays.ts";
import { afterPlacing, afterPlacingList } from "../../../../src/pages/dashboard/orders/new/after-placing.ts";
import { render } from "../../../../src/pages/ui/render.ts";

const at = new Date("2026-03-04T05:06:07Z");
const principal: Principal = {
  partnerId: randomUUID(),
  environment: "live",
  firmName: "Acme Title",
  tier: "trial",
  liveEnabled: true,
  key: null,
  member: null,
};

const payment = (more: Partial<PaymentOfFirm[number]> = {}): PaymentOfFirm => [
  {
    id: randomUUID(),
    groupId: null,
    orderId: 1,
    orderCode: "a".repeat(40),
    partnerId: principal.partnerId,
    environment: "live",
    methodId: randomUUID(),
    amountCents: 9_900,
    supplementId: null,
    askedBy: "key:x",
    askedAt: at,
    sentAt: at,
    changedAt: at,
    state: "succeeded",
    paymentIntent: "pi_1",
    reason: null,
    reference: null,
    orderStatus: "Completed",
    payBy: "firm",
    isOwnOrder: true,
    isAuthentic: true,
    totalCents: 9_900,
    isDisputed: false,
    replacesLoss: null,
    isPaidSince: false,
    method: { kind: "card", brand: "visa", last4: "4242" },
    creditedCents: 0,
    lostCents: 0,
    ...more,
  },
];

const pageWith = (more: Partial<BillingView>): string =>
  render(
    billingBody({
      principal,
      isPaidHere: true,
      methods: [],
      spenders: [],
      used: new Map(),
      now: at,
      zone: "America/New_York",
      isZoneAltered: false,
      payments: [],
      waiting: { orders: [], count: 0, totalCents: 0 },
      losses: [],
      ...more,
    }),
  );
const pageOf = (payments: number): string => pageWith({ payments: Array.from({ length: payments }, () => payment()) });

test("lists at most 50 payments of a firm, and says so where there are more", () => {
  const rowsOf = (page: string) => page.split("/dashboard/orders/").length - 1;
  const [all, more] = [pageOf(50), pageOf(51)];
  assert.deepEqual([rowsOf(all), rowsOf(more)], [50, 50]);
  assert.doesNotMatch(all, /Only the newest/);
  assert.match(more, /Only the newest 50 payments .*<a href="\/dashboard\/statements">Statements<\/a>/);
});

test("shows no part of a payment with an altered record except the links to the firm's own orders", () => {
  const [own, foreign] = ["b".repeat(40), "c".repeat(40)];
  const charges = [payment({ orderCode: own }), payment({ orderCode: foreign, isOwnOrder: false, isAuthentic: false })];
  const page = pageWith({ payments: [charges.flat(), payment()] });
  assert.match(page, /Not readable: a record was altered\. Contact the operator of this service\./);
  assert.match(page, /sum and state are left out of this list/);
  assert.ok(page.includes(own));
  assert.ok(!page.includes(foreign));
  assert.ok(page.includes("$99.00"), "the other payment");
  assert.ok(!page.includes("$198.00"));
  assert.doesNotMatch(pageWith({ payments: [payment()] }), /altered/);
});

const card: PaymentMethod = {
  id: randomUUID(),
  partnerId: principal.partnerId,
  environment: "live",
  state: "active",
  customer: "cus_1",
  setupIntent: null,
  method: "pm_1",
  kind: "card",
  brand: "visa",
  last4: "4242",
  cardExpires: null,
  addedBy: "member:x",
  addedAt: at,
  endedBy: null,
};

test("names what can't be shown because a record was altered, and shows the rest of the page", () => {
  const key = { spender: "key:x", name: "API key Office", isOwner: false, orderCents: 0, monthCents: 0 };
  const owner = { ...principal, member: { userId: "u", role: "owner" } as unknown as NonNullable<Principal["member"]> };
  const waiting = {
    orders: [{ id: 1, code: "b".repeat(40), reference: null, totalCents: 1_200, isPostage: false }],
    count: 1,
    totalCents: 1_200,
  };
  const page = pageWith({
    principal: owner,
    methods: null,
    isZoneAltered: true,
    payments: [payment()],
    waiting,
    spenders: [{ ...key, isAltered: true }],
  });
  for (const title of ["The time zone of your firm", "Your firm’s card or bank account"])
    assert.match(page, new RegExp(`${title} can’t be`));
  assert.match(page, /API key Office<\/dt>\s*<dd[^>]*>The record of these limits was altered/);
  assert.doesNotMatch(page, /\/limits"|\/method"|\/charge-waiting"/, "no form that would be refused");
  assert.match(page, /They can’t be charged until the operator/);
  assert.match(page, /\$99\.00/);
});

test("offers to charge a refused payment again, once, and only while its order waits for it", () => {
  const methods = [card];
  const refused = payment({ state: "refused", reason: "above_order_limit", orderStatus: "QuoteReady" });
  const again = new RegExp(`action="/dashboard/orders/${"a".repeat(40)}/charge"`, "g");
  const offers = (more: Partial<BillingView>) => [...pageWith({ methods, ...more }).matchAll(again)].length;
  assert.equal(offers({ payments: [refused] }), 1);
  assert.match(pageWith({ methods, payments: [refused] }), /limit for one order of the API key that asked for it\./);
  const byMember = refused.map((charge) => ({ ...charge, askedBy: "member:x" }));
  assert.match(pageWith({ methods, payments: [byMember] }), /limit for one order of the member who asked for it\./);
  assert.equal(offers({ payments: [refused, payment({ state: "failed", orderStatus: "QuoteReady" })] }), 1);
  assert.equal(offers({ payments: [payment(), refused] }), 0, "a later payment has paid it");
  assert.equal(offers({ payments: [payment({ state: "refused", orderStatus: "Cancelled" })] }), 0);
  assert.equal(offers({ payments: [refused], methods: [] }), 0, "without a card");
  const asksPerson = { state: "declined", reason: "authentication_required", orderStatus: "PaymentFailed" } as const;
  assert.equal(offers({ payments: [payment({ ...asksPerson, methodId: card.id })] }), 0);
  assert.equal(offers({ payments: [payment(asksPerson)] }), 1, "another card needs no person yet");
  for (const reason of ["paid_by_checkout", "not_payable", "order_altered"])
    assert.equal(offers({ payments: [payment({ state: "refused", reason, orderStatus: "QuoteReady" })] }), 0, reason);
  const ofClient = refused.map((charge) => ({ ...charge, payBy: "client" }));
  assert.equal(offers({ payments: [ofClient] }), 0, "the client pays now");
  const dearer = refused.map((charge) => ({ ...charge, totalCents: 12_300 }));
  assert.match(pageWith({ methods, payments: [dearer] }), />Charge \$123\.00 to Visa •••• 4242<span/);
  const closing = pageWith({ methods, payments: [refused.map((charge) => ({ ...charge, groupId: randomUUID() }))] });
  assert.match(closing, /\/closing">Open the closing to charge again/);
  assert.doesNotMatch(closing, again);
});

test("names a charge of more postage, and one that pays a price again that a bank took back", () => {
  const shown = (replacesLoss: boolean | null) => pageWith({ payments: [payment({ replacesLoss })] });
  assert.match(shown(false), /AAAAAA<\/a>, more postage</);
  assert.match(shown(true), /AAAAAA<\/a>, paid again</);
  assert.doesNotMatch(shown(null), /AAAAAA<\/a>,/);
});

test("names the method, the person and the minute of a payment, and what became of one that failed", () => {
  const askedBy = "member:mark";
  const spenders = [{ spender: askedBy, name: "mark@example.com", isOwner: false, orderCents: 0, monthCents: 0 }];
  const shown = (more: Partial<PaymentOfFirm[number]>) =>
    pageWith({ spenders, payments: [payment({ askedBy, orderStatus: "QuoteReady", state: "declined", ...more })] });
  const row = shown({});
  assert.match(row, /\$99\.00<br><span class="second-line">Visa •••• 4242</);
  assert.match(row, /Mar 4, 2026, 12:06\sAM EST<br><span class="second-line breakable">mark@example\.com</);
  assert.match(shown({ askedBy: "member:x" }), />A former member</);
  assert.match(shown({ askedBy: "key:x" }), />A former API key</);
  assert.match(shown({ isPaidSince: true, orderStatus: "Paid" }), />Failed\. [^<]*It was paid later\.</);
  assert.match(shown({ payBy: "client" }), />Failed\. [^<]*The client pays it now\.</);
  assert.doesNotMatch(row, /paid later|The client pays/);
});

test("an order's page says that an expired card has to be replaced, and how long a debit takes", () => {
  const shown = (more: Partial<PaymentOfFirm[number]>) => {
    const [latest] = payment({ methodId: card.id, ...more });
    const order = { code: "a".repeat(40), status: "QuoteReady", dueCents: 1_200 };
    return render(
      firmPaysPart(order, { method: card, latest, isOverdue: false }, { payable: true, hasCheckout: true }),
    );
  };
  const replace = /again would fail again\. <a href="\/dashboard\/billing#method">Replace the card under Billing</;
  assert.match(shown({ state: "declined", reason: "expired_card" }), replace);
  assert.doesNotMatch(shown({ state: "declined", reason: "expired_card", methodId: randomUUID() }), replace);
  assert.doesNotMatch(shown({ state: "declined", reason: "insufficient_funds" }), replace);
  assert.match(shown({ state: "pending" }), /Being processed by the bank\. That takes up to 4 business days</);
});

test("the form says that the work waits until a bank debit has cleared", () => {
  const shown = (method: PaymentMethod) =>
    render(
      afterPlacing({
        subject: "order",
        payBy: "firm",
        method,
        isPriced: true,
        signs: true,
        hasCheckout: true,
        sum: { amount: "$12.00", isFinal: true },
      }).text,
    );
  const waits = /Once the money has cleared, up to 4 business days later, the document goes out/;
  assert.match(shown({ ...card, kind: "bank" }), waits);
  assert.doesNotMatch(shown(card), waits);
});

test("the page of many orders says that the work waits until a bank debit has cleared", () => {
  const shown = (method: PaymentMethod) =>
    render(afterPlacingList({ method, signs: true, hasCheckout: true, cents: 2400 }));
  const waits =
    /placed next\. The work on each begins once its money has cleared, up to 4 business days later\. An order/;
  assert.match(shown({ ...card, kind: "bank" }), waits);
  assert.doesNotMatch(shown(card), /cleared/);
});

test("names the lower of two limits, and the fields of a refused form as the page does", () => {
  const spender = { spender: "key:x", name: "API key", isOwner: false, orderCents: 500, monthCents: 10 };
  const owner = {
    ...principal,
    member: { userId: "u", email: "o@example.com", role: "owner" },
  } as unknown as Principal;
  const page = pageWith({ principal: owner, spenders: [spender] });
  assert.match(page, /The month’s limit is the lower one, so one order may cost at most \$0\.10\./);
  assert.doesNotMatch(pageWith({ principal: owner, spenders: [{ ...spender, monthCents: 500 }] }), /lower one/);
  const refused = limitRefusal("perOrder is empty: set both limits, or leave both empty.");
  assert.equal(refused, "“Dollars for one order” is empty: set both limits, or leave both empty.");
});

test("says of each payment that a bank took back what arrived for it, and what is still owed", () => {
  const lost = { id: 1, orderId: 1, orderCode: "a".repeat(40), reference: "2026-1187", paymentIntent: "pi_1" };
  const booking = { id: 1, way: "check", reference: "1234", receivedOn: "2026-03-02", cents: 4_000 } as const;
  const kept = { ...booking, reversedAt: null, reason: null };
  const bounced = { ...booking, reversedAt: "2026-03-03T12:00:00.000Z", reason: "bounced" };
  const loss = { ...lost, currency: "usd", paidAt: at, lostAt: at, lostCents: 9_900, openCents: 5_900 };
  const payments = [payment({ lostCents: 9_900 })];
  const page = pageWith({ payments, losses: [{ ...loss, bookings: [bounced, kept] }] });
  assert.match(page, /Your firm owes <strong>\$59\.00<\/strong>/);
  assert.match(page, /\$40\.00 by check 1234, arrived Mar 2, 2026; reversed Mar 3, 2026: bounced/);
  assert.match(
    page,
    /The bank took \$99\.00 back\. [^<]*Received for it: \$40\.00 by check 1234, arrived Mar 2, 2026\./,
  );
  const altered = pageWith({ payments, losses: null });
  assert.match(altered, /These payments can’t be listed[\s\S]*A record was altered/);
  assert.match(altered, /The bank took \$99\.00 back\./, "the other parts of the page stay");
  const owed = pageWith({ losses: [{ ...loss, bookings: [] }] });
  assert.match(owed, /Nothing yet/);
  assert.doesNotMatch(pageWith({ losses: [{ ...loss, openCents: 0, bookings: [] }] }), /Payments that banks took back/);
});
