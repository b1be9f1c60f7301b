import { EvidenceError } from "@signsealship/evidence/errors";
import { isLogProof, parseCheckpoint, parseLogProof } from "@signsealship/evidence/log";
import { readCarriedCheckpoint } from "@signsealship/evidence/seal";
import { openZip } from "@signsealship/evidence/zip";
import { UsageError } from "../errors.ts";
import { readBounded } from "../files/read-file.ts";
import { sha256 } from "./published-log.ts";

/** A signed note, and the file that contains it. */
export type NamedCheckpoint = { readonly name: string; readonly note: string };

/**
 * A file to compare with the log. For a sealed PDF, `sealedSha256` is the hash (hex) that the log should contain. It is
 * null for other files, which contain checkpoints.
 */
export type ComparedFile = {
  readonly path: string;
  readonly checkpoints: readonly NamedCheckpoint[];
  readonly sealedSha256: string | null;
};

const startsWith = (bytes: Uint8Array, text: string): boolean =>
  Buffer.from(bytes.subarray(0, text.length)).toString("latin1") === text;

/**
 * Reads a file to compare with the log. A PDF is always accepted, even without a seal.
 * @throws UsageError for a file that can't be read, and for a zip without a log proof; EvidenceError for any other file
 * without a checkpoint
 */
export async function readComparedFile(path: string): Promise<ComparedFile> {
  const bytes = await readBounded(path);
  if (startsWith(bytes, "%PDF-"))
    return {
      path,
      checkpoints: await carriedBy(path, bytes),
      sealedSha256: Buffer.from(sha256(bytes)).toString("hex"),
    };
  return { path, checkpoints: checkpointsIn(path, bytes), sealedSha256: null };
}

/** The checkpoint inside a sealed PDF. Empty for an unreadable PDF, so that only the file's hash is compared. */
async function carriedBy(path: string, bytes: Uint8Array): Promise<NamedCheckpoint[]> {
  try {
    const note = await readCarriedCheckpoint(bytes);
    return note === null ? [] : [{ name: `the seal of ${path}`, note }];
  } catch (error) {
    if (error instanceof EvidenceError) return [];
    throw error;
  }
}

/** The checkpoint in the header of a stored mail, or of a stored webhook request; null for a text without one. */
function headerOf(text: string): string | null {
  const [head = ""] = text.split(/\r?\n\r?\n/, 1);
  const value = /^service-log-checkpoint:((?:.|\r?\n[ \t])*)$/im.exec(head)?.[1];
  return value === undefined ? null : Buffer.from(value.replace(/\s/g, ""), "base64").toString("utf8");
}

function checkpointsIn(path: string, bytes: Uint8Array): NamedCheckpoint[] {
  if (isLogProof(bytes)) return [{ name: path, note: parseLogProof(bytes).checkpoint }];
  if (!startsWith(bytes, "PK")) {
    const text = Buffer.from(bytes).toString("utf8");
    const note = headerOf(text) ?? text;
    parseCheckpoint(note);
    return [{ name: path, note }];
  }
  const proofs = [...openZip(bytes).files].filter(([, part]) => isLogProof(part));
  if (proofs.length === 0) throw new UsageError(`${path} holds no proof of a transparency log`);
  return proofs.map(([name, part]) => ({ name: `${name} of ${path}`, note: parseLogProof(part).checkpoint }));
}
