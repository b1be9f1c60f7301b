import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  bundledEntry,
  hashesAt,
  parseBundle,
  parseTilePath,
  placeOfNode,
  tilePath,
  widthAt,
} from "../../src/log/log.ts";

test("writes the paths of C2SP tlog-tiles", () => {
  const paths = [
    [{ level: 0, n: 0, width: 256 }, "tile/0/000"],
    [{ level: 0, n: 1234067, width: 256 }, "tile/0/x001/x234/067"],
    [{ level: 1, n: 999, width: 5 }, "tile/1/999.p/5"],
    [{ level: "entries", n: 1000, width: 255 }, "tile/entries/x001/000.p/255"],
  ] as const;
  for (const [tile, path] of paths) {
    assert.equal(tilePath(tile), path);
    assert.deepEqual(parseTilePath(path), tile);
  }
});

test("reads back each path that it writes", () => {
  const tile = fc.record({
    level: fc.oneof(fc.constant("entries" as const), fc.nat({ max: 63 })),
    n: fc.nat({ max: 999_999_999_999 }),
    width: fc.integer({ min: 1, max: 256 }),
  });
  fc.assert(fc.property(tile, (each) => assert.deepEqual({ ...parseTilePath(tilePath(each)) }, { ...each })));
});

test("refuses another form of a path, and paths that are not of a tile", () => {
  const refused = [
    "tile/0/0",
    "tile/00/000",
    "tile/0/x000/001",
    "tile/0/000.p/0",
    "tile/0/000.p/256",
    "tile/0/000.p/300",
    "tile/0/000.p/01",
    "tile/64/000",
    "tile/entries/../000",
    "tile/0/x001/67",
    "tile/0/000/",
    "/tile/0/000",
    "tile/entry/000",
    "tile/0/x001x234/067",
    "tile/0/x001/x001/x001/x001/x001/000",
  ];
  for (const path of refused) assert.equal(parseTilePath(path), null, path);
});

test("computes how many places of a tile a tree fills", () => {
  assert.equal(widthAt({ level: 0, n: 0 }, 0), 0);
  assert.equal(widthAt({ level: 0, n: 0 }, 256), 256);
  assert.equal(widthAt({ level: 0, n: 1 }, 256), 0);
  assert.equal(widthAt({ level: "entries", n: 1 }, 300), 44);
  assert.equal(widthAt({ level: 1, n: 0 }, 300), 1);
  assert.equal(widthAt({ level: 1, n: 0 }, 255), 0);
  assert.equal(hashesAt(2, 2 ** 20), 16);
  assert.deepEqual(placeOfNode({ level: 9, index: 3 }), { level: 1, n: 0, first: 6, count: 2 });
});

test("reads back the entries that it bundles", () => {
  const entries = fc.array(fc.uint8Array({ maxLength: 600 }), { maxLength: 256 });
  fc.assert(
    fc.property(entries, (each) => {
      const read = parseBundle(Buffer.concat(each.map(bundledEntry))).map((entry) => Uint8Array.from(entry));
      assert.deepEqual(read, each);
    }),
    { numRuns: 50 },
  );
});

test("refuses a bundle that is cut short, one with too many entries, and an entry that is too long", () => {
  const bundle = Buffer.from(bundledEntry(Buffer.from("line\n")));
  for (let end = 1; end < bundle.length; end++)
    assert.throws(() => parseBundle(bundle.subarray(0, end)), { code: "log", message: /cut short/ });
  const many = Buffer.concat(Array.from({ length: 257 }, () => bundle));
  assert.throws(() => parseBundle(many), { code: "log", message: /more than 256/ });
  assert.throws(() => bundledEntry(new Uint8Array(65_536)), { code: "limit" });
});
