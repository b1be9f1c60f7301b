/** The rows of recordings: one for each recorded session, and one for each part of a recording in the store. */
import type { LogEntry } from "@signsealship/evidence/log";
import { type LoggedRows, queueEntry } from "../../../evidence/transparency-log/transparency-log.ts";
import type { StoredBlobs } from "../../../firms/partners/partners.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import type { BlobUse } from "../../../kernel/platform/blobs/cipher.ts";
import { columnCipher } from "../../../kernel/platform/column-cipher.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { nothing, sql } from "../../../kernel/platform/database/sql.ts";
import {
  type Marked,
  marked,
  type StateMac,
  verified,
  writeStateMacs,
} from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { type BlobRows, stateRows } from "../../../kernel/platform/protected-data.ts";
import type { SecretBytes } from "../../../kernel/platform/secrets.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { joinOrder } from "../../../orders/order/order.ts";

/**
 * A person in the session. `person` is the session's id of this person, such as `signer-1`; `name` is the real name.
 */
export type RecordedPerson = { readonly person: string; readonly role: string; readonly name: string };

/**
 * When and why each take ended, by take number. A take is one continuous recording of a person's media. Takes that are
 * still running, and takes during which the service crashed, are missing.
 */
type TakeEnds = Readonly<Record<string, { readonly at: string; readonly endedBy: string }>>;

export type Recording = {
  id: string;
  session: string;
  notaryId: string;
  orderId: number | null;
  environment: Environment;
  people: RecordedPerson[];
  takeEnds: TakeEnds;
  /** How many runs of the media engine were begun for this recording. Only the latest run may continue the chain. */
  runs: number;
  headSeq: number;
  headSha256: string;
  startedAt: Date;
  endedAt: Date | null;
  manifest: string | null;
  manifestSha256: string | null;
  /**
   * The last day (ISO) on which the recording is stored, unless a hold prevents the deletion. Null for permanent
   * storage, when the state's rules name no number of years.
   */
  keepUntil: string | null;
  isHeld: boolean;
  deletedAt: Date | null;
};

export const storedRecordings: StoredBlobs = (partnerId) => sql`
  SELECT p.blob_key, p.bytes FROM recordings r ${joinOrder(sql`r.order_id`)} JOIN recording_parts p ON p.recording_id = r.id
  WHERE o.partner_id = ${partnerId} AND r.deleted_at IS NULL`;

/** Selects the transparency-log entries of the recordings' manifests. */
export const loggedRecordings: LoggedRows = (environment) => sql`
  SELECT 'artifact/v1 ' || manifest_sha256 AS line, 'recording ' || id AS row, ended_at AS at
  FROM recordings WHERE manifest_sha256 IS NOT NULL AND environment = ${environment}`;

const recordingState: StateMac = {
  table: sql`recordings`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    r,
  ) => sql`${r}.id, ${r}.session, ${r}.notary_id, ${r}.order_id, ${r}.environment, ${r}.people, ${r}.take_ends, ${r}.runs,
    ${r}.head_seq, ${r}.head_sha256, extract(epoch FROM ${r}.started_at), extract(epoch FROM ${r}.ended_at), ${r}.manifest_sha256,
    ${r}.keep_until::text, ${r}.is_held, extract(epoch FROM ${r}.deleted_at)`,
};

const partState: StateMac = {
  table: sql`recording_parts`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (
    p,
  ) => sql`${p}.id, ${p}.recording_id, ${p}.first_seq, ${p}.last_seq, ${p}.head_sha256, ${p}.bytes, ${p}.sha256, ${p}.lines,
    extract(epoch FROM ${p}.created_at)`,
};

const keyUse = "recordings.record_key";

export const recordingRows = stateRows(recordingState, {
  ciphers: [{ use: keyUse, column: sql`record_key`, context: sql`id::text` }],
});

const partBlobs: BlobRows<{ recordingId: string; sha256: string }> = {
  columns: sql`recording_id AS "recordingId", sha256`,
  useOf: ({ recordingId, sha256 }) => partUse(recordingId, sha256),
};
export const partRows = stateRows(partState, { blobs: partBlobs });

export const partUse = (recordingId: string, sha256: string): BlobUse => ({
  kind: "recording",
  owner: recordingId,
  sha256,
});

const columns = sql`id, session, notary_id AS "notaryId", order_id AS "orderId", environment, people, take_ends AS "takeEnds", runs,
  head_seq::int AS "headSeq", head_sha256 AS "headSha256", started_at AS "startedAt", ended_at AS "endedAt", manifest,
  manifest_sha256 AS "manifestSha256", keep_until::text AS "keepUntil", is_held AS "isHeld", deleted_at AS "deletedAt",
  ${verified(recordingState, sql`recordings`)}`;

/**
 * Finds a recording by its id.
 * @throws ServiceError `not_found`; `unavailable` for a row that was altered
 */
export async function recordingById(db: Sql, id: string): Promise<Recording> {
  const [found] = isUuid(id) ? await db.query<Recording>(sql`SELECT ${columns} FROM recordings WHERE id = ${id}`) : [];
  if (!found) throw new ServiceError("not_found", "Recording not found.");
  return found;
}

/** Finds the order and the deletion time of each recording, with a flag that is true if the row's MAC is valid. */
export const markedRecordings = (db: Sql, ids: readonly string[]) =>
  db.query<Pick<Recording, "id" | "orderId" | "deletedAt"> & Marked>(sql`
    SELECT id, order_id AS "orderId", deleted_at AS "deletedAt", ${marked(recordingState, sql`recordings`)}
    FROM recordings WHERE id = ANY (${ids}::uuid[])`);

/** The newest recording of an order's sessions with this notary. */
export async function lastOfOrder(db: Sql, orderId: number, notaryId: string): Promise<Recording | undefined> {
  const [found] = await db.query<Recording>(sql`
    SELECT ${columns} FROM recordings WHERE order_id = ${orderId} AND notary_id = ${notaryId}
    ORDER BY started_at DESC, id LIMIT 1`);
  return found;
}

export async function recordingOf(db: Sql, session: string): Promise<Recording | undefined> {
  const [found] = await db.query<Recording>(sql`SELECT ${columns} FROM recordings WHERE session = ${session}`);
  return found;
}

/** Reads a recording, and locks its row until the transaction ends. */
export async function lockRecording(tx: Tx, id: string): Promise<Recording> {
  await tx.query(sql`SELECT FROM recordings WHERE id = ${id} FOR NO KEY UPDATE`);
  return recordingById(tx, id);
}

export type NewRecording = Pick<
  Recording,
  "id" | "session" | "notaryId" | "orderId" | "environment" | "people" | "headSha256" | "startedAt" | "keepUntil"
>;

export async function insertRecording(tx: Tx, recording: NewRecording, sealedKey: Uint8Array): Promise<void> {
  await tx.query(sql`
    INSERT INTO recordings (id, session, notary_id, order_id, environment, people, record_key, head_sha256, started_at, keep_until)
    VALUES (${recording.id}, ${recording.session}, ${recording.notaryId}, ${recording.orderId}, ${recording.environment},
      ${JSON.stringify(recording.people)}::jsonb, ${Buffer.from(sealedKey)}, ${recording.headSha256}, ${recording.startedAt}, ${recording.keepUntil})`);
  await writeStateMacs(tx, recordingState, sql`id = ${recording.id}`);
}

/**
 * Throws unless this node holds the session's lease. Without this check, a new run at this node could replace the run
 * of the node that holds it.
 */
export type RequireHeld = (tx: Tx) => Promise<void>;

/**
 * Gives a recording the next run number, before another run of the media engine begins. A number is never used again,
 * so no earlier run can add a part.
 * @returns the recording with the new number
 */
export async function nextRun(tx: Tx, id: string, requireHeld: RequireHeld): Promise<Recording> {
  await requireHeld(tx);
  const before = await lockRecording(tx, id);
  await tx.query(sql`UPDATE recordings SET runs = runs + 1 WHERE id = ${id}`);
  await writeStateMacs(tx, recordingState, sql`id = ${id}`);
  return { ...before, runs: before.runs + 1 };
}

/** The transparency-log entry for a manifest. */
export const manifestEntry = (sha256: string): LogEntry => ({ kind: "artifact/v1", commitment: sha256 });

type Changes = {
  head?: { seq: number; sha256: string };
  takeEnds?: TakeEnds;
  /**
   * The manifest to store. The same statement queues the manifest's line for the transparency log of the environment
   * `log`.
   */
  manifest?: { text: string; sha256: string; at: Date; log: Environment };
  isHeld?: boolean;
  deletedAt?: Date;
};

/** Changes a recording. The transaction must have locked its row. */
export async function changeRecording(tx: Tx, id: string, changes: Changes): Promise<void> {
  const { head, takeEnds, manifest, isHeld, deletedAt } = changes;
  const logged = manifest
    ? sql`WITH logged AS (${queueEntry(manifest.log, manifestEntry(manifest.sha256), manifest.at)})`
    : nothing;
  await tx.query(sql`${logged}
    UPDATE recordings SET
      head_seq = coalesce(${head?.seq ?? null}::bigint, head_seq), head_sha256 = coalesce(${head?.sha256 ?? null}::text, head_sha256),
      take_ends = coalesce(${takeEnds ? JSON.stringify(takeEnds) : null}::jsonb, take_ends),
      manifest = coalesce(${manifest?.text ?? null}::text, manifest),
      manifest_sha256 = coalesce(${manifest?.sha256 ?? null}::text, manifest_sha256),
      ended_at = coalesce(${manifest?.at ?? null}::timestamptz, ended_at),
      is_held = coalesce(${isHeld ?? null}::boolean, is_held),
      deleted_at = coalesce(${deletedAt ?? null}::timestamptz, deleted_at),
      record_key = CASE WHEN ${deletedAt !== undefined}::boolean THEN NULL ELSE record_key END
    WHERE id = ${id}`);
  await writeStateMacs(tx, recordingState, sql`id = ${id}`);
}

export type Part = {
  id: string;
  firstSeq: number;
  lastSeq: number;
  bytes: number;
  sha256: string;
  lines: string;
  blobKey: string | null;
};
export type NewPart = Part & { headSha256: string; createdAt: Date };

export async function insertPart(tx: Tx, recordingId: string, part: NewPart): Promise<void> {
  await tx.query(sql`
    INSERT INTO recording_parts (id, recording_id, first_seq, last_seq, head_sha256, bytes, sha256, lines, blob_key, created_at)
    VALUES (${part.id}, ${recordingId}, ${part.firstSeq}, ${part.lastSeq}, ${part.headSha256}, ${part.bytes}, ${part.sha256},
      ${part.lines}, ${part.blobKey}, ${part.createdAt})`);
  await writeStateMacs(tx, partState, sql`id = ${part.id}`);
}

const partColumns = sql`id, first_seq::int AS "firstSeq", last_seq::int AS "lastSeq", bytes, sha256, lines, blob_key AS "blobKey"`;

/** The parts in the order of the chain, each with a flag that is true if its row's MAC is valid. */
export const markedPartsOf = (db: Sql, recordingId: string) =>
  db.query<Part & Marked>(sql`
    SELECT ${partColumns}, ${marked(partState, sql`recording_parts`)}
    FROM recording_parts WHERE recording_id = ${recordingId} ORDER BY first_seq`);

/**
 * The parts in the order of the chain.
 * @throws ServiceError `unavailable` for a part whose MAC is invalid
 */
export const partsOf = (db: Sql, recordingId: string) =>
  db.query<Part>(sql`
    SELECT ${partColumns}, ${verified(partState, sql`recording_parts`)}
    FROM recording_parts WHERE recording_id = ${recordingId} ORDER BY first_seq`);

/**
 * Removes the references to the blobs of the recording's parts.
 * @returns the keys of these blobs
 */
export async function forgetBlobs(tx: Tx, recordingId: string): Promise<string[]> {
  const held = await tx.query<{ blobKey: string }>(sql`
    SELECT blob_key AS "blobKey" FROM recording_parts WHERE recording_id = ${recordingId} AND blob_key IS NOT NULL`);
  await tx.query(sql`UPDATE recording_parts SET blob_key = NULL WHERE recording_id = ${recordingId}`);
  return held.map(({ blobKey }) => blobKey);
}

export const keyCipher = (secrets: SecretBytes) => columnCipher(secrets, keyUse);

/**
 * The encryption key of a recording.
 * @throws ServiceError `not_found` after the key was deleted
 */
export async function recordKeyOf(db: Sql, secrets: SecretBytes, id: string): Promise<Buffer> {
  const [row] = await db.query<{ sealed: Buffer | null }>(
    sql`SELECT record_key AS sealed FROM recordings WHERE id = ${id}`,
  );
  if (!row?.sealed) throw new ServiceError("not_found", "The recording was deleted.");
  return keyCipher(secrets).decrypt(row.sealed, id);
}
