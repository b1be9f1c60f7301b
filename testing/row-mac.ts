import { existsSync } from "node:fs";
import { join } from "node:path";
import { type DocumentFacts, documentMembers, documentOwnerColumns, orderState } from "../service/src/orders/orders.ts";
import type { Sql } from "../service/src/platform/database/database.ts";
import { type Statement, sql } from "../service/src/platform/database/sql.ts";
import { writeStateMacs } from "../service/src/platform/database/state-mac.ts";
import { type MacTable, openRowMac, type RowMac } from "../service/src/platform/row-mac.ts";
import { openSecretsKey, secretBytes } from "../service/src/platform/secrets.ts";
import { markMembers } from "../service/src/retention/retention.ts";
import { peopleRows } from "../service/src/row-mac-tables.ts";

/** The MACs of the service that runs on a data folder, for rows that a test writes in its place. */
export const rowMacOf = async (dataDir: string): Promise<RowMac> =>
  openRowMac(await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`));

type Writer = { db: Sql; rowMac: RowMac };

/** Changes rows of people in the service's place: all that do not hold afterwards get the MAC of what they say. */
export async function asService(writer: Writer, ...changes: readonly Statement[]): Promise<void> {
  for (const change of changes) await writer.db.query(change);
  for (const table of peopleRows) await giveMacs(writer, table);
}

async function giveMacs({ db, rowMac }: Writer, { table, key, rows, members }: MacTable<unknown>): Promise<void> {
  const found = await db.query<{ key: string; mac: Buffer | null }>(rows);
  for (const row of found) {
    const facts = members(row);
    if (facts === null || rowMac.holds(table.text, facts, row.mac)) continue;
    await db.query(sql`UPDATE ${table} SET row_mac = ${rowMac.of(table.text, facts)} WHERE ${key} = ${row.key}`);
  }
}

/** For a database handle of a test: the MACs of the folder's service, or those of a test key where no service has run. */
export const testRowMacOf = async (dataDir: string): Promise<RowMac> =>
  existsSync(join(dataDir, "keys/secrets")) ? rowMacOf(dataDir) : openRowMac(secretBytes(Buffer.alloc(32, 7)));

/** Changes an order as the service would: its row is authentic afterwards. */
export async function changeOrder(db: Sql, code: string, set: Statement): Promise<void> {
  await db.query(sql`UPDATE orders SET ${set} WHERE code = ${code}`);
  await authenticateOrders(db, sql`code = ${code}`);
}

/** Makes an order of test one of live, as if it had been placed there. */
export async function makeLive({ db, rowMac }: { db: Sql; rowMac: RowMac }, code: string): Promise<void> {
  await changeOrder(db, code, sql`environment = 'live'`);
  const documents = await db.query<DocumentFacts & { id: number }>(sql`
    SELECT d.id, ${documentOwnerColumns}, d.kind, d.sha256, d.blob_key AS "blobKey"
    FROM documents d JOIN orders o ON o.id = d.order_id WHERE o.code = ${code}`);
  for (const document of documents)
    await db.query(sql`
      UPDATE documents SET row_mac = ${rowMac.of("documents", documentMembers(document))} WHERE id = ${document.id}`);
}

/** Gives orders that a test wrote their MACs. */
export const authenticateOrders = (db: Sql, where: Statement): Promise<void> => writeStateMacs(db, orderState, where);

/** Marks the documents of an order as deleted, as the retention plan would. */
export async function markDeleted(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  code: string,
  rule: string,
): Promise<void> {
  const documents = await db.query<{ blobKey: string }>(sql`
    SELECT DISTINCT blob_key AS "blobKey" FROM documents d JOIN orders o ON o.id = d.order_id
    WHERE o.code = ${code} AND blob_key IS NOT NULL`);
  const deletedAt = new Date();
  for (const { blobKey } of documents)
    await db.query(sql`
      INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac)
      VALUES (${blobKey}, ${rule}, ${deletedAt}, ${rowMac.of("deleted_blobs", markMembers({ blobKey, rule, deletedAt }))})`);
}
