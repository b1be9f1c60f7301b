import { logKeyOf, logProof } from "../../evidence/transparency-log/transparency-log.ts";
import { auditChainTexts, auditLine } from "../../kernel/audit/audit.ts";
import { longStatements, type Sql, type Tx } from "../../kernel/platform/database/database.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import type { Resources } from "../../kernel/resources.ts";
import {
  changeLine,
  changesSet,
  createRoots,
  digestOf,
  headOf,
  headText,
  otherSets,
  recordLine,
  recordSets,
  setOf,
} from "./records.ts";
import { followedRows, selectHeads } from "./store.ts";

export { makeHead } from "./make.ts";
export { type RecordsReport, verifyRecords } from "./verify.ts";

/**
 * For each daily head (a hash of the day's records): the line that the live transparency log must contain for it,
 * without a line feed.
 */
export const headLines = async (db: Sql): Promise<{ line: string; at: Date }[]> =>
  (await selectHeads(db)).map((head) => ({ line: `audit/v1 ${head.day} ${headOf(head)}`, at: head.takenAt }));

/**
 * The content of a row, and its salt. With both, an auditor can verify that a daily head covers exactly this content.
 */
type OpenedRow = { source: string; key: string; salt: string; content: string };

/**
 * The records of one day, for an auditor who trusts only the transparency log. docs/operator-records.md describes it.
 */
export type RecordsExport = {
  day: string;
  head: string;
  text: string;
  /** For each set of records, such as `payments`, its lines. The head contains the Merkle root of each set's lines. */
  lines: Record<string, string[]>;
  /**
   * The rows whose content has not changed since that day. For the other rows, only the digest of that day's content
   * exists.
   */
  rows: OpenedRow[];
  /** The lines of the audit log after the previous head, up to this one. */
  auditLines: string[];
  /** The public key of the live log, and the proof that this log includes the line `audit/v1 DAY HEAD`. */
  key: string;
  proof: string;
};

/**
 * Exports the records under a day's head for an auditor, and writes an audit line about the export.
 * @param day null for the newest head
 * @throws StartupError for a day without a head, for a head that is not in the log yet, and for stored states that
 * don't match the head
 */
export async function exportRecords(deps: Pick<Resources, "db" | "clock">, day: string | null): Promise<RecordsExport> {
  return deps.db.transaction(async (tx) => {
    const heads = await selectHeads(tx);
    const at = day === null ? heads.length - 1 : heads.findIndex((one) => one.day === day);
    const head = heads[at];
    if (!head) throw new StartupError(day === null ? "no day has a head yet" : `${day} has no head`);
    const line = { kind: "audit/v1", day: head.day, head: headOf(head) } as const;
    const logged = await logProof(tx, "live", line);
    if (logged.state !== "logged")
      throw new StartupError(`the log does not have the head of ${head.day} yet: try again in a few seconds`);
    const { lines, rows, roots } = await openedDay(
      tx,
      head.day,
      head.sets.map(({ name }) => name),
    );
    if (otherSets(head, roots).length > 0)
      throw new StartupError(`the states that are stored are not those of the head of ${head.day}: run audit verify`);
    const detail = { day: head.day, rows: rows.length };
    const exported = {
      day: head.day,
      head: line.head,
      text: headText(head),
      lines,
      rows,
      auditLines: await auditChainTexts(tx, heads[at - 1]?.audit.position ?? 0, head.audit.position),
      key: (await logKeyOf(tx, logged.log)) ?? "",
      proof: logged.proof,
    };
    await tx.query(auditLine({ at: deps.clock(), action: "records.exported", actor: "operator", detail }));
    return exported;
  }, longStatements);
}

/**
 * The parts of a day's head: the lines of each set of records, the Merkle roots over them, and the rows whose content
 * has not changed since that day.
 */
async function openedDay(tx: Tx, day: string, names: readonly string[]) {
  const lines: Record<string, string[]> = Object.fromEntries(names.map((name) => [name, []]));
  const [rows, roots] = [[] as OpenedRow[], createRoots([...recordSets.keys(), changesSet])];
  for await (const { name, states, record } of followedRows(tx)) {
    const state = states.findLast((one) => one.day <= day);
    if (!state) continue;
    roots.add(name, state);
    const line = recordLine(name, state);
    if (line !== null) lines[setOf(name)]?.push(line);
    if (state.day === day) {
      roots.addChange(name, state);
      lines[changesSet]?.push(changeLine(name, state));
    }
    const { salt, digest } = state;
    if (!record || !salt || !digest?.equals(digestOf(salt, record.content))) continue;
    const { source, key, content } = record;
    rows.push({ source, key, salt: salt.toString("hex"), content });
  }
  return { lines, rows, roots: roots.roots() };
}
