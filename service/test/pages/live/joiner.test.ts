import assert from "node:assert/strict";
import { type MockTimers, test } from "node:test";
import { joiner } from "../../../src/pages/live/browser/connection.ts";

/** A joiner whose attempts and timers are controlled by a test. */
function started({ mock }: { mock: { timers: MockTimers } }) {
  mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  const open: ReturnType<typeof Promise.withResolvers<"joined" | "failed" | "stopped">>[] = [];
  let attempts = 0;
  const joining = joiner(
    () => {
      attempts++;
      const attempt = Promise.withResolvers<"joined" | "failed" | "stopped">();
      open.push(attempt);
      return attempt.promise;
    },
    () => now,
  );
  const settled = () => new Promise(setImmediate);
  return {
    joining,
    attempts: () => attempts,
    running: () => open.length,
    async answer(result: "joined" | "failed" | "stopped") {
      open.shift()?.resolve(result);
      await settled();
    },
    async throws() {
      open.shift()?.reject(new DOMException("", "InvalidStateError"));
      await settled();
    },
    async pass(ms: number) {
      now += ms;
      mock.timers.tick(ms);
      await settled();
    },
  };
}

test("a request to join again during an attempt causes one more attempt after it", async (t) => {
  const { joining, attempts, running, answer, pass } = started(t);
  joining.join();
  joining.again();
  joining.join();
  assert.deepEqual([attempts(), running()], [1, 1]);
  await answer("joined");
  await pass(1_000);
  assert.equal(attempts(), 2);
  await answer("joined");
  await pass(60_000);
  assert.equal(attempts(), 2);
});

test("any failure is followed by another attempt, after pauses that grow to three seconds", async (t) => {
  const { joining, attempts, answer, throws, pass } = started(t);
  joining.join();
  await throws();
  for (const [ms, count] of [
    [999, 1],
    [1, 2],
  ] as const) {
    await pass(ms);
    assert.equal(attempts(), count);
  }
  await answer("failed");
  await pass(2_000);
  for (let count = 3; count < 6; count++) {
    assert.equal(attempts(), count);
    await answer("failed");
    await pass(2_999);
    assert.equal(attempts(), count);
    await pass(1);
  }
});

test("a good connection that ends is made again at once, and a device that is missing waits for the person", async (t) => {
  const { joining, attempts, answer, pass } = started(t);
  joining.join();
  await answer("joined");
  await pass(20_000);
  joining.again();
  joining.again();
  await pass(0);
  assert.equal(attempts(), 2);
  joining.again();
  await answer("stopped");
  await pass(60_000);
  assert.equal(attempts(), 2);
  joining.join();
  assert.equal(attempts(), 3);
});
