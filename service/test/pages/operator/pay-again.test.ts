import assert from "node:assert/strict";
import { test } from "node:test";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { mailsTo, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";

const stripe = await forTests(startStripe());
const running = await forTests(
  openHarness({
    STRIPE_SECRET_KEY: "sk_live_double",
    STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    STRIPE_API_BASE: stripe.url,
  }),
);
const { baseUrl } = running.service;
const { headers } = await newPartner(running.service, { live: true });
const agent = await newOperator(running, { roles: ["agent"] });
const approver = await newOperator(running, { roles: ["approver"] });
const client = "dana@example.com";

async function statusOf(code: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/partner/orders/${code}`, { headers });
  return ((await answer.json()) as { status: string }).status;
}
const page = async (path: string, more: Record<string, string> = {}) =>
  (await fetch(baseUrl + path, { headers: more })).text();
const allow = (code: string, { cookie }: { cookie: string }) =>
  postForm(`${baseUrl}/operator/orders/${code}/pay-again`, {}, { cookie, Accept: "text/html" });
const checkout = (code: string) => fetch(`${baseUrl}/api/partner/orders/${code}/checkout`, { method: "POST", headers });

test("an operator lets an order be paid again whose payment a bank took back, and its client pays on its page", async () => {
  const body = orderForm({ ...minimal, email: client, svc_sign: "true", create_checkout: "true" });
  const placed = await fetch(`${baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode: code, checkoutUrl } = (await placed.json()) as { orderCode: string; checkoutUrl: string };
  const paid = stripe.pay(checkoutUrl.split("/").at(-1) ?? "");
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
  const session = (leaving.headers.get("refresh") ?? "").split("/").at(-1) ?? "";
  await stripe.deliver(baseUrl, stripe.pay(session));
  assert.doesNotMatch(await page(`/orders/${code}`), /is still due/);
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
