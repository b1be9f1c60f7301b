import { minuteMs } from "../platform/clock.ts";
import { isPassing, reasonWords } from "./reasons.ts";
import { type FaxProgress, isUnderWay } from "./states.ts";

/** How long after a passing failure the next attempt is due; then it has failed. */
const pausesMs = [5 * minuteMs, 15 * minuteMs, 60 * minuteMs];

/** What an attempt's row says of it. */
export type FaxAttemptState = Pick<FaxProgress, "state" | "reason" | "endedAt"> & {
  /** How many passing failures there were before it, since a person last had it sent. */
  retries: number;
  dueAt: Date;
  /** Whether we asked to have it canceled. */
  isCanceled: boolean;
  /** Whether the order has failed by it: a person decides from then on. */
  isSettled: boolean;
};

export type FaxStep =
  | { do: "move"; on: "fax_sent" | "fax_delivered" }
  | { do: "move"; on: "fax_failed"; reason: string }
  /** Another attempt. */
  | { do: "attempt"; retries: number; dueAt: Date }
  /** The last attempt is due. */
  | { do: "send" }
  /** The last attempt is wanted no more. */
  | { do: "withdraw" }
  /** Faxes under way are wanted no more, or not now. */
  | { do: "cancel" };

/**
 * What is to be done next for an order, by where it stands and what became of its attempts.
 * @param status where the order stands; `FaxedByHand` where a person faxed it: then nothing more goes out
 * @param attempts in their order
 */
export function decide(status: string, attempts: readonly FaxAttemptState[], now: Date): FaxStep | null {
  const last = attempts.at(-1);
  if (!last) return null;
  const isFaxed = status === "FaxPending" || status === "FaxSent";
  if (isFaxed && attempts.some(({ state }) => state === "delivered")) return { do: "move", on: "fax_delivered" };
  if (!isFaxed) {
    if (attempts.some(({ state }) => isUnderWay(state))) return { do: "cancel" };
    // On hold it waits.
    return last.state === "waiting" && status !== "OnHold" ? { do: "withdraw" } : null;
  }
  if (status === "FaxPending" && isOut(last)) return { do: "move", on: "fax_sent" };
  if (isUnderWay(last.state)) return null;
  if (last.state === "waiting") return last.dueAt.getTime() <= now.getTime() ? { do: "send" } : null;
  if (last.isSettled) return null;
  if (last.state === "failed") return afterFailure(last, now);
  // What never went out is a person's task again while the order is pending; afterwards nobody else would do it.
  if (status === "FaxPending") return null;
  if (last.state === "refused") return { do: "move", on: "fax_failed", reason: last.reason ?? "Telnyx refused it" };
  return { do: "attempt", retries: last.retries, dueAt: now };
}

/** Whether it went out, though it may have failed by now: an event may overtake the answer to the request. */
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
