import assert from "node:assert/strict";
import { test } from "node:test";
import { formatLogProof, formatNoteKey, type LogEnd, sealEntry, verifyLogProof } from "../../src/log/log.ts";
import { hashOfLeaf, inclusionOf, rootOf, sampleLog } from "./sample-tree.ts";

const entry = sealEntry("3f".repeat(32));
const index = 5;
const leaves = Array.from({ length: 11 }, (_, i) =>
  hashOfLeaf(Buffer.from(i === index ? entry : sealEntry(String(i).padStart(64, "0")))),
);
const live = await sampleLog("example.com/log/live", 7);
const stranger = await sampleLog("example.com/log/live", 8);
const checkpoint = live.signed(leaves.length, rootOf(leaves));
const whole = formatLogProof({ extra: null, index, hashes: inclusionOf(leaves, index), checkpoint });
const trusted = [{ environment: "live", key: formatNoteKey(live.key) }] as const;

const statesOf = async (proof: string, more: Partial<Parameters<typeof verifyLogProof>[0]> = {}) => {
  const given = { proof: Buffer.from(proof), entry, environment: "live", logs: trusted, ...more } as const;
  return Object.fromEntries((await verifyLogProof(given)).map(({ name, state }) => [name, state]));
};

test("holds for a line of a trusted log, and leaves the signature unchecked without a trusted log", async () => {
  const both = { log_inclusion: "holds", log_checkpoint_signed: "holds" };
  assert.deepEqual(await statesOf(whole), both);
  assert.deepEqual(await statesOf(whole.replace("\nindex", "\nextra QUJD\nindex")), both);
  assert.deepEqual(await statesOf(whole, { logs: [] }), { ...both, log_checkpoint_signed: "unchecked" });
  assert.deepEqual(await statesOf(whole, { logs: [{ environment: null, key: trusted[0].key }] }), both);
  assert.deepEqual(await statesOf(whole, { environment: null }), both);
});

test("fails for the inclusion of another line, index, size or hash", async () => {
  const inclusion = async (proof: string, more = {}) => (await statesOf(proof, more))["log_inclusion"];
  assert.equal(await inclusion(whole, { entry: sealEntry("40".repeat(32)) }), "fails");
  assert.equal(await inclusion(whole, { entry: entry.replace("\n", "") }), "fails");
  for (const other of [0, 4, 6, 10, 11, 2 ** 53 - 1])
    assert.equal(await inclusion(whole.replace(`index ${index}`, `index ${other}`)), "fails");
  // The seal's index is outside trees of these sizes. With another wrong size, the path can be the same as with the
  // true size 11. Then only the signature of the checkpoint fails.
  for (const size of [0, 1, 5]) assert.equal(await inclusion(whole.replace("\n11\n", `\n${size}\n`)), "fails");
  const lines = whole.split("\n");
  const blank = lines.indexOf("");
  for (let at = 2; at < blank; at++) {
    assert.equal(await inclusion(lines.toSpliced(at, 1).join("\n")), "fails");
    assert.equal(await inclusion(lines.toSpliced(at, 0, lines[at] ?? "").join("\n")), "fails");
  }
  // Uses the tree's root as the hash of a leaf: an inner node must not be accepted as a leaf.
  const inner = formatLogProof({ extra: null, index: 0, hashes: [], checkpoint: live.signed(1, rootOf(leaves)) });
  assert.equal(await inclusion(inner), "fails");
});

test("knows how a log ended: more that its key signs fails, and after a theft only the last state counts", async () => {
  const signed = async (end: Partial<LogEnd>) => {
    const root = Buffer.from(rootOf(leaves)).toString("hex");
    const logs = [{ ...trusted[0], end: { size: leaves.length, root, reason: "rotation", ...end } as const }];
    return (await statesOf(whole, { logs }))["log_checkpoint_signed"];
  };
  const other = "00".repeat(32);
  assert.equal(await signed({}), "holds");
  assert.equal(await signed({ reason: "key-compromise" }), "holds");
  for (const reason of ["rotation", "key-compromise"] as const) {
    assert.equal(await signed({ reason, root: other }), "fails", "another state of the last size");
    assert.equal(await signed({ reason, size: leaves.length - 1, root: other }), "fails", "more than the last size");
  }
  assert.equal(await signed({ size: leaves.length + 1, root: other }), "holds");
  assert.equal(await signed({ reason: "key-compromise", size: leaves.length + 1, root: other }), "unchecked");
  assert.equal(await signed({ reason: "lost", size: leaves.length - 1, root: other }), "holds");
});

test("fails for a signature of another key, log or environment", async () => {
  const signed = async (proof: string, more = {}) => (await statesOf(proof, more))["log_checkpoint_signed"];
  const forged = whole.replace(checkpoint, stranger.signed(leaves.length, rootOf(leaves)));
  assert.equal(await signed(forged), "fails");
  assert.equal(await signed(whole, { environment: "test" }), "fails");
  assert.equal(await signed(whole, { logs: [{ environment: "test", key: trusted[0].key }] }), "fails");
  const elsewhere = await sampleLog("example.com/log/test", 7);
  assert.equal(await signed(whole, { logs: [{ environment: null, key: formatNoteKey(elsewhere.key) }] }), "fails");
  assert.equal(
    await signed(whole, { logs: [{ environment: null, key: `${trusted[0].key.slice(0, -4)}AAAA` }] }),
    "fails",
  );
  assert.equal(await signed(whole.replace("\n11\n", "\n12\n")), "fails");
});

test("fails, by one claim, for a proof that can't be read", async () => {
  const lines = whole.split("\n");
  const unreadable = [
    "",
    whole.replace("@v1", "@v2"),
    whole.replaceAll("\n", "\r\n"),
    whole.replace("index 5", "index 05"),
    whole.replace("index 5", "index -5"),
    whole.replace("index 5", "index 9007199254740992"),
    whole.replace("index 5\n", ""),
    whole.replace("\n\n", "\n"),
    lines.with(2, (lines[2] ?? "").slice(0, -1)).join("\n"),
    lines.with(2, `${lines[2]} `).join("\n"),
    lines.with(2, "QUJD").join("\n"),
    lines.toSpliced(2, 0, ...Array.from({ length: 64 }, () => lines[2] ?? "")).join("\n"),
    `${whole}\u0000`,
    whole + "x".repeat(70_000),
    whole.slice(0, -1),
  ];
  for (const proof of unreadable) assert.deepEqual(await statesOf(proof), { log_inclusion: "fails" }, proof);
  const notUtf8 = Buffer.concat([Buffer.from(whole), Buffer.of(0xff)]);
  const [only] = await verifyLogProof({ proof: notUtf8, entry, environment: null, logs: [] });
  assert.equal(only?.state, "fails");
});
