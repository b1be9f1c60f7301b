import { createHash } from "node:crypto";
import { equalBytes } from "@signsealship/evidence/bytes";
import { buildManifest, manifestBytes, manifestLimits } from "@signsealship/evidence/manifest";
import { readClosingCertificate, sealReasons } from "@signsealship/evidence/seal";
import { actorOf, type Principal } from "../identity/identity.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { newVerifyCode } from "../platform/ids.ts";
import type { KeyedSemaphore } from "../platform/keyed-semaphore.ts";
import { isCode, roomNotFound } from "../rooms/rooms.ts";
import type { SealDocument, Sealed } from "../seals/sealer.ts";
import type { DrawCertificate } from "./certificate.ts";
import {
  findRoomId,
  insertVersion,
  lockSeals,
  type RoomOfOwner,
  type Snapshot,
  type StoredLink,
  selectSnapshotOf,
  selectVersions,
} from "./store.ts";

export type SealClosingDeps = {
  db: Database;
  blobs: Blobs;
  clock: Clock;
  sealDocument: SealDocument;
  /** PEM of the seal's certificates. */
  chainPem: string;
  drawCertificate: DrawCertificate;
  /** By room, so that those who wait for their turn hold no connection. */
  turns: KeyedSemaphore;
  baseUrl: string;
};

export const verifyPath = (verifyCode: string): string => `/v/room/${verifyCode}`;

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");

/**
 * Seals the room as it is now as the next version of its closing passport. Seals of one room follow one another, here
 * and across nodes; the sealed certificate is durable before one statement writes version, audit line and event.
 * @param expected the version that the caller means to seal: of a form sent twice one is refused; null for the next
 * @returns the contract's passport version response
 * @throws ServiceError for an unknown room, beyond 20 versions, for a version that is not the next, and when no seal can be
 * made; then nothing was recorded
 */
export async function sealClosing(
  deps: SealClosingDeps,
  principal: Principal,
  roomCode: string,
  expected: number | null = null,
) {
  const { partnerId, environment } = principal;
  const room = { roomCode, partnerId, environment };
  const roomId = isCode(roomCode) ? await findRoomId(deps.db, room) : undefined;
  if (roomId === undefined) throw roomNotFound();
  const asked = { room, roomId, expected };
  return deps.turns(roomId, () => deps.db.transaction((tx) => sealNext(deps, tx, asked, principal)));
}

type Asked = { room: RoomOfOwner; roomId: string; expected: number | null };

async function sealNext(deps: SealClosingDeps, tx: Tx, { room, roomId, expected }: Asked, principal: Principal) {
  await lockSeals(tx, roomId);
  // The code may have been rotated while this waited for its turn.
  const snapshot = await selectSnapshotOf(tx, room);
  if (!snapshot) throw roomNotFound();
  const before = await selectVersions(tx, roomId);
  if (before.length >= manifestLimits.versions) {
    throw invalid(`Passport version quota reached (${manifestLimits.versions} versions per room).`);
  }
  const next = before.length + 1;
  if (expected !== null && expected !== next)
    throw new ServiceError("conflict", `Version ${expected} was not sealed now: the next one is version ${next}.`);
  const previous = before.at(-1);
  requireWhole(previous, roomId);
  const at = deps.clock();
  const verifyCode = newVerifyCode();
  const { manifest, bytes } = manifestOf(room, snapshot, previous, at);
  const manifestSha256 = sha256(bytes);
  const { version, prevManifestSha256 } = manifest.passport;
  const sealed = await sealCertificate(deps, principal, bytes, {
    manifest,
    manifestBytes: bytes,
    manifestSha256,
    environment: room.environment,
    partnerName: snapshot.partnerName,
    verifyUrl: `${deps.baseUrl}${verifyPath(verifyCode)}`,
    verifyCode,
    chain: [...before, { version, manifestSha256, createdAt: at }],
  });
  const blobKey = await deps.blobs.put(sealed.bytes);
  const response = { version, verifyCode, manifestSha256, prevManifestSha256, sealedSha256: sealed.sealedSha256 };
  await insertVersion(tx, {
    ...response,
    ...room,
    roomId,
    actor: actorOf(principal),
    manifest: Buffer.from(bytes).toString("latin1"),
    chain: { sha256: sha256(deps.chainPem), pem: deps.chainPem },
    blobKey,
    createdAt: at,
  });
  return {
    version,
    verifyCode,
    verifyUrl: verifyPath(verifyCode),
    manifestSha256,
    prevManifestSha256,
    sealedSha256: sealed.sealedSha256,
    createdAt: at.toISOString(),
  };
}

/** A version is never linked to one that was altered: its seal would vouch for it. */
function requireWhole(previous: StoredLink | undefined, roomId: string): void {
  if (previous && sha256(previous.manifest) !== previous.manifestSha256) {
    throw new Error(`version ${previous.version} of room ${roomId} is not what was sealed`);
  }
}

function manifestOf(room: RoomOfOwner, snapshot: Snapshot, previous: StoredLink | undefined, at: Date) {
  const manifest = buildManifest({
    roomCode: room.roomCode,
    roomName: snapshot.name,
    reference: snapshot.reference,
    version: (previous?.version ?? 0) + 1,
    prevManifestSha256: previous?.manifestSha256 ?? null,
    generatedAt: at,
    documents: snapshot.documents,
  });
  return { manifest, bytes: manifestBytes(manifest) };
}

/** Draws and seals; what counts as sealed bears exactly this manifest and says what it is, as the verifier reads it. */
async function sealCertificate(
  deps: SealClosingDeps,
  { environment }: Principal,
  manifest: Uint8Array,
  content: Parameters<DrawCertificate>[0],
): Promise<Sealed> {
  const bytes = await deps.drawCertificate(content);
  const sealed = await deps.sealDocument({ bytes, reason: sealReasons.closing[environment] }).catch((error) => {
    // The document is ours: no caller could do anything about it.
    if (error instanceof ServiceError && error.code === "validation") {
      throw new Error("the certificate cannot be sealed", { cause: error });
    }
    throw error;
  });
  const read = readClosingCertificate(sealed.bytes);
  const asMeant = read.purpose?.kind === "closing" && read.purpose.environment === environment;
  if (!asMeant || read.manifest === null || !equalBytes(read.manifest, manifest)) {
    throw new Error("the sealed certificate does not say what it should");
  }
  return sealed;
}
