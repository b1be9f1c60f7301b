import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { claimantOf, closeTasks, openUnlessPaused, pauseUnclaimed, resumeUnclaimed } from "../../kernel/tasks/tasks.ts";
import { actWordsOf, type ProviderName, providerNames } from "../names.ts";
import type { AnyAct, Intent } from "./act.ts";
import { type IntentState, verifiedCall } from "./store.ts";

// Staff and the provider must never do the same work at the same time. So either the task for staff is open, or the act
// is in progress.

/** True if a person has claimed the task of doing the act's work manually. */
export const isClaimedByHand = async (tx: Tx, { byHand }: AnyAct, { orderId }: Intent): Promise<boolean> =>
  byHand !== null && (await claimantOf(tx, orderId, byHand)) !== null;

/** Pauses the task for staff, so that nobody can claim it while the act is in progress. */
export async function pauseByHand(tx: Tx, { byHand }: AnyAct, { orderId }: Intent): Promise<void> {
  if (byHand !== null) await pauseUnclaimed(tx, orderId, byHand);
}

/**
 * Reopens the task for staff that the act had paused. It stays paused if the order is on hold, or if another task of
 * its kind is open or claimed.
 */
export async function resumeByHand(tx: Tx, { byHand }: AnyAct, { orderId }: Intent): Promise<void> {
  if (byHand !== null) await resumeUnclaimed(tx, orderId, byHand);
}

/** Opens the task for staff, unless the order is on hold or the task is open, claimed or paused. */
export async function openByHand(
  tx: Tx,
  { byHand }: AnyAct,
  { orderId }: Intent,
  { at, reason }: { at: Date; reason: string },
): Promise<void> {
  if (byHand !== null) await openUnlessPaused(tx, { kind: byHand, at, environment: "live", orderId, reason });
}

export async function closeByHand(
  tx: Tx,
  { byHand }: AnyAct,
  { orderId }: Intent,
  end: { at: Date; by: string; outcome: string },
): Promise<void> {
  if (byHand === null) return;
  await closeTasks(tx, { orderId, kinds: [byHand] }, { state: "done", ...end });
}

/** An act as the operator's pages show it, without its payload. */
export type ActOnRecord = {
  id: number;
  act: string;
  provider: ProviderName;
  attempt: number;
  state: IntentState;
  tries: number;
  intendedAt: Date;
  begunAt: Date | null;
  /**
   * The planned time of the latest look-up of the present try. It stays set after the act has ended. Null until a
   * result of the try has left the outcome unknown.
   */
  lookAt: Date | null;
  endedAt: Date | null;
  endedBy: string | null;
  /** The latest reason: why the act failed, why it waits, or why its outcome is unknown. Null once it was done. */
  why: string | null;
};

/**
 * The acts of an order, the earliest intent first.
 * @throws ServiceError `unavailable` when the MAC of an act is invalid
 */
export const actsOfOrder = (db: Sql, orderId: number) =>
  db.query<ActOnRecord>(sql`
    SELECT id, act, provider, attempt, state, tries, intended_at AS "intendedAt", begun_at AS "begunAt",
      look_at AS "lookAt",
      ended_at AS "endedAt", ended_by AS "endedBy", why, ${verifiedCall}
    FROM provider_calls WHERE order_id = ${orderId} ORDER BY id`);

/** A message about an act that a provider may be doing now; null when there is none. Ignores acts with `isBeside`. */
export async function actUnderWay(db: Sql, orderId: number): Promise<string | null> {
  type Found = Pick<ActOnRecord, "act" | "provider" | "state"> & { isBeside: boolean };
  const acts = await db.query<Found>(sql`
    SELECT act, provider, state, is_beside AS "isBeside", ${verifiedCall} FROM provider_calls
    WHERE order_id = ${orderId} ORDER BY id`);
  const found = acts.find(({ state, isBeside }) => (state === "begun" || state === "unknown") && !isBeside);
  if (!found) return null;
  const name = providerNames[found.provider];
  return found.state === "begun"
    ? `${name} is doing this now (${actWordsOf(found.act)}): wait until that has ended.`
    : `Nobody knows yet whether ${name} did this (${actWordsOf(found.act)}): say so in the task first.`;
}

/**
 * Refuses manual work on an order while a provider may be performing an act for it, whatever the act.
 * @throws ServiceError `conflict` while an act without `isBeside` is in progress or its outcome is unknown
 */
export async function requireNoActUnderWay(db: Sql, orderId: number): Promise<void> {
  const words = await actUnderWay(db, orderId);
  if (words !== null) throw new ServiceError("conflict", words);
}
