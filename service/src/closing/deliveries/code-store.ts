import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";

/**
 * The MAC also covers the number of wrong attempts and the lock. So database access alone is not enough to try more
 * codes.
 */
export const codeState: StateMac = {
  table: sql`closing_delivery_codes`,
  key: sql`delivery_id`,
  mac: sql`row_mac`,
  covered: (c) => sql`${c}.delivery_id, ${c}.code_id, extract(epoch FROM ${c}.asked_at), ${c}.asked, ${c}.failures,
    extract(epoch FROM ${c}.locked_at), ${c}.state_version`,
};

/**
 * The newest code of a delivery's link. `codeId` is null until the first code is mailed, and again after the newest
 * code was used.
 */
type DeliveryCode = {
  codeId: string | null;
  askedAt: Date | null;
  /** The number of codes that were requested for the link so far. */
  asked: number;
  failures: number;
  lockedAt: Date | null;
};

const codes = (id: string) => sql`
  SELECT c.code_id AS "codeId", c.asked_at AS "askedAt", c.asked, c.failures, c.locked_at AS "lockedAt",
    ${verified(codeState, sql`c`)}
  FROM closing_delivery_codes c WHERE c.delivery_id = ${id}`;

export async function selectCode(db: Sql, id: string): Promise<DeliveryCode | undefined> {
  const [found] = await db.query<DeliveryCode>(codes(id));
  return found;
}

/** Locks the code, so that concurrent tries are counted one after another. */
export async function lockCode(tx: Tx, id: string): Promise<DeliveryCode | undefined> {
  const [found] = await tx.query<DeliveryCode>(sql`${codes(id)} FOR NO KEY UPDATE`);
  return found;
}

export async function updateCode(tx: Tx, id: string, code: DeliveryCode): Promise<void> {
  const { codeId, askedAt, asked, failures, lockedAt } = code;
  await tx.query(sql`
    UPDATE closing_delivery_codes SET code_id = ${codeId}, asked_at = ${askedAt}, asked = ${asked}, failures = ${failures},
      locked_at = ${lockedAt} WHERE delivery_id = ${id}`);
  await writeStateMacs(tx, codeState, sql`delivery_id = ${id}`);
}
