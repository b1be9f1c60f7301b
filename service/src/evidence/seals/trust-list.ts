import type { TrustedLog } from "@signsealship/evidence/log";
import { type TrustListEntry, trustListFormat } from "@signsealship/evidence/seal";
import { type Certificate, encodePem } from "@signsealship/evidence/x509";
import {
  type ChainPems,
  type ChainsDeps,
  fingerprintOf,
  leafOf,
  type RecordedChain,
  recordedChains,
} from "./chains.ts";

const pemOf = ({ der }: Certificate): string => encodePem(der, "CERTIFICATE");

/** The certificate of an authority of signers. `retiredAt` is null while it issues certificates. */
export type SignerAnchor = { readonly certificate: Certificate; readonly retiredAt: Date | null };

/**
 * The entries of the trust list other than the seals' certificates: authorities of signers, and keys of transparency
 * logs.
 */
export type Listing = { readonly signers: readonly SignerAnchor[]; readonly logs: readonly TrustedLog[] };

type Listed = Pick<RecordedChain, "certificate" | "fingerprint" | "retiredAt" | "reason">;

const sealEntryOf = (listed: Listed): TrustListEntry => ({
  ...entryOf(listed),
  environment: listed.certificate.isTestSeals ? "test" : "live",
});

const entryOf = ({ certificate, fingerprint, retiredAt, reason }: Listed): TrustListEntry => ({
  sha256: fingerprint,
  pem: pemOf(certificate),
  retiredAt: retiredAt?.toISOString() ?? null,
  reason,
});

/**
 * The trust list for verifiers, as JSON (docs/evidence-format.md, section 4.3). It lists the seal's own certificate of
 * each chain, and when and why a certificate was retired. It doesn't list the issuers of these certificates, because a
 * verifier that trusts an issuer trusts everybody who has a certificate from it. It also lists the authorities that
 * issue signers' certificates, the roots of time-stamping authorities, and the keys of transparency logs.
 * @param inUse the chains in use
 */
export async function trustList(
  deps: ChainsDeps,
  inUse: ChainPems,
  { signers, stampers, logs }: Listing & { readonly stampers: readonly Certificate[] },
): Promise<string> {
  const recorded = await recordedChains(deps);
  const own = [inUse.live, inUse.test].map((pem) => ({ ...leafOf(pem), retiredAt: null, reason: null }));
  // Several chains may have the same certificate. The last chain in this order determines the certificate's entry, so
  // retired chains come last.
  const retiredLast = recorded.toSorted(
    (one, other) => Number(one.retiredAt !== null) - Number(other.retiredAt !== null),
  );
  const byFingerprint = new Map([...own, ...retiredLast].map((chain) => [chain.fingerprint, sealEntryOf(chain)]));
  return JSON.stringify({
    format: trustListFormat,
    sealCertificates: [...byFingerprint.values()],
    signerCertificates: signers.map(({ certificate, retiredAt }) => {
      const reason = retiredAt && "superseded";
      return entryOf({ certificate, fingerprint: fingerprintOf(certificate), retiredAt, reason });
    }),
    timeStampCertificates: [...new Set(stampers.map(pemOf))],
    logs,
  });
}
