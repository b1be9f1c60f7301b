import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createMemoryBudget,
  type MemoryLimits,
  memoryHolder,
} from "../../../src/kernel/platform/bounds/memory-budget.ts";

/**
 * Opens a budget for a test. `start` begins a piece of work that reserves bytes of the budget, and `end` ends it.
 * `running` contains the names of the running pieces.
 */
function openBudget(limits: { bytes: number; waiting: number } & Partial<MemoryLimits>) {
  const usual = { bytesEach: limits.bytes, waitingEach: limits.waiting, waitMs: 60_000 };
  const budget = createMemoryBudget({ ...usual, ...limits });
  const running: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const settled = () => new Promise(setImmediate);
  return {
    running,
    async start(name: string, bytes: number) {
      const outcome = budget.within(`${name.slice(0, 1)} test`, bytes, async () => {
        running.push(name);
        const ended = Promise.withResolvers<void>();
        ends.set(name, (error) => (error ? ended.reject(error) : ended.resolve()));
        return ended.promise.finally(() => running.splice(running.indexOf(name), 1));
      });
      // The outcome is awaited later. Without this line, an early rejection would end the test.
      outcome.catch(() => {});
      await settled();
      return { outcome };
    },
    async end(name: string, error?: Error) {
      ends.get(name)?.(error);
      await settled();
    },
  };
}

test("work runs when its bytes fit next to running work, and waits otherwise", async () => {
  const { running, start, end } = openBudget({ bytes: 10, waiting: 9 });
  await start("a1", 6);
  await start("b1", 4);
  await start("c1", 5);
  assert.deepEqual(running, ["a1", "b1"]);
  await end("b1");
  assert.deepEqual(running, ["a1"], "four bytes are no room for five");
  await end("a1");
  assert.deepEqual(running, ["c1"]);
});

test("small work does not overtake large waiting work, and holders take turns", async () => {
  const { running, start, end } = openBudget({ bytes: 10, waiting: 9 });
  await start("a1", 8);
  await start("b1", 10);
  await start("b2", 9);
  await start("c1", 2);
  assert.deepEqual(running, ["a1"]);
  await end("a1");
  assert.deepEqual(running, ["b1"]);
  await end("b1");
  assert.deepEqual(running, ["c1"], "the turn of another comes before a holder's next");
  await end("c1");
  assert.deepEqual(running, ["b2"]);
});

test("work that is larger than the whole budget runs alone, and work that fails releases its bytes", async () => {
  const { running, start, end } = openBudget({ bytes: 10, waiting: 9 });
  const { outcome } = await start("a1", 50);
  await start("b1", 1);
  assert.deepEqual(running, ["a1"]);
  await end("a1", new Error("broken"));
  await assert.rejects(outcome, /broken/);
  assert.deepEqual(running, ["b1"]);
  await start("c1", 9);
  assert.deepEqual(running, ["b1", "c1"]);
});

test("beyond the maximum of waiting work, work is refused as unavailable, and accepted again later", async () => {
  const { running, start, end } = openBudget({ bytes: 10, waiting: 1 });
  await start("a1", 10);
  await start("b1", 1);
  const { outcome } = await start("c1", 1);
  await assert.rejects(outcome, { code: "unavailable", message: /Try again/ });
  await end("a1");
  await end("b1");
  await start("c2", 10);
  assert.deepEqual(running, ["c2"]);
});

test("one holder takes no more than its share of the waiting places", async () => {
  const { running, start, end } = openBudget({ bytes: 10, waiting: 9, waitingEach: 1 });
  await start("a1", 10);
  await start("a2", 1);
  const { outcome } = await start("a3", 1);
  await assert.rejects(outcome, { code: "unavailable" });
  await start("b1", 1);
  await end("a1");
  assert.deepEqual(running, ["a2", "b1"]);
  await start("a4", 10);
  await end("a2");
  await end("b1");
  assert.deepEqual(running, ["a4"], "a place that was left is free again");
});

test("one holder gets no more than its share of the bytes, and its waiting work delays nobody else", async () => {
  const { running, start, end } = openBudget({ bytes: 10, bytesEach: 6, waiting: 9 });
  await start("a1", 4);
  await start("a2", 3);
  await start("b1", 6);
  assert.deepEqual(running, ["a1", "b1"]);
  await start("c1", 1);
  assert.deepEqual(running, ["a1", "b1"], "ten bytes are held");
  await end("b1");
  assert.deepEqual(running, ["a1", "c1"], "there is room for a2, but not within its holder's share");
  await end("a1");
  assert.deepEqual(running, ["c1", "a2"]);
});

test("two holders with their maximum leave room for a third, and for each other", async () => {
  const { running, start, end } = openBudget({ bytes: 8, bytesEach: 4, waiting: 99 });
  for (const holder of ["a", "b"]) for (let n = 1; n <= 5; n++) await start(`${holder}${n}`, 1);
  assert.deepEqual(running, ["a1", "a2", "a3", "a4", "b1", "b2"]);
  await start("c1", 1);
  await start("c2", 1);
  assert.deepEqual(running.slice(6), ["c1"], "one byte is free, and c has as much");
  await start("d1", 1);
  assert.deepEqual(running.slice(7), ["d1"], "who has nothing may have the last one");
  for (const name of ["a1", "a2", "a3", "a4", "b1", "b2"]) await end(name);
  assert.ok(running.includes("c2") && running.includes("a5") && running.includes("b3"), "all go on when there is room");
});

test("work that waits too long is refused as unavailable, and gives its place to the next", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { running, start, end } = openBudget({ bytes: 10, waiting: 9, waitMs: 1_000 });
  await start("a1", 6);
  const { outcome } = await start("b1", 10);
  await start("c1", 4);
  assert.deepEqual(running, ["a1"], "small work does not overtake b1");
  t.mock.timers.tick(999);
  await start("d1", 1);
  assert.deepEqual(running, ["a1"]);
  t.mock.timers.tick(1);
  await assert.rejects(outcome, { code: "unavailable", message: /Try again/ });
  assert.ok(running.includes("a1"));
  await end("a1");
});

test("a repeated release of a reservation counts once", async () => {
  const budget = createMemoryBudget({ bytes: 10, bytesEach: 10, waiting: 0, waitingEach: 0, waitMs: 1_000 });
  const release = await budget.reserve("a test", 10);
  release();
  release();
  await budget.reserve("a test", 10);
  await assert.rejects(budget.reserve("a test", 1), { code: "unavailable" });
});

test("admits live reads of a firm whose test reads use their whole share and queue", async () => {
  const budget = createMemoryBudget({ bytes: 20, bytesEach: 10, waiting: 9, waitingEach: 1, waitMs: 60_000 });
  const [live, sandbox] = (["live", "test"] as const).map((environment) =>
    memoryHolder({ partnerId: "a", environment }),
  );
  assert.ok(live && sandbox);
  await budget.reserve(sandbox, 10);
  const waiting = budget.reserve(sandbox, 10);
  await assert.rejects(budget.reserve(sandbox, 1), { code: "unavailable" });
  const release = await budget.reserve(live, 10);
  release();
  await Promise.race([waiting, new Promise(setImmediate)]);
});
