import { hash } from "node:crypto";
import { keyStaysSafe } from "@signsealship/evidence/seal";
import { type Certificate, parseCertificatesPem } from "@signsealship/evidence/x509";
import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import type { Log } from "../platform/logs.ts";
import { type KeptRevocation, storedRevocations } from "../platform/revocations.ts";
import type { Members, RowMac } from "../platform/row-mac.ts";

/** The certificates of a seal as they are kept beside it: PEM, the seal's own first, and the text's SHA-256 in hex. */
export type SealChain = { sha256: string; pem: string };

/** PEM of the chains in use: documents of tests have a seal of their own. */
export type ChainPems = Readonly<Record<Environment, string>>;

export const sealChainOf = (pem: string): SealChain => ({ sha256: hash("sha256", pem), pem });

/** The insert of a chain that may be there already: evidence stays whole when the key changes. */
export const sealChainRow = (rowMac: RowMac, { sha256, pem }: SealChain, at: Date): Statement => {
  const unretired = { firstUsedAt: at, retiredAt: null, reason: null };
  const mac = rowMac.of("seal_chains", chainMembers({ sha256, pem, ...unretired }));
  return sql`INSERT INTO seal_chains (sha256, pem, first_used_at, row_mac) VALUES (${sha256}, ${pem}, ${at}, ${mac})
    ON CONFLICT DO NOTHING`;
};

export type ChainRow = SealChain & { firstUsedAt: Date; retiredAt: Date | null; reason: string | null };

/** Rows of before there were retirements say nothing of one. */
export const chainMembers = ({ sha256, pem, firstUsedAt, retiredAt, reason }: ChainRow): Members =>
  retiredAt === null ? { sha256, pem, firstUsedAt } : { sha256, pem, firstUsedAt, retiredAt, reason };

export const chainColumns = sql`sha256, pem, first_used_at AS "firstUsedAt", retired_at AS "retiredAt",
  retirement_reason AS reason`;

export type ChainsDeps = { db: Sql; rowMac: RowMac; log: Log };

/** A chain on record, with its first certificate: the seal's own, known by the SHA-256 of its DER. */
export type KnownChain = ChainRow & { certificate: Certificate; fingerprint: string };

/**
 * The chains that seals are or were made with, the oldest first. One that was not written by this service is reported and
 * left out. Of retirements the latest counts that was written, also when the row of the chain says otherwise: it may be an earlier one.
 * A stricter one without its MAC counts, too: an insider can take the MAC away, but not the row.
 */
export async function knownChains({ db, rowMac, log }: ChainsDeps): Promise<KnownChain[]> {
  const rows = await db.query<ChainRow & { mac: Buffer | null }>(
    sql`SELECT ${chainColumns}, row_mac AS mac FROM seal_chains ORDER BY first_used_at, sha256`,
  );
  const retirements = await retirementsBySubject(db, rowMac);
  return rows.flatMap(({ mac, ...row }) => {
    if (rowMac.holds("seal_chains", chainMembers(row), mac)) {
      const leaf = leafOf(row.pem);
      const retired = retirements.get(leaf.fingerprint);
      return [{ ...row, ...leaf, ...(retired && { retiredAt: retired.effectiveAt, reason: retired.reason }) }];
    }
    log.error({ sha256: row.sha256 }, "a chain of seal certificates is not what was written: not trusted");
    return [];
  });
}

async function retirementsBySubject(db: Sql, rowMac: RowMac): Promise<Map<string, KeptRevocation>> {
  const rows = await storedRevocations(db, rowMac, "seal");
  const counting = new Map<string, KeptRevocation>();
  for (const row of rows.filter(({ isAuthentic }) => isAuthentic)) counting.set(row.subject, row);
  for (const row of rows.filter(({ isAuthentic }) => !isAuthentic)) {
    const other = counting.get(row.subject);
    if (!other || isStricter(row, other)) counting.set(row.subject, row);
  }
  return counting;
}

function isStricter(one: KeptRevocation, other: KeptRevocation): boolean {
  const [safe, otherSafe] = [keyStaysSafe(one.reason ?? ""), keyStaysSafe(other.reason ?? "")];
  return safe === otherSafe ? one.effectiveAt < other.effectiveAt : otherSafe;
}

/** The seal's own certificate of a chain. @throws EvidenceError for text without a certificate */
export function leafOf(pem: string): { certificate: Certificate; fingerprint: string } {
  const [certificate] = parseCertificatesPem(pem);
  if (!certificate) throw new Error("a chain without a certificate");
  return { certificate, fingerprint: fingerprintOf(certificate) };
}

/** SHA-256 of a certificate in DER, hex. */
export const fingerprintOf = ({ der }: Certificate): string => hash("sha256", der);
