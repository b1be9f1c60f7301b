import { hash } from "node:crypto";
import { appendToEdge, type EdgeNode, foldNodes, leafMessage, nodeMessage } from "@signsealship/evidence/log";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import type { MacRow, MacTable } from "../../kernel/platform/protected-data.ts";
import { partnerOfPayment } from "../../orders/payments/payments.ts";
import { partnerOfRequest } from "../../orders/refunds/refunds.ts";
import { macTables } from "../protected-data.ts";

/**
 * The sets of records that a daily head covers, each with its tables. A head lists the names of its sets, so that later
 * releases can add sets.
 */
export const recordSets: ReadonlyMap<string, readonly string[]> = new Map([
  ["keys", ["partner_keys", "revocations"]],
  ["firms", ["partners"]],
  ["members", ["members"]],
  ["operators", ["operators"]],
  ["seals", ["seal_chains"]],
  ["payments", ["payments", "processor_events", "payment_resolutions", "refund_requests"]],
]);

/** Identifies a row of a table. The row has the same key in the heads of all days. */
export type RecordName = { source: string; key: string };

/**
 * A row in its present state. `content` is JSON: the values that the row's MAC covers, and whether the row has a MAC.
 * The row of a revoked partner key has no MAC.
 */
export type PresentRecord = RecordName & { firm: string | null; content: string };

/** A row's state, as daily heads cover it. `digest` is null once the row was deleted. */
export type RecordState = { firm: string | null; salt: Buffer | null; digest: Buffer | null };

export const nameOf = ({ source, key }: RecordName): string => `${source} ${encodeURIComponent(key)}`;

export const digestOf = (salt: Buffer, content: string): Buffer =>
  hash("sha256", `${salt.toString("hex")}\n${content}`, "buffer");

/** The firm of a row in tables without a column for the firm: usually the firm of the row's order. */
const firmOf: ReadonlyMap<string, Statement> = new Map([
  ["partners", sql`r.key::text`],
  ["payments", sql`${partnerOfPayment(sql`r.key`)}::text`],
  ["refund_requests", sql`${partnerOfRequest(sql`r.key`)}::text`],
]);

const pageSize = 1_000;

/**
 * Encodes a row's key in SQL, in the same way as `encodeURIComponent` does in the row's line. So rows and stored states
 * can be read in the same order.
 */
export const encodedKey = (key: Statement): Statement => sql`(CASE WHEN ${key} ~ '^[A-Za-z0-9_-]*$' THEN ${key} ELSE (
  SELECT string_agg(CASE WHEN c ~ '[A-Za-z0-9_.!~*''()-]' THEN c ELSE '%' || upper(encode(convert_to(c, 'UTF8'), 'hex')) END, '' ORDER BY n)
  FROM regexp_split_to_table(${key}, '') WITH ORDINALITY AS parts (c, n)) END) COLLATE "C"`;

/** The present rows of all tables that heads cover, in the order of their lines. Leaves out rows that need no MAC. */
export async function* presentRecords(tx: Tx): AsyncGenerator<PresentRecord> {
  for (const source of [...recordSets.values()].flat().sort()) {
    const table = macTables.find((one) => one.table.text === source);
    if (!table) throw new Error(`no rows of ${source} are declared`);
    yield* recordsOf(tx, source, table);
  }
}

type FirmRow = MacRow<{ partnerId?: string | null; firmOfOrder: string | null }>;

async function* recordsOf(tx: Tx, source: string, { table, rows, members }: MacTable): AsyncGenerator<PresentRecord> {
  await tx.query(sql`
    DECLARE records_of_${table} NO SCROLL CURSOR FOR
    SELECT r.*, ${firmOf.get(source) ?? sql`NULL`} AS "firmOfOrder" FROM (${rows}) AS r
    ORDER BY ${encodedKey(sql`r.key::text`)}`);
  for await (const row of fetched<FirmRow>(tx, sql`records_of_${table}`)) {
    const values = members(row);
    if (values === null) continue;
    const key = Buffer.isBuffer(row.key) ? row.key.toString("hex") : String(row.key);
    const content = JSON.stringify([values, row.mac !== null]);
    yield { source, key, firm: row.firmOfOrder ?? row.partnerId ?? null, content };
  }
}

/** The rows of a cursor, page by page. */
export async function* fetched<Row>(tx: Tx, cursor: Statement): AsyncGenerator<Row> {
  for (;;) {
    const page = await tx.query<Row>(sql`FETCH ${literal(pageSize)} FROM ${cursor}`);
    yield* page;
    if (page.length < pageSize) break;
  }
  await tx.query(sql`CLOSE ${cursor}`);
}

/** A number as SQL text, because FETCH accepts no parameters. */
const literal = (count: number): Statement => sql(Object.assign([String(count)], { raw: [String(count)] }));

/** The last position of the audit log's chain; 0 for an empty chain. */
type ChainEnd = { position: number; sha256: string };

export type SetRoot = { name: string; count: number; root: string };

/** The content of a head. `day` is YYYY-MM-DD. */
export type Head = { day: string; salt: Buffer; audit: ChainEnd; sets: readonly SetRoot[] };

/** The text whose SHA-256 is the head: one line for the audit log, and one for each set. */
export const headText = ({ day, salt, audit, sets }: Head): string =>
  [
    "signsealship audit/v1",
    day,
    salt.toString("hex"),
    `audit-log ${audit.position} ${audit.sha256 || "-"}`,
    ...sets.map(({ name, count, root }) => `${name} ${count} ${root}`),
  ]
    .map((line) => `${line}\n`)
    .join("");

export const headOf = (head: Head): string => hash("sha256", headText(head));

/**
 * The text line that stands for one row when its set's root is hashed (docs/operator-records.md). Null for a deleted
 * row.
 */
export const recordLine = (name: string, { firm, digest }: RecordState): string | null =>
  digest && `${name} ${firm ?? "-"} ${digest.toString("hex")}\n`;

const sha256 = (bytes: Uint8Array): Buffer => hash("sha256", bytes, "buffer");
const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => sha256(nodeMessage(left, right));

/**
 * The name of an additional set in each head: the rows whose state changed since the previous head. Heads of earlier
 * releases don't have this set.
 */
export const changesSet = "changes";

/** The line of a row that changed. A deleted row has neither firm nor digest. */
export const changeLine = (name: string, { firm, digest }: RecordState): string =>
  `${name} ${firm ?? "-"} ${digest?.toString("hex") ?? "-"}\n`;

const setOfSource = new Map([...recordSets].flatMap(([set, sources]) => sources.map((source) => [source, set])));
export const setOf = (name: string): string => setOfSource.get(name.slice(0, name.indexOf(" "))) ?? "";

/**
 * Builds Merkle trees (RFC 6962) over the lines of sets. Lines must be added in ascending order. Only the right edge of
 * each tree is stored.
 */
export function createRoots(names: readonly string[]) {
  const sets = new Map(names.map((name) => [name, { count: 0, edge: [] as EdgeNode[] }]));
  const append = (set: string, line: string) => {
    const tree = sets.get(set);
    if (!tree) return;
    tree.count += 1;
    appendToEdge(tree.edge, sha256(leafMessage(Buffer.from(line))), nodeHash);
  };
  return {
    add(name: string, state: RecordState) {
      const line = recordLine(name, state);
      if (line !== null) append(setOf(name), line);
    },
    addChange: (name: string, state: RecordState) => append(changesSet, changeLine(name, state)),
    roots: (): SetRoot[] =>
      [...sets].map(([name, { count, edge }]) => {
        const hashes = edge.map(({ hash: one }) => one);
        const root = Buffer.from(foldNodes(hashes, nodeHash) ?? sha256(new Uint8Array(0))).toString("hex");
        return { name, count, root };
      }),
  };
}

/** The sets of a head whose recorded roots differ from the computed ones. */
export function otherSets({ sets }: Pick<Head, "sets">, computed: readonly SetRoot[]): string[] {
  const found = new Map(computed.map(({ name, count, root }) => [name, `${count} ${root}`]));
  return sets.filter(({ name, count, root }) => found.get(name) !== `${count} ${root}`).map(({ name }) => name);
}
