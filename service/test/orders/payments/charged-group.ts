import assert from "node:assert/strict";
import type { MethodOutcome } from "@signsealship/testing/doubles/stripe-firm";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import {
  chargeGroup,
  chargesOfCode,
  type ExpectedCharge,
  heldPayments,
} from "../../../src/orders/payments/payments.ts";
import type { MoneyWorld, PayingFirm } from "./money-world.ts";

export type Group = { firm: PayingFirm; codes: readonly [string, string, string]; sum: number };

/** Groups of three orders of different amounts, which a firm pays by one payment. */
export function groupsOf(world: MoneyWorld) {
  const { db, deps, stripe, orders } = world;

  /** Three orders of a new firm. */
  async function group(): Promise<Group> {
    await db.query(sql`DELETE FROM jobs`);
    const firm = await world.newFirm();
    const { partnerId } = firm.owner;
    const place = (totalCents: number) => orders.insert("QuoteReady", { partnerId, payBy: "firm", totalCents });
    const codes = [await place(9_500), await place(18_240), await place(1_020)] as const;
    return { firm, codes, sum: 9_500 + 18_240 + 1_020 };
  }

  const membersOf = (codes: readonly string[]) => () =>
    Promise.all(codes.map(async (code) => ({ id: await world.orderIdOf(code), code })));

  /** The fields of the form on the room's page: each order, and the price that the page shows for it. */
  const shownOf = (codes: readonly string[]) =>
    Promise.all(
      codes.map(async (code) => {
        const id = await world.orderIdOf(code);
        const [row] = await db.query<{ totalCents: number }>(
          sql`SELECT total_cents::float8 AS "totalCents" FROM orders WHERE id = ${id}`,
        );
        return { code, totalCents: row?.totalCents ?? 0 };
      }),
    );

  type Asked = { firm: PayingFirm; codes: readonly string[]; expected?: ExpectedCharge };
  const charge = ({ firm, codes, expected }: Asked) =>
    chargeGroup(deps, firm.principal, membersOf(codes), {
      ...(expected && { expected }),
      record: async () => {},
      resultOf: (result) => result,
    });

  async function runJobs(): Promise<void> {
    for (const job of await world.waitingJobs()) await world.run(job);
  }

  const intentsOf = ({ customer }: PayingFirm) =>
    [...stripe.firm.intents.values()].filter((intent) => intent["customer"] === customer);

  /** A group that was charged once. @returns the payment at the processor */
  async function charged(outcome: MethodOutcome = "succeeded") {
    const found = await group();
    stripe.firm.outcomes.set(found.firm.method, outcome);
    const { paymentId } = await charge(found);
    await runJobs();
    const [intent, ...more] = intentsOf(found.firm);
    assert.ok(intent && more.length === 0);
    return { ...found, paymentId, intent: String(intent["id"]) };
  }

  return {
    group,
    membersOf,
    shownOf,
    charge,
    charged,
    runJobs,
    intentsOf,
    statuses: (codes: readonly string[]) => Promise.all(codes.map(async (code) => (await orders.look(code)).status)),
    states: (codes: readonly string[]) =>
      Promise.all(codes.map(async (code) => (await chargesOfCode(db, code)).map(({ state }) => state))),
    paidBy: async (code: string) =>
      (await heldPayments(db, await world.orderIdOf(code))).map(({ amountCents }) => amountCents),
    /** The tasks of a kind about each of the orders, oldest first. */
    tasksOf: (codes: readonly string[], kind: string) =>
      Promise.all(
        codes.map(async (code) => {
          const orderId = await world.orderIdOf(code);
          return db.query<{ state: string; reason: string }>(
            sql`SELECT state, reason FROM tasks WHERE order_id = ${orderId} AND kind = ${kind} ORDER BY id`,
          );
        }),
      ),
  };
}
