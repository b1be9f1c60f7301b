import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { join } from "node:path";
import { mock, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { enginePids, startEngine } from "@signsealship/testing/media";
import { openPeer } from "@signsealship/testing/media-peer";
import { until } from "@signsealship/testing/until";
import { emptyChain, followChain } from "../../../src/providers/media/chain.ts";
import { beatFor, expectBeats } from "../../../src/providers/media/heartbeat.ts";
import { readSpool, spoolFiles } from "../../../src/providers/media/spool.ts";

const children: ChildProcess[] = [];
subscribe("child_process", (message) => children.push((message as { process: ChildProcess }).process));

const media = await forTests(startEngine());
const { engine } = media;

test("a process counts as hanging after six heartbeats without an answer, and not after late answers", () => {
  mock.timers.enable({ apis: ["setInterval"] });
  let [sent, hangs] = [0, 0];
  const send = () => ++sent > 0;
  const beats = beatFor({ send }, () => hangs++);
  mock.timers.tick(60_000);
  assert.equal(sent, 0, "none before the process is ready");
  beats.begin();
  for (let n = 0; n < 3; n++) {
    mock.timers.tick(6_000);
    beats.answered();
  }
  assert.deepEqual([sent, hangs], [18, 0]);
  mock.timers.tick(6_000);
  assert.equal(hangs, 0);
  mock.timers.tick(1_000);
  assert.deepEqual([sent, hangs], [24, 1]);
  mock.timers.tick(60_000);
  assert.deepEqual([sent, hangs], [24, 1]);
  mock.timers.reset();
});

test("a process that gets no heartbeat for five seconds ends, and a late heartbeat does not help", () => {
  let now = 1_000;
  const clock = mock.method(performance, "now", () => now);
  let ended = 0;
  const beats = expectBeats(() => ended++);
  now += 5_000;
  beats.heard();
  now += 5_000;
  beats.check();
  assert.equal(ended, 0);
  now += 1;
  beats.heard();
  assert.equal(ended, 1);
  beats.end();
  now += 60_000;
  beats.check();
  assert.equal(ended, 1, "after the end no heartbeats are expected");
  clock.mock.restore();
});

test("a process that hangs is killed, its recording is complete except for a moment, and another one continues it", async () => {
  const key = randomBytes(32);
  const spooled = async () => {
    const files = await spoolFiles(join(media.spoolDir, "hangs"));
    return (await Promise.all(files.map(readSpool))).flatMap(({ chunks }) => chunks.map(({ line }) => line));
  };
  await engine.open("hangs", { key, head: emptyChain, firstTake: 1, lastTake: 1_000 });
  const peer = await openPeer({ engine, session: "hangs", person: "a" });
  await media.happened("chunk", ({ line }) => line.n === 2);
  const [pid] = enginePids();
  assert.ok(pid);
  process.kill(pid, "SIGSTOP");
  assert.deepEqual((await media.happened("lost")).sessions, ["hangs"]);
  await until(() => !enginePids().includes(pid));
  await peer.close();
  const head = followChain(emptyChain, await spooled());
  assert.ok(!("brokenAt" in head) && head.seq >= 2);
  await until(() =>
    engine.open("hangs", { key, head, firstTake: 1_001, lastTake: 2_000 }).then(
      () => true,
      () => false,
    ),
  );
  const back = await openPeer({ engine, session: "hangs", person: "a" });
  await media.happened("chunk", ({ line }) => line.take === 1_001);
  await engine.close("hangs");
  await back.close();
  assert.ok(!("brokenAt" in followChain(emptyChain, await spooled())));
});

test("a process whose service has died writes what it has received before it ends", async () => {
  await engine.open("orphan", { key: randomBytes(32), head: emptyChain, firstTake: 1, lastTake: 1_000 });
  const child = children.find(({ pid }) => pid !== undefined && enginePids().includes(pid));
  assert.ok(child);
  const peer = await openPeer({ engine, session: "orphan", person: "a" });
  await media.happened("chunk", ({ session, line }) => session === "orphan" && line.n === 2);
  const disconnectedAt = Date.now();
  child.disconnect();
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
  const files = await spoolFiles(join(media.spoolDir, "orphan"));
  const lines = (await Promise.all(files.map(readSpool))).flatMap(({ chunks }) => chunks.map(({ line }) => line));
  const missing = disconnectedAt - Date.parse(lines.at(-1)?.at ?? "");
  assert.ok(missing < 1_000, `${missing} ms are missing`);
  await peer.close();
});
