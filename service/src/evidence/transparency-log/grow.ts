import { hash } from "node:crypto";
import { EvidenceError } from "@signsealship/evidence/errors";
import {
  appendToEdge,
  bundledEntry,
  consistencyRanges,
  type EdgeNode,
  foldNodes,
  hashesAt,
  hashInTile,
  hashLength,
  type LeafRange,
  leafMessage,
  parseBundle,
  perfectNodes,
  placeOfNode,
  type TreeNode,
  tilesOf,
  tileWidth,
  verifyConsistency,
} from "@signsealship/evidence/log";
import type { StoredTile } from "./store.ts";

/** An error that halts a log: its stored or computed data are inconsistent, so it must not grow. */
export class LogHalt extends Error {}

const sha256 = (bytes: Uint8Array): Buffer => hash("sha256", bytes, "buffer");

// A buffer for the hash input of an inner node: its prefix (RFC 6962, section 2.1) and two hashes. It is reused,
// because a batch hashes tens of thousands of nodes, and a new buffer costs as much as a hash.
const nodeInput = Buffer.alloc(1 + 2 * hashLength, 1);

export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + hashLength);
  return sha256(nodeInput);
}

export const leafHash = (entry: Uint8Array): Buffer => sha256(leafMessage(entry));

export const emptyRoot = sha256(new Uint8Array(0));

/** The root over some hashes of one level. The number of hashes must be a power of two. */
function rootOfLevel(hashes: readonly Uint8Array[]): Uint8Array {
  let level = [...hashes];
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let i = 0; i < level.length; i += 2) above.push(nodeHash(part(level, i), part(level, i + 1)));
    level = above;
  }
  return part(level, 0);
}

function part(hashes: readonly Uint8Array[], place: number): Uint8Array {
  const found = hashes[place];
  if (found?.length !== hashLength) throw new LogHalt("a hash of the tree is missing");
  return found;
}

/** The root over the hashes of a full tile. */
export const rootOfTile = (hashes: Buffer): Uint8Array =>
  rootOfLevel(Array.from({ length: tileWidth }, (_, i) => hashInTile(hashes, i)));

export const nameOf = ({ level, n }: Pick<StoredTile, "level" | "n">): string => `${level}/${n}`;

export const byPlace = <Tile extends HashTile>(tiles: readonly Tile[]): Map<string, Tile> =>
  new Map(tiles.map((tile) => [nameOf(tile), tile]));

/**
 * A tile without its entries. `nodes`: the inner nodes over the tile's hashes, if they were computed before
 * (`nodesOfTile`).
 */
export type HashTile = Pick<StoredTile, "level" | "n" | "hashes"> & { nodes?: Buffer };

/** The index in `nodes` of the first node that covers `count` hashes. `count` is a power of two from 2 to 128. */
const firstNode = (count: number): number => tileWidth - (2 * tileWidth) / count;

/**
 * Computes the inner nodes of a tile below its root: first 128 nodes over two hashes each, then 64 over four, and so
 * on.
 */
export function nodesOfTile(hashes: Buffer): Buffer {
  const nodes = Buffer.alloc((tileWidth - 2) * hashLength);
  let below = hashes;
  for (let count = 2; count < tileWidth; count *= 2) {
    const row = nodes.subarray(firstNode(count) * hashLength, firstNode(count * 2) * hashLength);
    for (let i = 0; (i + 1) * count * hashLength <= hashes.length; i++)
      row.set(nodeHash(hashInTile(below, 2 * i), hashInTile(below, 2 * i + 1)), i * hashLength);
    below = row;
  }
  return nodes;
}

/**
 * The hash of a range of leaves.
 * @throws LogHalt when a tile of the range is missing
 */
export function hashOfRange(tiles: ReadonlyMap<string, HashTile>, range: LeafRange): Uint8Array {
  return (
    foldNodes(
      perfectNodes(range).map((node) => hashOfNode(tiles, node)),
      nodeHash,
    ) ?? emptyRoot
  );
}

function hashOfNode(tiles: ReadonlyMap<string, HashTile>, node: TreeNode): Uint8Array {
  const { first, count, ...place } = placeOfNode(node);
  const tile = tiles.get(nameOf(place));
  if (!tile) throw new LogHalt(`tile ${nameOf(place)} is missing`);
  if (tile.nodes && count > 1 && (first + count) * hashLength <= tile.hashes.length)
    return hashInTile(tile.nodes, firstNode(count) + first / count);
  return rootOfLevel(Array.from({ length: count }, (_, i) => hashInTile(tile.hashes, first + i)));
}

/** The positions of the tiles on the right edge of a tree, which a batch extends. */
export function edgePlaces(size: number): { level: number; n: number }[] {
  const places = tilesOf([{ start: 0, end: size }]);
  return places.filter(({ level, n }) => hashesAt(level, size) > n * tileWidth);
}

export type Grown = { size: number; root: Buffer; tiles: StoredTile[] };

/**
 * Appends lines to a tree. The stored edge must lead to the stored root. The new tiles and the old edge must give the
 * same new root. In addition, the verifier must accept the proof that the new tree extends the old one.
 * @param edge the stored tiles on the right edge
 * @throws LogHalt when a check fails; without the checks, one flipped bit could make the log unusable forever
 */
export async function grow(
  tree: { size: number; root: Buffer },
  edge: readonly StoredTile[],
  lines: readonly string[],
): Promise<Grown> {
  const tiles = byPlace(edge);
  checkEdge(tree, tiles);
  const nodes: EdgeNode[] = perfectNodes({ start: 0, end: tree.size }).map((node) => ({
    level: node.level,
    hash: hashOfNode(tiles, node),
  }));
  const writer = writerOf(tiles, tree.size);
  for (const line of lines) {
    const entry = Buffer.from(line);
    writer.append(entry);
    appendToEdge(nodes, leafHash(entry), nodeHash);
  }
  const changed = writer.finish();
  for (const tile of changed) tiles.set(nameOf(tile), tile);
  const size = tree.size + lines.length;
  const root = hashOfRange(tiles, { start: 0, end: size });
  const other = foldNodes(
    nodes.map((node) => node.hash),
    nodeHash,
  );
  if (other === null || !sameBytes(root, other)) throw new LogHalt("the new root differs between two computations");
  const proof = consistencyRanges(tree.size, size).map((range) => hashOfRange(tiles, range));
  const states = { oldSize: tree.size, oldRoot: tree.root, size, root };
  if (!(await verifyConsistency({ ...states, proof }, nodeHash)))
    throw new LogHalt("the new tree does not begin with the old one");
  return { size, root: Buffer.from(root), tiles: changed };
}

/**
 * Checks that the tiles lead to the root. If the last bundle of entries is not full, also recomputes its entries'
 * hashes from their bytes.
 */
function checkEdge({ size, root }: { size: number; root: Buffer }, tiles: ReadonlyMap<string, StoredTile>): void {
  if (!sameBytes(hashOfRange(tiles, { start: 0, end: size }), root))
    throw new LogHalt(`the tiles do not lead to the stored root of ${size} entries`);
  const last = tiles.get(nameOf({ level: 0, n: Math.floor(size / tileWidth) }));
  const width = size % tileWidth;
  if (width === 0) return;
  const entries = entriesOf(last);
  const hashes = Buffer.concat(entries.map(leafHash));
  if (entries.length !== width || !last || !sameBytes(hashes, last.hashes))
    throw new LogHalt("the entries of the last bundle are not those of its hashes");
}

/** The entries of a tile; an empty list for a bundle that can't be read. */
function entriesOf(tile: StoredTile | undefined): Uint8Array[] {
  try {
    return parseBundle(tile?.entries ?? Buffer.alloc(0));
  } catch (error) {
    if (error instanceof EvidenceError) return [];
    throw error;
  }
}

/**
 * Returns a writer that appends entries to a tree of `size` entries. On each level, the writer first fills the last
 * tile if that tile is incomplete. `tiles` must contain these incomplete tiles.
 */
function writerOf(tiles: ReadonlyMap<string, StoredTile>, size: number) {
  const open = new Map<number, { n: number; hashes: Uint8Array[]; entries: Uint8Array[] }>();
  const changed: StoredTile[] = [];
  const at = (level: number) => {
    const cached = open.get(level);
    if (cached) return cached;
    const count = hashesAt(level, size);
    const n = Math.floor(count / tileWidth);
    const stored = count % tileWidth > 0 ? tiles.get(nameOf({ level, n })) : undefined;
    const hashes = Array.from({ length: count % tileWidth }, (_, i) => hashInTile(stored?.hashes ?? emptyRoot, i));
    const entries: Uint8Array[] = stored?.entries ? [stored.entries] : [];
    const opened = { n, hashes, entries };
    open.set(level, opened);
    return opened;
  };
  const close = (level: number, { n, hashes, entries }: ReturnType<typeof at>) =>
    changed.push({ level, n, hashes: Buffer.concat(hashes), entries: level === 0 ? Buffer.concat(entries) : null });
  const put = (level: number, added: Uint8Array) => {
    const tile = at(level);
    tile.hashes.push(added);
    if (tile.hashes.length < tileWidth) return;
    close(level, tile);
    open.set(level, { n: tile.n + 1, hashes: [], entries: [] });
    put(level + 1, rootOfLevel(tile.hashes));
  };
  return {
    append(entry: Uint8Array) {
      at(0).entries.push(bundledEntry(entry));
      put(0, leafHash(entry));
    },
    finish(): StoredTile[] {
      for (const [level, tile] of open) if (tile.hashes.length > 0) close(level, tile);
      return changed;
    },
  };
}

const sameBytes = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
