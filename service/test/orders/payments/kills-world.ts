import assert from "node:assert/strict";
import { startMailCatcher } from "@signsealship/testing/doubles/mail-catcher";
import type { StripeEvent } from "@signsealship/testing/doubles/stripe";
import { makeJobsDue } from "@signsealship/testing/due-jobs";
import { whileWritesWait } from "@signsealship/testing/lock-waits";
import { ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { maskCode } from "../../../src/kernel/platform/ids.ts";
import { documentsOfOrder } from "../../../src/orders/billing/billing.ts";
import { giveLiveAccess, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { openLiveService } from "../fulfilment/live-service.ts";

type Person = { cookie: string };
export type Order = { code: string; intent: string; client: string };

/** A live service that tests kill, with a mail server, an owner of the firm, and two people of the console. */
export async function openKillsWorld() {
  const live = await openLiveService(ownProcess);
  const { harness, stripe, db } = live;
  const mails = await startMailCatcher();
  const signedIn = await newMember(harness.service, "owner@acme.example", live.key);
  const owner: Person = { cookie: signedIn.headers.Cookie };
  await giveLiveAccess(harness.service, signedIn.linked.partner.id);
  const agent: Person = await newOperator(harness, { roles: ["agent"] });
  const approver: Person = await newOperator(harness, { roles: ["approver"] });
  // The sign-in link is read from the outbox. From now on, mails are sent to the server, which counts them.
  await harness.service.stop();
  harness.service = await harness.service.restart({ SMTP_URL: mails.url });

  const post = (path: string, { cookie }: Person, fields: Record<string, string> = {}) =>
    postForm(live.url() + path, fields, { cookie, Accept: "text/html", Origin: new URL(live.url()).origin });
  await post("/dashboard/environment", owner, { environment: "live" });

  /** Waits until no job is due or running, so that only the next step of a test writes. */
  const idle = () =>
    until(async () => {
      const due = sql`SELECT FROM jobs WHERE failed_at IS NULL AND due_at < now() + interval '1 minute'`;
      return (await db.query(due)).length === 0;
    });

  /** Starts the killed service again. */
  async function start(): Promise<void> {
    // Expires the leases of the killed service's jobs.
    await makeJobsDue(db);
    harness.service = await harness.service.restart();
  }

  const mailsToFirm = (code: string) =>
    mails.caught.filter(({ to, text }) => to === "owner@acme.example" && text.includes(maskCode(code)));
  let clients = 0;

  return {
    ...live,
    mails,
    owner,
    agent,
    approver,
    post,
    idle,
    partnerId: signedIn.linked.partner.id,
    /** Kills the service while its write to the table waits, so that the transaction is aborted. */
    async killAt(table: Statement, begin: () => Promise<unknown>): Promise<void> {
      await idle();
      let isAnswered = false;
      const answered = () => begin().then(() => (isAnswered = true));
      await whileWritesWait(db, table, answered, () => harness.service.kill());
      assert.equal(isAnswered, false);
      await start();
    },
    /**
     * Kills the service twice during the same request to the processor. The first time, the processor never handles the
     * request. The second time, only the processor's response is lost, and a day passes. `again` repeats the request if
     * no job does.
     */
    async killAsking(asks: string, begin: () => Promise<unknown>, again: () => Promise<unknown> = async () => {}) {
      const asked = () => stripe.requests.filter(({ method, path }) => `${method} ${path}` === asks).length;
      const before = asked();
      stripe.failAt(asks, "hang");
      const begun = begin().catch(() => null);
      await until(() => asked() > before);
      await harness.service.kill();
      stripe.failAt(asks, "mute");
      await Promise.all([start(), begun]);
      const repeated = again().catch(() => null);
      await until(() => asked() > before + 1);
      await harness.service.kill();
      stripe.forgetKeys();
      await Promise.all([start(), repeated]);
    },
    /** Kills the service while the mail server leaves the service's next mail without a response. */
    async killMailing(how: "hang" | "mute", begin: () => Promise<unknown>): Promise<void> {
      await idle();
      mails.leaveNext(how);
      await begin();
      await until(mails.hasLeft);
      await harness.service.kill();
      await start();
    },
    /** A paid order, after all automatic work is done. */
    async paidOrder(fields: Record<string, string> = {}): Promise<Order> {
      const client = `client-${++clients}@example.com`;
      const { orderCode, checkoutUrl } = await live.place({ svc_sign: "true", email: client, ...fields });
      // Waits for the quote's mail, which would not be sent after the payment.
      await idle();
      const paid = stripe.pay(stripe.sessionOf(checkoutUrl));
      await stripe.deliver(live.url(), paid);
      assert.equal(await live.statusOf(orderCode), "EsignPending");
      await idle();
      return { code: orderCode, intent: String(paid.data.object["payment_intent"]), client };
    },
    /** Delivers each event twice, as the processor may. */
    async deliver(...events: readonly StripeEvent[]): Promise<void> {
      for (const event of [...events, ...events])
        assert.equal((await stripe.deliver(live.url(), event)).status, 200, event.type);
    },
    /** The number of rows of an order in a table. */
    rows: async (table: Statement, code: string, which: Statement = sql`true`) =>
      (
        await db.query(sql`
          SELECT FROM ${table} t JOIN orders o ON o.id = t.order_id
          WHERE ${isSealed(sql`o.code`, "order", code)} AND ${which}`)
      ).length,
    /** The actions in an order's audit lines that begin with `start`, oldest first. */
    audited: async (code: string, start: string) =>
      (
        await db.query<{ action: string }>(sql`
          SELECT a.action FROM audit_log a JOIN orders o ON o.id = a.order_id
          WHERE ${isSealed(sql`o.code`, "order", code)} AND starts_with(a.action, ${start}) ORDER BY a.id`)
      ).map(({ action }) => action),
    /** Asserts that the documents about an order's payments match the processor's own books. */
    async requireBooks(code: string): Promise<void> {
      const sums = new Map<string, number>();
      for (const { kind, amountCents, paymentReference } of await documentsOfOrder(db, code, null)) {
        const cents = kind === "credit_note" || kind === "loss" ? -amountCents : amountCents;
        sums.set(paymentReference ?? "", (sums.get(paymentReference ?? "") ?? 0) + cents);
      }
      const atProcessor = new Map([...sums.keys()].map((intent) => [intent, 0]));
      for (const { source, amount } of stripe.balance.transactions) {
        const intent = String((source as { payment_intent: unknown }).payment_intent);
        if (sums.has(intent)) atProcessor.set(intent, (atProcessor.get(intent) ?? 0) + Number(amount));
      }
      assert.deepEqual(sums, atProcessor);
    },
    mailsToFirm,
    /**
     * Waits until no mail is pending. A mail is sent again, under the same id, if the service is killed before it stores
     * that the mail was sent. Receivers show one mail for each id, so each id counts once.
     * @returns the subjects of all mails about an order to its firm and to its client
     */
    async subjects({ code, client }: Pick<Order, "code" | "client">): Promise<{ firm: string[]; client: string[] }> {
      await idle();
      const idOf = (raw: string) => /^Message-ID: (.*)$/im.exec(raw)?.[1];
      const subjects = (found: typeof mails.caught) =>
        [...new Map(found.map(({ raw, subject }) => [idOf(raw), subject])).values()].sort();
      return { firm: subjects(mailsToFirm(code)), client: subjects(mails.caught.filter(({ to }) => to === client)) };
    },
    async close() {
      await live.close();
      await mails.close();
    },
  };
}
