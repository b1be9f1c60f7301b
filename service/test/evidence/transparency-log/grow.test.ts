import assert from "node:assert/strict";
import { test } from "node:test";
import { parseBundle } from "@signsealship/evidence/log";
import fc from "fast-check";
import {
  byPlace,
  edgePlaces,
  emptyRoot,
  grow,
  hashOfRange,
  LogHalt,
} from "../../../src/evidence/transparency-log/grow.ts";
import type { StoredTile } from "../../../src/evidence/transparency-log/store.ts";

type Stored = { size: number; root: Buffer; tiles: Map<string, StoredTile> };

const edgeOf = ({ size, tiles }: Stored): StoredTile[] =>
  edgePlaces(size).flatMap(({ level, n }) => tiles.get(`${level}/${n}`) ?? []);

async function appended(stored: Stored, lines: readonly string[]): Promise<Stored> {
  const { size, root, tiles } = await grow(stored, edgeOf(stored), lines);
  for (const tile of tiles) {
    const before = stored.tiles.get(`${tile.level}/${tile.n}`);
    assert.ok(!before || tile.hashes.subarray(0, before.hashes.length).equals(before.hashes), "a tile only grows");
  }
  return { size, root, tiles: new Map([...stored.tiles, ...byPlace(tiles)]) };
}

const nothing = (): Stored => ({ size: 0, root: emptyRoot, tiles: new Map() });

const linesOf = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `line ${from + i}\n`);

test("has the same root and tiles, however the lines are split into batches", async () => {
  const whole = await appended(nothing(), linesOf(0, 900));
  const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(sizes, async (batches) => {
      let stored = nothing();
      for (const batch of [...batches, 900]) {
        const count = Math.min(batch, 900 - stored.size);
        if (count > 0) stored = await appended(stored, linesOf(stored.size, count));
      }
      assert.deepEqual(stored.root, whole.root);
      assert.deepEqual([...stored.tiles.values()].sort(byName), [...whole.tiles.values()].sort(byName));
    }),
    { numRuns: 20, seed: 39 },
  );
});

const byName = (one: StoredTile, other: StoredTile) => one.level - other.level || one.n - other.n;

test("bundles the lines in order, and fills a tile of the next level", async () => {
  const { tiles } = await appended(nothing(), linesOf(0, 257));
  const entries = tiles.get("0/0")?.entries ?? Buffer.alloc(0);
  assert.deepEqual(
    parseBundle(entries).map((entry) => Buffer.from(entry).toString()),
    linesOf(0, 256),
  );
  assert.equal(tiles.get("0/1")?.hashes.length, 32);
  assert.deepEqual(tiles.get("1/0")?.hashes, hashOfRange(tiles, { start: 0, end: 256 }));
});

const flipped = (bytes: Buffer, at: number): Buffer =>
  Buffer.from(bytes.map((byte, i) => (i === at ? byte ^ 4 : byte)));

test("halts on a flipped bit in a tile, in an entry and in the stored root", async () => {
  const stored = await appended(nothing(), linesOf(0, 300));
  const damaged = (place: string, change: Partial<StoredTile>): Stored => {
    const tile = stored.tiles.get(place);
    assert.ok(tile);
    return { ...stored, tiles: new Map([...stored.tiles, [place, { ...tile, ...change }]]) };
  };
  const last = stored.tiles.get("0/1");
  const upper = stored.tiles.get("1/0");
  assert.ok(last?.entries && upper);
  const faults: [Stored, RegExp][] = [
    [damaged("0/1", { hashes: flipped(last.hashes, 40) }), /do not lead to the stored root/],
    [damaged("1/0", { hashes: flipped(upper.hashes, 0) }), /do not lead to the stored root/],
    [damaged("0/1", { entries: flipped(last.entries, 5) }), /not those of its hashes/],
    [damaged("0/1", { entries: last.entries.subarray(0, 9) }), /not those of its hashes/],
    [{ ...stored, root: flipped(stored.root, 3) }, /do not lead to the stored root/],
    [{ ...stored, tiles: new Map() }, /is missing/],
    [{ ...stored, size: 299 }, /do not lead to the stored root/],
  ];
  for (const [fault, message] of faults) {
    await assert.rejects(grow(fault, edgeOf(fault), ["next\n"]), (error: Error) => {
      assert.ok(error instanceof LogHalt);
      assert.match(error.message, message);
      return true;
    });
  }
});

test("halts when a bit of a stored hash flips in memory, whichever of the reads gets the other hash", async () => {
  const stored = await appended(nothing(), linesOf(0, 300));
  const upper = stored.tiles.get("1/0");
  assert.ok(upper);
  /**
   * The error message of `grow` when one of its reads of the upper tile gets a wrong hash.
   * @param read the number of that read, counted from 0
   */
  const flippedAt = async (read: number): Promise<string> => {
    let reads = 0;
    const tile = {
      ...upper,
      get hashes() {
        return reads++ === read ? flipped(upper.hashes, 7) : upper.hashes;
      },
    };
    const edge = edgeOf({ ...stored, tiles: new Map([...stored.tiles, ["1/0", tile]]) });
    return grow(stored, edge, ["next\n"]).then(
      () => `${reads} reads`,
      (error: Error) => {
        assert.ok(error instanceof LogHalt);
        return error.message;
      },
    );
  };
  assert.deepEqual(await Promise.all([0, 1, 2, 3, 4].map(flippedAt)), [
    "the tiles do not lead to the stored root of 300 entries",
    "the new root differs between two computations",
    "the new root differs between two computations",
    "the new tree does not begin with the old one",
    "4 reads",
  ]);
});
