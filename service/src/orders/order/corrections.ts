import { auditLine } from "../../kernel/audit/audit.ts";
import type { Owner } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../kernel/platform/protected-data.ts";
import type { Address } from "../pricing/pricing.ts";
import { verifiedOrders } from "./order-mac.ts";
import type { OrderState } from "./transitions/table.ts";

type CorrectionKind = "document" | "email" | "address" | "fax" | "signer" | "again" | "refund";

/** A recorded correction. `before` has the earlier values, and `after` the new ones. */
export type Correction = {
  kind: CorrectionKind;
  before: Readonly<Record<string, unknown>>;
  after: Readonly<Record<string, unknown>>;
  /** The actor, as the audit log names it. */
  actor: string;
  at: Date;
};

/** The MAC of a correction covers all of its columns. */
const correctionState: StateMac = {
  table: sql`order_corrections`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (c) =>
    sql`${c}.id, ${c}.order_id, ${c}.kind, ${c}.before, ${c}.after, ${c}.actor, extract(epoch FROM ${c}.at)`,
};

export const correctionRows = stateRows(correctionState);

/**
 * Writes a correction and its audit line, in the transaction of the change. The audit log contains no personal data.
 */
export async function recordCorrection(
  tx: Tx,
  { id: orderId, partnerId }: { id: number; partnerId: string },
  { kind, before, after, actor, at }: Correction,
): Promise<void> {
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO order_corrections (order_id, kind, before, after, actor, at)
    VALUES (${orderId}, ${kind}, ${JSON.stringify(before)}::jsonb, ${JSON.stringify(after)}::jsonb, ${actor}, ${at}) RETURNING id`);
  if (!row) throw new Error("the correction was not written");
  await writeStateMacs(tx, correctionState, sql`id = ${row.id}`);
  const detail = { correction: row.id, kind };
  await tx.query(auditLine({ at, action: "order.corrected", actor, partnerId, orderId, detail }));
}

/** The corrections of an order, oldest first. @throws ServiceError `unavailable` for an altered correction */
export const correctionsOf = (db: Sql, orderId: number) =>
  db.query<Correction>(sql`
    SELECT kind, before, after, actor, at, ${verified(correctionState, sql`c`)} FROM order_corrections c
    WHERE order_id = ${orderId} ORDER BY id`);

/**
 * The corrected address of a person whose address in the order is `email`. A person who signed keeps `email` in the
 * order, but gets mails and codes at the corrected address.
 *
 * If the person's signature was discarded, a later correction can set `email` in the order itself. From then on, the
 * earlier corrections no longer apply.
 */
export function currentEmail(
  corrections: readonly Pick<Correction, "kind" | "before" | "after">[],
  { name, email }: { name: string; email: string },
): string {
  const isSame = (one: unknown, other: string) => String(one).toLowerCase() === other.toLowerCase();
  const has = (names: unknown) => Array.isArray(names) && names.includes(name);
  let current = email;
  for (const { kind, before, after } of corrections) {
    if (kind !== "email" && kind !== "signer") continue;
    const isFromCurrent = isSame(before["email"], current);
    // Earlier releases did not record `moved` for a change of the client's address.
    const hasMoved = after["moved"] === undefined ? kind === "email" && isFromCurrent : has(after["moved"]);
    if (has(after["signed"])) {
      if (isFromCurrent) current = String(after["email"]);
    } else if (isSame(after["email"], email) && (after["name"] === name || hasMoved)) current = email;
  }
  return current;
}

/**
 * The number of changes of the client's email address. Links to documents depend on the count, so links that were
 * mailed to earlier addresses stop working.
 */
export async function emailChanges(db: Sql, orderCode: string): Promise<number> {
  const rows = await db.query(sql`
    SELECT ${verified(correctionState, sql`c`)} FROM order_corrections c JOIN orders o ON o.id = c.order_id
    WHERE ${isSealed(sql`o.code`, "order", orderCode)} AND c.kind = 'email'`);
  return rows.length;
}

/**
 * Reads an order of the owner with the facts that decide what its firm may correct; undefined for another owner's
 * order.
 */
export async function findToCorrect(db: Sql, orderCode: string, { partnerId, environment }: Owner) {
  const [order] = await db.query<OrderState & { id: number; shipTo: Address | null }>(sql`
    SELECT id, ship_to AS "shipTo", status, status_before_hold AS "statusBeforeHold", sign, notarize, ship, fax, ${verifiedOrders} FROM orders
    WHERE ${isSealed(sql`code`, "order", orderCode)} AND partner_id = ${partnerId} AND environment = ${environment}`);
  return order;
}

/** SQL expression: how often an order's document was replaced. */
export const replacementsOf = (orderId: Statement): Statement =>
  sql`(SELECT count(*)::int FROM order_corrections c WHERE c.order_id = ${orderId} AND c.kind = 'document')`;
