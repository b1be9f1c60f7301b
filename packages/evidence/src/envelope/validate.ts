import { isSha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { canonicalJsonBytes, type JsonValue } from "../manifest/canonical-json.ts";
import { parseStrictObject } from "../records/json.ts";
import { isVerifyCode } from "../verify-code.ts";
import { type EnvelopeEvidence, envelopeFormat, envelopeLimits, envelopeVersion, revisionKinds } from "./schema.ts";

/** The canonical JSON of an envelope's evidence: the bytes attached to its custody certificate. */
export const envelopeBytes = (envelope: EnvelopeEvidence): Uint8Array<ArrayBuffer> => canonicalJsonBytes(envelope);

/**
 * Parses `envelope.json` and validates its members. `verifyEnvelope` verifies the hashes.
 *
 * @throws EvidenceError `json` unless it is a JSON object that every parser reads alike; `record`, naming the member
 * that is faulty or exceeds a limit; `limit` past `envelopeLimits.bytes`
 */
export function parseEnvelope(bytes: Uint8Array): EnvelopeEvidence {
  return validateEnvelope(parseStrictObject(bytes, envelopeLimits.bytes));
}

/**
 * Validates that a value is exactly an envelope's evidence, and returns the value.
 * @throws EvidenceError `record`
 */
export function validateEnvelope(value: unknown): EnvelopeEvidence {
  const envelope = members(value, "envelope", names);
  expect(envelope.format === envelopeFormat, "format");
  expect(envelope.version === envelopeVersion, "version");
  expect(isVerifyCode(envelope.verifyCode), "verifyCode");
  expect(typeof envelope.orderCode === "string" && /^[0-9a-f]{40}$/.test(envelope.orderCode), "orderCode");
  expect(envelope.environment === "live" || envelope.environment === "test", "environment");
  const document = members(envelope.document, "document", ["originalSha256", "sealedSha256", "bytes"]);
  expect(isSha256Hex(document.originalSha256), "document.originalSha256");
  expect(isSha256Hex(document.sealedSha256), "document.sealedSha256");
  expect(isCount(document.bytes), "document.bytes");
  each(envelope.revisions, "revisions", envelopeLimits.signers + 3, checkRevision);
  each(envelope.signers, "signers", envelopeLimits.signers, checkSigner);
  each(envelope.trail, "trail", envelopeLimits.records, checkEntry);
  return value as EnvelopeEvidence;
}

const names = [
  "format",
  "version",
  "verifyCode",
  "orderCode",
  "environment",
  "document",
  "revisions",
  "signers",
  "trail",
] as const satisfies readonly (keyof EnvelopeEvidence)[];

function checkRevision(item: unknown, path: string, index: number): void {
  const revision = members(item, path, ["number", "kind", "signer", "bytes", "sha256"]);
  expect(revision.number === index, `${path}.number`);
  expect(
    revisionKinds.some((kind) => kind === revision.kind),
    `${path}.kind`,
  );
  expect(revision.kind === "signed" ? isCount(revision.signer) : revision.signer === null, `${path}.signer`);
  expect(isCount(revision.bytes), `${path}.bytes`);
  expect(isSha256Hex(revision.sha256), `${path}.sha256`);
}

function checkSigner(item: unknown, path: string, index: number): void {
  const signer = members(item, path, ["n", "name", "email", "language", "routing", "auth", "signedAt"]);
  expect(signer.n === index + 1, `${path}.n`);
  for (const name of ["name", "email", "language", "auth"] as const) expect(isText(signer[name]), `${path}.${name}`);
  expect(Number.isSafeInteger(signer.routing), `${path}.routing`);
  expect(isInstant(signer.signedAt), `${path}.signedAt`);
}

/** Validates the members that every record of a trail has. Each kind of event defines further members. */
function checkEntry(item: unknown, path: string): void {
  const entry = plainObject(item, path);
  expect(isInstant(entry.at), `${path}.at`);
  expect(isVerifyCode(entry.envelope), `${path}.envelope`);
  expect(typeof entry.event === "string" && /^[a-z_]{1,40}$/.test(entry.event), `${path}.event`);
  expect(isCount(entry.position), `${path}.position`);
  expect(entry.previousSha256 === null || isSha256Hex(entry.previousSha256), `${path}.previousSha256`);
}

function each(
  value: unknown,
  path: string,
  max: number,
  check: (item: unknown, path: string, index: number) => void,
): void {
  expect(Array.isArray(value) && value.length > 0 && value.length <= max, path);
  for (const [index, item] of (value as unknown[]).entries()) check(item, `${path}[${index}]`, index);
}

/** Asserts that a value is a plain object with exactly these members. */
function members<Name extends string>(value: unknown, path: string, wanted: readonly Name[]): Record<Name, JsonValue> {
  const object = plainObject(value, path);
  for (const name of wanted) expect(Object.hasOwn(object, name), `${path}.${name}`);
  expect(Object.keys(object).length === wanted.length, `${path} (unknown member)`);
  return object as Record<Name, JsonValue>;
}

function plainObject(value: unknown, path: string): Readonly<Record<string, unknown>> {
  expect(typeof value === "object" && value !== null && !Array.isArray(value), path);
  return value as Readonly<Record<string, unknown>>;
}

function expect(condition: boolean, path: string): asserts condition {
  if (!condition) throw new EvidenceError("record", `not the evidence of an envelope: ${path}`);
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1;

const isText = (value: unknown): boolean =>
  typeof value === "string" && value !== "" && value.length <= envelopeLimits.textLength && value.isWellFormed();

const isInstant = (value: unknown): boolean =>
  typeof value === "string" &&
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value));
