import assert from "node:assert/strict";
import { test } from "node:test";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { giveLiveAccess, mailsTo, newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator, newSession } from "../../../firms/operators/console-people.ts";

const stripe = await forTests(startStripe());
const running = await forTests(openHarness(stripe.settings("live")));
const { baseUrl } = running.service;
const { headers, key, partnerId } = await newPartner(running.service, { live: true });
const agent = await newOperator(running, { roles: ["agent"] });
const approver = await newOperator(running, { roles: ["approver"] });
const newcomer = await newOperator(running, { roles: ["approver"], passkey: false });
const client = "dana@example.com";

async function statusOf(code: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/partner/orders/${code}`, { headers });
  return ((await answer.json()) as { status: string }).status;
}
const page = async (path: string, more: Record<string, string> = {}) =>
  (await fetch(baseUrl + path, { headers: more })).text();
const allow = (code: string, { cookie }: { cookie: string }) =>
  postForm(`${baseUrl}/operator/orders/${code}/pay-again`, {}, { cookie, Accept: "text/html" });
const paymentStep = (note: string) => `<span class="step-label">Payment</span><span class="step-note">${note}<`;
const checkout = (code: string) => fetch(`${baseUrl}/api/partner/orders/${code}/checkout`, { method: "POST", headers });

/** Places an order that its client pays, and whose payment the bank takes back. */
async function lostOrder() {
  const body = orderForm({
    ...minimal,
    email: client,
    svc_sign: "true",
    create_checkout: "true",
    external_reference: "2026-1187",
  });
  const placed = await fetch(`${baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode: code, checkoutUrl } = (await placed.json()) as { orderCode: string; checkoutUrl: string };
  const paid = stripe.pay(stripe.sessionOf(checkoutUrl));
  await stripe.deliver(baseUrl, paid);
  const cents = Number(paid.data.object["amount_total"]);
  const asked = stripe.dispute(String(paid.data.object["payment_intent"]), { amount: cents });
  await stripe.deliver(baseUrl, asked);
  const lost = stripe.endDispute(String(asked.data.object["id"]), "lost");
  await stripe.deliver(baseUrl, { ...lost, created: asked.created + 10 });
  return { code, cents };
}

type Statement = {
  owedCents: number;
  paymentsCents: number;
  lines: { kind: string; number: string; received?: object }[];
};

test("an operator books a firm’s check for a lost payment, and the firm reads in the dashboard and the API that it arrived", async () => {
  const { code, cents } = await lostOrder();
  const path = `${baseUrl}/operator/orders/${code}`;
  const sum = `$${(cents / 100).toFixed(2)}`;
  const post = (url: string, form: Record<string, string>, { cookie }: { cookie: string } = approver) =>
    postForm(url, form, { cookie, Accept: "text/html" });
  const shown = await page(`/operator/orders/${code}`, { cookie: approver.cookie });
  assert.match(shown, /Money received for a lost payment/);
  assert.ok(shown.includes(`The firm still owes ${sum}.`));
  assert.ok(shown.includes(paymentStep(`The bank took ${sum} back`)));
  assert.doesNotMatch(await page(`/operator/orders/${code}`, { cookie: agent.cookie }), /Book a payment of the firm/);
  const blocked = await page(`/operator/orders/${code}`, { cookie: newcomer.cookie });
  assert.doesNotMatch(blocked, /Book a payment of the firm|Let it be paid again/);
  assert.match(blocked, /you need a passkey of your own\. <a href="\/operator\/security">Add a passkey first/);
  const tasks = await page("/operator/tasks/dispute", { cookie: newcomer.cookie });
  assert.match(tasks, /<a href="\/operator\/security">Add a passkey first/);
  assert.doesNotMatch(tasks, /\/claim"/);
  assert.match(await page("/operator/tasks/dispute", { cookie: approver.cookie }), /\/claim"/);
  const debts = async () => page("/operator/payments", { cookie: approver.cookie });
  assert.ok((await debts()).includes(`${sum} for <a href="/operator/orders/${code}"`));
  const [, action = ""] = /action="([^"]+\/lost-payments\/\d+)"/.exec(shown) ?? [];
  const received = new Date().toISOString().slice(0, 10);
  const form = { amount: "1.00", how: "check", reference: "1234", received };
  assert.equal((await post(baseUrl + action, form, agent)).status, 403);
  const { url } = await running.service.cli("operator", "link");
  const answer = await postForm(baseUrl + new URL(url ?? "").pathname, {});
  const byLink = { cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
  const nameless = await post(baseUrl + action, form, byLink);
  assert.equal(nameless.status, 409);
  const seen = await page(`/operator/orders/${code}`, byLink);
  assert.ok(seen.includes(`The firm still owes ${sum}.`));
  assert.doesNotMatch(seen, /Book a payment of the firm/);
  assert.match(seen, /<p>Bookings of money need people with names\. Sign in by email\.</);
  assert.match(seen, /Let it be paid again/);
  assert.match(await nameless.text(), /Bookings of money need people with names\. Sign in by email\.</);
  const earlier = await newSession(running, approver.id, { at: new Date(Date.now() - 16 * 60_000) });
  const stale = await post(baseUrl + action, form, earlier);
  assert.equal(stale.status, 403);
  assert.match(await stale.text(), /Confirm with your passkey/);
  const refused = await post(baseUrl + action, { ...form, amount: "9999" });
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /<details class="ask" open>[\s\S]*value="9999"[\s\S]*value="1234"/);
  assert.equal((await post(baseUrl + action, form)).status, 303);
  assert.equal((await post(baseUrl + action, form)).status, 409);
  assert.ok((await debts()).includes(`$${((cents - 100) / 100).toFixed(2)} for <a href="/operator/orders/${code}"`));

  const month = async () => {
    const list = (await (await fetch(`${baseUrl}/api/partner/billing/statements`, { headers })).json()) as {
      statements: { month: string }[];
    };
    const url = `${baseUrl}/api/partner/billing/statements/${list.statements[0]?.month}`;
    return (await (await fetch(url, { headers })).json()) as Statement;
  };
  const { lines, owedCents, paymentsCents } = await month();
  const line = lines.find(({ kind }) => kind === "loss_payment");
  assert.match(line?.number ?? "", /^LP-\d{4}-00001$/);
  const facts = { way: "check", reference: "1234", receivedOn: received };
  assert.deepEqual({ ...line?.received, paidAt: "" }, { ...facts, paidAt: "" });
  const before = { owed: owedCents, paid: paymentsCents };

  const at = await page(`/operator/orders/${code}`, { cookie: approver.cookie });
  const [, undo = ""] = /action="([^"]+\/loss-payments\/\d+\/undo)"/.exec(at) ?? [];
  assert.equal((await post(baseUrl + undo, { reason: "bounced" }, agent)).status, 403);
  assert.equal((await post(baseUrl + undo, { reason: "bounced" }, earlier)).status, 403);
  assert.equal((await post(baseUrl + undo, { reason: "bounced" })).status, 303);
  assert.match(
    await (await fetch(path, { headers: { cookie: approver.cookie } })).text(),
    /; reversed [\s\S]*: bounced/,
  );
  const after = await month();
  assert.deepEqual([after.owedCents, after.paymentsCents], [before.owed + 100, before.paid - 100]);

  const owner = { ...(await newMember(running.service, "owner@acme.example", key)).headers, Accept: "text/html" };
  await giveLiveAccess(running.service, partnerId);
  await postForm(`${baseUrl}/dashboard/environment`, { environment: "live" }, owner);
  assert.match(await page(`/dashboard/orders/${code}`, owner), /Received from your firm[^<]*; reversed/);
  await running.db.query(sql`ALTER TABLE loss_payments DISABLE TRIGGER USER`);
  await running.db.query(sql`UPDATE loss_payments SET amount_cents = amount_cents + 1`);
  await running.db.query(sql`ALTER TABLE loss_payments ENABLE TRIGGER USER`);
  const altered = await fetch(`${baseUrl}/dashboard/orders/${code}`, { headers: owner });
  assert.equal(altered.status, 200);
  assert.match(await altered.text(), /The money that a bank took back from this order’s payment can’t be shown/);
});

test("an operator lets an order be paid again whose payment a bank took back, and its client pays on its page", async () => {
  const body = orderForm({ ...minimal, email: client, svc_sign: "true", create_checkout: "true" });
  const placed = await fetch(`${baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode: code, checkoutUrl } = (await placed.json()) as { orderCode: string; checkoutUrl: string };
  const paid = stripe.pay(stripe.sessionOf(checkoutUrl));
  await stripe.deliver(baseUrl, paid);
  const cents = Number(paid.data.object["amount_total"]);
  const intent = String(paid.data.object["payment_intent"]);
  const asked = stripe.dispute(intent, { amount: cents });
  await stripe.deliver(baseUrl, asked);
  assert.equal(await statusOf(code), "OnHold");
  const sum = `$${(cents / 100).toFixed(2)}`;

  const tooSoon = await allow(code, approver);
  assert.equal(tooSoon.status, 409);
  assert.match(await tooSoon.text(), /nothing to pay again/);
  const lost = stripe.endDispute(String(asked.data.object["id"]), "lost");
  await stripe.deliver(baseUrl, { ...lost, created: asked.created + 10 });
  assert.equal((await checkout(code)).status, 409);
  assert.ok((await page(`/orders/${code}`)).includes(paymentStep("The bank took it back")));
  assert.match(await page(`/orders/${code}`, { "Accept-Language": "es" }), /El banco lo retiró/);

  assert.doesNotMatch(await page(`/operator/orders/${code}`, { cookie: agent.cookie }), /Let it be paid again/);
  assert.equal((await allow(code, agent)).status, 403);
  assert.match(await page(`/operator/orders/${code}`, { cookie: approver.cookie }), /Let it be paid again/);
  assert.equal((await allow(code, approver)).status, 303);
  const again = await allow(code, approver);
  assert.equal(again.status, 409);
  assert.match(await again.text(), /can be paid again already/);
  const mail = await until(() => mailsTo(running.service, client).find((each) => /Please pay again/.test(each)));
  assert.ok(mail.includes(sum) && mail.includes(`/orders/${code}`));

  const shown = await page(`/orders/${code}`);
  assert.ok(shown.includes(`${sum} is still due, and you can pay it again here`));
  assert.match(await page(`/orders/${code}`, { "Accept-Language": "es" }), /puede pagarlos de nuevo/);
  const leaving = await fetch(`${baseUrl}/orders/${code}/checkout`, {
    method: "POST",
    headers: { Accept: "text/html" },
  });
  const session = stripe.sessionOf(leaving.headers.get("refresh") ?? "");
  await stripe.deliver(baseUrl, stripe.pay(session));
  const settled = await page(`/orders/${code}`);
  assert.doesNotMatch(settled, /is still due/);
  assert.ok(settled.includes(paymentStep("Done")));
  assert.equal((await checkout(code)).status, 409);
  assert.equal(await statusOf(code), "OnHold");
  assert.doesNotMatch(await page(`/operator/orders/${code}`, { cookie: approver.cookie }), /nobody has paid it again/);
  const receipts = await fetch(`${baseUrl}/api/partner/orders/${code}/receipts`, { headers });
  const { receipts: list } = (await receipts.json()) as { receipts: { kind: string; amountCents: number }[] };
  assert.deepEqual(
    list.map(({ kind, amountCents }) => [kind, amountCents]),
    [
      ["receipt", cents],
      ["loss", cents],
      ["receipt", cents],
    ],
  );
});
