import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzRuns } from "@signsealship/testing/inputs/fuzz";
import fc from "fast-check";
import { concatBytes, toHex } from "../../src/bytes.ts";
import { sha256 } from "../../src/digest.ts";
import { EvidenceError } from "../../src/errors.ts";
import { varuintBytes } from "../../src/ots/bytes.ts";
import { mergeTimestamps, proofOfReplies, upgrade } from "../../src/ots/merge.ts";
import { applyOp, opTags } from "../../src/ots/ops.ts";
import { parseDetached, parseTimestamp } from "../../src/ots/parse.ts";
import { type Attestation, detachedMagic, otsLimits, type Timestamp } from "../../src/ots/timestamp.ts";
import { commitments, pendingAttestations } from "../../src/ots/verify.ts";
import { writeDetached, writeTimestamp } from "../../src/ots/write.ts";
import { mutate, randomFrom } from "../mutate.ts";
import { detached, timestamp } from "./arbitraries.ts";

const digest = new Uint8Array(32).fill(7);
const header = concatBytes([detachedMagic, Uint8Array.of(1, 0x08), digest]);
const bitcoin: Attestation = { kind: "bitcoin", height: 358_391 };
const bitcoinBytes = Uint8Array.of(0x00, 0x05, 0x88, 0x96, 0x0d, 0x73, 0xd7, 0x19, 0x01, 0x03, 0xf7, 0xef, 0x15);

function proofOf(...parts: (Uint8Array | readonly number[])[]): Uint8Array {
  return concatBytes([header, ...parts.map((part) => Uint8Array.from(part))]);
}

function refuses(bytes: Uint8Array, code: "ots" | "limit", message: RegExp): void {
  assert.throws(() => parseDetached(bytes), { name: "EvidenceError", code, message });
}

test("a parsed proof is written back byte for byte, whatever the order of its branches", () => {
  fc.assert(
    fc.property(detached, (proof) => {
      const bytes = writeDetached(proof);
      assert.deepEqual(parseDetached(bytes), proof);
      assert.deepEqual(writeDetached(parseDetached(bytes)), bytes);
    }),
  );
});

test("a bare timestamp is written back byte for byte", () => {
  fc.assert(
    fc.property(timestamp, (one) => {
      assert.deepEqual(parseTimestamp(writeTimestamp(one, 32), 32), one);
    }),
  );
});

test("merging is in normal form, commutative, associative and idempotent", () => {
  fc.assert(
    fc.property(timestamp, timestamp, timestamp, (a, b, c) => {
      const all = mergeTimestamps([a, b, c]);
      assert.deepEqual(mergeTimestamps([c, b, a]), all);
      assert.deepEqual(mergeTimestamps([a, mergeTimestamps([b, c])]), all);
      assert.deepEqual(mergeTimestamps([all, all, a]), all);
    }),
  );
});

test("two calendars that answer with the same prepend share the edge, and both promises are kept", async () => {
  const reply = (uri: string) =>
    writeTimestamp(
      [
        {
          op: { op: "prepend", arg: Uint8Array.of(0x65, 0x43, 0x21, 0) },
          next: [{ op: { op: "sha256" }, next: [{ attestation: { kind: "pending", uri } }] }],
        },
      ],
      32,
    );
  const uris = ["https://a.example", "https://b.example"];
  const proof = parseDetached(proofOfReplies(digest, uris.map(reply)));
  assert.equal(proof.timestamp.length, 1);
  assert.deepEqual(
    (await pendingAttestations(proof)).map((pending) => pending.uri),
    uris,
  );
});

test("a proof of no replies is refused", () => {
  assert.throws(() => proofOfReplies(digest, []), { name: "EvidenceError", code: "ots" });
});

test("a calendar's later answer is merged in at its commitment, once, even if it comes repeatedly", async () => {
  const waiting: Timestamp = [
    { op: { op: "sha256" }, next: [{ attestation: { kind: "pending", uri: "https://a.example" } }] },
    {
      op: { op: "append", arg: Uint8Array.of(1) },
      next: [{ attestation: { kind: "pending", uri: "https://b.example" } }],
    },
  ];
  const proof = writeDetached({ fileHashOp: "sha256", digest, timestamp: waiting });
  const [first] = await pendingAttestations(parseDetached(proof));
  assert.ok(first);
  assert.deepEqual([first.uri, first.commitmentHex], ["https://a.example", toHex(await sha256(digest))]);

  const reply = writeTimestamp([{ op: { op: "sha256" }, next: [{ attestation: bitcoin }] }], 32);
  const upgraded = await upgrade({ proof, commitment: first.commitment, reply });
  const kinds = (await commitments(parseDetached(upgraded))).map(({ attestation }) => attestation.kind);
  assert.deepEqual(kinds, ["pending", "bitcoin", "pending"]);
  assert.deepEqual(await upgrade({ proof: upgraded, commitment: first.commitment, reply }), upgraded);
});

test("an answer to a commitment that the proof does not reach is refused", async () => {
  const proof = writeDetached({ fileHashOp: "sha256", digest, timestamp: [{ attestation: bitcoin }] });
  const reply = writeTimestamp([{ attestation: bitcoin }], 32);
  await assert.rejects(upgrade({ proof, commitment: new Uint8Array(32), reply }), { code: "ots", message: /reach/ });
  await upgrade({ proof, commitment: digest, reply });
});

test("an upgrade deeper than the reference reads is refused", async () => {
  const deep = nested(200, [{ attestation: bitcoin }]);
  const proof = writeDetached({ fileHashOp: "sha256", digest, timestamp: deep });
  const [end] = await commitments(parseDetached(proof));
  assert.ok(end);
  const reply = writeTimestamp(nested(56, [{ attestation: bitcoin }]), 32);
  await assert.rejects(upgrade({ proof, commitment: end.message, reply }), { code: "limit" });
});

function nested(depth: number, end: Timestamp): Timestamp {
  let one = end;
  for (let i = 0; i < depth; i++) one = [{ op: { op: "sha256" }, next: one }];
  return one;
}

test("a proof may be 255 operations deep and no deeper", () => {
  parseDetached(proofOf(new Uint8Array(255).fill(0x08), bitcoinBytes));
  refuses(proofOf(new Uint8Array(256).fill(0x08), bitcoinBytes), "limit", /deeper/);
});

test("messages may be 4096 bytes long and no longer", () => {
  const append = (length: number) => [0xf0, ...varuintBytes(length), ...new Uint8Array(length).fill(1)];
  parseDetached(proofOf(append(4064), bitcoinBytes));
  refuses(proofOf(append(4065), bitcoinBytes), "limit", /message/);
  refuses(proofOf(append(4097), bitcoinBytes), "limit", /4096/);
  parseDetached(proofOf(new Uint8Array(7).fill(0xf3), bitcoinBytes));
  refuses(proofOf(new Uint8Array(8).fill(0xf3), bitcoinBytes), "limit", /hexlify/);
  assert.throws(() => parseTimestamp(bitcoinBytes, 4097), { code: "limit" });
});

test("sizes are bounded: a calendar's answer at 10,000 bytes, a proof's bytes and branches", () => {
  const filler = (length: number) => concatBytes([unknownBytes(5000), unknownBytes(length), bitcoinBytes]);
  const reply = filler(10_000 - filler(4000).length + 4000);
  assert.equal(reply.length, otsLimits.replyBytes);
  parseTimestamp(reply, 32);
  assert.throws(() => parseTimestamp(filler(4000 + 10_001 - filler(4000).length), 32), { code: "limit" });
  refuses(new Uint8Array(otsLimits.proofBytes + 1), "limit", /longer than/);
  const forks = (count: number) => Array.from({ length: count }, () => [0xff, ...bitcoinBytes]).flat();
  parseDetached(proofOf(forks(otsLimits.branches - 1), bitcoinBytes));
  refuses(proofOf(forks(otsLimits.branches), bitcoinBytes), "limit", /branches/);
});

function unknownBytes(length: number): Uint8Array {
  return Uint8Array.from([
    0xff,
    0x00,
    ...new Uint8Array(8).fill(9),
    ...varuintBytes(length),
    ...new Uint8Array(length),
  ]);
}

test("malformed proofs are refused by name", () => {
  refuses(new Uint8Array(0), "ots", /not an OpenTimestamps proof/);
  refuses(proofOf(bitcoinBytes).fill(0, 0, 4), "ots", /not an OpenTimestamps proof/);
  refuses(proofOf(bitcoinBytes).fill(2, 31, 32), "ots", /version 2/);
  refuses(proofOf(bitcoinBytes).fill(0xf2, 32, 33), "ots", /not a file hash/);
  refuses(proofOf(bitcoinBytes).fill(0x05, 32, 33), "ots", /unknown operation 0x05/);
  refuses(proofOf(), "ots", /ends too early/);
  refuses(proofOf(bitcoinBytes.slice(0, -1)), "ots", /ends too early/);
  refuses(proofOf([0xff, 0xff], bitcoinBytes), "ots", /unknown operation 0xff/);
  refuses(proofOf([0xf0, 0x00], bitcoinBytes), "ots", /empty argument/);
  refuses(proofOf([0xf0, 0x81, 0x00, 0x01], bitcoinBytes), "ots", /padding group/);
  refuses(proofOf([0xf0, ...new Array(9).fill(0xff)], bitcoinBytes), "limit", /2\^53/);
  refuses(proofOf([0xf0, ...new Array(20).fill(0x80)], bitcoinBytes), "limit", /2\^53/);
  refuses(proofOf(bitcoinBytes, [0]), "ots", /trailing/);
  refuses(proofOf(bitcoinBytes.slice(0, 9), [4, 0xf7, 0xef, 0x15, 0]), "ots", /bitcoin attestation with trailing/);
  assert.throws(() => parseTimestamp(concatBytes([Uint8Array.of(0xf2), bitcoinBytes]), 0), { code: "ots" });
  assert.throws(() => parseTimestamp(concatBytes([bitcoinBytes, Uint8Array.of(0)]), 32), { message: /trailing/ });
});

test("a calendar address of 1000 bytes of the reference's alphabet is read; a longer one or another character is not", () => {
  const pending = (uri: string) => {
    const payload = [...varuintBytes(uri.length), ...new TextEncoder().encode(uri)];
    return proofOf([0x00, 0x83, 0xdf, 0xe3, 0x0d, 0x2e, 0xf9, 0x0c, 0x8e, ...varuintBytes(payload.length), ...payload]);
  };
  parseDetached(pending("a".repeat(1000)));
  refuses(pending("a".repeat(1001)), "limit", /1000/);
  for (const bad of ["https://a?b", "https://a@b", "a b", "a%20", "a#b", "[::1]", "a\n", "a\u0000"]) {
    refuses(pending(bad), "ots", /not allowed/);
  }
});

test("every operation gives the result that the format defines", async () => {
  const results: Record<string, string> = {
    append: "61626364",
    prepend: "64616263",
    reverse: "636261",
    hexlify: toHex(new TextEncoder().encode("616263")),
    sha1: "a9993e364706816aba3e25717850c26c9cd0d89d",
    ripemd160: "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc",
    sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    keccak256: "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45",
  };
  assert.deepEqual(Object.keys(opTags).toSorted(), Object.keys(results).toSorted());
  for (const op of ["append", "prepend"] as const) {
    assert.equal(toHex(await applyOp({ op, arg: Uint8Array.of(0x64) }, new TextEncoder().encode("abc"))), results[op]);
  }
  for (const op of ["reverse", "hexlify", "sha1", "ripemd160", "sha256", "keccak256"] as const) {
    assert.equal(toHex(await applyOp({ op }, new TextEncoder().encode("abc"))), results[op]);
  }
});

const mutations = fuzzRuns(100_000);
test(`${mutations.toLocaleString("en")} mutations of proofs, and as many of answers, give a proof that is written back, or an EvidenceError`, () => {
  const random = randomFrom(20_261);
  const proofs = fc.sample(detached, { numRuns: 40, seed: 5 }).map(writeDetached);
  const replies = fc.sample(timestamp, { numRuns: 40, seed: 6 }).map((one) => writeTimestamp(one, 32));
  let read = 0;
  for (let i = 0; i < mutations; i++) {
    read += survives(mutate(proofs[i % 40] ?? header, random), parseDetached, writeDetached);
    const reply = mutate(replies[i % 40] ?? bitcoinBytes, random);
    read += survives(
      reply,
      (bytes) => parseTimestamp(bytes, 32),
      (one) => writeTimestamp(one, 32),
    );
  }
  assert.ok(read > mutations / 100, `${read} were read`);
});

function survives<T>(bytes: Uint8Array, parse: (bytes: Uint8Array) => T, write: (value: T) => Uint8Array): number {
  let value: T;
  try {
    value = parse(bytes);
  } catch (error) {
    assert.ok(error instanceof EvidenceError, String(error));
    return 0;
  }
  assert.equal(toHex(write(value)), toHex(bytes));
  return 1;
}
