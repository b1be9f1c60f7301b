import { auditLine } from "../../kernel/audit/audit.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { AlteredRecordError, invalid } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { type FormVersion, insertVersion, opened, type Reading, type Stored, shown } from "./store.ts";

// The form of a catalog document is a template that belongs to the operator. Every firm of its environment can have it
// filled in, and no firm can list, change or order it as a template.

const maxVersions = 1000;

const ofCatalog = (environment: Environment): Statement => sql`t.partner_id IS NULL AND t.environment = ${environment}`;

type Row = Stored & { slug: string };

/**
 * Opens a form. No MAC covers the slug in its template's row. So compares that slug with the one in the form's content,
 * which the version's MAC covers.
 * @throws ServiceError `unavailable` for an altered form
 */
function openedForm(rowMac: RowMac, { slug, ...row }: Row): FormVersion & { slug: string } {
  const form = opened(rowMac, row);
  if (form.content.services.doc_slug !== slug) throw new AlteredRecordError();
  return { ...form, slug };
}

/** The latest version of a catalog document's form; undefined when it has none, or its form was retired. */
export async function findCatalogForm(
  { db, rowMac }: Reading,
  environment: Environment,
  slug: string,
): Promise<FormVersion | undefined> {
  const [row] = await db.query<Row>(sql`
    SELECT ${shown}, t.catalog_slug AS slug FROM templates t JOIN template_versions v ON v.template_id = t.id
    WHERE ${ofCatalog(environment)} AND t.catalog_slug = ${slug} AND t.archived_at IS NULL
    ORDER BY v.version DESC LIMIT 1`);
  return row && openedForm(rowMac, row);
}

/** A version that a fill uses. It is found even after the form was retired. */
export async function findCatalogVersion(
  { db, rowMac }: Reading,
  environment: Environment,
  { templateId, version }: { templateId: string; version: number },
): Promise<FormVersion | undefined> {
  const [row] = await db.query<Row>(sql`
    SELECT ${shown}, t.catalog_slug AS slug FROM templates t JOIN template_versions v ON v.template_id = t.id
    WHERE ${ofCatalog(environment)} AND t.id = ${templateId} AND v.version = ${version}`);
  return row && openedForm(rowMac, row);
}

/** The latest versions of the forms in use, ordered by slug. */
export async function listCatalogForms({ db, rowMac }: Reading, environment: Environment) {
  const rows = await db.query<Row>(sql`
    SELECT ${shown}, t.catalog_slug AS slug FROM templates t JOIN LATERAL (
      SELECT * FROM template_versions WHERE template_id = t.id ORDER BY version DESC LIMIT 1
    ) v ON true
    WHERE ${ofCatalog(environment)} AND t.archived_at IS NULL ORDER BY t.catalog_slug`);
  return rows.map((row) => openedForm(rowMac, row));
}

type NewForm = Pick<FormVersion, "environment" | "name" | "sha256" | "bytes" | "pages" | "blobKey"> & {
  slug: string;
  actor: string;
  at: Date;
};

/**
 * Adds a version of a document's form, and restores a retired form. The insert locks the form's row, so that two
 * concurrent calls get different version numbers.
 */
export async function addCatalogVersion(tx: Tx, rowMac: RowMac, form: NewForm): Promise<number> {
  const { slug, actor, at, ...facts } = form;
  const { environment, sha256 } = facts;
  const [template] = await tx.query<{ id: string; archivedAt: Date | null }>(sql`
    INSERT INTO templates AS t (id, environment, catalog_slug, created_at)
    VALUES (${newUuid()}, ${environment}, ${slug}, ${at})
    ON CONFLICT (environment, catalog_slug) WHERE partner_id IS NULL DO UPDATE SET created_at = t.created_at
    RETURNING id, archived_at AS "archivedAt"`);
  if (!template) throw new Error("the form's row was not returned");
  const { id: templateId, archivedAt } = template;
  const [latest] = await tx.query<{ version: number }>(sql`
    SELECT coalesce(max(version), 0) AS version FROM template_versions WHERE template_id = ${templateId}`);
  const version = (latest?.version ?? 0) + 1;
  if (version > maxVersions) throw invalid(`A form has at most ${maxVersions} versions.`);
  if (archivedAt) {
    await tx.query(sql`UPDATE templates SET archived_at = NULL WHERE id = ${templateId}`);
    await tx.query(auditLine({ at, action: "template.restored", actor, detail: { templateId, environment, slug } }));
  }
  const content = { roles: [], fields: null, services: { doc_slug: slug }, message: null };
  const owner = { templateId, version, partnerId: null };
  await insertVersion(tx, rowMac, { ...facts, ...owner, content, prints: [], createdBy: actor, createdAt: at });
  const detail = { templateId, environment, slug, version, sha256 };
  await tx.query(auditLine({ at, action: "catalog_form.added", actor, detail }));
  return version;
}

/**
 * Retires a document's form: no new fill can use it, and open ones can be finished. The retention plan deletes its
 * versions as it deletes those of an archived template.
 * @returns false for a document without a form in use
 */
export async function retireCatalogForm(
  tx: Tx,
  { slug, environment, actor, at }: Pick<NewForm, "slug" | "environment" | "actor" | "at">,
): Promise<boolean> {
  const [retired] = await tx.query<{ id: string }>(sql`
    UPDATE templates t SET archived_at = ${at}
    WHERE ${ofCatalog(environment)} AND t.catalog_slug = ${slug} AND t.archived_at IS NULL RETURNING t.id`);
  if (!retired) return false;
  const detail = { templateId: retired.id, environment, slug };
  await tx.query(auditLine({ at, action: "template.archived", actor, detail }));
  return true;
}
