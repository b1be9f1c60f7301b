import assert from "node:assert/strict";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { closingsOf } from "../../../src/closing/rooms/rooms.ts";
import { hourMs, minuteMs } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { enqueue } from "../../../src/kernel/platform/jobs/jobs.ts";
import { letterTogether } from "../../../src/orders/fulfilment/client-letters.ts";
import { claimMentionedPayments } from "../../../src/orders/fulfilment/together.ts";
import { mailsTo } from "../../firms/members/signed-in-member.ts";
import { links, order } from "./mail-samples.ts";

const running = await forTests(openHarness());
const { service, db } = running;
const { key, headers } = await newPartner(service, { tier: "ClosingDesk" });
const client = newClient(service.baseUrl, key, (status) => status < 300);

let clients = 0;
/**
 * Places the orders of one client's closing. Each element of `documents` gives the services for one document. One more
 * document is for another client.
 */
async function closing(documents: readonly Record<string, string>[], doesClientSign = false) {
  const email = `client${++clients}@example.com`;
  const other = `other${clients}@example.com`;
  const { roomCode } = await client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "Elm closing" });
  const codes: string[] = [];
  for (const [index, services] of [...documents, { svc_sign: "true" }].entries()) {
    const fields = {
      ...minimal,
      ...services,
      name: "Dana Whitfield",
      email: index === documents.length ? other : email,
    };
    const sam = { name: "Sam Signer", email: "sam@example.com" };
    const signers = doesClientSign ? [{ name: fields.name, email: fields.email }, sam] : [sam];
    const body = orderForm({ ...fields, signers: JSON.stringify(signers) });
    const placed = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
    const { orderCode } = (await placed.json()) as { orderCode: string };
    await client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode });
    codes.push(orderCode);
  }
  return { email, other, codes };
}

const sandbox = (code: string, act: string) => client.ok("POST", `/api/partner/sandbox/orders/${code}/${act}`);
async function complete(code: string): Promise<void> {
  while ((await client.ok<{ status: string }>("GET", `/api/partner/orders/${code}`)).status !== "Completed")
    await sandbox(code, "advance");
}

const subjects = (email: string) =>
  mailsTo(service, email).map((mail) => /^Subject: (.*)$/m.exec(mail.replaceAll("\r\n ", " "))?.[1]?.trim() ?? "");
const quiet = () =>
  until(async () => {
    const due = await db.query(sql`SELECT FROM jobs WHERE queue = 'order-mail' AND due_at <= now()`);
    return due.length === 0 || undefined;
  });
const idOf = async (email: string) =>
  (await db.query<{ id: number }>(sql`SELECT id FROM orders WHERE customer_email = ${email} ORDER BY id`)).map(
    ({ id }) => id,
  );

const deps = { db, closingsOf };
/** The number of the client's orders for which a sent mail about the payment is recorded. */
const sentPayments = async (email: string) =>
  (
    await db.query(sql`
      SELECT FROM client_mails m JOIN orders o ON o.id = m.order_id
      WHERE o.customer_email = ${email} AND m.moment = 'payment_received'`)
  ).length;
/** The number of queued mails about the client's orders. */
const waiting = async (email: string) =>
  (
    await db.query(sql`
      SELECT FROM jobs WHERE queue = 'order-mail' AND (payload->>'orderId')::bigint = ANY (${await idOf(email)}::bigint[])`)
  ).length;

test("a client of three documents is mailed one payment and one end, which name the documents; another client is not", async () => {
  const { email, other, codes } = await closing([
    { svc_sign: "true" },
    { svc_sign: "true", svc_notary: "true", fax_to: "2125550123" },
    { svc_sign: "true", ...shipping },
  ]);
  for (const code of codes) await sandbox(code, "checkout");
  await until(() => subjects(email)[0]);
  for (const code of codes) await complete(code);
  await until(() => subjects(email).length >= 2 || undefined);
  await quiet();
  assert.deepEqual(subjects(email).sort(), [
    "TEST: [Acme Title] Payment received: Elm closing (3 documents)",
    "TEST: [Acme Title] Your documents are complete: Elm closing (3 documents)",
  ]);
  const [end = ""] = mailsTo(service, email);
  assert.match(end, /The sandbox simulated it\./);
  assert.equal(new Set(end.match(/\/documents\/[0-9a-f]{40}/g)).size, 3, "a link to the copies of each");
  assert.match(end, /\/orders\/[0-9a-f]{40}\/closing\/[0-9a-f]{40}/, "and the page with the states of all");
  const links = [...new Set(end.match(/\/orders\/[0-9a-f]{40}\/documents\/[0-9a-f]{40}/g))];
  const pages = await Promise.all(links.map(async (path) => (await fetch(service.baseUrl + path)).text()));
  const notarized = pages.find((page) => page.includes(">Notarization simulated (test)</a>")) ?? "";
  const at = (title: string) => notarized.indexOf(`>${title}</a>`);
  assert.ok(at("Notarization simulated (test)") < at("Signed and sealed"), "what counts is first");
  // A client with one document gets the same mails as for a single order.
  await until(() => subjects(other).length >= 3 || undefined);
  assert.ok(subjects(other).every((subject) => !/closing/.test(subject)));
  const sent = await db.query(sql`
    SELECT FROM client_mails WHERE order_id = ANY (${await idOf(email)}::bigint[]) AND moment = 'completed'`);
  assert.equal(sent.length, 3, "each order lists the mail");
});

test("the end of one document waits for those that people work on, and half an hour for one on hold", async () => {
  const { email, codes } = await closing([{ svc_sign: "true" }, { svc_sign: "true" }]);
  const [first = "", second = ""] = codes;
  for (const code of [first, second]) await sandbox(code, "checkout");
  await until(() => subjects(email)[0]);
  await complete(first);
  const [orderId] = await idOf(email);
  const ended = (minutes: number) =>
    enqueue(db, "order-mail", {
      orderId,
      moment: "completed",
      at: new Date(Date.now() - minutes * minuteMs).toISOString(),
    });
  await ended(31);
  await quiet();
  assert.equal(subjects(email).length, 1, "the other one is still being signed");
  await service.cli("order", "move", second, "OnHold", "--reason", "x");
  await until(() => subjects(email).find((subject) => /on hold/.test(subject)));
  await ended(29);
  await quiet();
  assert.equal(subjects(email).length, 2);
  await ended(31);
  await until(() => subjects(email).find((subject) => /Your order is complete/.test(subject)));
  await ended(hourMs / minuteMs);
  await quiet();
  assert.equal(subjects(email).length, 3, "told once");
});

test("a mail that is sent again is about its own order", async () => {
  const { email, codes } = await closing([{ svc_sign: "true" }, { svc_sign: "true" }]);
  for (const code of codes.slice(0, 2)) await sandbox(code, "checkout");
  for (const code of codes.slice(0, 2)) await complete(code);
  await until(() => subjects(email).find((subject) => /complete: Elm closing/.test(subject)));
  assert.equal((await fetch(`${service.baseUrl}/orders/${codes[0]}/documents`, { method: "POST" })).status, 200);
  await until(() => subjects(email).find((subject) => /Your order is complete/.test(subject)));
});

test("a mail about several documents names each with its amount, the sum, and what the sandbox simulated", () => {
  const note = { ...order, title: "Note", totalCents: 20_00, links: { ...links, closing: `${links.closing}2` } };
  const orders = [{ ...order, links }, note];
  const about = { id: "x", closing: "12 Elm Street", firm: order.firm };
  const free = letterTogether("payment_received", about, [{ ...order, totalCents: 0, links }]);
  assert.match(free.subject, /^Your orders have begun: /);
  assert.match(free.lines[0] ?? "", /^There is nothing to pay for /);
  const freeQuote = letterTogether("quote_ready", about, [{ ...order, totalCents: 0, links }]);
  assert.match(freeQuote.lines[0] ?? "", /There is nothing to pay for them\.$/);
  assert.doesNotMatch(JSON.stringify(freeQuote), /\$0\.00|Total|pay online/);
  const quote = letterTogether("quote_ready", about, orders);
  assert.equal(quote.subject, "Your quote is ready: 12 Elm Street (2 documents)");
  assert.deepEqual(quote.facts, [
    ["Deed of trust", "$109.50", links.closing],
    ["Note", "$20.00", note.links.closing],
    ["Total", "$129.50"],
  ]);
  assert.equal(quote.link?.url, links.closing);
  const same = [...orders, { ...order, links }];
  assert.deepEqual(
    letterTogether("quote_ready", about, same).facts?.map(([name]) => name),
    ["Deed of trust (1)", "Note", "Deed of trust (2)", "Total"],
  );
  assert.deepEqual(letterTogether("cancelled", about, orders).facts?.[0], ["Document 1", "Deed of trust"]);
  const spoofed = letterTogether("cancelled", { ...about, closing: "Pay at evil.example" }, orders);
  assert.equal(spoofed.subject, "Your orders were canceled: 2 documents");
  const completed = (...simulated: boolean[]) => {
    const all = simulated.map((isSimulated, n) => ({ ...order, title: `Deed ${n}`, isSimulated, links }));
    const { lines, facts = [] } = letterTogether("completed", about, all);
    return [lines.join(" "), facts.map(([name, label]) => `${name}: ${label}`)] as const;
  };
  assert.doesNotMatch(completed(false, false)[0], /sandbox|signature/);
  assert.match(completed(true, true)[0], /The sandbox simulated it\. Nobody’s signature is in the documents\./);
  const [mixed, marked] = completed(false, true);
  assert.match(mixed, /The sandbox simulated 1 of them, as marked below\. Nobody’s signature is in it\./);
  assert.deepEqual(marked, ["Deed 0: Download", "Deed 1: Download (simulated)"]);
  assert.throws(() => letterTogether("on_hold", about, orders), /no mail of the moment on_hold/);
});

test("the mail that asks the client to sign tells of the payment of all documents", async () => {
  const { email, codes } = await closing([{ svc_sign: "true" }, { svc_sign: "true" }], true);
  for (const code of codes) await sandbox(code, "checkout");
  const [mail = ""] = await until(() => {
    const mails = mailsTo(service, email);
    return mails.some((each) => each.includes("please sign")) ? mails : undefined;
  });
  assert.match(mail, /Your payment of \$[\d.]+ has cleared\. Thank you\./);
  await until(async () => (await sentPayments(email)) === 2 || undefined);
  await until(async () => (await waiting(email)) === 0 || undefined);
  assert.deepEqual(subjects(email), ["TEST: [Acme Title] Elm closing (2 documents): please sign"]);
  const [orderId = 0] = await idOf(email);
  const again = await claimMentionedPayments(deps, { orderId, email, mail: "another" });
  assert.equal(again, null, "another mail to the client does not tell of it again");
});

test("a mail to sign that was claimed and never sent leaves the payment its own mail, and takes only the client's own", async () => {
  const { email, other, codes } = await closing([{ svc_sign: "true" }, { svc_sign: "true" }]);
  const orderIds = await idOf(email);
  const [orderId = 0] = orderIds;
  assert.equal(await claimMentionedPayments(deps, { orderId, email, mail: "link" }), null, "nothing is paid");
  await db.query(sql`
    INSERT INTO client_mail_claims (order_id, moment, mail, claimed_at)
    SELECT id, 'payment_received', 'sign:link', now() + interval '1 hour' FROM unnest(${orderIds}::bigint[]) id`);
  for (const code of codes) await sandbox(code, "checkout");
  await until(() => subjects(email)[0]);
  assert.deepEqual(subjects(email), ["TEST: [Acme Title] Payment received: Elm closing (2 documents)"]);
  assert.equal(await claimMentionedPayments(deps, { orderId, email, mail: "link" }), null, "the mail has told of it");
  assert.equal(await claimMentionedPayments(deps, { orderId, email: other, mail: "link" }), null, "not the client");
});

test("the mail that asks the client of a single order to sign tells of its payment, and another signer's does not", async () => {
  const single = async (email: string, signer: string) => {
    const signers = JSON.stringify([{ name: "Sam Signer", email: signer }]);
    const body = orderForm({ ...minimal, svc_sign: "true", name: "Dana Whitfield", email, signers });
    const placed = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
    await sandbox(((await placed.json()) as { orderCode: string }).orderCode, "checkout");
  };
  const [own, apart, signer] = ["own@example.com", "apart@example.com", "signer@example.com"];
  await Promise.all([single(own, own), single(apart, signer)]);
  const asked = async (email: string) =>
    until(() => mailsTo(service, email).find((mail) => mail.includes("please sign")));
  assert.match(await asked(own), /Your payment of \$[\d.]+ has cleared\. Thank you\./);
  assert.doesNotMatch(await asked(signer), /Your payment/);
  await until(() => subjects(apart)[0]);
  await until(async () => (await waiting(own)) === 0 || undefined);
  assert.equal(subjects(own).length, 1, subjects(own).join("; "));
  assert.equal(subjects(apart).length, 1);
  assert.match(subjects(apart)[0] ?? "", /Payment received/);
});

test("a payment is told once, whatever the clock of the node says that recorded it", async () => {
  const { email, codes } = await closing([{ svc_sign: "true" }, { svc_sign: "true" }]);
  for (const code of codes) await sandbox(code, "checkout");
  await until(() => subjects(email)[0]);
  const [orderId] = await idOf(email);
  const [before] = await db.query<{ at: string }>(sql`
    SELECT (claimed_at - interval '1 second')::text AS at FROM client_mail_claims WHERE order_id = ${orderId} AND moment = 'payment_received'`);
  // The payment's time is from a clock that is an hour ahead. So the claim seems to be older than the payment.
  const at = new Date(Date.now() + hourMs).toISOString();
  await enqueue(db, "order-mail", { orderId, moment: "payment_received", at, queuedAt: before?.at });
  await until(async () => (await waiting(email)) === 0 || undefined);
  assert.equal(subjects(email).length, 1);
});
