import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { seededRandom } from "@signsealship/testing/inputs/random";
import { changeOrder } from "@signsealship/testing/row-mac";
import type { Tx } from "../../../src/kernel/platform/database/database.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import {
  type BillingDocument,
  closeMonths,
  documentsOfOrder,
  readIssuer,
  registerIssuer,
  type StatementWithLines,
  settlement,
  statementOf,
  statementsOf,
} from "../../../src/orders/billing/billing.ts";
import { run } from "../../../src/orders/billing/draw-task.ts";
import { applyEvent } from "../../../src/orders/payments/events/apply-event.ts";
import { recordPayment } from "../../../src/orders/payments/records/payments.ts";
import { openOrdersDatabase, silent } from "../order/orders-database.ts";

const orders = await forTests(openOrdersDatabase());
const { db } = orders;
const issuerFile = new URL("../../../data/billing.yaml", import.meta.url).pathname;
await registerIssuer(db, readIssuer(issuerFile), new Date("2026-01-01T00:00:00Z"));
const [firm] = await db.query<{ partnerId: string }>(sql`SELECT id AS "partnerId" FROM partners`);
const owner = { partnerId: firm?.partnerId ?? "", environment: "live", firmName: "Acme Title" } as const;

let now = new Date("2026-01-05T12:00:00Z").getTime();
let count = 0;
const clock = () => new Date(now);
const stopping = new AbortController().signal;
const close = () => closeMonths({ db, clock, log: silent }, stopping);
const statements = () => statementsOf({ db, clock }, owner);

type Event = { id: string; type: string; data: { object: Record<string, unknown> } };
const eventOf = (type: string, object: Record<string, unknown>): Event => ({
  id: `evt_${++count}`,
  type,
  data: { object },
});
const take = (tx: Tx, event: Event) => {
  now += 1000;
  return applyEvent(tx, event, { at: clock(), log: silent, actor: "processor" });
};
const apply = (event: Event) => db.transaction((tx) => take(tx, event));

/** The processor's records: how much each intent charged for each order, and how much was refunded. */
type Charge = { intent: string; parts: Map<string, number>; refunds: { code: string; cents: number }[] };
const total = 9_900;

const paid = (intent: string, code: string): Event =>
  eventOf("checkout.session.completed", {
    id: `cs_${intent}`,
    metadata: { order_code: code },
    payment_status: "paid",
    payment_intent: intent,
    amount_total: total,
    currency: "usd",
  });
const refunded = (intent: string, cents: number, metadata: Record<string, string> = {}): Event =>
  eventOf("refund.updated", {
    id: `re_${++count}`,
    status: "succeeded",
    payment_intent: intent,
    amount: cents,
    metadata,
  });

const paymentOf = async (code: string, intent: string): Promise<string> =>
  (
    await db.query<{ id: string }>(sql`SELECT p.id::text AS id FROM payments p JOIN orders o ON o.id = p.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} AND p.payment_intent = ${intent}`)
  )[0]?.id ?? "";

async function payOrder(): Promise<{ code: string; charge: Charge; event: Event }> {
  const code = await orders.insert("QuoteReady");
  const intent = `pi_${++count}`;
  const event = paid(intent, code);
  await apply(event);
  return { code, charge: { intent, parts: new Map([[code, total]]), refunds: [] }, event };
}

const sumOf = (documents: readonly BillingDocument[], kind: BillingDocument["kind"]) =>
  documents.reduce((sum, each) => sum + (each.kind === kind ? each.amountCents : 0), 0);

async function requireNoGaps(): Promise<void> {
  const series = await db.query<{ count: number; last: number }>(sql`
    SELECT count(*)::int AS count, max(number) AS last FROM billing_documents GROUP BY partner_id, environment, kind, year`);
  for (const { count: size, last } of series) assert.equal(last, size);
}

/** Asserts that each month begins with the closing balance of the previous month, and that its sums are correct. */
function requireChain(all: readonly StatementWithLines["statement"][]): void {
  let balance = 0;
  let end: Date | null = null;
  for (const statement of all) {
    const { opening, payments, refunds, losses, charges, credits, closing } = statement.sums;
    assert.equal(opening, balance, statement.month);
    assert.equal(closing, opening + payments - refunds - losses - (charges - credits), statement.month);
    if (end) assert.deepEqual(statement.startsAt, end);
    [balance, end] = [closing, statement.endsAt];
  }
}

test("numbers receipts and credit notes without gaps when payments are concurrent and some are rolled back", async () => {
  const codes = await Promise.all(Array.from({ length: 16 }, () => orders.insert("QuoteReady")));
  const results = await Promise.allSettled(
    codes.map((code, n) =>
      db.transaction(async (tx) => {
        await take(tx, paid(`pi_race_${n}`, code));
        // Simulates a crash before the commit.
        if (n % 3 === 0) throw new Error("cut off");
      }),
    ),
  );
  assert.equal(results.filter(({ status }) => status === "rejected").length, 6);
  await requireNoGaps();
  for (const [n, code] of codes.entries()) if (n % 3 === 0) await apply(paid(`pi_race_${n}`, code));
  const numbers = (await Promise.all(codes.map((code) => documentsOfOrder(db, code, null)))).flat();
  assert.equal(new Set(numbers.map(({ number }) => number)).size, codes.length);
  await requireNoGaps();
});

test("gives a repeated event no second number, and a part refund with two events one credit note", async () => {
  const { code, charge, event } = await payOrder();
  await apply(event);
  await apply({ ...event, id: `evt_${++count}` });
  const metadata = {
    refund_request: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
    payment: await paymentOf(code, charge.intent),
  };
  await apply(refunded(charge.intent, 500, metadata));
  await apply(refunded(charge.intent, 500, metadata));
  const documents = await documentsOfOrder(db, code, owner);
  assert.deepEqual(
    documents.map(({ kind, amountCents }) => [kind, amountCents]),
    [
      ["receipt", total],
      ["credit_note", 500],
    ],
  );
  assert.equal(documents[1]?.receiptNumber, documents[0]?.number);
});

test("credits the rest after a full refund that follows a partial one, and nothing for a pending or too large refund", async () => {
  const { code, charge } = await payOrder();
  const pending = refunded(charge.intent, 700);
  Object.assign(pending.data.object, { status: "pending" });
  await apply(pending);
  await apply(refunded(charge.intent, 700));
  await apply(eventOf("charge.refunded", { payment_intent: charge.intent, refunded: true, amount: total }));
  await apply(refunded(charge.intent, total));
  const notes = (await documentsOfOrder(db, code, owner)).filter(({ kind }) => kind === "credit_note");
  assert.deepEqual(
    notes.map(({ amountCents }) => amountCents),
    [700, total - 700],
  );
});

test("issues the receipt and the credit note of a payment that arrives after its refund", async () => {
  const code = await orders.insert("QuoteReady");
  const intent = `pi_${++count}`;
  await apply(
    eventOf("charge.refunded", {
      payment_intent: intent,
      refunded: true,
      amount: total,
      metadata: { order_code: code },
    }),
  );
  assert.deepEqual(await documentsOfOrder(db, code, owner), []);
  await apply(paid(intent, code));
  assert.deepEqual(
    (await documentsOfOrder(db, code, owner)).map(({ kind, amountCents }) => [kind, amountCents]),
    [
      ["receipt", total],
      ["credit_note", total],
    ],
  );
});

test("a refund of one order of a shared payment credits only that order's part", async () => {
  const [one, other] = [await orders.insert("Paid"), await orders.insert("Paid")];
  const intent = `pi_${++count}`;
  await payShared(intent, [one, other]);
  const payment = await paymentOf(one, intent);
  await apply(refunded(intent, total, { refund_request: `payment:${payment}`, payment }));
  // Only a person can decide which order a manual refund is for, so no credit note is issued.
  await apply(refunded(intent, 300));
  assert.equal(sumOf(await documentsOfOrder(db, one, owner), "credit_note"), total);
  assert.equal(sumOf(await documentsOfOrder(db, other, owner), "credit_note"), 0);
});

const payShared = (intent: string, codes: readonly string[]) =>
  db.transaction(async (tx) => {
    now += 1000;
    for (const code of codes) {
      const [order] = await tx.query<{ id: number }>(
        sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
      );
      const payment = { paymentIntent: intent, sessionId: `cs_${intent}`, amount: total, currency: "usd" };
      await recordPayment(tx, { orderId: order?.id ?? 0, ...payment, simulated: false, at: clock() });
    }
  });

test("refuses to change or delete a document or a closed month", async () => {
  await payOrder();
  now += 40 * 86_400_000;
  await close();
  await assert.rejects(db.query(sql`UPDATE billing_documents SET number = number + 1`), /append-only/);
  await assert.rejects(db.query(sql`DELETE FROM billing_documents`), /append-only/);
  await assert.rejects(db.query(sql`DELETE FROM billing_statements`), /append-only/);
});

test("a closed month never changes: items that arrive late belong to the next one", async () => {
  now = new Date("2026-06-30T20:00:00Z").getTime();
  const { charge } = await payOrder();
  now = new Date("2026-07-01T03:00:00Z").getTime();
  await close();
  assert.equal((await statements()).at(-1)?.month, "2026-06", "June ends at midnight in New York");
  now = new Date("2026-07-01T04:00:00Z").getTime();
  await close();
  const june = (await statements()).find(({ month }) => month === "2026-06");
  assert.equal(june?.endsAt?.toISOString(), "2026-07-01T04:00:00.000Z");
  // A node whose clock is slow.
  now = new Date("2026-06-30T23:00:00Z").getTime();
  await apply(refunded(charge.intent, 900));
  now = new Date("2026-07-02T12:00:00Z").getTime();
  const all = await statements();
  assert.deepEqual(
    all.find(({ month }) => month === "2026-06"),
    june,
  );
  assert.equal(all.at(-1)?.sums.refunds, 900);
  requireChain(all);
});

test("shows a second payment of an order as a balance in the firm's favor until it is refunded", async () => {
  const before = (await statements()).at(-1)?.sums.closing ?? 0;
  const { code } = await payOrder();
  const second = `pi_${++count}`;
  await apply(paid(second, code));
  assert.equal((await statements()).at(-1)?.sums.closing, before + total);
  await apply(eventOf("charge.refunded", { payment_intent: second, refunded: true, amount: total }));
  assert.equal((await statements()).at(-1)?.sums.closing, before);
});

test("shows the discounts of the tier and of codes once for an order that was paid twice", async () => {
  const code = await orders.insert("QuoteReady");
  const lines = [
    { type: "WorkflowFee", label: "Fee", amountCents: total + 500 },
    { type: "Discount", label: "Code", amountCents: -300 },
  ];
  await changeOrder(
    db,
    code,
    sql`lines = ${JSON.stringify(lines)}::jsonb, subtotal_cents = ${total + 200}, discount_cents = 200`,
  );
  for (let times = 0; times < 2; times++) await apply(paid(`pi_${++count}`, code));
  const month = (await statements()).at(-1)?.month ?? "";
  const { lines: all } = await statementOf({ db, clock }, owner, month);
  assert.deepEqual(
    all.flatMap(({ orderCode, discountCents }) => (orderCode === code ? [discountCents] : [])),
    [500, 0],
  );
});

test("shows what banks took back apart from the money that is held, and says how each is settled", async () => {
  const sumsNow = async () => {
    const last = (await statements()).at(-1);
    assert.ok(last);
    return last;
  };
  const { closing, owed } = (await sumsNow()).sums;
  const { code, charge } = await payOrder();
  await apply(paid(`pi_${++count}`, code));
  const dispute = {
    id: `dp_${++count}`,
    payment_intent: charge.intent,
    amount: total,
    currency: "usd",
    status: "lost",
  };
  await apply({ ...eventOf("charge.dispute.closed", dispute), created: 1_772_600_000 } as Event);
  const { sums, ...rest } = await sumsNow();
  assert.deepEqual([sums.closing, sums.owed], [closing, owed + total], "one balance would hide both");
  const sentences = settlement({ sums, ...rest }).join(" ");
  assert.match(sentences, /is held for your firm.*returns it to the payer/);
  assert.match(sentences, /\$99\.00 is owed: banks took payments back.*contacts your firm about how to pay it/);
});

test("a month that has ended has its own statement before it is closed", async () => {
  now = new Date("2027-02-20T12:00:00Z").getTime();
  await close();
  await payOrder();
  now = new Date("2027-03-01T05:30:00Z").getTime();
  await payOrder();
  const [february, march] = (await statements()).slice(-2);
  assert.deepEqual(
    [february?.month, february?.isClosed, february?.endsAt?.toISOString(), february?.sums.payments],
    ["2027-02", false, "2027-03-01T05:00:00.000Z", total],
  );
  assert.deepEqual([march?.month, march?.endsAt, march?.sums.payments], ["2027-03", null, total]);
  requireChain(await statements());
  await close();
  const closed = (await statements()).at(-2);
  assert.deepEqual([closed?.isClosed, closed?.sums], [true, february?.sums], "closing changes no figure");
});

test("repeats the names of the columns on each page of a long statement", async () => {
  const heads = async (count: number) => {
    const table = { title: "By file number", columns: { Date: 0, Amount: 400 }, sums: [] };
    const rows = Array.from({ length: count }, (_, n) => [`Jan ${n}`, "$1.00"]);
    const paper = {
      kind: "Statement",
      title: "Statement 2026-01",
      about: [],
      facts: [],
      tables: [{ ...table, rows }],
      notes: [],
    };
    const data = { name: "statement.json", content: {} };
    const drawn = await run(Buffer.alloc(0), { ...paper, foot: "", isTest: false, createdAt: clock(), data });
    const pdf = Buffer.from(drawn).toString("latin1");
    return { names: pdf.split("/S/TH/").length - 1, pages: pdf.split(/\/Type\/Page\b/).length - 1 };
  };
  assert.deepEqual(await heads(5), { names: 2, pages: 1 });
  const { names, pages } = await heads(120);
  assert.ok(pages >= 3, `${pages} pages`);
  assert.equal(names, 2 * pages);
});

test("after any history, receipts less credit notes equal the processor's books, and statements form a chain", async () => {
  for (let seed = 1; seed <= repeats(12, 6, 40); seed++) {
    const random = seededRandom(seed);
    const charges: Charge[] = [];
    const sent: Event[] = [];
    /**
     * Sends an event. Sometimes a first attempt is interrupted before the commit, and sometimes the event is sent
     * twice.
     */
    const send = async (event: Event) => {
      sent.push(event);
      if (random(4) === 0)
        await assert.rejects(
          db.transaction(async (tx) => {
            await take(tx, event);
            throw new Error("cut off");
          }),
        );
      await Promise.all(random(3) === 0 ? [apply(event), apply(event)] : [apply(event)]);
    };
    for (let step = 0; step < 14; step++) {
      now += random(9) * 86_400_000;
      const charge = charges[random(charges.length)];
      const act = random(7);
      if (act <= 1 || !charge) {
        const [intent, code] = [`pi_${++count}`, await orders.insert("QuoteReady")];
        charges.push({ intent, parts: new Map([[code, total]]), refunds: [] });
        await send(paid(intent, code));
      } else if (act === 2) {
        const [intent, codes] = [`pi_${++count}`, [await orders.insert("Paid"), await orders.insert("Paid")]];
        charges.push({ intent, parts: new Map(codes.map((code) => [code, total])), refunds: [] });
        await payShared(intent, codes);
      } else if (act === 3) {
        await apply(sent[random(sent.length)] ?? paid("none", "none"));
      } else if (act === 4) {
        await close();
      } else {
        const code = [...charge.parts.keys()][random(charge.parts.size)] ?? "";
        const rest = charge.refunds.reduce((left, each) => left - (each.code === code ? each.cents : 0), total);
        if (rest === 0) continue;
        const cents = random(3) === 0 ? rest : 1 + random(rest);
        charge.refunds.push({ code, cents });
        const isByHand = charge.parts.size === 1 && random(2) === 0;
        const metadata = { refund_request: `request-${++count}`, payment: await paymentOf(code, charge.intent) };
        await send(refunded(charge.intent, cents, isByHand ? {} : metadata));
        if (charge.parts.size === 1 && cents === rest)
          await send(eventOf("charge.refunded", { payment_intent: charge.intent, refunded: true, amount: total }));
      }
    }
    for (const { parts, refunds } of charges)
      for (const [code, cents] of parts) {
        const back = refunds.reduce((sum, each) => sum + (each.code === code ? each.cents : 0), 0);
        const documents = await documentsOfOrder(db, code, owner);
        const held = sumOf(documents, "receipt") - sumOf(documents, "credit_note");
        assert.equal(held, cents - back, `seed ${seed}`);
      }
    await close();
    requireChain(await statements());
    await requireNoGaps();
  }
});

test("numbers earlier payments oldest first in their year, and gives a refund that came before its payment no receipt", async () => {
  const older = await forTests(openOrdersDatabase());
  const [script] = /WITH received AS[^;]*;/.exec(
    readFileSync(new URL("../../../migrations/0140_billing_documents.sql", import.meta.url), "utf8"),
  ) ?? [""];
  const insert = async (code: string, at: string, refundedAt: string | null, session: string) =>
    older.db.query(sql`
      INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at, refunded_at)
      SELECT id, ${`pi_${code}`}, ${session}, ${total}, 'usd', false, ${at}, ${refundedAt} FROM orders
      WHERE ${isSealed(sql`code`, "order", code)}`);
  const [first, second, third] = [
    await older.insert("Paid"),
    await older.insert("Refunded"),
    await older.insert("Refunded"),
  ];
  await insert(second, "2025-06-01T00:00:00Z", "2026-02-01T00:00:00Z", "cs_2");
  // In New York, it is still 2024 at this time.
  await insert(first, "2025-01-01T03:00:00Z", null, "cs_1");
  await insert(third, "2025-07-01T00:00:00Z", "2025-07-01T00:00:00Z", `intent:pi_${third}`);
  await older.db.transaction((tx) => tx.script(script));
  const rows = await older.db.query(sql`SELECT kind, year, number, refund FROM billing_documents ORDER BY booked_at`);
  assert.deepEqual(rows, [
    { kind: "receipt", year: 2024, number: 1, refund: null },
    { kind: "receipt", year: 2025, number: 1, refund: null },
    { kind: "credit_note", year: 2026, number: 1, refund: "whole" },
  ]);
});
