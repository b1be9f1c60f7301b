import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService, authenticate, testRowMac } from "@signsealship/testing/row-mac";
import { switchMails } from "../../../src/firms/members/members.ts";
import type { Principal } from "../../../src/kernel/identity/identity.ts";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import type { Handler, Jobs } from "../../../src/kernel/platform/jobs/jobs.ts";
import type { Log } from "../../../src/kernel/platform/logs.ts";
import type { Mail } from "../../../src/kernel/platform/mail/mail.ts";
import type { MailDeps } from "../../../src/kernel/platform/mail/mail-jobs.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";
import {
  checkMonths,
  closeMonths,
  drawnStatement,
  ledgerOf,
  readIssuer,
  registerIssuer,
  statementMail,
  statementOf,
  statementsOf,
  sumFacts,
} from "../../../src/orders/billing/billing.ts";
import { applyEvent } from "../../../src/orders/payments/events/apply-event.ts";
import { openOrdersDatabase, silent } from "../order/orders-database.ts";

const orders = await forTests(openOrdersDatabase());
const { db } = orders;
const total = 9_900;
let now = new Date("2026-01-10T12:00:00Z");
const clock = () => now;
await registerIssuer(db, readIssuer(new URL("../../../data/billing.yaml", import.meta.url).pathname), now);
const [firm] = await db.query<{ partnerId: string }>(sql`SELECT id AS "partnerId" FROM partners`);
const owner = { partnerId: firm?.partnerId ?? "", environment: "live", firmName: "Acme Title" } as const;
const [first, second, clerk] = [randomUUID(), randomUUID(), randomUUID()];
for (const [id, role, email] of [
  [first, "owner", "owner@acme.example"],
  [second, "owner", "second@acme.example"],
  [clerk, "member", "clerk@acme.example"],
])
  await asService(
    { db, rowMac: testRowMac },
    sql`INSERT INTO users (id, email, created_at) VALUES (${id}, ${email}, ${now})`,
    sql`INSERT INTO members (user_id, partner_id, role, live_access, linked_at)
      VALUES (${id}, ${owner.partnerId}, ${role}, true, ${now})`,
  );

const close = () => closeMonths({ db, clock, log: silent }, new AbortController().signal);
const checked = async () => {
  const logged: { month?: string }[] = [];
  const log = { error: (line: { month?: string }) => logged.push(line) } as unknown as Log;
  await checkMonths({ db, clock, log }, new AbortController().signal);
  return logged.map(({ month }) => month);
};

let count = 0;
const take = (type: string, object: object) =>
  db.transaction((tx) => {
    now = new Date(now.getTime() + 1000);
    const event = { id: `evt_${++count}`, type, created: Math.floor(now.getTime() / 1000), data: { object } };
    return applyEvent(tx, event, { at: now, log: silent, actor: "processor" });
  });

/** A payment whose refund succeeded and then failed: the price stays credited, and the service has the money again. */
async function refundThatCameBack(): Promise<void> {
  const code = await orders.insert("QuoteReady");
  const intent = `pi_${++count}`;
  await take("checkout.session.completed", {
    id: `cs_${intent}`,
    metadata: { order_code: code },
    payment_status: "paid",
    payment_intent: intent,
    amount_total: total,
    currency: "usd",
  });
  const refund = { id: `re_${intent}`, payment_intent: intent, amount: 2_000, currency: "usd", metadata: {} };
  await take("refund.updated", { ...refund, status: "succeeded" });
  await take("refund.failed", { ...refund, status: "failed" });
}

const sent: Mail[] = [];
let handler: Handler<object> | undefined;
const jobs: Jobs = {
  work: (_, work) => {
    handler = work as Handler<object>;
  },
  start: async () => {},
  stop: async () => {},
};
const mailer = { send: async (mail: Mail) => void sent.push(mail), keep: async () => assert.fail("no test month") };
statementMail.work(jobs, {
  db,
  clock,
  rowMac: testRowMac,
  secrets: secretBytes(Buffer.alloc(32)),
  mailer,
  baseUrl: "https://sss.example",
} as unknown as MailDeps);
async function mails(): Promise<Mail[]> {
  sent.length = 0;
  const waiting = await db.query<{ payload: object }>(sql`
    DELETE FROM jobs WHERE queue = 'statement-mail' RETURNING payload`);
  for (const { payload } of waiting) await handler?.(payload, { attempt: 1, signal: new AbortController().signal });
  return [...sent];
}

test("each owner is mailed once when a month is closed, and nobody about a month in which nothing happened", async () => {
  await refundThatCameBack();
  now = new Date("2026-02-01T06:00:00Z");
  await Promise.all([close(), close()]);
  const [one, other, ...more] = await mails();
  assert.deepEqual(more, []);
  assert.deepEqual([one?.to, other?.to].sort(), ["owner@acme.example", "second@acme.example"]);
  assert.match(one?.subject ?? "", /Your statement for 2026-01 is ready/);
  assert.match(one?.text ?? "", /Payments: \$99\.00[\s\S]*Closing balance in your favor: \$20\.00/);
  assert.match(one?.text ?? "", /https:\/\/sss\.example\/dashboard\/statements\/2026-01/);
  assert.match(one?.text ?? "", /Switch it off under Sign-in and security/);
  await close();
  assert.deepEqual(await mails(), []);
});

test("no mail is sent to an owner who switched it off, nor to a former owner", async () => {
  await refundThatCameBack();
  await db.query(
    sql`INSERT INTO mail_switches (user_id, kind, switched_off_at) VALUES (${first}, 'statements', ${now})`,
  );
  now = new Date("2026-03-01T06:00:00Z");
  await close();
  await asService({ db, rowMac: testRowMac }, sql`UPDATE members SET role = 'member' WHERE user_id = ${second}`);
  assert.deepEqual(await mails(), []);
  await asService({ db, rowMac: testRowMac }, sql`UPDATE members SET role = 'owner' WHERE user_id = ${second}`);
  await db.query(sql`DELETE FROM mail_switches`);
});

test("no mail is sent about months that were closed long ago and get their sums now", async () => {
  await refundThatCameBack();
  now = new Date("2026-05-20T06:00:00Z");
  await close();
  assert.deepEqual(await mails(), []);
});

test("a balance that an earlier release stored without reversed credits is corrected in the next month, by name and once", async () => {
  const closedSums = async () => (await statementsOf({ db, clock }, owner)).filter(({ isClosed }) => isClosed);
  const before = await closedSums();
  const last = before.at(-1);
  assert.ok(last);
  const real = last.sums.closing;
  assert.equal(real, 6_000);
  // Rewrites the sums as an earlier release stored them. That release subtracted each reversed credit from the credits,
  // so its `closing` is 0. Its sums have no `owed` and no corrections.
  await db.transaction(async (tx) => {
    await tx.script("ALTER TABLE billing_balances DISABLE TRIGGER billing_balances_append_only");
    let opening = 0;
    for (const { month, sums } of before) {
      const { charges, payments, refunds, losses } = sums;
      const earlier = { opening, charges, credits: 0, payments, refunds, losses, closing: 0 };
      opening = earlier.closing;
      await tx.query(sql`UPDATE billing_balances SET sums = ${JSON.stringify(earlier)}::jsonb
        WHERE statement_id = (SELECT id FROM billing_statements WHERE month = ${month})`);
    }
    await tx.script("ALTER TABLE billing_balances ENABLE TRIGGER billing_balances_append_only");
  });
  await authenticate({ db, rowMac: testRowMac }, "billing_balances");
  assert.ok((await checked()).length > 0, "the daily look finds the months");

  await refundThatCameBack();
  const open = (await statementsOf({ db, clock }, owner)).at(-1);
  assert.deepEqual(
    [open?.isClosed, open?.sums.opening, open?.sums.corrections, open?.sums.closing],
    [false, 0, real, real + 2_000],
    "the month that is not over names the correction already",
  );
  now = new Date("2026-06-01T06:00:00Z");
  await close();
  const months = await closedSums();
  const corrected = months.at(-1);
  assert.ok(corrected);
  assert.equal(months.at(-2)?.sums.closing, 0, "the closed month stays as it was issued");
  assert.deepEqual(
    [corrected.sums.opening, corrected.sums.corrections, corrected.sums.closing],
    [0, real, real + 2_000],
  );
  assert.ok(sumFacts(corrected).some(([name, cents]) => /^Correction of earlier months/.test(name) && cents === real));
  const full = await statementOf({ db, clock }, owner, corrected.month);
  assert.equal(ledgerOf(full).at(-1)?.balance, corrected.sums.closing, "the lines lead to the balance");
  const printed = JSON.stringify(drawnStatement({ ...full, statement: corrected }, { environment: "live", now }));
  assert.match(printed, /Correction of earlier months/);
  assert.doesNotMatch(printed, /replacesLoss/, "files of months without such a payment stay as they were");
  assert.deepEqual(await checked(), [], "a corrected month is not reported again");

  await refundThatCameBack();
  now = new Date("2026-07-01T06:00:00Z");
  await close();
  const next = (await closedSums()).at(-1);
  assert.deepEqual([next?.sums.opening, next?.sums.corrections], [real + 2_000, 0]);
  assert.equal(next?.sums.closing, real + 4_000);
  assert.deepEqual(await checked(), []);
});

test("a month is closed without reading its documents while payments wait for the lock", async () => {
  await refundThatCameBack();
  now = new Date("2026-08-01T06:00:00Z");
  const seen: string[] = [];
  const watched: Database = {
    ...db,
    transaction: (work, time) =>
      db.transaction((tx) => {
        const query: typeof tx.query = (statement) => {
          seen.push(statement.text);
          return tx.query(statement);
        };
        return work({ ...tx, query });
      }, time),
  };
  await closeMonths({ db: watched, clock, log: silent }, new AbortController().signal);
  const last = (await statementsOf({ db, clock }, owner)).filter(({ isClosed }) => isClosed).at(-1);
  assert.deepEqual([last?.month, last?.sums.payments], ["2026-07", total]);
  assert.ok(seen.some((text) => text.includes("INSERT INTO billing_balances")));
  assert.deepEqual(
    seen.filter((text) => /FROM billing_documents d JOIN payments p/.test(text)),
    [],
  );
});

test("a member who switched the mail on gets it while the member may see billing, and no right forged in the database", async () => {
  const writer = { db, rowMac: testRowMac };
  const receivers = async (month: string, beforeSending?: () => Promise<unknown>) => {
    await refundThatCameBack();
    now = new Date(`${month}-01T06:00:00Z`);
    await close();
    await beforeSending?.();
    return (await mails()).map(({ to }) => to).sort();
  };
  await mails();
  const owners = ["owner@acme.example", "second@acme.example"];
  await asService(writer, sql`UPDATE members SET sees_billing = true WHERE user_id = ${clerk}`);
  assert.deepEqual(await receivers("2026-09"), owners, "the member has not switched it on");
  const principal = { member: { userId: clerk, role: "member", seesBilling: true } } as unknown as Principal;
  await switchMails({ db, clock }, principal, { kind: "statements", to: "on" });
  assert.deepEqual(await receivers("2026-10"), ["clerk@acme.example", ...owners]);
  assert.match(sent.find(({ to }) => to.startsWith("clerk"))?.text ?? "", /because you asked for it/);
  const hide = () => asService(writer, sql`UPDATE members SET sees_billing = false WHERE user_id = ${clerk}`);
  assert.deepEqual(await receivers("2026-11", hide), owners, "the right ended before the mail was sent");
  await db.query(sql`UPDATE members SET sees_billing = true WHERE user_id = ${clerk}`);
  assert.deepEqual(await receivers("2026-12"), owners, "the right was forged");
});
