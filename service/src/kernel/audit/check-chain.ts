import { minuteMs } from "../platform/clock.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { beginning, type ChainLine, lineColumns, type Place, placeAfter, placeColumns, placeMembers } from "./chain.ts";

/**
 * The result of reading the whole audit log: lines in the chain, lines that wait for a place, what is wrong, and the positions of lines
 * that were placed long after their own time.
 */
export type ChainReport = { lines: number; waiting: number; faults: string[]; late: number[] };

const batch = 5_000;
// A running service places a line within a second; the clocks of nodes differ.
const lateMs = minuteMs;

/**
 * Computes the chain anew from its first line to its last. It shows lines that were changed, moved or removed; not that the last ones
 * were cut off, nor that the whole database is an older one.
 */
export async function checkAuditChain({ db, rowMac }: { db: Sql; rowMac: RowMac }): Promise<ChainReport> {
  const faults: string[] = [];
  let lines = 0;
  const late: number[] = [];
  let before: Pick<Place, "position" | "sha256"> = beginning;
  for (;;) {
    const rows = await db.query<ChainLine & Place & { mac: Buffer }>(sql`
      SELECT ${lineColumns}, ${placeColumns} FROM audit_log WHERE chain_position > ${before.position}
      ORDER BY chain_position LIMIT ${batch}`);
    for (const { mac, ...row } of rows) {
      faults.push(...faultsOf(rowMac, before, row, mac));
      if (isLate(row)) late.push(row.position);
      before = row;
    }
    lines += rows.length;
    if (rows.length < batch) break;
  }
  const [rest] = await db.query<{ waiting: number }>(sql`
    SELECT count(*) AS waiting FROM audit_log WHERE chain_position IS NULL OR chain_position < 1`);
  return { lines, waiting: rest?.waiting ?? 0, faults, late };
}

// Lines of earlier releases do not say when they were placed.
const isLate = ({ placedAt, occurredAt }: ChainLine & Place): boolean =>
  placedAt !== null && placedAt.getTime() - Date.parse(`${occurredAt}Z`) > lateMs;

function faultsOf(
  rowMac: RowMac,
  before: Pick<Place, "position" | "sha256">,
  row: ChainLine & Place,
  mac: Buffer,
): string[] {
  const { position } = row;
  const first = before.position + 1;
  // What was removed took the hash with it that this one is linked to.
  if (position !== first)
    return [position === first + 1 ? `line ${first} is missing` : `lines ${first} to ${position - 1} are missing`];
  const holds = placeAfter(before, row).sha256 === row.sha256 && rowMac.holds("audit_log", placeMembers(row), mac);
  return holds ? [] : [`line ${position} is not what was written`];
}
