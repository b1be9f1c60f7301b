import { nothing, type Statement, sql } from "../platform/database/sql.ts";
import { marked, markedAll, type StateMac } from "../platform/database/state-mac.ts";
import { archivedTemplatesOf, type Days, type RetentionPlan } from "./plan.ts";

/** A rule of the plan and its condition. The first whose condition holds applies. */
type Rule = { name: string; holds: Statement; days: Days; since: Statement };

/** The MACs of rows that the plan depends on, from the features above. */
export type JudgedStates = { orders: StateMac; payments: StateMac; rooms: StateMac };

/** Rows of evidence that refer to a blob, and how long the plan keeps it. */
export type Source = {
  table: string;
  /** The text after FROM. */
  rows: Statement;
  /** The row's owner. */
  partnerId: Statement;
  environment: Statement;
  /** The key by which pages of rows are read, and a value before the first. */
  id: Statement;
  first: string;
  /** Locks a row while it is judged; empty when the judged facts never revert. */
  lock: Statement;
  blobKey: Statement;
  /** Marks rows that fail their MAC, by which the plan must not judge; empty without a MAC. */
  /** Locks all rows that share a blob; absent when each blob has one row. */
  lockAll?: Statement;
  authentic?: (states: JudgedStates) => Statement;
  /** When the blob may be deleted; `infinity` for never. */
  keptUntil: Statement;
  rule: Statement;
  /** For a row `named` (id as text, blob_key): true when only due rows of this source need its blob. */
  unshared: (now: Date) => Statement;
};

const after = (since: Statement, days: Days): Statement =>
  days === "none" ? sql`'infinity'::timestamptz` : sql`${since} + make_interval(days => ${days})`;

// The most that PostgreSQL can compute with. A plan that uses test clocks never keeps longer.
const mostLeaptSeconds = 5 * 365 * 24 * 3600;
// Longer than any law asks for.
const mostMovedSeconds = 100 * 365 * 24 * 3600;

/** How far the firm's test clock was moved in all, after the last of these advances, with one index look-up. */
const movedSeconds = (partnerId: Statement, which: Statement = nothing): Statement => sql`coalesce((
  SELECT total_seconds FROM test_clock_advances WHERE partner_id = ${partnerId} ${which}
  ORDER BY advanced_at DESC, id DESC LIMIT 1), 0)`;

/** How far the firm's test clock was moved since then, as an interval. */
export const movedSince = (since: Statement, partnerId: Statement): Statement => sql`make_interval(secs => least(
  ${movedSeconds(partnerId)} - ${movedSeconds(partnerId, sql`AND advanced_at < ${since}`)}, ${mostMovedSeconds})::float8)`;

/** The time moved back by the firm's test clock advances since then. */
const leapt = (since: Statement, partnerId: Statement): Statement => sql`${since} - make_interval(secs => least(
  ${movedSeconds(partnerId)} - ${movedSeconds(partnerId, sql`AND advanced_at < ${since}`)}, ${mostLeaptSeconds})::float8)`;

const choose = (rules: readonly Rule[], of: (rule: Rule) => Statement, otherwise: Statement): Statement => {
  const cases = rules.map((rule) => sql`WHEN ${rule.holds} THEN ${of(rule)}`);
  return sql`CASE ${cases.reduce((before, next) => sql`${before} ${next}`)} ELSE ${otherwise} END`;
};

const ruled = (rules: readonly Rule[]) => ({
  keptUntil: choose(rules, ({ since, days }) => after(since, days), sql`'infinity'::timestamptz`),
  rule: choose(rules, ({ name }) => sql`${name}::text`, sql`'none'`),
});

/** True when no row of the table needs the blob of the row `named`. */
const unnamedIn = (table: Statement, where: Statement = nothing): Statement =>
  sql`NOT EXISTS (SELECT FROM ${table} AS other WHERE other.blob_key = named.blob_key ${where})`;

// A checkout can be paid until it ends, and minting one doesn't change its order.
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

/** A passport's PDF and its stored data end together. */
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
 * The certificates that describe the stored PDF. Others say no more than the passport's row; the owner's also names
 * the firm.
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

// An order names the fields of its version for good, and a version that an order may still be placed from needs its document.
const unusedVersion = sql`NOT EXISTS (SELECT FROM order_templates u WHERE u.template_id = v.template_id AND u.version = v.version)
  AND NOT EXISTS (SELECT FROM bulks b JOIN bulk_rows r ON r.bulk_id = b.id
    WHERE b.partner_id = t.partner_id AND b.environment = t.environment AND b.template_id = v.template_id AND b.version = v.version
      AND r.state IN ('waiting', 'failed'))
  AND NOT EXISTS (SELECT FROM fills f WHERE f.template_id = v.template_id AND f.version = v.version AND f.state = 'open')`;

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
    keptUntil,
    rule,
    // Versions of one template may have the same document.
    unshared: (now) => sql`NOT EXISTS (SELECT FROM template_versions v JOIN templates t ON t.id = v.template_id
      WHERE v.template_id = (SELECT template_id FROM template_versions WHERE id = named.id::uuid)
        AND v.blob_key = named.blob_key AND ${keptUntil} > ${now})`,
  };
}

/** Everything whose blobs a plan deletes. */
export const sourcesOf = (plan: RetentionPlan): readonly Source[] => [
  documents(plan),
  proofPassports(plan),
  proofCertificates(plan),
  closingPassports(plan),
  archivedTemplates(plan),
];
