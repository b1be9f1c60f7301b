import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import { enqueue } from "../../kernel/platform/jobs/jobs.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import type { ProviderName } from "../names.ts";
import { callColumn, callContext, type SealedJson } from "../sealed-json.ts";
import type { Intent, NewIntent } from "./act.ts";

const queuePrefix = "provider-act-";
/**
 * The queue of a provider's intents; payload `{intentId}`. Each provider has its own queue, so that an unresponsive
 * provider does not delay the others.
 */
export function actQueueOf(provider: ProviderName): string;
export function actQueueOf(column: Statement): Statement;
export function actQueueOf(provider: ProviderName | Statement): string | Statement {
  return typeof provider === "string" ? queuePrefix + provider : sql`${queuePrefix} || ${provider}`;
}

export type IntentState = "intended" | "begun" | "unknown" | "done" | "failed" | "withdrawn";

/** An intent with its state. */
export type IntentRow = Intent & {
  state: IntentState;
  /** How often the intent's act has begun. Unlike `attempt`, this number grows when the same intent is tried again. */
  tries: number;
  /** How many tries certainly had no effect. Not counted: tries while the provider was unavailable, and refusals. */
  failures: number;
  looks: number;
  lookAt: Date | null;
  awaySince: Date | null;
};

type Sealed<Row> = Omit<Row, "payload"> & { payload: Buffer | null };

const columns = sql`id, act, provider, order_id AS "orderId", attempt, payload, intended_at AS "intendedAt",
  begun_at AS "begunAt", state, tries, failures, looks, look_at AS "lookAt", away_since AS "awaySince"`;

/**
 * The MAC covers the columns that determine whether a request is sent. Payload and result are encrypted and bound to
 * their row.
 */
const callState: StateMac = {
  table: sql`provider_calls`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    c,
  ) => sql`${c}.id, ${c}.act, ${c}.provider, ${c}.order_id, ${c}.attempt, ${c}.state, ${c}.is_beside, ${c}.tries,
    ${c}.failures, ${c}.ended_by, ${c}.code, ${c}.state_version`,
};

/** For the select list of a query on `provider_calls`: makes the query throw for a row whose MAC is invalid. */
export const verifiedCall: Statement = verified(callState, sql`provider_calls`);

export const callRows = stateRows(callState, {
  backfill: { set: "desk and checkout" },
  ciphers: [sql`payload`, sql`result`].map((column) => ({ use: callColumn, column, context: callContext })),
});

/** The context that is authenticated with the encrypted columns, so that they can't be moved to another row. */
export const intentContext = ({ act, orderId, attempt }: Pick<Intent, "act" | "orderId" | "attempt">): string =>
  `${act}:${orderId}:${attempt}`;

/** Inserts an intent and its job. A repeated call with the same act, order and attempt changes nothing. */
export async function insertIntent(tx: Tx, sealed: SealedJson, intent: NewIntent): Promise<void> {
  const { act, provider, orderId, attempt, payload, at, isBeside = false } = intent;
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO provider_calls (act, provider, order_id, attempt, payload, intended_at, is_beside)
    VALUES (${act}, ${provider}, ${orderId}, ${attempt}, ${sealed.seal(payload, intentContext(intent))}, ${at}, ${isBeside})
    ON CONFLICT DO NOTHING RETURNING id`);
  if (row) await writeStateMacs(tx, callState, sql`id = ${row.id}`);
  if (row) await enqueue(tx, actQueueOf(provider), { intentId: row.id });
}

/** The FROM clause with which other features read acts. */
export const fromActs: Statement = sql`FROM provider_calls`;

/**
 * Locks and reads an intent. Locks the order first, as every transition does, to avoid deadlocks.
 * @throws ServiceError `unavailable` for an intent whose MAC is invalid
 */
export async function lockIntent(tx: Tx, sealed: SealedJson, id: number): Promise<IntentRow | undefined> {
  await tx.query(
    sql`SELECT FROM orders WHERE id = (SELECT order_id FROM provider_calls WHERE id = ${id}) FOR NO KEY UPDATE`,
  );
  const [row] = await tx.query<Sealed<IntentRow>>(
    sql`SELECT ${columns}, ${verifiedCall} FROM provider_calls WHERE id = ${id} FOR NO KEY UPDATE`,
  );
  return row && opened(sealed, row);
}

export async function findIntent(
  db: Sql,
  sealed: SealedJson,
  { act, orderId, attempt }: Pick<Intent, "act" | "orderId" | "attempt">,
): Promise<IntentRow | undefined> {
  const [row] = await db.query<Sealed<IntentRow>>(sql`
    SELECT ${columns}, ${verifiedCall} FROM provider_calls WHERE act = ${act} AND order_id = ${orderId} AND attempt = ${attempt}`);
  return row && opened(sealed, row);
}

const opened = <Row extends Sealed<IntentRow>>(sealed: SealedJson, row: Row): IntentRow => ({
  ...row,
  payload: row.payload && sealed.open(row.payload, intentContext(row)),
});

/** Changes an intent that the transaction has locked. */
export async function updateIntent(tx: Sql, id: number, set: Statement): Promise<void> {
  await tx.query(sql`UPDATE provider_calls SET ${set} WHERE id = ${id}`);
  await writeStateMacs(tx, callState, sql`id = ${id}`);
}

/** Queues the intent again after the delay. */
export async function enqueueIntent(
  tx: Sql,
  { id, provider }: Pick<Intent, "id" | "provider">,
  inMs: number,
): Promise<void> {
  await tx.query(
    sql`SELECT enqueue_job(${actQueueOf(provider)}, ${{ intentId: id }}::jsonb, now() + ${inMs} * interval '1 ms')`,
  );
}
