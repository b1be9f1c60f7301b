import type { Owner } from "../../kernel/identity/identity.ts";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { openTasksOf } from "../../kernel/tasks/tasks.ts";
import { actsOfOrder } from "../../providers/providers.ts";
import { failedAhead, lastFax } from "../fulfilment/fulfilment.ts";
import {
  type Correction,
  correctionsOf,
  faxesAhead,
  findToCorrect,
  hasDocument,
  type LockedOrder,
  type OrderStatus,
  orderNotFound,
} from "../order/order.ts";
import { type Supplement, supplementsOf } from "../payments/payments.ts";
import type { Address } from "../pricing/pricing.ts";
import { type Act, acts, type Trouble, whyNot } from "./allowed.ts";

/** The functions about an order's parcel or letter that corrections call. The shipping code implements them. */
export type Parcels = {
  /** The reason why the address of the parcel can't change any more; null when it can. */
  whyFixed: (db: Sql, orderId: number) => Promise<string | null>;
  /** Cancels the labels of a locked order whose address has just changed, and requests a new label. */
  readdress: (tx: Tx, order: LockedOrder, at: Date) => Promise<void>;
};

/** Reads the facts that decide how the firm may correct an order. */
export async function troubleOf(
  db: Sql,
  parcels: Pick<Parcels, "whyFixed">,
  order: Omit<Trouble, Computed> & { id: number },
  at: Date,
): Promise<Trouble> {
  const corrections = await correctionsOf(db, order.id);
  const sealed = await db.query(sql`SELECT WHERE ${hasDocument(sql`${order.id}::bigint`, "sealed", "notarized")}`);
  const since = at.getTime() - dayMs;
  const againBy = (on: string) =>
    corrections.filter(({ kind, after }) => kind === "again" && after["on"] === on).length;
  return {
    ...order,
    isSealed: sealed.length > 0,
    // A fax that a hold canceled still has the status "Sent" here, because the service sends it again after the hold.
    lastFax: (await lastFax(db, order.id))?.status ?? null,
    hasFaxFailedEarly: faxesAhead(order) && (await failedAhead(db, [order.id])).has(order.id),
    faxIsFixed: await whyFaxIsFixed(db, order.id),
    emailChanges: emailChangesIn(corrections, at),
    faxChanges: corrections.filter(({ kind, at }) => kind === "fax" && at.getTime() > since).length,
    shippedAgain: againBy("shipping_retried"),
    faxedAgain: againBy("fax_retried"),
    refundIsAsked:
      (await openTasksOf(db, { orderId: order.id, kinds: ["refund_asked", "refund_approval"] })).length > 0,
    parcelIsFixed: order.status === "ShippingPending" ? await parcels.whyFixed(db, order.id) : null,
  };
}

/** How often email addresses were corrected in the 24 hours before `at`. One correction can have several records. */
export const emailChangesIn = (corrections: readonly Correction[], at: Date): number =>
  new Set(
    corrections
      .filter((each) => (each.kind === "email" || each.kind === "signer") && each.at.getTime() > at.getTime() - dayMs)
      .map((each) => each.at.getTime()),
  ).size;

/**
 * The reason why the fax number is fixed: a provider or a person may be sending the fax. Both lock the order before
 * they begin, so the result stays valid while the caller holds the order's lock.
 */
async function whyFaxIsFixed(db: Sql, orderId: number): Promise<string | null> {
  const faxActs = (await actsOfOrder(db, orderId)).filter(({ act }) => act === "fax.send");
  if (faxActs.some(({ state }) => state === "begun" || state === "unknown")) return "The fax is on its way.";
  const tasks = await openTasksOf(db, { orderId, kinds: ["fax_send"] });
  return tasks.some(({ state }) => state === "claimed")
    ? "A person is sending the fax now. Ask the operator of this service."
    : null;
}

type Computed =
  | "isSealed"
  | "lastFax"
  | "hasFaxFailedEarly"
  | "faxIsFixed"
  | "faxChanges"
  | "emailChanges"
  | "shippedAgain"
  | "faxedAgain"
  | "refundIsAsked"
  | "parcelIsFixed";

/**
 * The subject of the task that is opened when a firm reports a missing parcel. The task that the service opens by
 * itself has no subject.
 */
export const missingSubject = "firm";

/**
 * `may_ask` if the firm may report that its parcel has not arrived; `asked` while the task of such a report is open.
 * Null when no parcel is in transit, as for every test order.
 */
export async function missingParcel(
  db: Sql,
  { id: orderId, status }: { id: number; status: OrderStatus },
  { environment }: Pick<Owner, "environment">,
): Promise<"may_ask" | "asked" | null> {
  if (status !== "Shipped" || environment !== "live") return null;
  const open = await openTasksOf(db, { orderId, kinds: ["arrival"], subject: missingSubject });
  return open.length > 0 ? "asked" : "may_ask";
}

/**
 * The corrections that a firm has made to its order, and their cost in addition to its total. For each action: why it
 * isn't possible now, or null.
 */
export type Corrected = {
  status: string;
  corrections: Correction[];
  supplements: Supplement[];
  /** The parcel's present address; null when shipping was not bought. */
  shipTo: Address | null;
  refusals: Readonly<Record<Act, string | null>>;
  /** See `missingParcel`. */
  missing: "may_ask" | "asked" | null;
};

/**
 * Reads an order's corrections so far and, for each action, the reason why it is refused now.
 * @throws ServiceError `not_found` for an order of another owner
 */
export async function readCorrected(
  { orders: { db, clock }, parcels }: { orders: { db: Sql; clock: Clock }; parcels: Pick<Parcels, "whyFixed"> },
  orderCode: string,
  owner: Owner,
): Promise<Corrected> {
  const order = isCode(orderCode) ? await findToCorrect(db, orderCode, owner) : undefined;
  if (!order) throw orderNotFound();
  const trouble = await troubleOf(db, parcels, order, clock());
  const refusals = Object.fromEntries(acts.map((act) => [act, whyNot(trouble, act)])) as Corrected["refusals"];
  const corrections = await correctionsOf(db, order.id);
  return {
    status: order.status,
    corrections,
    supplements: await supplementsOf(db, order.id),
    shipTo: order.shipTo,
    refusals,
    missing: await missingParcel(db, order, owner),
  };
}
