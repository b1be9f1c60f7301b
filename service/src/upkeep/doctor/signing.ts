import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { nameText } from "@signsealship/evidence/x509";
import {
  type CertificateProblem,
  describeIdentity,
  describeRoot,
  fileKeyPath,
  fingerprintOf,
  openSealIdentity,
  ownPath,
  rootKeyPath,
} from "../../evidence/seals/seals.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { openSignerAuthorities } from "../../signing/envelopes/envelopes.ts";
import { keysThatMayGo, secretsStatus, underKeyText } from "../secrets-rotation/secrets-rotation.ts";
import { type Examined, type Finding, type Found, runCheck, type Senses } from "./finding.ts";

/**
 * Signs with the signing keys and checks their certificates. Doesn't print a key's setting, which may contain a PIN.
 */
export async function signingFindings(config: Config, senses: Senses): Promise<Finding[]> {
  // The keys are checked in the order in which the service opens them. One step creates files that the next step needs.
  const seal = await keyFindings("seal", () => sealFound(config, "live", senses));
  const testSeal = await keyFindings("test seal", () => sealFound(config, "test", senses));
  const authority = await keyFindings("signer authority", () => authorityFound(config, senses));
  const root = await runCheck("root", () => rootFound(config, "live"));
  const testRoot = await runCheck("test root", () => rootFound(config, "test"));
  return [...seal, ...testSeal, ...authority, root, testRoot, await runCheck("key files", () => filesFound(config))];
}

/**
 * Checks the signing keys of a running service. If key files are missing, reports only that and creates none: a new key
 * could differ from the one that the service uses.
 */
export async function presentKeyFindings(config: Config, senses: Senses): Promise<Finding[]> {
  const missing = ownKeyFiles(config).filter((path) => !existsSync(path));
  if (missing.length === 0) return signingFindings(config, senses);
  return [{ name: "key files", result: "failed", detail: `not there any more: ${missing.join(", ")}` }];
}

/** Files of keys and certificates that the first start creates. They exist if a service has ever run here. */
function ownKeyFiles(config: Config): string[] {
  const { sealKey, signerCaKey, sealCertificate, signerCaCertificate, dataDir } = config;
  const keys = [sealKey, signerCaKey].filter((uri) => uri.startsWith("file:")).map(fileKeyPath);
  const own = (name: string) => join(dataDir, "keys", name);
  return [
    ...keys,
    sealCertificate ?? own("seal-certificate.pem"),
    signerCaCertificate ?? own("signer-ca-certificate.pem"),
    ...["seal", "seal-certificate.pem", "signer-ca", "signer-ca-certificate.pem"].map((name) =>
      ownPath(dataDir, name, "test"),
    ),
  ];
}

type KeyFound = { detail: string; warnings: readonly CertificateProblem[] };

async function keyFindings(name: string, find: () => Promise<KeyFound>): Promise<Finding[]> {
  try {
    const { detail, warnings } = await find();
    const warned = warnings.map(
      (one): Finding => ({ name: `${name} certificate`, result: "warning", detail: one.detail }),
    );
    return [{ name: `${name} key`, result: "ok", detail }, ...warned];
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    return [{ name: `${name} key`, result: "failed", detail: error.message }];
  }
}

async function sealFound(config: Config, environment: Environment, { clock, random }: Senses): Promise<KeyFound> {
  const { identity, warnings, replaced } = await openSealIdentity(config, clock(), () => random.bytes(16), environment);
  await identity.key.close();
  const replacement = replaced ? ", issued now in place of a self-signed one" : "";
  return { detail: `${describeIdentity(identity)}${replacement}`, warnings };
}

async function authorityFound(config: Config, { clock, random }: Senses): Promise<KeyFound> {
  const { authorities, retired, warnings, close } = await openSignerAuthorities(config, clock(), () =>
    random.bytes(16),
  );
  await close();
  const replaced = retired.map(
    ({ certificate, retiredAt }) =>
      `, retired ${nameText(certificate.subject)} (SHA-256 ${fingerprintOf(certificate)}) from ${retiredAt.toISOString()}`,
  );
  return {
    detail: `${describeIdentity(authorities.live)}; for tests ${describeIdentity(authorities.test)}${replaced.join("")}`,
    warnings,
  };
}

/**
 * Shows the fingerprint of the root certificate, for comparison before people trust it. A PDF reader that trusts the
 * root trusts every certificate below it.
 */
async function rootFound(config: Config, environment: Environment): Promise<string> {
  const root = await describeRoot(config, environment);
  if (!root) return "none: the certificates are the operator's own";
  return `${root.subject} until ${root.notAfter.slice(0, 10)}, SHA-256 ${root.sha256}, ${root.file}`;
}

/** Checks whether users other than the owner can read the files of private keys. */
function filesFound({ sealKey, signerCaKey, dataDir }: Config): Found {
  const named = [sealKey, signerCaKey].filter((uri) => uri.startsWith("file:")).map(fileKeyPath);
  const test = ["root", "seal", "signer-ca"].map((name) => ownPath(dataDir, name, "test"));
  const open = [...named, rootKeyPath(dataDir, "live"), ...test].filter((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found !== undefined && (found.mode & 0o077) !== 0;
  });
  if (open.length === 0) return "only their owner can read them";
  return { warning: `others can read ${open.join(", ")}: chmod 600 ${open.join(" ")}` };
}

/**
 * Counts the data that each key protects. This reads the start of every document, so it runs only while there are old
 * keys.
 */
export function secretsFinding(resources: Examined): Promise<Finding> {
  return runCheck("secrets key", async () => {
    const { secrets, clock } = resources;
    if (secrets.others.length === 0) return "one key; SECRETS_KEYS_OLD is not set";
    const status = await secretsStatus(resources, clock());
    const used = status.filter(({ rows, values, blobs }) => rows + values + blobs > 0);
    const detail = used.map(underKeyText).join("; ");
    const missing = used.find(({ state }) => state === "missing");
    if (missing) throw new Error(`${detail}: key ${missing.keyId} is in neither SECRETS_KEY nor SECRETS_KEYS_OLD`);
    if (used.some(({ state }) => state !== "current")) {
      return { warning: `${detail}: an old key may go after bin/signsealship secrets rotate` };
    }
    const mayGo = keysThatMayGo(status).map(
      (keyId) => `nothing is under key ${keyId}: it may go from SECRETS_KEYS_OLD`,
    );
    return [detail, ...mayGo].filter(Boolean).join("; ");
  });
}
