/** The reasons why orders can't be paid now. Checkouts, charges and the pages that show what is due ask here. */
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { isAltered, type Marked, markedAll, verifiedAll } from "../../../kernel/platform/database/state-mac.ts";
import { deletedMessage, joinMark } from "../../../kernel/retention/retention.ts";
import {
  documentsDeletedAt,
  fromDocuments,
  fromOrders,
  isPayable,
  type LockedOrder,
  type NotarySupply,
  notaryGapOfQuote,
  type OrderStatus,
} from "../../order/order.ts";
import { chargeState, isOpen } from "../records/charges.ts";
import { disputeState } from "../records/disputes.ts";
import { dueCents, supplementReplacesLoss } from "../records/supplements.ts";
import { isOf, sessionState } from "./store.ts";

/**
 * The kind of reason why an order can't be paid now. `not_due`: nothing is owed, or the order's document was deleted.
 * `stuck`: a person must correct the order first. `disputed`: the due amount replaces a payment about which a bank
 * still decides. `in_process`: a payment is in progress. `altered`: a record about the order's payment was altered.
 */
export type RefusalKind = "not_due" | "stuck" | "disputed" | "in_process" | "altered";

export type Refusal = { kind: RefusalKind; message: string };

const bankDecides = "A bank still decides on a payment of this order. Wait for its answer.";
const inProcess = "A bank payment is being processed. Wait until the bank has answered.";
const firmPays = "A payment by your firm is under way. Wait until it has ended.";
const altered: Refusal = { kind: "altered", message: "A record of this order was altered, so it can’t be paid now." };

type Facts = {
  id: number;
  status: OrderStatus;
  /** The supplement that is due after the first payment: its amount, and whether it replaces a loss. Nulls for none. */
  supplementCents: number | null;
  replacesLoss: boolean | null;
  documentsDeletedAt: Date | null;
  isDisputed: boolean;
  /** The ids of the firm's charges in progress. */
  openCharges: string[];
  hasPendingFunds: boolean;
};

/**
 * Reads the facts in one statement, however many orders there are: the page of a room asks about up to 50.
 * @param seen `verifiedAll` throws for an altered row; `markedAll` marks the order with that row
 */
function factsOf<Row extends Facts>(
  db: Sql,
  orderIds: readonly number[],
  seen: typeof verifiedAll | typeof markedAll,
): Promise<Row[]> {
  const charges = sql`FROM firm_charges c WHERE c.order_id = o.id`;
  const sessions = sql`FROM checkout_sessions s WHERE ${isOf(sql`ARRAY[o.id]`)}`;
  const disputes = sql`FROM disputes d WHERE ${supplementReplacesLoss}
    AND d.payment_intent IN (SELECT p.payment_intent FROM payments p WHERE p.order_id = o.id)`;
  return db.query<Row>(sql`
    SELECT o.id, o.status, ${dueCents}, ${documentsDeletedAt(sql`o.id`)},
      EXISTS (SELECT ${disputes} AND d.state = 'opened') AS "isDisputed", ${seen(disputeState, sql`d`, disputes)},
      ARRAY(SELECT c.id::text ${charges} AND ${isOpen(sql`c`)}) AS "openCharges", ${seen(chargeState, sql`c`, charges)},
      EXISTS (SELECT ${sessions} AND s.status = 'pending_funds') AS "hasPendingFunds", ${seen(sessionState, sql`s`, sessions)}
    ${fromOrders} WHERE o.id = ANY (${orderIds}::bigint[])`);
}

/**
 * SQL condition on an order `o`: true if `refusalsOf` may refuse it, apart from the firm's charges. Any dispute or
 * session counts, because an altered one refuses, too. A page asks `refusalsOf` only about such orders, so it can
 * mostly skip that statement. Not verified, so it may only save reads.
 */
export const mayBeRefused: Statement = sql`(o.notarize
  OR EXISTS (SELECT FROM payments p JOIN disputes d ON d.payment_intent = p.payment_intent WHERE p.order_id = o.id)
  OR EXISTS (SELECT ${fromDocuments} ${joinMark(sql`d.blob_key`)} WHERE d.order_id = o.id)
  OR EXISTS (SELECT FROM checkout_sessions s WHERE ${isOf(sql`ARRAY[o.id]`)}))`;

async function refusalBy(db: Sql, supply: NotarySupply, facts: Facts, ownCharge?: string): Promise<Refusal | null> {
  const { id, status, documentsDeletedAt: deletedAt } = facts;
  const isFirst = isPayable(status);
  if (!isFirst && facts.supplementCents === null)
    return { kind: "not_due", message: `An order in ${status} is not payable.` };
  if (!isFirst && facts.isDisputed) return { kind: "disputed", message: bankDecides };
  if (deletedAt) return { kind: "not_due", message: deletedMessage("The document of this order", deletedAt) };
  const gap = isFirst ? await notaryGapOfQuote(supply, db, id) : null;
  if (gap !== null) {
    const message = `The notarization of this order can’t be performed as quoted. ${gap} Cancel it and place it again.`;
    return { kind: "stuck", message };
  }
  if (facts.openCharges.some((each) => each !== ownCharge)) return { kind: "in_process", message: firmPays };
  return facts.hasPendingFunds ? { kind: "in_process", message: inProcess } : null;
}

/**
 * The reasons why orders can't be paid now, by order id. Leaves out those that can be paid. An altered row about one
 * order refuses only that order. Before a payment, the caller must have locked the orders; for a page it need not.
 * @throws ServiceError `unavailable` for an altered supplement
 */
export async function refusalsOf(
  db: Sql,
  supply: NotarySupply,
  orderIds: readonly number[],
): Promise<ReadonlyMap<number, Refusal>> {
  const refusals = new Map<number, Refusal>();
  const all = orderIds.length === 0 ? [] : await factsOf<Facts & Marked>(db, orderIds, markedAll);
  for (const { isAuthentic, ...facts } of all) {
    const refusal = isAuthentic ? await refusalBy(db, supply, facts).catch(alteredOrThrow) : altered;
    if (refusal) refusals.set(facts.id, refusal);
  }
  return refusals;
}

/** For `catch` after a read about one order. Errors other than that of an altered record are thrown again. */
function alteredOrThrow(error: unknown): Refusal {
  if (!isAltered(error)) throw error;
  return altered;
}

/**
 * The reason why the order can't be paid now; null when it can. Unlike `refusalsOf`, throws for an altered row.
 * @param ownCharge the id of the firm's charge that is about to be sent; it doesn't prevent the payment
 * @throws ServiceError `unavailable` for an altered row
 */
export async function refusalOf(
  db: Sql,
  supply: NotarySupply,
  { id }: Pick<LockedOrder, "id">,
  ownCharge?: string,
): Promise<Refusal | null> {
  const [facts] = await factsOf(db, [id], verifiedAll);
  if (!facts) throw new Error("the order to be paid was read before");
  return refusalBy(db, supply, facts, ownCharge);
}

/** The message of `refusalOf`: why the locked order can't be paid now; null when it can. */
export const paymentRefusal = async (
  tx: Tx,
  supply: NotarySupply,
  order: LockedOrder,
  ownCharge?: string,
): Promise<string | null> => (await refusalOf(tx, supply, order, ownCharge))?.message ?? null;
