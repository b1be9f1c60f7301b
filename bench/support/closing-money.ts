import { newClient } from "@signsealship/testing/client";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { authenticatePayments } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sendClosings } from "../../service/src/closing/rooms/rooms.ts";
import { sql } from "../../service/src/kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../service/src/kernel/platform/database/state-mac.ts";
import { billingDocumentState } from "../../service/src/orders/payments/payments.ts";
import { mailsTo, newMember, postForm } from "../../service/test/firms/members/signed-in-member.ts";
import { openLiveService } from "../../service/test/orders/fulfilment/live-service.ts";
import { atMost, type Result } from "../result.ts";
import { p95, timed, timesOf } from "./times.ts";

const firms = 100;
const lines = 5000;
const paymentsOfOrder = 10;

/**
 * Times the checkout of 50 orders, the next document of a signing session, and the morning's digest mails. Also times
 * the CSV of a monthly account statement of 5,000 lines.
 */
export async function closingMoney(): Promise<Result[]> {
  const live = await openLiveService({ LOG_LEVEL: "error" });
  const { stripe, db } = live;
  const { service } = live.harness;
  const at = (path: string) => service.baseUrl + path;
  const { post } = newClient(service.baseUrl, live.key);

  async function room(count: number, email: string): Promise<string> {
    const { roomCode } = await post<{ roomCode: string }>("/api/rooms", { name: `Elm ${email}` });
    for (let n = 0; n < count; n++) {
      const body = orderForm(
        { ...minimal, svc_sign: "true", email, name: "Ann Roe" },
        makePdf({ text: `Deed ${n} ${email}` }),
      );
      const { orderCode } = await post<{ orderCode: string }>("/api/partner/orders", body);
      await post(`/api/rooms/${roomCode}/orders`, { orderCode });
    }
    return roomCode;
  }
  const mint = (code: string) => post<{ checkoutUrl: string }>(`/api/rooms/${code}/checkout`);
  const pay = async ({ checkoutUrl }: { checkoutUrl: string }) => {
    const answer = await stripe.deliver(service.baseUrl, stripe.pay(stripe.sessionOf(checkoutUrl)));
    if (answer.status !== 200) throw new Error(await answer.text());
  };

  const small = await room(5, "session@example.com");
  await pay(await mint(small));
  const link = await until(
    () => mailsTo(service, "session@example.com").flatMap((mail) => /\/sign\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
  );
  const next = await timesOf(30, async (round) => (await fetch(at(`${link}/${1 + (round % 5)}`))).text());

  const [minted, paid]: [number[], number[]] = [[], []];
  for (let round = 0; round < 3; round++) {
    const code = await room(50, `big${round}@example.com`);
    const [mintMs, checkout] = await timed(() => mint(code));
    minted.push(mintMs);
    paid.push((await timed(() => pay(checkout)))[0]);
  }

  for (let n = 0; n < firms; n++) {
    const firm = await newPartner(service, { live: true, name: `Firm ${n}` });
    const { headers } = await newMember(service, `agent${n}@firm.example`, firm.key);
    await postForm(at("/dashboard/environment"), { environment: "live" }, headers);
    const form = orderForm({ ...minimal, svc_sign: "true" }, makePdf({ text: `Firm ${n}` }));
    const placed = await fetch(at("/dashboard/orders/new"), {
      method: "POST",
      redirect: "manual",
      headers,
      body: form,
    });
    const orderCode = /orders\/([0-9a-f]{40})/.exec(placed.headers.get("location") ?? "")?.[1];
    const api = newClient(service.baseUrl, firm.key);
    const { roomCode } = await api.post<{ roomCode: string }>("/api/rooms", { name: `Closing ${n}` });
    await api.post(`/api/rooms/${roomCode}/orders`, { orderCode });
  }
  const clock = () => new Date("2026-11-23T15:00:00Z");
  const [digest] = await timed(async () => {
    const queued = await sendClosings({ db, clock });
    if (queued < firms) throw new Error(`${queued} members`);
    await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'closings-mail'`)).length === 0);
  });

  const csv = await statement();
  await live.close();
  return [
    atMost("closing: mint a checkout of 50 orders, median", minted, [100], "ms", 1),
    atMost("closing: event over 50 orders, median", paid, [500], "ms", 1),
    atMost("closing: next document of a session, 95th percentile", [p95(next)], [300], "ms", 1),
    atMost(`closing: digest, ${firms} firms, a tenth of the budget`, [digest], [6000], "ms", 1),
    atMost(`closing: CSV of ${lines.toLocaleString("en-US")} lines, median`, csv, [2000], "ms", 1),
  ];

  /** Times the CSV of a firm's account statement for the current month, with a receipt for each of `lines` payments. */
  async function statement(): Promise<number[]> {
    const firm = await newPartner(service, { live: true, name: "Harbor Title" });
    const { headers } = await newMember(service, "owner@harbor.example", firm.key);
    await postForm(at("/dashboard/environment"), { environment: "live" }, headers);
    const client = newClient(service.baseUrl, firm.key);
    // An order has few payments, so the lines belong to many orders.
    for (let n = 0; n < lines / paymentsOfOrder; n++)
      await client.post(
        "/api/partner/orders",
        orderForm({ ...minimal, svc_sign: "true" }, makePdf({ text: "Harbor" })),
      );
    await db.query(sql`
      INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at)
      SELECT o.id, 'pi_bench_' || o.id || '_' || n, 'cs_bench_' || o.id || '_' || n, 9900, 'usd', false, now() - n * interval '1 ms'
      FROM orders o, generate_series(1, ${paymentsOfOrder}::int) n
      WHERE o.partner_id = ${firm.partnerId}`);
    await db.query(sql`
      INSERT INTO billing_documents (partner_id, environment, kind, year, number, payment_id, booked_at, buyer_name)
      SELECT ${firm.partnerId}::uuid, 'live', 'receipt', extract(year FROM now())::int, 1000000 + row_number() OVER (ORDER BY p.id), p.id, p.received_at, 'Harbor Title'
      FROM payments p WHERE p.payment_intent LIKE 'pi_bench_%'`);
    await authenticatePayments(db, sql`payment_intent LIKE 'pi_bench_%'`);
    await writeStateMacs(db, billingDocumentState, sql`number > 1000000`);
    const month = new Date().toISOString().slice(0, 7);
    return timesOf(5, async () => {
      const answer = await fetch(at(`/dashboard/statements/${month}/csv`), { headers });
      const text = await answer.text();
      if (answer.status !== 200 || text.split("\n").length < lines) throw new Error(text.slice(0, 300));
    });
  }
}
