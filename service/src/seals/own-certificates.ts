import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { equalBytes } from "@signsealship/evidence/bytes";
import type { Certificate } from "@signsealship/evidence/x509";
import { StartupError } from "../platform/errors.ts";
import { type ChainFile, openChain } from "./certificate/file.ts";
import { type CertificateSettings, chainFile } from "./identity.ts";

/**
 * The files whose first certificates this installation's own seals are judged with when nothing else is named: those of the live
 * seal and of the seal of tests, and those that they replaced for the same key. A key that was replaced is not among them: its certificates may be retired.
 * @returns none where there is no such file
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
