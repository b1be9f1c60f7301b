import { concatBytes, equalBytes } from "../bytes.ts";
import { sha256 } from "../digest.ts";

// Merkle trees of RFC 6962, section 2.1. Sizes and indices are below 2^53. The code divides and never shifts, because
// JavaScript's bit operators truncate to 32 bits.

export const hashLength = 32;

/** Limit of the hashes in an inclusion proof. In a tree with fewer than 2^63 leaves, no proof is longer. */
export const maxProofHashes = 63;

/** The leaves from `start` to `end`, without `end`. */
export type LeafRange = { readonly start: number; readonly end: number };

/** A perfect subtree: 2^level leaves, starting with leaf `index * 2^level`. */
export type TreeNode = { readonly level: number; readonly index: number };

/**
 * Computes the hash of the node above two subtrees. It is synchronous, because that is several times faster when a tree
 * is built.
 */
export type NodeHash = (left: Uint8Array, right: Uint8Array) => Uint8Array;

/** The bytes whose SHA-256 is the hash of a leaf. */
export const leafMessage = (entry: Uint8Array): Uint8Array => concatBytes([Uint8Array.of(0), entry]);

/** The bytes whose SHA-256 is the hash of an inner node. */
export const nodeMessage = (left: Uint8Array, right: Uint8Array): Uint8Array =>
  concatBytes([Uint8Array.of(1), left, right]);

export const leafHash = (entry: Uint8Array): Promise<Uint8Array> => sha256(leafMessage(entry));

const nodeHash = (left: Uint8Array, right: Uint8Array): Promise<Uint8Array> => sha256(nodeMessage(left, right));

/** The largest power of two below `size`. `size` is at least 2. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/**
 * The ranges of leaves whose hashes prove that a leaf is in the tree, from the leaf up to the root. RFC 6962, section
 * 2.1.1.
 */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  const ranges: LeafRange[] = [];
  let start = 0;
  let end = size;
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    if (index < middle) {
      ranges.unshift({ start: middle, end });
      end = middle;
    } else {
      ranges.unshift({ start, end: middle });
      start = middle;
    }
  }
  return ranges;
}

/**
 * The ranges of leaves whose hashes prove that a tree begins with the leaves of an older one. RFC 6962, section 2.1.2.
 */
export function consistencyRanges(oldSize: number, size: number): LeafRange[] {
  if (oldSize === 0 || oldSize === size) return [];
  const ranges: LeafRange[] = [];
  let start = 0;
  let end = size;
  while (oldSize < end) {
    const middle = start + splitOf(end - start);
    if (oldSize <= middle) {
      ranges.unshift({ start: middle, end });
      end = middle;
    } else {
      ranges.unshift({ start, end: middle });
      start = middle;
    }
  }
  // If the remaining range starts at leaf 0, it is the older tree itself. The proof leaves it out, because the verifier
  // already has the older root.
  return start === 0 ? ranges : [{ start, end }, ...ranges];
}

/** The perfect subtrees that make up a range of leaves, left to right. */
export function perfectNodes({ start, end }: LeafRange): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let at = start; at < end; ) {
    let level = 0;
    let width = 1;
    while (width * 2 <= end - at) {
      width *= 2;
      level += 1;
    }
    nodes.push({ level, index: at / width });
    at += width;
  }
  return nodes;
}

/** One of the perfect subtrees that make up a growing tree. */
export type EdgeNode = { readonly level: number; readonly hash: Uint8Array };

/** Appends a leaf to a tree, which is given as its perfect subtrees from left to right. */
export function appendToEdge(edge: EdgeNode[], leaf: Uint8Array, hashOf: NodeHash): void {
  let added: EdgeNode = { level: 0, hash: leaf };
  for (let last = edge.at(-1); last?.level === added.level; last = edge.at(-1)) {
    edge.pop();
    added = { level: added.level + 1, hash: hashOf(last.hash, added.hash) };
  }
  edge.push(added);
}

/** The hash over perfect subtrees, left to right; null when the list is empty. */
export function foldNodes(hashes: readonly Uint8Array[], hashOf: NodeHash): Uint8Array | null {
  return hashes.reduceRight<Uint8Array | null>((right, left) => (right ? hashOf(left, right) : left), null);
}

/** Like `foldNodes`, but with the asynchronous SHA-256 of Web Crypto. */
export async function rootOfParts(hashes: readonly Uint8Array[]): Promise<Uint8Array | null> {
  let root: Uint8Array | null = null;
  for (const left of hashes.toReversed()) root = root ? await nodeHash(left, root) : left;
  return root;
}

/** The root of the tree without leaves. */
export const emptyRoot = (): Promise<Uint8Array> => sha256(new Uint8Array(0));

/** True if the hashes connect a leaf's hash with the root. RFC 9162, section 2.1.3.2. */
export async function verifyInclusion(input: {
  readonly leafHash: Uint8Array;
  readonly index: number;
  readonly size: number;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}): Promise<boolean> {
  const { index, size, proof } = input;
  if (!isCount(index) || !isCount(size) || index >= size) return false;
  const ranges = inclusionRanges(index, size);
  if (ranges.length !== proof.length || !proof.every(isHash)) return false;
  let hash = input.leafHash;
  for (const [i, sibling] of proof.entries()) {
    const isRight = (ranges[i]?.start ?? 0) > index;
    hash = isRight ? await nodeHash(hash, sibling) : await nodeHash(sibling, hash);
  }
  return equalBytes(hash, input.root);
}

/**
 * Verifies that a tree begins with the leaves of an older tree. RFC 9162, section 2.1.4.2.
 * @param hashOf pass a synchronous function for frequent verifications: starting an asynchronous digest costs far more
 * than the digest
 */
export async function verifyConsistency(
  input: {
    readonly oldSize: number;
    readonly oldRoot: Uint8Array;
    readonly size: number;
    readonly root: Uint8Array;
    readonly proof: readonly Uint8Array[];
  },
  hashOf: NodeHash | typeof nodeHash = nodeHash,
): Promise<boolean> {
  const { oldSize, oldRoot, size, root, proof } = input;
  if (!isCount(oldSize) || !isCount(size) || oldSize > size) return false;
  if (oldSize === 0) return proof.length === 0 && equalBytes(oldRoot, await emptyRoot());
  if (oldSize === size) return proof.length === 0 && equalBytes(oldRoot, root);
  const ranges = consistencyRanges(oldSize, size);
  if (ranges.length !== proof.length || !proof.every(isHash)) return false;
  // Starts from the hash of the older tree's last subtree. If the first range ends where the older tree ends, the first
  // hash of the proof is that hash. Otherwise that subtree is the whole older tree, so its hash is `oldRoot`.
  const [first] = ranges;
  const beginsInside = first !== undefined && first.end === oldSize;
  let older = beginsInside ? (proof[0] ?? oldRoot) : oldRoot;
  let newer = older;
  for (const [i, sibling] of proof.entries()) {
    if (beginsInside && i === 0) continue;
    if ((ranges[i]?.start ?? 0) >= oldSize) newer = await hashOf(newer, sibling);
    else {
      older = await hashOf(sibling, older);
      newer = await hashOf(sibling, newer);
    }
  }
  return equalBytes(older, oldRoot) && equalBytes(newer, root);
}

const isHash = (hash: Uint8Array): boolean => hash.length === hashLength;

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
