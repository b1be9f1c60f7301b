import { hasMovedSince } from "../../../kernel/audit/audit.ts";
import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import { fromActs, type MailClass } from "../../../providers/providers.ts";
import { type Happening, type LetterProgress, letterHappenings, stageOf } from "./progress.ts";

export type Letter = {
  id: number;
  orderId: number;
  /** The attempt's number within its order, counted from 1. */
  attempt: number;
  /** The letter's id at Lob. */
  letterId: string;
  mailClass: MailClass;
  docSha256: string;
  pages: number;
  doubleSided: boolean;
  trackingNumber: string | null;
  /** Lob's estimate of the delivery date, `YYYY-MM-DD`. */
  expectedDelivery: string | null;
  /** The letter can be canceled until this time. */
  sendAt: Date | null;
  acceptedAt: Date;
  /** The time at which this service queued the cancellation; null without one, and after the cancellation failed. */
  recalledAt: Date | null;
  progress: LetterProgress;
};

/** Names a letter in the tasks about it. */
export const asDelivery = ({ orderId, letterId }: Letter) => ({ orderId, subject: letterId });

const columnOf = (what: Happening): Statement => new Statement([`${what}_at`], []);
const happenings = letterHappenings
  .map((what) => sql`, l.${columnOf(what)} AS ${columnOf(what)}`)
  .reduce((all, column) => sql`${all}${column}`);

/** The MAC of a letter covers all columns of its row. */
const letterState: StateMac = {
  table: sql`letters`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    l,
  ) => sql`${l}.id, ${l}.order_id, ${l}.attempt, ${l}.letter_id, ${l}.mail_class, ${l}.doc_sha256, ${l}.pages,
    ${l}.double_sided, ${l}.tracking_number, ${l}.expected_delivery, ${utc(l, sql`send_at`)}, ${utc(l, sql`accepted_at`)},
    ${utc(l, sql`recalled_at`)}, ${letterHappenings.map((what) => utc(l, columnOf(what))).reduce((all, one) => sql`${all}, ${one}`)},
    ${l}.state_version`,
};

const utc = (l: Statement, column: Statement): Statement => sql`${l}.${column} AT TIME ZONE 'UTC'`;

/** Selects the `order_id` of each order with a letter that has this tracking number. */
export const lettersTrackedBy = (trackingNumber: string): Statement =>
  sql`SELECT order_id FROM letters WHERE tracking_number = ${trackingNumber}`;

export const letterRows = stateRows(letterState, { backfill: { set: "carriers" } });

type Row = Omit<Letter, "progress"> & Record<string, unknown>;

async function select(db: Sql, rest: Statement): Promise<Letter[]> {
  const rows = await db.query<Row>(sql`
    SELECT l.id, l.order_id AS "orderId", l.attempt, l.letter_id AS "letterId", l.mail_class AS "mailClass",
      l.doc_sha256 AS "docSha256", l.pages, l.double_sided AS "doubleSided", l.tracking_number AS "trackingNumber",
      l.expected_delivery::text AS "expectedDelivery", l.send_at AS "sendAt", l.accepted_at AS "acceptedAt",
      l.recalled_at AS "recalledAt"${happenings}, ${verified(letterState, sql`l`)}
    FROM letters l ${rest}`);
  return rows.map((row) => {
    const happened = letterHappenings.flatMap((what) => {
      const { [`${what}_at`]: at } = row;
      return at instanceof Date ? [[what, at] as const] : [];
    });
    return { ...row, progress: Object.fromEntries(happened) };
  });
}

export async function findLetter(db: Sql, letterId: string): Promise<Letter | undefined> {
  const [letter] = await select(db, sql`WHERE l.letter_id = ${letterId}`);
  return letter;
}

/** The letters of an order, oldest first. */
export const lettersOfOrder = (db: Sql, orderId: number): Promise<Letter[]> =>
  select(db, sql`WHERE l.order_id = ${orderId} ORDER BY l.id`);

/**
 * The letter on which an order's shipping depends: the last one. Ignores letters that were accepted before the order's
 * shipping failed.
 */
export async function shippingLetter(db: Sql, orderId: number): Promise<Letter | undefined> {
  const [letter] = await select(
    db,
    sql`WHERE l.order_id = ${orderId} AND NOT ${hasMovedSince(sql`l.order_id`, "ShippingFailed", sql`l.accepted_at`)}
      ORDER BY l.id DESC LIMIT 1`,
  );
  return letter;
}

/** The letter that `shippingLetter` finds. Undefined if that letter was returned or canceled, or has failed. */
export async function currentLetter(db: Sql, orderId: number): Promise<Letter | undefined> {
  const letter = await shippingLetter(db, orderId);
  return letter && !["returned", "failed", "cancelled"].includes(stageOf(letter.progress)) ? letter : undefined;
}

export type NewLetterRow = Omit<Letter, "id" | "progress" | "recalledAt">;

/**
 * Inserts a letter that Lob accepted.
 * @returns the row's id; undefined when the letter is already recorded
 */
export async function insertLetter(tx: Tx, letter: NewLetterRow): Promise<number | undefined> {
  const { orderId, attempt, letterId, mailClass, docSha256, pages, doubleSided, acceptedAt } = letter;
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO letters (order_id, attempt, letter_id, mail_class, doc_sha256, pages, double_sided, tracking_number,
      expected_delivery, send_at, accepted_at)
    VALUES (${orderId}, ${attempt}, ${letterId}, ${mailClass}, ${docSha256}, ${pages}, ${doubleSided},
      ${letter.trackingNumber}, ${letter.expectedDelivery}::date, ${letter.sendAt}, ${acceptedAt})
    ON CONFLICT DO NOTHING RETURNING id`);
  if (row) await writeStateMacs(tx, letterState, sql`id = ${row.id}`);
  return row?.id;
}

/** Updates the letter from Lob's latest response; absent fields stay unchanged. */
export const refreshLetter = (
  tx: Tx,
  id: number,
  { trackingNumber, expectedDelivery }: Pick<Letter, "trackingNumber" | "expectedDelivery">,
) =>
  changeRow(
    tx,
    letterState,
    id,
    sql`tracking_number = coalesce(${trackingNumber}, tracking_number),
      expected_delivery = coalesce(${expectedDelivery}::date, expected_delivery)`,
  );

export async function keepProgress(tx: Tx, id: number, progress: LetterProgress): Promise<void> {
  const set = letterHappenings
    .map((what) => sql`${columnOf(what)} = ${progress[what] ?? null}`)
    .reduce((all, column) => sql`${all}, ${column}`);
  await changeRow(tx, letterState, id, set);
}

/**
 * Records when this service queued the cancellation of a letter.
 * @param at the time of queuing; null when the cancellation failed
 */
export const markRecalled = (tx: Tx, id: number, at: Date | null) =>
  changeRow(tx, letterState, id, sql`recalled_at = ${at}`);

/** The progress of the acts that send or cancel letters of one order. */
export type LetterActs = {
  /** True if an act for one of the order's letters is planned or in progress. */
  isUnderWay: boolean;
  /** True if Lob may have accepted a letter that is not recorded yet. */
  isSending: boolean;
  /** The number of the next attempt to send a letter. */
  next: number;
  /** The number of the next attempt to cancel a letter. */
  nextCancel: number;
};

export async function letterActs(tx: Sql, orderId: number): Promise<LetterActs> {
  const [found] = await tx.query<LetterActs>(sql`
    SELECT coalesce(bool_or(ended_at IS NULL), false) AS "isUnderWay",
      coalesce(bool_or(act = 'letter.send' AND state IN ('begun', 'unknown')), false) AS "isSending",
      coalesce(max(attempt) FILTER (WHERE act = 'letter.send'), 0) + 1 AS next,
      coalesce(max(attempt) FILTER (WHERE act = 'letter.cancel'), 0) + 1 AS "nextCancel"
    ${fromActs} WHERE order_id = ${orderId} AND act IN ('letter.send', 'letter.cancel')`);
  return found ?? { isUnderWay: false, isSending: false, next: 1, nextCancel: 1 };
}
