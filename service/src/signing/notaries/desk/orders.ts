import { type MarkedFirm, markedFirm, withFirmNames } from "../../../firms/partners/partners.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../../kernel/platform/database/state-mac.ts";
import { orderState } from "../../../orders/order/order.ts";

/** An order that waits for a notary, with the task that says so. */
export type WaitingOrder = {
  orderId: number;
  code: string;
  environment: Environment;
  partnerId: string;
  firmName: string;
  docSlug: string | null;
  reference: string | null;
  signerState: string | null;
  taskId: number;
  /** `operator:ID` of who has claimed it. */
  claimedBy: string | null;
  dueAt: Date;
  /** Who is to appear. */
  signers: { name: string; email: string; language: string }[];
};

// Whoever is to appear: the signers, or the client where none are named.
const signers = sql`coalesce(
  (SELECT jsonb_agg(jsonb_build_object('name', s ->> 'name', 'email', s ->> 'email', 'language', s ->> 'language'))
    FROM jsonb_array_elements(o.signers) s),
  jsonb_build_array(jsonb_build_object('name', coalesce(o.customer_name, o.customer_email), 'email', o.customer_email,
    'language', 'en')))`;

/** Orders that were changed outside the service are left out. */
async function waitingOrders(db: Sql, where: Statement, end: Statement = nothing): Promise<WaitingOrder[]> {
  const found = await db.query<WaitingOrder & Marked & MarkedFirm>(select(where, end));
  return withFirmNames<WaitingOrder & Marked>(found)
    .filter(({ isAuthentic }) => isAuthentic)
    .map(({ isAuthentic: _, ...order }) => order);
}

const select = (where: Statement, end: Statement): Statement => sql`
  SELECT o.id AS "orderId", o.code AS "code@order", o.environment, o.partner_id AS "partnerId", p.name AS "firmName",
    o.doc_slug AS "docSlug", o.external_reference AS reference, o.signer_state AS "signerState", t.id AS "taskId",
    t.claimed_by AS "claimedBy", t.due_at AS "dueAt", ${signers} AS signers, ${marked(orderState, sql`o`)}, ${markedFirm}
  FROM tasks t JOIN orders o ON o.id = t.order_id JOIN partners p ON p.id = o.partner_id
  WHERE t.kind = 'notarize' AND t.state IN ('open', 'claimed') AND o.status = 'NotarizationPending' AND ${where}
  ${end}`;

/** Orders that nobody has claimed, those that are due first at the top. */
export const unclaimedOrders = (db: Sql, environment: Environment, limit: number) =>
  waitingOrders(
    db,
    sql`t.environment = ${environment} AND t.claimed_by IS NULL`,
    sql`ORDER BY t.due_at, t.id LIMIT ${limit}`,
  );

/** What somebody has claimed. */
export const claimedOrders = (db: Sql, environment: Environment, by: string) =>
  waitingOrders(
    db,
    sql`t.environment = ${environment} AND t.claimed_by = ${by}`,
    sql`ORDER BY t.due_at, t.id LIMIT 100`,
  );

/** The order by its code; undefined when it waits for no notary, or is of the other environment. */
export async function waitingOrder(db: Sql, environment: Environment, code: string): Promise<WaitingOrder | undefined> {
  const [order] = await waitingOrders(
    db,
    sql`${isSealed(sql`o.code`, "order", code)} AND t.environment = ${environment}`,
  );
  return order;
}

/** The order of a task; undefined when it waits for no notary, or is of the other environment. */
export async function orderOfTask(
  db: Sql,
  environment: Environment,
  taskId: number,
): Promise<WaitingOrder | undefined> {
  const [order] = await waitingOrders(db, sql`t.id = ${taskId} AND t.environment = ${environment}`);
  return order;
}

/** What a notary has noted of a claimed order so far. */
export type Draft = { act: unknown; appointmentUrl: string | null; appointmentAt: Date | null };

const draftOf = (taskId: number, notaryId: string) => sql`
  SELECT act, appointment_url AS "appointmentUrl", appointment_at AS "appointmentAt" FROM notary_drafts
  WHERE task_id = ${taskId} AND notary_id = ${notaryId}`;

export async function findDraft(db: Sql, taskId: number, notaryId: string): Promise<Draft | undefined> {
  const [draft] = await db.query<Draft>(draftOf(taskId, notaryId));
  return draft;
}

/** The same, held until the transaction ends. */
export async function lockDraft(tx: Tx, taskId: number, notaryId: string): Promise<Draft | undefined> {
  const [draft] = await tx.query<Draft>(sql`${draftOf(taskId, notaryId)} FOR UPDATE`);
  return draft;
}

export const saveAct = (db: Sql, taskId: number, notaryId: string, act: object, at: Date) =>
  db.query(sql`
    INSERT INTO notary_drafts (task_id, notary_id, act, updated_at) VALUES (${taskId}, ${notaryId}, ${act}::jsonb, ${at})
    ON CONFLICT (task_id, notary_id) DO UPDATE SET act = excluded.act, updated_at = excluded.updated_at`);

export const saveAppointment = (
  db: Sql,
  taskId: number,
  notaryId: string,
  url: string,
  when: string | null,
  at: Date,
) =>
  db.query(sql`
    INSERT INTO notary_drafts (task_id, notary_id, appointment_url, appointment_at, updated_at)
    VALUES (${taskId}, ${notaryId}, ${url}, ${when}, ${at})
    ON CONFLICT (task_id, notary_id) DO UPDATE SET appointment_url = excluded.appointment_url,
      appointment_at = excluded.appointment_at, updated_at = excluded.updated_at`);

/** The appointments that a notary has mailed for claimed orders, by their tasks. */
export async function appointmentsOf(db: Sql, notaryId: string): Promise<ReadonlyMap<number, Date>> {
  const found = await db.query<{ taskId: number; at: Date }>(sql`
    SELECT task_id AS "taskId", appointment_at AS at FROM notary_drafts
    WHERE notary_id = ${notaryId} AND appointment_at IS NOT NULL`);
  return new Map(found.map(({ taskId, at }) => [taskId, at]));
}

export const deleteDraft = (db: Sql, taskId: number) =>
  db.query(sql`DELETE FROM notary_drafts WHERE task_id = ${taskId}`);

/** Deletes what was noted of orders that wait for no notary any more. */
export const sweepDrafts = (db: Sql) =>
  db.query(sql`
    DELETE FROM notary_drafts d USING tasks t WHERE t.id = d.task_id AND t.state IN ('done', 'dropped')`);
