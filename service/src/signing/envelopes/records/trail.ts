import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import { type EventChannel, eventRow } from "../../../kernel/events/events.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { type MacTable, stateRows } from "../../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../../kernel/platform/row-mac.ts";
import { joinOrder, signerState } from "../../../orders/order/order.ts";
import { embedTables } from "./embeds.ts";
import { type Envelope, envelopeState } from "./envelope.ts";
import { roomTables } from "./rooms.ts";
import { sessionTables } from "./sessions.ts";
import { sittingTable } from "./sittings.ts";

/** The events that the trail of an envelope can record. */
export type TrailEvent =
  | "created"
  | "link_issued"
  | "embedded"
  | "in_person"
  | "session_identified"
  | "opened"
  | "code_sent"
  | "code_failed"
  | "code_ok"
  | "locked"
  | "unlocked"
  | "consented"
  | "signed"
  | "declined"
  | "proposed"
  | "replaced"
  | "reminded"
  | "expired"
  | "voided"
  | "handed_over"
  | "notarized"
  | "sealed";

/**
 * A record of the trail and its hash. The record is canonical JSON with the hash of the previous record; the hash is
 * hex SHA-256.
 */
export type TrailRecord = { readonly position: number; readonly record: string; readonly sha256: string };

export type TrailFacts = { verifyCode: string; position: number; sha256: string };

export const trailMembers = ({ verifyCode, position, sha256 }: TrailFacts): Members => ({
  verifyCode,
  position,
  sha256,
});

const trailRows: MacTable<TrailFacts> = {
  table: sql`envelope_events`,
  key: sql`id`,
  keyInRows: sql`t.id`,
  mac: sql`t.row_mac`,
  rows: sql`
SELECT t.id AS key, e.verify_code AS "verifyCode@envelope", t.position, t.sha256, t.row_mac AS mac
FROM envelope_events t JOIN envelopes e ON e.id = t.envelope_id`,
  members: trailMembers,
};

const envelopeRows = stateRows(envelopeState, {
  backfill: { set: "desk and checkout" },
  texts: [{ kind: "envelope", column: sql`verify_code`, constraint: "envelopes_verify_code_sealed" }],
});

export const protectedTables = [
  trailRows,
  stateRows(signerState, { backfill: { set: "firms, signers and notaries" } }),
  envelopeRows,
  ...embedTables,
  ...roomTables,
  sittingTable,
  ...sessionTables,
];

/**
 * Builds the trail's next record.
 * @param detail further members, whose names must differ from those that every record has
 */
export function nextRecord(
  before: Pick<TrailRecord, "position" | "sha256"> | undefined,
  { verifyCode, event, at, detail }: { verifyCode: string; event: TrailEvent; at: Date; detail: JsonObject },
): TrailRecord {
  const position = (before?.position ?? 0) + 1;
  const record = canonicalJson({
    ...detail,
    at: at.toISOString(),
    envelope: verifyCode,
    event,
    position,
    previousSha256: before?.sha256 ?? null,
  });
  return { position, record, sha256: hash("sha256", record) };
}

/**
 * Replaces the codes of the envelope and the order by null before a record is stored, because these codes grant access.
 */
const withoutCodes = (record: string, verifyCode: string): string =>
  record.replaceAll(`"envelope":"${verifyCode}"`, noEnvelope).replaceAll(/"orderCode":"[0-9a-f]{40}"/g, noOrder);
const withCodes = (stored: string, verifyCode: string, orderCode: string): string =>
  stored.replaceAll(noEnvelope, `"envelope":"${verifyCode}"`).replaceAll(noOrder, `"orderCode":"${orderCode}"`);
// JSON escapes quotes within texts, so these placeholders can only be the record's own members.
const [noEnvelope, noOrder] = ['"envelope":null', '"orderCode":null'];

/** For each trail event about a signer, the topic of the webhook event to the firm. */
const signerTopics: Readonly<Partial<Record<TrailEvent, string>>> = {
  link_issued: "signature.requested",
  opened: "signature.viewed",
  signed: "signature.signed",
  declined: "signature.declined",
};

/**
 * Appends a record to the trail of an envelope. The transaction must have locked the envelope. A record about a signer
 * may also queue a webhook event for the firm.
 * @param channel how the signer opened the signing page, stated in the webhook event; ignored for events before the
 * page was opened
 */
export async function appendToTrail(
  tx: Tx,
  rowMac: RowMac,
  envelope: Envelope,
  event: TrailEvent,
  at: Date,
  detail: JsonObject = {},
  channel: EventChannel = "mail_link",
): Promise<TrailRecord> {
  const next = nextRecord(await lastRecord(tx, envelope.id), { verifyCode: envelope.verifyCode, event, at, detail });
  await insertRecord(tx, rowMac, envelope, next);
  const topic = signerTopics[event];
  if (topic && typeof detail["signer"] === "number")
    await tx.query(
      signerEvent(envelope, {
        topic,
        signer: detail["signer"],
        at,
        position: next.position,
        ...(event !== "link_issued" && { channel }),
      }),
    );
  return next;
}

/**
 * The SQL that inserts the webhook event about a signer. The event's id contains the record's position, so that each
 * record causes one event.
 */
function signerEvent(
  { attempt, orderId, orderCode, partnerId, environment }: Envelope,
  {
    topic,
    signer,
    channel,
    at,
    position,
  }: { topic: string; signer: number; channel?: EventChannel; at: Date; position: number },
): Statement {
  const eventId = `${topic}:${orderCode}:${signer}:${attempt}-${position}`;
  return eventRow({
    at,
    topic,
    eventId,
    partnerId,
    environment,
    subject: orderCode,
    orderId,
    ...(channel && { channel }),
  });
}

/** The last record of the trail. */
export async function lastRecord(db: Sql, envelopeId: number) {
  const [last] = await db.query<Pick<TrailRecord, "position" | "sha256">>(sql`
    SELECT position, sha256 FROM envelope_events WHERE envelope_id = ${envelopeId} ORDER BY position DESC LIMIT 1`);
  return last;
}

export const insertRecord = (
  tx: Tx,
  rowMac: RowMac,
  { id, verifyCode }: { id: number; verifyCode: string },
  { position, record, sha256 }: TrailRecord,
) =>
  tx.query(sql`
    INSERT INTO envelope_events (envelope_id, position, record, sha256, row_mac)
    VALUES (${id}, ${position}, ${withoutCodes(record, verifyCode)}, ${sha256},
      ${rowMac.of("envelope_events", trailMembers({ verifyCode, position, sha256 }))})`);

/** The number of the signer who ended the signing to sign on paper; null for none. */
export async function paperAsker(db: Sql, envelopeId: number): Promise<number | null> {
  const [found] = await db.query<{ signer: number }>(sql`
    SELECT (record::json ->> 'signer')::int AS signer FROM envelope_events
    WHERE envelope_id = ${envelopeId} AND ${isPaperWish(sql`record`)}`);
  return found?.signer ?? null;
}

/** SQL condition: a record of the trail says that a signer ended the signing to sign on paper. */
export const isPaperWish = (record: Statement): Statement =>
  sql`${record}::json ->> 'event' = 'declined' AND ${record}::json ->> 'kind' = 'paper'`;

/** The whole trail, in order. */
export async function readTrail(db: Sql, envelopeId: number): Promise<(TrailRecord & { mac: Buffer })[]> {
  const rows = await db.query<TrailRecord & { verifyCode: string; orderCode: string; mac: Buffer }>(sql`
    SELECT t.position, t.record, t.sha256, t.row_mac AS mac, e.verify_code AS "verifyCode@envelope", o.code AS "orderCode@order"
    FROM envelope_events t JOIN envelopes e ON e.id = t.envelope_id ${joinOrder(sql`e.order_id`)}
    WHERE t.envelope_id = ${envelopeId} ORDER BY t.position`);
  return rows.map(({ verifyCode, orderCode, record, ...row }) => ({
    ...row,
    record: withCodes(record, verifyCode, orderCode),
  }));
}

/**
 * The first altered record; undefined when all are valid. Each record must have its stored hash, and the MAC over that
 * hash must be valid.
 */
export const alteredRecord = (rowMac: RowMac, verifyCode: string, trail: readonly (TrailRecord & { mac: Buffer })[]) =>
  trail.find(
    ({ mac, position, record, sha256 }) =>
      hash("sha256", record) !== sha256 ||
      !rowMac.holds("envelope_events", trailMembers({ verifyCode, position, sha256 }), mac),
  );

/**
 * The most records of the events in `bySigner` that one signer's link may append. A real signer appends far fewer. The
 * limit bounds the size of the evidence.
 */
const maxOfSigner = 500;

/**
 * Events that a stranger with only the mailed link can't cause, if the signer has an access step. The other events
 * (codes, failures) have limits of their own.
 */
const bySigner: readonly TrailEvent[] = [
  "embedded",
  "in_person",
  "session_identified",
  "opened",
  "code_ok",
  "consented",
  "proposed",
  "signed",
];

/**
 * Requires that the signer's link may append another record to the trail.
 * @throws ServiceError `rate_limited` for a signer who has appended the maximum of records since the link was issued
 */
export async function requireTrailRoom(tx: Tx, envelopeId: number, signer: number): Promise<void> {
  const [row] = await tx.query<{ n: number }>(sql`
    SELECT count(*) AS n FROM envelope_events
    WHERE envelope_id = ${envelopeId} AND (record::json ->> 'signer')::int = ${signer}
      AND record::json ->> 'event' = ANY (${bySigner}::text[])
      AND position > (SELECT coalesce(max(position), 0) FROM envelope_events
        WHERE envelope_id = ${envelopeId} AND (record::json ->> 'signer')::int = ${signer}
          AND record::json ->> 'event' = 'link_issued')`);
  if ((row?.n ?? 0) >= maxOfSigner)
    throw new ServiceError("rate_limited", "This link was used too often. Tell the firm that sent the document.");
}
