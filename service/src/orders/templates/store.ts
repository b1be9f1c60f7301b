import { hash } from "node:crypto";
import type { StoredBlobs } from "../../firms/partners/partners.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";
import { deletedAt } from "../../kernel/retention/retention.ts";
import { documentBlobs, readTemplateUse } from "../order/order.ts";
import type { TemplateContent } from "./content.ts";
import type { PagePrint } from "./prints.ts";

/** A version as stored; `content` is JSON. */
type VersionRow = {
  templateId: string;
  version: number;
  /** The firm; null for the form of a catalog document, which belongs to the operator. */
  partnerId: string | null;
  environment: Environment;
  name: string;
  content: string;
  /**
   * The hash of the fingerprints' JSON. The fingerprints themselves are large, so they are read only for a comparison.
   */
  printsSha256: string;
  sha256: string;
  bytes: number;
  pages: number;
  blobKey: string;
};

export const storedVersions: StoredBlobs = (partnerId) => sql`
  SELECT DISTINCT v.blob_key, v.bytes FROM templates t JOIN template_versions v ON v.template_id = t.id
  WHERE t.partner_id = ${partnerId}`;

/** For queries on rows that name a template version, such as fills: joins the version as `v`. */
export const joinVersion: Statement = sql`JOIN template_versions v USING (template_id, version)`;

export type Stored = VersionRow & {
  createdAt: Date;
  archivedAt: Date | null;
  /** The time when the retention plan deleted the document. */
  deletedAt: Date | null;
  mac: Buffer | null;
};

type Opened<Row> = Omit<Row, "content" | "printsSha256" | "mac"> & { readonly content: TemplateContent };

/** A version of a firm's template, or of a catalog document's form. */
export type FormVersion = Opened<Stored>;

type FirmStored = Stored & { partnerId: string };
export type TemplateVersion = Opened<FirmStored>;

export type PrintedVersion = TemplateVersion & { readonly prints: readonly PagePrint[] };

/**
 * The MAC covers the owner. So if somebody moves a template to another firm in the database, its versions fail
 * verification.
 */
function versionMembers(row: VersionRow): Members {
  const { templateId, version, partnerId, environment, name, content, printsSha256, sha256, bytes, pages, blobKey } =
    row;
  return { templateId, version, partnerId, environment, name, content, printsSha256, sha256, bytes, pages, blobKey };
}

const columns: Statement = sql`v.template_id AS "templateId", v.version, t.partner_id AS "partnerId", t.environment, v.name,
  v.content, encode(sha256(convert_to(v.prints, 'UTF8')), 'hex') AS "printsSha256", v.sha256, v.bytes, v.pages, v.blob_key AS "blobKey", v.row_mac AS mac`;
export const shown: Statement = sql`${columns}, v.created_at AS "createdAt", t.archived_at AS "archivedAt", ${deletedAt(sql`v.blob_key`)}`;

export const versionRows: MacTable<VersionRow> = {
  table: sql`template_versions`,
  key: sql`id`,
  keyInRows: sql`v.id`,
  mac: sql`v.row_mac`,
  rows: sql`SELECT v.id AS key, ${columns}
FROM template_versions v JOIN templates t ON t.id = v.template_id`,
  members: versionMembers,
  blobs: documentBlobs,
};

/**
 * A stored version with its MAC verified and its content parsed.
 * @throws ServiceError `unavailable` for a version that was altered
 */
export function opened<Row extends Stored>(rowMac: RowMac, row: Row): Opened<Row> {
  rowMac.verify("template_versions", versionMembers(row), row.mac);
  const { mac: _mac, printsSha256: _prints, content, ...facts } = row;
  return { ...facts, content: JSON.parse(content) };
}

/**
 * Adds the fingerprints of the pages. They need no further check: the verified MAC covers their hash, which PostgreSQL
 * computed from the stored text.
 */
export async function withPrints(
  { db }: Pick<Reading, "db">,
  templates: readonly TemplateVersion[],
): Promise<PrintedVersion[]> {
  const rows = await db.query<{ templateId: string; version: number; prints: string }>(sql`
    SELECT v.template_id AS "templateId", v.version, v.prints FROM template_versions v
    JOIN unnest(${templates.map(({ templateId }) => templateId)}::uuid[], ${templates.map(({ version }) => version)}::int[])
      AS asked (template_id, version) USING (template_id, version)`);
  const prints = new Map(rows.map((row) => [`${row.templateId} ${row.version}`, row.prints]));
  return templates.map((each) => ({
    ...each,
    prints: JSON.parse(prints.get(`${each.templateId} ${each.version}`) ?? "[]"),
  }));
}

export type Reading = { db: Sql; rowMac: RowMac };

const ownedBy = ({ partnerId, environment }: Owner): Statement =>
  sql`t.partner_id = ${partnerId} AND t.environment = ${environment}`;

/** A version of the owner's template, the latest by default; undefined for another owner's template. */
export async function findVersion(
  { db, rowMac }: Reading,
  owner: Owner,
  templateId: string,
  version: number | null = null,
): Promise<TemplateVersion | undefined> {
  const [row] = await db.query<FirmStored>(sql`
    SELECT ${shown} FROM templates t JOIN template_versions v ON v.template_id = t.id
    WHERE t.id = ${templateId} AND ${ownedBy(owner)}${version === null ? nothing : sql` AND v.version = ${version}`}
    ORDER BY v.version DESC LIMIT 1`);
  return row && opened(rowMac, row);
}

/** The latest version of the owner's newest template for a catalog document. Archived templates are left out. */
export async function findVersionBySlug(
  { db, rowMac }: Reading,
  owner: Owner,
  slug: string,
): Promise<TemplateVersion | undefined> {
  const [row] = await db.query<FirmStored>(sql`
    SELECT ${shown} FROM templates t JOIN LATERAL (
      SELECT * FROM template_versions WHERE template_id = t.id ORDER BY version DESC LIMIT 1
    ) v ON true
    WHERE ${ownedBy(owner)} AND t.archived_at IS NULL AND v.content::jsonb #>> '{services,doc_slug}' = ${slug}
    ORDER BY t.created_at DESC, t.id DESC LIMIT 1`);
  return row && opened(rowMac, row);
}

export type ListFilter = { archived: boolean; after: string | null; limit: number };

/** The latest versions of the owner's templates, newest template first. */
export async function listTemplates(
  { db, rowMac }: Reading,
  owner: Owner,
  { archived, after, limit }: ListFilter,
): Promise<TemplateVersion[]> {
  const rows = await db.query<FirmStored>(sql`
    SELECT ${shown} FROM templates t JOIN LATERAL (
      SELECT * FROM template_versions WHERE template_id = t.id ORDER BY version DESC LIMIT 1
    ) v ON true
    WHERE ${ownedBy(owner)} AND (t.archived_at IS NOT NULL) = ${archived}
    ${after === null ? nothing : sql`AND (t.created_at, t.id) < (SELECT created_at, id FROM templates WHERE id = ${after})`}
    ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit}`);
  return rows.map((row) => opened(rowMac, row));
}

/**
 * The page counts of the owner's templates that are not archived. A document with a different number of pages matches
 * no template, so its words need not be read.
 */
export async function templatePageCounts(db: Sql, owner: Owner): Promise<number[]> {
  const rows = await db.query<{ pages: number }>(sql`
    SELECT DISTINCT v.pages FROM templates t JOIN template_versions v ON v.template_id = t.id
    WHERE ${ownedBy(owner)} AND t.archived_at IS NULL`);
  return rows.map(({ pages }) => pages);
}

export async function isOwnTemplate(db: Sql, templateId: string, owner: Owner): Promise<boolean> {
  return (await db.query(sql`SELECT FROM templates t WHERE t.id = ${templateId} AND ${ownedBy(owner)}`)).length === 1;
}

/** The firm's message to the signers of an order, from the order's template; null for none. */
export async function messageFor({ db, rowMac }: Reading, orderId: number): Promise<string | null> {
  const use = await readTemplateUse({ db, rowMac }, orderId);
  if (!use) return null;
  const template = await findVersion({ db, rowMac }, use.owner, use.templateId, use.version);
  if (!template) throw new Error(`order ${orderId} names a template that is not its firm's`);
  return template.content.message;
}

/**
 * Counts a firm's templates in one environment that are not archived. Locks the count until the transaction ends, so
 * that two concurrent calls can't both add the last allowed template.
 */
export async function countTemplates(tx: Tx, owner: Owner): Promise<number> {
  const { partnerId, environment } = owner;
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`templates ${partnerId} ${environment}`}, 0))`);
  const [row] = await tx.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM templates t WHERE ${ownedBy(owner)} AND t.archived_at IS NULL`);
  return row?.count ?? 0;
}

export async function insertTemplate(tx: Tx, templateId: string, { partnerId, environment }: Owner, at: Date) {
  await tx.query(sql`
    INSERT INTO templates (id, partner_id, environment, created_at)
    VALUES (${templateId}, ${partnerId}, ${environment}, ${at})`);
}

/** Locks the owner's template. @returns the number of its latest version; undefined for another owner's template */
export async function lockLatest(tx: Tx, owner: Owner, templateId: string): Promise<number | undefined> {
  const locked = await tx.query(sql`
    SELECT FROM templates t WHERE t.id = ${templateId} AND ${ownedBy(owner)} FOR NO KEY UPDATE`);
  if (locked.length === 0) return undefined;
  const [row] = await tx.query<{ version: number }>(sql`
    SELECT max(version) AS version FROM template_versions WHERE template_id = ${templateId}`);
  return row?.version ?? 0;
}

export type NewVersion = Omit<FormVersion & Pick<PrintedVersion, "prints">, "archivedAt" | "deletedAt"> & {
  createdBy: string;
};

export async function insertVersion(tx: Tx, rowMac: RowMac, version: NewVersion): Promise<void> {
  const prints = JSON.stringify(version.prints);
  const row: VersionRow = {
    ...version,
    content: JSON.stringify(version.content),
    printsSha256: hash("sha256", prints),
  };
  await tx.query(sql`
    INSERT INTO template_versions (id, template_id, version, name, content, prints, sha256, bytes, pages, blob_key,
      created_by, created_at, row_mac)
    VALUES (${newUuid()}, ${row.templateId}, ${row.version}, ${row.name}, ${row.content}, ${prints}, ${row.sha256}, ${row.bytes},
      ${row.pages}, ${row.blobKey}, ${version.createdBy}, ${version.createdAt},
      ${rowMac.of("template_versions", versionMembers(row))})`);
}

/**
 * Archives a template, or restores it when `at` is null.
 * @returns false when the template already had this state, or belongs to another owner
 */
export async function setArchived(tx: Tx, owner: Owner, templateId: string, at: Date | null): Promise<boolean> {
  const changed = await tx.query(sql`
    UPDATE templates t SET archived_at = ${at}
    WHERE t.id = ${templateId} AND ${ownedBy(owner)} AND (t.archived_at IS NULL) = ${at !== null} RETURNING 1`);
  return changed.length === 1;
}
