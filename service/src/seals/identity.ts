import { join } from "node:path";
import type { Certificate } from "@signsealship/evidence/x509";
import { nameText } from "@signsealship/evidence/x509";
import { StartupError } from "../platform/errors.ts";
import { makeSealCertificate, sealChainPem } from "./certificate/certificate.ts";
import { checkSealCertificate, type SealCertificateProblem } from "./certificate/check.ts";
import { openSealChain, SealCertificateError } from "./certificate/file.ts";
import { openSealKey } from "./keys/open-seal-key.ts";
import { probeSealKey, type SealKey, SealKeyError } from "./keys/seal-key.ts";

/** The key that seals, and the certificates that say whose it is. */
export type SealIdentity = {
  readonly key: SealKey;
  /** The seal's own certificate first. */
  readonly chain: readonly [Certificate, ...Certificate[]];
  readonly chainPem: string;
};

export type SealIdentitySettings = {
  readonly sealKey: string;
  /** Path of a PEM chain; null for the one that the first run makes under `dataDir`. */
  readonly sealCertificate: string | null;
  readonly dataDir: string;
  readonly baseUrl: string;
};

export const certificatePath = ({ sealCertificate, dataDir }: SealIdentitySettings): string =>
  sealCertificate ?? join(dataDir, "keys", "seal-certificate.pem");

/** PEM of the chain that the next start would seal with. @throws StartupError when there is none */
export const configuredChain = async (settings: SealIdentitySettings): Promise<string> =>
  sealChainPem(await openSealChain(certificatePath(settings)));

/**
 * Opens key and certificates; the first run makes both.
 * @param at now; `serialNumber` 16 random bytes for a certificate that has to be made
 * @returns the identity, and warnings about its certificates
 * @throws StartupError in one line when nothing could be sealed with them
 */
export async function openSealIdentity(
  settings: SealIdentitySettings,
  at: Date,
  serialNumber: Uint8Array,
): Promise<{ identity: SealIdentity; warnings: readonly SealCertificateProblem[] }> {
  const key = await openSealKey(settings.sealKey).catch(asStartupError);
  try {
    await probeSealKey(key);
    const { hostname } = new URL(settings.baseUrl);
    const path = certificatePath(settings);
    const make = () => makeSealCertificate({ key, host: hostname, serialNumber, at: at.getTime() });
    const [leaf, ...issuers] = await openSealChain(path, settings.sealCertificate === null ? make : undefined);
    const problems = checkSealCertificate({ chain: leaf ? [leaf, ...issuers] : [], key, at: at.getTime() });
    const error = problems.find(({ severity }) => severity === "error");
    if (error || !leaf) throw new StartupError(error?.detail ?? "SEAL_CERTIFICATE holds no certificate");
    const chain = [leaf, ...issuers] as const;
    return { identity: { key, chain, chainPem: sealChainPem(chain) }, warnings: problems };
  } catch (error) {
    await key.close();
    return asStartupError(error);
  }
}

function asStartupError(error: unknown): never {
  if (error instanceof SealKeyError || error instanceof SealCertificateError) {
    throw new StartupError(error.message, { cause: error });
  }
  throw error;
}

/** Whether a seal could be made now, for `/readyz`. @throws SealKeyError, or Error for a certificate that has run out */
export async function probeSealIdentity({ key, chain }: SealIdentity, at: Date): Promise<void> {
  await probeSealKey(key);
  const error = checkSealCertificate({ chain, key, at: at.getTime() }).find(({ severity }) => severity === "error");
  if (error) throw new Error(error.detail);
}

/** `RSA-3072 key, certificate of NAME until 2036-01-31`: a line for the operator. */
export function describeIdentity({ key, chain }: SealIdentity): string {
  const [{ publicKey, subject, notAfter }] = chain;
  const kind =
    publicKey.type === "rsa" ? `RSA-${publicKey.bits}` : key.algorithm === "ecdsa-p256-sha256" ? "P-256" : "RSA";
  return `${kind} key, certificate of ${nameText(subject)} until ${new Date(notAfter).toISOString().slice(0, 10)}`;
}
