import assert from "node:assert/strict";
import { type StripeDouble, startStripe } from "@signsealship/testing/doubles/stripe";
import { makeJobsDue } from "@signsealship/testing/due-jobs";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";

export type Placed = { orderCode: string; checkoutUrl: string };
export type TaskRow = {
  id: number;
  kind: string;
  state: string;
  reason: string | null;
  claimedBy: string | null;
  dueAt: Date;
};

/**
 * A service whose firm has live access, with a test double as its payment processor.
 * @param env additional settings
 */
export async function openLiveService(env: Record<string, string>) {
  const stripe: StripeDouble = await startStripe();
  const harness: Harness = await openHarness({
    ...stripe.settings("live"),
    ...env,
  });
  const { db } = harness;
  const url = () => harness.service.baseUrl;
  const { key, headers } = await newPartner(harness.service, { live: true, name: "Acme Title" });

  async function place(fields: Record<string, string>, { document, by = headers }: PlaceOptions = {}): Promise<Placed> {
    const body = orderForm({ ...minimal, create_checkout: "true", ...fields }, document);
    const response = await fetch(`${url()}/api/partner/orders`, { method: "POST", headers: by, body });
    const placed = (await response.json()) as Placed;
    assert.equal(response.status, 201, JSON.stringify(placed));
    return placed;
  }

  return {
    harness,
    stripe,
    db,
    url,
    key,
    headers,
    place,
    /** Places an order and pays it. @returns its code */
    async paidOrder(fields: Record<string, string>, options?: PlaceOptions): Promise<string> {
      const { orderCode, checkoutUrl } = await place(fields, options);
      await stripe.deliver(url(), stripe.pay(stripe.sessionOf(checkoutUrl)));
      return orderCode;
    },
    statusOf: async (code: string) =>
      (
        await db.query<{ status: string }>(sql`SELECT status FROM orders WHERE ${isSealed(sql`code`, "order", code)}`)
      )[0]?.status,
    tasksOf: (code: string) =>
      db.query<TaskRow>(sql`
        SELECT t.id, kind, state, reason, claimed_by AS "claimedBy", due_at AS "dueAt" FROM tasks t JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY t.id`),
    /** Runs the waiting jobs of a queue at once. */
    hurry: (queue: string) => makeJobsDue(db, queue),
    async close() {
      await harness.close();
      await stripe.close();
    },
  };
}

type PlaceOptions = { document?: Buffer; by?: { Authorization: string } };
