import { hash } from "node:crypto";
import { equalBytes } from "@signsealship/evidence/bytes";
import { buildManifest, type Manifest, manifestBytes, manifestLimits } from "@signsealship/evidence/manifest";
import { readClosingCertificate, sealReasons } from "@signsealship/evidence/seal";
import {
  authorityName,
  issuerOf,
  type Sealed,
  type Sealing,
  type Stamp,
  sealChainOf,
  sealOwnDocument,
} from "../../evidence/seals/seals.ts";
import { firmLogo, type RequireStorage } from "../../firms/partners/partners.ts";
import { actorOf, type Environment, type Principal } from "../../kernel/identity/identity.ts";
import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import type { KeyedSemaphore } from "../../kernel/platform/bounds/keyed-semaphore.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { newVerifyCode } from "../../kernel/platform/ids.ts";
import { isCode } from "../../kernel/platform/text.ts";
import type { TitleOf } from "../../orders/order/order.ts";
import { roomNotFound } from "../rooms/rooms.ts";
import { artifactHashes, compareStored } from "./artifacts.ts";
import type { CertificateContent } from "./certificate/content.ts";
import type { DrawCertificate } from "./certificate/draw.ts";
import type { CheckedVersionDeps } from "./certificate-check.ts";
import type { ClosingPassport } from "./schemas.ts";
import {
  findRoomId,
  insertVersion,
  lockSeals,
  type RoomOfOwner,
  type Snapshot,
  selectSnapshotOf,
  selectVersions,
} from "./store.ts";
import { certificateUse, hashHolds, type StoredVersion, type VersionDeps } from "./versions.ts";

export type SealClosingDeps = CheckedVersionDeps & {
  db: Database;
  blobs: Blobs;
  clock: Clock;
  issuing: Issuing;
  limits: {
    requireStorage: RequireStorage;
    /** One seal at a time for each room. Seals that wait here hold no database connection. */
    semaphore: KeyedSemaphore;
  };
};

/** The dependencies needed to make the certificate of a version. */
type Issuing = {
  sealing: Pick<Sealing, "sealDocument" | "stamp" | "chainPem">;
  drawCertificate: DrawCertificate;
  titleOf: TitleOf;
  /** Returns the newest checkpoint of a transparency log, as a signed note; null when there is none yet. */
  newestCheckpoint: (log: Environment) => string | null;
  baseUrl: string;
};

const verifyPath = (verifyCode: string): string => `/v/room/${verifyCode}`;

/**
 * Seals the room's present state as the next version of its closing passport. Seals of one room run one after another,
 * across nodes. The sealed certificate is stored first; one statement then writes the version, its audit line and its
 * event.
 * @param expected the number of the version that the caller wants to seal; a form that is sent twice then makes only
 * one version. Null for the next version
 * @returns the contract's passport version response
 * @throws ServiceError for an unknown room, beyond 20 versions, when `expected` is not the next version, and when no
 * seal can be made. Nothing is recorded then.
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
  const asked = { principal, room, roomId, expected, actor: actorOf(principal) };
  return deps.limits.semaphore(roomId, () => sealInTurn(deps, asked), partnerId);
}

type Asked = { principal: Principal; room: RoomOfOwner; roomId: string; expected: number | null; actor: string };

/**
 * Reads the documents before the transaction, because they may be many and large. Within the transaction only documents
 * that were added since then are read.
 */
async function sealInTurn(deps: SealClosingDeps, asked: Asked): Promise<ClosingPassport> {
  const snapshot = await selectSnapshotOf(deps.db, deps.rowMac, asked.room);
  const compared = await compareStored(deps.blobs, memoryHolder(asked.room), snapshot?.documents ?? []);
  return deps.db.transaction((tx) => sealNext(deps, tx, asked, compared));
}

async function sealNext(deps: SealClosingDeps, tx: Tx, asked: Asked, compared: Set<string>): Promise<ClosingPassport> {
  const { room, roomId, actor, principal } = asked;
  const { snapshot, before } = await readForSeal(deps, tx, asked);
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

/**
 * Waits for other seals of the room, then reads the room and its versions.
 * @throws ServiceError when no version may be sealed
 */
async function readForSeal(deps: CheckedVersionDeps, tx: Tx, { room, roomId, expected }: Asked) {
  await lockSeals(tx, roomId);
  // While this seal waited for the lock, the room's code may have been rotated.
  const snapshot = await selectSnapshotOf(tx, deps.rowMac, room);
  if (!snapshot) throw roomNotFound();
  const before = await selectVersions(tx, roomId);
  if (before.length >= manifestLimits.versions) {
    throw invalid(`Passport version quota reached (${manifestLimits.versions} versions per room).`);
  }
  const next = before.length + 1;
  if (expected !== null && expected !== next)
    throw new ServiceError("conflict", `Version ${expected} was not sealed now: the next one is version ${next}.`);
  await requireWhole(deps, before);
  return { snapshot, before };
}

/** Refuses to link a version to an altered one, because the new seal would certify it. */
async function requireWhole(deps: CheckedVersionDeps, before: readonly StoredVersion[]): Promise<void> {
  const previous = before.at(-1);
  if (previous && !(hashHolds(deps, previous) && (await deps.certificates.holds(previous)))) {
    throw new Error(`version ${previous.version} of room ${previous.roomId} is not what was sealed`);
  }
}

const manifestOf = (
  { rowMac }: VersionDeps,
  room: RoomOfOwner,
  snapshot: Snapshot,
  previous: StoredVersion | undefined,
  at: Date,
): Manifest =>
  buildManifest({
    roomCode: room.roomCode,
    roomName: snapshot.name,
    reference: snapshot.reference,
    version: (previous?.version ?? 0) + 1,
    prevManifestSha256: previous?.manifestSha256 ?? null,
    generatedAt: at,
    documents: snapshot.documents.map(({ label, status, ...order }) => ({
      orderCode: order.orderCode,
      label,
      status,
      ...artifactHashes(rowMac, order),
    })),
  });

async function sealManifest(
  issuing: Issuing,
  { environment, partnerId }: RoomOfOwner,
  { firm, documents }: Snapshot,
  before: readonly StoredVersion[],
  { manifest, at, logo }: { manifest: Manifest; at: Date; logo: Uint8Array | null },
) {
  const { sealing, titleOf, newestCheckpoint, baseUrl } = issuing;
  const bytes = manifestBytes(manifest);
  const manifestSha256 = hash("sha256", bytes);
  const verifyCode = newVerifyCode();
  const content: CertificateContent = {
    manifest,
    manifestBytes: bytes,
    manifestSha256,
    environment,
    firm: { ...firm, logo },
    details: detailsOf(titleOf, documents),
    issuer: issuerOf({ chainPem: sealing.chainPem, baseUrl }, environment),
    timeStamp: await stampManifest(sealing.stamp, bytes),
    checkpoint: newestCheckpoint(environment),
    verifyUrl: `${baseUrl}${verifyPath(verifyCode)}`,
    verifyCode,
    chain: [...before, { version: manifest.passport.version, manifestSha256, createdAt: at }],
  };
  return { bytes, manifestSha256, verifyCode, certificate: await sealCertificate(issuing, partnerId, content) };
}

/** Draws and seals a certificate, then verifies that it contains exactly this manifest and has the right purpose. */
async function sealCertificate(
  { sealing, drawCertificate }: Issuing,
  holder: string,
  content: CertificateContent,
): Promise<Sealed> {
  const { environment } = content;
  const bytes = await drawCertificate(holder, content);
  const reason = sealReasons.closing[environment];
  const sealed = await sealOwnDocument(sealing.sealDocument, { bytes, holder, reason });
  const { purpose, manifest } = readClosingCertificate(sealed.bytes);
  const asMeant = purpose?.kind === "closing" && purpose.environment === environment;
  if (!asMeant || manifest === null || !equalBytes(manifest, content.manifestBytes)) {
    throw new Error("the sealed certificate does not say what it should");
  }
  return sealed;
}

/** The recorded facts about the documents, by order code. */
const detailsOf = (titleOf: TitleOf, documents: Snapshot["documents"]): CertificateContent["details"] =>
  Object.fromEntries(
    documents.map(({ orderCode: code, fileName, docSlug, externalReference, pages, signers, takenIn }) => {
      const title = titleOf({ code, documentName: fileName === null ? null : Buffer.from(fileName, "hex"), docSlug });
      const iso = (instant: string | null) => instant && new Date(instant).toISOString();
      const people = signers.map(({ name, signedAt }) => ({ name, signedAt: iso(signedAt) }));
      return [code, { title: title ?? externalReference, pages, signers: people, takenIn }];
    }),
  );

/**
 * Time-stamps the manifest before the certificate is drawn, so that the printed text can name this time stamp. The time
 * stamp in the certificate's seal comes too late for that.
 */
async function stampManifest(stamp: Stamp | null, bytes: Uint8Array): Promise<CertificateContent["timeStamp"]> {
  const had = stamp && (await stamp(bytes));
  if (!had) return null;
  return { name: authorityName(had), authority: had.authority, at: had.genTime, token: had.token };
}
