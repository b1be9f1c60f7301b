import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { mailOrderUpdates } from "../../../src/orders/fulfilment/fulfilment.ts";
import { wordsOf } from "../../../src/orders/fulfilment/order-update-words.ts";
import { summaryOf, urgentFirst } from "../../../src/orders/fulfilment/order-updates.ts";
import type { Noted } from "../../../src/orders/order/order.ts";
import { openMembersService } from "../../firms/members/members-service.ts";
import { mailsTo, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { openInsider } from "../../insiders/insider.ts";

const running = await forTests(openMembersService());
const { service, db } = running;
const insider = await forTests(openInsider(service.dataDir));

/**
 * Runs the sweep with a clock that is this many minutes ahead. The service's own sweep runs too early to find anything.
 */
const sweep = (minutes: number) => mailOrderUpdates({ db, clock: () => new Date(Date.now() + minutes * 60_000) });

const sent = () =>
  until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'order-news'`)).length === 0 || undefined);

async function pay(code: string, key: string): Promise<void> {
  const init = { method: "POST", headers: { Authorization: `Bearer ${key}` } };
  assert.equal((await fetch(`${service.baseUrl}/api/partner/sandbox/orders/${code}/checkout`, init)).status, 200);
}

async function complete(code: string, key: string): Promise<void> {
  const init = { method: "POST", headers: { Authorization: `Bearer ${key}` } };
  for (let status = ""; status !== "Completed"; ) {
    const answer = await fetch(`${service.baseUrl}/api/partner/sandbox/orders/${code}/advance`, init);
    assert.equal(answer.status, 200);
    ({ status } = (await answer.json()) as { status: string });
  }
}

async function newPerson(key: string) {
  const email = running.somebody();
  const { headers } = await newMember(service, email, key);
  return {
    email,
    headers,
    async place(reference: string) {
      const body = orderForm({ ...minimal, svc_sign: "true", external_reference: reference });
      const answer = await fetch(`${service.baseUrl}/dashboard/orders/new`, {
        method: "POST",
        redirect: "manual",
        headers,
        body,
      });
      assert.equal(answer.status, 303, await answer.clone().text());
      const code = /orders\/([0-9a-f]{40})/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
      await pay(code, key);
      return code;
    },
    mails: (subject: string) => mailsTo(service, email).filter((mail) => mail.includes(`Subject: TEST: ${subject}`)),
    security: (fields: Record<string, string>) =>
      postForm(`${service.baseUrl}/dashboard/security/mails`, fields, { ...headers, Accept: "text/html" }),
  };
}

const move = (code: string, to: string, reason: string) => service.cli("order", "move", code, to, "--reason", reason);

test("mails the member who placed an order when it is held, with the reason and a link", async () => {
  const { key } = await running.newPartner();
  const dana = await newPerson(key);
  const code = await dana.place("2026-1187");
  await move(code, "OnHold", "which county is it");
  assert.equal(await sweep(1), 0, "what happens soon after is in the same mail");
  assert.deepEqual((await Promise.all([sweep(3), sweep(3)])).sort(), [0, 1], "one node mails it");
  const mail = await until(() => dana.mails("On hold: 2026-1187")[0]);
  assert.match(mail, /which county is it/);
  assert.ok(mail.includes(`/dashboard/orders/${code}`));
  assert.equal(await sweep(30), 0, "told once");
});

test("puts news about many orders into one mail, and the next one waits 15 minutes", async () => {
  const { key } = await running.newPartner();
  const dana = await newPerson(key);
  for (const reference of ["A-1", "A-2", "A-3"]) await move(await dana.place(reference), "OnHold", "x");
  assert.equal(await sweep(3), 1);
  const mail = await until(() => dana.mails("3 of your orders: On hold")[0]);
  for (const reference of ["A-1", "A-2", "A-3"]) assert.ok(mail.includes(reference), reference);
  await move(await dana.place("A-5"), "OnHold", "x");
  assert.equal(await sweep(10), 0);
  assert.equal(await sweep(20), 1);
  await until(() => dana.mails("On hold: A-5")[0]);
});

test("mails trouble to an owner who gets such mails when the placer has switched them off, and nothing else", async () => {
  const { key } = await running.newPartner();
  const owner = await newPerson(key);
  const dana = await newPerson(key);
  assert.equal((await dana.security({ kind: "orders", mails: "perhaps" })).status, 400);
  assert.equal((await dana.security({ kind: "all", mails: "off" })).status, 400);
  assert.equal((await dana.security({ kind: "orders", mails: "off" })).status, 303);
  await complete(await dana.place("B-0"), key);
  await move(await dana.place("B-1"), "OnHold", "x");
  assert.equal(await sweep(3), 1);
  await until(() => owner.mails("On hold: B-1")[0]);
  assert.equal((await dana.security({ kind: "orders", mails: "on" })).status, 303);
  await move(await dana.place("B-2"), "OnHold", "y");
  await sweep(20);
  await until(() => dana.mails("On hold: B-2")[0]);
  assert.equal(dana.mails("").length, 1);
  assert.equal(owner.mails("").filter((mail) => mail.includes("B-0") || mail.includes("B-2")).length, 0);
});

test("mails trouble to the owner who joined first when every owner has switched such mails off", async () => {
  const { key } = await running.newPartner();
  const [first, second] = [await newPerson(key), await newPerson(key)];
  for (const owner of [first, second]) await owner.security({ kind: "orders", mails: "off" });
  await move(await second.place("F-1"), "OnHold", "x");
  assert.equal(await sweep(3), 1);
  await until(() => first.mails("On hold: F-1")[0]);
  await complete(await second.place("F-2"), key);
  assert.equal(await sweep(20), 1);
  await sent();
  assert.equal(first.mails("").length, 1, "the end of an order is no trouble");
  assert.equal(second.mails("").length, 0);
});

test("mails the owners about trouble with an order that a key placed, and not about its end", async () => {
  const { key, headers } = await running.newPartner();
  const owner = await newPerson(key);
  const place = async (reference: string) => {
    const body = orderForm({ ...minimal, svc_sign: "true", external_reference: reference });
    const answer = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
    const { orderCode } = (await answer.json()) as { orderCode: string };
    await pay(orderCode, key);
    return orderCode;
  };
  await move(await place("K-1"), "OnHold", "x");
  assert.equal(await sweep(3), 1);
  await until(() => owner.mails("On hold: K-1")[0]);
  await complete(await place("K-2"), key);
  assert.equal(await sweep(20), 0);
});

test("mails the owner instead of a member who has left", async () => {
  const { key } = await running.newPartner();
  const owner = await newPerson(key);
  const dana = await newPerson(key);
  const code = await dana.place("C-1");
  const [left] = await db.query<{ id: string }>(sql`SELECT id FROM users WHERE email = ${dana.email}`);
  await service.cli("member", "remove", String(left?.id));
  await move(code, "OnHold", "x");
  assert.equal(await sweep(3), 1);
  await until(() => owner.mails("On hold: C-1")[0]);
  assert.equal(dana.mails("On hold").length, 0);
});

test("mails nobody about an altered order, and no stranger whom the database names", async () => {
  const { key } = await running.newPartner();
  const dana = await newPerson(key);
  const stranger = await newPerson((await running.newPartner({ name: "Other" })).key);
  const [altered, sound] = [await dana.place("D-1"), await dana.place("D-2")];
  for (const code of [altered, sound]) await move(code, "OnHold", "x");
  await insider.run(
    sql`UPDATE orders SET external_reference = 'pay elsewhere' WHERE ${isSealed(sql`code`, "order", altered)}`,
  );
  const [other] = await db.query<{ id: string }>(sql`SELECT id FROM users WHERE email = ${stranger.email}`);
  await insider.run(sql`
    INSERT INTO order_news (order_id, environment, placed_by, status, at)
    SELECT order_id, environment, ${`member:${other?.id}`}, status, at FROM order_news`);
  assert.equal(await sweep(3), 2);
  await until(() => dana.mails("On hold: D-2")[0] ?? dana.mails("2 of your orders")[0]);
  await sent();
  assert.equal(dana.mails("").filter((mail) => mail.includes("pay elsewhere")).length, 0);
  assert.equal(stranger.mails("On hold").length + stranger.mails("2 of").length, 0);
});

const noted = (from: number, to: number, status: Noted["status"]): Noted[] =>
  Array.from({ length: to - from }, (_, n) => ({ n: from + n, id: from + n, status, partnerId: "x" }));

/**
 * Simulates the read of a batch of orders. It returns only the orders for which `isSo` is true, as if the other orders
 * had just changed their status.
 */
const reading = (isSo: (id: number) => boolean) => (batch: readonly Pick<Noted, "id" | "status">[]) =>
  Promise.resolve(
    batch
      .filter(({ id }) => isSo(id))
      .map(({ id, status }) => ({ code: String(id), status, name: `No. ${id}`, reason: null, wantsPaper: false })),
  );

const nobodyOnPaper = () => Promise.resolve(new Set<number>());

test("lists and counts orders that need a person before complete ones, however late they changed", async () => {
  const orders = urgentFirst([...noted(0, 60, "Completed"), ...noted(60, 63, "EsignDeclined")]);
  const summary = await summaryOf(
    orders,
    reading(() => true),
    nobodyOnPaper,
  );
  assert.ok(summary);
  const { subject, lines, facts } = wordsOf(summary, "https://x.example");
  assert.equal(subject, "63 of your orders: Signing stopped (3), Complete (60)");
  assert.deepEqual(
    facts.slice(0, 4).map(([name, label]) => [name, label]),
    [
      ["No. 60", "Signing stopped"],
      ["No. 61", "Signing stopped"],
      ["No. 62", "Signing stopped"],
      ["No. 0", "Complete"],
    ],
  );
  assert.equal(facts.length, 50);
  assert.match(lines.join("\n"), /Signing stopped \(3\): .*\nComplete \(60\): .*\n50 of them are listed here\./);
  assert.deepEqual(urgentFirst([...noted(0, 1, "OnHold"), { ...noted(0, 1, "Completed")[0], n: 9 } as Noted]), [
    ["Completed", [0]],
  ]);
});

test("says what to do when a signer wants to sign on paper, and calls that signing declined nowhere", async () => {
  type Ended = { reason: string | null; wantsPaper: boolean };
  const mailOf = async (...ends: Ended[]) => {
    const all = noted(0, ends.length, "EsignDeclined");
    const named = (id: number) => ({
      code: String(id),
      name: `No. ${id}`,
      ...(ends[id] ?? { reason: null, wantsPaper: false }),
    });
    const summary = await summaryOf(
      urgentFirst(all),
      async (batch) => batch.map(({ id, status }) => ({ status, ...named(id) })),
      nobodyOnPaper,
    );
    assert.ok(summary);
    return wordsOf(summary, "https://x.example");
  };
  const linesOf = async (...ends: Ended[]) => (await mailOf(...ends)).lines.join("\n");
  const paper = { reason: "signer 2: wants to sign on paper: I have no printer", wantsPaper: true };
  const declined = { reason: "signer 2: declined to sign: wants to sign on paper", wantsPaper: false };
  const long = { reason: null, wantsPaper: true };
  assert.match(await linesOf(paper), /^A signer wants to sign on paper, and was told that your firm arranges it\./);
  assert.deepEqual(
    [await mailOf(paper), await mailOf(long), await mailOf(declined)].map(({ subject, heading }) => [subject, heading]),
    [
      ["A signer wants paper: No. 0", "A signer wants paper"],
      ["A signer wants paper: No. 0", "A signer wants paper"],
      ["Signing stopped: No. 0", "Signing stopped"],
    ],
  );
  const both = await mailOf(declined, paper);
  assert.equal(both.subject, "2 of your orders: Signing stopped (1), A signer wants paper (1)");
  assert.equal(both.facts[1]?.[1], `A signer wants paper: ${paper.reason}`);
  assert.match(
    await linesOf(declined, paper),
    /^Signing stopped \(1\): .*\nA signer wants paper \(1\): A signer wants/,
  );
  assert.equal((await mailOf(paper, paper)).subject, "2 of your orders: A signer wants paper");
  assert.doesNotMatch(await linesOf(paper, paper), /declined/);
  assert.doesNotMatch(await linesOf(declined), /A signer wants to sign on paper/);
});

test("reads further when orders have moved on, counts unread ones, and omits empty statuses", async () => {
  const orders = urgentFirst([...noted(0, 250, "PaymentFailed"), ...noted(250, 1000, "Completed")]);
  const summary = await summaryOf(
    orders,
    reading((id) => id >= 240),
    nobodyOnPaper,
  );
  assert.equal(summary?.items.length, 50);
  assert.deepEqual(
    [...(summary?.counts ?? [])],
    [
      ["PaymentFailed", 10],
      ["Completed", 750],
    ],
  );
  assert.equal(
    await summaryOf(
      orders,
      reading(() => false),
      nobodyOnPaper,
    ),
    null,
  );
});

test("counts an unread order whose signer wants paper as such", async () => {
  const summary = await summaryOf(
    urgentFirst(noted(0, 300, "EsignDeclined")),
    reading(() => true),
    (ids) => Promise.resolve(new Set(ids.filter((id) => id >= 250))),
  );
  assert.deepEqual(
    [...(summary?.counts ?? [])],
    [
      ["EsignDeclined", 250],
      ["paper", 50],
    ],
  );
});
