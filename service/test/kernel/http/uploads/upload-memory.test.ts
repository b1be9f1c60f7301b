import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createUploadMemory } from "../../../../src/kernel/http/uploads/upload-memory.ts";

/**
 * Upload memory for tests. `admitted` lists the granted reservations by name, in the order in which they were granted.
 */
function bench(sizes: { total: number; perHolder: number }) {
  const memory = createUploadMemory(sizes);
  const admitted: string[] = [];
  const releases = new Map<string, () => void>();
  const ask = (name: string, bytes: number) => {
    void memory.reserve(`${name.slice(0, 1)} test`, bytes, 100).then((release) => {
      admitted.push(name);
      releases.set(name, release);
    });
  };
  const settled = () => new Promise(setImmediate);
  const release = async (name: string) => {
    releases.get(name)?.();
    await settled();
  };
  return { memory, admitted, ask, release, settled };
}

test("one holder gets its share and no more; the others get theirs at once", async () => {
  const { admitted, ask, release, settled } = bench({ total: 8, perHolder: 2 });
  for (let n = 1; n <= 8; n++) ask(`a${n}`, 1);
  ask("b1", 2);
  ask("c1", 1);
  await settled();
  assert.deepEqual(admitted, ["a1", "a2", "b1", "c1"]);
  await release("a2");
  assert.deepEqual(admitted.slice(4), ["a3"]);
});

test("waiting holders are served round-robin, each in the order of its requests", async () => {
  const { admitted, ask, release, settled } = bench({ total: 2, perHolder: 2 });
  ask("x1", 1);
  ask("x2", 1);
  await settled();
  for (const name of ["a1", "a2", "a3", "b1", "b2", "c1"]) ask(name, 1);
  await release("x1");
  await release("x2");
  for (const name of ["a1", "b1", "c1", "a2", "b2"]) await release(name);
  assert.deepEqual(admitted.slice(2), ["a1", "b1", "c1", "a2", "b2", "a3"]);
});

test("small reservations do not overtake a large one whose turn it is", async () => {
  const { admitted, ask, release, settled } = bench({ total: 4, perHolder: 4 });
  ask("x1", 3);
  await settled();
  ask("a1", 4);
  ask("b1", 1);
  await settled();
  assert.deepEqual(admitted, ["x1"]);
  await release("x1");
  assert.deepEqual(admitted, ["x1", "a1"]);
  await release("a1");
  assert.deepEqual(admitted, ["x1", "a1", "b1"]);
});

test("a repeated release counts once, and never more than a share is lent", async () => {
  const { memory, admitted, ask, settled } = bench({ total: 4, perHolder: 2 });
  const first = await memory.reserve("a test", 2, 1);
  first();
  first();
  ask("a1", 2);
  ask("b1", 2);
  ask("c1", 1);
  await settled();
  assert.deepEqual(admitted, ["a1", "b1"]);
  await assert.rejects(memory.reserve("a test", 3, 1), RangeError);
});

test("a limited number of reservations per holder may wait, whatever the others do", async () => {
  const { memory, admitted, ask, release, settled } = bench({ total: 2, perHolder: 1 });
  for (const name of ["a1", "a2", "a3", "b1", "b2"]) ask(name, 1);
  await settled();
  await assert.rejects(memory.reserve("a test", 1, 2), { code: "unavailable" });
  const third = memory.reserve("a test", 1, 3);
  for (const name of ["a1", "a2", "a3"]) await release(name);
  (await third)();
  await release("b1");
  assert.deepEqual(admitted, ["a1", "b1", "a2", "a3", "b2"]);
});

test("for any reservations and releases, no limit is exceeded and all are served in the end", async () => {
  const asked = fc.array(
    fc.record({ holder: fc.constantFrom("a", "b", "c", "d"), bytes: fc.integer({ min: 1, max: 5 }) }),
    {
      maxLength: 40,
    },
  );
  await fc.assert(
    fc.asyncProperty(asked, async (all) => {
      const memory = createUploadMemory({ total: 12, perHolder: 5 });
      const held = new Map<string, number>();
      const waiting = all.map(async ({ holder, bytes }) => {
        const release = await memory.reserve(`${holder} test`, bytes, 100);
        held.set(holder, (held.get(holder) ?? 0) + bytes);
        assert.ok((held.get(holder) ?? 0) <= 5);
        assert.ok([...held.values()].reduce((sum, each) => sum + each, 0) <= 12);
        await new Promise(setImmediate);
        held.set(holder, (held.get(holder) ?? 0) - bytes);
        release();
      });
      await Promise.all(waiting);
    }),
    { numRuns: 100 },
  );
});
