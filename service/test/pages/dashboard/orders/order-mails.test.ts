import assert from "node:assert/strict";
import { test } from "node:test";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { markDeleted, rowMacOf } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { auditLine } from "../../../../src/kernel/audit/audit.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import type { ClientMail } from "../../../../src/orders/fulfilment/fulfilment.ts";
import { mailsPart } from "../../../../src/pages/dashboard/orders/mails.ts";
import { render } from "../../../../src/pages/ui/render.ts";
import { mailsTo, newMember, postForm } from "../../../firms/members/signed-in-member.ts";

let clients = 0;

const stripe = await forTests(startStripe());
const running = await forTests(openHarness(stripe.settings("test")));

async function firm() {
  const { service } = running;
  const { key, headers } = await newPartner(service);
  clients += 1;
  const client = `client${clients}@example.com`;
  const member = await newMember(service, `member${clients}@harbor-title.com`, key);
  const placed = await fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers,
    body: orderForm({ ...minimal, email: client, svc_sign: "true" }),
  });
  const { orderCode: code } = (await placed.json()) as { orderCode: string };
  const again = async (moment: string, { at = code, headers: more = {}, fields = {} } = {}) => {
    const url = `${service.baseUrl}/dashboard/orders/${at}/mails`;
    const answer = await postForm(url, { moment, ...fields }, { ...member.headers, ...more });
    return { status: answer.status, text: await answer.text(), location: answer.headers.get("location") ?? "" };
  };
  const page = async () =>
    (await fetch(`${service.baseUrl}/dashboard/orders/${code}`, { headers: member.headers })).text();
  const sandbox = (action: string) =>
    fetch(`${service.baseUrl}/api/partner/sandbox/orders/${code}/${action}`, { method: "POST", headers });
  const complete = () => postForm(`${service.baseUrl}/dashboard/orders/${code}/sandbox/complete`, {}, member.headers);
  const mails = (subject: string) =>
    mailsTo(service, client).filter((mail) => new RegExp(`^Subject: .*${subject}`, "m").test(mail));
  return { code, client, again, page, sandbox, complete, mails };
}

test("the order's page says that the client is mailed the link to pay, and lists the request to sign", async () => {
  const { page, sandbox, mails } = await firm();
  const unpaid = await page();
  assert.match(unpaid, /The client is emailed the link to pay/);
  assert.match(
    unpaid,
    /To pass the link on yourself: .*<button type="button" class="copy"[^>]*aria-label="Copy link to pay"/,
  );
  await sandbox("checkout");
  await until(() => mails("sign").length > 0);
  const paid = await until(async () => {
    const shown = await page();
    return shown.includes("Payment received, with the link to sign") ? shown : null;
  });
  // One mail both asked to sign and reported the payment, so the page lists one mail.
  assert.doesNotMatch(paid, /The link to sign was made|Payment received</);
  assert.doesNotMatch(paid, /is on record yet|To pass the link on yourself/);
});

test("the order's page lists the mails to its client, and sends the quote again while it can be paid", async () => {
  const { code, client, again, page, sandbox, mails } = await firm();
  await until(() => mails("Your quote is ready").length === 1);
  await until(async () => (await page()).includes("Quote, with the link to pay"));
  const before = await page();
  assert.ok(before.includes(`To <span class="breakable">${client}</span>`));
  assert.ok(before.includes("Send the payment link again"));
  assert.equal(before.includes("Send the documents again"), false);

  const sent = await again("quote_ready");
  assert.equal(sent.status, 303);
  assert.equal(sent.location, `/dashboard/orders/${code}?done=order-mail-sent#mails-title`);
  await until(() => mails("Your quote is ready").length === 2);
  assert.ok((await page()).includes("Email sent to the client again"));
  const [line] = await running.db.query<{ actor: string; detail: unknown }>(sql`
    SELECT a.actor, a.detail FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND action = 'order.mail_sent_again'`);
  assert.match(line?.actor ?? "", /^member:/);
  assert.deepEqual(line?.detail, { moment: "quote_ready" });

  assert.equal((await sandbox("checkout")).status, 200);
  const late = await again("quote_ready");
  assert.equal(late.status, 409);
  assert.ok(late.text.includes("The order has moved on, and this email would no longer be right. Nothing was sent."));
  assert.equal((await page()).includes("Send the payment link again"), false);
});

test("the button says that it sends a mail again only if one was sent", () => {
  const order = { code: "0".repeat(40), customerEmail: "client@example.com", environment: "live" } as const;
  const shown = (mails: ClientMail[]) =>
    render(mailsPart({ submission: "", order, mails, signers: [], sendable: ["shipped"] }));
  assert.match(shown([]), />Send the tracking number</);
  const sent = { moment: "shipped", sentAt: new Date(), asksToSign: false } as const;
  assert.match(shown([sent]), />Send the tracking number again</);
});

test("a button that is pressed twice sends one email, and the next page's button another", async () => {
  const { code, again, page, mails } = await firm();
  await until(() => mails("Your quote is ready").length === 1);
  for (const sentBefore of [1, 2]) {
    const [, submission = ""] = /name="submission" value="([a-z2-7]{52})"/.exec(await page()) ?? [];
    const hit = () => again("quote_ready", { fields: { submission } });
    for (const { status, location } of [...(await Promise.all([hit(), hit()])), await hit()])
      assert.deepEqual([status, location], [303, `/dashboard/orders/${code}?done=order-mail-sent#mails-title`]);
    await until(() => mails("Your quote is ready").length > sentBefore);
  }
  const lines = await running.db.query(sql`
    SELECT 1 FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND action = 'order.mail_sent_again'`);
  assert.equal(lines.length, 2);
});

test("once an order is complete its documents are sent again, until they are deleted", async () => {
  const { code, again, page, sandbox, complete, mails } = await firm();
  assert.equal((await again("completed")).status, 409);
  assert.equal((await sandbox("checkout")).status, 200);
  await complete();
  await until(() => mails("Your order is complete").length === 1);
  await until(async () => (await page()).includes("Send the documents again"));
  assert.equal((await again("completed")).status, 303);
  await until(() => mails("Your order is complete").length === 2);
  const rowMac = await rowMacOf(running.service.dataDir);
  await markDeleted({ db: running.db, rowMac }, code, "test.orderDocuments");
  assert.equal((await again("completed")).status, 409);
  assert.equal((await page()).includes("Send the documents again"), false);
});

test("a client gets at most five repeated mails of an order in 24 hours, even with concurrent requests", async () => {
  const { code, again } = await firm();
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  const [order] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  const line = { at: yesterday, action: "order.mail_sent_again", actor: "member:x", orderId: order?.id };
  await running.db.query(auditLine(line, sql`generate_series(1, 5)`));
  const answers = await Promise.all(Array.from({ length: 8 }, () => again("quote_ready")));
  assert.equal(answers.filter(({ status }) => status === 303).length, 5);
  const refused = answers.find(({ status }) => status === 409);
  assert.ok(refused?.text.includes("At most 5 emails of an order are sent again in 24 hours."));
});

test("an unknown mail, another firm's order and another site's form are refused, and nothing is sent", async () => {
  const [acme, harbor] = [await firm(), await firm()];
  for (const moment of ["", "refunded", "toString"]) {
    const refused = await acme.again(moment);
    assert.equal(refused.status, 400, moment);
    assert.ok(
      refused.text.includes("moment must be one of: quote_ready, supplement_due, pay_again, shipped, completed."),
    );
  }
  for (const at of [harbor.code, "0".repeat(40), "%00"])
    assert.equal((await acme.again("quote_ready", { at })).status, 404);
  const foreign = { headers: { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" } };
  assert.equal((await acme.again("quote_ready", foreign)).status, 403);
  const lines = await running.db.query(sql`
    SELECT 1 FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE o.code IN (${acme.code}, ${harbor.code}) AND action = 'order.mail_sent_again'`);
  assert.equal(lines.length, 0);
});

test("anyone with the order's link can have the documents mailed to its client, three times a day, and never before there are any", async () => {
  const { code, client, page, complete, mails } = await firm();
  const order = `${running.service.baseUrl}/orders/${code}`;
  const ask = async () => {
    // Sends the form as a browser sends a form without fields.
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const answer = await fetch(`${order}/documents?lang=es`, { method: "POST", redirect: "manual", headers: form });
    return { status: answer.status, location: answer.headers.get("location") };
  };
  const shown = async () => (await fetch(order)).text();
  assert.doesNotMatch(await shown(), /Get your documents/);
  assert.deepEqual(await ask(), { status: 303, location: `/orders/${code}/documents/unsent?lang=es` });
  assert.equal((await complete()).status, 303);
  await until(() => mails("Your order is complete").length === 1);
  const before = await shown();
  assert.match(before, /Get your documents/);
  assert.ok(!before.includes(client), "the page shows no whole address");
  for (let n = 2; n <= 4; n++) {
    assert.deepEqual(await ask(), { status: 303, location: `/orders/${code}/documents/sent?lang=es` });
    await until(() => mails("Your order is complete").length === n);
  }
  assert.deepEqual(await ask(), { status: 303, location: `/orders/${code}/documents/unsent?lang=es` });
  assert.match(await (await fetch(`${order}/documents/unsent`)).text(), /No email was sent/);
  const kept = await (await fetch(`${order}/documents/sent`)).text();
  assert.match(kept, /stored by this service and sent to nobody/);
  assert.doesNotMatch(kept, /spam/);
  assert.match(await page(), /as somebody with the order’s link asked/);
  const unknown = await fetch(`${running.service.baseUrl}/orders/${"0".repeat(40)}/documents`, {
    method: "POST",
    redirect: "manual",
  });
  assert.equal(unknown.status, 404);
});
