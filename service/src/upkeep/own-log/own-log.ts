import { loggedClosings } from "../../closing/closing-passports/closing-passports.ts";
import { loggedPassports } from "../../evidence/proof-passports/proof-passports.ts";
import {
  currentTree,
  linesWithLogs,
  loggedPolicies,
  newestCheckpointUpTo,
  successionLines,
  treeOfOrigin,
} from "../../evidence/transparency-log/transparency-log.ts";
import { readWrittenLines } from "../../kernel/audit/audit.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { minuteMs } from "../../kernel/platform/clock.ts";
import { withLongStatements } from "../../kernel/platform/database/database.ts";
import { sql, unionAll } from "../../kernel/platform/database/sql.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import type { Resources } from "../../kernel/resources.ts";
import { loggedDocuments } from "../../orders/order/order.ts";
import { loggedRecordings } from "../../signing/notaries/notaries.ts";
import { headLines } from "../audit-heads/audit-heads.ts";

/**
 * A database row, and the line that the log must contain for the row. A line about a closing version is shortened as in
 * `ownLine`.
 */
type OwnRow = { line: string; row: string; at: Date };

/** The service's database records, for comparison with its published log. */
export type OwnLog = {
  key: string;
  /** The newest checkpoint in the database with at most `size` entries; null when there is none. */
  checkpointUpTo: (size: number) => Promise<{ name: string; size: number; note: string } | null>;
  /** The monitor calls this with each entry of the published log. */
  onEntry: (index: number, line: string) => void;
  /** Sentences about entries without a row, and rows without an entry. */
  findings: () => string[];
};

/** A line that is queued for longer than this is a finding: normally it is in the log within seconds. */
const maxWaitMs = 10 * minuteMs;
const maxListed = 50;
/**
 * The most characters of a line that a finding quotes. An entry may have 64 KB, but by the grammar, only a line that
 * contains keys or a log's name is longer than this.
 */
const maxShownLength = 200;

/**
 * Reads the lines that the log must contain according to the database.
 * @throws StartupError if none of this service's logs has the origin
 */
export async function openOwnLog(
  resources: Pick<Resources, "db" | "rowMac" | "clock">,
  origin: string,
): Promise<OwnLog> {
  const db = withLongStatements(resources.db);
  const tree = await treeOfOrigin(db, origin);
  if (!tree) throw new StartupError(`this installation has no log ${origin}`);
  const { environment } = tree;
  const rows = new Map<string, OwnRow>();
  for (const row of [...(await sealedRows(resources, environment)), ...(await statements(resources, environment))])
    rows.set(row.line, row);
  // An environment may have several logs, one after the other, and each line is in one of them. A line that none of
  // them contains is reported as missing from the newest one.
  const logOf = new Map((await linesWithLogs(db, environment)).map(({ line, log }) => [ownLine(line), log]));
  const newest = (await currentTree(db, environment))?.log;
  const isExpected = (line: string) => (logOf.get(line) ?? newest) === tree.log;
  const seen = new Set<string>();
  const foreign: string[] = [];
  let foreignCount = 0;
  return {
    key: tree.key,
    checkpointUpTo: (size) => newestCheckpointUpTo(db, tree.log, size),
    onEntry(index, text) {
      const line = ownLine(text);
      const isRepeated = seen.has(line);
      seen.add(line);
      // An `import/v1` line is not compared here: the monitor itself compares the number in the line with its position.
      const hasRow = rows.has(line) || line.startsWith("import/v1 ");
      if (hasRow && !isRepeated) return;
      foreignCount += 1;
      const why = isRepeated ? "repeats an earlier entry" : "matches no row of the database";
      if (foreign.length < maxListed) foreign.push(`Entry ${index}, ${line.slice(0, maxShownLength)}, ${why}.`);
    },
    findings() {
      const since = resources.clock().getTime() - maxWaitMs;
      const missing = [...rows.values()].filter(
        ({ line, at }) => isExpected(line) && !seen.has(line) && at.getTime() < since,
      );
      const sentences = missing.slice(0, maxListed).map(({ row, line }) => `The log has no entry ${line}, of ${row}.`);
      const more = missing.length - sentences.length + foreignCount - foreign.length;
      return [...foreign, ...sentences, ...(more > 0 ? [`There are ${more} more such entries and rows.`] : [])];
    },
  };
}

/**
 * A line of the log, without its line feed. For a closing version, only the first two words: the monitor verifies the
 * rest of the line, a link to the previous version.
 */
const ownLine = (text: string): string => {
  const line = text.trimEnd();
  return line.startsWith("closing/v1 ") ? line.split(" ", 2).join(" ") : line;
};

/** The rows whose lines the log must have, as their features declare them. */
const logged = [loggedPassports, loggedDocuments, loggedClosings, loggedRecordings];

/** Rows about sealed files, closing versions and recordings. */
const sealedRows = ({ db }: Pick<Resources, "db">, log: Environment): Promise<OwnRow[]> =>
  withLongStatements(db).query<OwnRow>(unionAll(logged.map((rows) => rows(log))));

/** Lines of the operator in the log: policies, daily heads, ends of earlier logs, and retractions. */
async function statements({ db, rowMac }: Pick<Resources, "db" | "rowMac">, log: Environment): Promise<OwnRow[]> {
  const policies = await db.query<OwnRow>(loggedPolicies(log));
  const heads = log === "live" ? await headLines(db) : [];
  const ends = await successionLines(db, log);
  const retractions = await readWrittenLines(db, rowMac, sql`action = 'seal.retracted'`);
  return [
    ...policies,
    ...heads.map(({ line, at }) => ({ line, row: "a daily head", at })),
    ...ends.map(({ line, at }) => ({ line, row: "a log that ended", at })),
    ...retractions.flatMap(({ id, detail, occurredAt }) => {
      const entry = JSON.parse(detail ?? "{}") as { log?: string; sealedSha256?: string; reason?: string };
      if (entry.log !== log) return [];
      const line = `retract/v1 ${entry.sealedSha256} ${entry.reason}`;
      return [{ line, row: `line ${id} of the audit log`, at: new Date(`${occurredAt}Z`) }];
    }),
  ];
}
