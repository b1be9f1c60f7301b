import { formatLogProof, formatNoteKey } from "../../../src/log/log.ts";
import type { LogVector } from "../log-vectors.ts";
import { hashOfLeaf, inclusionOf, rootOf, sampleLog } from "../sample-tree.ts";
import { key, leaves, live, note, proof, stranger } from "./sample.ts";

/** Test vectors of the checkpoints in seals. The line of the seal is entry 5 of 11. */
export const carriedVectors: LogVector[] = [];

const elsewhere = await sampleLog("other.example/log/live", 7);
const logs = [
  { environment: "live", key },
  { environment: "live", key: formatNoteKey(elsewhere.key) },
] as const;
const others = leaves.map((leaf, i) => (i === 0 ? hashOfLeaf(Buffer.from("another")) : leaf));
const stateOf = (size: number, of = leaves, by = live) => by.signed(size, rootOf(of.slice(0, size)));
const sealedAt = Date.UTC(2026, 0, 2);
const day = 24 * 3600_000;

const add = (name: string, claims: Record<string, string>, more: Partial<LogVector>): void => {
  const expect = Object.values(claims).every((state) => state === "holds") ? "accepted" : "refused";
  const given = { environment: "live", logs, carried: stateOf(5), claimedTime: sealedAt, stampedTime: sealedAt } as const;
  carriedVectors.push({ name: `carried: ${name}`, kind: "carried", ...given, ...more, claims, expect });
};
const holds = { log_carried: "holds", log_sandwich: "holds" };
const alone = { log_carried: "holds" };
const fails = { log_carried: "fails" };

add("without a log proof", alone, {});
add("a trusted log's, where none is trusted", { log_carried: "unchecked" }, { logs: [] });
add("not a text", fails, { carried: null });
add("not a note", fails, { carried: "sign.example.com" });
add("a stranger's", fails, { carried: stateOf(5, leaves, stranger) });
add("of the other environment", fails, { environment: "test" });
add("a log proof that can't be read", alone, { text: "c2sp.org/tlog-proof@v1\n" });
add("a log proof whose checkpoint can't be read", alone, { text: proof.replace("\n11\n", "\n011\n") });
add("the state before the line", holds, { text: proof });
add("an older state", holds, { text: proof, carried: stateOf(3) });
add("the empty tree", holds, { text: proof, carried: stateOf(0) });
const ofFirst = formatLogProof({ extra: null, index: 0, hashes: inclusionOf(leaves, 0), checkpoint: note });
add("the empty tree before the first line", holds, { text: ofFirst, carried: stateOf(0) });
add("another root of the empty tree before the first line", { ...fails, log_sandwich: "unchecked" }, { text: ofFirst, carried: live.signed(0, rootOf(leaves)) });
add("another history before the line", { ...fails, log_sandwich: "unchecked" }, { text: proof, carried: stateOf(5, others) });
add("another root of the proof's size", { log_carried: "fails", log_sandwich: "fails" }, { text: proof, carried: stateOf(11, others) });
add("a state that is newer than the line", { ...holds, log_sandwich: "fails" }, { text: proof, carried: stateOf(6) });
add("the state of the proof itself", { ...holds, log_sandwich: "fails" }, { text: proof, carried: note });
const foreign = formatLogProof({ extra: null, index: 1, hashes: inclusionOf(leaves, 1), checkpoint: stateOf(11, leaves, elsewhere) });
add("a proof of another log", alone, { text: foreign });
add("stamped after a day", holds, { text: proof, stampedTime: sealedAt + day });
add("stamped after more than a day", { ...holds, log_sandwich: "fails" }, { text: proof, stampedTime: sealedAt + day + 1 });
add("a proof, where no log is trusted", { log_carried: "unchecked", log_sandwich: "unchecked" }, { text: proof, logs: [] });
add("a stranger's state and a proof", { ...fails, log_sandwich: "unchecked" }, { text: proof, carried: stateOf(5, leaves, stranger) });
add("never stamped", { ...holds, log_sandwich: "unchecked" }, { text: proof, stampedTime: null });
add("without a stated time", { ...holds, log_sandwich: "unchecked" }, { text: proof, claimedTime: null });
