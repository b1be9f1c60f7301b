import { existsSync } from "node:fs";
import { join } from "node:path";
import { roomState } from "../service/src/closing/rooms/rooms.ts";
import { firmState } from "../service/src/firms/partners/partners.ts";
import { type EventRow, eventRow } from "../service/src/kernel/events/events.ts";
import type { Database, Sql } from "../service/src/kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../service/src/kernel/platform/database/sql.ts";
import { type StateMac, writeStateMacs } from "../service/src/kernel/platform/database/state-mac.ts";
import type { MacTable } from "../service/src/kernel/platform/protected-data.ts";
import { openRowMac, type RowMac } from "../service/src/kernel/platform/row-mac.ts";
import { openSecretsKey, secretBytes } from "../service/src/kernel/platform/secrets.ts";
import { isCode } from "../service/src/kernel/platform/text.ts";
import { markMembers } from "../service/src/kernel/retention/retention.ts";
import {
  type DocumentFacts,
  documentMembers,
  documentOwnerColumns,
  orderState,
  signerState,
} from "../service/src/orders/order/order.ts";
import { paymentState } from "../service/src/orders/payments/payments.ts";
import { notaryState } from "../service/src/signing/notaries/notaries.ts";
import { macTables } from "../service/src/upkeep/protected-data.ts";

/**
 * Opens the row MACs with the key of the service that uses a data folder. A test needs them for rows that it writes
 * itself.
 */
export const rowMacOf = async (dataDir: string): Promise<RowMac> =>
  openRowMac(await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`));

type Writer = { db: Sql; rowMac: RowMac };

/**
 * Runs statements that change rows about people. Then gives each changed row a valid MAC, as if the service had changed
 * it.
 */
export async function asService(writer: Writer, ...changes: readonly Statement[]): Promise<void> {
  for (const change of changes) await writer.db.query(change);
  for (const table of macTables) if (table.backfill?.set === "people") await giveMacs(writer, table);
}

async function giveMacs({ db, rowMac }: Writer, { table, key, rows, members }: MacTable): Promise<void> {
  const found = await db.query<{ key: string; mac: Buffer | null }>(rows);
  for (const row of found) {
    const facts = members(row);
    if (facts === null || rowMac.holds(table.text, facts, row.mac)) continue;
    await db.query(sql`UPDATE ${table} SET row_mac = ${rowMac.of(table.text, facts)} WHERE ${key} = ${row.key}`);
  }
}

/** Adds or updates the MACs of those rows of a table that a test wrote or changed. */
export async function authenticate(writer: Writer, table: string): Promise<void> {
  for (const each of macTables) if (each.table.text === table) await giveMacs(writer, each);
}

/** Row MACs with a fixed test key, for a database without a service. */
export const testRowMac: RowMac = openRowMac(secretBytes(Buffer.alloc(32, 7)));

/** The row MACs with the key of the service that uses a data folder, or with a test key if no service has run there. */
export const testRowMacOf = async (dataDir: string): Promise<RowMac> =>
  existsSync(join(dataDir, "keys/secrets")) ? rowMacOf(dataDir) : testRowMac;

/** Writes events without the service. An event whose subject is an order's code is stored as an event of that order. */
export async function writeEvents(db: Sql, events: readonly EventRow[]): Promise<void> {
  for (const event of events) {
    const orderId = sql`(SELECT id FROM orders WHERE ${hasCode(event.subject)})`;
    await db.query(eventRow(isCode(event.subject) ? { orderId, ...event } : event));
  }
}

const hasCode = (code: string): Statement => isSealed(sql`code`, "order", code);

/** Changes an order and its MAC, as the service would. */
export async function changeOrder(db: Sql, code: string, set: Statement): Promise<void> {
  await db.query(sql`UPDATE orders SET ${set} WHERE ${hasCode(code)}`);
  await authenticateOrders(db, hasCode(code));
}

/** Turns a test order into a live one, as if it had been placed live. */
export async function makeLive({ db, rowMac }: { db: Sql; rowMac: RowMac }, code: string): Promise<void> {
  await changeOrder(db, code, sql`environment = 'live'`);
  const documents = await db.query<DocumentFacts & { id: number }>(sql`
    SELECT d.id, ${documentOwnerColumns}, d.kind, d.sha256, d.blob_key AS "blobKey"
    FROM documents d JOIN orders o ON o.id = d.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
  for (const document of documents)
    await db.query(sql`
      UPDATE documents SET row_mac = ${rowMac.of("documents", documentMembers(document))} WHERE id = ${document.id}`);
}

/**
 * Changes rows of a table and their MACs in one transaction, so that a running service can't change them in between.
 * Locks the rows' orders first, as the service does, to avoid a deadlock: the service locks an order before its rows.
 */
export const changeRowsOf = (db: Database, state: StateMac, where: Statement, set: Statement): Promise<void> =>
  db.transaction(async (tx) => {
    const orders = sql`SELECT (to_jsonb(r) ->> 'order_id')::bigint FROM ${state.table} r WHERE ${where}`;
    await tx.query(sql`SELECT FROM orders WHERE id IN (${orders}) ORDER BY id FOR NO KEY UPDATE`);
    await tx.query(sql`UPDATE ${state.table} SET ${set} WHERE ${where}`);
    await writeStateMacs(tx, state, where);
  });

/** Adds MACs to orders that a test wrote. */
export const authenticateOrders = (db: Sql, where: Statement): Promise<void> => writeStateMacs(db, orderState, where);

/** Adds or updates MACs of rooms and payments that a test wrote or changed. */
export const authenticateRooms = (db: Sql, where: Statement): Promise<void> => writeStateMacs(db, roomState, where);
export const authenticatePayments = (db: Sql, where: Statement): Promise<void> =>
  writeStateMacs(db, paymentState, where);

/** Marks the documents of an order as deleted, as the retention plan does. */
export async function markDeleted(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  code: string,
  rule: string,
): Promise<void> {
  const documents = await db.query<{ blobKey: string }>(sql`
    SELECT DISTINCT blob_key AS "blobKey" FROM documents d JOIN orders o ON o.id = d.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND blob_key IS NOT NULL`);
  const deletedAt = new Date();
  for (const { blobKey } of documents)
    await db.query(sql`
      INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac)
      VALUES (${blobKey}, ${rule}, ${deletedAt}, ${rowMac.of("deleted_blobs", markMembers({ blobKey, rule, deletedAt }))})`);
}

/** Changes a firm and its MAC, as the service would. */
export async function changeFirm(db: Sql, partnerId: string, set: Statement): Promise<void> {
  await db.query(sql`UPDATE partners SET ${set} WHERE id = ${partnerId}`);
  await authenticateFirms(db);
}

/** Adds or updates the MACs of all firms, after a test wrote some. */
export const authenticateFirms = (db: Sql): Promise<void> => writeStateMacs(db, firmState, sql`true`);

/** Changes signers of envelopes and their MACs, as the service would. */
export async function changeSigners(db: Sql, set: Statement, where: Statement): Promise<void> {
  await db.query(sql`UPDATE envelope_signers SET ${set} WHERE ${where}`);
  await writeStateMacs(db, signerState, where);
}

/** Adds or updates the MACs of all notaries, after a test wrote some. */
export const authenticateNotaries = (db: Sql): Promise<void> => writeStateMacs(db, notaryState, sql`true`);
