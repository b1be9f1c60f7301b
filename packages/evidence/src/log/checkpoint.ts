import { EvidenceError } from "../errors.ts";
import { formatNote, fromBase64, type Note, type NoteKey, parseNote, toBase64 } from "./note.ts";
import { hashLength, maxProofHashes } from "./tree.ts";

/** The state of a log's tree: C2SP tlog-checkpoint. */
export type Checkpoint = { readonly origin: string; readonly size: number; readonly root: Uint8Array };

/** A checkpoint with the note from which it was parsed. */
export type SignedCheckpoint = Checkpoint & { readonly note: Note };

/** The text that a log signs. */
export const checkpointText = ({ origin, size, root }: Checkpoint): string => `${origin}\n${size}\n${toBase64(root)}\n`;

/** A checkpoint as a log publishes it. */
export const formatCheckpoint = (checkpoint: Checkpoint, { name, id }: NoteKey, signature: Uint8Array): string =>
  formatNote({ text: checkpointText(checkpoint), signatures: [{ name, id, signature }] });

/**
 * Parses a signed checkpoint without verifying its signatures.
 * @throws EvidenceError `log` or `limit`
 */
export function parseCheckpoint(text: string): SignedCheckpoint {
  const note = parseNote(text);
  const [origin = "", size = "", root = "", ...extensions] = note.text.slice(0, -1).split("\n");
  if (origin === "") throw new EvidenceError("log", "the checkpoint names no origin");
  const hash = fromBase64(root);
  if (hash.length !== hashLength) throw new EvidenceError("log", "the root of the checkpoint is 32 bytes in base64");
  if (extensions.includes("")) throw new EvidenceError("log", "the checkpoint has an empty line");
  return { origin, size: decimal(size, "the size of the checkpoint"), root: hash, note };
}

/** A proof that an entry is in a log: C2SP tlog-proof. */
export type LogProof = {
  /**
   * Extra bytes about the entry; null when there are none. This service writes the proof of the seal's retraction
   * there.
   */
  readonly extra: Uint8Array | null;
  readonly index: number;
  readonly hashes: readonly Uint8Array[];
  /** The text of the checkpoint, exactly as it was signed. */
  readonly checkpoint: string;
};

const proofFormat = "c2sp.org/tlog-proof@v1";
const maxProofBytes = 64 * 1024;

export const formatLogProof = ({ extra, index, hashes, checkpoint }: LogProof): string =>
  `${[proofFormat, ...(extra ? [`extra ${toBase64(extra)}`] : []), `index ${index}`, ...hashes.map(toBase64)]
    .map((line) => `${line}\n`)
    .join("")}\n${checkpoint}`;

/** True if bytes begin like a log proof. The rest may still be malformed. */
export const isLogProof = (bytes: Uint8Array): boolean =>
  new TextDecoder().decode(bytes.subarray(0, proofFormat.length + 1)) === `${proofFormat}\n`;

/**
 * Parses a log proof without verifying it.
 * @throws EvidenceError `log` or `limit` for bytes that do not match the format exactly
 */
export function parseLogProof(bytes: Uint8Array): LogProof {
  if (bytes.length > maxProofBytes) throw new EvidenceError("limit", `a log proof is at most ${maxProofBytes} bytes`);
  const text = utf8Text(bytes);
  const end = text.indexOf("\n\n");
  if (end < 0) throw new EvidenceError("log", "the proof has no checkpoint");
  const [format, ...rest] = text.slice(0, end).split("\n");
  if (format !== proofFormat) throw new EvidenceError("log", `the proof does not begin with ${proofFormat}`);
  const extra = rest[0]?.startsWith("extra ") ? fromBase64(rest.shift()?.slice("extra ".length) ?? "") : null;
  const [index = "", ...hashes] = rest;
  if (!index.startsWith("index ")) throw new EvidenceError("log", "the proof names no index");
  if (hashes.length > maxProofHashes) throw new EvidenceError("limit", `a proof has at most ${maxProofHashes} hashes`);
  return {
    extra,
    index: decimal(index.slice("index ".length), "the index"),
    hashes: hashes.map(hashOf),
    checkpoint: text.slice(end + 2),
  };
}

function hashOf(line: string): Uint8Array {
  const hash = fromBase64(line);
  if (hash.length !== hashLength) throw new EvidenceError("log", "each hash of the proof is 32 bytes in base64");
  return hash;
}

/** Parses a whole number in its only permitted form: decimal without leading zeros. */
function decimal(text: string, what: string): number {
  const value = Number(text);
  if (!/^(0|[1-9]\d{0,15})$/.test(text) || !Number.isSafeInteger(value))
    throw new EvidenceError("log", `${what} is a whole number below 2^53 without leading zeros`);
  return value;
}

function utf8Text(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new EvidenceError("log", "the proof is not UTF-8");
    throw error;
  }
}
