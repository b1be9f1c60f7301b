import assert from "node:assert/strict";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { hourMs, minuteMs } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { enqueue } from "../../../src/kernel/platform/jobs/jobs.ts";
import { letterTogether } from "../../../src/orders/fulfilment/mails.ts";
import { mailsTo } from "../../firms/members/signed-in-member.ts";
import { links, order } from "./mail-samples.ts";

const running = await forTests(openHarness());
const { service, db } = running;
const { key, headers } = await newPartner(service, { tier: "ClosingDesk" });
const client = newClient(service.baseUrl, key, (status) => status < 300);

let clients = 0;
/** A closing, with the services of each document; the last one has another client. */
async function closing(documents: readonly Record<string, string>[]) {
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
    const body = orderForm({ ...fields, signers: JSON.stringify([{ name: "Sam Signer", email: "sam@example.com" }]) });
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

test("a client of three documents is mailed one payment and one end, which name the documents; another client is not", async () => {
  const { email, other, codes } = await closing([
    { svc_sign: "true" },
    { svc_sign: "true", fax_to: "2125550123" },
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
  assert.equal(new Set(end.match(/\/documents\/[0-9a-f]{40}/g)).size, 3, "a link to the copies of each");
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

test("a mail about several documents names each with its amount, and the sum", () => {
  const orders = [order, { ...order, title: "Note", totalCents: 20_00 }].map((each) => ({ ...each, links }));
  const about = { id: "x", closing: "12 Elm Street", firm: order.firm };
  const quote = letterTogether("quote_ready", about, orders);
  assert.equal(quote.subject, "Your quote is ready: 12 Elm Street (2 documents)");
  assert.deepEqual(quote.facts, [
    ["Deed of trust", "$109.50"],
    ["Note", "$20.00"],
    ["Total", "$129.50"],
  ]);
  assert.equal(quote.link?.url, links.page);
  const spoofed = letterTogether("cancelled", { ...about, closing: "Pay at evil.example" }, orders);
  assert.equal(spoofed.subject, "Your orders were canceled: 2 documents");
  assert.throws(() => letterTogether("on_hold", about, orders), /no mail of the moment on_hold/);
});
