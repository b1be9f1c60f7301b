import { joinFirm, type MarkedFirm, markedFirm, withFirmNames } from "../../../firms/partners/partners.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { fromTasks, joinTask, taskState } from "../../../kernel/tasks/tasks.ts";
import {
  correctionsOf,
  currentEmail,
  fromOrders,
  hasOrderCode,
  joinOrder,
  type OrderHead,
  orderState,
  type SigningFacts,
  signersHold,
  signersOf,
  signingColumns,
} from "../../../orders/order/order.ts";

/** An order that waits for a notary, with the task for it. */
export type WaitingOrder = {
  orderId: number;
  code: string;
  environment: Environment;
  partnerId: string;
  firmName: string;
  docSlug: string | null;
  /** The encrypted name of the document. */
  documentName: Buffer | null;
  reference: string | null;
  signerState: string | null;
  taskId: number;
  /** `operator:ID` of the notary who claimed the order; null when nobody has. */
  claimedBy: string | null;
  claimedAt: Date | null;
  dueAt: Date;
  /** The people who are to appear. */
  signers: { name: string; email: string; language: string }[];
};

type Reading = { db: Sql; rowMac: RowMac };
type Found = Omit<WaitingOrder, "signers"> & SigningFacts & { mac: Buffer | null } & Marked & MarkedFirm;

/** Finds orders that wait for a notary. Skips an order if its row, its signers or its task have an invalid MAC. */
async function waitingOrders(
  { db, rowMac }: Reading,
  where: Statement,
  end: Statement = nothing,
): Promise<WaitingOrder[]> {
  const found = withFirmNames<Omit<Found, keyof MarkedFirm>>(await db.query<Found>(select(where, end)));
  return found
    .filter((row) => row.isAuthentic && signersHold(rowMac, row))
    .map(({ isAuthentic: _, orderCode: __, fields: ___, mac: ____, customerName, customerEmail, ...order }) => ({
      ...order,
      // If the order names no signers, the client is the person who appears.
      signers: signersOf({ ...order, customerName, customerEmail }).map(({ name, email, language }) => ({
        name,
        email,
        language,
      })),
    }));
}

const select = (where: Statement, end: Statement): Statement => sql`
  SELECT o.id AS "orderId", o.code AS "code@order", o.environment, o.partner_id AS "partnerId", p.name AS "firmName",
    o.doc_slug AS "docSlug", o.document_name AS "documentName", o.external_reference AS reference, o.signer_state AS "signerState", t.id AS "taskId",
    t.claimed_by AS "claimedBy", t.claimed_at AS "claimedAt", t.due_at AS "dueAt", ${signingColumns},
    ${marked(orderState, sql`o`)}, ${marked(taskState, sql`t`)}, ${markedFirm}
  ${fromTasks} ${joinOrder(sql`t.order_id`)} ${joinFirm(sql`o.partner_id`)}
  WHERE t.kind = 'notarize' AND t.state IN ('open', 'claimed') AND o.status = 'NotarizationPending' AND ${where}
  ${end}`;

/** Unclaimed orders, sorted by their due time. */
export const unclaimedOrders = (reading: Reading, environment: Environment, limit: number) =>
  waitingOrders(
    reading,
    sql`t.environment = ${environment} AND t.claimed_by IS NULL`,
    sql`ORDER BY t.due_at, t.id LIMIT ${limit}`,
  );

/** The orders that a person has claimed, at most 100, sorted by their due time. */
export const claimedOrders = (reading: Reading, environment: Environment, by: string) =>
  waitingOrders(
    reading,
    sql`t.environment = ${environment} AND t.claimed_by = ${by}`,
    sql`ORDER BY t.due_at, t.id LIMIT 100`,
  );

/** Finds an order by its code. Undefined unless it waits for a notary in this environment and its MACs are valid. */
export async function waitingOrder(
  reading: Reading,
  environment: Environment,
  code: string,
): Promise<WaitingOrder | undefined> {
  const [order] = await waitingOrders(reading, sql`${hasOrderCode(code)} AND t.environment = ${environment}`);
  return order;
}

/** Finds an order by its number. Undefined unless it waits for a notary and its MACs are valid. */
export async function orderOfId(reading: Reading, orderId: number): Promise<WaitingOrder | undefined> {
  const [order] = await waitingOrders(reading, sql`o.id = ${orderId}`);
  return order;
}

/** Selects, from the orders with these ids, the orders that wait for a notary. The result is keyed by order id. */
export async function ordersOfIds(
  reading: Reading,
  ids: readonly number[],
): Promise<ReadonlyMap<number, WaitingOrder>> {
  const orders = await waitingOrders(reading, sql`o.id = ANY (${ids}::bigint[])`);
  return new Map(orders.map((order) => [order.orderId, order]));
}

/** Finds an order of any environment by its code. Undefined unless it waits for a notary and its MACs are valid. */
export async function waitingOrderOf(reading: Reading, code: string): Promise<WaitingOrder | undefined> {
  const [order] = await waitingOrders(reading, isSealed(sql`o.code`, "order", code));
  return order;
}

/** An order with the people who are to appear for it. The order may have any status. */
export type OrderPeople = OrderHead & Pick<WaitingOrder, "signers">;

type FoundPeople = Omit<OrderPeople, "signers"> & SigningFacts & { mac: Buffer | null } & Marked;

/**
 * Finds the people of an order. Undefined for an unknown order, and when the MAC of the order or of its signers is
 * invalid.
 */
export async function peopleOf({ db, rowMac }: Reading, orderId: number): Promise<OrderPeople | undefined> {
  const [row] = await db.query<FoundPeople>(sql`
    SELECT o.code AS "code@order", o.environment, o.partner_id AS "partnerId", o.status, ${signingColumns},
      ${marked(orderState, sql`o`)} ${fromOrders} WHERE o.id = ${orderId}`);
  if (!row?.isAuthentic || !signersHold(rowMac, row)) return undefined;
  const { code, environment, partnerId, status } = row;
  const signers = await withCurrentEmails(db, orderId, signersOf(row));
  return { code, environment, partnerId, status, signers };
}

/**
 * The people of an order with the addresses to which mails are sent now. When a signer's address is corrected after the
 * signing, the order itself keeps the earlier address.
 */
export async function withCurrentEmails(
  db: Sql,
  orderId: number,
  signers: Readonly<OrderPeople["signers"]>,
): Promise<OrderPeople["signers"]> {
  const corrections = await correctionsOf(db, orderId);
  return signers.map(({ name, email, language }) => ({
    name,
    email: currentEmail(corrections, { name, email }),
    language,
  }));
}

/** Finds the order of a task. Undefined unless it waits for a notary in this environment and its MACs are valid. */
export async function orderOfTask(
  reading: Reading,
  environment: Environment,
  taskId: number,
): Promise<WaitingOrder | undefined> {
  const [order] = await waitingOrders(reading, sql`t.id = ${taskId} AND t.environment = ${environment}`);
  return order;
}

/** A notary's draft for a claimed order: the noted act, and the appointment that was mailed last. */
export type Draft = { act: unknown; appointmentUrl: string | null; appointmentAt: Date | null };

/**
 * The MAC covers the draft, because the draft's act is copied to the journal and its web address to mails. It also
 * covers the draft's id, so that a deleted draft's row can't replace a new draft.
 */
const draftState: StateMac = {
  table: sql`notary_drafts`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (d) => sql`${d}.id, ${d}.task_id, ${d}.notary_id, ${d}.act, ${d}.appointment_url,
    extract(epoch FROM ${d}.appointment_at), extract(epoch FROM ${d}.updated_at), ${d}.state_version`,
};

export const draftRows = stateRows(draftState, { backfill: { set: "desk and checkout" } });

const draftOf = (taskId: number, notaryId: string) => sql`
  SELECT id, act, appointment_url AS "appointmentUrl", appointment_at AS "appointmentAt",
    ${verified(draftState, sql`notary_drafts`)}
  FROM notary_drafts WHERE task_id = ${taskId} AND notary_id = ${notaryId}`;

/**
 * Finds a notary's draft for an order's task.
 * @throws ServiceError `unavailable` for a draft whose MAC is invalid
 */
export async function findDraft(db: Sql, taskId: number, notaryId: string): Promise<Draft | undefined> {
  const [draft] = await db.query<Draft>(draftOf(taskId, notaryId));
  return draft;
}

/** Reads a draft as `findDraft` does, and locks it until the transaction ends. */
export async function lockDraft(
  tx: Tx,
  taskId: number,
  notaryId: string,
): Promise<(Draft & { id: string }) | undefined> {
  const [draft] = await tx.query<Draft & { id: string }>(sql`${draftOf(taskId, notaryId)} FOR NO KEY UPDATE`);
  return draft;
}

/**
 * The draft of the notary who has claimed the order. Notaries who claimed it earlier may have other drafts.
 * @throws as `findDraft`
 */
export async function draftOfClaimant(
  db: Sql,
  { taskId, claimedBy }: Pick<WaitingOrder, "taskId" | "claimedBy">,
): Promise<Draft | undefined> {
  const [notary] = await db.query<{ id: string }>(
    sql`SELECT id FROM notaries WHERE 'operator:' || operator_id = ${claimedBy}`,
  );
  return notary && findDraft(db, taskId, notary.id);
}

export const saveAct = (db: Database, taskId: number, notaryId: string, act: object, at: Date): Promise<void> =>
  db.transaction((tx) => saveDraft(tx, { taskId, notaryId, at }, sql`act = ${act}::jsonb`));

export const saveAppointment = (
  tx: Tx,
  taskId: number,
  notaryId: string,
  url: string,
  when: string | null,
  at: Date,
): Promise<void> => saveDraft(tx, { taskId, notaryId, at }, sql`appointment_url = ${url}, appointment_at = ${when}`);

type DraftKey = { taskId: number; notaryId: string; at: Date };

/**
 * Creates or changes a draft. Verifies the MAC of an existing draft first, because writing a new MAC would authenticate
 * a forged draft.
 */
async function saveDraft(tx: Tx, { taskId, notaryId, at }: DraftKey, set: Statement): Promise<void> {
  const [inserted] = await tx.query<{ id: string }>(sql`
    INSERT INTO notary_drafts (task_id, notary_id, updated_at) VALUES (${taskId}, ${notaryId}, ${at})
    ON CONFLICT (task_id, notary_id) DO NOTHING RETURNING id`);
  const id = inserted?.id ?? (await lockDraft(tx, taskId, notaryId))?.id;
  if (id === undefined) throw new ServiceError("conflict", "You no longer have this order.");
  await tx.query(sql`UPDATE notary_drafts SET ${set}, updated_at = ${at} WHERE id = ${id}`);
  await writeStateMacs(tx, draftState, sql`id = ${id}`);
}

/** The times of the appointments that a notary has mailed for claimed orders, by task. */
export async function appointmentsOf(db: Sql, notaryId: string): Promise<ReadonlyMap<number, Date>> {
  const found = await db.query<{ taskId: number; at: Date }>(sql`
    SELECT task_id AS "taskId", appointment_at AS at FROM notary_drafts
    WHERE notary_id = ${notaryId} AND appointment_at IS NOT NULL`);
  return new Map(found.map(({ taskId, at }) => [taskId, at]));
}

export const deleteDraft = (db: Sql, taskId: number) =>
  db.query(sql`DELETE FROM notary_drafts WHERE task_id = ${taskId}`);

/** Deletes the drafts whose task has ended. Skips a task whose row has an invalid MAC. */
export async function sweepDrafts(db: Sql): Promise<void> {
  const ended = await db.query<{ taskId: number } & Marked>(sql`
    SELECT t.id AS "taskId", ${marked(taskState, sql`t`)} FROM notary_drafts d ${joinTask(sql`d.task_id`)}
    WHERE t.state IN ('done', 'dropped')`);
  const ids = ended.filter(({ isAuthentic }) => isAuthentic).map(({ taskId }) => taskId);
  await db.query(sql`DELETE FROM notary_drafts WHERE task_id = ANY (${ids}::bigint[])`);
}
