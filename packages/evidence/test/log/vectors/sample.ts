import { formatLogProof, formatNoteKey, sealEntry } from "../../../src/log/log.ts";
import { hashOfLeaf, inclusionOf, rootOf, sampleLog } from "../sample-tree.ts";

/** The log of the vectors: eleven entries, of which entry 5 is the seal that the proofs are about. */
export const origin = "example.com/log/live";
export const live = await sampleLog(origin, 7);
/** A log with the same origin as `live` but a different key, which nobody trusts by default. */
export const stranger = await sampleLog(origin, 8);
export const key = formatNoteKey(live.key);

const index = 5;
export const entry = sealEntry("3f".repeat(32));
export const lines = Array.from({ length: 11 }, (_, i) =>
  i === index ? entry : sealEntry(String(i).padStart(64, "0")),
);
export const leaves = lines.map((line) => hashOfLeaf(Buffer.from(line)));
export const root = rootOf(leaves);
export const note = live.signed(leaves.length, root);
export const proof = formatLogProof({ extra: null, index, hashes: inclusionOf(leaves, index), checkpoint: note });

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
