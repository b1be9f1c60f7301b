import type { Owner } from "../../kernel/identity/identity.ts";
import { dayMs } from "../../kernel/platform/clock.ts";
import { type ColumnCipher, columnCipher } from "../../kernel/platform/column-cipher.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import type { ProtectedTable } from "../../kernel/platform/protected-data.ts";
import type { SecretBytes } from "../../kernel/platform/secrets.ts";
import type { UseOfVersion } from "../templates/templates.ts";

const cipherUse = "bulk_row";

export const rowTable: ProtectedTable = {
  table: sql`bulk_rows`,
  key: sql`id`,
  ciphers: [{ use: cipherUse, column: sql`content`, context: sql`id::text` }],
};

export const rowStates = ["waiting", "placed", "failed", "canceled"] as const;
type RowState = (typeof rowStates)[number];

export type Bulk = {
  bulkId: string;
  templateId: string;
  version: number;
  createdAt: Date;
  rows: number;
} & Record<RowState, number>;

const counted = (state: RowState): Statement =>
  sql`(SELECT count(*)::int FROM bulk_rows r WHERE r.bulk_id = b.id AND r.state = ${state})`;

const bulkColumns = sql`b.id AS "bulkId", b.template_id AS "templateId", b.version, b.created_at AS "createdAt",
  (SELECT count(*)::int FROM bulk_rows r WHERE r.bulk_id = b.id) AS rows, ${counted("waiting")} AS waiting,
  ${counted("placed")} AS placed, ${counted("failed")} AS failed, ${counted("canceled")} AS canceled`;

const ownedBy = ({ partnerId, environment }: Owner): Statement =>
  sql`b.partner_id = ${partnerId} AND b.environment = ${environment}`;

/** SQL condition: true if waiting or retryable rows of a bulk use this template version. */
export const isAwaitedByBulks: UseOfVersion = ({ templateId, version, partnerId, environment }) => sql`
  EXISTS (SELECT FROM bulks b JOIN bulk_rows r ON r.bulk_id = b.id
    WHERE b.partner_id = ${partnerId} AND b.environment = ${environment} AND b.template_id = ${templateId}
      AND b.version = ${version} AND r.state IN ('waiting', 'failed'))`;

export async function findBulk(db: Sql, owner: Owner, bulkId: string): Promise<Bulk | undefined> {
  const [bulk] = await db.query<Bulk>(sql`
    SELECT ${bulkColumns} FROM bulks b WHERE b.id = ${bulkId} AND ${ownedBy(owner)}`);
  return bulk;
}

/**
 * The stored form of a row. It contains the owner and the position, so a row that an attacker copies within the
 * database is rejected.
 */
export type StoredRowForm = { owner: Owner; bulkId: string; n: number; fields: [string, string][] };
type StoredRowOrder = { orderCode: string };

export type RowCipher = {
  seal: (content: StoredRowForm | StoredRowOrder, id: string) => Buffer;
  open: (sealed: Buffer, id: string) => StoredRowForm | StoredRowOrder;
};

export function rowCipher(secrets: SecretBytes): RowCipher {
  const cipher: ColumnCipher = columnCipher(secrets, cipherUse);
  return {
    seal: (content, id) => cipher.encrypt(Buffer.from(JSON.stringify(content)), id),
    open: (sealed, id) => JSON.parse(cipher.decrypt(sealed, id).toString()),
  };
}

export type NewBulk = {
  owner: Owner;
  templateId: string;
  version: number;
  fingerprint: Buffer;
  createdBy: string;
  createdAt: Date;
};

/**
 * Inserts a bulk, unless the same one is already stored. A stored bulk whose rows are all canceled does not count,
 * because it can place nothing any more. Its fingerprint is changed, so that the new bulk can be stored with the same
 * content.
 * @returns the bulk's id; `isNew` is false when the same bulk was already sent
 */
export async function insertBulk(tx: Tx, bulk: NewBulk): Promise<{ bulkId: string; isNew: boolean }> {
  const { owner, templateId, version, fingerprint, createdBy, createdAt } = bulk;
  const { partnerId, environment } = owner;
  const id = newUuid();
  const same = sql`${ownedBy(owner)} AND b.template_id = ${templateId} AND b.version = ${version} AND b.fingerprint = ${fingerprint}`;
  await tx.query(sql`
    UPDATE bulks b SET fingerprint = sha256(b.fingerprint || uuid_send(b.id))
    WHERE ${same} AND NOT EXISTS (SELECT FROM bulk_rows r WHERE r.bulk_id = b.id AND r.state <> 'canceled')`);
  const inserted = await tx.query(sql`
    INSERT INTO bulks (id, partner_id, environment, template_id, version, fingerprint, created_by, created_at)
    VALUES (${id}, ${partnerId}, ${environment}, ${templateId}, ${version}, ${fingerprint}, ${createdBy}, ${createdAt})
    ON CONFLICT (partner_id, environment, template_id, version, fingerprint) DO NOTHING RETURNING 1`);
  if (inserted.length === 1) return { bulkId: id, isNew: true };
  const [before] = await tx.query<{ bulkId: string }>(sql`SELECT b.id AS "bulkId" FROM bulks b WHERE ${same}`);
  return { bulkId: before?.bulkId ?? id, isNew: false };
}

export const insertRows = (tx: Tx, bulkId: string, rows: readonly { id: string; n: number; content: Buffer }[]) =>
  tx.query(sql`
    INSERT INTO bulk_rows (id, bulk_id, n, content)
    SELECT row.id::uuid, ${bulkId}::uuid, row.n, row.content
    FROM unnest(${rows.map(({ id }) => id)}::text[], ${rows.map(({ n }) => n)}::int[],
      ${rows.map(({ content }) => content)}::bytea[]) AS row (id, n, content)`);

export type WaitingRow = { id: string; n: number; content: Buffer };

/**
 * The next waiting rows after row number `after`, in the order of the file. Includes failed rows that `retryRows` set
 * back to waiting.
 */
export const waitingRows = (
  db: Sql,
  bulkId: string,
  { after, limit }: { after: number; limit: number },
): Promise<WaitingRow[]> =>
  db.query<WaitingRow>(sql`
    SELECT id, n, content FROM bulk_rows
    WHERE bulk_id = ${bulkId} AND state = 'waiting' AND n > ${after} ORDER BY n LIMIT ${limit}`);

/**
 * Claims a row for its order. The claim is part of the statement that writes the order, so both are committed or
 * neither is.
 */
export const claimRow = (id: string, content: Buffer): Statement => sql`
  UPDATE bulk_rows SET state = 'placed', content = ${content}::bytea WHERE id = ${id}::uuid AND state = 'waiting' RETURNING 1`;

export const failRow = (db: Sql, id: string, reason: string) =>
  db.query(
    sql`UPDATE bulk_rows SET state = 'failed', reason = ${reason.slice(0, 1000)} WHERE id = ${id} AND state = 'waiting'`,
  );

export const retryRows = (db: Sql, bulkId: string) =>
  db.query(sql`UPDATE bulk_rows SET state = 'waiting', reason = NULL WHERE bulk_id = ${bulkId} AND state = 'failed'`);

/** Cancels the rows of a bulk that have no order yet, and deletes the personal data in them. */
export const cancelRows = (db: Sql, bulkId: string) =>
  db.query(sql`
    UPDATE bulk_rows SET state = 'canceled', content = NULL, reason = NULL
    WHERE bulk_id = ${bulkId} AND state IN ('waiting', 'failed')`);

export type ListedRow = { id: string; n: number; state: RowState; reason: string | null; content: Buffer | null };

export const listRows = (db: Sql, bulkId: string, { after, limit }: { after: number; limit: number }) =>
  db.query<ListedRow>(sql`
    SELECT id, n, state, reason, content FROM bulk_rows WHERE bulk_id = ${bulkId} AND n > ${after} ORDER BY n LIMIT ${limit}`);

const retentionMs = 30 * dayMs;

/**
 * Ends rows that have no order 30 days after their bulk was created. They can't be placed any more, and the personal
 * data in them are deleted.
 */
export const sweepBulks = (db: Sql, now: Date) =>
  db.query(sql`
    UPDATE bulk_rows r SET state = 'canceled', content = NULL, reason = NULL FROM bulks b
    WHERE b.id = r.bulk_id AND r.state IN ('waiting', 'failed') AND b.created_at < ${new Date(now.getTime() - retentionMs)}`);
