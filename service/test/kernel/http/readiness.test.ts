import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { openReadiness } from "../../../src/kernel/http/readiness.ts";

const times = { answerMs: 50, sharedMs: 200 };

test("concurrent callers, and callers soon after, share one probe of each dependency", async () => {
  let looks = 0;
  const check = async () => {
    looks++;
    await delay(10);
  };
  const ready = openReadiness([{ name: "database", check }], () => {}, times);
  const answers = await Promise.all(Array.from({ length: 50 }, ready));
  for (const answer of answers) assert.deepEqual(answer, { status: "ok", checks: { database: "ok" } });
  await ready();
  assert.equal(looks, 1);
  await delay(times.sharedMs + 20);
  await ready();
  assert.equal(looks, 2);
});

test("a hanging dependency fails in time, and is not probed again while the probe hangs", async () => {
  const hanging: (() => void)[] = [];
  const check = () => new Promise<void>((resolve) => hanging.push(resolve));
  const fine = { name: "seal key", check: async () => {} };
  const failures: string[] = [];
  const ready = openReadiness([{ name: "blobs", check }, fine], (name) => failures.push(name), times);
  const begun = performance.now();
  assert.deepEqual(await ready(), { status: "failed", checks: { blobs: "failed", "seal key": "ok" } });
  assert.ok(performance.now() - begun < 1_000);
  await delay(times.sharedMs + 20);
  assert.equal((await ready()).status, "failed");
  assert.deepEqual([hanging.length, failures], [1, ["blobs"]]);

  hanging[0]?.();
  await delay(10);
  const again = ready();
  hanging[1]?.();
  assert.equal((await again).status, "ok");
});

test("a failing dependency counts as failed until the result is no longer fresh", async () => {
  let away = true;
  const check = async () => {
    if (away) throw new Error("connection refused");
  };
  const ready = openReadiness([{ name: "database", check }], () => {}, times);
  assert.equal((await ready()).status, "failed");
  away = false;
  assert.equal((await ready()).status, "failed");
  await delay(times.sharedMs + 20);
  assert.equal((await ready()).status, "ok");
});

test("an unreachable shared dependency degrades the node, unless one of its own has failed, too", async () => {
  const refuse = async () => {
    throw new Error("connection refused");
  };
  const answer = async () => {};
  const blobs = { name: "blobs", check: refuse, isShared: true };
  const degraded = openReadiness([{ name: "database", check: answer }, blobs], () => {}, times);
  assert.deepEqual(await degraded(), { status: "degraded", checks: { database: "ok", blobs: "failed" } });
  const failed = openReadiness([{ name: "database", check: refuse }, blobs], () => {}, times);
  assert.deepEqual(await failed(), { status: "failed", checks: { database: "failed", blobs: "failed" } });
});
