import assert from "node:assert/strict";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { statementsOf } from "@signsealship/testing/statements";
import { writeReceivers } from "../../../../src/closing/deliveries/deliveries.ts";
import { insertDownload } from "../../../../src/closing/deliveries/store.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";

const stripe = await forTests(startStripe());
const running = await forTests(openHarness(stripe.settings("live")));
const { service, db } = running;

async function newFirm(live: boolean) {
  const partner = await newPartner(service, { live, tier: "ClosingDesk" });
  const { post } = newClient(service.baseUrl, partner.key);
  const { headers } = await newMember(service, `${live ? "live" : "test"}@acme.example`, partner.key);
  const place = async (fields: Record<string, string> = {}) =>
    (await post<{ orderCode: string }>("/api/partner/orders", orderForm({ ...minimal, svc_sign: "true", ...fields })))
      .orderCode;
  return {
    post,
    place,
    headers,
    async room(...orders: string[]) {
      const { roomCode } = await post<{ roomCode: string }>("/api/rooms", { name: "12 Elm Street" });
      for (const orderCode of orders) await post(`/api/rooms/${roomCode}/orders`, { orderCode });
      return roomCode;
    },
    async page(path: string): Promise<string> {
      const answer = await fetch(service.baseUrl + path, { headers });
      assert.equal(answer.status, 200);
      return answer.text();
    },
  };
}

const [acme, payer] = [await newFirm(false), await newFirm(true)];

/**
 * Adds to a room a participant, a closing passport, a sent document that was downloaded, and a person who waits for a
 * document.
 */
async function fill(room: string, finished: string, waiting: string): Promise<void> {
  await acme.post(`/api/rooms/${room}/participants`, { name: "Jane Roe", email: "jane@example.com" });
  await acme.post(`/api/partner/sandbox/orders/${finished}/checkout`);
  for (let status = ""; status !== "Completed"; )
    ({ status } = await acme.post<{ status: string }>(`/api/partner/sandbox/orders/${finished}/advance`));
  await acme.post(`/api/rooms/${room}/passport`);
  const form = { name: "Lena", email: "lena@lender.example", days: "14", submission: room, [`send-${finished}`]: "on" };
  const sent = await postForm(`${service.baseUrl}/dashboard/rooms/${room}/deliveries`, form, acme.headers);
  assert.equal(sent.status, 303);
  const [delivery] = await db.query<{ id: string }>(sql`SELECT id FROM closing_deliveries`);
  assert.ok(delivery);
  await db.transaction((tx) => insertDownload(tx, delivery.id, { at: new Date(), file: null, network: null }));
  const [order] = await db.query<{ orderId: number; roomId: string }>(sql`
    SELECT o.id AS "orderId", a.room_id AS "roomId" FROM orders o JOIN room_orders a ON a.order_id = o.id
    WHERE ${isSealed(sql`o.code`, "order", waiting)}`);
  assert.ok(order);
  const waits = [{ name: "Lee", email: "lee@lender.example" }];
  await db.transaction((tx) => writeReceivers(tx, { ...order, by: "member:test", at: new Date() }, waits));
}

/** Fails if the number of statements differs. The error shows how each statement begins. */
async function requireStatements(count: number, work: () => Promise<unknown>): Promise<void> {
  const starts = (await statementsOf(running, work)).map((statement) => statement.slice(0, 200));
  assert.equal(starts.length, count, starts.join("\n\n"));
}

test("reads only the session and the failing webhooks for a page of the dashboard without data of its own", () =>
  requireStatements(2, () => acme.page("/dashboard/prices")));

test("opens the overview of a room with everything in it by 7 statements", async () => {
  const [finished, waiting] = [await acme.place(), await acme.place()];
  const room = await acme.room(finished, waiting);
  await fill(room, finished, waiting);
  const look = () => acme.page(`/dashboard/rooms/${room}`);
  const page = await look();
  for (const shown of [/lee@lender\.example<\/strong>: 1 document/, /Download begun/, /Version 1/, /jane@example\.com/])
    assert.match(page, shown);
  await requireStatements(7, look);
});

test("opens the overview of a room whose orders client and firm can pay by 6 statements", async () => {
  const room = await payer.room(await payer.place(), await payer.place({ pay_by: "firm" }), await payer.place());
  const look = () => payer.page(`/dashboard/rooms/${room}`);
  assert.match(
    await look(),
    /Open the checkout for \$[\d.]+<[\s\S]*Open the checkout for \$[\d.]+, which your firm pays/,
  );
  await requireStatements(6, look);
});
