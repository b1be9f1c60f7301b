import type { Tx } from "../../kernel/platform/database/database.ts";
import type { TaskKind } from "../../kernel/tasks/tasks.ts";
import type { Call, CallOutcome } from "../calls/call.ts";
import type { ProviderName } from "../names.ts";

/** An irreversible request to a provider ("act") that must happen once for an order. */
export type NewIntent = {
  /** The kind of act, such as `label.buy`, `letter.send` or `fax.send`. */
  act: string;
  provider: ProviderName;
  orderId: number;
  /**
   * A number that distinguishes the intents of this order and act, such as the number of a label or of a fax attempt.
   * Numbers may have gaps. The number stays the same when the intent is tried again.
   */
  attempt: number;
  /** The input of `perform`, as JSON; encrypted at rest. */
  payload: object;
  at: Date;
  /** True if the order's status may change while the act is in progress, as during the refund of a label. */
  isBeside?: boolean;
};

/** A stored intent: the record that an act must be performed. */
export type Intent = {
  id: number;
  act: string;
  provider: ProviderName;
  orderId: number;
  attempt: number;
  payload: unknown;
  intendedAt: Date;
  /** The start of the current or last try; null before the first one, and while another try is scheduled. */
  begunAt: Date | null;
};

/** The end of an intent; `unclear` when the outcome is unknown. */
export type ActEnd<R> =
  | { kind: "done"; result: R }
  | { kind: "failed"; code: string | null; why: string }
  | { kind: "unclear"; why: string };

/**
 * A person's findings at the provider about an act that was done: the provider's id and, if there is one, the tracking
 * number.
 */
export type ProviderFinding = { id: string; tracking: string | null };

/** A kind of irreversible request to a provider, such as a purchase, and how its result is applied. */
export type Act<R> = {
  name: string;
  provider: ProviderName;
  /**
   * The kind of task with which staff do the same work manually. If a person has claimed that task when the act is due,
   * the act is withdrawn, not delayed. The task opens at the first try after the provider was unavailable for half an
   * hour. Null when staff can't do the work, or when their work doesn't replace the act.
   */
  byHand: TaskKind | null;
  /**
   * The time from the act's start, or from a result that leaves the outcome unknown, to the first look-up at the
   * provider. Must exceed the time-out of the act's request by more than 5 s (`leavesWithinMs`).
   */
  lookAfterMs: number;
  /**
   * True if the act is still needed. Called before each try, with the order's row locked, unless a person has claimed
   * the task `byHand`. If false, the intent is withdrawn.
   */
  wanted: (tx: Tx, intent: Intent) => Promise<boolean>;
  /** Performs the act by sending at most one request through `call`. Sends none if its preparation fails. */
  perform: (
    intent: Intent,
    call: Call,
  ) => Promise<{ kind: "done"; result: R } | Exclude<CallOutcome, { kind: "answered" }>>;
  /** Looks up an act with an unknown outcome. After `not_done`, the act is performed again or has finally failed. */
  lookUp: (
    intent: Intent,
    call: Call,
  ) => Promise<{ kind: "done"; result: R } | { kind: "not_done" } | { kind: "unclear"; why: string }>;
  /**
   * Builds the act's result from the findings of a person who looked it up at the provider.
   * @throws ServiceError `validation` for a malformed id or tracking number
   */
  resultOf: (finding: ProviderFinding, intent: Intent) => R;
  /**
   * Applies the end of an intent in the transaction that records it, with the order's row locked. After `unclear`,
   * another end may follow.
   */
  settled(tx: Tx, intent: Intent, end: ActEnd<R>): Promise<void>;
};

/** A kind of act, whatever the type of its result; for the registry. */
export type AnyAct = Act<unknown>;
