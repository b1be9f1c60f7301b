import { existsSync } from "node:fs";
import { join } from "node:path";
import { equalBytes } from "@signsealship/evidence/bytes";
import { nameText } from "@signsealship/evidence/x509";
import type { Environment } from "../../kernel/identity/identity.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { type Authority, makeRoot } from "./certificate/authority.ts";
import { openChain } from "./certificate/file.ts";
import { fingerprintOf } from "./chains.ts";
import { openFileKey } from "./keys/file-key.ts";

export type RootSettings = { readonly dataDir: string; readonly baseUrl: string };

/** Serial numbers: 16 random bytes for each new certificate. */
export type SerialNumbers = () => Uint8Array;

const setting = "The service's own root";

/** The path of a key or certificate that the service makes itself. The files of the test seal have other names. */
export const ownPath = (dataDir: string, name: string, environment: Environment): string =>
  join(dataDir, "keys", environment === "test" ? `test-${name}` : name);

const pathsOf = (dataDir: string, environment: Environment) => ({
  key: ownPath(dataDir, "root", environment),
  certificate: ownPath(dataDir, "root-certificate.pem", environment),
});

export const rootKeyPath = (dataDir: string, environment: Environment): string => pathsOf(dataDir, environment).key;

/**
 * Opens the root's key and certificate, so that the root can issue a certificate. The first call makes both. The
 * service needs the key only while it issues certificates, so the key may be moved elsewhere in between.
 * @throws StartupError in one line, for example when the root's certificate exists but its key doesn't
 * @throws SealKeyError for a file that does not contain a key
 */
export async function openRoot(
  { dataDir, baseUrl }: RootSettings,
  at: Date,
  serialNumbers: SerialNumbers,
  environment: Environment = "live",
): Promise<Authority> {
  const paths = pathsOf(dataDir, environment);
  if (existsSync(paths.certificate) && !existsSync(paths.key)) {
    throw new StartupError(
      `${setting}: ${paths.key}, the key of ${paths.certificate}, is needed to issue a certificate`,
    );
  }
  const key = await openFileKey(`file:${paths.key}`, "p-256");
  const rootInput = { key, host: new URL(baseUrl).hostname, environment, at: at.getTime() };
  const chain = await openChain({ path: paths.certificate, setting }, async () => {
    return (await makeRoot({ ...rootInput, serialNumber: serialNumbers() })).chain;
  });
  if (!equalBytes(chain[0].spki, key.publicKey)) {
    throw new StartupError(`${setting}: ${paths.certificate} is not for the key ${paths.key}`);
  }
  return { key, chain };
}

/** The root as the operator sees it. */
export type RootDescription = {
  /** SHA-256 of the certificate, hex: its fingerprint. */
  sha256: string;
  subject: string;
  notAfter: string;
  file: string;
};

/**
 * Describes the root; null when the service never needed one.
 * @throws StartupError
 */
export async function describeRoot(
  { dataDir }: Pick<RootSettings, "dataDir">,
  environment: Environment = "live",
): Promise<RootDescription | null> {
  const { certificate: file } = pathsOf(dataDir, environment);
  if (!existsSync(file)) return null;
  const [root] = await openChain({ path: file, setting });
  const notAfter = new Date(root.notAfter).toISOString();
  return { sha256: fingerprintOf(root), subject: nameText(root.subject), notAfter, file };
}
