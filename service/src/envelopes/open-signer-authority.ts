import { join } from "node:path";
import { equalBytes } from "@signsealship/evidence/bytes";
import { StartupError } from "../platform/errors.ts";
import {
  type Authority,
  asStartupError,
  type CertificateProblem,
  checkAuthorityCertificate,
  configuredChain,
  leafOf,
  openChain,
  openRoot,
  openSealKey,
  probeSealKey,
  type SealIdentitySettings,
  type SealKey,
  type SerialNumbers,
} from "../seals/seals.ts";
import { makeSignerAuthority } from "./signer-authority.ts";

export type SignerAuthoritySettings = SealIdentitySettings & {
  readonly signerCaKey: string;
  /** Path of a PEM chain; null for the one that the first run makes under `dataDir`. */
  readonly signerCaCertificate: string | null;
};

export type OpenedSignerAuthority = {
  authority: Authority;
  warnings: readonly CertificateProblem[];
  close: () => Promise<void>;
};

/**
 * Opens the authority that issues the certificates of signers, after the sealing identity; the first run makes its key, and its
 * certificate under the root.
 * @param at now
 * @returns the authority, and warnings about its certificates
 * @throws StartupError in one line when no certificate could be issued with it
 */
export async function openSignerAuthority(
  settings: SignerAuthoritySettings,
  at: Date,
  serialNumbers: SerialNumbers,
): Promise<OpenedSignerAuthority> {
  const key = await openSealKey(settings.signerCaKey, { setting: "SIGNER_CA_KEY" }).catch(asStartupError);
  try {
    await probeSealKey(key);
    await requireApart(settings, key);
    const chain = await openOwnChain(settings, key, at, serialNumbers);
    const authority = { key, chain };
    const problems = checkAuthorityCertificate({ ...authority, at: at.getTime() });
    const error = problems.find(({ severity }) => severity === "error");
    if (error) throw new StartupError(error.detail);
    return { authority, warnings: problems, close: () => key.close() };
  } catch (error) {
    await key.close();
    return asStartupError(error);
  }
}

/** Whoever has the seal key is not to sign as a signer, nor the other way round. */
async function requireApart(settings: SealIdentitySettings, { publicKey }: SealKey): Promise<void> {
  const { certificate } = leafOf(await configuredChain(settings));
  if (equalBytes(certificate.spki, publicKey)) {
    throw new StartupError("SIGNER_CA_KEY: it is the key of SEAL_KEY; the authority of signers has a key of its own");
  }
}

function openOwnChain(
  settings: SignerAuthoritySettings,
  key: SealKey,
  at: Date,
  serialNumbers: SerialNumbers,
): Promise<Authority["chain"]> {
  const { signerCaCertificate, dataDir, baseUrl } = settings;
  const path = signerCaCertificate ?? join(dataDir, "keys", "signer-ca-certificate.pem");
  const file = { path, setting: "SIGNER_CA_CERTIFICATE" };
  if (signerCaCertificate !== null) return openChain(file);
  return openChain(file, async () => {
    const root = await openRoot(settings, at, serialNumbers);
    const { hostname: host } = new URL(baseUrl);
    return (await makeSignerAuthority(root, { key, host, serialNumber: serialNumbers(), at: at.getTime() })).chain;
  });
}

/** Whether a signer's certificate could be issued now, for `/readyz`. @throws SealKeyError, or Error for an expired certificate */
export async function probeSignerAuthority({ key, chain }: Authority, at: Date): Promise<void> {
  await probeSealKey(key);
  const error = checkAuthorityCertificate({ chain, key, at: at.getTime() }).find(
    ({ severity }) => severity === "error",
  );
  if (error) throw new Error(error.detail);
}
