import { type Claim, claim } from "../claim.ts";
import { isSha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { manifestBytes } from "../manifest/build.ts";
import { manifestLimits } from "../manifest/schema.ts";
import { validateManifest } from "../manifest/validate.ts";
import { isVerifyCode } from "../verify-code.ts";
import { parseStrictObject } from "./json.ts";

/**
 * A service's record of a proof passport: `passport.json` of the evidence zip, or the service's public answer about the
 * passport.
 */
export type ProofRecord = {
  readonly verifyCode: string;
  readonly sealedSha256: string;
  readonly docSha256: string;
  /** True if the record states that it is of the test environment. */
  readonly isTest: boolean;
};

/** The format version that is read and written (docs/evidence-format.md, section 9.3). */
export const recordFormat = 1;

const maxRecordBytes = 1024 * 1024;

/**
 * Parses a record of a proof passport. Unknown members are ignored.
 *
 * @throws EvidenceError `json` unless it is a JSON object that every parser reads alike; `record`, naming the faulty
 * member; `limit`
 */
export function parseProofRecord(bytes: Uint8Array): ProofRecord {
  const { format, status, environment, verdict, ...members } = parseStrictObject(bytes, maxRecordBytes);
  const { verifyCode, sealedSha256, docSha256 } = members;
  expect(format === undefined || format === recordFormat, "format");
  expect(isVerifyCode(verifyCode), "verifyCode");
  expect(isSha256Hex(sealedSha256), "sealedSha256");
  expect(isSha256Hex(docSha256), "docSha256");
  expect(status === undefined || status === "sealed", "status");
  expect([undefined, "live", "test"].includes(environment as string), "environment");
  expect([undefined, "verified", "verified_test"].includes(verdict as string), "verdict");
  expect(environment !== undefined || verdict !== undefined, "environment");
  return { verifyCode, sealedSha256, docSha256, isTest: environment === "test" || verdict === "verified_test" };
}

/**
 * Asserts a condition about a member of a record.
 * @throws EvidenceError `record` when the condition is false
 */
export function expect(condition: boolean, member: string): asserts condition {
  if (!condition) throw new EvidenceError("record", `not a record of this format: ${member}`);
}

export type RecordClaimName = "record_verify_code" | "record_sealed_hash" | "record_document_hash";

/**
 * Compares a proof passport's record with its file. A record can only lower a verdict.
 *
 * @param hashes of the sealed file and of the document in it; a hash that cannot be computed is undefined
 * @param verifyCode the requested code, if any
 */
export function recordClaims(
  record: ProofRecord,
  hashes: { readonly sealedSha256?: string | undefined; readonly docSha256?: string | undefined },
  verifyCode?: string,
): Claim<RecordClaimName>[] {
  return [
    ...(verifyCode === undefined ? [] : [codeClaim(record, verifyCode)]),
    hashClaim("record_sealed_hash", "sealed file", record.sealedSha256, hashes.sealedSha256),
    hashClaim("record_document_hash", "document", record.docSha256, hashes.docSha256),
  ];
}

function codeClaim({ verifyCode }: ProofRecord, asked: string): Claim<RecordClaimName> {
  const bad = `The record is of the code ${verifyCode}, not of ${asked}.`;
  return claim("record_verify_code", verifyCode === asked, "The record is of the code asked for.", bad);
}

function hashClaim(
  name: RecordClaimName,
  what: string,
  stated: string,
  actual: string | undefined,
): Claim<RecordClaimName> {
  if (actual === undefined) {
    return { name, state: "unchecked", why: `The ${what}'s hash cannot be computed from the file.` };
  }
  const bad = `The record names ${stated}; the ${what} hashes to ${actual}.`;
  return claim(name, stated === actual, `The record names the ${what}'s SHA-256 ${stated}.`, bad);
}

/** A service's public statement about one version of a room's Closing Passport. */
export type RoomRecord = {
  /** The manifest's canonical bytes. */
  readonly manifest: Uint8Array;
  readonly version: number;
  readonly manifestSha256: string;
  readonly sealedSha256: string;
  /** True if the service itself states that the chain is valid. */
  readonly chainOk: boolean;
};

/**
 * Parses the downloaded or saved response of `GET /api/verify/room/{code}`. Unknown members are ignored.
 *
 * @throws EvidenceError `json`; `record` or `manifest`, naming the faulty member; `limit`
 */
export function parseRoomRecord(bytes: Uint8Array): RoomRecord {
  const { format, manifest, manifestSha256, sealedSha256, version, chainOk } = parseStrictObject(bytes, maxRecordBytes);
  expect(format === undefined || format === recordFormat, "format");
  expect(isSha256Hex(manifestSha256), "manifestSha256");
  expect(isSha256Hex(sealedSha256), "sealedSha256");
  expect(isVersion(version), "version");
  expect(typeof chainOk === "boolean", "chainOk");
  return { manifest: manifestBytes(validateManifest(manifest)), version, manifestSha256, sealedSha256, chainOk };
}

const isVersion = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= manifestLimits.versions;

/**
 * A claim about the service's own statement that the chain is valid. It fails if the service says that the chain is not
 * valid. It never holds, because the service's word alone proves nothing.
 */
export function serviceChainClaim({ chainOk }: RoomRecord): Claim<"service_chain_ok"> {
  const name = "service_chain_ok";
  if (!chainOk) return claim(name, false, "", "The service itself says that the chain is broken.");
  const why = "The service says that the version before is as linked. Give the other versions to see it.";
  return { name, state: "unchecked", why };
}
