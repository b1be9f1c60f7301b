import { readFile } from "node:fs/promises";
import { EvidenceError } from "@signsealship/evidence/errors";
import type { Certificate } from "@signsealship/evidence/x509";
import { writeFileDurably } from "../../platform/durable-file.ts";
import { StartupError } from "../../platform/errors.ts";
import { readSealChain, sealChainPem } from "./certificate.ts";

/** A PEM file of certificates. `setting` is what its errors begin with. */
export type ChainFile = { readonly path: string; readonly setting: string };

/**
 * Reads the PEM chain at the path. When nothing is there and `make` is given, what it makes is written first; of
 * several processes that start at once, all use the one that won.
 * @throws StartupError in one line that begins with the setting, and what `make` throws
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

/** Writes a chain, whole or not at all. @param options.exclusive a file that is there is left as it is. @throws StartupError */
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
