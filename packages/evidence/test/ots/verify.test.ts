import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex } from "../../src/digest.ts";
import type { Attestation, Timestamp } from "../../src/ots/timestamp.ts";
import { verifyOts } from "../../src/ots/verify.ts";
import { writeDetached } from "../../src/ots/write.ts";

// The header of Bitcoin's block 0 and its merkle root, as every Bitcoin node stores them.
const root = "3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a";
const genesis = fromHex(`01000000${"00".repeat(32)}${root}29ab5f49ffff001d1dac2b7c`, "ots");
const digest = fromHex(root, "ots");
const headers = new Map([[0, genesis]]);

const proof = (timestamp: Timestamp, of = digest) => writeDetached({ fileHashOp: "sha256", digest: of, timestamp });
const attested = (...attestations: Attestation[]) => proof(attestations.map((attestation) => ({ attestation })));
const states = async (bytes: Uint8Array, of: Uint8Array, given: ReadonlyMap<number, Uint8Array>) =>
  (await verifyOts({ proof: bytes, digest: of, headers: given })).map(({ name, state }) => [name, state]);

const readable = [
  ["ots.format", "holds"],
  ["ots.digest", "holds"],
];

test("a Bitcoin attestation holds when the block's merkle root is the message; it gives the block's time and hash", async () => {
  const claims = await verifyOts({ proof: attested({ kind: "bitcoin", height: 0 }), digest, headers });
  assert.deepEqual(
    claims.map(({ name, state }) => [name, state]),
    [...readable, ["ots.bitcoin", "holds"]],
  );
  const why = claims[2]?.why ?? "";
  assert.match(why, /2009-01-03T18:15:05Z/);
  assert.match(why, /000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f/);
});

test("a header inside a larger buffer is read at its own place", async () => {
  const buffer = new Uint8Array(100);
  buffer.set(genesis, 13);
  const inside = new Map([[0, buffer.subarray(13, 93)]]);
  const [, , claim] = await verifyOts({ proof: attested({ kind: "bitcoin", height: 0 }), digest, headers: inside });
  assert.match(claim?.why ?? "", /2009-01-03T18:15:05Z/);
});

test("a Bitcoin attestation fails against a header with another merkle root", async () => {
  const other = genesis.slice();
  other[36] = 0;
  const bytes = attested({ kind: "bitcoin", height: 0 });
  assert.deepEqual(await states(bytes, digest, new Map([[0, other]])), [...readable, ["ots.bitcoin", "fails"]]);
});

test("a Bitcoin attestation fails when an operation leads away from the merkle root", async () => {
  const bytes = proof([{ op: { op: "reverse" }, next: [{ attestation: { kind: "bitcoin", height: 0 } }] }]);
  assert.deepEqual(await states(bytes, digest, headers), [...readable, ["ots.bitcoin", "fails"]]);
});

test("a message that is longer than a merkle root and starts with one fails", async () => {
  const longer = { op: "append" as const, arg: Uint8Array.of(0) };
  const bytes = proof([{ op: longer, next: [{ attestation: { kind: "bitcoin", height: 0 } }] }]);
  assert.deepEqual(await states(bytes, digest, headers), [...readable, ["ots.bitcoin", "fails"]]);
});

test("an attestation without a header that decides it is unchecked: another height, a promise, other chains, unknown kinds", async () => {
  const bytes = attested(
    { kind: "bitcoin", height: 1 },
    { kind: "pending", uri: "https://a.example" },
    { kind: "litecoin", height: 0 },
    { kind: "ethereum", height: 0 },
    { kind: "unknown", tag: "0102030405060708", payload: new Uint8Array(0) },
  );
  const names = ["ots.bitcoin", "ots.pending", "ots.litecoin", "ots.ethereum", "ots.unknown"];
  assert.deepEqual(await states(bytes, digest, headers), [...readable, ...names.map((name) => [name, "unchecked"])]);
});

test("a proof of another digest fails and claims nothing more", async () => {
  const bytes = attested({ kind: "bitcoin", height: 0 });
  const expected = [
    ["ots.format", "holds"],
    ["ots.digest", "fails"],
  ];
  assert.deepEqual(await states(bytes, new Uint8Array(32), headers), expected);
  const otherHash = writeDetached({
    fileHashOp: "keccak256",
    digest,
    timestamp: [{ attestation: { kind: "bitcoin", height: 0 } }],
  });
  assert.deepEqual(await states(otherHash, digest, headers), expected);
});

test("a proof that cannot be read fails as a claim and does not throw", async () => {
  assert.deepEqual(await states(new Uint8Array(10), digest, headers), [["ots.format", "fails"]]);
  assert.deepEqual(await states(attested({ kind: "bitcoin", height: 0 }).slice(0, -1), digest, headers), [
    ["ots.format", "fails"],
  ]);
});

test("a block header of another length is the caller's error", async () => {
  const given = { proof: attested({ kind: "bitcoin", height: 0 }), digest, headers: new Map([[0, genesis.slice(1)]]) };
  await assert.rejects(verifyOts(given), { name: "EvidenceError", code: "ots" });
});
