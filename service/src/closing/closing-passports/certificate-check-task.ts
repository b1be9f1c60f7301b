import { hash } from "node:crypto";
import { EvidenceError } from "@signsealship/evidence/errors";
import { readClosingCertificate, verifyProof } from "@signsealship/evidence/seal";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import type { Environment } from "../../kernel/identity/identity.ts";

export type CheckInput = {
  /** PEM of the certificate chain of the seal; the seal's own certificate comes first. */
  readonly chainPem: string;
  readonly environment: Environment;
  readonly at: Date;
};

/**
 * Returns the SHA-256 of the manifest in a sealed certificate. Returns null if the certificate has no manifest, or if
 * its seal does not verify at the given time. Also null if the seal states another purpose than a closing certificate
 * of this environment.
 */
export async function run(bytes: Buffer, { chainPem, environment, at }: CheckInput): Promise<string | null> {
  try {
    const trust = { sealAnchors: parseCertificatesPem(chainPem).slice(0, 1), tsaAnchors: [] };
    if (trust.sealAnchors.length === 0) return null;
    const { verdict } = await verifyProof(bytes, trust, at.getTime(), { crypto: createNodeCrypto() });
    const { manifest, purpose } = readClosingCertificate(bytes);
    const asMeant = purpose?.kind === "closing" && purpose.environment === environment;
    return verdict === "verified" && asMeant && manifest !== null ? hash("sha256", manifest) : null;
  } catch (error) {
    if (error instanceof EvidenceError) return null;
    throw error;
  }
}
