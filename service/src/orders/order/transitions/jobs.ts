import type { Environment } from "../../../kernel/identity/identity.ts";
import {
  dispatchQueue,
  type Effect,
  effectOf,
  envelopeQueue,
  faxQueue,
  type MailMoment,
  nextSegmentQueue,
  notaryAgainQueue,
  parcelQueue,
  recallQueue,
} from "./effects.ts";
import { faxesAhead, type OrderEvent, type OrderState } from "./table.ts";

type Order = OrderState & { id: number; environment: Environment };

type Job = { queue: string; payload: { orderId: number; at?: string } } | { mail: MailMoment };

/**
 * The jobs that a transition queues, in this sequence.
 * @param moved the order after the transition
 */
export function jobsOf(order: Order, moved: Order, on: OrderEvent, at: Date): Job[] {
  const { status, environment, sign, ship } = moved;
  const entered = effectOf(moved);
  const isReleased = on === "released";
  // The end of a hold doesn't apply the effects of the status again, because the hold didn't undo them.
  const effect: Effect = isReleased ? {} : entered;
  // Test orders don't have these jobs, because the sandbox performs their next step.
  const liveOnly = [
    entered.endsSegment && nextSegmentQueue,
    // The end of a hold also offers the order to providers, because a provider pauses its work during the hold.
    (entered.isDispatched || (isReleased && faxesAhead(moved))) && dispatchQueue,
    entered.isRecalled && isBeingShipped(order) && recallQueue,
    entered.movesParcel && ship && parcelQueue,
    // A hold or a refund stops a fax in progress. The end of a hold resumes it.
    pausesFax.has(on) && isBeingFaxed(order) && faxQueue,
  ];
  // Queues the envelope job also when a hold ends on an order that awaits signatures. Reminders and expiry of its
  // envelope don't run during a hold.
  const movesEnvelope = sign && (effect.movesEnvelope || status === "EsignPending");
  const waitsAgain = status === "NotarizationPending" && (isReleased || on === "notarization_reopened");
  const payload = { orderId: order.id };
  const jobs = (queues: readonly (string | false | undefined)[]) =>
    queues.flatMap((queue) => (queue ? { queue, payload } : []));
  return [
    ...jobs(environment === "live" ? liveOnly : []),
    ...(effect.mail ? [{ mail: effect.mail }] : []),
    ...jobs([effect.job, movesEnvelope && envelopeQueue]),
    // Queues the mails with the appointment links that were not mailed in the meantime, such as those for corrected
    // addresses. Until now the linked page was not available.
    ...(waitsAgain ? [{ queue: notaryAgainQueue, payload: { ...payload, at: at.toISOString() } }] : []),
  ];
}

const pausesFax: ReadonlySet<OrderEvent> = new Set(["held", "released", "refund_requested"]);

/** True if a provider could be shipping the order now. For an order on hold, checks the status before the hold. */
const isBeingShipped = ({ status, statusBeforeHold }: Order): boolean =>
  ["ShippingPending", "Shipped", "ShippingFailed"].includes(statusBeforeHold ?? status);

/** True if a fax may be in progress: in a fax status, or earlier when the fax is sent ahead of the shipment. */
function isBeingFaxed({ fax, status, statusBeforeHold }: Order): boolean {
  const before = statusBeforeHold ?? status;
  return before === "FaxPending" || before === "FaxSent" || faxesAhead({ fax, status: before });
}
