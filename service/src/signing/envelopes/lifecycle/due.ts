import type { Owner } from "../../../kernel/identity/identity.ts";
import { dayMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { fromOrders, joinOrder } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import {
  envelopeState,
  findSigners,
  isLocked,
  lockEnvelope,
  signersInTurn,
  vouchForEnvelopes,
} from "../records/envelope.ts";
import { appendToTrail } from "../records/trail.ts";
import { endUnsigned } from "./end.ts";
import { followOrder } from "./follow.ts";
import { signingMailQueue } from "./issue-link.ts";
import { openMs, reminderDays } from "./open.ts";

type Due = Owner & { id: number; orderCode: string };

/** The most envelopes that one sweep handles. */
const batchSize = 1_000;

/**
 * Ends envelopes that were not signed in time, and reminds signers whose turn it is. Skips a signer whose link
 * is locked now. Safe to run on several nodes at once.
 * @returns true if more envelopes may be due
 */
export async function sweepDue(deps: EnvelopeDeps, stopping?: AbortSignal): Promise<boolean> {
  const now = deps.clock();
  const due = await deps.db.query<Due & { expired: boolean }>(sql`
    SELECT e.id, o.code AS "orderCode@order", o.partner_id AS "partnerId", o.environment, e.expires_at <= ${now} AS expired
    FROM envelopes e ${joinOrder(sql`e.order_id`)}
    WHERE e.ended_at IS NULL AND least(e.expires_at, e.remind_at) <= ${now} AND o.status = 'EsignPending'
      AND EXISTS (SELECT FROM envelope_signers s WHERE s.envelope_id = e.id AND s.signed_at IS NULL)
    ORDER BY least(e.expires_at, e.remind_at) LIMIT ${batchSize}`);
  for (const { expired, ...envelope } of due) {
    if (stopping?.aborted) return false;
    await (expired ? expire(deps, envelope) : remind(deps, envelope, now)).catch((error: Error) => {
      if (!(error instanceof LastHasSigned))
        deps.log.error(
          { err: error, envelope: envelope.id },
          "an envelope could not be expired, or its signers reminded",
        );
    });
  }
  return due.length === batchSize;
}

class LastHasSigned extends Error {}

async function expire(deps: EnvelopeDeps, envelope: Due): Promise<void> {
  const ending = { outcome: "Expired", reason: "not everybody signed in time", detail: {}, actor: "system" } as const;
  await endUnsigned(deps, envelope, ending, async (tx, { id }) => {
    if (signersInTurn(await findSigners(tx, id)).length === 0) throw new LastHasSigned();
  });
}

async function remind({ db, rowMac, reach }: EnvelopeDeps, due: Due, now: Date): Promise<void> {
  const { id: envelopeId } = due;
  const nightMs = due.environment === "live" ? await reach.untilMorning(due.partnerId) : 0;
  if (nightMs > 0) {
    // At night the whole reminder is postponed, not only its mail, because the trail records when the signers were
    // reminded.
    const morning = new Date(now.getTime() + nightMs);
    await db.query(sql`UPDATE envelopes SET remind_at = ${morning} WHERE id = ${envelopeId} AND remind_at <= ${now}`);
    return;
  }
  await db.transaction(async (tx) => {
    const envelope = await lockEnvelope(tx, envelopeId);
    if (!envelope || envelope.endedAt !== null) return;
    // Reminder times are computed from the envelope's expiry. Advancing a test clock moves the expiry, and so the
    // reminders as well.
    const passed = (days: number) => envelope.expiresAt.getTime() - openMs + days * dayMs;
    const next = reminderDays.map(passed).find((instant) => instant > now.getTime());
    const moved = await tx.query(sql`
      UPDATE envelopes SET remind_at = ${next === undefined ? null : new Date(next)}
      WHERE id = ${envelopeId} AND remind_at <= ${now} RETURNING id`);
    if (moved.length === 0) return;
    for (const signer of signersInTurn(await findSigners(tx, envelopeId))) {
      if (isLocked(signer, envelope, now)) continue;
      await appendToTrail(tx, rowMac, envelope, "reminded", now, { signer: signer.n });
      await enqueue(tx, signingMailQueue, { signerId: signer.id, moment: "reminder", at: now.toISOString() });
    }
  });
}

/**
 * Moves the next reminder and the expiry of a firm's open test envelopes earlier by this many seconds. Their trails
 * record the reminder or expiry only when it happens. Envelopes whose MAC is invalid stay unchanged.
 */
export async function bringEnvelopesNearer(tx: Tx, partnerId: string, seconds: number): Promise<void> {
  const open = await tx.query<{ id: number } & Marked>(sql`
    SELECT e.id, ${marked(envelopeState, sql`e`)} FROM envelopes e ${joinOrder(sql`e.order_id`)}
    WHERE o.partner_id = ${partnerId} AND o.environment = 'test' AND e.ended_at IS NULL ORDER BY e.id FOR NO KEY UPDATE OF e`);
  const ids = open.filter(({ isAuthentic }) => isAuthentic).map(({ id }) => id);
  const which = sql`id = ANY (${ids}::bigint[])`;
  await tx.query(sql`
    UPDATE envelopes SET expires_at = greatest(expires_at - make_interval(secs => ${seconds}), created_at),
      remind_at = greatest(remind_at - make_interval(secs => ${seconds}), created_at)
    WHERE ${which}`);
  await vouchForEnvelopes(tx, which);
}

const lateMs = 15 * minuteMs;
const overdueAtOnce = 100;

/**
 * Finds orders in EsignPending that wait for the service and not for a signer. Their envelope was never opened, has
 * ended, or has every signature. Leaves out orders that were changed since `before`.
 */
const overdueStatement = (before: Date, after: number): Statement => sql`
  SELECT o.id ${fromOrders}
  WHERE o.status = 'EsignPending' AND o.updated_at < ${before} AND o.id > ${after} AND NOT EXISTS (
    SELECT FROM envelopes e JOIN envelope_signers s ON s.envelope_id = e.id
    WHERE e.order_id = o.id AND e.ended_at IS NULL AND s.signed_at IS NULL)
  ORDER BY o.id LIMIT ${overdueAtOnce}`;

/**
 * Processes orders whose job has failed for good, and orders from earlier releases, which queued no jobs. Safe to run
 * on several nodes at once.
 */
export async function followOverdue(deps: EnvelopeDeps, stopping?: AbortSignal): Promise<void> {
  const { db, clock, log } = deps;
  const before = new Date(clock().getTime() - lateMs);
  let last: number | undefined = 0;
  while (last !== undefined) {
    // Each page begins after the last order of the page before. So an order that fails is skipped, and doesn't delay
    // the next ones.
    const page: { id: number }[] = await db.query(overdueStatement(before, last));
    for (const { id } of page) {
      if (stopping?.aborted) return;
      await followOrder(deps, id).catch((error: Error) =>
        log.error({ err: error, orderId: id }, "the envelope of an order can't be opened or completed"),
      );
    }
    last = page.at(-1)?.id;
  }
}
