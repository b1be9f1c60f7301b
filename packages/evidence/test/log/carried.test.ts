import assert from "node:assert/strict";
import { test } from "node:test";
import { formatLogProof, formatNoteKey, sealEntry, verifyCarried } from "../../src/log/log.ts";
import { hashOfLeaf, inclusionOf, rootOf, sampleLog } from "./sample-tree.ts";

const leaves = Array.from({ length: 11 }, (_, i) => hashOfLeaf(Buffer.from(sealEntry(String(i).padStart(64, "0")))));
const others = leaves.map((leaf, i) => (i === 0 ? hashOfLeaf(Buffer.from("another")) : leaf));
const log = await sampleLog("example.com/log/live", 7);
const stranger = await sampleLog("example.com/log/live", 8);
const elsewhere = await sampleLog("other.example/log/live", 7);
const trusted = [{ environment: "live", key: formatNoteKey(log.key) }] as const;
const at = Date.UTC(2026, 0, 2);
const day = 24 * 3600_000;

const carriedOf = (size: number, of = leaves, by = log) => by.signed(size, rootOf(of.slice(0, size)));
const proofOf = (index: number, size = leaves.length, by = log) => {
  const part = leaves.slice(0, size);
  const checkpoint = by.signed(size, rootOf(part));
  return Buffer.from(formatLogProof({ extra: null, index, hashes: inclusionOf(part, index), checkpoint }));
};

type Input = Parameters<typeof verifyCarried>[0];
async function judged(more: Partial<Input>) {
  const given = { logProof: undefined, environment: "live", logs: trusted, claimedTime: at, stampedTime: at } as const;
  const claims = await verifyCarried({ ...given, carried: carriedOf(5), ...more });
  return Object.fromEntries(claims.map(({ name, state, why }) => [name, `${state}: ${why}`]));
}
const statesOf = async (more: Partial<Input>) =>
  Object.fromEntries(Object.entries(await judged(more)).map(([name, text]) => [name, text.split(":")[0]]));

test("holds when a trusted log signed the checkpoint, and decides nothing about a place without a proof", async () => {
  assert.deepEqual(await statesOf({}), { log_carried: "holds" });
  assert.deepEqual(await statesOf({ logs: [] }), { log_carried: "unchecked" });
  assert.match(
    (await judged({}))["log_carried"] ?? "",
    /^holds: The seal carries a checkpoint\. The log .* first 5 entries\.$/,
  );
  assert.deepEqual(await statesOf({ logProof: Buffer.from("no proof") }), { log_carried: "holds" });
  const unread = Buffer.from(proofOf(5).toString().replace("\n11\n", "\n011\n"));
  assert.deepEqual(await statesOf({ logProof: unread }), { log_carried: "holds" });
});

test("fails for a checkpoint of another key, log or environment, and for an unreadable one", async () => {
  for (const carried of [carriedOf(5, leaves, stranger), carriedOf(5, leaves, elsewhere), "no note", "", null])
    assert.deepEqual(await statesOf({ carried }), { log_carried: "fails" });
  assert.deepEqual(await statesOf({ environment: "test" }), { log_carried: "fails" });
  assert.equal((await judged({ carried: null }))["log_carried"], "fails: The checkpoint in the seal cannot be read.");
});

test("holds for a line between the seal's checkpoint and that of the proof", async () => {
  const both = { log_carried: "holds", log_sandwich: "holds" };
  for (let index = 0; index < leaves.length; index++)
    for (let size = 0; size <= index; size++)
      assert.deepEqual(
        await statesOf({ carried: carriedOf(size), logProof: proofOf(index) }),
        both,
        `${size} ${index}`,
      );
  assert.match(
    (await judged({ carried: carriedOf(3), logProof: proofOf(5) }))["log_sandwich"] ?? "",
    /had 3 entries when the seal was made, and the seal is entry 5, which the log had at 2026-01-02T00:00:00\.000Z as a stamp shows: within a day/,
  );
});

test("fails for another history, when the proof shows the state before the line", async () => {
  for (let index = 1; index < leaves.length; index++) {
    const states = await statesOf({ carried: carriedOf(index, others), logProof: proofOf(index) });
    assert.deepEqual(states, { log_carried: "fails", log_sandwich: "unchecked" }, String(index));
  }
  const wrongEmpty = log.signed(0, rootOf(leaves));
  assert.equal((await statesOf({ carried: wrongEmpty, logProof: proofOf(0) }))["log_carried"], "fails");
  // The log proof shows only the log's state directly before the seal's line. This seal's checkpoint is older, so the
  // proof can't contradict it and the claim holds. Only a monitor can compare the two.
  assert.equal((await statesOf({ carried: carriedOf(3, others), logProof: proofOf(5) }))["log_carried"], "holds");
  assert.match(
    (await judged({ carried: carriedOf(5, others), logProof: proofOf(5) }))["log_carried"] ?? "",
    /another history/,
  );
});

test("decides nothing about a place when no trusted key signed the checkpoint in the seal", async () => {
  const given = { logProof: proofOf(5) };
  const states = await statesOf({ ...given, logs: [] });
  assert.deepEqual(states, { log_carried: "unchecked", log_sandwich: "unchecked" });
  const foreign = await judged({ ...given, carried: carriedOf(5, leaves, stranger) });
  assert.match(foreign["log_sandwich"] ?? "", /^unchecked: Nobody trusted says/);
});

test("fails for a line that is older than its seal, and for two roots of one size", async () => {
  const older = await judged({ carried: carriedOf(6), logProof: proofOf(5) });
  assert.match(older["log_sandwich"] ?? "", /^fails: .* entry 5: its line is older than the seal\.$/);
  const same = await statesOf({ carried: carriedOf(11), logProof: proofOf(5) });
  assert.deepEqual(same, { log_carried: "holds", log_sandwich: "fails" });
  const two = await statesOf({ carried: carriedOf(11, others), logProof: proofOf(5) });
  assert.deepEqual(two, { log_carried: "fails", log_sandwich: "fails" });
});

test("compares no place with a proof of another log", async () => {
  const logs = [...trusted, { environment: "live", key: formatNoteKey(elsewhere.key) }] as const;
  assert.deepEqual(await statesOf({ logs, logProof: proofOf(1, 11, elsewhere) }), { log_carried: "holds" });
});

test("fails for a seal that was stamped more than a day after the time that it states", async () => {
  const given = { logProof: proofOf(5) };
  const sandwich = async (more: Partial<Input>) => (await judged({ ...given, ...more }))["log_sandwich"] ?? "";
  assert.match(await sandwich({ stampedTime: at + day }), /^holds/);
  assert.match(await sandwich({ stampedTime: at + day + 1 }), /^fails: .* at the earliest: more than a day after/);
  assert.match(
    await sandwich({ stampedTime: null }),
    /^unchecked: .* No trusted authority says by when the log had it\.$/,
  );
  assert.match(await sandwich({ claimedTime: null }), /^unchecked/);
});
