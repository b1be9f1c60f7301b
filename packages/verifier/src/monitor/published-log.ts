import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { EvidenceError } from "@signsealship/evidence/errors";
import {
  type Checkpoint,
  consistencyRanges,
  emptyRoot,
  foldNodes,
  hashInTile,
  hashLength,
  type LeafRange,
  nodeMessage,
  parseBundle,
  perfectNodes,
  placeOfNode,
  tilePath,
  tileWidth,
  widthAt,
} from "@signsealship/evidence/log";
import type { Fetch } from "../url/fetch-bounded.ts";

/** Thrown when a log can't be read, so that no statement about its honesty is possible. */
export class LogUnreadable extends Error {}

/**
 * Reads a file of a log by its path below the log's URL or folder; null when the file does not exist.
 * @throws LogUnreadable when the file can't be read
 */
export type ReadLog = (path: string) => Promise<Uint8Array | null>;

export const sha256 = (bytes: Uint8Array): Uint8Array => hash("sha256", bytes, "buffer");
export const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(nodeMessage(left, right));

const maxBytes = 256 * 1024;
const maxTries = 4;
const maxWaitSeconds = 60;

/** Reads a log at a URL, or its copy in a folder. */
export const openPublishedLog = (from: string, fetch: Fetch): ReadLog =>
  /^https?:\/\//i.test(from) ? readUrl(from.replace(/\/+$/, ""), fetch) : readFolder(from);

const readFolder =
  (folder: string): ReadLog =>
  async (path) => {
    try {
      return await readFile(join(folder, path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
      throw new LogUnreadable(`${join(folder, path)} cannot be read`, { cause: error });
    }
  };

/**
 * Returns a function that reads a log's files from a server. If the server is busy (429) or fails (5xx), the request is
 * repeated after a pause.
 */
function readUrl(prefix: string, fetch: Fetch): ReadLog {
  const read = async (path: string, tries: number): Promise<Uint8Array | null> => {
    const url = `${prefix}/${path}`;
    const { status, bytes, waitSeconds } = await get(url, fetch);
    if (status === 200) return bytes;
    if (status === 404) return null;
    if (tries >= maxTries || (status !== 429 && status < 500)) throw new LogUnreadable(`${url} answered ${status}`);
    await delay(1000 * (waitSeconds ?? tries));
    return read(path, tries + 1);
  };
  return (path) => read(path, 1);
}

async function get(url: string, fetch: Fetch) {
  try {
    const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(30_000) });
    const bytes = response.status === 200 ? await bounded(response, url) : new Uint8Array(0);
    if (response.status !== 200) await response.body?.cancel();
    const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
    const waitSeconds = Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), maxWaitSeconds) : null;
    return { status: response.status, bytes, waitSeconds };
  } catch (error) {
    if (error instanceof LogUnreadable) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new LogUnreadable(`${url}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause: error });
  }
}

async function bounded(response: Response, url: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw new LogUnreadable(`${url} answered with more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

/**
 * Thrown when the published files contradict the checkpoint that the log's key signed. The message is a sentence about
 * the contradiction.
 */
export class LogBroken extends Error {}

/** A checkpoint, and the signed note that it was read from. */
type NewestCheckpoint = Checkpoint & { readonly signed: string };

/** The tree to which a log's newest checkpoint commits. The hashes of the tree are read from the published tiles. */
export class PublishedTree {
  private readonly read: ReadLog;
  readonly checkpoint: NewestCheckpoint;
  private readonly tiles = new Map<string, Uint8Array>();

  constructor(read: ReadLog, checkpoint: NewestCheckpoint) {
    this.read = read;
    this.checkpoint = checkpoint;
  }

  /**
   * The entries of a bundle.
   * @throws LogBroken for a bundle that is missing or unreadable
   */
  async bundle(n: number): Promise<Uint8Array[]> {
    const width = widthAt({ level: "entries", n }, this.checkpoint.size);
    const path = tilePath({ level: "entries", n, width });
    const entries = entriesOf(await this.required(path), path);
    if (entries.length !== width) throw new LogBroken(`${path} has ${entries.length} entries`);
    return entries;
  }

  /**
   * Reads a tile of hashes.
   * @throws LogBroken for a tile that is missing or has a wrong length
   */
  async tile(level: number, n: number): Promise<Uint8Array> {
    const width = widthAt({ level, n }, this.checkpoint.size);
    const path = tilePath({ level, n, width });
    const cached = this.tiles.get(path);
    if (cached) return cached;
    const tile = await this.required(path);
    if (tile.length !== width * hashLength) throw new LogBroken(`${path} has ${tile.length} bytes`);
    this.tiles.set(path, tile);
    return tile;
  }

  /** The root of the first `size` entries, computed from the tiles. */
  async rootAt(size: number): Promise<Uint8Array> {
    return (await this.hashOf({ start: 0, end: size })) ?? (await emptyRoot());
  }

  /** The consistency proof between the tree of the first `size` entries and the whole tree, from the tiles. */
  async consistencyFrom(size: number): Promise<Uint8Array[]> {
    const hashes: Uint8Array[] = [];
    for (const range of consistencyRanges(size, this.checkpoint.size)) {
      const hash = await this.hashOf(range);
      if (hash) hashes.push(hash);
    }
    return hashes;
  }

  private async hashOf(range: LeafRange): Promise<Uint8Array | null> {
    const hashes: Uint8Array[] = [];
    for (const node of perfectNodes(range)) {
      const { level, n, first, count } = placeOfNode(node);
      const tile = await this.tile(level, n);
      hashes.push(rootOfLevel(Array.from({ length: count }, (_, i) => hashInTile(tile, first + i))));
    }
    return foldNodes(hashes, nodeHash);
  }

  private async required(path: string): Promise<Uint8Array> {
    const bytes = await this.read(path);
    if (!bytes) throw new LogBroken(`${path} is missing`);
    return bytes;
  }
}

/** The root of the tree over these hashes. The number of hashes must be a power of two. */
export function rootOfLevel(hashes: readonly Uint8Array[]): Uint8Array {
  let level = [...hashes];
  while (level.length > 1)
    level = Array.from({ length: level.length / 2 }, (_, i) =>
      nodeHash(level[2 * i] ?? new Uint8Array(0), level[2 * i + 1] ?? new Uint8Array(0)),
    );
  return level[0] ?? new Uint8Array(0);
}

function entriesOf(bytes: Uint8Array, path: string): Uint8Array[] {
  try {
    return parseBundle(bytes);
  } catch (error) {
    if (error instanceof EvidenceError) throw new LogBroken(`${path}: ${error.message}`);
    throw error;
  }
}

/** The number of bundles that contain the entries of a tree. */
export const bundlesOf = (size: number): number => Math.ceil(size / tileWidth);
