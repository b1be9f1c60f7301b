import type { Environment, Principal } from "../identity/identity.ts";
import type { Sql } from "../platform/database.ts";
import { type FindDeps, findOwnPassport, findPassport } from "./find.ts";
import { evidenceOf, type PassportRow } from "./store.ts";

/** What is kept of a proof passport, for whoever has its verify code. A time is null when it was not had. */
export type ProofRecord = {
  verifyCode: string;
  environment: Environment;
  /** Lowercase hex SHA-256 of the document as it was handed in, and of the sealed PDF. */
  docSha256: string;
  sealedSha256: string;
  sealedAt: Date;
  /** Whether the sealed PDF can be downloaded. */
  documentKept: boolean;
  timeStamp: { authority: string; at: Date } | null;
  anchor: { calendar: string; submittedAt: Date; status: "pending" | "confirmed" } | null;
};

/** The record under a verify code; null when there is none. @param verifyCode as it came; need not be one */
export async function proofRecord(deps: FindDeps, verifyCode: string): Promise<ProofRecord | null> {
  const passport = await findPassport(deps, verifyCode);
  return passport ? recordOf(deps.db, passport) : null;
}

/** The record of the caller's own passport; null when there is none. @param id as it came; need not be one */
export async function ownProofRecord(deps: FindDeps, id: string, principal: Principal): Promise<ProofRecord | null> {
  const passport = await findOwnPassport(deps, id, principal);
  return passport ? recordOf(deps.db, passport) : null;
}

async function recordOf(sql: Sql, passport: PassportRow): Promise<ProofRecord> {
  const { environment, docSha256, sealedSha256, createdAt, blobKey } = passport;
  const { authority, stampedAt, calendar, submittedAt, anchorStatus } = await evidenceOf(sql, passport.id);
  return {
    verifyCode: passport.verifyCode,
    environment,
    docSha256,
    sealedSha256,
    sealedAt: createdAt,
    documentKept: blobKey !== null,
    timeStamp: authority && stampedAt ? { authority, at: stampedAt } : null,
    anchor: calendar && submittedAt && anchorStatus ? { calendar, submittedAt, status: anchorStatus } : null,
  };
}

/**
 * PEM of the certificates that seals are or were made with: of each chain the first, for to trust an issuer would be to
 * trust everybody it issues to.
 * @param chainPem the chain in use
 */
export async function sealCertificates(sql: Sql, chainPem: string): Promise<string> {
  const rows = await sql.rows<{ pem: string }>("SELECT pem FROM seal_chains ORDER BY first_used_at", []);
  const own = [chainPem, ...rows.map(({ pem }) => pem)].map(firstCertificate);
  return [...new Set(own)].join("");
}

const firstCertificate = (pem: string): string =>
  `${/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/.exec(pem)?.[0] ?? ""}\n`;
