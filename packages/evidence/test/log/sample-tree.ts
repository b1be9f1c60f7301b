import { createHash, createPrivateKey, hash, type KeyObject, sign } from "node:crypto";
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

/** The Merkle tree hash of RFC 6962, section 2.1, written exactly as the RFC defines it. */
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

/** An Ed25519 key from a seed, in PKCS#8. */
const keyOfSeed = (seed: number) =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, seed)]),
    format: "der",
    type: "pkcs8",
  });

const publicOf = (key: KeyObject): Buffer => Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");

/** A witness that cosigns every checkpoint. Its caller chooses the time that the cosignature states, in seconds. */
export function sampleWitness(name: string, seed: number) {
  const privateKey = keyOfSeed(seed);
  const bytes = Buffer.concat([Buffer.of(4), publicOf(privateKey)]);
  const id = createHash("sha256").update(`${name}\n`).update(bytes).digest().subarray(0, 4);
  const lineOf = (at: bigint, message: string): string => {
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(at);
    const signature = sign(null, Buffer.from(message), privateKey);
    return `\u2014 ${name} ${Buffer.concat([id, time, signature]).toString("base64")}\n`;
  };
  const textOf = (note: string): string => note.slice(0, note.lastIndexOf("\n\n") + 1);
  /** The line of a cosignature over a checkpoint. */
  const cosigned = (note: string, at: bigint): string => lineOf(at, `cosignature/v1\ntime ${at}\n${textOf(note)}`);
  /** A line whose signature is over the checkpoint's text, but not over the time. */
  const signedText = (note: string, at: bigint): string => lineOf(at, textOf(note));
  return { key: `${name}+${id.toString("hex")}+${bytes.toString("base64")}`, cosigned, signedText };
}

/** A log with its own key that signs every checkpoint. */
export async function sampleLog(origin: string, seed: number) {
  const privateKey = keyOfSeed(seed);
  const key = await noteKeyOf(origin, new Uint8Array(publicOf(privateKey)));
  /** Signs a checkpoint. `extensions` are more lines of its text, each with its line feed. */
  const signed = (size: number, root: Uint8Array, extensions = "") => {
    const checkpoint = { origin, size, root };
    const signature = sign(null, Buffer.from(checkpointText(checkpoint) + extensions), privateKey);
    return formatCheckpoint(checkpoint, key, signature).replace("\n\n", `\n${extensions}\n`);
  };
  return { key, signed };
}
