import { minuteMs } from "../platform/clock.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { beginning, lineHolds, type Place, placeAfter, placeColumns, placeMembers, selectUnplaced } from "./chain.ts";
import { type ChainLine, lineColumns } from "./line-mac.ts";

/**
 * The result of checking the whole audit log. `lines` is the length of the chain, and `waiting` the number of lines to
 * be added to it. `late` lists positions of lines that were added long after the time that they state.
 */
export type ChainReport = { lines: number; waiting: number; faults: string[]; late: number[] };

const batch = 5_000;
// A line counts as late if it was added to the chain more than this long after the time that it states. A running
// service adds a line within a second; the rest of the minute allows for differences between the nodes' clocks.
const lateMs = minuteMs;

/**
 * Recomputes the chain from its first line to its last. Detects lines that were changed, moved or removed, and lines
 * outside the chain whose MAC is invalid. Can't detect that the last lines were removed, or that the whole database is
 * an older copy.
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
  const waiting = await checkUnplaced(db, rowMac, faults);
  return { lines, waiting, faults, late };
}

/**
 * Adds a fault for each forged line: a line outside the chain with an invalid MAC, or any line with a position below 1.
 * @returns the number of lines that the service will add to the chain
 */
async function checkUnplaced(db: Sql, rowMac: RowMac, faults: string[]): Promise<number> {
  const outside = await db.query<{ id: number }>(sql`SELECT id FROM audit_log WHERE chain_position < 1 ORDER BY id`);
  const forged = outside.map(({ id }) => id);
  let waiting = 0;
  for (let last: number | null = null, isFirst = true; isFirst || last !== null; isFirst = false) {
    const lines = await selectUnplaced(db, last, batch);
    const others = lines.filter((line) => !lineHolds(rowMac, line));
    forged.push(...others.map(({ id }) => id));
    waiting += lines.length - others.length;
    last = lines.length === batch ? (lines.at(-1)?.id ?? null) : null;
  }
  faults.push(...forged.map((id) => `the line with id ${id} was not written by the service`));
  return waiting;
}

// True if a line was added to the chain long after the time that it states. False for lines of earlier releases, which
// did not record when they were added.
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
  // Lines before this line were removed. This line's hash can't be checked, because it covers the hash of a removed
  // line.
  if (position !== first)
    return [position === first + 1 ? `line ${first} is missing` : `lines ${first} to ${position - 1} are missing`];
  const holds = placeAfter(before, row).sha256 === row.sha256 && rowMac.holds("audit_log", placeMembers(row), mac);
  return holds ? [] : [`line ${position} is not what was written`];
}
