import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { AlteredRecordError } from "../../../kernel/platform/errors.ts";
import { type MacTable, stateRows } from "../../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../../kernel/platform/row-mac.ts";
import { fromTasks, taskState } from "../../../kernel/tasks/tasks.ts";
import { joinOrder, readOrderHead } from "../../../orders/order/order.ts";
import type { Script } from "./scripts.ts";
import type { Mark, Person } from "./steps.ts";

const sheetFormat = "signsealship run sheet 1";

const sheetOutcomes = ["done", "refused", "no_show", "technical", "identity", "abandoned"] as const;
export type SheetOutcome = (typeof sheetOutcomes)[number];

/** The run sheet of one act. */
export type Sheet = {
  id: string;
  taskId: number;
  orderId: number;
  notaryId: string;
  /** The script as it was when the run sheet was opened, so that a new release does not change the steps. */
  script: Script;
  people: Person[];
  /** The hash of the PIN that returns the device to the notary; null when the notary chose none. */
  pinHash: string | null;
  openedAt: Date;
  run: number;
  /** The position of the last entry in the run sheet's record. */
  headPosition: number;
  headSha256: string | null;
  outcome: SheetOutcome | null;
  endedAt: Date | null;
  marks: Mark[];
};

/** The MAC covers the position and the hash of the last entry, so that the removal of entries is detected. */
const sheetState: StateMac = {
  table: sql`notary_sheets`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (s) => sql`${s}.id, ${s}.task_id, ${s}.order_id, ${s}.notary_id, ${s}.script, ${s}.people, ${s}.pin_hash,
    extract(epoch FROM ${s}.opened_at), ${s}.run, ${s}.head_position, ${s}.head_sha256, ${s}.outcome,
    extract(epoch FROM ${s}.ended_at)`,
};

type MarkFacts = { sheetId: string; position: number; sha256: string };

const markMembers = ({ sheetId, position, sha256 }: MarkFacts): Members => ({ sheetId, position, sha256 });

const markRows: MacTable<MarkFacts> = {
  table: sql`notary_sheet_marks`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, sheet_id AS "sheetId", position, sha256, row_mac AS mac FROM notary_sheet_marks`,
  members: markMembers,
};

export const sheetTables = [stateRows(sheetState), markRows];

type Reading = { db: Sql; rowMac: RowMac };

async function sheetsOf({ db, rowMac }: Reading, where: Statement): Promise<Sheet[]> {
  const sheets = await db.query<Omit<Sheet, "marks"> & { rows: MarkRow[] }>(sql`
    SELECT id, task_id AS "taskId", order_id AS "orderId", notary_id AS "notaryId", script, people, pin_hash AS "pinHash", opened_at AS "openedAt", run,
      head_position AS "headPosition", head_sha256 AS "headSha256", outcome, ended_at AS "endedAt",
      (SELECT coalesce(json_agg(json_build_object('position', m.position, 'record', m.record, 'sha256', m.sha256,
        'mac', encode(m.row_mac, 'hex')) ORDER BY m.position), '[]') FROM notary_sheet_marks m
        WHERE m.sheet_id = notary_sheets.id) AS rows,
      ${verified(sheetState, sql`notary_sheets`)}
    FROM notary_sheets WHERE ${where}`);
  // Reads the run sheets and their marks in one statement. Between two statements, another mark could be added, and the
  // sheet would look forged.
  return sheets.map(({ rows, ...sheet }) => ({ ...sheet, marks: marksOf(rowMac, sheet, rows) }));
}

/**
 * A run sheet with its record; undefined for an unknown id.
 * @throws ServiceError `unavailable` for a sheet whose row was altered, Error for altered marks
 */
export async function findSheet(reading: Reading, id: string): Promise<Sheet | undefined> {
  const [sheet] = await sheetsOf(reading, sql`id = ${id}`);
  return sheet;
}

/** The outcome of a run sheet's act; null while the act is in progress. The sheet's record of marks is not read. */
export async function outcomeOf(db: Sql, id: string): Promise<SheetOutcome | null> {
  const [row] = await db.query<{ outcome: SheetOutcome | null }>(sql`
    SELECT outcome, ${verified(sheetState, sql`notary_sheets`)} FROM notary_sheets WHERE id = ${id}`);
  return row?.outcome ?? null;
}

/** Locks a run sheet until the transaction ends. A transaction that also locks an order must lock the order first. */
export async function lockSheet(tx: Tx, rowMac: RowMac, id: string): Promise<Sheet | undefined> {
  await tx.query(sql`SELECT FROM notary_sheets WHERE id = ${id} FOR NO KEY UPDATE`);
  return findSheet({ db: tx, rowMac }, id);
}

type MarkRow = { position: number; record: string; sha256: string; mac: string | null };

type Whole = Pick<Sheet, "id" | "headPosition" | "headSha256">;

function marksOf(rowMac: RowMac, { id, headPosition, headSha256 }: Whole, rows: readonly MarkRow[]): Mark[] {
  let before: string | null = null;
  const marks: Mark[] = [];
  for (const [index, { position, record, sha256, mac }] of rows.entries()) {
    const holds =
      hash("sha256", record) === sha256 &&
      rowMac.holds(
        "notary_sheet_marks",
        markMembers({ sheetId: id, position, sha256 }),
        mac === null ? null : Buffer.from(mac, "hex"),
      );
    const mark = holds ? (JSON.parse(record) as Mark & { previousSha256: string | null }) : null;
    if (mark === null || position !== index + 1 || mark.previousSha256 !== before)
      throw new AlteredRecordError(`mark ${index + 1} of run sheet ${id}`);
    before = sha256;
    marks.push(mark);
  }
  if (marks.length !== headPosition || before !== headSha256)
    throw new AlteredRecordError(`the last mark of run sheet ${id}`);
  return marks;
}

/** The open run sheet of a task; undefined when it has none. */
export async function openSheetOf(reading: Reading, taskId: number): Promise<Sheet | undefined> {
  const [sheet] = await sheetsOf(reading, sql`task_id = ${taskId} AND ended_at IS NULL`);
  return sheet;
}

/** The open run sheets of an order. They may include sheets of an earlier task of the order. */
export const openSheetsOfOrder = (reading: Reading, orderId: number): Promise<Sheet[]> =>
  sheetsOf(reading, sql`order_id = ${orderId} AND ended_at IS NULL`);

/**
 * The open sheets of acts in person whose order no longer waits for a notary. The query has no limit: altered sheets
 * can't be ended, so they could fill every limited result and keep the others from being ended.
 */
export const sheetsToEnd = (db: Sql): Promise<{ id: string }[]> =>
  db.query(sql`
    SELECT n.id FROM notary_sheets n ${joinOrder(sql`n.order_id`)}
    WHERE n.ended_at IS NULL AND n.mode = 'ipen' AND o.status <> 'NotarizationPending' ORDER BY n.opened_at`);

/** True if an order has an open sheet on which its signers sign. */
export async function hasSignersSheet(db: Sql, orderId: number): Promise<boolean> {
  const open = await db.query<{ script: Script }>(sql`
    SELECT script, ${verified(sheetState, sql`notary_sheets`)} FROM notary_sheets
    WHERE order_id = ${orderId} AND ended_at IS NULL`);
  return open.some(({ script }) => haveSigners(script));
}

/** True if the signers sign during an act with this script. */
export const haveSigners = ({ steps }: Script): boolean => steps.some(({ name }) => name === "sign");

/** All run sheets of an order, including those that have ended. */
export const sheetsOfOrder = (reading: Reading, orderId: number): Promise<Sheet[]> =>
  sheetsOf(reading, sql`order_id = ${orderId} ORDER BY opened_at, id`);

/** True if the task of a run sheet is still claimed by a notary. */
export async function isInHands(db: Sql, { taskId }: Pick<Sheet, "taskId">): Promise<boolean> {
  const [task] = await db.query<{ state: string }>(
    sql`SELECT t.state, ${verified(taskState, sql`t`)} ${fromTasks} WHERE t.id = ${taskId}`,
  );
  return task?.state === "claimed";
}

/** The code of a run sheet's order. */
export async function orderCodeOf(db: Sql, { orderId }: Pick<Sheet, "orderId">): Promise<string> {
  const order = await readOrderHead(db, orderId);
  if (!order) throw new Error(`the order ${orderId} of a run sheet is missing`);
  return order.code;
}

/** The entries in a run sheet's record exactly as stored, to be copied. */
export const recordsOf = (db: Sql, sheetId: string) =>
  db.query<{ record: string; sha256: string }>(
    sql`SELECT record, sha256 FROM notary_sheet_marks WHERE sheet_id = ${sheetId} ORDER BY position`,
  );

type NewSheet = Pick<Sheet, "id" | "taskId" | "orderId" | "notaryId" | "script" | "people" | "pinHash" | "openedAt">;

/**
 * Stores a new run sheet.
 * @returns false when the task already has an open sheet
 */
export async function insertSheet(tx: Tx, { id, taskId, orderId, notaryId, ...sheet }: NewSheet): Promise<boolean> {
  const inserted = await tx.query(sql`
    INSERT INTO notary_sheets (id, task_id, order_id, notary_id, mode, script, people, pin_hash, opened_at)
    VALUES (${id}, ${taskId}, ${orderId}, ${notaryId}, ${sheet.script.mode}, ${JSON.stringify(sheet.script)}::jsonb,
      ${JSON.stringify(sheet.people)}::jsonb, ${sheet.pinHash}, ${sheet.openedAt})
    ON CONFLICT (task_id) WHERE ended_at IS NULL DO NOTHING RETURNING 1`);
  if (inserted.length === 1) await writeStateMacs(tx, sheetState, sql`id = ${id}`);
  return inserted.length === 1;
}

export type NewMark = Omit<Mark, "position" | "at" | "run"> & { at: Date };

/** Appends an entry to the record of a run sheet. The transaction must have locked the sheet. */
export async function appendMark(tx: Tx, rowMac: RowMac, sheet: Sheet, { at, ...mark }: NewMark): Promise<Sheet> {
  const { id, run, headPosition, headSha256 } = sheet;
  const position = headPosition + 1;
  const written: Mark = { ...mark, position, run, at: at.toISOString() };
  const record = canonicalJson({
    ...(written as unknown as JsonObject),
    format: sheetFormat,
    sheet: id,
    previousSha256: headSha256,
  });
  const sha256 = hash("sha256", record);
  await tx.query(sql`
    INSERT INTO notary_sheet_marks (sheet_id, position, record, sha256, row_mac)
    VALUES (${id}, ${position}, ${record}, ${sha256},
      ${rowMac.of("notary_sheet_marks", markMembers({ sheetId: id, position, sha256 }))})`);
  await updateSheet(tx, id, sql`head_position = ${position}, head_sha256 = ${sha256}`);
  return { ...sheet, headPosition: position, headSha256: sha256, marks: [...sheet.marks, written] };
}

/**
 * Changes the row of a run sheet.
 * @throws ServiceError `unavailable` for a sheet whose row has an invalid MAC
 */
export const updateSheet = (tx: Tx, id: string, set: Statement): Promise<void> => changeRow(tx, sheetState, id, set);
