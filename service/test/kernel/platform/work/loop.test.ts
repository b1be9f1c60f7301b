import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { until } from "@signsealship/testing/until";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { backoffMs } from "../../../../src/kernel/platform/work/backoff.ts";
import { endsWithin } from "../../../../src/kernel/platform/work/ends-within.ts";
import { createLoop, createSignal } from "../../../../src/kernel/platform/work/loop.ts";
import { loopOf } from "../../../../src/kernel/platform/work/periodic.ts";

const log = openLog("silent");
const long = 60_000;

describe("a loop", () => {
  test("starts its first turn at once, and the next after the requested pause", async () => {
    let turns = 0;
    const loop = createLoop({ name: "t", log, turn: async () => (++turns < 3 ? 1 : long) });
    loop.start();
    await until(() => turns === 3);
    await delay(20);
    assert.equal(turns, 3);
    await loop.stop();
  });

  test("waits before its first turn when requested", async () => {
    let turns = 0;
    const turn = async () => {
      turns++;
      return long;
    };
    const loop = createLoop({ name: "t", log, turn, firstAfterMs: long });
    loop.start();
    await delay(20);
    assert.equal(turns, 0);
    loop.wake();
    await until(() => turns === 1);
    await loop.stop();
  });

  test("starts another turn when it was woken during one, and never two at once", async () => {
    let [turns, atOnce, most] = [0, 0, 0];
    let release = () => {};
    const loop = createLoop({
      name: "t",
      log,
      async turn() {
        most = Math.max(most, ++atOnce);
        turns++;
        if (turns === 1) await new Promise<void>((resolve) => (release = resolve));
        atOnce--;
        return long;
      },
    });
    loop.start();
    loop.wake();
    loop.wake();
    release();
    await until(() => turns === 2);
    await delay(20);
    assert.deepEqual([turns, most], [2, 1]);
    await loop.stop();
  });

  test("continues after a failed turn, after a pause", async () => {
    let turns = 0;
    const turn = async () => {
      if (++turns < 3) throw new Error("no");
      return long;
    };
    const loop = createLoop({ name: "t", log, turn, maxPauseMs: 5 });
    loop.start();
    await until(() => turns === 3);
    await loop.stop();
  });

  test("stops after the turn in progress, which is reported, and starts no other", async () => {
    let turns = 0;
    let ended = false;
    const loop = createLoop({
      name: "t",
      log,
      async turn(stopping) {
        turns++;
        await new Promise((resolve) => stopping.addEventListener("abort", resolve));
        await delay(20);
        ended = true;
        return 0;
      },
    });
    loop.start();
    await loop.stop();
    assert.equal(ended, true);
    loop.wake();
    await delay(10);
    assert.equal(turns, 1);
  });

  test("may be stopped even if it was never started", async () => {
    await createLoop({ name: "t", log, turn: () => assert.fail() }).stop();
  });
});

describe("a signal", () => {
  test("wakes a waiter, or the next waiter, once", async () => {
    const signal = createSignal();
    const waiting = signal.wait(long);
    signal.give();
    await waiting;
    signal.give();
    signal.give();
    await signal.wait(long);
    assert.equal(await endsWithin(signal.wait(50), 5), false);
  });

  test("is no longer awaited after the time-out", async () => {
    await createSignal().wait(1);
  });
});

test("pauses double from a second up to their maximum", () => {
  assert.deepEqual(
    [1, 2, 3].map((failures) => backoffMs(failures)),
    [1000, 2000, 4000],
  );
  assert.equal(backoffMs(99), 3_600_000);
  assert.equal(backoffMs(4, 5_000), 5_000);
});

test("distinguishes work that ends in time, and passes on a failure", async () => {
  assert.equal(await endsWithin(delay(1), long), true);
  assert.equal(await endsWithin(delay(50), 1), false);
  await assert.rejects(endsWithin(Promise.reject(new Error("no")), long), /no/);
});

test("a periodic task takes its first turn after its delay, and the next after its interval", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const passed = async (ms: number) => {
    t.mock.timers.tick(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const turns = { atStart: 0, later: 0 };
  const task = (name: keyof typeof turns) => ({ name, everyMs: 1000, work: async () => turns[name]++ });
  const loops = [loopOf({ ...task("atStart"), atStart: true }, { log }, 40), loopOf(task("later"), { log }, 60)];
  for (const loop of loops) loop.start();
  await passed(39);
  assert.deepEqual(turns, { atStart: 0, later: 0 });
  await passed(1);
  assert.deepEqual(turns, { atStart: 1, later: 0 });
  await passed(1000);
  assert.deepEqual(turns, { atStart: 2, later: 0 });
  await passed(20);
  assert.deepEqual(turns, { atStart: 2, later: 1 });
  await Promise.all(loops.map((loop) => loop.stop()));
});
