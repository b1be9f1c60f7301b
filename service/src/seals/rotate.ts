import { rename } from "node:fs/promises";
import { dirname } from "node:path";
import type { Environment } from "../identity/identity.ts";
import { syncFolder } from "../platform/durable-file.ts";
import { ServiceError } from "../platform/errors.ts";
import { leafOf } from "./chains.ts";
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

/** Fingerprints of the new and the previous certificate, and where the previous key lies now. */
export type RotatedSeal = { sha256: string; previousSha256: string; previousKey: string; chainPem: string };

/**
 * Puts the seal key and its certificate aside and makes new ones, for a key in a file with the certificate that was made for it. The
 * seal of tests is always one of these.
 * The certificate goes first: whatever is cut off in between, the next start finds a key and makes what is missing.
 * @param at now
 * @throws ServiceError `conflict` for a key or a certificate that this service did not make; StartupError when the root can't issue
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
  // Nothing is put aside while the root could not issue what is to take its place.
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
