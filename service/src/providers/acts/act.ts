import type { Tx } from "../../platform/database/database.ts";
import type { TaskKind } from "../../tasks/tasks.ts";
import type { Call, CallOutcome } from "../calls/call.ts";
import type { ProviderName } from "../names.ts";

/** What is to be done once only for an order. */
export type NewIntent = {
  /** `label.buy`, `letter.send`, `fax.send`, ... */
  act: string;
  provider: ProviderName;
  orderId: number;
  /** From 1. The pair of act and attempt is intended once for an order. */
  attempt: number;
  /** What `perform` needs, as JSON; encrypted at rest. */
  payload: object;
  at: Date;
  /** Whether people may move the order meanwhile: it is beside the order's way, as a label's refund is. */
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
  /** When its request was about to leave last; null before that. */
  begunAt: Date | null;
};

/** How an intent ended, or that nobody knows. */
export type ActEnd<R> =
  | { kind: "done"; result: R }
  | { kind: "failed"; code: string | null; why: string }
  | { kind: "unclear"; why: string };

/** What a person found at the provider: the provider's id of the thing, and a tracking number where it has one. */
export type SaidDone = { id: string; tracking: string | null };

/** Something that a provider does once for money or for good, and what is made of it. */
export type Act<R> = {
  name: string;
  provider: ProviderName;
  /**
   * The kind of task by which people do the same by hand. While a person has claimed it the act does not begin; it is opened once
   * the provider has been away for half an hour. Null: nothing of the kind.
   */
  byHand: TaskKind | null;
  /** How long after it began an act without an end is looked up; longer than its request may take. */
  lookAfterMs: number;
  /** Asked with the order's row locked, right before it begins; otherwise the intent is withdrawn. */
  wanted: (tx: Tx, intent: Intent) => Promise<boolean>;
  /** Makes the one request that acts, by this call. */
  perform: (
    intent: Intent,
    call: Call,
  ) => Promise<{ kind: "done"; result: R } | Exclude<CallOutcome, { kind: "answered" }>>;
  /** Whether it was done: asked when nobody knows. Only `not_done` has it done again. */
  lookUp: (
    intent: Intent,
    call: Call,
  ) => Promise<{ kind: "done"; result: R } | { kind: "not_done" } | { kind: "unclear"; why: string }>;
  /** What a person's word makes of it. @throws ServiceError `validation` for an id or number that cannot be */
  resultOf: (said: SaidDone, intent: Intent) => R;
  /** In the transaction of the intent's end, with the order's row locked. */
  settled(tx: Tx, intent: Intent, end: ActEnd<R>): Promise<void>;
};

/** An act of any result, for a registry: `settled` is a method, whose parameters TypeScript compares both ways, and is handed results of its own act alone. */
export type AnyAct = Act<unknown>;
