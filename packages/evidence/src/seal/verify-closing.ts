import { equalBytes } from "../bytes.ts";
import { type Claim, claim } from "../claim.ts";
import { sha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { type ChainVersion, maxVersionsAtOnce, verifyChain } from "../manifest/chain.ts";
import type { Manifest } from "../manifest/schema.ts";
import { parseManifest } from "../manifest/validate.ts";
import { readClosingCertificate } from "./closing-certificate.ts";
import type { SealPurpose } from "./purpose.ts";
import { type ProofContext, type ProofVerification, verifyProof } from "./verify-proof.ts";

/** One version of a Closing Passport: a manifest, a certificate PDF that contains one, or both. */
export type ClosingVersion = {
  readonly manifest?: Uint8Array;
  readonly certificate?: Uint8Array;
  /** The version number and the lowercase hex hashes that a record states; absent without a record. */
  readonly version?: number;
  readonly manifestSha256?: string;
  readonly sealedSha256?: string;
};

/**
 * The verdict on a Closing Passport.
 *
 * - `verified`: no claim fails, and a trusted seal confirms every manifest. This is the seal of the manifest's own
 *   closing certificate or, through the chain of hashes, the seal of a later version.
 * - `intact`: the same, but some of these seals are not trusted.
 * - `unsigned`: no claim fails, but at least one manifest is not confirmed by any seal.
 * - `not_verified`: a claim fails, or there are no versions.
 */
export type ClosingVerdict = "verified" | "intact" | "unsigned" | "not_verified";

interface ClosingVersionResult {
  /** The version number, from the record or else from the manifest; null when neither states it. */
  readonly version: number | null;
  readonly manifest: Manifest | null;
  readonly manifestSha256: string | null;
  /** The verification of the certificate as a sealed PDF; null when no certificate was given. */
  readonly certificate: ProofVerification | null;
  /** The purpose of the certificate's seal; null when it states none, and without a readable certificate. */
  readonly purpose: SealPurpose | null;
}

export interface ClosingVerification {
  readonly verdict: ClosingVerdict;
  readonly claims: readonly Claim[];
  /** In the order of input. */
  readonly versions: readonly ClosingVersionResult[];
}

type Level = 0 | 1 | 2;
type Checked = ClosingVersionResult & {
  readonly closingVersion: ClosingVersion;
  readonly bytes: Uint8Array | null;
  readonly claims: readonly Claim[];
  /** The result for the certificate's own seal: no seal, intact, or trusted. */
  readonly level: Level;
};

export type ClosingInput = ProofContext & {
  readonly versions: readonly ClosingVersion[];
  readonly roomCode?: string;
};

/**
 * Verifies versions of one room's Closing Passport, in any order: every hash, link and seal.
 *
 * The claims for each version N:
 * - `certificate.vN.seal`: one valid signature (the seal) covers the whole certificate PDF. For a manifest without a
 *   certificate, only this claim is made, and it is unchecked.
 * - `.trusted`: the certificate of the seal is trusted.
 * - `.purpose`: the seal is for a closing certificate.
 * - `.manifest`: the certificate has an attached manifest, which equals the separate one if there is one.
 * - `.hash`: the file's hash is the stated sealedSha256; only when one is stated.
 *
 * All the claims of `verifyChain` about the manifests follow.
 *
 * @param input `roomCode` the expected room; `at` the instant of the verification, epoch ms
 * @throws EvidenceError `ots` for a block header in `trust` that is not 80 bytes
 */
export async function verifyClosing(input: ClosingInput): Promise<ClosingVerification> {
  if (input.versions.length > maxVersionsAtOnce) {
    const why = `More than ${maxVersionsAtOnce} versions were given.`;
    return { verdict: "not_verified", claims: [{ name: "chain.versions", state: "fails", why }], versions: [] };
  }
  const checked: Checked[] = [];
  for (const closingVersion of input.versions) checked.push(await checkVersion(closingVersion, input));
  const chain = await verifyChain({
    versions: checked.flatMap(chainVersionOf),
    ...(input.roomCode !== undefined && { roomCode: input.roomCode }),
  });
  const claims = [...checked.flatMap((one) => one.claims), ...chain];
  const versions = checked.map(({ version, manifest, manifestSha256, certificate, purpose }) => ({
    version,
    manifest,
    manifestSha256,
    certificate,
    purpose,
  }));
  return { verdict: verdictOf(claims, checked), claims, versions };
}

async function checkVersion(closingVersion: ClosingVersion, { trust, at, crypto }: ClosingInput): Promise<Checked> {
  const { certificate } = closingVersion;
  const content = certificate === undefined ? null : tryRead(() => readClosingCertificate(certificate));
  const attached = content instanceof EvidenceError ? null : (content?.manifest ?? null);
  const purpose = content instanceof EvidenceError ? null : (content?.purpose ?? null);
  const bytes = closingVersion.manifest ?? attached;
  const parsed = bytes === null ? null : tryRead(() => parseManifest(bytes));
  const manifest = parsed instanceof EvidenceError ? null : parsed;
  const version = closingVersion.version ?? manifest?.passport.version ?? null;
  const named = (check: string) => `certificate.v${version ?? "?"}.${check}`;
  const manifestSha256 = bytes === null ? null : await sha256Hex(bytes);
  const base = { closingVersion, bytes, manifest, version, manifestSha256, purpose };
  if (certificate === undefined) {
    const seal: Claim =
      bytes === null
        ? { name: named("seal"), state: "fails", why: "Neither a manifest nor a certificate was given." }
        : { name: named("seal"), state: "unchecked", why: "No sealed certificate of this version was given." };
    return { ...base, certificate: null, level: 0, claims: [seal] };
  }
  const proof = await verifyProof(certificate, trust, at, { crypto });
  const claims: Claim[] = [...sealClaims(named, proof)];
  if (content instanceof EvidenceError) {
    claims.push({ name: named("manifest"), state: "fails", why: `It cannot be read: ${content.message}.` });
  } else {
    claims.push(purposeClaim(named("purpose"), purpose));
    claims.push(attachmentClaim(named("manifest"), attached, closingVersion.manifest));
  }
  if (closingVersion.sealedSha256 !== undefined) {
    const { sealedSha256: stated } = closingVersion;
    const good = `The certificate's SHA-256 is ${stated}.`;
    const bad = `The certificate's SHA-256 is ${proof.sealedSha256}, not ${stated}.`;
    claims.push(claim(named("hash"), proof.sealedSha256 === stated, good, bad));
  }
  const level: Level = proof.verdict === "verified" ? 2 : proof.verdict === "intact" ? 1 : 0;
  return { ...base, certificate: proof, level, claims };
}

function tryRead<T>(read: () => T): T | EvidenceError {
  try {
    return read();
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}

function sealClaims(named: (check: string) => string, { verdict, claims }: ProofVerification): Claim[] {
  const trust = claims.find(({ name }) => name === "seal_certificate_trusted");
  // Claims about the seal that `.seal` leaves out, because `.trusted` and `.purpose` cover them.
  const apart = ["seal_certificate_trusted", "seal_purpose"];
  const fault = claims.find(({ name, state }) => state === "fails" && !apart.includes(name));
  const onlyTrustFails = fault === undefined && trust?.state === "fails";
  const seal = claim(
    named("seal"),
    verdict === "verified" || verdict === "intact" || onlyTrustFails,
    "The seal is genuine, and covers the whole certificate.",
    fault?.why ?? "The certificate bears no genuine seal.",
  );
  if (trust === undefined) return [seal];
  return [seal, { name: named("trusted"), state: trust.state, why: trust.why }];
}

function purposeClaim(name: string, purpose: SealPurpose | null): Claim {
  return claim(
    name,
    purpose?.kind === "closing",
    `The seal says that it was made for a closing certificate (${purpose?.environment} environment).`,
    "The seal does not say that it was made for a closing certificate: anybody may have had this document sealed.",
  );
}

function attachmentClaim(name: string, attached: Uint8Array | null, separate: Uint8Array | undefined): Claim {
  if (attached === null) return { name, state: "fails", why: "No manifest is attached to the certificate." };
  if (separate === undefined) return { name, state: "holds", why: "The manifest is attached to the certificate." };
  return claim(
    name,
    equalBytes(attached, separate),
    "The manifest attached to the certificate is the one that was given with it.",
    "The manifest attached to the certificate is not the one that was given with it.",
  );
}

function chainVersionOf({ bytes, version, closingVersion }: Checked): ChainVersion[] {
  if (bytes === null) return [];
  const stated = closingVersion.manifestSha256 === undefined ? {} : { manifestSha256: closingVersion.manifestSha256 };
  // Reports an unreadable manifest as version 1 if no record states its version.
  return [{ version: version ?? 1, bytes, ...stated }];
}

/**
 * When no claim fails, every link of the chain is valid. A sealed version then also confirms all earlier versions that
 * were given.
 */
function verdictOf(claims: readonly Claim[], checked: readonly Checked[]): ClosingVerdict {
  if (checked.length === 0 || claims.some(({ state }) => state === "fails")) return "not_verified";
  let vouched: Level = 0;
  let lowest: Level = 2;
  for (const { level } of checked.toSorted((a, b) => (b.version ?? 0) - (a.version ?? 0))) {
    if (level > vouched) vouched = level;
    if (vouched < lowest) lowest = vouched;
  }
  return lowest === 2 ? "verified" : lowest === 1 ? "intact" : "unsigned";
}
