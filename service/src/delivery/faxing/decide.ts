import { minuteMs } from "../../kernel/platform/clock.ts";
import type { OrderStatus } from "../../orders/order/order.ts";
import { isPassing, reasonWords } from "./reasons.ts";
import { type FaxProgress, isUnderWay } from "./states.ts";

/** The delays before retries after temporary failures. When the last retry fails, the order's fax has failed. */
const pausesMs = [5 * minuteMs, 15 * minuteMs, 60 * minuteMs];

/** The status of an order, or of a fax sent early. `FaxedByHand`: staff faxed the document, so nothing more is sent. */
export type FaxStatus = OrderStatus | "FaxedByHand";

/** The facts about one attempt that `decide` needs. */
export type FaxAttemptState = Pick<FaxProgress, "state" | "reason" | "endedAt"> & {
  /** The number of temporary failures since the firm or staff last requested a retry or corrected the fax number. */
  retries: number;
  dueAt: Date;
  /** True if this service has requested that Telnyx cancel the attempt. */
  isCanceled: boolean;
  /**
   * True if the service takes no further step because of this attempt. Either the order's fax has failed because of it,
   * or Telnyx doesn't know the attempt's fax. The firm or staff decide how to continue.
   */
  isSettled: boolean;
};

export type FaxStep =
  | { do: "move"; on: "fax_sent" | "fax_delivered" }
  | { do: "move"; on: "fax_failed"; reason: string }
  /** Creates another attempt, which is sent at `dueAt`. */
  | { do: "attempt"; retries: number; dueAt: Date }
  /** Sends the last attempt, which is due. */
  | { do: "send" }
  /** Withdraws the last attempt before it is sent. */
  | { do: "withdraw" }
  /** Cancels faxes in progress. The order is on hold or refunded, for example, or staff already faxed the document. */
  | { do: "cancel" };

/**
 * Decides the next step for an order, from its status and its attempts.
 * @param attempts oldest first
 */
export function decide(status: FaxStatus, attempts: readonly FaxAttemptState[], now: Date): FaxStep | null {
  const last = attempts.at(-1);
  if (!last) return null;
  const isFaxed = status === "FaxPending" || status === "FaxSent";
  if (isFaxed && attempts.some(({ state }) => state === "delivered")) return { do: "move", on: "fax_delivered" };
  if (!isFaxed) {
    if (attempts.some(({ state }) => isUnderWay(state))) return { do: "cancel" };
    // During a hold, a waiting attempt stays queued, so that it can be sent afterwards. Otherwise it is withdrawn.
    return last.state === "waiting" && status !== "OnHold" ? { do: "withdraw" } : null;
  }
  if (status === "FaxPending" && isOut(last)) return { do: "move", on: "fax_sent" };
  if (isUnderWay(last.state)) return null;
  if (last.state === "waiting") return last.dueAt.getTime() <= now.getTime() ? { do: "send" } : null;
  if (last.isSettled) return null;
  if (last.state === "failed") return afterFailure(last, now);
  // A refused or withdrawn attempt was never sent. In FaxPending, nothing happens here, because an open task tells
  // staff to fax the document. In FaxSent there is no such task, so the order fails or gets another attempt.
  if (status === "FaxPending") return null;
  if (last.state === "refused") return { do: "move", on: "fax_failed", reason: last.reason ?? "Telnyx refused it" };
  return { do: "attempt", retries: last.retries, dueAt: now };
}

/**
 * True if the attempt reached Telnyx. A failed attempt counts too, because its failure event may arrive before the
 * response to the request. False if the attempt's failure has already made the order fail, or if this service canceled
 * the attempt.
 */
const isOut = (attempt: FaxAttemptState): boolean =>
  isUnderWay(attempt.state) || (attempt.state === "failed" && !attempt.isSettled && !isCanceledByUs(attempt));

const isCanceledByUs = ({ isCanceled, reason }: FaxAttemptState): boolean => isCanceled && reason === "sender_canceled";

function afterFailure(last: FaxAttemptState, now: Date): FaxStep {
  const { reason, retries, endedAt } = last;
  if (isCanceledByUs(last)) return { do: "attempt", retries, dueAt: now };
  const pause = isPassing(reason) ? pausesMs[retries] : undefined;
  if (pause !== undefined)
    return { do: "attempt", retries: retries + 1, dueAt: new Date((endedAt ?? now).getTime() + pause) };
  const times = retries > 0 ? ` (after ${retries + 1} attempts)` : "";
  return { do: "move", on: "fax_failed", reason: `${reasonWords(reason)}${times}` };
}
