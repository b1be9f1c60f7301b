import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { mailsTo, newMember } from "../../firms/members/signed-in-member.ts";
import { openLiveService } from "../fulfilment/live-service.ts";

const live = await forTests(openLiveService({}));
const { service } = live.harness;

const page = async (path: string, headers: Record<string, string> = {}) =>
  (await fetch(live.url() + path, { headers })).text();
const detail = async (code: string) =>
  (await (await fetch(`${live.url()}/api/partner/orders/${code}`, { headers: live.headers })).json()) as {
    payBy?: string;
  };
const pay = (checkoutUrl: string) =>
  live.stripe.deliver(live.url(), live.stripe.pay(live.stripe.sessionOf(checkoutUrl)));

test("tells a client nothing about money when the firm pays", async () => {
  const email = "no.money@example.com";
  const { orderCode, checkoutUrl } = await live.place({ email, svc_sign: "true", pay_by: "firm" });
  assert.equal((await detail(orderCode)).payBy, "firm");
  const shown = await page(`/orders/${orderCode}`);
  assert.doesNotMatch(shown.replace(/<style[\s\S]*?<\/style>/g, ""), /\$\d|checkout/);
  assert.match(shown, /There is nothing for you to pay/);
  const opened = await fetch(`${live.url()}/orders/${orderCode}/checkout`, { method: "POST", redirect: "manual" });
  assert.deepEqual([opened.status, opened.headers.get("location")], [303, `/orders/${orderCode}`]);
  await pay(checkoutUrl);
  const mails = await until(() => {
    const found = mailsTo(service, email);
    return found.some((mail) => /please sign/i.test(mail)) ? found : undefined;
  });
  await live.hurry("order-mail");
  for (const mail of mails) assert.doesNotMatch(mail, /Subject: .*(?:quote|pay)/i);
  await service.cli("order", "move", orderCode, "RefundPending", "--reason", "asked by the firm");
  await until(() => live.stripe.refunds.length > 0);
  for (const event of live.stripe.refundEvents(live.stripe.refunds.at(-1) ?? {}))
    await live.stripe.deliver(live.url(), event);
  assert.equal(await live.statusOf(orderCode), "Refunded");
  await until(async () => (await live.db.query(sql`SELECT FROM jobs WHERE queue = 'order-mail'`)).length === 0);
  assert.ok(mailsTo(service, email).every((mail) => !/Subject: .*(?:refund|quote|paid|pay )/i.test(mail)));
});

test("tells the client when nobody chose the payer", async () => {
  const email = "money@example.com";
  const { orderCode } = await live.place({ email, svc_sign: "true" });
  assert.equal("payBy" in (await detail(orderCode)), false);
  assert.match(await page(`/orders/${orderCode}`), /Pay \$\d/);
  await until(() => mailsTo(service, email).length > 0);
});

test("refuses another payer by name", async () => {
  const body = orderForm({ ...minimal, pay_by: "bank" });
  const answer = await fetch(`${live.url()}/api/partner/orders`, { method: "POST", headers: live.headers, body });
  assert.equal(answer.status, 400);
  assert.deepEqual(await answer.json(), { error: "pay_by must be client or firm." });
});

test("the form asks who pays, and the order's page has the checkout for the agent", async () => {
  const { orderCode } = await live.place({ svc_sign: "true", pay_by: "firm" });
  const key = live.headers.Authorization.slice("Bearer ".length);
  const member = (await newMember(service, "agent@payer.example", key)).headers;
  assert.match(await page("/dashboard/orders/new", member), /<option value="firm">Your firm/);
  assert.match(await page(`/dashboard/orders/${orderCode}`, member), /Open the checkout for \$/);
});
