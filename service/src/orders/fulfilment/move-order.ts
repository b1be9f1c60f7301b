import { sha256Hex } from "@signsealship/evidence/digest";
import { type SealReason, sealReasons } from "@signsealship/evidence/seal";
import { orDiscard } from "../../kernel/platform/blobs/blobs.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { maskCode } from "../../kernel/platform/ids.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { requireNoActUnderWay } from "../../providers/providers.ts";
import {
  eventsTo,
  faxesAhead,
  isPayable,
  type LockedOrder,
  lockOrder,
  type OrderState,
  orderNotFound,
  orderStatuses,
  type PeopleEvent,
  processorEvents,
  targetOf,
  wordsOf,
} from "../order/order.ts";
import { heldPayments, isPaymentInProcess, openDisputes } from "../payments/payments.ts";
import { faxStatuses, recordFaxAhead } from "./fax-ahead.ts";
import { type Facts, needsDocument, perform, requireFacts } from "./perform.ts";
import { type SealDeps, sealAndStore } from "./seal-and-store.ts";
import { findFacts, hasDocumentBytes, type OrderFacts } from "./store.ts";

export type MoveDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  blobs: SealDeps["blobs"];
  rowMac: SealDeps["rowMac"];
  /** Opens the sealer. Called only when the move has to seal a document. */
  openSealer: () => Promise<{ sealDocument: SealDeps["sealDocument"]; close: () => Promise<void> }>;
  /** Refuses a move of the locked order, such as while a provider works on it. @throws ServiceError `conflict` */
  requireByHand?: (tx: Tx, order: LockedOrder, on: PeopleEvent) => Promise<void>;
};

export type MoveRequest = {
  code: string;
  /** The name of the target status. Null ends a hold: the order returns to its status before the hold. */
  to: string | null;
  /** The actor for the audit log; `operator`, the command line, by default. */
  actor?: string;
  document: Buffer | null;
  facts: Facts;
};

/** Events that a person may report for work that a provider can also do. */
const doneByHand: ReadonlySet<PeopleEvent> = new Set([
  "shipped",
  "delivered",
  "shipping_failed",
  "fax_sent",
  "fax_delivered",
  "fax_failed",
]);

/**
 * True if the event reports work that a person or a provider can do. A person may not report it while a provider's act
 * is under way.
 */
export const isDoneByHand = (on: PeopleEvent): boolean => doneByHand.has(on);

/**
 * How to carry out a requested move.
 * @property first the event that must be applied before `on`: the start of the order's next service, or the reopening
 * of a signing that was declined or has expired
 * @property isAhead true if the event is about a fax that is sent early, before the order reaches its fax statuses
 */
type Plan = { first?: "next_segment" | "sign_reissued"; on: PeopleEvent; isAhead?: boolean };

/**
 * Moves an order on behalf of a person: by one step of the table, or by two if the first one starts the next service or
 * reopens a signing. For a fax that is sent early, only records the event.
 * @throws ServiceError when the order is unknown, a fact is missing or the table refuses the move; nothing changes then
 */
export async function moveOrder(deps: MoveDeps, request: MoveRequest): Promise<{ orderCode: string; status: string }> {
  const order = await findFacts(deps.db, request.code);
  if (!order) throw orderNotFound();
  const plan = planMove(order, request.to);
  if (!plan) throw refusal(deps.log, order, request.to);
  if (request.facts.adjustment && plan.on !== "priced")
    throw invalid("A price can be adjusted only on the way to QuoteReady.");
  requireFacts(plan.on, { ...request.facts, hasDocument: request.document !== null });
  requireTrackingNumber(request.facts.trackingNumber);
  if (request.document && !needsDocument(plan.on)) throw invalid("This move takes no document.");
  const document = request.document && (await seal(deps, request.document, { ...order, on: plan.on }));
  const facts = { ...request.facts, ...(document && { document }) };

  return orDiscard(deps.blobs, document?.blobKey ?? null, () =>
    deps.db.transaction(async (tx) => {
      const locked = await lockOrder(tx, request.code);
      if (!locked) throw orderNotFound();
      if (isDoneByHand(plan.on)) await requireNoActUnderWay(tx, locked.id);
      if (plan.on === "released") {
        await requireNoDispute(tx, locked.id);
        await requireNoWrongSum(tx, locked);
      }
      if (plan.on === "cancelled") await requireNoPayment(tx, locked.code, request.actor);
      await deps.requireByHand?.(tx, locked, plan.on);
      const actor = { actor: request.actor ?? "operator", at: deps.clock(), log: deps.log };
      if (plan.isAhead) {
        await recordFaxAhead(tx, locked, plan.on, facts, actor);
        return { orderCode: locked.code, status: locked.status };
      }
      // A reopened signing opens no envelope, because the job that would open it finds the order signed.
      const at = plan.first ? (await perform(tx, locked, plan.first, {}, actor)).order : locked;
      // If the fax was sent early, the start of the fax service has already moved the order to the status of the fax.
      if (plan.first && targetOf(at, plan.on) === null) return { orderCode: at.code, status: at.status };
      const { order: moved } = await perform(tx, at, plan.on, facts, actor);
      return { orderCode: moved.code, status: moved.status };
    }),
  );
}

/**
 * Refuses a tracking number with characters that no carrier uses, because the number is mailed to clients. A number
 * from a provider is not checked.
 * @throws ServiceError
 */
function requireTrackingNumber(number: string | undefined): void {
  if (number !== undefined && !/^[A-Z0-9 -]*\d[A-Z0-9 -]*$/i.test(number))
    throw invalid("Tracking number must have a digit, and no characters but letters, digits, spaces and dashes.");
}

/**
 * Refuses to release an order during a payment dispute, because its payment may be lost.
 * @throws ServiceError `conflict`
 */
async function requireNoDispute(tx: Tx, orderId: number): Promise<void> {
  const open = await openDisputes(tx, orderId);
  if (open.length > 0)
    throw new ServiceError(
      "conflict",
      `The order stays on hold while its payment is disputed at the bank (${open.join(", ")}). Release it when the bank has decided.`,
    );
}

/**
 * Refuses to release an order that is held for a payment of the wrong sum. The released order could be paid a second
 * time, while the service still has the first payment.
 * @throws ServiceError `conflict`
 */
async function requireNoWrongSum(tx: Tx, { id, statusBeforeHold }: LockedOrder): Promise<void> {
  if (statusBeforeHold === null || !isPayable(statusBeforeHold) || (await heldPayments(tx, id)).length === 0) return;
  throw new ServiceError(
    "conflict",
    "A payment of a wrong sum is held for this order. Ask for its refund, which another person approves: the order ends with it, and the document can be ordered again.",
  );
}

/**
 * Refuses a firm's cancellation while a payment is in progress. Otherwise the money would arrive for an order that is
 * shown as not charged. An operator may cancel, and then decides about the money.
 * @throws ServiceError `conflict`
 */
async function requireNoPayment(tx: Tx, code: string, actor = "operator"): Promise<void> {
  if (/^operator(:|$)/.test(actor) || !(await isPaymentInProcess(tx, code))) return;
  throw new ServiceError(
    "conflict",
    "A payment for this order is under way. Cancel the order if the payment fails, or ask for a refund when it has arrived.",
  );
}

const isPeopleEvent = (on: string): on is PeopleEvent => !processorEvents.has(on);

/**
 * The order's next status, once it gets a document that was signed or notarized (`on`) outside the service. Null when
 * its present status doesn't allow such a document. The same move reopens a signing that was declined or has expired.
 */
export function finishedTarget(order: OrderState, on: "signed" | "notarized"): string | null {
  const reopened = on === "signed" ? targetOf(order, "sign_reissued") : null;
  return targetOf(reopened === null ? order : { ...order, status: reopened }, on);
}

function planMove(order: OrderFacts, to: string | null): Plan | null {
  if (to === null) return targetOf(order, "released") ? { on: "released" } : null;
  const direct = eventsTo(order, to).find(isPeopleEvent);
  if (direct) return { on: direct };
  // After a signer has declined, or the time to sign has expired, people may have signed on paper.
  if (finishedTarget(order, "signed") === to) return { first: "sign_reissued", on: "signed" };
  const next = targetOf(order, "next_segment");
  const after = next && eventsTo({ ...order, status: next }, to).find(isPeopleEvent);
  // After the next service has begun, one step leads to `to`. Holds, refunds and cancellations need no such start:
  // `direct` has already found them.
  if (after) return { first: "next_segment", on: after };
  const ahead = order.environment === "live" && faxesAhead(order) ? faxStatuses.get(to) : undefined;
  return ahead ? { on: ahead, isAhead: true } : null;
}

function refusal(log: Log, order: OrderFacts, to: string | null): ServiceError {
  log.warn(
    { order: maskCode(order.orderCode), status: order.status, to, actor: "operator" },
    "a transition was refused",
  );
  if (to === null) return new ServiceError("conflict", `An order in ${order.status} is not on hold.`);
  const byProcessor = eventsTo(order, to)[0];
  if (byProcessor)
    return new ServiceError(
      "conflict",
      `Only the payment processor moves an order to ${to} (${wordsOf(byProcessor)}).`,
    );
  const allowed = orderStatuses.filter((status) => planMove(order, status) !== null);
  const instead = allowed.length > 0 ? `; it can move to ${allowed.join(", ")}` : "";
  return new ServiceError("conflict", `An order in ${order.status} cannot move to ${to}${instead}.`);
}

const reasonOf = (on: PeopleEvent, { environment }: OrderFacts): SealReason =>
  sealReasons[on === "signed" ? "signed_elsewhere" : "notarized_elsewhere"][environment];

async function seal(deps: MoveDeps, bytes: Buffer, order: OrderFacts & { on: PeopleEvent }) {
  if (await hasDocumentBytes(deps.db, order.id, await sha256Hex(bytes)))
    throw invalid("The file is the order's own document as it was: nothing was added.");
  const { sealDocument, close } = await deps.openSealer();
  try {
    const document = await sealAndStore({ ...deps, sealDocument }, bytes, reasonOf(order.on, order), order);
    return { ...document, origin: "operator" } as const;
  } finally {
    await close();
  }
}
