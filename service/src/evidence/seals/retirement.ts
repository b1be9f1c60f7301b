import { rename } from "node:fs/promises";
import { dirname } from "node:path";
import { equalBytes } from "@signsealship/evidence/bytes";
import { keyStaysSafe, retirementReasons } from "@signsealship/evidence/seal";
import { nameText } from "@signsealship/evidence/x509";
import { auditLine } from "../../kernel/audit/audit.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { syncFolder } from "../../kernel/platform/durable-file.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { durableRevocationRow, revocationsOf } from "../../kernel/platform/revocations.ts";
import { type ChainsDeps, chainMembers, leafOf, type RecordedChain, recordedChains, type SealChain } from "./chains.ts";
import {
  chainFile,
  configuredChain,
  openSealIdentity,
  replacedPath,
  type SealIdentitySettings,
  testKeyPath,
} from "./identity.ts";
import { fileKeyPath } from "./keys/file-key.ts";
import { asStartupError } from "./keys/seal-key.ts";
import { openRoot, type SerialNumbers } from "./root.ts";

/** A seal certificate as the operator sees it. */
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

/**
 * Every recorded certificate of a seal, the oldest first. Leaves out a chain whose row has an invalid MAC.
 * @param inUse PEM of the chains in use
 */
export async function sealCertificates(deps: ChainsDeps, inUse: readonly string[]): Promise<SealCertificate[]> {
  const own = inUse.map((pem) => leafOf(pem).fingerprint);
  const certificates = (await recordedChains(deps)).map(
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
  // Lists each certificate once, although several chains may start with it. Keeps the oldest of these chains, which
  // states when the certificate was first used.
  return certificates.filter(({ sha256 }, index) => certificates.findIndex((one) => one.sha256 === sha256) === index);
}

/**
 * Retires a seal certificate: the trust list reports this to verifiers at once, and every node stops sealing with the
 * certificate. A second retirement replaces the date and reason.
 * @param inUse PEM of the chains that new seals would use
 * @param fingerprint SHA-256 of the certificate, hex, with or without colons
 * @throws ServiceError for an unknown certificate or reason, and for a certificate in use. If the reason makes the key
 * unsafe, also when the key is in use
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
  const chains = (await recordedChains(deps)).filter((chain) => chain.fingerprint === sha256);
  requireOther(chains, inUse, reason);
  await deps.db.transaction(async (tx) => {
    for (const chain of chains) await retireChain({ ...deps, db: tx }, chain, retiredAt, reason);
    const revocation = { kind: "seal", subject: sha256, effectiveAt: retiredAt, reason } as const;
    await tx.query(durableRevocationRow(deps.rowMac, revocation));
    const detail = { certificateSha256: sha256, retiredAt: retiredAt.toISOString(), reason };
    await tx.query(auditLine({ at, action: "seal_certificate.retired", actor: "operator", detail }));
  });
  return { sha256, retiredAt: retiredAt.toISOString(), reason };
}

function requireOther(chains: readonly RecordedChain[], inUse: readonly string[], reason: string): void {
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

async function retireChain({ db, rowMac }: ChainsDeps, chain: RecordedChain, retiredAt: Date, reason: string) {
  const { sha256, pem, firstUsedAt } = chain;
  const mac = rowMac.of("seal_chains", chainMembers({ sha256, pem, firstUsedAt, retiredAt, reason }));
  await db.query(sql`UPDATE seal_chains SET retired_at = ${retiredAt}, retirement_reason = ${reason}, row_mac = ${mac}
    WHERE sha256 = ${sha256}`);
}

/**
 * True if this certificate was retired in any chain. Also true if another certificate of its key was retired for a
 * reason that makes the key unsafe.
 */
export async function isRetired(deps: ChainsDeps, pem: string): Promise<boolean> {
  const own = leafOf(pem);
  const retired = (await recordedChains(deps)).filter(({ retiredAt }) => retiredAt !== null);
  return retired.some(
    ({ fingerprint, certificate, reason }) =>
      fingerprint === own.fingerprint ||
      (!keyStaysSafe(reason ?? "") && equalBytes(certificate.spki, own.certificate.spki)),
  );
}

/**
 * True if the chain was retired. Its row's MAC is not verified: somebody who forges the row can only stop the sealing.
 */
export async function isChainRetired(db: Sql, { sha256, pem }: SealChain): Promise<boolean> {
  const rows = await db.query(sql`
    SELECT FROM seal_chains WHERE sha256 = ${sha256} AND retired_at IS NOT NULL
    UNION ALL ${revocationsOf(leafOf(pem).fingerprint)}`);
  return rows.length > 0;
}

/**
 * The fingerprints of the new and the previous certificate, the new path of the previous key's file, and the new chain.
 */
export type RotatedSeal = { sha256: string; previousSha256: string; previousKey: string; chainPem: string };

/**
 * Renames the seal key and its certificate and makes new ones. Works only if the key is in a file and the service made
 * its certificate, which is always so for the test seal. The certificate is renamed first: after a crash in between,
 * the next start finds a key and makes the missing certificate.
 * @param at now
 * @throws ServiceError `conflict` for a key or a certificate that this service did not make; StartupError when the root
 * can't issue
 */
export async function rotateFileKey(
  settings: SealIdentitySettings,
  at: Date,
  serialNumbers: SerialNumbers,
  environment: Environment = "live",
): Promise<RotatedSeal> {
  const isLive = environment === "live";
  if (isLive && (!settings.sealKey.startsWith("file:") || settings.sealCertificate !== null)) {
    const how = "Make the new key where it belongs, name it in SEAL_KEY and SEAL_CERTIFICATE, and restart";
    throw new ServiceError("conflict", `Only a key in a file, with the certificate made for it, is made here. ${how}.`);
  }
  // Before anything is renamed, opens the root, to be sure that it can issue the new certificate.
  if (isLive) await (await openRoot(settings, at, serialNumbers).catch(asStartupError)).key.close();
  const previous = leafOf(await configuredChain(settings, environment));
  const { certificate } = previous;
  const keyPath = isLive ? fileKeyPath(settings.sealKey) : testKeyPath(settings);
  for (const path of [chainFile(settings, environment).path, keyPath]) {
    await rename(path, replacedPath(path, certificate));
    await syncFolder(dirname(path));
  }
  const { identity } = await openSealIdentity(settings, at, serialNumbers, environment);
  await identity.key.close();
  return {
    sha256: leafOf(identity.chainPem).fingerprint,
    previousSha256: previous.fingerprint,
    previousKey: replacedPath(keyPath, certificate),
    chainPem: identity.chainPem,
  };
}
