import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { equalBytes } from "@signsealship/evidence/bytes";
import { type Certificate, nameText } from "@signsealship/evidence/x509";
import type { Environment } from "../../kernel/identity/identity.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { makeRoot } from "./certificate/authority.ts";
import { makeSealCertificate, sealChainPem } from "./certificate/certificate.ts";
import { type CertificateProblem, checkSealCertificate } from "./certificate/check.ts";
import { type ChainFile, openChain, writeChain } from "./certificate/file.ts";
import { fingerprintOf } from "./chains.ts";
import type { SignerChain } from "./cms/signed-data.ts";
import { keyInMemory, openFileKey } from "./keys/file-key.ts";
import { openSealKey } from "./keys/open-seal-key.ts";
import { asStartupError, probeSealKey, type SealKey } from "./keys/seal-key.ts";
import { openRoot, ownPath, type RootSettings, type SerialNumbers } from "./root.ts";

export type SealIdentity = {
  readonly key: SealKey;
  readonly chain: SignerChain;
  readonly chainPem: string;
};

export type CertificateSettings = {
  /** The path of a PEM chain; null to use the chain that the first run makes under `dataDir`. */
  readonly sealCertificate: string | null;
  readonly dataDir: string;
};

export type SealIdentitySettings = CertificateSettings & RootSettings & { readonly sealKey: string };

/**
 * The file of a seal's certificate chain. A setting can name another file only for the live seal, because the service
 * always makes the test seal's certificates itself.
 */
export function chainFile({ sealCertificate, dataDir }: CertificateSettings, environment: Environment): ChainFile {
  const own = ownPath(dataDir, "seal-certificate.pem", environment);
  return environment === "live"
    ? { path: sealCertificate ?? own, setting: "SEAL_CERTIFICATE" }
    : { path: own, setting: "The seal of tests" };
}

export const testKeyPath = ({ dataDir }: Pick<CertificateSettings, "dataDir">): string =>
  ownPath(dataDir, "seal", "test");

/**
 * PEM of the chain that the next start will use for sealing, unless that start replaces a self-signed certificate.
 * @throws StartupError when the file is missing or can't be read
 */
export const configuredChain = async (
  settings: CertificateSettings,
  environment: Environment = "live",
): Promise<string> => sealChainPem(await openChain(chainFile(settings, environment)));

/**
 * The configured chains of both seals. The chain of the test seal is left out until the service has made it at its
 * first start.
 * @throws StartupError when the chain of the live seal is missing, or a chain can't be read
 */
export async function configuredChains(settings: CertificateSettings): Promise<string[]> {
  const live = await configuredChain(settings);
  return existsSync(chainFile(settings, "test").path) ? [live, await configuredChain(settings, "test")] : [live];
}

/**
 * Opens the key and certificate chain of the live or the test seal. If the settings don't name the operator's own, the
 * first run creates them, and the root that issues the certificate. A self-signed certificate that an earlier release
 * made is replaced by one that the root issues. The test seal always has a file key, regardless of the settings.
 * @param at now
 * @returns the identity, warnings about its certificates, and the replaced self-signed certificate, or null
 * @throws StartupError in one line when sealing would be impossible
 */
export async function openSealIdentity(
  settings: SealIdentitySettings,
  at: Date,
  serialNumbers: SerialNumbers,
  environment: Environment = "live",
): Promise<{ identity: SealIdentity; warnings: readonly CertificateProblem[]; replaced: Certificate | null }> {
  const isLive = environment === "live";
  const opened = isLive ? openSealKey(settings.sealKey) : openFileKey(`file:${testKeyPath(settings)}`, "p-256");
  const key = await opened.catch(asStartupError);
  try {
    await probeSealKey(key);
    const { chain, replaced } = isLive
      ? await openOwnChain(settings, key, at, serialNumbers)
      : { chain: await openTestChain(settings, key, at, serialNumbers), replaced: null };
    if (chain[0].isTestSeals === isLive) {
      const { path, setting } = chainFile(settings, environment);
      throw new StartupError(`${setting}: ${path} is ${isLive ? "a" : "no"} certificate of tests`);
    }
    const problems = checkSealCertificate({ chain, key, at: at.getTime() });
    const error = problems.find(({ severity }) => severity === "error");
    if (error) throw new StartupError(error.detail);
    return { identity: { key, chain, chainPem: sealChainPem(chain) }, warnings: problems, replaced };
  } catch (error) {
    await key.close();
    return asStartupError(error);
  }
}

/**
 * The certificate chain of the live seal's key: the operator's, or else one that the service makes. A self-signed
 * certificate of an earlier release is replaced.
 */
async function openOwnChain(
  settings: SealIdentitySettings,
  { publicKey }: SealKey,
  at: Date,
  serialNumbers: SerialNumbers,
): Promise<{ chain: SealIdentity["chain"]; replaced: Certificate | null }> {
  const file = chainFile(settings, "live");
  if (settings.sealCertificate !== null) return { chain: await openChain(file), replaced: null };
  const issued = async (subject: string | Uint8Array) => {
    const root = await openRoot(settings, at, serialNumbers);
    return makeSealCertificate({ root, publicKey, subject, serialNumber: serialNumbers(), at: at.getTime() });
  };
  const { hostname } = new URL(settings.baseUrl);
  const chain = await openChain(file, () => issued(hostname));
  const [own] = chain;
  if (!isSelfSigned(chain) || !equalBytes(own.spki, publicKey)) return { chain, replaced: null };
  return { chain: await replaceChain(file, own, () => issued(own.subject)), replaced: own };
}

/**
 * The certificates of the test seal, under a root of its own. The key of that root is never stored, so nothing else can
 * be issued below it. So readers who trust all of `/seal/certificate.pem` don't thereby trust the certificates of test
 * signers.
 */
function openTestChain(
  settings: SealIdentitySettings,
  { publicKey }: SealKey,
  at: Date,
  serialNumbers: SerialNumbers,
): Promise<SealIdentity["chain"]> {
  const environment = "test";
  return openChain(chainFile(settings, environment), async () => {
    const { hostname: host } = new URL(settings.baseUrl);
    const issued = { environment, at: at.getTime() } as const;
    const key = keyInMemory("the root of the seal of tests");
    const root = await makeRoot({ ...issued, key, host, sealsOnly: true, serialNumber: serialNumbers() });
    return makeSealCertificate({ ...issued, root, publicKey, subject: host, serialNumber: serialNumbers() });
  });
}

const isSelfSigned = ([{ subject, issuer }, ...above]: SealIdentity["chain"]): boolean =>
  above.length === 0 && equalBytes(subject, issuer);

/**
 * Replaces a certificate file. The old file stays in the same folder, with its fingerprint in its name. The new
 * certificate is first written to a file that only one process can create. So all processes use the same new
 * certificate, even after a crash or concurrent starts.
 */
export async function replaceChain(
  file: ChainFile,
  replaced: Certificate,
  issue: () => Promise<readonly Certificate[]>,
): Promise<SealIdentity["chain"]> {
  const replacedFile = replacedPath(file.path, replaced);
  await writeChain({ ...file, path: replacedFile }, [replaced], { exclusive: true });
  const chain = await openChain({ ...file, path: `${replacedFile}.next` }, issue);
  await writeChain(file, chain, { exclusive: false });
  return chain;
}

/** The replaced certificates of a seal, which stay in the folder of the present certificate. */
export async function replacedChains({ path, setting }: ChainFile): Promise<Certificate[]> {
  const prefix = `${basename(path)}.`;
  const names = existsSync(dirname(path)) ? await readdir(dirname(path)) : [];
  const replaced = names.filter((name) => name.startsWith(prefix) && /^[0-9a-f]{16}$/.test(name.slice(prefix.length)));
  const paths = replaced.sort().map((name) => join(dirname(path), name));
  return Promise.all(paths.map(async (one) => (await openChain({ path: one, setting }))[0]));
}

export const replacedPath = (path: string, certificate: Certificate): string =>
  `${path}.${fingerprintOf(certificate).slice(0, 16)}`;

/**
 * Tests for `/readyz` that the seal's key and certificate work.
 * @throws SealKeyError for a key that fails; Error for a fault of the certificate that makes seals worthless, such as
 * its expiry
 */
export async function probeSealIdentity({ key, chain }: SealIdentity, at: Date): Promise<void> {
  await probeSealKey(key);
  const error = checkSealCertificate({ chain, key, at: at.getTime() }).find(({ severity }) => severity === "error");
  if (error) throw new Error(error.detail);
}

/** `RSA-3072 key, certificate of NAME until 2036-01-31`: a line for the operator. */
export function describeIdentity({ key, chain }: Pick<SealIdentity, "key" | "chain">): string {
  const [{ publicKey, subject, notAfter }] = chain;
  const kind =
    publicKey.type === "rsa" ? `RSA-${publicKey.bits}` : key.algorithm === "ecdsa-p256-sha256" ? "P-256" : "RSA";
  return `${kind} key, certificate of ${nameText(subject)} until ${new Date(notAfter).toISOString().slice(0, 10)}`;
}

/**
 * The certificate files that verify this installation's own seals by default: those of the live and test seals, and
 * earlier certificates for the same keys. Certificates of replaced keys are left out, because they may be retired.
 * @returns an empty list when there is no such file
 */
export async function ownCertificateFiles(settings: CertificateSettings): Promise<string[]> {
  const files = await Promise.all((["live", "test"] as const).map((each) => filesOf(chainFile(settings, each))));
  return files.flat();
}

async function filesOf(file: ChainFile): Promise<string[]> {
  if (!existsSync(file.path)) return [];
  const files = [file.path];
  const own = await firstOf(file.path);
  const folder = dirname(file.path);
  const replaced = (await readdir(folder)).filter((name) => name.startsWith(`${basename(file.path)}.`));
  for (const path of replaced.sort().map((name) => join(folder, name))) {
    const other = /\.[0-9a-f]{16}$/.test(path) ? await firstOf(path) : null;
    if (own && other && equalBytes(other.spki, own.spki)) files.push(path);
  }
  return files;
}

async function firstOf(path: string): Promise<Certificate | null> {
  try {
    return (await openChain({ path, setting: "SEAL_CERTIFICATE" }))[0];
  } catch (error) {
    if (error instanceof StartupError) return null;
    throw error;
  }
}
