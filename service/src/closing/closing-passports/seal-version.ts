import { isDeepStrictEqual } from "node:util";
import { type Manifest, manifestBytes, manifestLimits, parseManifest } from "@signsealship/evidence/manifest";
import { sealChainOf } from "../../evidence/seals/seals.ts";
import { firmLogo, type RequireStorage } from "../../firms/partners/partners.ts";
import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import type { KeyedSemaphore } from "../../kernel/platform/bounds/keyed-semaphore.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import { AlteredDocumentError, ServiceError } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { reportAltered, roomNotFound } from "../rooms/rooms.ts";
import { compareStored } from "./artifacts.ts";
import type { CheckedVersionDeps } from "./certificate-check.ts";
import type { ClosingPassport } from "./schemas.ts";
import { type Issuing, manifestOf, sealManifest, verifyPath } from "./seal-manifest.ts";
import { findRoomId, insertVersion, lockSeals, type RoomOfOwner, selectSnapshotOf, selectVersions } from "./store.ts";
import { certificateUse, hashHolds, type StoredVersion } from "./versions.ts";

export type SealClosingDeps = CheckedVersionDeps & {
  db: Database;
  blobs: Blobs;
  clock: Clock;
  issuing: Issuing;
  limits: {
    requireStorage: RequireStorage;
    /**
     * Lets only one seal of a room run at a time on this node, and a few seals in all. Seals that wait for their turn
     * hold no database connection.
     */
    semaphore: KeyedSemaphore;
  };
};

/**
 * Seals the room's present state as the next version of its closing passport. Seals of one room run one after another,
 * across nodes. The sealed certificate is stored first; one statement then writes the version, its audit line and its
 * event.
 * @param expected the number of the version that the caller wants to seal; null for the next version. With a number, a
 * request that is sent twice makes only one version.
 * @returns the contract's passport version response
 * @throws ServiceError for an unknown room, beyond 20 versions, and when `expected` is not the next version. Also when
 * no seal can be made. Nothing is recorded then. An altered version or document also opens a task for the operators.
 */
export async function sealClosing(
  deps: SealClosingDeps,
  principal: Principal,
  roomCode: string,
  expected: number | null = null,
): Promise<ClosingPassport> {
  const { partnerId, environment } = principal;
  const room = { roomCode, partnerId, environment };
  const roomId = isCode(roomCode) ? await findRoomId(deps.db, room) : undefined;
  if (roomId === undefined) throw roomNotFound();
  const asked = { principal, room, roomId, expected, actor: actorOf(principal), whenDone: null };
  const sealed = await deps.limits
    .semaphore(roomId, () => sealInTurn(deps, asked), partnerId)
    .catch(async (error: unknown) => {
      const fault = faultOf(error);
      if (fault !== null) {
        deps.log.error({ err: error, roomId }, "a closing was not sealed, because a record of it was altered");
        await reportAltered(deps, { roomId, environment, fault });
      }
      throw error;
    });
  if (!sealed) throw new Error("a seal that was asked for was left out");
  return sealed;
}

/** Names the altered record that prevented the seal of a closing; null for another error. */
function faultOf(error: unknown): string | null {
  if (error instanceof AlteredVersionError) return `version ${error.version} is not what was sealed`;
  return error instanceof AlteredDocumentError ? `${error.what} is not what was written` : null;
}

export type Firm = Pick<Principal, "partnerId" | "tier">;

type Asked = {
  principal: Firm;
  room: RoomOfOwner;
  roomId: string;
  expected: number | null;
  actor: string;
  /** How an automatic seal reads its request; null for a seal that a person or an API key requested. */
  whenDone: WhenDone | null;
};

export type WhenDone = {
  /**
   * Reads the open request for an automatic seal, in the transaction. Call this before the room is read. Then the
   * request stays open if an order is added to the room afterwards.
   * @returns null when the request was withdrawn
   */
  begin: (tx: Tx) => Promise<OpenWish | null>;
};

type OpenWish = {
  isReady: (statuses: readonly string[]) => boolean;
  /**
   * Records in the transaction that this version fulfills the request. The request stays open if an order was added
   * since `begin`.
   * @returns false when the request was withdrawn
   */
  sealed: (version: number, at: Date) => Promise<boolean>;
};

/** Thrown to roll back a seal when a member has switched the automatic seal off in the meantime. */
class WithdrawnError extends Error {}

/** Thrown when the room already has the maximum number of versions. The room never gets another version. */
export class VersionQuotaError extends ServiceError {
  constructor() {
    super("validation", `Passport version quota reached (${manifestLimits.versions} versions per room).`);
  }
}

/** Thrown when the last version was altered after its seal. No version may follow it. */
class AlteredVersionError extends ServiceError {
  readonly version: number;
  constructor(version: number) {
    super(
      "conflict",
      `Version ${version} is not what was sealed, so no version can follow it. The operator of this service has to look at it.`,
    );
    this.version = version;
  }
}

/**
 * Seals the room's next version. Most documents are compared with their recorded hashes before the transaction, because
 * they may be many and large. The transaction compares only those added in the meantime.
 * @returns null when an automatic seal makes no version
 */
export async function sealInTurn(deps: SealClosingDeps, asked: Asked): Promise<ClosingPassport | null> {
  const snapshot = await selectSnapshotOf(deps.db, deps.rowMac, asked.room);
  const compared = await compareStored(deps.blobs, memoryHolder(asked.room), snapshot?.documents ?? []);
  return deps.db
    .transaction((tx) => sealNext(deps, tx, asked, compared))
    .catch((error: unknown) => {
      if (error instanceof WithdrawnError) return null;
      throw error;
    });
}

/**
 * Seals the next version in a transaction.
 * @returns null when an automatic seal makes no version: its request was withdrawn, the orders are not ready, or the
 * last version already certifies the present state
 */
async function sealNext(
  deps: SealClosingDeps,
  tx: Tx,
  asked: Asked,
  compared: Set<string>,
): Promise<ClosingPassport | null> {
  const { room, roomId, actor, principal, whenDone } = asked;
  await lockSeals(tx, roomId);
  const wish = whenDone && (await whenDone.begin(tx));
  if (whenDone && !wish) return null;
  const { snapshot, before } = await readForSeal(deps, tx, asked);
  if (wish) {
    if (!wish.isReady(snapshot.documents.map(({ status }) => status))) return null;
    const last = before.at(-1);
    // To see whether anything changed, builds the manifest of the present state with the last version's number. The
    // next number could be 21, but a room has at most 20 versions.
    if (last && isOfSame(last, manifestOf(deps, room, snapshot, before.at(-2), deps.clock()))) {
      await wish.sealed(last.version, deps.clock());
      return null;
    }
  }
  requireNext(before, asked.expected);
  await compareStored(deps.blobs, memoryHolder(room), snapshot.documents, compared);
  const at = deps.clock();
  const manifest = manifestOf(deps, room, snapshot, before.at(-1), at);
  const sealed = await sealManifest(deps.issuing, room, snapshot, before, {
    manifest,
    at,
    logo: await firmLogo(tx, room.partnerId),
  });
  const { version, prevManifestSha256 } = manifest.passport;
  const { verifyCode, manifestSha256 } = sealed;
  const { sealedSha256 } = sealed.certificate;
  const { bytes } = sealed.certificate;
  await deps.limits.requireStorage(principal, bytes.length);
  const blobKey = await deps.blobs.put(bytes, certificateUse({ verifyCode, sealedSha256 }));
  const origin = await insertVersion(tx, deps.rowMac, {
    ...room,
    roomId,
    actor,
    version,
    verifyCode,
    manifest: Buffer.from(sealed.bytes).toString("latin1"),
    manifestSha256,
    prevManifestSha256,
    sealedSha256,
    chain: sealChainOf(deps.issuing.sealing.chainPem[room.environment]),
    blobKey,
    bytes: bytes.length,
    createdAt: at,
  });
  if (wish && !(await wish.sealed(version, at))) throw new WithdrawnError();
  deps.certificates.remember({ sealedSha256, manifestSha256 });
  return {
    version,
    verifyCode,
    verifyUrl: verifyPath(verifyCode),
    manifestSha256,
    prevManifestSha256,
    sealedSha256,
    createdAt: at.toISOString(),
    log: { origin, state: "queued" },
  };
}

/** True if a version lists the same documents in the same state as the present manifest. */
const isOfSame = ({ manifest }: StoredVersion, present: Manifest): boolean =>
  isDeepStrictEqual(
    parseManifest(Buffer.from(manifest, "latin1")).documents,
    parseManifest(manifestBytes(present)).documents,
  );

/**
 * Reads the room and its versions. The caller must have called `lockSeals`.
 * @throws ServiceError for a room that is not found, and when the last version was altered
 */
async function readForSeal(deps: CheckedVersionDeps, tx: Tx, { room, roomId }: Asked) {
  // Reads the room again, because its code may have been rotated while this seal waited for the lock.
  const snapshot = await selectSnapshotOf(tx, deps.rowMac, room);
  if (!snapshot) throw roomNotFound();
  const before = await selectVersions(tx, roomId);
  await requireWhole(deps, before);
  return { snapshot, before };
}

/**
 * Requires that the room may get another version, and that this next version has the expected number.
 * @throws ServiceError otherwise
 */
function requireNext(before: readonly StoredVersion[], expected: number | null): void {
  if (before.length >= manifestLimits.versions) throw new VersionQuotaError();
  const next = before.length + 1;
  if (expected !== null && expected !== next)
    throw new ServiceError("conflict", `Version ${expected} was not sealed now: the next one is version ${next}.`);
}

/** Refuses to link a version to an altered one, because the new seal would certify it. */
async function requireWhole(deps: CheckedVersionDeps, before: readonly StoredVersion[]): Promise<void> {
  const previous = before.at(-1);
  if (previous && !(hashHolds(deps, previous) && (await deps.certificates.holds(previous)))) {
    deps.log.error(
      { roomId: previous.roomId, version: previous.version },
      "the last version of a closing is not what was sealed",
    );
    throw new AlteredVersionError(previous.version);
  }
}
