import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createViewCache } from "../../../../src/closing/rooms/view/read-view.ts";

const answer = (length: number) => Buffer.alloc(length);

test("returns an answer only for its version", () => {
  const cache = createViewCache(10_000);
  const kept = answer(10);
  cache.put("room", "1.1", kept);
  assert.equal(cache.get("room", "1.1"), kept);
  assert.equal(cache.get("room", "2.1"), undefined);
  assert.equal(cache.get("other", "1.1"), undefined);
});

test("drops the least recently used answers when the bytes are used up", () => {
  const cache = createViewCache(5_000);
  for (const room of ["a", "b", "c"]) cache.put(room, "1", answer(1_000));
  cache.get("a", "1");
  cache.put("d", "1", answer(1_000));
  assert.deepEqual(
    ["a", "b", "c", "d"].map((room) => cache.get(room, "1") !== undefined),
    [true, false, true, true],
  );
});

test("caches nothing that is larger than the whole cache", () => {
  const cache = createViewCache(1_000);
  cache.put("a", "1", answer(2_000));
  assert.equal(cache.get("a", "1"), undefined);
  assert.equal(cache.heldBytes(), 0);
});

test("never exceeds its limit, and never returns an old answer for a new version", () => {
  const step = fc.record({
    room: fc.integer({ min: 0, max: 9 }),
    version: fc.integer({ min: 0, max: 3 }),
    length: fc.integer({ min: 0, max: 3_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const cache = createViewCache(6_000);
      for (const { room, version, length } of steps) {
        const found = cache.get(`${room}`, `${version}`);
        assert.ok(found === undefined || found.toString() === `${room}:${version}:`.padEnd(found.length, "."));
        cache.put(`${room}`, `${version}`, Buffer.from(`${room}:${version}:`.padEnd(length, ".")));
        assert.ok(cache.heldBytes() >= 0 && cache.heldBytes() <= 6_000);
      }
    }),
  );
});
