import { parseStrictObject } from "../records/json.ts";
import { expect } from "../records/proof-record.ts";
import type { Certificate } from "../x509/certificate.ts";
import { parseCertificatesPem } from "../x509/pem.ts";
import type { RetiredCertificate } from "./retirement.ts";

/** What a service publishes: seal certificates to trust, the authorities of its signers, those retired among them, and time-stamping roots. */
export type TrustList = {
  readonly sealAnchors: readonly Certificate[];
  /** Authorities that issue the certificates of signers: none of them makes a seal trusted. */
  readonly signerAnchors: readonly Certificate[];
  readonly retired: readonly RetiredCertificate[];
  readonly tsaAnchors: readonly Certificate[];
};

/** The version of the format that is written and read (docs/evidence-format.md, section 4.3). */
export const trustListFormat = 1;

/** Where a service publishes its list. */
export const trustListPath = "/seal/trust.json";

/** One certificate of a trust list, as it is written. */
export type TrustListEntry = {
  /** Lowercase hex SHA-256 of the certificate's DER: for people; a reader takes it from the certificate. */
  readonly sha256: string;
  readonly pem: string;
  /** ISO 8601, UTC; null for one that is not retired, and so is the reason then. */
  readonly retiredAt: string | null;
  readonly reason: string | null;
  /** Of a seal certificate: whether it vouches for test documents alone. Lists of before do not say it. */
  readonly environment?: "live" | "test";
};

const maxBytes = 1024 * 1024;
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/;

/** Whether a text is rather a trust list than PEM. */
export const isTrustList = (text: string): boolean => text.trimStart().startsWith("{");

/** Reads what names seal certificates to trust: a trust list, or PEM. @throws EvidenceError like `parseTrustList` and `parseCertificatesPem` */
export const readTrust = (text: string): TrustList =>
  isTrustList(text)
    ? parseTrustList(new TextEncoder().encode(text))
    : { sealAnchors: parseCertificatesPem(text), signerAnchors: [], retired: [], tsaAnchors: [] };

/**
 * Reads a trust list: `{format: 1, sealCertificates: [{pem, retiredAt, reason, environment}], signerCertificates: [{pem, retiredAt,
 * reason}], timeStampCertificates: [pem]}`, of which only `sealCertificates` must be there. Members that are not named here are not looked at. A retired certificate that cannot be understood makes the list unreadable: it
 * must not pass for one in good standing.
 *
 * @throws EvidenceError `json`, `limit`; `record` naming the member at fault; `x509` for a certificate that cannot be read
 */
export function parseTrustList(bytes: Uint8Array): TrustList {
  const { format, sealCertificates, ...more } = parseStrictObject(bytes, maxBytes);
  const { signerCertificates = [], timeStampCertificates = [] } = more;
  expect(format === trustListFormat, "format");
  expect(Array.isArray(sealCertificates), "sealCertificates");
  expect(Array.isArray(signerCertificates), "signerCertificates");
  expect(Array.isArray(timeStampCertificates), "timeStampCertificates");
  const entries = sealCertificates.map((entry) => readEntry(entry, "sealCertificates"));
  const signers = signerCertificates.map((entry) => readEntry(entry, "signerCertificates"));
  return {
    sealAnchors: entries.map(({ certificate }) => certificate),
    signerAnchors: signers.map(({ certificate }) => certificate),
    retired: [...entries, ...signers].flatMap(({ certificate, retiredAt, reason }) =>
      retiredAt === null ? [] : [{ certificate, retiredAt, reason }],
    ),
    tsaAnchors: timeStampCertificates.map((pem) => onlyCertificate(pem, "timeStampCertificates")),
  };
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
  // The certificate says it itself. A list that contradicts it must not make a certificate of tests pass for another.
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
