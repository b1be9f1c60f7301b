/**
 * Assigns a refund that was made in the processor's dashboard to its orders: one operator proposes the orders, and as a
 * rule another one approves. Only then is the refund booked. No money moves.
 */

import {
  type Operator,
  operatorName,
  requirePasskeyOf,
  requirePermission,
  requireRefusedByAnother,
  requireSecondPerson,
  requireText,
} from "../../firms/operators/operators.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import { changeRow } from "../../kernel/platform/database/change-rows.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../kernel/platform/database/state-mac.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import { isPlainLines, isUuid, shortCode } from "../../kernel/platform/text.ts";
import { dollars } from "../dollars.ts";
import {
  type AssignedPart,
  bookRefundByHand,
  intentOfRefund,
  isOnItsWay,
  isRefundIn,
  lockRefundByHand,
  missingRefunds,
  type RefundByHand,
  refundsByHand,
} from "../payments/payments.ts";
import { requireNoneBeingSent } from "./part.ts";
import { type RefundDeps, requirePersonOfRefund } from "./rules.ts";

/** The MAC covers all columns. A forged approval would book a refund for an order that it does not belong to. */
const assignmentState: StateMac = {
  table: sql`refund_assignments`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    a,
  ) => sql`${a}.id, ${a}.refund, ${a}.parts, ${a}.reason, ${a}.requested_by, extract(epoch FROM ${a}.requested_at),
    ${a}.state, ${a}.decided_by, extract(epoch FROM ${a}.decided_at), ${a}.solo`,
};

export const assignmentRows = stateRows(assignmentState);

type Assignment = {
  id: string;
  refund: string;
  parts: readonly AssignedPart[];
  reason: string;
  requestedBy: string;
  requestedByName: string;
  requestedAt: Date;
};

/** A refund that is not assigned to orders, with the assignment that one person has proposed, if any. */
export type WaitingRefund = RefundByHand & { assignment: Assignment | null };

const open = (seen: Statement) => sql`
  SELECT a.id, a.refund, a.parts, a.reason, a.requested_by AS "requestedBy", ${operatorName(sql`a.requested_by`)} AS "requestedByName",
    a.requested_at AS "requestedAt", ${seen}
  FROM refund_assignments a WHERE a.state = 'requested'`;
const verifiedOpen = open(verified(assignmentState, sql`a`));

/**
 * One page of the refunds that are not assigned to orders, or whose assignment to orders is not approved yet. Leaves
 * out refunds and assignments that were altered in the database.
 * @param after the last refund of the previous page; null for the first page
 */
export async function waitingRefunds(
  { db }: { db: Sql },
  { environment }: Pick<Operator, "environment">,
  after: string | null = null,
): Promise<WaitingRefund[]> {
  const asked = (await openAssignments(db, isRefundIn(environment, sql`a.refund`))).map(({ refund }) => refund);
  const refunds = await refundsByHand(db, environment, { asked, after });
  const assignments = await openAssignments(db, sql`a.refund = ANY (${refunds.map(({ id }) => id)}::text[])`);
  return refunds.map((each) => ({ ...each, assignment: assignments.find(({ refund }) => refund === each.id) ?? null }));
}

/** At most 200 assignments that wait, the oldest first. Leaves out altered ones. */
async function openAssignments(db: Sql, which: Statement): Promise<Assignment[]> {
  const found = await db.query<Assignment & Marked>(
    sql`${open(marked(assignmentState, sql`a`))} AND ${which} ORDER BY a.requested_at, a.id LIMIT 200`,
  );
  return found.filter(({ isAuthentic }) => isAuthentic);
}

const unknown = () => new ServiceError("not_found", "No refund with this name waits for its orders.");

type Locked = NonNullable<Awaited<ReturnType<typeof lockRefundByHand>>>;

async function lockRefund(tx: Tx, { environment }: Operator, refund: string, mustWait: boolean): Promise<Locked> {
  const locked = isPlainLines(refund) ? await lockRefundByHand(tx, environment, refund, mustWait) : undefined;
  if (!locked) throw unknown();
  return locked;
}

/**
 * Requires that the parts add up to the refund, and that each order's payment has at least its part left. If a bank
 * also took money back, less than the refund may be left. The parts must then add up to the sum that is left. Ignores
 * an approved partial refund that waits for this assignment: it gets only what is left afterwards.
 * @throws ServiceError naming the order and the rule
 */
async function requireParts(tx: Tx, { refund }: Locked, parts: readonly AssignedPart[]): Promise<void> {
  const paymentIds = new Set(refund.shares.map(({ paymentId }) => paymentId));
  if (parts.length === 0 || parts.some(({ payment }) => !paymentIds.has(payment)))
    throw invalid("orders must name at least one order of the payment, and no other.");
  const sum = parts.reduce((total, { cents }) => total + cents, 0);
  const left = refund.shares.reduce((total, { restCents }) => total + restCents, 0);
  const due = Math.min(left, refund.amountCents);
  const what =
    due < refund.amountCents ? `the ${dollars(due)} that is left of the orders` : `the refund of ${dollars(due)}`;
  if (sum !== due) throw invalid(`The amounts must add up to ${what}. Their sum is ${dollars(sum)}.`);
  for (const { paymentId, orderCode, restCents } of refund.shares) {
    const cents = parts.find(({ payment }) => payment === paymentId)?.cents ?? 0;
    if (cents === 0) continue;
    const which = `order ${shortCode(orderCode)}`;
    if (await isOnItsWay(tx, refund, paymentId))
      throw new ServiceError(
        "conflict",
        `A refund of ${which} is on its way. Wait until the processor has confirmed it.`,
      );
    if (cents > restCents)
      throw invalid(`amount of ${which} must be at most ${dollars(restCents)}, the rest of its payment.`);
  }
}

/**
 * Refuses an assignment while the processor lists a refund that this service requested and whose event has not arrived.
 * Until that event arrives, the service doesn't know how much is left for the order of that refund.
 * @param refundIds the ids of the refunds that this service requested, from the processor's list
 */
async function requireEvents(tx: Tx, { refund }: Locked, refundIds: readonly string[]): Promise<void> {
  const unknown = await missingRefunds(tx, refund.paymentIntent, refundIds);
  if (unknown.length === 0) return;
  throw new ServiceError(
    "conflict",
    `The payment processor lists refund ${unknown[0]} of this payment, and its event has not arrived. Wait for it, or resend it from the processor.`,
  );
}

/**
 * The ids of the payment's refunds that this service requested, as the processor lists them. Empty without a processor.
 * Also empty for a payment in an earlier processor account, which has received no request since the account was
 * changed.
 * @throws ServiceError while such a refund is being requested
 */
async function askedAtProcessor({ db, processor }: RefundDeps, refund: string): Promise<readonly string[]> {
  const paymentIntent = isPlainLines(refund) ? await intentOfRefund(db, refund) : null;
  if (paymentIntent === null) return [];
  await requireNoneBeingSent(db, paymentIntent);
  if (!processor) return [];
  return ((await processor.refundsOf(paymentIntent)) ?? []).filter(({ isOurs }) => isOurs).map(({ id }) => id);
}

type AssignmentLine = { id: string; parts: readonly AssignedPart[]; action: string; actor: string; at: Date };

/** Writes an audit line for each order that gets a part of the refund by the assignment. */
async function audit(
  tx: Tx,
  { refund, orders }: Locked,
  { id, parts, action, actor, at }: AssignmentLine,
): Promise<void> {
  for (const { payment, cents } of parts) {
    const order = orders.get(refund.shares.find(({ paymentId }) => paymentId === payment)?.orderId ?? 0);
    if (!order) continue;
    const { id: orderId, partnerId } = order;
    const detail = { assignment: id, refund: refund.id, payment, amountCents: cents };
    await tx.query(auditLine({ at, action, actor, partnerId, orderId, detail }));
  }
}

type Typed = { refund: string; parts: readonly AssignedPart[]; reason: string };

/**
 * Proposes the orders to which a refund belongs. As a rule, another operator decides.
 * @throws ServiceError without the permission or a reason, for parts that don't fit, while another assignment of the
 * refund waits, and while a requested refund of the payment is being sent or its event is missing
 */
export async function askAssignment(
  deps: RefundDeps,
  operator: Operator,
  { refund, parts, reason }: Typed,
): Promise<string> {
  requirePermission(operator, ["refunds.request", "money.decide"]);
  const requestedBy = requirePersonOfRefund(operator);
  const text = requireText("reason", reason);
  const own = parts.filter(({ cents }) => cents !== 0);
  if (own.some(({ cents }) => !Number.isSafeInteger(cents) || cents < 0))
    throw invalid("Each amount must be a whole number of cents, and not below zero.");
  if (new Set(own.map(({ payment }) => payment)).size < own.length) throw invalid("orders must name each order once.");
  const refundIds = await askedAtProcessor(deps, refund);
  return deps.db.transaction(async (tx) => {
    const [id, at] = [newUuid(), deps.clock()];
    const locked = await lockRefund(tx, operator, refund, true);
    await requireEvents(tx, locked, refundIds);
    await requireParts(tx, locked, own);
    const inserted = await tx.query(sql`
      INSERT INTO refund_assignments (id, refund, parts, reason, requested_by, requested_at)
      VALUES (${id}, ${refund}, ${JSON.stringify(own)}::jsonb, ${text}, ${requestedBy}, ${at})
      ON CONFLICT (refund) WHERE state IN ('requested', 'approved') DO NOTHING RETURNING 1`);
    if (inserted.length === 0)
      throw new ServiceError("conflict", "Somebody already said which orders this refund belongs to.");
    await writeStateMacs(tx, assignmentState, sql`id = ${id}`);
    await audit(tx, locked, { id, parts: own, action: "refund.assignment_requested", actor: operator.actor, at });
    return id;
  });
}

/**
 * Locks the refund's orders before the proposed assignment, in the same sequence as all other code, to avoid deadlocks.
 */
async function lockOpen(
  tx: Tx,
  operator: Operator,
  id: string,
  { mustWait }: { mustWait: boolean },
): Promise<{ locked: Locked; assignment: Assignment }> {
  const query = sql`${verifiedOpen} AND a.id = ${id}`;
  const [seen] = isUuid(id) ? await tx.query<Assignment>(query) : [];
  if (!seen) throw new ServiceError("not_found", "No such assignment waits for a decision.");
  const locked = await lockRefund(tx, operator, seen.refund, mustWait);
  const [assignment] = await tx.query<Assignment>(sql`${query} FOR NO KEY UPDATE OF a`);
  if (!assignment) throw new ServiceError("conflict", "Somebody else decided on this assignment a moment ago.");
  return { locked, assignment };
}

type End = { state: "approved" | "refused" | "withdrawn"; by: string; at: Date; solo: boolean };

const end = (tx: Tx, id: string, { state, by, at, solo }: End): Promise<void> =>
  changeRow(tx, assignmentState, id, sql`state = ${state}, decided_by = ${by}, decided_at = ${at}, solo = ${solo}`);

/**
 * Approves an assignment of a refund to orders, and books the refund for them. A second operator has to approve it,
 * unless one person may decide alone, as in `approveRefund`.
 * @throws ServiceError as `approveRefund`; also when less is left of an order's payment than its part
 */
export async function approveAssignment(deps: RefundDeps, operator: Operator, id: string): Promise<void> {
  const { clock, log, refundApproval } = deps;
  requirePermission(operator, ["money.decide"]);
  const by = requirePersonOfRefund(operator);
  requirePasskeyOf(operator, clock());
  const [seen] = isUuid(id) ? await deps.db.query<Assignment>(sql`${verifiedOpen} AND a.id = ${id}`) : [];
  const refundIds = seen ? await askedAtProcessor(deps, seen.refund) : [];
  await deps.db.transaction(async (tx) => {
    const at = clock();
    const { locked, assignment } = await lockOpen(tx, operator, id, { mustWait: true });
    await requireEvents(tx, locked, refundIds);
    const solo = requireSecondPerson(refundApproval, operator, assignment, "assignment", at);
    await requireParts(tx, locked, assignment.parts);
    await end(tx, id, { state: "approved", by, at, solo });
    await bookRefundByHand(tx, locked, assignment.parts, { actor: operator.actor, at, log });
  });
}

/**
 * Refuses another operator's assignment, or withdraws the operator's own. The refund then waits for a new assignment,
 * unless it failed in the meantime.
 */
export async function dropAssignment(
  { db, clock }: { db: Database; clock: RefundDeps["clock"] },
  operator: Operator,
  id: string,
): Promise<void> {
  requirePermission(operator, ["refunds.request", "money.decide"]);
  const by = requirePersonOfRefund(operator);
  await db.transaction(async (tx) => {
    const at = clock();
    const { locked, assignment } = await lockOpen(tx, operator, id, { mustWait: false });
    const isOwn = assignment.requestedBy === by;
    if (!isOwn) {
      requirePermission(operator, ["money.decide"]);
      requirePasskeyOf(operator, at);
      requireRefusedByAnother(operator, assignment, "assignment", at);
    }
    const state = isOwn ? "withdrawn" : "refused";
    await end(tx, id, { state, by, at, solo: false });
    await audit(tx, locked, {
      id,
      parts: assignment.parts,
      action: `refund.assignment_${state}`,
      actor: operator.actor,
      at,
    });
  });
}
