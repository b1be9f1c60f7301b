import type { Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { marked, type StateMac, verified, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import { keyRows } from "./keys/format.ts";

/** The columns of a firm that grant rights or are shown to strangers; its MAC covers them. */
export const firmState: StateMac = {
  table: sql`partners`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    p,
  ) => sql`${p}.id, ${p}.name, ${p}.tier, ${p}.live_enabled, ${p}.passkey_for_live, ${p}.demo, ${p}.brand_name,
    ${p}.accent_color, ${p}.logo_url, ${p}.contact_email, ${p}.state_version`,
};

export const protectedTables = [stateRows(firmState, { backfill: { set: "firms, signers and notaries" } }), keyRows];

/**
 * For the SELECT list of a query on `partners`, or on `partners p`: the columns from which the firm's MAC is verified.
 */
export const verifiedFirms = verified(firmState, sql`partners`);
export const verifiedFirm = verified(firmState, sql`p`);

/** SQL fragments with which other features read firms; the alias is `p`, as in `verifiedFirm`. */
export const fromFirms = sql`FROM partners p`;

/**
 * SQL: joins a row's firm as `partners p`.
 * @param id the firm's id, as an expression of the other tables
 */
export const joinFirm = (id: Statement): Statement => sql`JOIN partners p ON p.id = ${id}`;

/**
 * SQL expression: the name of a firm, without verifying the firm's MAC. For names that strangers see, use
 * `verifiedFirm`.
 */
export const firmNameOf = (id: Statement): Statement => sql`(SELECT p.name FROM partners p WHERE p.id = ${id})`;

/** Like `joinFirm`, for rows that may have no firm. */
export const leftJoinFirm = (id: Statement): Statement => sql`LEFT JOIN partners p ON p.id = ${id}`;

/** For the SELECT list of a query on `partners p`: the column `isFirmAuthentic`, which `withFirmNames` needs. */
export const markedFirm = marked(firmState, sql`p`, "isFirmAuthentic");
/** SQL subquery: the columns `firmName` and `isFirmAuthentic` of one firm. */
export const markedFirmOf = (id: Statement): Statement =>
  sql`(SELECT p.name AS "firmName", ${markedFirm} FROM partners p WHERE p.id = ${id})`;
export type MarkedFirm = { isFirmAuthentic: boolean };

/** The name that is shown in place of an altered firm's name. */
export const alteredFirm = "Altered outside the service";

/** Replaces the names of altered firms in operators' lists. */
export const withFirmNames = <Row extends { firmName: string | null }>(
  rows: readonly (Row & MarkedFirm)[],
): Omit<Row & MarkedFirm, "isFirmAuthentic">[] =>
  rows.map(({ isFirmAuthentic, ...row }) => (isFirmAuthentic ? row : { ...row, firmName: alteredFirm }));

/**
 * Locks a firm's row against concurrent changes, and verifies its MAC.
 * @returns false for an unknown firm
 * @throws ServiceError `unavailable` for a firm whose MAC is invalid
 */
export async function lockAuthenticFirm(tx: Tx, partnerId: string): Promise<boolean> {
  const found = await tx.query(sql`
    SELECT ${verifiedFirms} FROM partners WHERE id = ${partnerId} FOR NO KEY UPDATE`);
  return found.length === 1;
}

/** Writes the MAC after a change to a firm that `lockAuthenticFirm` has locked. */
export const vouchForFirm = (tx: Tx, partnerId: string): Promise<void> =>
  writeStateMacs(tx, firmState, sql`id = ${partnerId}`);
