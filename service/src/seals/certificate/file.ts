import { readFile } from "node:fs/promises";
import { EvidenceError } from "@signsealship/evidence/errors";
import type { Certificate } from "@signsealship/evidence/x509";
import { writeFileDurably } from "../../platform/durable-file.ts";
import { StartupError } from "../../platform/errors.ts";
import { readSealChain, sealChainPem } from "./certificate.ts";

/** The file of the seal's certificates can't be used. */
export class SealCertificateError extends StartupError {
  override readonly name = "SealCertificateError";
}

/**
 * Reads the PEM chain at the path. When nothing is there and `make` is given, what it makes is written first; of
 * several processes that start at once, all use the one that won.
 * @throws SealCertificateError, and what `make` throws
 */
export async function openSealChain(path: string, make?: () => Promise<Certificate>): Promise<Certificate[]> {
  const there = await readIfThere(path, make === undefined);
  if (there !== undefined || make === undefined) return parse(there ?? "", path);
  const certificate = await make();
  try {
    await writeFileDurably(path, sealChainPem([certificate]), { mode: 0o644, exclusive: true });
  } catch (cause) {
    throw new SealCertificateError(`SEAL_CERTIFICATE: ${path} can't be written: ${messageOf(cause)}`, { cause });
  }
  return parse((await readIfThere(path, true)) ?? "", path);
}

async function readIfThere(path: string, required: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if (!required && isCode(cause, "ENOENT")) return undefined;
    throw new SealCertificateError(`SEAL_CERTIFICATE: ${path} can't be read: ${messageOf(cause)}`, { cause });
  }
}

function parse(pem: string, path: string): Certificate[] {
  try {
    return readSealChain(pem);
  } catch (cause) {
    if (!(cause instanceof EvidenceError)) throw cause;
    throw new SealCertificateError(`SEAL_CERTIFICATE: ${path}: ${cause.message}`, { cause });
  }
}

const isCode = (cause: unknown, code: string): boolean =>
  cause instanceof Error && "code" in cause && cause.code === code;
const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
