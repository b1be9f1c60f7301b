import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clockAhead, testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { type Night, openNight, paste, printed, readiness } from "./night.ts";

const { test, before, after } = testsNeeding("root", "postgresql", "redis", "faketime");
const skewSeconds = 600;
let night: Night;
before(async () => {
  night = await openNight({ hasVolume: true });
});
after(() => night?.close());

const bothSay = (blobs: string) =>
  until(async () => (await Promise.all(night.nodes.map(readiness))).every(({ checks }) => checks["blobs"] === blobs));
const later = () => night.writers.statuses.get(503) ?? 0;

test("a hanging store refuses only documents, until it continues", async () => {
  execFileSync("fsfreeze", ["-f", night.blobs]);
  try {
    await bothSay("failed");
    const [answer] = await Promise.all([readiness(night.nodes[0]), until(() => later() > 0)]);
    assert.deepEqual([answer.code, answer.status], [200, "degraded"]);
    const list = await fetch(`${night.nodes[1].baseUrl}/api/partner/orders?limit=1`, {
      headers: { Authorization: `Bearer ${night.keys[0]}` },
    });
    assert.equal(list.status, 200);
  } finally {
    execFileSync("fsfreeze", ["-u", night.blobs]);
  }
  await night.allReady();
  await night.writers.more(10);
  await night.nothingIsLost();
});

test("a full disk refuses documents until there is room again", async () => {
  const old = join(night.blobs, "old-backup.tar");
  const before = later();
  try {
    // dd exits with an error when the disk is full.
    spawnSync("dd", ["if=/dev/zero", `of=${old}`, "bs=4k", "conv=fsync"]);
    await Promise.all([bothSay("failed"), until(() => later() > before)]);
    assert.match(await night.type("### The disk is full", "df -h"), / 100% /);
  } finally {
    // Without room, no order of a later test succeeds.
    rmSync(old);
  }
  await night.allReady();
  await night.writers.more(10);
  await night.nothingIsLost();
});

test("the command that finds what fills the disk goes on when a file is deleted while it counts", async () => {
  const programs = night.at("programs");
  mkdirSync(programs);
  const script = '#!/bin/sh\nPATH="$REAL_PATH" du "$@"\necho "du: cannot access a file" >&2\nexit 1\n';
  writeFileSync(join(programs, "du"), script, { mode: 0o755 });
  const env = { ...night.env, REAL_PATH: process.env["PATH"] ?? "" };
  const listed = await paste(printed("### The disk is full", "df -h"), env, { path: programs, cwd: programs });
  assert.match(listed, /\/blobs$/m);
});

test("without Redis firms continue writing, and its return needs no restart of a node", async () => {
  const ended = once(night.redis, "exit");
  night.redis.kill("SIGKILL");
  await ended;
  await until(async () => (await night.type("## At night", "curl")).includes('dependency_up{name="redis"} 0'));
  await night.writers.more(10);
  night.startRedis();
  await until(() => night.type("### Redis is dead", "redis-cli").catch(() => ""));
  await until(async () => (await night.type("## At night", "curl")).includes('dependency_up{name="redis"} 1'));
  await night.nothingIsLost();
});

test("a node whose clock is ten minutes ahead writes next to the others, and a restart corrects it", async () => {
  const ahead = clockAhead(skewSeconds);
  await night.nodes[1].stop();
  night.nodes[1] = await night.nodes[1].restart(ahead);
  await night.allReady();
  await night.writers.more(20);
  await night.nothingIsLost();
  const printedTimes = await night.type("### A clock is wrong", "date", ahead);
  const [ofDatabase = 0, ofNode = 0] = printedTimes.trim().split("\n").map(Number);
  assert.ok(Math.abs(ofNode - ofDatabase - skewSeconds) < 60, printedTimes);
  await night.nodes[1].stop();
  night.nodes[1] = await night.nodes[1].restart({ LD_PRELOAD: "", FAKETIME: "" });
  await night.allReady();
  await night.writers.more(10);
  await night.nothingIsLost();
});

test("after its standby is lost for good the primary commits alone on command, and waiting writes are acknowledged", async () => {
  await night.pair.standby.kill();
  const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  await until(() => night.primary.psql(waiting) !== "0");
  await night.type("### The standby is away", "synchronous_standby_names");
  await night.writers.more(10);
  await night.nothingIsLost();
});
