import type { Tx } from "../../kernel/platform/database/database.ts";
import type { TaskKind } from "../../kernel/tasks/tasks.ts";
import type { Call, CallOutcome } from "../calls/call.ts";
import type { ProviderName } from "../names.ts";

/** An act that must happen once for an order. */
export type NewIntent = {
  /** The kind of act, such as `label.buy`, `letter.send` or `fax.send`. */
  act: string;
  provider: ProviderName;
  orderId: number;
  /** The number of the attempt, counted from 1. An order can have only one intent for each pair of act and attempt. */
  attempt: number;
  /** The input of `perform`, as JSON; encrypted at rest. */
  payload: object;
  at: Date;
  /** Whether people may change the order's status while the act is under way, as during the refund of a label. */
  isBeside?: boolean;
};

/** An intent on record. */
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

/** How an intent ended; `unclear` when the outcome is unknown. */
export type ActEnd<R> =
  | { kind: "done"; result: R }
  | { kind: "failed"; code: string | null; why: string }
  | { kind: "unclear"; why: string };

/**
 * A person's findings at the provider about an act that was done: the provider's id and, if there is one, the tracking
 * number.
 */
export type ProviderFinding = { id: string; tracking: string | null };

/** A purchase or another irreversible act at a provider, and how its result is applied. */
export type Act<R> = {
  name: string;
  provider: ProviderName;
  /**
   * The kind of task with which people do the same work by hand. The provider does not begin the act while a person has
   * claimed that task. The task opens once the provider has been unavailable for half an hour. Null when people can't
   * do it.
   */
  byHand: TaskKind | null;
  /**
   * How long after its start an act without a known outcome is looked up at the provider. This time must exceed the
   * time-out of the act's request.
   */
  lookAfterMs: number;
  /**
   * Whether the act is still needed. Called just before it begins, with the order's row locked. If not, the intent is
   * withdrawn.
   */
  wanted: (tx: Tx, intent: Intent) => Promise<boolean>;
  /** Performs the act by sending exactly one request through `call`. */
  perform: (
    intent: Intent,
    call: Call,
  ) => Promise<{ kind: "done"; result: R } | Exclude<CallOutcome, { kind: "answered" }>>;
  /** Looks up an act with an unknown outcome. The act begins again only after `not_done`. */
  lookUp: (
    intent: Intent,
    call: Call,
  ) => Promise<{ kind: "done"; result: R } | { kind: "not_done" } | { kind: "unclear"; why: string }>;
  /**
   * Builds the act's result from what a person found at the provider.
   * @throws ServiceError `validation` for a malformed id or number
   */
  resultOf: (finding: ProviderFinding, intent: Intent) => R;
  /** Runs in the transaction that ends the intent, with the order's row locked. */
  settled(tx: Tx, intent: Intent, end: ActEnd<R>): Promise<void>;
};

/** A kind of act, whatever the type of its result; for the registry. */
export type AnyAct = Act<unknown>;
