import { isNoteKey, type LogEnd, logEndReasons, type TrustedLog } from "../log/log.ts";
import { parseStrictObject } from "../records/json.ts";
import { expect } from "../records/proof-record.ts";
import type { Certificate } from "../x509/certificate.ts";
import { parseCertificatesPem } from "../x509/pem.ts";
import type { RetiredCertificate } from "./retirement.ts";

/**
 * A service's published trust list: trusted seal certificates, certificates of the authorities that issue signers'
 * certificates, the retired certificates of both kinds, time-stamping roots, and transparency logs.
 */
export type TrustList = {
  readonly sealAnchors: readonly Certificate[];
  /** Authorities that issue signers' certificates. They are never accepted as issuers of seals. */
  readonly signerAnchors: readonly Certificate[];
  readonly retired: readonly RetiredCertificate[];
  readonly tsaAnchors: readonly Certificate[];
  readonly logs: readonly TrustedLog[];
};

/** The format version that is read and written (docs/evidence-format.md, section 4.3). */
export const trustListFormat = 1;

/** The path at which a service publishes its list. */
export const trustListPath = "/seal/trust.json";

/** One certificate of a trust list, in its JSON form. */
export type TrustListEntry = {
  /** Lowercase hex SHA-256 of the certificate's DER, for people. Readers compute it from the certificate. */
  readonly sha256: string;
  readonly pem: string;
  /** The time of retirement: ISO 8601, UTC. For a certificate that is not retired, this and `reason` are null. */
  readonly retiredAt: string | null;
  readonly reason: string | null;
  /** For a seal certificate: `test` if it seals test documents only, otherwise `live`. Older lists omit this member. */
  readonly environment?: "live" | "test";
};

const maxBytes = 1024 * 1024;
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/;

/** True if a text looks like a trust list and not like PEM. */
export const isTrustList = (text: string): boolean => text.trimStart().startsWith("{");

/**
 * Reads a trust list, or PEM that contains only trusted seal certificates.
 * @throws EvidenceError like `parseTrustList` and `parseCertificatesPem`
 */
export const readTrust = (text: string): TrustList =>
  isTrustList(text)
    ? parseTrustList(new TextEncoder().encode(text))
    : { sealAnchors: parseCertificatesPem(text), signerAnchors: [], retired: [], tsaAnchors: [], logs: [] };

/**
 * Parses a trust list. Its form is `{format: 1, sealCertificates: [{pem, retiredAt, reason, environment}],
 * signerCertificates: [{pem, retiredAt, reason}], timeStampCertificates: [pem], logs: [{environment, key, end: {size,
 * root, reason}}]}`. Only `format` and `sealCertificates` are required, and unknown members are ignored.
 *
 * Any unreadable certificate makes the whole list unreadable. Otherwise the retirement of that certificate could be
 * overlooked.
 *
 * @throws EvidenceError `json`, `limit`; `record`, naming the faulty member; like `parseCertificatesPem` for a
 * certificate that cannot be read
 */
export function parseTrustList(bytes: Uint8Array): TrustList {
  const { format, sealCertificates, ...more } = parseStrictObject(bytes, maxBytes);
  const { signerCertificates = [], timeStampCertificates = [], logs = [] } = more;
  expect(format === trustListFormat, "format");
  expect(Array.isArray(sealCertificates), "sealCertificates");
  expect(Array.isArray(signerCertificates), "signerCertificates");
  expect(Array.isArray(timeStampCertificates), "timeStampCertificates");
  expect(Array.isArray(logs), "logs");
  const entries = sealCertificates.map((entry) => readEntry(entry, "sealCertificates"));
  const signers = signerCertificates.map((entry) => readEntry(entry, "signerCertificates"));
  return {
    sealAnchors: entries.map(({ certificate }) => certificate),
    signerAnchors: signers.map(({ certificate }) => certificate),
    retired: [...entries, ...signers].flatMap(({ certificate, retiredAt, reason }) =>
      retiredAt === null ? [] : [{ certificate, retiredAt, reason }],
    ),
    tsaAnchors: timeStampCertificates.map((pem) => onlyCertificate(pem, "timeStampCertificates")),
    logs: logs.map(readLog),
  };
}

function readLog(entry: unknown): TrustedLog {
  const isEntry = typeof entry === "object" && entry !== null && "key" in entry && "environment" in entry;
  expect(isEntry, "logs");
  const { environment, key } = entry;
  expect(environment === "live" || environment === "test", "logs");
  expect(isNoteKey(key), "logs");
  if (!("end" in entry)) return { environment, key };
  return { environment, key, end: readEnd(entry.end) };
}

/** If the end of a log is unreadable, the list is refused. Otherwise the log would seem to be in use. */
function readEnd(entry: unknown): LogEnd {
  const { size, root, reason: text } = (entry ?? {}) as Readonly<Record<string, unknown>>;
  const reason = logEndReasons.find((one) => one === text);
  expect(Number.isSafeInteger(size) && Number(size) >= 0, "size");
  expect(typeof root === "string" && /^[0-9a-f]{64}$/.test(root), "root");
  expect(reason !== undefined, "reason");
  return { size: Number(size), root, reason };
}

function readEntry(entry: unknown, member: string) {
  const isEntry = typeof entry === "object" && entry !== null && "pem" in entry;
  expect(isEntry, member);
  const { pem, retiredAt = null, reason = null, environment } = entry as Readonly<Record<string, unknown>>;
  expect(retiredAt === null || (typeof retiredAt === "string" && instant.test(retiredAt)), "retiredAt");
  const at = retiredAt === null ? null : Date.parse(retiredAt);
  expect(!Number.isNaN(at), "retiredAt");
  expect(reason === null || (typeof reason === "string" && reason.length <= 100), "reason");
  expect(reason === null || retiredAt !== null, "reason");
  const certificate = onlyCertificate(pem, "pem");
  // The certificate itself states whether it seals only tests. If the list could contradict it, a list could make a
  // test certificate look like a real one.
  const stated = certificate.isTestSeals ? "test" : "live";
  expect(environment === undefined || member !== "sealCertificates" || environment === stated, "environment");
  return { certificate, retiredAt: at, reason: reason ?? "unspecified" };
}

function onlyCertificate(pem: unknown, member: string): Certificate {
  expect(typeof pem === "string", member);
  const [certificate, another] = parseCertificatesPem(pem);
  expect(certificate !== undefined && another === undefined, member);
  return certificate;
}
