import type { Tx } from "../../kernel/platform/database/database.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { arrivalDue, businessDay, openTask } from "../../kernel/tasks/tasks.ts";
import { canBePaid, dollars, minPaymentCents } from "../dollars.ts";
import {
  type Actor,
  addAdjustment,
  insertSealedDocument,
  type LockedOrder,
  markHandedIn,
  type PeopleEvent,
  type TransitionResult,
  transition,
} from "../order/order.ts";
import { faxAhead } from "./fax-ahead.ts";
import type { SealedDocument } from "./store.ts";
import { endFax, endShipment, insertShipment, lastShipment, sendFax } from "./store.ts";

/** The facts about completed work. A person, the sandbox, or the adapter of a carrier or a notary reports them. */
export type Facts = {
  /** The signed or notarized document; its blob is already stored. */
  document?: SealedDocument;
  /** The custody certificate; present only for a document that was signed with this service. */
  custodyCertificate?: SealedDocument;
  carrier?: string | undefined;
  trackingNumber?: string | undefined;
  /** True for mail without a tracking number. Without this flag, a missing number is rejected as forgotten. */
  untracked?: boolean | undefined;
  /** The time at which the parcel arrived; by default, the time at which the arrival is recorded. */
  deliveredAt?: Date | undefined;
  reason?: string | undefined;
  /** An amount in US cents to add to the quote, and its reason. */
  adjustment?: { amountCents: number; label: string } | undefined;
};

const needsReason: ReadonlySet<PeopleEvent> = new Set([
  "held",
  "cancelled",
  "refund_requested",
  "sign_declined",
  "sign_expired",
  "notarization_failed",
  "identity_locked",
  "shipping_failed",
  "fax_failed",
]);

export const needsDocument = (on: PeopleEvent): boolean => on === "signed" || on === "notarized";

/**
 * Checks that the facts which an event needs are present.
 * @throws ServiceError naming the fact that is missing for the event
 */
export function requireFacts(on: PeopleEvent, facts: Facts & { hasDocument: boolean }): void {
  if (needsDocument(on) && !facts.hasDocument) throw invalid("This move needs the document.");
  if (on === "shipped") requireParcel(facts);
  if (needsReason.has(on) && !facts.reason) throw invalid("This move needs a reason.");
}

function requireParcel({ carrier, trackingNumber, untracked = false }: Facts): void {
  if (!carrier || !(trackingNumber || untracked))
    throw invalid("Enter the carrier and a tracking number. If this mail has no tracking number, say so.");
  if (trackingNumber && untracked) throw invalid("This move has a tracking number, and says that there is none.");
}

/**
 * Records completed work for a locked order and moves the order, in the caller's transaction. Every path that fulfils
 * orders calls this function, with two exceptions: `recordFaxAhead` records a fax that is sent early, and the sandbox
 * starts the next service with `transition`.
 * @throws ServiceError when a fact is missing or the transition table does not allow the move; the caller's transaction
 * must then roll back
 */
export async function perform(
  tx: Tx,
  order: LockedOrder,
  on: PeopleEvent,
  facts: Facts,
  actor: Actor,
): Promise<TransitionResult> {
  requireFacts(on, { ...facts, hasDocument: facts.document !== undefined });
  const happenedAt =
    on === "delivered" && facts.deliveredAt ? await arrivalAt(tx, order.id, facts.deliveredAt) : actor.at;
  await record(tx, order, on, facts, { ...actor, happenedAt });
  const moved = await transition(tx, order, on, { ...actor, happenedAt, reason: facts.reason ?? actor.reason });
  if (on !== "next_segment" || moved.order.status !== "FaxPending") return moved;
  return { ...moved, order: await catchUp(tx, moved.order, actor) };
}

/** If an order enters FaxPending after its fax was sent ahead, moves the order on to the status of that fax. */
async function catchUp(tx: Tx, order: LockedOrder, by: Actor): Promise<LockedOrder> {
  const ahead = await faxAhead(tx, order.id);
  if (ahead === null || ahead.isRetried) return order;
  const { on, reason, actor } = ahead;
  return (await perform(tx, order, on, { reason }, { ...by, actor, isNotified: on === "fax_failed" })).order;
}

/**
 * Returns the time to record for an arrival: `deliveredAt`, or the time of the hand-over if that is later on the same
 * day. People report only the day of an arrival.
 * @throws ServiceError for a day before the hand-over
 */
async function arrivalAt(tx: Tx, orderId: number, deliveredAt: Date): Promise<Date> {
  const { shippedAt = deliveredAt } = (await lastShipment(tx, orderId)) ?? {};
  const handedOver = businessDay(shippedAt);
  if (businessDay(deliveredAt) < handedOver)
    throw invalid(`Date of arrival must not be before ${handedOver}, when the parcel was handed over.`);
  return deliveredAt < shippedAt ? shippedAt : deliveredAt;
}

async function record(
  tx: Tx,
  order: LockedOrder,
  on: PeopleEvent,
  facts: Facts,
  { actor, at, happenedAt = at }: Actor,
): Promise<void> {
  const { document, custodyCertificate, carrier = "", trackingNumber = null, adjustment } = facts;
  switch (on) {
    case "signed":
    case "notarized":
      if (document) await tx.query(insertSealedDocument(order.id, document, order.environment, at));
      if (document?.origin) await markHandedIn(tx, order.id, document.kind);
      if (custodyCertificate) await tx.query(insertSealedDocument(order.id, custodyCertificate, order.environment, at));
      return;
    case "priced":
      if (adjustment) await addAdjustment(tx, order.id, adjustment.amountCents, adjustment.label);
      else requirePayable(order);
      return;
    case "shipped":
      await insertShipment(tx, order.id, carrier, trackingNumber, at);
      if (!actor.startsWith("provider:")) await askArrival(tx, order, { carrier, trackingNumber }, at);
      return;
    case "delivered":
      await endShipment(tx, order.id, "Delivered", happenedAt);
      return;
    case "shipping_failed":
      await endShipment(tx, order.id, "Failed", null);
      return;
    case "fax_sent":
      await sendFax(tx, order.id, order.faxTo ?? "", at);
      return;
    case "fax_delivered":
      if (order.status === "FaxPending") await sendFax(tx, order.id, order.faxTo ?? "", at);
      await endFax(tx, order.id, "Delivered", at);
      return;
    case "fax_failed":
      await endFax(tx, order.id, "Failed", null);
  }
}

/**
 * Refuses a price that is too small to be paid, for an order that a person priced.
 * @throws ServiceError
 */
function requirePayable({ totalCents }: LockedOrder): void {
  if (canBePaid(totalCents)) return;
  throw invalid(
    `The price is ${dollars(totalCents)}, and a payment must be at least ${dollars(minPaymentCents)}: adjust the price.`,
  );
}

/**
 * No carrier reports the delivery of a parcel that a person handed over, so a task asks a person whether it has
 * arrived.
 */
async function askArrival(
  tx: Tx,
  { id: orderId, environment }: LockedOrder,
  { carrier, trackingNumber }: { carrier: string; trackingNumber: string | null },
  at: Date,
): Promise<void> {
  if (environment !== "live") return;
  const reason = [carrier, trackingNumber].filter(Boolean).join(" ");
  await openTask(tx, { kind: "arrival", at, environment, orderId, reason, due: arrivalDue(carrier, at) });
}
