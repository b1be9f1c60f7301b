import { isSha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { parseStrictJson } from "../records/json.ts";
import { isVerifyCode } from "../verify-code.ts";
import {
  coverage,
  type Manifest,
  type ManifestDocument,
  type ManifestPassport,
  manifestLimits,
  statusBasis,
  statusNote,
} from "./schema.ts";

/**
 * Parses a manifest of unknown origin: UTF-8, JSON, and every rule of {@link validateManifest}. `verifyChain` checks
 * that the bytes are canonical.
 *
 * @throws EvidenceError `json` unless it is JSON in UTF-8 without repeated members, `manifest` when it is not a
 * manifest, `limit` beyond 256 KiB
 */
export function parseManifest(bytes: Uint8Array): Manifest {
  if (bytes.length > manifestLimits.bytes) {
    throw new EvidenceError("limit", `manifest longer than ${manifestLimits.bytes} bytes`);
  }
  return validateManifest(parseStrictJson(bytes));
}

/**
 * Returns the value if it is a valid manifest. It must have exactly the members of the schema, well-formed codes and
 * hashes, documents strictly ascending by `orderCode`, no artifact that is null, and the constants word for word.
 * `prevManifestSha256` must be null in version 1 and in no other version.
 *
 * @throws EvidenceError `manifest`, naming the member
 */
export function validateManifest(value: unknown): Manifest {
  const manifest = members(value, "manifest", ["passport", "documents", "coverage"]);
  checkPassport(manifest.passport);
  checkDocuments(manifest.documents);
  const covered = members(manifest.coverage, "coverage", ["covers", "doesNotCover"]);
  checkConstants(covered.covers, coverage.covers, "coverage.covers");
  checkConstants(covered.doesNotCover, coverage.doesNotCover, "coverage.doesNotCover");
  return value as Manifest;
}

const passportMembers: readonly (keyof ManifestPassport)[] = [
  "roomCode",
  "roomName",
  "reference",
  "version",
  "prevManifestSha256",
  "generatedAtUtc",
];

function checkPassport(value: unknown): void {
  const passport = members(value, "passport", passportMembers);
  expect(isCode(passport.roomCode), "passport.roomCode");
  expect(isText(passport.roomName) && passport.roomName !== "", "passport.roomName");
  expect(passport.reference === null || isText(passport.reference), "passport.reference");
  const { version, prevManifestSha256 } = passport;
  expect(
    Number.isInteger(version) && Number(version) >= 1 && Number(version) <= manifestLimits.versions,
    "passport.version",
  );
  expect(version === 1 ? prevManifestSha256 === null : isSha256Hex(prevManifestSha256), "passport.prevManifestSha256");
  expect(isUtcSecond(passport.generatedAtUtc), "passport.generatedAtUtc");
}

function checkDocuments(value: unknown): void {
  expect(Array.isArray(value) && value.length <= manifestLimits.documents, "documents");
  let previous = "";
  for (const [i, item] of (value as unknown[]).entries()) {
    const orderCode = checkDocument(item, `documents[${i}]`);
    expect(previous < orderCode, `documents[${i}].orderCode`);
    previous = orderCode;
  }
}

const documentMembers: readonly (keyof ManifestDocument)[] = ["orderCode", "label", "statusAtSnapshot"];
const artifactChecks = {
  originalSha256: isSha256Hex,
  sealedSha256: isSha256Hex,
  envelopeVerifyCode: isVerifyCode,
  custodyCertSha256: isSha256Hex,
  notarizedSha256: isSha256Hex,
};

function checkDocument(value: unknown, path: string): string {
  const document = members(value, path, documentMembers, Object.keys(artifactChecks));
  expect(isCode(document.orderCode), `${path}.orderCode`);
  expect(document.label === null || isText(document.label), `${path}.label`);
  const status = members(document.statusAtSnapshot, `${path}.statusAtSnapshot`, ["basis", "note", "value"]);
  expect(status.basis === statusBasis, `${path}.statusAtSnapshot.basis`);
  expect(status.note === statusNote, `${path}.statusAtSnapshot.note`);
  expect(typeof status.value === "string" && /^[A-Za-z]{1,64}$/.test(status.value), `${path}.statusAtSnapshot.value`);
  for (const [artifact, check] of Object.entries(artifactChecks)) {
    if (Object.hasOwn(document, artifact)) expect(check(document[artifact]), `${path}.${artifact}`);
  }
  return String(document.orderCode);
}

function checkConstants(value: unknown, constants: readonly string[], path: string): void {
  const same =
    Array.isArray(value) && value.length === constants.length && constants.every((text, i) => text === value[i]);
  expect(same, path);
}

/** Asserts that a value is a plain object with all required members, any of the optional ones, and no others. */
function members(
  value: unknown,
  path: string,
  names: readonly string[],
  optional: readonly string[] = [],
): Readonly<Record<string, unknown>> {
  const isPlain = typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  expect(isPlain, path);
  const object = value as Readonly<Record<string, unknown>>;
  for (const name of names) expect(Object.hasOwn(object, name), `${path}.${name}`);
  for (const name of Object.keys(object))
    expect(names.includes(name) || optional.includes(name), `${path} (unknown member)`);
  return object;
}

function expect(condition: boolean, path: string): asserts condition {
  if (!condition) throw new EvidenceError("manifest", `not a closing manifest: ${path}`);
}

/** True for an order code or a room code: 40 lowercase hex digits. */
function isCode(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{40}$/.test(value);
}

/** True for a text of up to 200 characters, counted as code points, without lone surrogates. */
function isText(value: unknown): value is string {
  if (typeof value !== "string" || value.length > 2 * manifestLimits.textLength || !value.isWellFormed()) return false;
  return value.length <= manifestLimits.textLength || [...value].length <= manifestLimits.textLength;
}

/**
 * True for `YYYY-MM-DDTHH:MM:SSZ` with a date that exists. The year 0000 is refused, because many programs reject it.
 */
function isUtcSecond(value: unknown): boolean {
  if (typeof value !== "string" || !/^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(value)) return false;
  const instant = new Date(value);
  return !Number.isNaN(instant.getTime()) && instant.toISOString() === value.replace("Z", ".000Z");
}
