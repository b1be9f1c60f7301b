/**
 * Makes the sealed certificate of a version: its manifest, its time stamp, its pages and its seal. The manifest's
 * format and its hash chain are in packages/evidence/src/manifest.
 */
import { hash } from "node:crypto";
import { equalBytes } from "@signsealship/evidence/bytes";
import { buildManifest, type Manifest, manifestBytes } from "@signsealship/evidence/manifest";
import { readClosingCertificate, sealReasons } from "@signsealship/evidence/seal";
import {
  authorityName,
  issuerOf,
  type Sealed,
  type Sealing,
  type Stamp,
  sealOwnDocument,
} from "../../evidence/seals/seals.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { newVerifyCode } from "../../kernel/platform/ids.ts";
import type { TitleOf } from "../../orders/order/order.ts";
import { artifactHashes } from "./artifacts.ts";
import type { CertificateContent } from "./certificate/content.ts";
import type { DrawCertificate } from "./certificate/draw.ts";
import type { RoomOfOwner, Snapshot } from "./store.ts";
import type { StoredVersion, VersionDeps } from "./versions.ts";

/** The dependencies needed to make the certificate of a version. */
export type Issuing = {
  sealing: Pick<Sealing, "sealDocument" | "stamp" | "chainPem">;
  drawCertificate: DrawCertificate;
  titleOf: TitleOf;
  /**
   * Returns the newest checkpoint of a transparency log that this node has seen, as a signed note. Null when it has
   * seen none yet, and while the log is halted.
   */
  newestCheckpoint: (log: Environment) => string | null;
  baseUrl: string;
};

export const verifyPath = (verifyCode: string): string => `/v/room/${verifyCode}`;

/** The manifest of the room's present state, as the version after `previous`. */
export const manifestOf = (
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

/** Draws and seals the certificate that carries a manifest. */
export async function sealManifest(
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
 * Time-stamps the manifest before the certificate is drawn, so that the printed text can name this time stamp. The
 * seal's own time stamp exists only after the certificate is drawn.
 */
async function stampManifest(stamp: Stamp | null, bytes: Uint8Array): Promise<CertificateContent["timeStamp"]> {
  const had = stamp && (await stamp(bytes));
  if (!had) return null;
  return { name: authorityName(had), authority: had.authority, at: had.genTime, token: had.token };
}
