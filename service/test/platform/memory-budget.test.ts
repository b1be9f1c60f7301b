import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryBudget } from "../../src/platform/bounds/memory-budget.ts";

/** Work of so many bytes that ends on demand, and what runs meanwhile. */
function openBudget(limits: { bytes: number; waiting: number; waitingEach?: number }) {
  const budget = createMemoryBudget({ waitingEach: limits.waiting, ...limits });
  const running: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const settled = () => new Promise(setImmediate);
  return {
    running,
    async start(name: string, bytes: number) {
      const outcome = budget(name.slice(0, 1), bytes, async () => {
        running.push(name);
        const ended = Promise.withResolvers<void>();
        ends.set(name, (error) => (error ? ended.reject(error) : ended.resolve()));
        return ended.promise.finally(() => running.splice(running.indexOf(name), 1));
      });
      // Asked for later: not to end the test meanwhile.
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

test("work runs as long as its bytes fit beside what runs, and waits otherwise", async () => {
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

test("small work does not overtake large work that waits, and holders take turns", async () => {
  const { running, start, end } = openBudget({ bytes: 10, waiting: 9 });
  await start("a1", 8);
  await start("a2", 10);
  await start("a3", 9);
  await start("b1", 2);
  assert.deepEqual(running, ["a1"]);
  await end("a1");
  assert.deepEqual(running, ["a2"]);
  await end("a2");
  assert.deepEqual(running, ["b1"], "the turn of another comes before a holder's next");
  await end("b1");
  assert.deepEqual(running, ["a3"]);
});

test("work that is larger than the whole budget runs alone, and work that fails gives its bytes back", async () => {
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

test("beyond so many that wait, work is refused as unavailable, and later accepted again", async () => {
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

test("one holder takes no more than its share of the places to wait", async () => {
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
