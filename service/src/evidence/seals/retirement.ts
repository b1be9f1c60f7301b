import { equalBytes } from "@signsealship/evidence/bytes";
import { keyStaysSafe, retirementReasons } from "@signsealship/evidence/seal";
import { nameText } from "@signsealship/evidence/x509";
import { auditLine } from "../audit/audit.ts";
import type { Database, Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { keptRevocationRow } from "../platform/revocations.ts";
import { type ChainsDeps, chainMembers, type KnownChain, knownChains, leafOf, type SealChain } from "./chains.ts";

/** A seal certificate for the operator's eyes. */
export type SealCertificate = {
  /** SHA-256 of the certificate, hex: its fingerprint. */
  sha256: string;
  subject: string;
  notAfter: string;
  firstUsedAt: string;
  inUse: boolean;
  retiredAt: string | null;
  reason: string | null;
};

type Retirement = { sha256: string; retiredAt: string; reason: string };

/** Every certificate that was ever in use, the oldest first. @param inUse PEM of the chains in use */
export async function sealCertificates(deps: ChainsDeps, inUse: readonly string[]): Promise<SealCertificate[]> {
  const own = inUse.map((pem) => leafOf(pem).fingerprint);
  const certificates = (await knownChains(deps)).map(
    ({ certificate, fingerprint, firstUsedAt, retiredAt, reason }) => ({
      sha256: fingerprint,
      subject: nameText(certificate.subject),
      notAfter: new Date(certificate.notAfter).toISOString(),
      firstUsedAt: firstUsedAt.toISOString(),
      inUse: own.includes(fingerprint),
      retiredAt: retiredAt?.toISOString() ?? null,
      reason,
    }),
  );
  // Of chains that differ above the seal's own certificate the oldest says when it was first used.
  return certificates.filter(({ sha256 }, index) => certificates.findIndex((one) => one.sha256 === sha256) === index);
}

/**
 * Retires a seal certificate: verifiers that read the trust list are told at once, and no node seals with it any more. A second
 * time replaces date and reason.
 * @param inUse PEM of the chains that would be sealed with next
 * @param fingerprint SHA-256 of the certificate, hex, with or without colons
 * @throws ServiceError for a certificate that is not known, for the one in use and another one of its key, and for a wrong reason
 */
export async function retireCertificate(
  deps: ChainsDeps & { db: Database },
  inUse: readonly string[],
  { fingerprint, retiredAt, reason, at }: { fingerprint: string; retiredAt: Date; reason: string; at: Date },
): Promise<Retirement> {
  const sha256 = fingerprint.replaceAll(":", "").toLowerCase();
  if (!(retirementReasons as readonly string[]).includes(reason)) {
    throw invalid(`reason must be one of ${retirementReasons.join(", ")}`);
  }
  const chains = (await knownChains(deps)).filter((chain) => chain.fingerprint === sha256);
  requireOther(chains, inUse, reason);
  await deps.db.transaction(async (tx) => {
    for (const chain of chains) await retireChain({ ...deps, db: tx }, chain, retiredAt, reason);
    const revocation = { kind: "seal", subject: sha256, effectiveAt: retiredAt, reason } as const;
    await tx.query(keptRevocationRow(deps.rowMac, revocation));
    const detail = { certificateSha256: sha256, retiredAt: retiredAt.toISOString(), reason };
    await tx.query(auditLine({ at, action: "seal_certificate.retired", actor: "operator", detail }));
  });
  return { sha256, retiredAt: retiredAt.toISOString(), reason };
}

function requireOther(chains: readonly KnownChain[], inUse: readonly string[], reason: string): void {
  const [chain] = chains;
  if (!chain) throw new ServiceError("not_found", "No such seal certificate: see bin/signsealship seal list.");
  const own = inUse.map(leafOf);
  if (own.some(({ fingerprint }) => fingerprint === chain.fingerprint)) {
    const how = chain.certificate.isTestSeals
      ? "Replace it first: bin/signsealship seal rotate --test, and restart."
      : "Replace it first: bin/signsealship seal rotate, or SEAL_KEY and SEAL_CERTIFICATE, and restart.";
    throw new ServiceError("conflict", `This certificate is in use, and nothing could be sealed without it. ${how}`);
  }
  if (!keyStaysSafe(reason) && own.some(({ certificate: { spki } }) => equalBytes(spki, chain.certificate.spki))) {
    throw new ServiceError("conflict", "The certificate in use is for the same key: replace the key first.");
  }
}

async function retireChain({ db, rowMac }: ChainsDeps, chain: KnownChain, retiredAt: Date, reason: string) {
  const { sha256, pem, firstUsedAt } = chain;
  const mac = rowMac.of("seal_chains", chainMembers({ sha256, pem, firstUsedAt, retiredAt, reason }));
  await db.query(sql`UPDATE seal_chains SET retired_at = ${retiredAt}, retirement_reason = ${reason}, row_mac = ${mac}
    WHERE sha256 = ${sha256}`);
}

/** Whether a certificate was retired, by whatever chain it is known, or another one of its key, which is not safe any more. */
export async function isRetired(deps: ChainsDeps, pem: string): Promise<boolean> {
  const own = leafOf(pem);
  const retired = (await knownChains(deps)).filter(({ retiredAt }) => retiredAt !== null);
  return retired.some(
    ({ fingerprint, certificate, reason }) =>
      fingerprint === own.fingerprint ||
      (!keyStaysSafe(reason ?? "") && equalBytes(certificate.spki, own.certificate.spki)),
  );
}

/** Whether the chain was retired, without asking whether the row is genuine: whoever forges one keeps from sealing, and no more. */
export async function isChainRetired(db: Sql, { sha256, pem }: SealChain): Promise<boolean> {
  const rows = await db.query(sql`
    SELECT FROM seal_chains WHERE sha256 = ${sha256} AND retired_at IS NOT NULL
    UNION ALL SELECT FROM revocations WHERE subject = ${leafOf(pem).fingerprint}`);
  return rows.length > 0;
}
