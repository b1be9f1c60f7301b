import { existsSync } from "node:fs";
import { join } from "node:path";
import { type DocumentFacts, documentMembers, earlierDocumentMembers } from "./orders/orders.ts";
import type { Clock } from "./platform/clock.ts";
import { longStatements, type Sql, type Tx } from "./platform/database/database.ts";
import type { AsOwner } from "./platform/database/migrations.ts";
import { type Statement, sql } from "./platform/database/sql.ts";
import { writeFileDurably } from "./platform/durable-file.ts";
import { StartupError } from "./platform/errors.ts";
import type { Log } from "./platform/logs.ts";
import { keptRevocationRow } from "./platform/revocations.ts";
import type { MacRow, MacTable, Members, RowMac } from "./platform/row-mac.ts";
import type { SecretBytes } from "./platform/secrets.ts";
import { createRowIntegrity, type WholePassport } from "./proof-passports/proof-passports.ts";
import {
  anchorRows,
  chainRows,
  documentRows,
  fillRows,
  orderRows,
  partnerKeyRows,
  passportRows,
  peopleRows,
  signingRows,
  versionRows,
} from "./row-mac-tables.ts";
import { knownChains } from "./seals/seals.ts";
import { webhookRows } from "./webhooks/webhooks.ts";

export type RowMacDeps = { db: Sql; asOwner: AsOwner; rowMac: RowMac; secrets: SecretBytes; clock: Clock; log: Log };

// One number for all nodes: the holder fills, the others wait and then find it done.
const advisoryLock = 7_246_003;
const table = "row_mac_backfill";

/** Rows that got their MACs at the same time: with one release. */
type RowSet = {
  name: string;
  /** Of the file beside the keys. */
  marker: string;
  fill: (tx: Tx, deps: RowMacDeps) => Promise<number>;
  /** What the record says that it was done. */
  record: (doneAt: Date) => Members;
};

const rowSets: readonly RowSet[] = [
  { name: "evidence", marker: "row-macs-filled", fill: fillEvidence, record: (doneAt) => ({ doneAt }) },
  {
    name: "fill documents",
    marker: "row-macs-filled-2",
    fill: (tx, { rowMac }) => fill(tx, rowMac, fillRows, without(fillRows)),
    record: (doneAt) => ({ filled: "fill documents", doneAt }),
  },
  {
    name: "order signers",
    marker: "row-macs-filled-3",
    // Of those that were signed nobody asks any more.
    fill: (tx, { rowMac }) =>
      fill(tx, rowMac, signingRows, sql`${without(signingRows)} AND o.sign AND o.envelope_status <> 'Completed'`),
    record: (doneAt) => ({ filled: "order signers", doneAt }),
  },
  {
    name: "partner keys",
    marker: "row-macs-filled-4",
    fill: (tx, { rowMac }) => fill(tx, rowMac, partnerKeyRows, sql`${without(partnerKeyRows)} AND revoked_at IS NULL`),
    record: (doneAt) => ({ filled: "partner keys", doneAt }),
  },
  {
    name: "revocations",
    marker: "row-macs-filled-revocations",
    fill: fillRevocations,
    record: (doneAt) => ({ filled: "revocations", doneAt }),
  },
  {
    name: "webhooks",
    marker: "row-macs-filled-webhooks",
    fill: (tx, { rowMac }) => fill(tx, rowMac, webhookRows, without(webhookRows)),
    record: (doneAt) => ({ filled: "webhooks", doneAt }),
  },
  {
    name: "people",
    marker: "row-macs-filled-people",
    async fill(tx, { rowMac }) {
      let rows = 0;
      for (const table of peopleRows) rows += await fill(tx, rowMac, table, without(table));
      return rows;
    },
    record: (doneAt) => ({ filled: "people", doneAt }),
  },
  {
    name: "orders",
    marker: "row-macs-filled-orders",
    fill: fillOrders,
    record: (doneAt) => ({ filled: "orders", doneAt }),
  },
];

/**
 * Gives a MAC to the rows that an earlier release wrote: once for a database, at the first start of a release that knows of
 * their MACs. What is in the database then is taken as it is. That it was done is recorded there, under a MAC, and
 * as a file beside the keys: neither alone can be taken away to have forged rows filled.
 * @throws StartupError when the file says that it was done and the database does not: an older database, or a record that was removed
 */
export async function fillRowMacs(deps: RowMacDeps, dataDir: string): Promise<void> {
  const markerOf = ({ marker }: RowSet) => join(dataDir, "keys", marker);
  const marked = rowSets.filter((set) => existsSync(markerOf(set)));
  const lost = await withoutRecord(deps.db, marked);
  // Of a new database beside old keys nothing was removed: it has nothing yet.
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

async function isEmpty(db: Sql): Promise<boolean> {
  const [row] = await db.query<{ isEmpty: boolean }>(sql`
    SELECT NOT (EXISTS (SELECT FROM orders) OR EXISTS (SELECT FROM passports) OR EXISTS (SELECT FROM fill_documents)
      OR EXISTS (SELECT FROM closing_passports) OR EXISTS (SELECT FROM seal_chains)
      OR EXISTS (SELECT FROM partner_keys) OR EXISTS (SELECT FROM users)) AS "isEmpty"`);
  return row?.isEmpty ?? false;
}

const refusal = (files: readonly string[]): StartupError =>
  new StartupError(
    `the database has no record that its rows got their MACs, but ${files.join(", ")} says so: it is an older one, or the record was removed. If you restored a backup of an earlier release, and trust its rows as they are, remove what is named here and start again; otherwise restore the database that belongs to these keys`,
  );

async function fillOnce(tx: Tx, deps: RowMacDeps, set: RowSet): Promise<void> {
  const { rowMac, clock, log } = deps;
  // Another node may be busy with it: wait.
  await tx.script("SET LOCAL lock_timeout = '10min'");
  await tx.query(sql`SELECT pg_advisory_xact_lock(${advisoryLock})`);
  if (await wasDone(tx, deps, set)) return;
  const rows = await set.fill(tx, deps);
  const doneAt = clock();
  await tx.query(sql`
    INSERT INTO row_mac_backfill (filled, done_at, row_mac)
    VALUES (${set.name}, ${doneAt}, ${rowMac.of(table, set.record(doneAt))})`);
  if (rows > 0) log.info({ rows }, "rows of an earlier release got their MACs");
}

async function wasDone(db: Sql, { rowMac, log }: RowMacDeps, { name, record }: RowSet): Promise<boolean> {
  const records = await db.query<{ doneAt: Date; mac: Buffer }>(sql`
    SELECT done_at AS "doneAt", row_mac AS mac FROM row_mac_backfill WHERE filled = ${name}`);
  if (!records.every(({ doneAt, mac }) => rowMac.holds(table, record(doneAt), mac)))
    log.error("the record of the rows' MACs does not hold: it was altered, or SECRETS_KEY is another");
  return records.length > 0;
}

async function fill<Row>(tx: Tx, rowMac: RowMac, unfilled: MacTable<Row>, which: Statement): Promise<number> {
  const { table, key, column = sql`row_mac`, rows, members } = unfilled;
  // A cursor: rows of evidence may be many, and those that get no MAC are not to be met again.
  await tx.query(sql`DECLARE unfilled_${table} NO SCROLL CURSOR FOR ${rows} WHERE ${which}`);
  let filled = 0;
  for (;;) {
    const batch = await tx.query<MacRow<Row>>(sql`FETCH 500 FROM unfilled_${table}`);
    if (batch.length === 0) return filled;
    for (const row of batch) {
      const said = members(row);
      if (said === null) continue;
      await tx.query(sql`UPDATE ${table} SET ${column} = ${rowMac.of(table.text, said)} WHERE ${key} = ${row.key}`);
      filled++;
    }
  }
}

async function fillEvidence(tx: Tx, { rowMac, secrets }: RowMacDeps): Promise<number> {
  const chains = await fill(tx, rowMac, chainRows, without(chainRows));
  // Passports had a MAC over less: a row that was altered since stays as it is, not vouched for.
  const earlier = createRowIntegrity(secrets);
  const members = (row: MacRow<WholePassport>) =>
    row.mac && earlier.holds(row, row.mac) ? passportRows.members(row) : null;
  const passports = await fill(tx, rowMac, { ...passportRows, members }, sql`length(passports.row_mac) = 32`);
  const anchors = await fill(tx, rowMac, anchorRows, without(anchorRows));
  const documents = await fill(tx, rowMac, documentRows, without(documentRows));
  const versions = await fill(tx, rowMac, versionRows, without(versionRows));
  return chains + passports + anchors + documents + versions;
}

/** Revocations of before were said by the rows of keys and certificates alone. */
async function fillRevocations(tx: Tx, { rowMac, log }: RowMacDeps): Promise<number> {
  const keys = await tx.query<{ subject: string; effectiveAt: Date }>(sql`
    SELECT id AS subject, revoked_at AS "effectiveAt" FROM partner_keys WHERE revoked_at IS NOT NULL`);
  const retired = (await knownChains({ db: tx, rowMac, log })).flatMap(({ fingerprint, retiredAt, reason }) =>
    retiredAt === null ? [] : [{ kind: "seal" as const, subject: fingerprint, effectiveAt: retiredAt, reason }],
  );
  const all = [...keys.map((key) => ({ ...key, kind: "key" as const, reason: null })), ...retired];
  for (const one of all) await tx.query(keptRevocationRow(rowMac, one));
  return all.length;
}

/** Orders get their first MAC. Documents had one over less: a row that was altered since stays as it is. */
async function fillOrders(tx: Tx, { rowMac }: RowMacDeps): Promise<number> {
  const orders = await fill(tx, rowMac, orderRows, without(orderRows));
  const members = (row: MacRow<DocumentFacts>) =>
    rowMac.holds(documentRows.table.text, earlierDocumentMembers(row), row.mac) ? documentMembers(row) : null;
  return orders + (await fill(tx, rowMac, { ...documentRows, members }, sql`d.row_mac IS NOT NULL`));
}

function without({ mac }: { mac: Statement }): Statement {
  return sql`${mac} IS NULL`;
}
