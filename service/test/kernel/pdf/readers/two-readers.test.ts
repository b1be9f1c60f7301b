import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { fuzzRuns } from "@signsealship/testing/inputs/fuzz";
import fc from "fast-check";
import { readBySealer } from "./by-sealer.ts";
import { readByVerifier } from "./by-verifier.ts";
import { corpus, type Sample } from "./corpus.ts";
import { disagreements } from "./disagreements.ts";
import { type Edit, edited, edits } from "./edits.ts";

const samples = corpus();
/** Leaves out large files, because readers parse only a small part of a large file. */
const small = placedByName(samples.filter(({ bytes }) => bytes().length < 40_000));

type Place = { readonly at: number; readonly sample: Sample };

/**
 * Places each file on a circle by the hash of its name. So a file that is added later hardly changes which files a seed
 * selects.
 */
function placedByName(files: readonly Sample[]): Place[] {
  const placeOf = (name: string) => createHash("sha256").update(name).digest().readUInt32BE();
  return files.map((sample) => ({ at: placeOf(sample.name), sample })).toSorted((one, other) => one.at - other.at);
}

/** The first file at or after a place on the circle. */
const sampleAt = (place: number): Sample | undefined => (small.find(({ at }) => at >= place) ?? small[0])?.sample;

const compared = async (bytes: Uint8Array): Promise<string[]> =>
  disagreements(Buffer.from(bytes).toString("latin1"), readBySealer(bytes), await readByVerifier(bytes));

test("reads every PDF of the repository as the verifier does, except for the listed differences", async () => {
  const found: string[] = [];
  let read = 0;
  for (const { name, bytes } of samples) {
    const file = bytes();
    for (const text of await compared(file)) found.push(`${name}: ${text}`);
    if (!("refusal" in readBySealer(file))) read++;
  }
  assert.deepEqual(found, []);
  assert.ok(read > 1500, `only ${read} files are read by the sealer`);
});

test("reads altered PDFs as the verifier does, except for the listed differences", async () => {
  const altered = fc.tuple(fc.nat(0xffff_ffff), edits);
  await fc.assert(
    fc.asyncProperty(altered, async ([place, list]: readonly [number, readonly Edit[]]) => {
      const sample = sampleAt(place);
      assert.ok(sample);
      const found = await compared(edited(sample.bytes(), list));
      assert.deepEqual(found, [], sample.name);
    }),
    { numRuns: fuzzRuns(15_000), seed: 34 },
  );
});
