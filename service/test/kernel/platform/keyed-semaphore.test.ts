import assert from "node:assert/strict";
import { test } from "node:test";
import { createKeyedSemaphore } from "../../../src/kernel/platform/bounds/keyed-semaphore.ts";

/** Pieces of work that a test can end. `running` contains the names of running pieces. */
function pieces() {
  const running: string[] = [];
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const work = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      running.push(name);
      begun.push(name);
      ends.set(name, (error) => {
        running.splice(running.indexOf(name), 1);
        if (error) reject(error);
        else resolve(name);
      });
    });
  const end = async (name: string, error?: Error) => {
    ends.get(name)?.(error);
    await new Promise(setImmediate);
  };
  return { running, begun, work, end };
}

test("work of one key runs one piece at a time, in the order of the calls", async () => {
  const { running, begun, work, end } = pieces();
  const semaphore = createKeyedSemaphore(4);
  const all = ["a1", "a2", "a3"].map((name) => semaphore("a", work(name)));
  await new Promise(setImmediate);
  for (const name of ["a1", "a2", "a3"]) {
    assert.deepEqual(running, [name]);
    await end(name);
  }
  assert.deepEqual(begun, ["a1", "a2", "a3"]);
  assert.deepEqual(await Promise.all(all), ["a1", "a2", "a3"]);
});

test("a limited number of keys run concurrently, and the next one when a permit is free", async () => {
  const { running, work, end } = pieces();
  const semaphore = createKeyedSemaphore(2);
  const all = ["a", "b", "c"].map((name) => semaphore(name, work(name)));
  await new Promise(setImmediate);
  assert.deepEqual(running, ["a", "b"]);
  await end("b");
  assert.deepEqual(running, ["a", "c"]);
  await end("a");
  await end("c");
  await Promise.all(all);
});

test("a holder of many keys takes turns with others", async () => {
  const { begun, work, end } = pieces();
  const semaphore = createKeyedSemaphore(1);
  const all = ["a1", "a2", "a3", "b1"].map((name) => semaphore(name, work(name), name[0]));
  await new Promise(setImmediate);
  for (const name of ["a1", "a2", "b1", "a3"]) await end(name);
  assert.deepEqual(begun, ["a1", "a2", "b1", "a3"]);
  assert.deepEqual(await Promise.all(all), ["a1", "a2", "a3", "b1"]);
});

test("work that fails releases its permit", async () => {
  const { work, end } = pieces();
  const semaphore = createKeyedSemaphore(1);
  const failing = semaphore("a", work("first"));
  const following = semaphore("a", work("second"));
  await new Promise(setImmediate);
  const failed = assert.rejects(failing, /lost/);
  await end("first", new Error("lost"));
  await failed;
  await end("second");
  assert.equal(await following, "second");
});
