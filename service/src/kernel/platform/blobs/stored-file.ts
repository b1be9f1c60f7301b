import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { Holder, MemoryBudget } from "../bounds/memory-budget.ts";

/** A range of bytes, from the first to the last one, both included. */
export type ByteRange = { readonly first: number; readonly last: number };

/** A stored document, whose plain bytes are read while they are sent. */
export type StoredFile = {
  readonly length: number;
  /** Chunks of the range (default: the whole file), each read and decrypted on demand. */
  readonly pieces: (range?: ByteRange) => AsyncIterable<Buffer>;
  /** The whole file in larger pieces, for work that reads all of it. */
  readonly stretches: () => AsyncIterable<Buffer>;
  /**
   * The file or a range of it as a stream. The stream holds a share of the memory budget until it ends. It ends with an
   * error when the receiver reads nothing for `stallMs`.
   * @throws the errors of the memory budget, and of reading the first piece, before anything is sent
   */
  readonly body: (range?: ByteRange) => Promise<Readable>;
};

/** Reads the whole file. @returns its SHA-256 in hex */
export async function sha256OfFile(file: Pick<StoredFile, "stretches">): Promise<string> {
  const hash = createHash("sha256");
  for await (const stretch of file.stretches()) hash.update(stretch);
  return hash.digest("hex");
}

export const wholeOf = (length: number): ByteRange => ({ first: 0, last: length - 1 });

/** The memory that one stream reserves: for the piece just read, the pieces in the send buffer, and the next piece. */
const bytesOfBody = 512 * 1024;

/**
 * The time within which a receiver must accept 64 KiB. Uploads have the same limit for their first 64 KiB. A slower
 * connection is closed, because it would occupy memory that others need.
 */
const usualStallMs = 30_000;

export type BodyFrame = { memory: MemoryBudget; holder: Holder; stallMs?: number };

type Parts = { pieces: (range: ByteRange) => AsyncIterable<Buffer>; stretches?: StoredFile["stretches"] };

export function storedFile(
  { memory, holder, stallMs = usualStallMs }: BodyFrame,
  length: number,
  { pieces, stretches = () => pieces(wholeOf(length)) }: Parts,
): StoredFile {
  return {
    length,
    pieces: (range = wholeOf(length)) => pieces(range),
    stretches,
    body: (range = wholeOf(length)) => streamOf({ memory, holder, stallMs }, pieces(range)),
  };
}

async function streamOf(
  { memory, holder, stallMs = usualStallMs }: BodyFrame,
  pieces: AsyncIterable<Buffer>,
): Promise<Readable> {
  const release = await memory.reserve(holder, bytesOfBody);
  const source = pieces[Symbol.asyncIterator]();
  try {
    return new Body(source, await source.next(), stallMs, release);
  } catch (error) {
    release();
    throw error;
  }
}

/** Joins several files into one. */
export function joinedFile(frame: BodyFrame, files: readonly StoredFile[]): StoredFile {
  const length = files.reduce((sum, file) => sum + file.length, 0);
  return storedFile(frame, length, {
    async *pieces({ first, last }) {
      let start = 0;
      for (const file of files) {
        const own = { first: Math.max(0, first - start), last: Math.min(file.length - 1, last - start) };
        if (own.first <= own.last) yield* file.pieces(own);
        start += file.length;
      }
    },
    async *stretches() {
      for (const file of files) yield* file.stretches();
    },
  });
}

/**
 * Returns the same file with other errors. A failed read throws the error that `replace` makes of the original error.
 */
export function withReadErrors(
  frame: BodyFrame,
  file: StoredFile,
  replace: (error: unknown) => Promise<unknown>,
): StoredFile {
  async function* replacing(pieces: AsyncIterable<Buffer>) {
    try {
      yield* pieces;
    } catch (error) {
      throw await replace(error);
    }
  }
  return storedFile(frame, file.length, {
    pieces: (range) => replacing(file.pieces(range)),
    stretches: () => replacing(file.stretches()),
  });
}

/** Makes a stored file of bytes that are already in memory. */
export const heldFile = (frame: BodyFrame, bytes: Buffer): StoredFile =>
  storedFile(frame, bytes.length, {
    async *pieces({ first, last }) {
      yield bytes.subarray(first, last + 1);
    },
  });

/** A stream that holds one piece at a time: it reads the next piece only when the previous one has been sent. */
class Body extends Readable {
  readonly #source: AsyncIterator<Buffer>;
  readonly #stallMs: number;
  readonly #release: () => void;
  #first: IteratorResult<Buffer> | null;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: AsyncIterator<Buffer>, first: IteratorResult<Buffer>, stallMs: number, release: () => void) {
    super({ highWaterMark: 0 });
    this.#source = source;
    this.#first = first;
    this.#stallMs = stallMs;
    this.#release = release;
    // When a client disconnects, the stream ends with an error. Without a listener, the error would end the process.
    this.on("error", () => {});
    this.#wait();
  }

  #wait(): void {
    const end = () => this.destroy(new Error(`a reader took nothing for ${this.#stallMs} ms`));
    this.#timer = setTimeout(end, this.#stallMs).unref();
  }

  override _read(): void {
    clearTimeout(this.#timer);
    void this.#next();
  }

  async #next(): Promise<void> {
    try {
      let { done, value } = this.#first ?? (await this.#source.next());
      this.#first = null;
      // An empty piece would stall the stream, so it is skipped.
      while (!done && value.length === 0) ({ done, value } = await this.#source.next());
      if (this.destroyed) return;
      if (!done) this.#wait();
      this.push(done ? null : value);
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer);
    this.#first = null;
    this.#release();
    void this.#source.return?.();
    done(error);
  }
}
