import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import {
  fromDocuments,
  fromOrders,
  hasDocument,
  type SigningFacts,
  signersHold,
  signersOf,
  signingColumns,
  verifiedOrder,
} from "../../../orders/order/order.ts";

/**
 * The mail by which a signer learns that the document is notarized. `link`: with a link to the document. `notice`:
 * without a link, for a signer whose email address is unverified. `none`: no such mail. Either the signer is the
 * order's client, who gets another mail, or the order is simulated.
 */
export type MailKind = "link" | "notice" | "none";

/** A person, as orders name them. Two people may share a mailbox. */
export type Person = { name: string; email: string };

export const isSamePerson = (one: Person, other: Person): boolean =>
  one.name === other.name && one.email.toLowerCase() === other.email.toLowerCase();

/**
 * Stores, for each signer of a notarized order, the kind of mail that tells the signer about the notarization. One mail
 * can cover several notices; `claimNotices` later stores which mail covers a notice.
 * @returns false when the kinds were stored earlier, because their mails are queued already
 */
export async function insertNotified(tx: Tx, orderId: number, kinds: ReadonlyMap<number, MailKind>): Promise<boolean> {
  const rows = [...kinds].map(([n, kind]) => ({ n, coveredBy: kind === "notice" ? null : kind }));
  const inserted = await tx.query(sql`
    INSERT INTO notarized_mails (order_id, n, covered_by)
    SELECT ${orderId}, one.n, one."coveredBy" FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS one (n int, "coveredBy" text)
    ON CONFLICT DO NOTHING RETURNING n`);
  return inserted.length > 0;
}

type Row = SigningFacts & { id: number; mac: Buffer | null; isWaiting: boolean };

/** The orders in which the person signs. Skips orders whose signers were altered. */
async function ordersOf(db: Sql, rowMac: RowMac, orders: readonly number[], person: Person) {
  const rows = await db.query<Row>(sql`
    SELECT ${signingColumns}, o.id, o.status = 'NotarizationPending' OR ${hasDocument(sql`o.id`, "notarized")}
        AND NOT EXISTS (SELECT FROM notarized_mails m WHERE m.order_id = o.id) AS "isWaiting", ${verifiedOrder}
    ${fromOrders} WHERE o.id = ANY (${orders}::bigint[]) AND o.notarize`);
  return rows
    .filter((row) => signersHold(rowMac, row))
    .flatMap((row) => {
      const index = signersOf(row).findIndex((signer) => isSamePerson(signer, person));
      return index < 0 ? [] : [{ orderId: row.id, n: index + 1, isWaiting: row.isWaiting }];
    });
}

/** True if one of these orders of the person waits for its notary, or is notarized but its mails are not queued yet. */
export const waitsForNotary = async (
  db: Sql,
  rowMac: RowMac,
  orders: readonly number[],
  person: Person,
): Promise<boolean> => (await ordersOf(db, rowMac, orders, person)).some(({ isWaiting }) => isWaiting);

/** True if a mail with a link to a notarized document of these orders has not been sent to the person yet. */
export async function waitsForLink(
  db: Sql,
  rowMac: RowMac,
  orders: readonly number[],
  person: Person,
): Promise<boolean> {
  const own = await ordersOf(db, rowMac, orders, person);
  const rows = await db.query(sql`
    SELECT FROM notarized_mails m
      JOIN unnest(${own.map(({ orderId }) => orderId)}::bigint[], ${own.map(({ n }) => n)}::int[]) AS own (order_id, n)
        ON own.order_id = m.order_id AND own.n = m.n
    WHERE m.covered_by = 'link' LIMIT 1`);
  return rows.length > 0;
}

/**
 * Claims the notices to a person about several orders, so that one mail covers them all. A mail that is retried after a
 * crash covers the same notices.
 * @param mail names the mail: the order and the signer's number in it, or `link:` and the signer's id for a mail with a
 * link
 * @param linked the orders whose documents this mail links to. This mail replaces the person's unsent mails with links
 * to these documents
 * @returns the orders that the mail covers; lacks the mail's own order if another mail covers that one
 */
export async function claimNotices(
  tx: Tx,
  rowMac: RowMac,
  orders: readonly number[],
  { mail, person, linked = [] }: { mail: string; person: Person; linked?: readonly number[] },
): Promise<number[]> {
  const own = await ordersOf(tx, rowMac, orders, person);
  const ids = own.map(({ orderId }) => orderId);
  const numbers = own.map(({ n }) => n);
  const rows = await tx.query<{ orderId: number; coveredBy: string | null }>(sql`
    SELECT m.order_id AS "orderId", m.covered_by AS "coveredBy" FROM notarized_mails m
      JOIN unnest(${ids}::bigint[], ${numbers}::int[]) AS own (order_id, n) ON own.order_id = m.order_id AND own.n = m.n
    WHERE m.covered_by IS NULL OR m.covered_by = ${mail} OR m.covered_by = 'link' AND m.order_id = ANY (${linked}::bigint[]) ORDER BY m.order_id FOR NO KEY UPDATE OF m`);
  const covered = rows.map(({ orderId }) => orderId);
  await tx.query(sql`
    UPDATE notarized_mails m SET covered_by = ${mail} FROM unnest(${ids}::bigint[], ${numbers}::int[]) AS own (order_id, n)
    WHERE m.order_id = own.order_id AND m.n = own.n AND m.order_id = ANY (${covered}::bigint[])`);
  return covered;
}

/**
 * The next notarized orders, with ids above `after`, for whose signers no mails were queued. A node of an earlier
 * release notarized these orders.
 */
export const findUnnotified = async (db: Sql, since: Date, before: Date, after: number): Promise<number[]> => {
  const rows = await db.query<{ id: number }>(sql`
    SELECT DISTINCT d.order_id AS id ${fromDocuments}
    WHERE d.kind = 'notarized' AND d.created_at BETWEEN ${since} AND ${before}
      AND NOT EXISTS (SELECT FROM notarized_mails m WHERE m.order_id = d.order_id)
      AND d.order_id > ${after}
    ORDER BY d.order_id LIMIT 100`);
  return rows.map(({ id }) => id);
};
