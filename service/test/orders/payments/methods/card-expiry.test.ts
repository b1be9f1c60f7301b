import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService, testRowMac } from "@signsealship/testing/row-mac";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import type { Handler, Jobs } from "../../../../src/kernel/platform/jobs/jobs.ts";
import type { Mail } from "../../../../src/kernel/platform/mail/mail.ts";
import type { MailDeps } from "../../../../src/kernel/platform/mail/mail-jobs.ts";
import {
  activeMethod,
  expiryOf,
  methodMail,
  selectMethods,
  watchPayments,
} from "../../../../src/orders/payments/payments.ts";
import { updateMethod } from "../../../../src/orders/payments/records/methods.ts";
import { type MoneyWorld, openMoneyWorld, type PayingFirm } from "../money-world.ts";

const world: MoneyWorld = await forTests(openMoneyWorld());
const { db, deps, stripe, clock } = world;

const [year, month] = [clock().getUTCFullYear(), clock().getUTCMonth() + 1];
const thisMonth = `${String(month).padStart(2, "0")}/${year}`;
const renewal = (firm: PayingFirm, at: { exp_month: number; exp_year: number }, last4 = "1881") =>
  stripe.renewCard(firm.method, { last4, ...at });
const shownTo = async ({ owner }: PayingFirm) => {
  const [{ state, last4, cardExpires } = { state: "", last4: "", cardExpires: "" }] = await selectMethods(db, owner);
  return { state, last4, cardExpires };
};
const linesOf = ({ owner }: PayingFirm) =>
  db.query(sql`SELECT FROM audit_log WHERE partner_id = ${owner.partnerId} AND action = 'payment_method.renewed'`);

async function addOwner({ owner: { partnerId } }: PayingFirm): Promise<void> {
  const id = newUuid();
  await asService(
    { db, rowMac: testRowMac },
    sql`INSERT INTO users (id, email, created_at) VALUES (${id}, ${`${id}@acme.example`}, now())`,
    sql`INSERT INTO members (user_id, partner_id, role, live_access, linked_at)
      VALUES (${id}, ${partnerId}, 'owner', true, now())`,
  );
}

/** A firm that has an owner and a card. The card expires at the end of this month. */
async function expiring(): Promise<PayingFirm> {
  const firm = await world.newFirm();
  await addOwner(firm);
  await world.take(renewal(firm, { exp_month: month, exp_year: year }));
  return firm;
}

const mailsTo = async ({ owner }: PayingFirm) => {
  const methods = await selectMethods(db, owner);
  return db.query(sql`
    SELECT FROM jobs WHERE queue = 'payment-method-mail' AND payload ->> 'moment' = 'expiring'
      AND payload ->> 'id' = ANY (${methods.map(({ id }) => id)}::text[])`);
};

test("a renewed card shows its new number and expiry, once for each event", async () => {
  const firm = await world.newFirm();
  const event = renewal(firm, { exp_month: 9, exp_year: 2033 }, "0005");
  await Promise.all([world.take(event), world.take(event)]);
  assert.deepEqual(await shownTo(firm), { state: "active", last4: "0005", cardExpires: "09/2033" });
  assert.equal((await linesOf(firm)).length, 1);
});

test("an event that can't be read, or is about another card or a removed one, changes nothing", async () => {
  const firm = await world.newFirm();
  const before = await shownTo(firm);
  const { data, ...event } = renewal(firm, { exp_month: 9, exp_year: 2033 });
  for (const [n, object] of [
    { ...data.object, id: "pm_unknown" },
    { ...data.object, id: 7 },
    { ...data.object, card: null },
    { ...data.object, card: { exp_month: 13, exp_year: 2033 } },
    { ...data.object, card: { exp_month: "9", exp_year: 2033 } },
    { ...data.object, card: { exp_month: 9, exp_year: 33 } },
  ].entries())
    await world.take({ ...event, id: `${event.id}${n}`, data: { object } });
  assert.deepEqual(await shownTo(firm), before);
  const method = await activeMethod(db, firm.owner);
  await db.transaction((tx) => updateMethod(tx, method?.id ?? "", { state: "removed", endedBy: "system" }));
  await world.take({ ...event, data });
  assert.deepEqual(await shownTo(firm), { ...before, state: "removed" });
  assert.equal((await linesOf(firm)).length, 0);
});

test("mails the owners in the card's last month, once with two nodes, and again only for a new expiry", async () => {
  const [firm, later] = [await expiring(), await world.newFirm()];
  await addOwner(later);
  await Promise.all([watchPayments(deps), watchPayments(deps)]);
  await watchPayments(deps);
  assert.equal((await mailsTo(firm)).length, 1);
  assert.equal((await mailsTo(later)).length, 0, "its card is valid until 2031");
  await world.take(renewal(firm, { exp_month: month, exp_year: year + 1 }));
  await watchPayments(deps);
  assert.equal((await mailsTo(firm)).length, 1);
  const nextYear = () => new Date(Date.UTC(year + 1, month - 1, 2));
  await watchPayments({ ...deps, clock: nextYear });
  await watchPayments({ ...deps, clock: nextYear });
  assert.equal((await mailsTo(firm)).length, 2);
});

test("the mail names the card, and is not sent once the card was renewed", async () => {
  const sent: Mail[] = [];
  const handlers = new Map<string, Handler<object>>();
  const jobs: Jobs = {
    work: (queue, work) => void handlers.set(queue, work as Handler<object>),
    start: async () => {},
    stop: async () => {},
  };
  const mailer = { send: async (mail: Mail) => void sent.push(mail), keep: async () => assert.fail("no test orders") };
  const letters = { db, clock, rowMac: testRowMac, mailer, baseUrl: "https://sss.example" };
  methodMail.work(jobs, letters as unknown as MailDeps);
  const firm = await expiring();
  await watchPayments(deps);
  const [job] = await db.query<{ payload: object }>(sql`
    SELECT payload FROM jobs WHERE queue = 'payment-method-mail' AND payload ->> 'id' = (
      SELECT id::text FROM payment_methods WHERE partner_id = ${firm.owner.partnerId})`);
  const send = () =>
    handlers.get("payment-method-mail")?.(job?.payload ?? {}, { attempt: 1, signal: new AbortController().signal });
  await send();
  assert.equal(sent.length, 1);
  assert.match(sent[0]?.subject ?? "", new RegExp(`Your firm’s card is valid until ${thisMonth}`));
  assert.match(sent[0]?.text ?? "", /Visa •••• 1881 expires at the end of that month/);
  await world.take(renewal(firm, { exp_month: month, exp_year: year + 1 }));
  await send();
  assert.equal(sent.length, 1);
});

test("a crash at any point of the periodic check leaves one mail", async () => {
  for (let points = 0; points < 12; points++) {
    const firm = await expiring();
    world.fuse.set(points);
    await watchPayments(deps).catch(() => {});
    world.fuse.set(null);
    await watchPayments(deps);
    assert.equal((await mailsTo(firm)).length, 1, `${points} points`);
  }
});

test("a card that was altered in the database keeps no other firm from its mail", async () => {
  const [altered, other] = [await expiring(), await expiring()];
  await db.query(sql`UPDATE payment_methods SET brand = 'forged' WHERE partner_id = ${altered.owner.partnerId}`);
  await watchPayments(deps);
  assert.equal((await mailsTo(other)).length, 1);
  await db.query(sql`UPDATE payment_methods SET brand = 'visa' WHERE partner_id = ${altered.owner.partnerId}`);
});

test("a card is valid until the end of the month that it names", () => {
  const at = (text: string) => expiryOf({ cardExpires: "04/2031" }, new Date(text));
  assert.equal(at("2031-03-31T23:59:59Z"), null);
  assert.equal(at("2031-04-01T00:00:00Z"), "this_month");
  assert.equal(at("2031-04-30T23:59:59Z"), "this_month");
  assert.equal(at("2031-05-01T00:00:00Z"), "expired");
  assert.equal(at("2032-01-01T00:00:00Z"), "expired");
  assert.equal(at("2030-12-31T00:00:00Z"), null);
  assert.equal(expiryOf({ cardExpires: null }, new Date()), null);
  assert.equal(expiryOf({ cardExpires: thisMonth }, clock()), "this_month");
});
