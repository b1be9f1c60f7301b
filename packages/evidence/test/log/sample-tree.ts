import { createPrivateKey, hash, sign } from "node:crypto";
import {
  checkpointText,
  consistencyRanges,
  formatCheckpoint,
  inclusionRanges,
  type LeafRange,
  leafMessage,
  nodeMessage,
  noteKeyOf,
} from "../../src/log/log.ts";

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(hash("sha256", bytes, "buffer"));

export const hashOfLeaf = (entry: Uint8Array): Uint8Array => sha256(leafMessage(entry));
export const hashOfNode = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(nodeMessage(left, right));

/** MTH of RFC 6962, section 2.1, as it is written there. */
export function rootOf(leaves: readonly Uint8Array[]): Uint8Array {
  const [first] = leaves;
  if (!first) return sha256(new Uint8Array(0));
  if (leaves.length === 1) return first;
  const middle = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return hashOfNode(rootOf(leaves.slice(0, middle)), rootOf(leaves.slice(middle)));
}

const rangeRoot =
  (leaves: readonly Uint8Array[]) =>
  ({ start, end }: LeafRange) =>
    rootOf(leaves.slice(start, end));

export const inclusionOf = (leaves: readonly Uint8Array[], index: number): Uint8Array[] =>
  inclusionRanges(index, leaves.length).map(rangeRoot(leaves));

export const consistencyOf = (leaves: readonly Uint8Array[], oldSize: number): Uint8Array[] =>
  consistencyRanges(oldSize, leaves.length).map(rangeRoot(leaves));

/** An Ed25519 key of a seed, in PKCS#8. */
const keyOfSeed = (seed: number) =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, seed)]),
    format: "der",
    type: "pkcs8",
  });

/** A log with a key of its own that signs whatever it is told. */
export async function sampleLog(origin: string, seed: number) {
  const privateKey = keyOfSeed(seed);
  const x = Buffer.from(privateKey.export({ format: "jwk" }).x ?? "", "base64url");
  const key = await noteKeyOf(origin, new Uint8Array(x));
  const signed = (size: number, root: Uint8Array) => {
    const checkpoint = { origin, size, root };
    return formatCheckpoint(checkpoint, key, sign(null, Buffer.from(checkpointText(checkpoint)), privateKey));
  };
  return { key, signed };
}
