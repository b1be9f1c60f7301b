import { existsSync } from "node:fs";
import { join } from "node:path";
import { queueEarlierVersions } from "../closing/closing-passports/closing-passports.ts";
import { recordedChains } from "../evidence/seals/seals.ts";
import { markImport } from "../evidence/transparency-log/transparency-log.ts";
import { operatorMail } from "../firms/operators/operators.ts";
import { revokedKeys } from "../firms/partners/partners.ts";
import type { Clock } from "../kernel/platform/clock.ts";
import { longStatements, type Sql, type Tx } from "../kernel/platform/database/database.ts";
import type { AsOwner } from "../kernel/platform/database/migrations.ts";
import { listed, nothing, type Statement, sql } from "../kernel/platform/database/sql.ts";
import { digestOf, stateMembers } from "../kernel/platform/database/state-mac.ts";
import { writeFileDurably } from "../kernel/platform/durable-file.ts";
import { StartupError } from "../kernel/platform/errors.ts";
import type { Log } from "../kernel/platform/logs.ts";
import { type MacRow, type MacTable, macColumn } from "../kernel/platform/protected-data.ts";
import { durableRevocationRow } from "../kernel/platform/revocations.ts";
import { openRowMac, type RowMac } from "../kernel/platform/row-mac.ts";
import type { SecretBytes } from "../kernel/platform/secrets.ts";
import {
  documentRows,
  earlierDocumentHolds,
  earlierOrderStates,
  fromOrders,
  joinOrder,
  orderRows,
  orderState,
} from "../orders/order/order.ts";
import { renameSandboxPayments } from "../orders/payments/payments.ts";
import { expiryMail } from "../signing/notaries/notaries.ts";
import { backfillRows, macTables, recordMembers } from "./protected-data.ts";

export type RowMacDeps = { db: Sql; asOwner: AsOwner; rowMac: RowMac; secrets: SecretBytes; clock: Clock; log: Log };

// Number of the advisory lock that all nodes share. Its holder adds the missing MACs; the other nodes wait, and then
// find none missing.
const advisoryLock = 7_246_003;
const ordersAtOnce = 500;

/** A set of tables whose rows got their MACs in the same release. */
type RowSet = {
  /** The set's name in the declarations of the tables. */
  name: string;
  /** The name of a file next to the keys. The file records that the set's MACs were added. */
  marker: string;
  /**
   * Converts other rows for the release that introduced the set's MACs, in the transaction that adds the MACs. Returns
   * the number of changed rows.
   */
  fill?: (tx: Tx, deps: RowMacDeps) => Promise<number>;
};

const rowSets: readonly RowSet[] = [
  { name: "revocations", marker: "row-macs-filled-revocations", fill: fillRevocations },
  { name: "webhooks", marker: "row-macs-filled-webhooks" },
  { name: "people", marker: "row-macs-filled-people" },
  { name: "orders", marker: "row-macs-filled-orders", fill: refillDocuments },
  { name: "events", marker: "row-macs-filled-events" },
  { name: "firms, signers and notaries", marker: "row-macs-filled-firms" },
  { name: "money", marker: "row-macs-filled-money" },
  { name: "rooms", marker: "row-macs-filled-rooms" },
  { name: "audit lines", marker: "row-macs-filled-audit-lines" },
  { name: "envelopes of orders", marker: "row-macs-filled-envelopes", fill: refillOrders },
  {
    name: "codes of orders",
    marker: "row-macs-filled-codes",
    fill: async (tx, deps) => (await refillOrders(tx, deps)) + (await renameSandboxPayments(tx)),
  },
  { name: "desk and checkout", marker: "row-macs-filled-desk-and-checkout" },
  { name: "signers of orders", marker: "row-macs-filled-signers" },
  { name: "carriers", marker: "row-macs-filled-carriers" },
  { name: "tasks and payers", marker: "row-macs-filled-tasks", fill: refillOrders },
  { name: "certificates of signers", marker: "row-macs-filled-certificates" },
  {
    name: "requests and mails",
    marker: "row-macs-filled-requests",
    fill: async (tx) => (await operatorMail.vouch(tx)) + (await expiryMail.vouch(tx)),
  },
  { name: "receipts", marker: "row-macs-filled-receipts" },
  { name: "disputes", marker: "row-macs-filled-disputes" },
  // A migration queued the log lines of earlier seals. This set adds the log lines of earlier closing versions.
  {
    name: "lines of the log",
    marker: "row-macs-filled-log",
    fill: async (tx, { clock, log }) => (await queueEarlierVersions(tx, log)) + (await markImport(tx, clock())),
  },
];

/**
 * Adds MACs to the rows of earlier releases, and trusts the present content of these rows. This happens once for each
 * database, at the first start of a release that needs these MACs. A record in the database (with a MAC) and a file
 * next to the keys then state that the MACs were added. So an attacker must delete both to make the service add MACs to
 * forged rows.
 * @throws StartupError when only the file exists: the database is older, or somebody removed the record
 */
export async function fillRowMacs(deps: RowMacDeps, dataDir: string): Promise<void> {
  const markerOf = ({ marker }: RowSet) => join(dataDir, "keys", marker);
  const marked = rowSets.filter((set) => existsSync(markerOf(set)));
  const lost = await withoutRecord(deps.db, marked);
  // A new database with existing keys is allowed, because it contains no rows to protect yet.
  if (lost.length > 0 && !(await isEmpty(deps.db))) throw refusal(lost.map(markerOf));
  const missing = rowSets.filter((set) => !marked.includes(set) || lost.includes(set));
  if (missing.length === 0) return;
  await deps.asOwner(async (owner) => {
    for (const set of missing) await owner.transaction((tx) => fillOnce(tx, deps, set), longStatements);
  });
  for (const set of missing) await writeFileDurably(markerOf(set), `${deps.clock().toISOString()}\n`, { mode: 0o600 });
}

async function withoutRecord(db: Sql, marked: readonly RowSet[]): Promise<RowSet[]> {
  const records = await db.query<{ filled: string }>(sql`SELECT filled FROM row_mac_backfill`);
  return marked.filter(({ name }) => !records.some(({ filled }) => filled === name));
}

/** True if all tables with MACs are empty, except the table of these records. */
async function isEmpty(db: Sql): Promise<boolean> {
  const others = macTables.filter((each) => each !== backfillRows);
  const hasRows = others.reduce((any, { table }) => sql`${any} OR EXISTS (SELECT FROM ${table})`, sql`false`);
  const [row] = await db.query<{ isEmpty: boolean }>(sql`SELECT NOT (${hasRows}) AS "isEmpty"`);
  return row?.isEmpty ?? false;
}

const refusal = (files: readonly string[]): StartupError =>
  new StartupError(
    `the database has no record that its rows got their MACs, but ${files.join(", ")} says so: it is an older one, or the record was removed. If you restored a backup of an earlier release, and trust its rows as they are, remove what is named here and start again; otherwise restore the database that belongs to these keys`,
  );

async function fillOnce(tx: Tx, deps: RowMacDeps, set: RowSet): Promise<void> {
  const { rowMac, clock, log } = deps;
  // Another node may be adding the MACs, so this transaction waits for it.
  await tx.script("SET LOCAL lock_timeout = '10min'");
  await tx.query(sql`SELECT pg_advisory_xact_lock(${advisoryLock})`);
  if (await wasDone(tx, deps, set)) return;
  const rows = (await fillTables(tx, rowMac, set)) + ((await set.fill?.(tx, deps)) ?? 0);
  const record = { filled: set.name, doneAt: clock() };
  await tx.query(sql`
    INSERT INTO row_mac_backfill (filled, done_at, row_mac)
    VALUES (${record.filled}, ${record.doneAt}, ${rowMac.of(backfillRows.table.text, recordMembers(record))})`);
  if (rows > 0) log.info({ rows }, "rows of an earlier release got their MACs");
}

async function wasDone(db: Sql, { rowMac, log }: RowMacDeps, { name }: RowSet): Promise<boolean> {
  const records = await db.query<MacRow<{ filled: string; doneAt: Date }>>(
    sql`${backfillRows.rows} WHERE filled = ${name}`,
  );
  if (!records.every((record) => rowMac.holds(backfillRows.table.text, recordMembers(record), record.mac)))
    log.error("the record of the rows' MACs does not hold: it was altered, or SECRETS_KEY is another");
  return records.length > 0;
}

async function fillTables(tx: Tx, rowMac: RowMac, { name }: RowSet): Promise<number> {
  let rows = 0;
  for (const table of macTables) {
    const { mac, backfill } = table;
    if (backfill?.set !== name) continue;
    rows += await fill(tx, rowMac, table, sql`${mac} IS NULL${backfill.which ? sql` AND ${backfill.which}` : nothing}`);
  }
  return rows;
}

async function fill<Row>(tx: Tx, rowMac: RowMac, unfilled: MacTable<Row>, which: Statement): Promise<number> {
  const { table, key, rows, members, rowOf = (row: MacRow<Row>) => sql`${key} = ${row.key}` } = unfilled;
  // Reads the rows by a cursor, because there may be many. A row that gets no MAC would be returned again by each of
  // several queries.
  await tx.query(sql`DECLARE unfilled_${table} NO SCROLL CURSOR FOR ${rows} WHERE ${which}`);
  let filled = 0;
  for (;;) {
    const batch = await tx.query<MacRow<Row>>(sql`FETCH 500 FROM unfilled_${table}`);
    if (batch.length === 0) return filled;
    for (const row of batch) {
      const values = members(row);
      if (values === null) continue;
      await tx.query(
        sql`UPDATE ${table} SET ${macColumn(unfilled)} = ${rowMac.of(table.text, values)} WHERE ${rowOf(row)}`,
      );
      filled++;
    }
  }
}

/**
 * Copies revocations into rows of their own. Earlier releases recorded them only in the rows of keys and certificates.
 */
async function fillRevocations(tx: Tx, { rowMac, log }: RowMacDeps): Promise<number> {
  const keys = await revokedKeys(tx);
  const retired = (await recordedChains({ db: tx, rowMac, log })).flatMap(({ fingerprint, retiredAt, reason }) =>
    retiredAt === null ? [] : [{ kind: "seal" as const, subject: fingerprint, effectiveAt: retiredAt, reason }],
  );
  const all = [...keys.map((key) => ({ ...key, kind: "key" as const, reason: null })), ...retired];
  for (const one of all) await tx.query(durableRevocationRow(rowMac, one));
  return all.length;
}

/**
 * Earlier releases computed the MACs of documents over fewer columns. Such a MAC is replaced if it is valid; an altered
 * row keeps its old MAC.
 */
function refillDocuments(tx: Tx, { rowMac }: RowMacDeps): Promise<number> {
  const members: typeof documentRows.members = (row) =>
    earlierDocumentHolds(rowMac, row) ? documentRows.members(row) : null;
  return fill(tx, rowMac, { ...documentRows, members }, sql`d.row_mac IS NOT NULL`);
}

type EarlierOrder = { key: number; code: string; digest: Buffer; mac: Buffer };

const earlierStates = earlierOrderStates(sql`opened.code`);
const earlierDigests: Statement = listed(earlierStates.map((state) => digestOf(state, sql`o`)));

/**
 * Earlier releases computed the MACs of orders over fewer columns, and mostly over the code as plain text. Such a MAC
 * is replaced if it is valid; an altered order keeps its old MAC.
 */
async function refillOrders(tx: Tx, { secrets }: RowMacDeps): Promise<number> {
  // A separate verifier, because the shared one would report invalid MACs. Orders that got their first MAC at this
  // start fail the check, because their MAC covers the present columns.
  const rowMac = openRowMac(secrets);
  const table = orderRows.table.text;
  let filled = 0;
  for (let last: number | null = 0; last !== null; ) {
    const orders: EarlierOrder[] = await tx.query<EarlierOrder>(sql`
      SELECT o.id AS key, o.code AS "code@order", ${digestOf(orderState, sql`o`)} AS digest, o.state_mac AS mac ${fromOrders}
      WHERE o.id > ${last} AND o.state_mac IS NOT NULL ORDER BY o.id LIMIT ${ordersAtOnce}`);
    // Only the service can decrypt the codes of these orders. It passes them to PostgreSQL, which computes the earlier
    // digests.
    const earlier = await tx.query<{ key: number; digests: string[] }>(sql`
      SELECT o.id AS key, ARRAY(SELECT encode(d, 'hex') FROM unnest(ARRAY[${earlierDigests}]) AS d) AS digests
      FROM unnest(${orders.map(({ key }) => key)}::bigint[], ${orders.map(({ code }) => code)}::text[]) AS opened (id, code)
      ${joinOrder(sql`opened.id`)}`);
    const digestsOf = new Map(earlier.map(({ key, digests }) => [key, digests]));
    const held = orders.filter(({ key, code, mac }) => {
      const digests = digestsOf.get(key) ?? [];
      return earlierStates.some(({ opened }, n) =>
        rowMac.holds(table, stateMembers(digests[n] ?? "", opened && code), mac),
      );
    });
    for (const { key, code, digest } of held)
      await tx.query(sql`
        UPDATE ${orderRows.table} SET state_mac = ${rowMac.of(table, stateMembers(digest.toString("hex"), code))} WHERE id = ${key}`);
    filled += held.length;
    last = orders.at(-1)?.key ?? null;
  }
  return filled;
}
