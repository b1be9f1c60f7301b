import { hash } from "node:crypto";
import type { Clock } from "../platform/clock.ts";
import type { Database, Sql, Tx } from "../platform/database/database.ts";
import { nothing, type Statement, sql } from "../platform/database/sql.ts";
import type { Log } from "../platform/logs.ts";
import type { MacTable } from "../platform/protected-data.ts";
import type { Members, RowMac } from "../platform/row-mac.ts";
import { auditTable, type ChainLine, lineColumns, lineMembers, type MacLine, macLineColumns } from "./line-mac.ts";

type Link = { position: number; sha256: string };

/**
 * The place of a log line in the hash chain. Positions count from 1. `sha256` (hex) covers the line and the hash before
 * it. `placedAt` is the time at which the line was added to the chain; it exposes a line that was inserted later with
 * an earlier, false time. Lines from earlier releases have no `placedAt`.
 */
export type Place = Link & { placedAt: Date | null };

export const beginning: Link = { position: 0, sha256: "" };

/** The text that is hashed for a log line that follows `before` in the chain. The text's SHA-256 is the line's hash. */
function textAfter(before: Link, line: ChainLine): string {
  const { id, occurredAt, action, actor, partnerId, orderId, roomId, fromStatus, toStatus, detail } = line;
  const members = [id, occurredAt, action, actor, partnerId, orderId, roomId, fromStatus, toStatus, detail];
  return JSON.stringify([before.sha256, before.position + 1, ...members]);
}

/** The position and hash of a log line that follows `before` in the chain. */
export const placeAfter = (before: Link, line: ChainLine): Link => ({
  position: before.position + 1,
  sha256: hash("sha256", textAfter(before, line)),
});

/** The end of the chain; position 0 for an empty one. */
export async function auditChainEnd(db: Sql): Promise<Link> {
  const [end] = await db.query<Link>(sql`
    SELECT chain_position AS position, encode(chain_sha256, 'hex') AS sha256 FROM audit_log
    WHERE chain_position IS NOT NULL ORDER BY chain_position DESC LIMIT 1`);
  return end ?? { position: beginning.position, sha256: beginning.sha256 };
}

/** The hashes of the chain at these positions. Positions that don't exist are left out. */
export async function auditHashesAt(db: Sql, positions: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const links = await db.query<Link>(sql`
    SELECT chain_position AS position, encode(chain_sha256, 'hex') AS sha256 FROM audit_log
    WHERE chain_position = ANY (${positions}::bigint[])`);
  return new Map(links.map(({ position, sha256 }) => [position, sha256]));
}

/**
 * The chain's texts for the log lines at positions above `after`, up to and including `through`. Each text begins with
 * the hash of the line before it; the SHA-256 of the text is the line's own hash.
 */
export async function auditChainTexts(db: Sql, after: number, through: number): Promise<string[]> {
  const lines = await db.query<ChainLine & { position: number; before: string | null }>(sql`
    SELECT ${lineColumns}, chain_position AS position, (
      SELECT encode(p.chain_sha256, 'hex') FROM audit_log p WHERE p.chain_position = audit_log.chain_position - 1) AS before
    FROM audit_log WHERE chain_position > ${after} AND chain_position <= ${through} ORDER BY chain_position`);
  return lines.map(({ position, before, ...line }) =>
    textAfter({ position: position - 1, sha256: before ?? beginning.sha256 }, line),
  );
}

/** The time of the first line of the audit log; null for an empty log. */
export async function firstAuditLine(db: Sql): Promise<Date | null> {
  const [first] = await db.query<{ at: Date }>(sql`SELECT occurred_at AS at FROM audit_log ORDER BY id LIMIT 1`);
  return first?.at ?? null;
}

export const placeMembers = ({ position, sha256, placedAt }: Place): Members =>
  placedAt ? { position, sha256, placedAt } : { position, sha256 };

/** Columns of `audit_log` for a position in the chain, with its MAC. */
export const placeColumns = sql`chain_position AS position, encode(chain_sha256, 'hex') AS sha256,
  chain_placed_at AS "placedAt", row_mac AS mac`;

type UnplacedLine = MacLine & { position: number | null };

/**
 * The log lines in the chain. Their MACs cover the position, the hash and `placedAt`. The MAC of a line that is not in
 * the chain yet covers the line itself (`lineRows`).
 */
const placeRows = {
  table: sql`audit_log`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, ${placeColumns} FROM audit_log`,
  members: placeMembers,
} satisfies MacTable<Place>;

const lineRows: MacTable<UnplacedLine> = {
  ...placeRows,
  rows: sql`SELECT id AS key, ${macLineColumns}, chain_position AS position, row_mac AS mac FROM audit_log`,
  members: (line) => (line.position === null ? lineMembers(line) : null),
  // Lines in the chain need no MAC over the line itself. The MAC of their place covers the hash, and the hash covers
  // the line.
  backfill: { set: "audit lines", which: sql`chain_position IS NULL` },
};

export const protectedTables = [placeRows, lineRows];

/** True if a line's MAC is valid. Only for lines that are not in the chain yet. */
export const lineHolds = (rowMac: RowMac, line: MacLine & { mac: Buffer | null }): boolean =>
  rowMac.holds(auditTable, lineMembers(line), line.mac, { line: line.id });

/**
 * Reads the selected log lines, without those whose MAC or hash is invalid. In the chain, a line's MAC covers its
 * position and hash, and the hash covers the line and the previous hash.
 * @param which the condition that selects the lines
 */
export async function readWrittenLines(db: Sql, rowMac: RowMac, which: Statement): Promise<MacLine[]> {
  const lines = await db.query<
    MacLine & Omit<Place, "position"> & { position: number | null; before: string | null; mac: Buffer | null }
  >(sql`
    SELECT ${macLineColumns}, ${placeColumns}, (
      SELECT encode(p.chain_sha256, 'hex') FROM audit_log p WHERE p.chain_position = audit_log.chain_position - 1) AS before
    FROM audit_log WHERE ${which} ORDER BY id`);
  return lines.filter(({ position, before, sha256, placedAt, mac, ...line }) => {
    if (position === null) return lineHolds(rowMac, { ...line, mac });
    const place = placeAfter({ position: position - 1, sha256: before ?? beginning.sha256 }, line);
    return (
      place.sha256 === sha256 && rowMac.holds(auditTable, placeMembers({ ...place, placedAt }), mac, { line: line.id })
    );
  });
}

/** One batch of the log lines that are not in the chain yet, beginning after the id `after`. */
export const selectUnplaced = (db: Sql, after: number | null, limit: number) =>
  db.query<MacLine & { mac: Buffer | null }>(sql`
    SELECT ${macLineColumns}, row_mac AS mac FROM audit_log
    WHERE chain_position IS NULL ${after === null ? nothing : sql`AND audit_log.id > ${after}`}
    ORDER BY audit_log.id LIMIT ${limit}`);

// The number of the advisory lock for extending the chain. Nodes that don't get the lock try again later.
const advisoryLock = 7_246_004;
const batch = 1_000;

type ChainDeps = { db: Database; rowMac: RowMac; clock: Clock; log: Log };

/** Adds each new log line to the chain, in the order of ids. Skips lines whose MAC is invalid. */
export async function chainAuditLines(deps: ChainDeps, stopping: AbortSignal): Promise<void> {
  if (!(await hasUnchained(deps.db))) return;
  for (
    let last: number | null = null, isFirst = true;
    !stopping.aborted && (isFirst || last !== null);
    isFirst = false
  ) {
    const after: number | null = last;
    last = await deps.db.transaction((tx) => chainBatch(tx, deps, after));
  }
}

async function hasUnchained(db: Sql): Promise<boolean> {
  const [found] = await db.query<{ some: boolean }>(sql`
    SELECT EXISTS (SELECT FROM audit_log WHERE chain_position IS NULL) AS some`);
  return found?.some === true;
}

/**
 * Adds a batch of lines to the chain.
 * @returns the id of the batch's last line; null after the last batch, or when another node is extending the chain
 */
async function chainBatch(tx: Tx, { rowMac, clock, log }: ChainDeps, after: number | null): Promise<number | null> {
  const [lock] = await tx.query<{ ours: boolean }>(sql`SELECT pg_try_advisory_xact_lock(${advisoryLock}) AS ours`);
  if (!lock?.ours) return null;
  const [head] = await tx.query<Place & { mac: Buffer }>(sql`
    SELECT ${placeColumns} FROM audit_log WHERE chain_position IS NOT NULL ORDER BY chain_position DESC LIMIT 1`);
  if (head && !rowMac.holds("audit_log", placeMembers(head), head.mac))
    log.error({ position: head.position }, "the last line of the audit log is not what was written");
  const found = await selectUnplaced(tx, after, batch);
  const last = found.length === batch ? (found.at(-1)?.id ?? null) : null;
  const lines = found.filter((line) => lineHolds(rowMac, line));
  if (lines.length === 0) return last;
  const now = clock();
  let link: Link = head ?? beginning;
  const places = lines.map((line): Place => {
    link = placeAfter(link, line);
    return { ...link, placedAt: now };
  });
  await tx.query(sql`
    UPDATE audit_log a SET chain_position = n.position, chain_sha256 = decode(n.sha256, 'hex'), chain_placed_at = ${now}, row_mac = n.mac
    FROM unnest(${lines.map(({ id }) => id)}::bigint[], ${places.map(({ position }) => position)}::bigint[],
      ${places.map(({ sha256 }) => sha256)}::text[],
      ${places.map((one) => rowMac.of("audit_log", placeMembers(one)))}::bytea[]) AS n (id, position, sha256, mac)
    WHERE a.id = n.id`);
  return last;
}
