import { hash } from "node:crypto";
import { canonicalJson, type JsonObject } from "@signsealship/evidence/manifest";
import type { Sql, Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { Members, RowMac } from "../../platform/row-mac.ts";

/** What can happen to an envelope. */
export type TrailEvent =
  | "created"
  | "link_issued"
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
  | "sealed";

/** A record of the trail, and its hash: canonical JSON with the hash of the record before, hex SHA-256. */
export type TrailRecord = { readonly position: number; readonly record: string; readonly sha256: string };

export type TrailFacts = { verifyCode: string; position: number; sha256: string };

export const trailMembers = ({ verifyCode, position, sha256 }: TrailFacts): Members => ({
  verifyCode,
  position,
  sha256,
});

/** The record that follows. @param detail what else is to be said; its names must not be those of the frame */
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

/** A record as the database has it: without its envelope's code, which opens a page to everybody. */
const withoutCode = (record: string, verifyCode: string): string =>
  record.replaceAll(`"envelope":"${verifyCode}"`, noCode);
const withCode = (stored: string, verifyCode: string): string =>
  stored.replaceAll(noCode, `"envelope":"${verifyCode}"`);
// No text inside a record looks so: its quotes are escaped.
const noCode = '"envelope":null';

/** Appends a record to the trail of an envelope that the transaction has locked. */
export async function appendToTrail(
  tx: Tx,
  rowMac: RowMac,
  envelope: { id: number; verifyCode: string },
  event: TrailEvent,
  at: Date,
  detail: JsonObject = {},
): Promise<TrailRecord> {
  const next = nextRecord(await lastRecord(tx, envelope.id), { verifyCode: envelope.verifyCode, event, at, detail });
  await insertRecord(tx, rowMac, envelope, next);
  return next;
}

/** Where the trail ends. */
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
    VALUES (${id}, ${position}, ${withoutCode(record, verifyCode)}, ${sha256},
      ${rowMac.of("envelope_events", trailMembers({ verifyCode, position, sha256 }))})`);

/** The whole trail, in order. */
export async function readTrail(db: Sql, envelopeId: number): Promise<(TrailRecord & { mac: Buffer })[]> {
  const rows = await db.query<TrailRecord & { verifyCode: string; mac: Buffer }>(sql`
    SELECT t.position, t.record, t.sha256, t.row_mac AS mac, e.verify_code AS "verifyCode@envelope"
    FROM envelope_events t JOIN envelopes e ON e.id = t.envelope_id
    WHERE t.envelope_id = ${envelopeId} ORDER BY t.position`);
  return rows.map(({ verifyCode, record, ...row }) => ({ ...row, record: withCode(record, verifyCode) }));
}

/** The first record that is not what was written: by its hash, and the MAC over that. */
export const alteredRecord = (rowMac: RowMac, verifyCode: string, trail: readonly (TrailRecord & { mac: Buffer })[]) =>
  trail.find(
    ({ mac, position, record, sha256 }) =>
      hash("sha256", record) !== sha256 ||
      !rowMac.holds("envelope_events", trailMembers({ verifyCode, position, sha256 }), mac),
  );

/** Far more than anybody signing leaves, and far less than would keep the evidence from being read. */
const mostOfSigner = 500;

/** Records that only the signer causes. Strangers with the link cause others (codes, failures), which have bounds of their own. */
const bySigner: readonly TrailEvent[] = ["opened", "code_ok", "consented", "proposed", "signed"];

/** @throws ServiceError `rate_limited` for a signer who has filled the trail since their link was issued */
export async function requireTrailRoom(tx: Tx, envelopeId: number, signer: number): Promise<void> {
  const [row] = await tx.query<{ n: number }>(sql`
    SELECT count(*) AS n FROM envelope_events
    WHERE envelope_id = ${envelopeId} AND (record::json ->> 'signer')::int = ${signer}
      AND record::json ->> 'event' = ANY (${bySigner}::text[])
      AND position > (SELECT coalesce(max(position), 0) FROM envelope_events
        WHERE envelope_id = ${envelopeId} AND (record::json ->> 'signer')::int = ${signer}
          AND record::json ->> 'event' = 'link_issued')`);
  if ((row?.n ?? 0) >= mostOfSigner)
    throw new ServiceError("rate_limited", "This link was used too often. Tell the firm that sent the document.");
}
