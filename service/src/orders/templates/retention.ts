import { hasLineSince, readWrittenLines } from "../../kernel/audit/audit.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { archivedTemplatesOf, ruled, type SourceOf, undueIn } from "../../kernel/retention/retention.ts";
import { leapt } from "../../kernel/test-clock/test-clock.ts";
import { isOrdered } from "../order/order.ts";

/** SQL condition: true if a feature still needs a version of a template. The members are SQL columns. */
export type UseOfVersion = (
  version: Record<"templateId" | "version" | "partnerId" | "environment", Statement>,
) => Statement;

/**
 * The retention rule for the documents of archived templates. A version is kept if an order was placed from it, or can
 * still be placed from it.
 * @param uses the conditions under which features still need a version
 */
export const versionSource =
  (uses: readonly UseOfVersion[]): SourceOf =>
  (plan) => {
    const version = {
      templateId: sql`v.template_id`,
      version: sql`v.version`,
      partnerId: sql`t.partner_id`,
      environment: sql`t.environment`,
    };
    const unused = uses.reduce((all, use) => sql`${all} AND NOT ${use(version)}`, sql`NOT ${isOrdered(version)}`);
    const days = archivedTemplatesOf(plan);
    const since = sql`t.archived_at`;
    const isDue = sql`t.archived_at IS NOT NULL AND ${unused}`;
    const { deletableAt, rule } = ruled([
      {
        name: "archivedTemplates",
        holds: sql`t.environment = 'test' AND ${isDue}`,
        days,
        since: leapt(since, sql`t.partner_id`),
      },
      { name: "archivedTemplates", holds: isDue, days, since },
    ]);
    const rows = sql`template_versions v JOIN templates t ON t.id = v.template_id`;
    const blobKey = sql`v.blob_key`;
    return {
      table: "template_versions",
      rows,
      partnerId: sql`t.partner_id`,
      environment: sql`t.environment`,
      id: sql`v.id`,
      first: "00000000-0000-0000-0000-000000000000",
      lock: sql`FOR NO KEY UPDATE OF t SKIP LOCKED`,
      blobKey,
      confirmed: archivedByLog,
      deletableAt,
      rule,
      sharesBlobs: false,
      // Keeps a blob that another version of the template still needs, because versions may share a document.
      unshared: (now) =>
        undueIn(
          { rows, blobKey, deletableAt },
          now,
          sql`AND v.template_id = (SELECT template_id FROM template_versions WHERE id = named.id::uuid)`,
        ),
    };
  };

/**
 * Selects the versions whose template is archived. A line of the audit log with a valid MAC must confirm the time in
 * the template's row. If a later line says that the template was restored, its versions are kept, even if that line
 * can't be verified.
 */
async function archivedByLog(db: Sql, rowMac: RowMac, ids: readonly string[]): Promise<string[]> {
  type Row = { id: string; templateId: string; partnerId: string; environment: string; archivedAt: Date };
  const restored = sql`action = 'template.restored' AND detail ->> 'templateId' = t.id::text`;
  const rows = await db.query<Row>(sql`
    SELECT v.id::text AS id, t.id AS "templateId", t.partner_id AS "partnerId", t.environment, t.archived_at AS "archivedAt"
    FROM template_versions v JOIN templates t ON t.id = v.template_id
    WHERE v.id = ANY (${ids}::uuid[]) AND t.archived_at IS NOT NULL AND NOT ${hasLineSince(restored, sql`t.archived_at`)}`);
  const templateIds = [...new Set(rows.map(({ templateId }) => templateId))];
  const named = sql`action = 'template.archived' AND detail ->> 'templateId' = ANY (${templateIds}::text[])`;
  const lines = rows.length === 0 ? [] : await readWrittenLines(db, rowMac, named);
  const archivedLines = lines.map(({ occurredAt, partnerId, detail }) => {
    // Lines of earlier releases don't name the environment. They confirm only rows that say live, because a test clock
    // can't move the deletion of live data.
    const { templateId, environment = "live" } = JSON.parse(detail ?? "{}") as Partial<Row>;
    return [templateId, partnerId, environment, Date.parse(`${occurredAt.slice(0, 23)}Z`)].join(" ");
  });
  const archived = new Set(archivedLines);
  return rows.flatMap(({ id, templateId, partnerId, environment, archivedAt }) =>
    archived.has([templateId, partnerId, environment, archivedAt.getTime()].join(" ")) ? id : [],
  );
}
