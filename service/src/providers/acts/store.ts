import type { Sql, Tx } from "../../platform/database/database.ts";
import { type Statement, sql } from "../../platform/database/sql.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import type { ProviderName } from "../names.ts";
import type { SealedJson } from "../sealed-json.ts";
import type { Intent, NewIntent } from "./act.ts";

const queuePrefix = "provider-act-";
/**
 * The queue of a provider's intents to begin, or to look up; payload `{intentId}`. Each has its own: requests that hang at one do
 * not keep another's waiting.
 */
export function actQueueOf(provider: ProviderName): string;
export function actQueueOf(column: Statement): Statement;
export function actQueueOf(provider: ProviderName | Statement): string | Statement {
  return typeof provider === "string" ? queuePrefix + provider : sql`${queuePrefix} || ${provider}`;
}

export type IntentState = "intended" | "begun" | "unknown" | "done" | "failed" | "withdrawn";

/** An intent with how it stands. */
export type IntentRow = Intent & {
  state: IntentState;
  /** How often it began: the number of the try that is under way. */
  tries: number;
  /** Tries that were cut, or failed here. */
  failures: number;
  looks: number;
  lookAt: Date | null;
  awaySince: Date | null;
};

type Sealed<Row> = Omit<Row, "payload"> & { payload: Buffer | null };

const columns = sql`id, act, provider, order_id AS "orderId", attempt, payload, intended_at AS "intendedAt",
  begun_at AS "begunAt", state, tries, failures, looks, look_at AS "lookAt", away_since AS "awaySince"`;

/** What its encrypted columns are bound to. */
export const intentContext = ({ act, orderId, attempt }: Pick<Intent, "act" | "orderId" | "attempt">): string =>
  `${act}:${orderId}:${attempt}`;

/** The insert of an intent with its job; a second one of the same act and attempt changes nothing. */
export async function insertIntent(tx: Tx, sealed: SealedJson, intent: NewIntent): Promise<void> {
  const { act, provider, orderId, attempt, payload, at, isBeside = false } = intent;
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO provider_calls (act, provider, order_id, attempt, payload, intended_at, is_beside)
    VALUES (${act}, ${provider}, ${orderId}, ${attempt}, ${sealed.seal(payload, intentContext(intent))}, ${at}, ${isBeside})
    ON CONFLICT DO NOTHING RETURNING id`);
  if (row) await enqueue(tx, actQueueOf(provider), { intentId: row.id });
}

/** The intent with its row and its order's locked, the order first as whoever moves one does. */
export async function lockIntent(tx: Tx, sealed: SealedJson, id: number): Promise<IntentRow | undefined> {
  await tx.query(sql`SELECT FROM orders WHERE id = (SELECT order_id FROM provider_calls WHERE id = ${id}) FOR UPDATE`);
  const [row] = await tx.query<Sealed<IntentRow>>(
    sql`SELECT ${columns} FROM provider_calls WHERE id = ${id} FOR UPDATE`,
  );
  return row && opened(sealed, row);
}

export async function findIntent(
  db: Sql,
  sealed: SealedJson,
  { act, orderId, attempt }: Pick<Intent, "act" | "orderId" | "attempt">,
): Promise<IntentRow | undefined> {
  const [row] = await db.query<Sealed<IntentRow>>(sql`
    SELECT ${columns} FROM provider_calls WHERE act = ${act} AND order_id = ${orderId} AND attempt = ${attempt}`);
  return row && opened(sealed, row);
}

const opened = <Row extends Sealed<IntentRow>>(sealed: SealedJson, row: Row): IntentRow => ({
  ...row,
  payload: row.payload && sealed.open(row.payload, intentContext(row)),
});

/** Changes columns of an intent's row. */
export const updateIntent = (tx: Sql, id: number, set: Statement) =>
  tx.query(sql`UPDATE provider_calls SET ${set} WHERE id = ${id}`);

/** Has the intent taken up again after so long. */
export async function enqueueIntent(
  tx: Sql,
  { id, provider }: Pick<Intent, "id" | "provider">,
  inMs: number,
): Promise<void> {
  await tx.query(
    sql`SELECT enqueue_job(${actQueueOf(provider)}, ${{ intentId: id }}::jsonb, now() + ${inMs} * interval '1 ms')`,
  );
}
