import assert from "node:assert/strict";
import { test } from "node:test";
import { forgetTiles, inclusionHashes } from "../../../src/evidence/transparency-log/proof-tiles.ts";
import type { LogName } from "../../../src/evidence/transparency-log/trees.ts";
import type { Sql } from "../../../src/kernel/platform/database/database.ts";

/** The tiles of a log with 512 entries. */
const tiles = [
  { level: 0, n: 0, hashes: Buffer.alloc(256 * 32, 1) },
  { level: 0, n: 1, hashes: Buffer.alloc(256 * 32, 2) },
  { level: 1, n: 0, hashes: Buffer.alloc(2 * 32, 3) },
];

test("a failed proof has its own tiles read again, and no tile of other proofs or logs", async () => {
  const reads: string[] = [];
  const db = {
    async query({ values }: { values: readonly unknown[] }) {
      const [levels, numbers, log] = values as [number[], number[], string];
      const read = tiles.filter(({ level, n }) => levels.some((asked, i) => asked === level && numbers[i] === n));
      reads.push(...read.map(({ level, n }) => `${log}/${level}/${n}`));
      return read;
    },
  } as Sql;
  const readBy = async (log: LogName, index: number, size: number) => {
    reads.length = 0;
    await inclusionHashes(db, log, index, size);
    return reads.toSorted();
  };
  assert.deepEqual(await readBy("test", 0, 256), ["test/0/0"]);
  assert.deepEqual(await readBy("test", 300, 512), ["test/0/1", "test/1/0"]);
  assert.deepEqual(await readBy("live", 0, 256), ["live/0/0"]);
  assert.deepEqual(await readBy("test", 0, 256), []);

  forgetTiles(db, "test", 0, 256);
  assert.deepEqual(await readBy("test", 300, 512), []);
  assert.deepEqual(await readBy("live", 0, 256), []);
  assert.deepEqual(await readBy("test", 0, 256), ["test/0/0"]);
});
