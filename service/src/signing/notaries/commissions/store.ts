import { emailOf } from "../../../firms/members/members.ts";
import { activeOperators, operatorName } from "../../../firms/operators/operators.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import type { Commission } from "./commission.ts";

/** A notary on record: the operator in the console, and the commission. */
export type Notary = Commission & { id: string; operatorId: string; operatorName: string; email: string };

const day = (column: ReturnType<typeof sql>) => sql`to_char(${column}, 'YYYY-MM-DD')`;

/** The MAC covers the columns of a notary: commission, registration, certificate and status. */
export const notaryState: StateMac = {
  table: sql`notaries`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (n) => sql`${n}.id, ${n}.operator_id, ${n}.commission_name, ${n}.state, ${n}.county, ${n}.commission_number,
    ${n}.commission_starts, ${n}.commission_expires, ${n}.ron_registration, ${n}.ron_starts, ${n}.ron_expires, ${n}.tool,
    ${n}.certificate, ${n}.certificate_chain, ${n}.status, ${n}.state_version`,
};

export const notaryRows = stateRows(notaryState, { backfill: { set: "firms, signers and notaries" } });

const select = (mac: Statement) => sql`
  SELECT n.id, n.operator_id AS "operatorId", ${operatorName(sql`n.operator_id`)} AS "operatorName", ${emailOf(sql`n.operator_id`)} AS email, n.commission_name AS "commissionName",
    n.state, n.county, n.commission_number AS "commissionNumber",
    ${day(sql`n.commission_starts`)} AS "commissionStarts", ${day(sql`n.ron_starts`)} AS "ronStarts",
    ${day(sql`n.commission_expires`)} AS "commissionExpires",
    n.ron_registration AS "ronRegistration", ${day(sql`n.ron_expires`)} AS "ronExpires", n.tool, n.certificate,
    n.certificate_chain AS "certificateChain", n.status, ${mac}
  FROM notaries n`;

const one = select(verified(notaryState, sql`n`));

/** All notaries. Skips rows whose MAC is invalid. */
export async function listNotaries(db: Sql): Promise<Notary[]> {
  const rows = await db.query<Notary & Marked>(sql`
    ${select(marked(notaryState, sql`n`))} ORDER BY n.commission_name, n.id`);
  return rows.filter(({ isAuthentic }) => isAuthentic).map(({ isAuthentic: _, ...notary }) => notary);
}

/** All notaries whose rows have a valid MAC. `mayWork` is true if the notary may sign in to the desk. */
export async function listWorkingNotaries(db: Sql): Promise<(Notary & { mayWork: boolean })[]> {
  const [notaries, operators] = await Promise.all([listNotaries(db), activeOperators(db, "notary")]);
  const working = new Set(operators.map(({ id }) => id));
  return notaries.map((notary) => ({ ...notary, mayWork: working.has(notary.operatorId) }));
}

/**
 * Finds a notary's record by its id.
 * @throws ServiceError `unavailable` for a row whose MAC is invalid
 */
export async function findNotary(db: Sql, id: string): Promise<Notary | undefined> {
  const [notary] = await db.query<Notary>(sql`${one} WHERE n.id = ${id}`);
  return notary;
}

/**
 * Locks the notary's record until the transaction ends. A transaction that also locks an order must lock the order
 * first.
 */
export async function lockNotary(tx: Tx, id: string): Promise<Notary | undefined> {
  await tx.query(sql`SELECT FROM notaries WHERE id = ${id} FOR NO KEY UPDATE`);
  return findNotary(tx, id);
}

export async function notaryOfOperator(db: Sql, operatorId: string): Promise<Notary | undefined> {
  const [notary] = await db.query<Notary>(sql`${one} WHERE n.operator_id = ${operatorId}`);
  return notary;
}

/** Operators with the role `notary` who have no notary's record yet. */
export async function operatorsToAdd(db: Sql) {
  const [operators, notaries] = await Promise.all([
    activeOperators(db, "notary"),
    db.query<{ operatorId: string }>(sql`SELECT operator_id AS "operatorId" FROM notaries`),
  ]);
  const added = new Set(notaries.map(({ operatorId }) => operatorId));
  return operators.filter(({ id }) => !added.has(id)).sort((a, b) => a.name.localeCompare(b.name, "en"));
}

export async function insertNotary(tx: Tx, id: string, operatorId: string, c: Commission, at: Date): Promise<boolean> {
  const rows = await tx.query(sql`
    INSERT INTO notaries (id, operator_id, commission_name, state, county, commission_number, commission_expires,
      ron_registration, ron_expires, tool, certificate, certificate_chain, status, commission_starts, ron_starts, created_at, updated_at)
    VALUES (${id}, ${operatorId}, ${c.commissionName}, ${c.state}, ${c.county}, ${c.commissionNumber},
      ${c.commissionExpires}, ${c.ronRegistration}, ${c.ronExpires}, ${c.tool}, ${c.certificate}, ${c.certificateChain},
      ${c.status}, ${c.commissionStarts}, ${c.ronStarts}, ${at}, ${at})
    ON CONFLICT (operator_id) DO NOTHING RETURNING id`);
  if (rows.length > 0) await writeStateMacs(tx, notaryState, sql`id = ${id}`);
  return rows.length > 0;
}

/** Stores the changed record of a notary. The caller must have locked the notary with `lockNotary`. */
export async function updateNotary(tx: Tx, id: string, c: Commission, at: Date): Promise<void> {
  await tx.query(sql`
    UPDATE notaries SET commission_name = ${c.commissionName}, state = ${c.state}, county = ${c.county},
      commission_number = ${c.commissionNumber}, commission_expires = ${c.commissionExpires},
      ron_registration = ${c.ronRegistration}, ron_expires = ${c.ronExpires}, tool = ${c.tool},
      certificate = ${c.certificate}, certificate_chain = ${c.certificateChain}, status = ${c.status},
      commission_starts = ${c.commissionStarts}, ron_starts = ${c.ronStarts}, updated_at = ${at}
    WHERE id = ${id}`);
  await writeStateMacs(tx, notaryState, sql`id = ${id}`);
}

/**
 * The number of days until the first expiry among all active notaries, separately for commissions and registrations.
 * Days end in UTC.
 */
export const notaryGauges = (now: Date): Statement => sql`
SELECT 'notary_expires_days' AS gauge, what AS label,
  extract(epoch FROM (min(expires_on) + 1)::timestamp - ${now}::timestamptz AT TIME ZONE 'UTC')::float8 / 86400 AS value
FROM notaries, LATERAL (VALUES ('commission', commission_expires), ('registration', ron_expires)) AS ends (what, expires_on)
WHERE status = 'active' AND expires_on IS NOT NULL GROUP BY what`;
