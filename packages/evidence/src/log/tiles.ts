import { concatBytes } from "../bytes.ts";
import { EvidenceError } from "../errors.ts";
import { hashLength, type LeafRange, perfectNodes, type TreeNode } from "./tree.ts";

/** The number of hashes in a full tile of C2SP tlog-tiles, and of entries in a full bundle. */
export const tileWidth = 256;
const tileHeight = 8;

/**
 * Tile `n` of the hashes at tree level `8 * level`, or of the entries. `width` is how many of its 256 positions are
 * filled.
 */
export type Tile = { readonly level: number | "entries"; readonly n: number; readonly width: number };

/** The path of a tile, relative to the log's prefix. */
export function tilePath({ level, n, width }: Tile): string {
  const groups = [String(n % 1000).padStart(3, "0")];
  for (let rest = Math.floor(n / 1000); rest > 0; rest = Math.floor(rest / 1000))
    groups.unshift(`x${String(rest % 1000).padStart(3, "0")}`);
  return `tile/${level}/${groups.join("/")}${width === tileWidth ? "" : `.p/${width}`}`;
}

const pathForm = /^tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,4}[0-9]{3})(?:\.p\/([0-9]{1,3}))?$/;

/** Parses the path of a tile. Null for any other text, and for a path that is not in the normal form. */
export function parseTilePath(path: string): Tile | null {
  const [, level = "", groups = "", width] = pathForm.exec(path) ?? [];
  if (level === "") return null;
  const tile: Tile = {
    level: level === "entries" ? level : Number(level),
    n: Number(groups.replaceAll(/[x/]/g, "")),
    width: width === undefined ? tileWidth : Number(width),
  };
  const isTile =
    (tile.level === "entries" || tile.level < 64) &&
    tile.width > 0 &&
    tile.width <= tileWidth &&
    tilePath(tile) === path;
  return isTile ? tile : null;
}

/** The number of hashes at a tile level of a tree. */
export function hashesAt(level: number, size: number): number {
  let count = size;
  for (let i = 0; i < level; i++) count = Math.floor(count / tileWidth);
  return count;
}

/** The number of hashes or entries in a tile when the tree has this size. */
export const widthAt = ({ level, n }: Pick<Tile, "level" | "n">, size: number): number =>
  Math.max(0, Math.min(tileWidth, hashesAt(level === "entries" ? 0 : level, size) - n * tileWidth));

/**
 * The position of a perfect subtree: the tile, and the range of hashes in it from which the subtree's hash is computed.
 */
export function placeOfNode({ level, index }: TreeNode) {
  const tileLevel = Math.floor(level / tileHeight);
  const count = 2 ** (level % tileHeight);
  const first = index * count;
  return { level: tileLevel, n: Math.floor(first / tileWidth), first: first % tileWidth, count };
}

/** The tiles whose hashes are needed to compute the hash of each range. Each tile is listed once. */
export function tilesOf(ranges: readonly LeafRange[]): { level: number; n: number }[] {
  const tiles = new Map<string, { level: number; n: number }>();
  for (const node of ranges.flatMap(perfectNodes)) {
    const { level, n } = placeOfNode(node);
    tiles.set(`${level}/${n}`, { level, n });
  }
  return [...tiles.values()];
}

const lengthBytes = 2;
const maxEntryBytes = 0xffff;

/**
 * An entry as a bundle contains it: its length in two bytes, big-endian, then its bytes.
 * @throws EvidenceError `limit`
 */
export function bundledEntry(entry: Uint8Array): Uint8Array {
  if (entry.length > maxEntryBytes) throw new EvidenceError("limit", "an entry is at most 65535 bytes");
  return concatBytes([Uint8Array.of(entry.length >> 8, entry.length & 0xff), entry]);
}

/**
 * The entries of a bundle.
 * @throws EvidenceError `log` for a bundle that is cut short, or that has more than 256 entries
 */
export function parseBundle(bundle: Uint8Array): Uint8Array[] {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bundle.length; ) {
    const [high = 0, low] = bundle.subarray(at, at + lengthBytes);
    const start = at + lengthBytes;
    const end = start + high * 256 + (low ?? 0);
    if (low === undefined || end > bundle.length) throw new EvidenceError("log", "the bundle of entries is cut short");
    if (entries.length === tileWidth) throw new EvidenceError("log", "the bundle has more than 256 entries");
    entries.push(bundle.subarray(start, end));
    at = end;
  }
  return entries;
}

/** The hash at an index in a tile of hashes. */
export const hashInTile = (tile: Uint8Array, place: number): Uint8Array =>
  tile.subarray(place * hashLength, (place + 1) * hashLength);
