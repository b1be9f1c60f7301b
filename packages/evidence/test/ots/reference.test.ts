import assert from "node:assert/strict";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import fc from "fast-check";
import { toHex } from "../../src/bytes.ts";
import { fromHex } from "../../src/digest.ts";
import { EvidenceError } from "../../src/errors.ts";
import { mergeTimestamps } from "../../src/ots/merge.ts";
import { parseDetached, parseTimestamp } from "../../src/ots/parse.ts";
import type { DetachedTimestamp, Timestamp } from "../../src/ots/timestamp.ts";
import { type Commitment, commitments } from "../../src/ots/verify.ts";
import { writeDetached, writeTimestamp } from "../../src/ots/write.ts";
import { detached, timestamp } from "./arbitraries.ts";
import { askReference, type OracleAnswer } from "./oracles/ots-oracle.ts";

const { test } = testsNeeding("opentimestamps");

const message = new Uint8Array(32).fill(7);

test("a random proof in normal form is read by the reference, re-serialized to the same bytes, with the same commitments", async () => {
  const proofs = fc.sample(detached, { numRuns: 400, seed: 1 }).map(normal);
  const answers = askReference(proofs.map((proof) => ({ read: toHex(writeDetached(proof)) })));
  for (const [i, proof] of proofs.entries()) {
    assert.equal(answers[i]?.hex, toHex(writeDetached(proof)));
    assert.deepEqual(answers[i]?.found, found(await commitments(proof)));
  }
});

test("a proof that the reference grew is read, found to commit to the same, and written back byte for byte", async () => {
  const seeds = Array.from({ length: 400 }, (_, seed) => ({ random: seed }));
  for (const answer of askReference(seeds)) {
    const bytes = fromHex(answer.hex ?? "", "ots");
    const proof = parseDetached(bytes);
    assert.equal(toHex(writeDetached(proof)), answer.hex);
    assert.equal(toHex(writeDetached(normal(proof))), answer.hex);
    assert.deepEqual(found(await commitments(proof)), answer.found);
  }
});

test("timestamps merge to the bytes that the reference merges them to", () => {
  const groups = fc.sample(fc.array(timestamp, { minLength: 2, maxLength: 4 }), { numRuns: 300, seed: 2 });
  // The reference loses a branch when it reads an unmerged timestamp, so each timestamp is passed in normal form.
  const parts = groups.map((group) => group.map((one) => writeTimestamp(mergeTimestamps([one]), message.length)));
  const answers = askReference(parts.map((group) => ({ merge: group.map(toHex), message: toHex(message) })));
  for (const [i, group] of groups.entries()) {
    assert.equal(toHex(writeTimestamp(mergeTimestamps(group), message.length)), answers[i]?.hex);
  }
});

test("a damaged proof is read as the reference reads it, and refused when the reference refuses it", async () => {
  const sources = fc.sample(detached, { numRuns: 100, seed: 3 }).map((proof) => writeDetached(normal(proof)));
  const damaged = sources.flatMap((bytes, i) => Array.from({ length: 30 }, (_, j) => damage(bytes, 31 * i + j)));
  const answers = askReference(damaged.map((bytes) => ({ read: toHex(bytes) })));
  let accepted = 0;
  for (const [i, bytes] of damaged.entries()) {
    const outcome = attempt(() => parseDetached(bytes));
    if (outcome instanceof EvidenceError) {
      const ours = /padding group|beyond 2\^53/.test(outcome.message);
      assert.ok(ours || answers[i]?.error !== undefined, `${outcome.message}: ${toHex(bytes)}`);
    } else {
      accepted += 1;
      await assertNoLessThan(outcome, bytes, answers[i]);
    }
  }
  assert.ok(accepted > 100);
});

function normal(proof: DetachedTimestamp): DetachedTimestamp {
  return { ...proof, timestamp: mergeTimestamps([proof.timestamp]) };
}

/**
 * Converts the parser's commitments to the form and the sorting of `OracleAnswer.found`: message, kind or tag, and URI,
 * height or payload.
 */
function found(list: readonly Commitment[]): unknown[] {
  return list
    .map(({ message: of, attestation }) => {
      if (attestation.kind === "pending") return [toHex(of), "pending", attestation.uri];
      if (attestation.kind === "unknown") return [toHex(of), attestation.tag, toHex(attestation.payload)];
      return [toHex(of), attestation.kind, attestation.height];
    })
    .toSorted((a, b) => (pythonText(a) < pythonText(b) ? -1 : 1));
}

function pythonText(item: unknown): string {
  return JSON.stringify(item).replaceAll(",", ", ");
}

/**
 * Asserts that the parser finds everything that the reference finds. It may find more: if the damage made two branches
 * equal, the reference loses one of them.
 */
async function assertNoLessThan(proof: DetachedTimestamp, bytes: Uint8Array, answer: OracleAnswer | undefined) {
  assert.notEqual(answer?.found, undefined, `the reference refuses it: ${answer?.error}`);
  const ours = found(await commitments(proof));
  const rewritten = toHex(writeDetached(normal(proof)));
  if (rewritten.length === 2 * bytes.length) {
    assert.deepEqual(ours, answer?.found);
    assert.equal(rewritten, answer?.hex);
  } else {
    const known = new Set(ours.map((item) => JSON.stringify(item)));
    for (const item of answer?.found ?? []) assert.ok(known.has(JSON.stringify(item)));
  }
}

function attempt(read: () => DetachedTimestamp): DetachedTimestamp | EvidenceError {
  try {
    return read();
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}

function damage(bytes: Uint8Array, seed: number): Uint8Array {
  const copy = bytes.slice();
  // Damages a byte after the magic, the version and the hash operation. If one of those three is damaged, readers
  // nearly always stop there, so the test would reach nothing else.
  const at = 33 + ((seed * 7919) % (bytes.length - 33));
  copy[at] = ((copy[at] ?? 0) + 1 + ((seed * 104_729) % 255)) & 0xff;
  return seed % 5 === 0 ? copy.slice(0, at) : copy;
}

test("a bare timestamp of the reference's making is read", () => {
  const one: Timestamp = [{ attestation: { kind: "bitcoin", height: 358_391 } }];
  const [answer] = askReference([{ read: toHex(writeTimestamp(one, 32)), message: toHex(message) }]);
  assert.deepEqual(parseTimestamp(fromHex(answer?.hex ?? "", "ots"), 32), one);
});
