import { logStatuses } from "../../evidence/transparency-log/transparency-log.ts";
import { type ChainReport, checkAuditChain } from "../../kernel/audit/audit.ts";
import { checkEvents } from "../../kernel/events/events.ts";
import { minuteMs } from "../../kernel/platform/clock.ts";
import { longStatements, type Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import type { MacRow, MacTable } from "../../kernel/platform/protected-data.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import type { Resources } from "../../kernel/resources.ts";
import { type Mark, markRows, refusedMarkIds } from "../../kernel/retention/retention.ts";
import { macTables } from "../protected-data.ts";
import type { Examined, Found } from "./finding.ts";

/** Tables that are checked in another way. */
const elsewhere: readonly string[] = ["audit_log", "events", "log_trees", "deleted_blobs", "revocations"];

const tables: readonly MacTable[] = macTables.filter(({ table }) => !elsewhere.includes(table.text));

const shown = 5;
const listed = (keys: readonly string[]): string =>
  `${keys.slice(0, shown).join(", ")}${keys.length > shown ? ` and ${keys.length - shown} more` : ""}`;

/**
 * Verifies the MACs of all rows in protected tables that no other check covers, and of all deletion marks. The running
 * service verifies the marks, too, but a forged mark can be newer than its last check.
 * @throws Error that lists altered rows of each table by key, at most five
 */
export async function rowsWhole({ db, rowMac }: Pick<Examined, "db" | "rowMac">): Promise<string> {
  return db.transaction(async (tx) => {
    let count = 0;
    const faults: string[] = [];
    for (const table of tables) {
      const { rows, altered } = await examineTable(tx, rowMac, table);
      count += rows;
      if (altered.length > 0) faults.push(`the service did not write ${table.table.text} ${listed(altered)} so`);
    }
    const marks = await examineTable(tx, rowMac, markRows);
    count += marks.rows;
    if (marks.altered.length > 0) faults.push(`the service did not write marks of deletion ${listed(marks.altered)}`);
    const refused = await refusedGenuineMarks(tx, rowMac);
    if (refused.length > 0) faults.push(`somebody else refused marks of deletion ${listed(refused)}`);
    if (faults.length > 0) throw new Error(`${faults.join("; ")}: see 'Altered rows' in docs/operating.md`);
    return `${count} rows, each as the service wrote it`;
  }, longStatements);
}

const keyText = (key: string | number | Buffer): string => (Buffer.isBuffer(key) ? key.toString("hex") : String(key));

async function examineTable<Row>(
  tx: Tx,
  rowMac: RowMac,
  { table, rows, members }: MacTable<Row>,
): Promise<{ rows: number; altered: string[] }> {
  await tx.query(sql`DECLARE rows_of_${table} NO SCROLL CURSOR FOR ${rows}`);
  const altered: string[] = [];
  for (let count = 0; ; ) {
    const batch = await tx.query<MacRow<Row>>(sql`FETCH 500 FROM rows_of_${table}`);
    if (batch.length === 0) {
      // Closes the cursor at once, because the next cursor may have the same name: orders have two MACs, so their table
      // is examined twice.
      await tx.query(sql`CLOSE rows_of_${table}`);
      return { rows: count, altered };
    }
    count += batch.length;
    for (const row of batch) {
      const values = members(row);
      if (values !== null && !rowMac.holds(table.text, values, row.mac)) altered.push(keyText(row.key));
    }
  }
}

/** The deletion marks that are recorded as refused, but have a valid MAC: the service did not record their refusal. */
async function refusedGenuineMarks(tx: Tx, rowMac: RowMac): Promise<string[]> {
  const marks = await tx.query<MacRow<Mark>>(sql`${markRows.rows} WHERE id IN (${refusedMarkIds})`);
  return marks
    .filter((row) => {
      const values = markRows.members(row);
      return values !== null && rowMac.holds(markRows.table.text, values, row.mac);
    })
    .map(({ key }) => keyText(key));
}

/**
 * Verifies the audit log's hash chain from the first line to the last. Lines that joined the chain late are only a
 * warning: if the command line writes lines while no service runs, nothing adds them to the chain.
 * @throws Error with the faults
 */
export async function auditLogWhole(resources: Pick<Resources, "db" | "rowMac">): Promise<Found> {
  const { lines, waiting, faults, late }: ChainReport = await checkAuditChain(resources);
  if (faults.length > 0) {
    const more = faults.length > shown ? ` and ${faults.length - shown} faults more` : "";
    throw new Error(`${faults.slice(0, shown).join("; ")}${more}`);
  }
  if (late.length > 0) {
    const more = late.length > shown ? ` and ${late.length - shown} more` : "";
    const which = `line${late.length > 1 ? "s" : ""} ${late.slice(-shown).join(", ")}${more}`;
    return {
      warning: `${which} got a place more than a minute after the time of the line: backdated, or no service ran`,
    };
  }
  return `${lines} lines in one chain${waiting > 0 ? `, ${waiting} wait for a running service to add them` : ""}`;
}

const named = (numbers: readonly number[]): string => {
  const more = numbers.length > shown ? ` and ${numbers.length - shown} more` : "";
  return `event${numbers.length > 1 ? "s" : ""} ${numbers.slice(0, shown).join(", ")}${more}`;
};

/**
 * Verifies the MAC of each event, and looks for copied events. @throws Error with the numbers of the forged and copied
 * events
 */
export async function eventsWhole(examined: Pick<Examined, "db" | "rowMac">): Promise<string> {
  const { events, forged, copies } = await checkEvents(examined);
  const faults = [
    ...(forged.length > 0 ? [`the service did not write ${named(forged)}`] : []),
    ...(copies.length > 0 ? [`of events that were copied: ${named(copies)}`] : []),
  ];
  if (faults.length > 0) throw new Error(faults.join("; "));
  return `${events} events, each written by the service`;
}

const maxWaitMs = 10 * minuteMs;

/**
 * Checks all transparency logs as the sequencer does before it signs. Also checks the queued lines and the witnesses.
 * Lines or witnesses that are late are only a warning.
 * @throws Error about halted logs, forged queued lines, or witnesses that contradict a log
 */
export async function logsGoOn(resources: Pick<Examined, "db" | "rowMac" | "config" | "clock">): Promise<Found> {
  const statuses = await logStatuses(resources);
  const halted = statuses
    .filter((one) => one.halted !== null)
    .map(({ log, halted }) => `the ${log} log halts: ${halted}`);
  if (halted.length > 0)
    throw new Error(`${halted.join("; ")}: see 'The transparency log' in docs/operating/transparency-log.md`);
  const forged = statuses.filter(({ notWritten }) => notWritten > 0);
  if (forged.length > 0)
    throw new Error(
      forged.map(({ log, notWritten }) => `the service did not write ${notWritten} lines of the ${log} log`).join("; "),
    );
  const alarms = statuses.flatMap(({ witnesses }) => witnesses.flatMap(({ alarm }) => alarm ?? []));
  if (alarms.length > 0)
    throw new Error(
      `a witness contradicts the log: ${alarms.join("; ")}: see 'Witnesses' in docs/operating/transparency-log.md`,
    );
  const since = resources.clock().getTime() - maxWaitMs;
  const late = statuses.filter(({ oldestWaitingAt }) => oldestWaitingAt !== null && oldestWaitingAt.getTime() < since);
  const waits = late.map(({ log, waiting }) => `${waiting} seals wait for the ${log} log for more than ten minutes`);
  if (waits.length > 0) return { warning: `${waits.join("; ")}: no service runs, or none has the log's key` };
  const silent = statuses
    .flatMap(({ witnesses }) => witnesses)
    .filter(({ failingSince }) => failingSince !== null && failingSince.getTime() < since);
  if (silent.length > 0)
    return { warning: `${silent.map(({ witness }) => witness).join(", ")} did not cosign for more than ten minutes` };
  return (
    statuses.map(({ origin, size, ended }) => `${origin}: ${size} entries${ended ? ", ended" : ""}`).join("; ") ||
    "begins with the first start"
  );
}
