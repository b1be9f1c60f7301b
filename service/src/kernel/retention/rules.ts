import { readWrittenLines } from "../audit/audit.ts";
import type { Sql } from "../platform/database/database.ts";
import { nothing, type Statement, sql } from "../platform/database/sql.ts";
import { marked, markedAll, type StateMac } from "../platform/database/state-mac.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { leapt } from "./leaps.ts";
import { archivedTemplatesOf, type Days, type RetentionPlan } from "./plan.ts";

/** A rule of the plan and its condition. The first rule whose condition holds applies. */
type Rule = { name: string; holds: Statement; days: Days; since: Statement };

/** The MACs of rows that the plan depends on, which the features that own these rows provide. */
export type JudgedStates = { orders: StateMac; payments: StateMac; rooms: StateMac };

/** A table whose rows refer to blobs of evidence, and how long the plan keeps them. */
export type Source = {
  table: string;
  /** The text after FROM that selects the source's rows. */
  rows: Statement;
  /** The firm and the environment that own the row. */
  partnerId: Statement;
  environment: Statement;
  /** The key that orders the rows for batches, and a value that precedes the first one. */
  id: Statement;
  first: string;
  /** The clause that locks a row while it is checked; empty when the facts that are checked can't change back. */
  lock: Statement;
  blobKey: Statement;
  /** Locks all rows that share a blob; absent when no two rows share one. */
  lockAll?: Statement;
  /**
   * Selects the column `isAuthentic`: false for rows that fail their MAC, which the plan must ignore. Absent for rows
   * that have no MAC.
   */
  authentic?: (states: JudgedStates) => Statement;
  /** Selects the rows that the audit log confirms; absent when the check doesn't depend on the log. */
  confirmed?: (db: Sql, rowMac: RowMac, ids: readonly string[]) => Promise<string[]>;
  /** When the blob may be deleted; `infinity` for never. */
  keptUntil: Statement;
  rule: Statement;
  /**
   * For a row `named` (id as text, blob_key): a condition that is true when no row of this source needs the row's blob,
   * except rows that are due.
   */
  unshared: (now: Date) => Statement;
};

const after = (since: Statement, days: Days): Statement =>
  days === "none" ? sql`'infinity'::timestamptz` : sql`${since} + make_interval(days => ${days})`;

const choose = (rules: readonly Rule[], of: (rule: Rule) => Statement, otherwise: Statement): Statement => {
  const cases = rules.map((rule) => sql`WHEN ${rule.holds} THEN ${of(rule)}`);
  return sql`CASE ${cases.reduce((before, next) => sql`${before} ${next}`)} ELSE ${otherwise} END`;
};

const ruled = (rules: readonly Rule[]) => ({
  keptUntil: choose(rules, ({ since, days }) => after(since, days), sql`'infinity'::timestamptz`),
  rule: choose(rules, ({ name }) => sql`${name}::text`, sql`'none'`),
});

/** A condition that is true when no row of the table needs the blob of the row `named`. */
const unnamedIn = (table: Statement, where: Statement = nothing): Statement =>
  sql`NOT EXISTS (SELECT FROM ${table} AS other WHERE other.blob_key = named.blob_key ${where})`;

// Somebody can pay a checkout until it expires. The order's row doesn't show that a checkout exists. So an order's
// documents are needed until its last checkout expires.
const lastNeeded = sql`greatest(o.updated_at, (SELECT max(expires_at) FROM checkout_sessions WHERE order_id = o.id),
  (SELECT max(s.expires_at) FROM checkout_parts c JOIN checkout_sessions s ON s.id = c.checkout_id WHERE c.order_id = o.id))`;
const unpaid = sql`o.status IN ('Created', 'QuoteReady', 'ManualQuoteRequired', 'AwaitingPayment', 'PaymentFailed', 'Cancelled')
  AND NOT EXISTS (SELECT FROM payments WHERE order_id = o.id AND refunded_at IS NULL)`;

function documents({ test, live }: RetentionPlan): Source {
  const since = lastNeeded;
  const { keptUntil, rule } = ruled([
    {
      name: "test.orderDocuments",
      holds: sql`o.environment = 'test'`,
      days: test.orderDocuments,
      since: leapt(since, sql`o.partner_id`),
    },
    { name: "live.finishedOrders", holds: sql`o.status = 'Completed'`, days: live.finishedOrders, since },
    { name: "live.refundedOrders", holds: sql`o.status = 'Refunded'`, days: live.refundedOrders, since },
    { name: "live.unpaidOrders", holds: unpaid, days: live.unpaidOrders, since },
  ]);
  return {
    table: "documents",
    rows: sql`documents d JOIN orders o ON o.id = d.order_id`,
    partnerId: sql`o.partner_id`,
    environment: sql`o.environment`,
    id: sql`d.id`,
    first: "0",
    lock: sql`FOR NO KEY UPDATE OF o SKIP LOCKED`,
    lockAll: sql`ORDER BY o.id FOR NO KEY UPDATE OF o`,
    blobKey: sql`d.blob_key`,
    authentic: ({ orders, payments }) =>
      sql`${marked(orders, sql`o`)}, ${markedAll(payments, sql`p`, sql`FROM payments p WHERE p.order_id = o.id`)}`,
    keptUntil,
    rule,
    unshared: (now) => sql`
      ${unnamedIn(sql`fill_documents`, sql`AND used_at IS NULL`)}
      AND ${unnamedIn(sql`passports`)} AND ${unnamedIn(sql`closing_passports`)}
      AND NOT EXISTS (SELECT FROM documents d JOIN orders o ON o.id = d.order_id
        WHERE d.blob_key = named.blob_key AND ${keptUntil} > ${now})`,
  };
}

/** The PDF of a passport and its stored data are deleted together. */
const proofRules = ({ test, live }: RetentionPlan) => {
  const since = sql`p.created_at`;
  return ruled([
    {
      name: "test.proofPassports",
      holds: sql`p.environment = 'test'`,
      days: test.proofPassports,
      since: leapt(since, sql`p.partner_id`),
    },
    { name: "live.proofPassports", holds: sql`true`, days: live.proofPassports, since },
  ]);
};

function proofPassports(plan: RetentionPlan): Source {
  return {
    table: "passports",
    rows: sql`passports p`,
    partnerId: sql`p.partner_id`,
    environment: sql`p.environment`,
    id: sql`p.id`,
    first: "00000000-0000-0000-0000-000000000000",
    lock: nothing,
    blobKey: sql`p.blob_key`,
    ...proofRules(plan),
    unshared: () => sql`
      ${unnamedIn(sql`passports`, sql`AND other.id::text <> named.id`)}
      AND ${unnamedIn(sql`documents`)} AND ${unnamedIn(sql`closing_passports`)}`,
  };
}

/**
 * The certificates that describe the stored PDF. These certificates are deleted with it. Other certificates contain
 * only facts of the passport's row and, for the owner, the firm's name.
 */
function proofCertificates(plan: RetentionPlan): Source {
  return {
    table: "proof_certificates",
    rows: sql`proof_certificates c JOIN passports p ON p.id = c.passport_id AND c.document_kept`,
    partnerId: sql`p.partner_id`,
    environment: sql`p.environment`,
    id: sql`c.blob_key`,
    first: "",
    lock: nothing,
    blobKey: sql`c.blob_key`,
    ...proofRules(plan),
    unshared: () => sql`true`,
  };
}

function closingPassports({ test, live }: RetentionPlan): Source {
  const since = sql`greatest(r.updated_at, c.created_at)`;
  return {
    table: "closing_passports",
    rows: sql`closing_passports c JOIN rooms r ON r.id = c.room_id`,
    partnerId: sql`r.partner_id`,
    environment: sql`r.environment`,
    id: sql`c.verify_code`,
    first: "",
    lock: nothing,
    blobKey: sql`c.blob_key`,
    authentic: ({ rooms }) => marked(rooms, sql`r`),
    ...ruled([
      {
        name: "test.closingPassports",
        holds: sql`r.environment = 'test'`,
        days: test.closingPassports,
        since: leapt(since, sql`r.partner_id`),
      },
      { name: "live.closingPassports", holds: sql`true`, days: live.closingPassports, since },
    ]),
    unshared: () => sql`
      ${unnamedIn(sql`closing_passports`, sql`AND other.verify_code <> named.id`)}
      AND ${unnamedIn(sql`documents`)} AND ${unnamedIn(sql`passports`)}`,
  };
}

// A template's version is unused when no order was created from it and none can be: it has no open fill, and no bulk
// order with waiting or failed rows.
const unusedVersion = sql`NOT EXISTS (SELECT FROM order_templates u WHERE u.template_id = v.template_id AND u.version = v.version)
  AND NOT EXISTS (SELECT FROM bulks b JOIN bulk_rows r ON r.bulk_id = b.id
    WHERE b.partner_id = t.partner_id AND b.environment = t.environment AND b.template_id = v.template_id AND b.version = v.version
      AND r.state IN ('waiting', 'failed'))
  AND NOT EXISTS (SELECT FROM fills f WHERE f.template_id = v.template_id AND f.version = v.version AND f.state = 'open')`;

/**
 * The versions whose template was archived at the time that its row states. A line of the audit log with a valid MAC
 * must confirm this. If a later line says that the template was restored, its versions are kept, even if that line
 * can't be verified.
 */
async function archivedByLog(db: Sql, rowMac: RowMac, ids: readonly string[]): Promise<string[]> {
  type Row = { id: string; templateId: string; partnerId: string; environment: string; archivedAt: Date };
  const rows = await db.query<Row>(sql`
    SELECT v.id::text AS id, t.id AS "templateId", t.partner_id AS "partnerId", t.environment, t.archived_at AS "archivedAt"
    FROM template_versions v JOIN templates t ON t.id = v.template_id
    WHERE v.id = ANY (${ids}::uuid[]) AND t.archived_at IS NOT NULL AND NOT EXISTS (SELECT FROM audit_log
      WHERE action = 'template.restored' AND detail ->> 'templateId' = t.id::text AND occurred_at >= t.archived_at)`);
  const templateIds = [...new Set(rows.map(({ templateId }) => templateId))];
  const named = sql`action = 'template.archived' AND detail ->> 'templateId' = ANY (${templateIds}::text[])`;
  const lines = rows.length === 0 ? [] : await readWrittenLines(db, rowMac, named);
  const said = lines.map(({ occurredAt, partnerId, detail }) => {
    // Earlier releases did not record the environment. Such a template is treated as live, because test clocks don't
    // move the deletion of live data.
    const { templateId, environment = "live" } = JSON.parse(detail ?? "{}") as Partial<Row>;
    return [templateId, partnerId, environment, Date.parse(`${occurredAt.slice(0, 23)}Z`)].join(" ");
  });
  const known = new Set(said);
  return rows.flatMap(({ id, templateId, partnerId, environment, archivedAt }) =>
    known.has([templateId, partnerId, environment, archivedAt.getTime()].join(" ")) ? id : [],
  );
}

function archivedTemplates(plan: RetentionPlan): Source {
  const days = archivedTemplatesOf(plan);
  const since = sql`t.archived_at`;
  const isDue = sql`t.archived_at IS NOT NULL AND ${unusedVersion}`;
  const { keptUntil, rule } = ruled([
    {
      name: "archivedTemplates",
      holds: sql`t.environment = 'test' AND ${isDue}`,
      days,
      since: leapt(since, sql`t.partner_id`),
    },
    { name: "archivedTemplates", holds: isDue, days, since },
  ]);
  return {
    table: "template_versions",
    rows: sql`template_versions v JOIN templates t ON t.id = v.template_id`,
    partnerId: sql`t.partner_id`,
    environment: sql`t.environment`,
    id: sql`v.id`,
    first: "00000000-0000-0000-0000-000000000000",
    lock: sql`FOR NO KEY UPDATE OF t SKIP LOCKED`,
    blobKey: sql`v.blob_key`,
    confirmed: archivedByLog,
    keptUntil,
    rule,
    // Several versions of a template may share a document.
    unshared: (now) => sql`NOT EXISTS (SELECT FROM template_versions v JOIN templates t ON t.id = v.template_id
      WHERE v.template_id = (SELECT template_id FROM template_versions WHERE id = named.id::uuid)
        AND v.blob_key = named.blob_key AND ${keptUntil} > ${now})`,
  };
}

/** All sources of blobs that a plan deletes. */
export const sourcesOf = (plan: RetentionPlan): readonly Source[] => [
  documents(plan),
  proofPassports(plan),
  proofCertificates(plan),
  closingPassports(plan),
  archivedTemplates(plan),
];
