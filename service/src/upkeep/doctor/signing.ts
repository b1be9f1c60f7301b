import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { nameText } from "@signsealship/evidence/x509";
import type { Config } from "../config/config.ts";
import { openSignerAuthorities } from "../envelopes/envelopes.ts";
import type { Environment } from "../identity/identity.ts";
import { StartupError } from "../platform/errors.ts";
import {
  type CertificateProblem,
  describeIdentity,
  describeRoot,
  fileKeyPath,
  fingerprintOf,
  openSealIdentity,
  ownPath,
  rootKeyPath,
} from "../seals/seals.ts";
import { type Finding, type Found, runCheck } from "./finding.ts";

const serialNumbers = () => randomBytes(16);

/** The keys that sign, used, and their certificates. A key's setting is not shown, because it may hold a PIN. */
export async function signingFindings(config: Config): Promise<Finding[]> {
  // In the order of a start: one makes what the next looks at.
  const seal = await keyFindings("seal", () => sealFound(config, "live"));
  const testSeal = await keyFindings("test seal", () => sealFound(config, "test"));
  const authority = await keyFindings("signer authority", () => authorityFound(config));
  const root = await runCheck("root", () => rootFound(config, "live"));
  const testRoot = await runCheck("test root", () => rootFound(config, "test"));
  return [...seal, ...testSeal, ...authority, root, testRoot, await runCheck("key files", () => filesFound(config))];
}

/** The same without making what is missing: beside a running service a new key would be another than the one that it signs with. */
export async function presentKeyFindings(config: Config): Promise<Finding[]> {
  const missing = ownKeyFiles(config).filter((path) => !existsSync(path));
  if (missing.length === 0) return signingFindings(config);
  return [{ name: "key files", result: "failed", detail: `not there any more: ${missing.join(", ")}` }];
}

/** The files of keys and certificates that a first start makes, and a running service therefore has. */
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

async function sealFound(config: Config, environment: Environment): Promise<KeyFound> {
  const { identity, warnings, replaced } = await openSealIdentity(config, new Date(), serialNumbers, environment);
  await identity.key.close();
  const news = replaced ? ", issued now in place of a self-signed one" : "";
  return { detail: `${describeIdentity(identity)}${news}`, warnings };
}

async function authorityFound(config: Config): Promise<KeyFound> {
  const { authorities, retired, warnings, close } = await openSignerAuthorities(config, new Date(), serialNumbers);
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

/** Readers of PDF that are given the root trust what it issued: people compare the fingerprint. */
async function rootFound(config: Config, environment: Environment): Promise<string> {
  const root = await describeRoot(config, environment);
  if (!root) return "none: the certificates are the operator's own";
  return `${root.subject} until ${root.notAfter.slice(0, 10)}, SHA-256 ${root.sha256}, ${root.file}`;
}

/** Whether others than their owner can read the files of private keys. */
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
