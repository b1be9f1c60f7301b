import { readFile } from "node:fs/promises";
import { EvidenceError } from "@signsealship/evidence/errors";
import type { Certificate } from "@signsealship/evidence/x509";
import { writeFileDurably } from "../../../kernel/platform/durable-file.ts";
import { StartupError } from "../../../kernel/platform/errors.ts";
import { readSealChain, sealChainPem } from "./certificate.ts";

/** A PEM file of certificates, and the setting that names it. Error messages about the file begin with the setting. */
export type ChainFile = { readonly path: string; readonly setting: string };

/**
 * Reads the PEM chain at the path. When the file is missing and `make` is given, writes the result of `make` first.
 * Processes that start concurrently all use the chain that was written first.
 * @throws StartupError in one line that begins with the setting, and the errors of `make`
 */
export async function openChain(
  file: ChainFile,
  make?: () => Promise<readonly Certificate[]>,
): Promise<[Certificate, ...Certificate[]]> {
  const there = await readIfThere(file, make === undefined);
  if (there !== undefined || make === undefined) return parse(there ?? "", file);
  await writeChain(file, await make(), { exclusive: true });
  return parse((await readIfThere(file, true)) ?? "", file);
}

/**
 * Writes a chain, completely or not at all.
 * @param options.exclusive leaves an existing file unchanged
 * @throws StartupError
 */
export async function writeChain(
  { path, setting }: ChainFile,
  chain: readonly Certificate[],
  options: { exclusive: boolean },
): Promise<void> {
  try {
    await writeFileDurably(path, sealChainPem(chain), { mode: 0o644, ...options });
  } catch (cause) {
    throw new StartupError(`${setting}: ${path} can't be written: ${messageOf(cause)}`, { cause });
  }
}

async function readIfThere({ path, setting }: ChainFile, required: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if (!required && isCode(cause, "ENOENT")) return undefined;
    throw new StartupError(`${setting}: ${path} can't be read: ${messageOf(cause)}`, { cause });
  }
}

function parse(pem: string, { path, setting }: ChainFile): [Certificate, ...Certificate[]] {
  try {
    const [first, ...rest] = readSealChain(pem);
    if (!first) throw new StartupError(`${setting}: ${path} holds no certificate`);
    return [first, ...rest];
  } catch (cause) {
    if (!(cause instanceof EvidenceError)) throw cause;
    throw new StartupError(`${setting}: ${path}: ${cause.message}`, { cause });
  }
}

const isCode = (cause: unknown, code: string): boolean =>
  cause instanceof Error && "code" in cause && cause.code === code;
const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
