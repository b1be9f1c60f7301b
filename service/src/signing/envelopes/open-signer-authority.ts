import { equalBytes } from "@signsealship/evidence/bytes";
import type { Certificate } from "@signsealship/evidence/x509";
import {
  type Authority,
  asStartupError,
  type CertificateProblem,
  type ChainFile,
  checkAuthorityCertificate,
  configuredChain,
  leafOf,
  openChain,
  openRoot,
  openSealKey,
  ownPath,
  probeSealKey,
  replaceChain,
  replacedChains,
  type SealIdentitySettings,
  type SealKey,
  type SerialNumbers,
  type SignerAnchor,
} from "../../evidence/seals/seals.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { dayMs } from "../../kernel/platform/clock.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { makeSignerAuthority } from "./signer-authority.ts";

export type SignerAuthoritySettings = SealIdentitySettings & {
  readonly signerCaKey: string;
  /** The path of a PEM certificate chain. Null to use the chain that the first run creates under `dataDir`. */
  readonly signerCaCertificate: string | null;
};

/** The authorities that issue the certificates of signers, one for each environment. */
export type SignerAuthorities = Readonly<Record<Environment, Authority>>;

/**
 * An authority that no longer issues certificates. Signatures with its certificates are valid if they were made before
 * `retiredAt`.
 */
type RetiredAuthority = { readonly certificate: Certificate; readonly retiredAt: Date };

export type OpenedSignerAuthorities = {
  authorities: SignerAuthorities;
  /** Replaced authorities. In earlier releases one authority issued certificates for both live and test orders. */
  retired: readonly RetiredAuthority[];
  warnings: readonly CertificateProblem[];
  close: () => Promise<void>;
};

/**
 * How long a replaced authority's certificates are still accepted for new acts. During a rolling update, nodes of an
 * earlier release may prepare acts that are signed only after the update.
 */
const retirementMs = dayMs;

/**
 * Opens the authorities that issue signers' certificates. The sealing identity must have been opened before. The first
 * run creates the keys and, under the root of each environment, the certificates that the settings don't provide.
 *
 * An earlier release had one authority for both environments. Its certificate lacks the name constraint that excludes
 * email addresses. That authority gets a new certificate, and its old certificate is retired. If the root's key is not
 * on this machine, the old certificate stays, with a warning.
 * @param at now
 * @throws StartupError with a message of one line when an authority could not issue certificates
 */
export async function openSignerAuthorities(
  settings: SignerAuthoritySettings,
  at: Date,
  serialNumbers: SerialNumbers,
): Promise<OpenedSignerAuthorities> {
  const live = await openAuthority(settings, at, serialNumbers, "live");
  try {
    const test = await openAuthority(settings, at, serialNumbers, "test");
    return {
      authorities: { live: live.authority, test: test.authority },
      retired: live.retired,
      warnings: [...live.warnings, ...test.warnings],
      close: async () => void (await Promise.all([live.authority.key.close(), test.authority.key.close()])),
    };
  } catch (error) {
    await live.authority.key.close();
    throw error;
  }
}

type Opened = Omit<OpenedSignerAuthorities, "authorities" | "close"> & { authority: Authority };

/** The trust anchors for signers' certificates in the trust list: the roots, and the retired authorities. */
export function listedCertificates({ authorities, retired }: OpenedSignerAuthorities): SignerAnchor[] {
  const roots = [authorities.live, authorities.test].flatMap(({ chain }) => chain.slice(-1));
  return [...roots.map((certificate) => ({ certificate, retiredAt: null })), ...retired];
}

async function openAuthority(
  settings: SignerAuthoritySettings,
  at: Date,
  serialNumbers: SerialNumbers,
  environment: Environment,
): Promise<Opened> {
  const own = `file:${ownPath(settings.dataDir, "signer-ca", environment)}`;
  const uri = environment === "live" ? settings.signerCaKey : own;
  const key = await openSealKey(uri, { setting: "SIGNER_CA_KEY" }).catch(asStartupError);
  try {
    await probeSealKey(key);
    await requireApart(settings, key);
    const { chain, retired, warnings } = await openOwnChain(settings, key, at, serialNumbers, environment);
    const authority = { key, chain };
    const problems = checkAuthorityCertificate({ ...authority, at: at.getTime() });
    const error = problems.find(({ severity }) => severity === "error");
    if (error) throw new StartupError(error.detail);
    return { authority, retired, warnings: [...problems, ...warnings] };
  } catch (error) {
    await key.close();
    return asStartupError(error);
  }
}

/**
 * Requires that the authority's key differs from the seal key, so that a holder of the seal key can't sign as a signer,
 * and vice versa.
 */
async function requireApart(settings: SealIdentitySettings, { publicKey }: SealKey): Promise<void> {
  const { certificate } = leafOf(await configuredChain(settings));
  if (equalBytes(certificate.spki, publicKey)) {
    throw new StartupError("SIGNER_CA_KEY: it is the key of SEAL_KEY; the authority of signers has a key of its own");
  }
}

type OwnChain = Pick<Opened, "retired" | "warnings"> & { chain: Authority["chain"] };

async function openOwnChain(
  settings: SignerAuthoritySettings,
  key: SealKey,
  at: Date,
  serialNumbers: SerialNumbers,
  environment: Environment,
): Promise<OwnChain> {
  const { signerCaCertificate, dataDir, baseUrl } = settings;
  const setting = "SIGNER_CA_CERTIFICATE";
  if (environment === "live" && signerCaCertificate !== null) {
    const chain = await openChain({ path: signerCaCertificate, setting });
    return {
      chain,
      retired: [],
      warnings: warningsOf(chain[0], "issue one with nameConstraints (docs/operating/keys.md)"),
    };
  }
  const file = { path: ownPath(dataDir, "signer-ca-certificate.pem", environment), setting };
  const issued = async () => {
    const root = await openRoot(settings, at, serialNumbers, environment);
    const { hostname: host } = new URL(baseUrl);
    const rootInput = { key, host, environment, serialNumber: serialNumbers(), at: at.getTime() };
    return (await makeSignerAuthority(root, rootInput)).chain;
  };
  const chain = await openChain(file, issued);
  const [old] = chain;
  if (old.excludesMailAddresses || !equalBytes(old.spki, key.publicKey)) {
    return { chain, retired: await retiredAt(file, chain[0]), warnings: [] };
  }
  try {
    const next = await replaceChain(file, old, issued);
    return { chain: next, retired: await retiredAt(file, next[0]), warnings: [] };
  } catch (error) {
    // If the root's key is not on this machine, the authority can't be replaced. The service starts nevertheless, with
    // a warning.
    if (!(error instanceof StartupError)) throw error;
    return { chain, retired: [], warnings: warningsOf(old, `it can't be replaced: ${error.message}`) };
  }
}

/**
 * Reads an authority's replaced certificates, which are kept next to its file. All count as retired a day after the
 * current certificate's `notBefore`.
 */
async function retiredAt(file: ChainFile, { notBefore }: Certificate) {
  const until = new Date(notBefore + retirementMs);
  return (await replacedChains(file)).map((certificate) => ({ certificate, retiredAt: until }));
}

function warningsOf({ excludesMailAddresses }: Certificate, why: string): CertificateProblem[] {
  if (excludesMailAddresses) return [];
  const detail = `SIGNER_CA_CERTIFICATE: the authority of signers does not exclude email addresses; ${why}`;
  return [{ code: "mail-addresses", severity: "warning", detail }];
}

/**
 * Verifies for `/readyz` that the authorities could issue signers' certificates now.
 * @throws SealKeyError
 * @throws Error for an invalid certificate of an authority, such as an expired one
 */
export async function probeSignerAuthorities(authorities: SignerAuthorities, at: Date): Promise<void> {
  for (const { key, chain } of [authorities.live, authorities.test]) {
    await probeSealKey(key);
    const problems = checkAuthorityCertificate({ chain, key, at: at.getTime() });
    const error = problems.find(({ severity }) => severity === "error");
    if (error) throw new Error(error.detail);
  }
}
