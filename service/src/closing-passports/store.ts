import type { Environment } from "../identity/identity.ts";
import { hasSqlState, type Sql, sqlState, type Tx } from "../platform/database.ts";
import { ServiceError } from "../platform/errors.ts";

/** A room and who asks for it: its owner, in the environment of the key. */
export type RoomOfOwner = { roomCode: string; partnerId: string; environment: Environment };

export type SnapshotDocument = {
  orderCode: string;
  label: string | null;
  status: string;
  originalSha256: string | null;
  sealedSha256: string | null;
  custodyCertSha256: string | null;
};

/** A version as later ones refer to it. */
export type ChainLink = { version: number; manifestSha256: string; createdAt: Date };

export type Snapshot = {
  roomId: string;
  name: string;
  reference: string | null;
  partnerName: string;
  documents: SnapshotDocument[];
};

export async function findRoomId(
  sql: Sql,
  { roomCode, partnerId, environment }: RoomOfOwner,
): Promise<string | undefined> {
  const [room] = await sql.rows<{ id: string }>(
    "SELECT id FROM rooms WHERE code = $1 AND partner_id = $2 AND environment = $3",
    [roomCode, partnerId, environment],
  );
  return room?.id;
}

/** First half of the advisory lock's key; the second is made of the room. */
const sealLock = 7_246_002;

/**
 * Waits until no other seal of the room is in progress on any node; until the end of the transaction none can begin. It
 * is no lock on the room's row, which changes of its orders need while a time stamp is waited for.
 * @throws ServiceError `unavailable` when the wait gets too long
 */
export async function lockSeals(tx: Tx, roomId: string): Promise<void> {
  await tx.script("SET LOCAL lock_timeout = '2min'");
  try {
    await tx.rows("SELECT pg_advisory_xact_lock($1, hashtext($2))", [sealLock, roomId]);
  } catch (error) {
    if (!hasSqlState(error, sqlState.lockNotAvailable)) throw error;
    throw new ServiceError("unavailable", "The room is being sealed. Try again later.", { cause: error });
  }
  await tx.script("SET LOCAL lock_timeout = '5s'");
}

const newestOf = (kind: string) =>
  `(SELECT sha256 FROM documents d WHERE d.order_id = o.id AND d.kind = '${kind}' ORDER BY d.id DESC LIMIT 1)`;

const selectSnapshot = `
SELECT r.id AS "roomId", r.name, r.reference, p.name AS "partnerName", (
  SELECT coalesce(json_agg(json_build_object('orderCode', o.code, 'label', a.label, 'status', o.status,
    'originalSha256', ${newestOf("original")}, 'sealedSha256', ${newestOf("sealed")},
    'custodyCertSha256', ${newestOf("custody_certificate")})), '[]')
  FROM room_orders a JOIN orders o ON o.id = a.order_id WHERE a.room_id = r.id
) AS documents
FROM rooms r JOIN partners p ON p.id = r.partner_id WHERE r.code = $1 AND r.partner_id = $2 AND r.environment = $3`;

/** The room with its orders and their artifacts as they are at one instant. */
export async function selectSnapshotOf(sql: Sql, room: RoomOfOwner): Promise<Snapshot | undefined> {
  const [snapshot] = await sql.rows<Snapshot>(selectSnapshot, [room.roomCode, room.partnerId, room.environment]);
  return snapshot;
}

export type StoredLink = ChainLink & { manifest: string };

/** The room's versions in ascending order. */
export const selectVersions = (sql: Sql, roomId: string) =>
  sql.rows<StoredLink>(
    `SELECT version, manifest, manifest_sha256 AS "manifestSha256", created_at AS "createdAt"
     FROM closing_passports WHERE room_id = $1 ORDER BY version`,
    [roomId],
  );

export type SealedVersion = { version: number; verifyCode: string; manifestSha256: string; createdAt: Date };

/** The versions of the owner's room, newest first; none for any other room. */
export const selectVersionsOf = (sql: Sql, { roomCode, partnerId, environment }: RoomOfOwner) =>
  sql.rows<SealedVersion>(
    `SELECT c.version, c.verify_code AS "verifyCode", c.manifest_sha256 AS "manifestSha256", c.created_at AS "createdAt"
     FROM rooms r JOIN closing_passports c ON c.room_id = r.id
     WHERE r.code = $1 AND r.partner_id = $2 AND r.environment = $3 ORDER BY c.version DESC`,
    [roomCode, partnerId, environment],
  );

export type NewVersion = {
  roomId: string;
  roomCode: string;
  partnerId: string;
  environment: Environment;
  actor: string;
  version: number;
  verifyCode: string;
  manifest: string;
  manifestSha256: string;
  prevManifestSha256: string | null;
  sealedSha256: string;
  chain: { sha256: string; pem: string };
  blobKey: string;
  createdAt: Date;
};

const insertion = `
WITH chain AS (
  INSERT INTO seal_chains (sha256, pem, first_used_at) VALUES ($8, $9, $11) ON CONFLICT DO NOTHING
), passport AS (
  INSERT INTO closing_passports (room_id, version, verify_code, manifest, manifest_sha256, prev_manifest_sha256,
    sealed_sha256, seal_chain, blob_key, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $10, $11)
), audit AS (
  INSERT INTO audit_log (occurred_at, action, actor, partner_id, room_id, detail)
  VALUES ($11, 'room.passport_sealed', $14, $12, $1, jsonb_build_object('version', $2::int))
)
INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject, room_id)
VALUES ($11, 'room.passport_sealed', $15, $12, $13, $3, $1)`;

/** Writes the version, its audit line and its event in one statement. */
export const insertVersion = (tx: Tx, version: NewVersion) =>
  tx.rows(insertion, [
    version.roomId,
    version.version,
    version.verifyCode,
    version.manifest,
    version.manifestSha256,
    version.prevManifestSha256,
    version.sealedSha256,
    version.chain.sha256,
    version.chain.pem,
    version.blobKey,
    version.createdAt,
    version.partnerId,
    version.environment,
    version.actor,
    `room.passport_sealed:${version.roomCode}:${version.verifyCode}`,
  ]);
