import { hash } from "node:crypto";
import { EvidenceError } from "@signsealship/evidence/errors";
import { closingLinkText } from "@signsealship/evidence/log";
import { parseManifest } from "@signsealship/evidence/manifest";
import { type SealChain, sealChainRow } from "../../evidence/seals/seals.ts";
import { originOfLog, queueEntry } from "../../evidence/transparency-log/transparency-log.ts";
import { joinFirm, verifiedFirm } from "../../firms/partners/partners.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import { eventRow } from "../../kernel/events/events.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sealed, sql } from "../../kernel/platform/database/sql.ts";
import { hasSqlState, sqlState } from "../../kernel/platform/database/sql-errors.ts";
import { verifiedAll } from "../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { markedAt, marksOf, type StoredMark } from "../../kernel/retention/retention.ts";
import { fromDocuments, joinOrder, latestFirst, orderState, verifiedSignersOf } from "../../orders/order/order.ts";
import { verifiedEnvelopesOf } from "../../signing/envelopes/envelopes.ts";
import { type StoredSigningAgain, signingAgainOf, whereSignedAgain } from "../../signing/notaries/notaries.ts";
import { attachmentsTable, fromAttachments, fromRooms, verifiedRoom } from "../rooms/rooms.ts";
import type { OrderArtifacts, StoredArtifact } from "./artifacts.ts";
import { fromVersions, type StoredVersion, storedColumns, versionMembers } from "./versions.ts";

export type RoomOfOwner = Owner & { roomCode: string };

type SnapshotDocument = OrderArtifacts & {
  label: string | null;
  status: string;
  /** The encrypted file name of the order's document, in hex. */
  fileName: string | null;
  docSlug: string | null;
  externalReference: string | null;
  pages: number | null;
  /**
   * The signers of the order's latest envelope, with the times of their signatures. Empty if people signed again on
   * paper.
   */
  signers: { name: string; signedAt: string | null }[];
  takenIn: ("sealed" | "notarized")[];
};

/** The room's firm, as pages show it. */
export type Firm = { name: string; brandName: string | null; accentColor: string | null };

/** The facts about a version in the chain of versions. */
export type ChainLink = { version: number; manifestSha256: string; createdAt: Date };

export type Snapshot = {
  roomId: string;
  name: string;
  reference: string | null;
  firm: Firm;
  documents: SnapshotDocument[];
};

const isOwnRoom = ({ roomCode, partnerId, environment }: RoomOfOwner): Statement =>
  sql`${isSealed(sql`r.code`, "room", roomCode)} AND r.partner_id = ${partnerId} AND r.environment = ${environment}`;

export async function findRoomId(db: Sql, room: RoomOfOwner): Promise<string | undefined> {
  const [found] = await db.query<{ id: string }>(sql`SELECT id, ${verifiedRoom} ${fromRooms} WHERE ${isOwnRoom(room)}`);
  return found?.id;
}

/** The first half of the advisory lock's key. The second half identifies the room. */
const sealLock = 7_246_002;

/**
 * Waits until no other node is sealing the room, and blocks others until the transaction ends. Doesn't lock the room's
 * row, because the room's orders must be able to change while a time stamp is requested.
 * @throws ServiceError `unavailable` when the wait is too long
 */
export async function lockSeals(tx: Tx, roomId: string): Promise<void> {
  await tx.script("SET LOCAL lock_timeout = '2min'");
  try {
    await tx.query(sql`SELECT pg_advisory_xact_lock(${sealLock}, hashtext(${roomId}))`);
  } catch (error) {
    if (!hasSqlState(error, sqlState.lockNotAvailable)) throw error;
    throw new ServiceError("unavailable", "The room is being sealed. Try again later.", { cause: error });
  }
  await tx.script("SET LOCAL lock_timeout = '5s'");
}

const latestEnvelope = sql`(SELECT e.id FROM envelopes e WHERE e.order_id = o.id ORDER BY ${latestFirst(sql`e`)} LIMIT 1)`;

/** The newest document of each kind, with marks that show whether the retention plan deleted it. */
const artifacts = sql`(SELECT coalesce(json_agg(json_build_object('kind', d.kind, 'sha256', d.sha256, 'blobKey', d.blob_key,
    'mac', encode(d.row_mac, 'hex'), 'marks', ${marksOf(sql`d.blob_key`)})), '[]')
  FROM (SELECT DISTINCT ON (kind) * ${fromDocuments} WHERE d.order_id = o.id ORDER BY d.kind, d.id DESC) d)`;

type MarkedDocument = Omit<SnapshotDocument, "artifacts"> & {
  artifacts: (StoredArtifact & { marks: StoredMark[] | null })[];
  signingAgain: StoredSigningAgain;
};

const ofSigning: ReadonlySet<string> = new Set(["sealed", "custody_certificate"]);

/**
 * Leaves out artifacts that the retention plan deleted. If people signed again in a notary's presence, also leaves out
 * the files of the earlier signing. If they did so on paper, leaves out the earlier envelope and its signers as well.
 * @throws ServiceError `unavailable` for an altered entry of a notary's journal
 */
function withStored(rowMac: RowMac, { artifacts, signingAgain, ...document }: MarkedDocument): SnapshotDocument {
  const again = whereSignedAgain(rowMac, document.orderCode, signingAgain);
  return {
    ...document,
    ...(again === "on paper" && { envelope: null, signers: [] }),
    artifacts: artifacts.flatMap(({ marks, ...artifact }) =>
      markedAt(rowMac, marks) || (again !== null && ofSigning.has(artifact.kind)) ? [] : [artifact],
    ),
  };
}

/**
 * The latest envelope, if it is completed, with the last record of its trail.
 * The MAC of that record also covers the verify code.
 */
const envelope = sql`(SELECT json_build_object('verifyCode', e.verify_code, 'position', t.position, 'sha256', t.sha256,
    'mac', encode(t.row_mac, 'hex'))
  FROM envelopes e JOIN envelope_events t ON t.envelope_id = e.id
  WHERE e.id = ${latestEnvelope} AND e.outcome = 'Completed' ORDER BY t.position DESC LIMIT 1)`;

/** The page count of the newest document that has a recorded page count; null when none has one. */
const pages = sql`(SELECT d.pages ${fromDocuments} WHERE d.order_id = o.id AND d.pages IS NOT NULL ORDER BY d.id DESC LIMIT 1)`;

const signers = sql`(SELECT coalesce(json_agg(json_build_object('name', s.name, 'signedAt', s.signed_at) ORDER BY s.routing, s.n), '[]')
  FROM envelope_signers s WHERE s.envelope_id = ${latestEnvelope})`;

/** The kinds of documents that an operator handed in because they were signed or notarized elsewhere. */
const takenIn = sql`(SELECT coalesce(json_agg(kind ORDER BY kind DESC), '[]') FROM unnest(o.taken_in) AS kind)`;

/**
 * The room with its orders and their artifacts, all read at one moment.
 * @throws ServiceError `unavailable` when the MAC of the room, its firm, an order, an envelope, a signer or a journal
 * entry is invalid, because the seal would certify the altered data
 */
export async function selectSnapshotOf(db: Sql, rowMac: RowMac, room: RoomOfOwner): Promise<Snapshot | undefined> {
  const [snapshot] = await db.query<Omit<Snapshot, "documents"> & { documents: MarkedDocument[] }>(sql`
SELECT r.id AS "roomId", r.name, r.reference, json_build_object('name', p.name, 'brandName', p.brand_name, 'accentColor', p.accent_color) AS firm, (
  SELECT coalesce(json_agg(json_build_object('orderCode', o.code, 'partnerId', o.partner_id, 'environment', o.environment, 'label', a.label, 'status', o.status,
    'fileName', encode(o.document_name, 'hex'), 'docSlug', o.doc_slug, 'externalReference', o.external_reference, 'pages', ${pages}, 'signers', ${signers}, 'takenIn', ${takenIn}, 'artifacts', ${artifacts}, 'signingAgain', ${signingAgainOf}, 'envelope', ${envelope})), '[]')
  ${fromAttachments} ${joinOrder(sql`a.order_id`)} WHERE a.room_id = r.id
) AS "documents@order.orderCode,envelope.verifyCode", ${verifiedAll(orderState, sql`o`, sql`${fromAttachments} ${joinOrder(sql`a.order_id`)} WHERE a.room_id = r.id`)}, ${verifiedFirm}, ${verifiedRoom},
  ${verifiedEnvelopesOf(sql`SELECT a.order_id ${fromAttachments} WHERE a.room_id = r.id`)},
  ${verifiedSignersOf(sql`${attachmentsTable} ${joinOrder(sql`a.order_id`)} WHERE a.room_id = r.id`)}
${fromRooms} ${joinFirm(sql`r.partner_id`)} WHERE ${isOwnRoom(room)}`);
  if (!snapshot) return undefined;
  return { ...snapshot, documents: snapshot.documents.map((document) => withStored(rowMac, document)) };
}

/** The room's versions in ascending order. */
export const selectVersions = (db: Sql, roomId: string) =>
  db.query<StoredVersion>(sql`
SELECT ${storedColumns} ${fromVersions}
WHERE c.room_id = ${roomId} ORDER BY c.version`);

export type NewVersion = RoomOfOwner & {
  roomId: string;
  actor: string;
  version: number;
  verifyCode: string;
  manifest: string;
  manifestSha256: string;
  prevManifestSha256: string | null;
  sealedSha256: string;
  chain: SealChain;
  blobKey: string;
  /** The length of the sealed certificate in bytes. */
  bytes: number;
  createdAt: Date;
};

/**
 * Writes the version, its line in the transparency log, its audit line and its event in one statement.
 * @returns the origin of the log
 */
export async function insertVersion(tx: Tx, rowMac: RowMac, row: NewVersion): Promise<string> {
  const { roomId, version, verifyCode, partnerId, environment, actor, chain, createdAt: at } = row;
  const action = "room.passport_sealed";
  const eventId = `${action}:${row.roomCode}:${verifyCode}`;
  const [{ origin } = { origin: null }] = await tx.query<{ origin: string | null }>(sql`
WITH chain AS (
  ${sealChainRow(rowMac, chain, at)}
), passport AS (
  INSERT INTO closing_passports (room_id, version, verify_code, manifest, manifest_sha256, prev_manifest_sha256,
    sealed_sha256, seal_chain, blob_key, bytes, created_at, row_mac)
  VALUES (${roomId}, ${version}, ${sealed("closing", verifyCode)}, ${sealed("manifest", row.manifest)}, ${row.manifestSha256}, ${row.prevManifestSha256},
    ${row.sealedSha256}, ${chain.sha256}, ${row.blobKey}, ${row.bytes}, ${at},
    ${rowMac.of("closing_passports", versionMembers({ ...row, sealChain: chain.sha256 }))})
), logged AS (
  ${queueEntry(environment, closingEntry(row), at)}
), audit AS (
  ${auditLine({ at, action, actor, partnerId, roomId, detail: { version } })}
)
${eventRow({ at, topic: action, eventId, partnerId, environment, subject: verifyCode, roomId })}
RETURNING ${originOfLog(environment)} AS origin`);
  return origin ?? "";
}

type VersionLinks = Pick<NewVersion, "sealedSha256" | "prevManifestSha256" | "roomCode">;

/**
 * The transparency log's entry for a version. `link` is a hash of the previous version's manifest hash. For the first
 * version, it is a hash of the room's code. So anyone who has a version can compute the link of the next version's
 * entry, and find that entry in the log.
 */
export const closingEntry = ({ sealedSha256, prevManifestSha256, roomCode }: VersionLinks) => ({
  kind: "closing/v1" as const,
  sealedSha256,
  link: hash("sha256", closingLinkText(prevManifestSha256 ?? roomCode)),
});

type EarlierVersion = Omit<VersionLinks, "roomCode"> & {
  roomId: string;
  version: number;
  /**
   * The manifest of a first version; null for later versions. The log line of a first version is derived from the
   * room's code at the time of the seal. The manifest states that code.
   */
  manifest: string | null;
  environment: Environment;
  at: Date;
};

const versionsAtOnce = 1_000;

/**
 * Queues log lines for versions that were sealed before the log existed. A first version whose manifest can't be read
 * is skipped, and this is reported in the service's own log.
 * @returns the number of lines
 */
export async function queueEarlierVersions(tx: Tx, log: Log): Promise<number> {
  let queued = 0;
  for (let after: EarlierVersion | undefined, isWhole = true; isWhole; ) {
    const versions: EarlierVersion[] = await tx.query<EarlierVersion>(sql`
      SELECT c.room_id AS "roomId", c.version, sealed_sha256 AS "sealedSha256", prev_manifest_sha256 AS "prevManifestSha256",
        CASE WHEN prev_manifest_sha256 IS NULL THEN manifest END AS "manifest@manifest", environment, c.created_at AS at
      ${fromVersions}
      ${after ? sql`WHERE (c.room_id, c.version) > (${after.roomId}, ${after.version})` : nothing}
      ORDER BY c.room_id, c.version LIMIT ${versionsAtOnce}`);
    for (const each of versions) {
      const roomCode = each.manifest === null ? "" : roomCodeIn(each.manifest);
      if (roomCode === null) {
        const { roomId, version } = each;
        log.error({ roomId, version }, "a closing passport can't be read, so the transparency log gets no line of it");
        continue;
      }
      await tx.query(queueEntry(each.environment, closingEntry({ ...each, roomCode }), each.at));
      queued += 1;
    }
    isWhole = versions.length === versionsAtOnce;
    after = versions.at(-1);
  }
  return queued;
}

function roomCodeIn(manifest: string): string | null {
  try {
    return parseManifest(Buffer.from(manifest, "latin1")).passport.roomCode;
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}
