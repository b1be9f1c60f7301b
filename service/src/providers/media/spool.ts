/**
 * Stores chunks on this machine's disk until they are in the blob store. The chunks are encrypted, each next to its
 * line of the hash chain.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { minuteMs } from "../../kernel/platform/clock.ts";
import { syncFolder } from "../../kernel/platform/durable-file.ts";
import { type ChainHead, type ChainLine, headAfter, lineText, readLine, sha256Hex } from "./chain.ts";
import type { Chunk } from "./webm/take.ts";

/** A stored chunk: its line of the hash chain, and its encrypted bytes with their tag. */
export type SpooledChunk = { readonly line: ChainLine; readonly sealed: Buffer };

/**
 * A file is closed after this time, when it has `partBytes`, or when the session is closed. Closed files are moved to
 * the store as the parts of a recording.
 */
const partMs = minuteMs;
const partBytes = 16 * 1024 * 1024;
/**
 * The most chunks in the write queue, from which they are written one after another. One more chunk ends the recording.
 */
const maxWaiting = 400;
const tagBytes = 16;
export const sealedBytes = (bytes: number): number => bytes + tagBytes;

/**
 * The nonce of a chunk. It is used only once, because take numbers never repeat in a recording, even after a restart.
 */
function nonceOf(take: number, n: number): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(take, 0);
  nonce.writeUIntBE(n, 6, 6);
  return nonce;
}

function sealChunk(key: KeyObject, take: number, n: number, plain: Uint8Array): Buffer {
  const cipher = createCipheriv("aes-256-gcm", key, nonceOf(take, n));
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/**
 * Decrypts a chunk of a recording, and compares it with the hash in its line.
 * @throws Error when the bytes don't match the line
 */
export function openChunk(key: KeyObject, line: ChainLine, sealed: Buffer): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", key, nonceOf(line.take, line.n));
  decipher.setAuthTag(sealed.subarray(sealed.length - tagBytes));
  const plain = Buffer.concat([decipher.update(sealed.subarray(0, sealed.length - tagBytes)), decipher.final()]);
  if (sha256Hex(plain) !== line.sha256) throw new Error("a chunk's bytes are not those that its line names");
  return plain;
}

export const recordKey = (bytes: Uint8Array): KeyObject => createSecretKey(Buffer.from(bytes));

type SpoolEvents = {
  /** Called when a chunk is durable. */
  readonly onChunk: (line: ChainLine) => void;
  /** Called when a file of the spool was closed. */
  readonly onPart: (file: string) => void;
  /** Called once, when writing has failed for good or the write queue is full. */
  readonly onFailure: (error: Error) => void;
};

type SpoolInput = SpoolEvents & {
  readonly folder: string;
  readonly key: KeyObject;
  readonly head: ChainHead;
  readonly now: () => number;
};

type OpenFile = { handle: FileHandle; path: string; bytes: number; at: number };

/**
 * The position of a chunk in its session: the number of the take (a recording from one connection), the chunk's number
 * in the take, and the person.
 */
type Place = { readonly take: number; readonly n: number; readonly person: string };

/** Writes the chunks of one session. */
export type Spool = {
  add: (chunk: Chunk & Place) => void;
  /** Closes the current file if it is old enough. */
  tick: () => void;
  /** Resolves when everything is durable and the last file is closed; also after a failure, without being durable. */
  close: () => Promise<void>;
};

const openEnd = ".open";
const closedEnd = ".spool";

export function openSpool({ folder, key, head: before, now, onChunk, onPart, onFailure }: SpoolInput): Spool {
  let head = before;
  let file: OpenFile | null = null;
  let failed = false;
  let waiting = 0;
  let queue: Promise<void> = Promise.resolve();

  function enqueue(work: () => Promise<void>): void {
    queue = queue.then(work).catch((error: Error) => {
      if (!failed) onFailure(error);
      failed = true;
    });
  }

  enqueue(async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  });

  async function closeFile(): Promise<void> {
    if (!file) return;
    const { handle, path } = file;
    file = null;
    await handle.close();
    const closed = path.slice(0, -openEnd.length) + closedEnd;
    await rename(path, closed);
    await syncFolder(folder);
    onPart(closed);
  }

  async function write(chunk: Chunk & Place): Promise<void> {
    if (failed) return;
    const line: ChainLine = {
      seq: head.seq + 1,
      at: new Date(now()).toISOString(),
      take: chunk.take,
      n: chunk.n,
      person: chunk.person,
      from: chunk.from,
      to: chunk.to,
      key: chunk.isKey,
      bytes: chunk.bytes.length,
      sha256: sha256Hex(chunk.bytes),
      previousSha256: head.sha256,
    };
    const record = encoded({ line, sealed: sealChunk(key, chunk.take, chunk.n, chunk.bytes) });
    // The file is named after the `seq` of its first chunk, so that files sort in the order of the chain.
    const path = join(folder, `${String(line.seq).padStart(10, "0")}${openEnd}`);
    if (!file) {
      file = { handle: await open(path, "wx", 0o600), path, bytes: 0, at: now() };
      await syncFolder(folder);
    }
    // Writes all bytes, or rejects. A single write may stop in the middle of a chunk when the disk is full.
    await file.handle.appendFile(record);
    await file.handle.datasync();
    head = headAfter(line);
    file.bytes += record.length;
    onChunk(line);
    if (file.bytes >= partBytes) await closeFile();
  }

  return {
    add(chunk) {
      if (waiting >= maxWaiting) {
        if (!failed) onFailure(new Error("the disk of the spool does not keep up"));
        failed = true;
      }
      if (failed) return;
      waiting++;
      enqueue(() => write(chunk).finally(() => waiting--));
    },
    tick() {
      if (file && now() - file.at >= partMs) enqueue(closeFile);
    },
    async close() {
      enqueue(closeFile);
      await queue;
    },
  };
}

/** Encodes the line's length and text, then the chunk's length and bytes. */
function encoded({ line, sealed }: SpooledChunk): Buffer {
  const text = Buffer.from(lineText(line));
  const lengths = [Buffer.alloc(4), Buffer.alloc(4)] as const;
  lengths[0].writeUInt32BE(text.length);
  lengths[1].writeUInt32BE(sealed.length);
  return Buffer.concat([lengths[0], text, lengths[1], sealed]);
}

/**
 * The complete chunks of a file.
 * @returns `torn`: the number of bytes at the end that form no whole chunk, because the writer was killed or the
 * machine lost power
 */
export async function readSpool(path: string): Promise<{ chunks: SpooledChunk[]; torn: number }> {
  const bytes = await readFile(path);
  const chunks: SpooledChunk[] = [];
  const part = (at: number): Buffer | null => {
    if (at + 4 > bytes.length) return null;
    const end = at + 4 + bytes.readUInt32BE(at);
    return end > bytes.length ? null : bytes.subarray(at + 4, end);
  };
  const chunkAt = (at: number): SpooledChunk | null => {
    const text = part(at);
    const sealed = text && part(at + 4 + text.length);
    if (!text || !sealed) return null;
    try {
      return { line: readLine(text.toString()), sealed };
    } catch {
      return null;
    }
  };
  let at = 0;
  for (let chunk = chunkAt(at); chunk; chunk = chunkAt(at)) {
    chunks.push(chunk);
    at += 8 + lineText(chunk.line).length + chunk.sealed.length;
  }
  return { chunks, torn: bytes.length - at };
}

/** The files of a session in the order of the chain, including files that a killed process left open. */
export async function spoolFiles(folder: string, { closedOnly = false } = {}): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [] as string[];
    throw error;
  });
  return names
    .filter((name) => name.endsWith(closedEnd) || (!closedOnly && name.endsWith(openEnd)))
    .sort()
    .map((name) => join(folder, name));
}
