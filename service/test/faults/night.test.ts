import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "@signsealship/testing/free-port";
import { endWithTests } from "@signsealship/testing/reaper";
import { startService } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { type Night, openNight, readiness } from "./night.ts";
import { lostAndDoubled } from "./order-writers.ts";

const { test, before, after } = testsNeeding("postgresql", "redis");
const root = fileURLToPath(new URL("../../..", import.meta.url));
let night: Night;
before(async () => {
  night = await openNight();
});
after(() => night?.close());

test("a backup is made while firms write", async () => {
  mkdirSync(night.at("elsewhere"));
  mkdirSync(night.at("backup"));
  await night.type("## Backups", 'cp -a "$DATA_DIR/blobs"', {}, night.at("backup"));
  await night.writers.more(4);
});

test("a lost database is replaced by its standby, without a restart of the nodes", async () => {
  await night.primary.kill();
  assert.equal((await until(async () => (await readiness(night.nodes[0])).code === 503 && "503")) ?? "", "503");
  await night.type("### The database's machine is lost", "pg_promote");
  night.primary = night.pair.standby;
  night.address.redirect(night.primary.port);
  await night.allReady();
  await night.writers.more(10);
  await night.nothingIsLost();
  assert.match(await night.type("## At night", "curl"), /dependency_up\{name="database"\} 1/);
});

/** The next release, with a slow migration that stops older nodes. @returns its command line */
function nextRelease(): string {
  cpSync(join(root, "service"), night.at("next/service"), { recursive: true });
  for (const name of ["node_modules", "packages", "package.json"])
    symlinkSync(join(root, name), night.at("next", name));
  const script = "-- Older nodes: stop.\nALTER TABLE orders ADD COLUMN later text;\nSELECT pg_sleep(20);\n";
  writeFileSync(night.at("next/service/migrations/9000_later.sql"), script);
  return night.at("next/service/src/cli/main.ts");
}

const migrating = () =>
  night.primary.psql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7246001 AND granted") !==
  "0";

test("a node that is killed during an upgrade leaves no incomplete state, and is started again", async () => {
  const program = nextRelease();
  await night.nodes[1].stop();
  const killed = spawn(process.execPath, [program, "serve"], {
    env: {
      PATH: process.env["PATH"],
      ...night.env,
      TSA_URLS: "off",
      OTS_CALENDARS: "off",
      PORT: String(await freePort()),
    },
    stdio: "ignore",
  });
  endWithTests(killed);
  await until(migrating);
  killed.kill("SIGKILL");
  assert.equal(migrating(), true);
  await night.type("### A node was killed in an upgrade", "pg_terminate_backend");
  await until(() => !migrating());
  await night.writers.more(4);

  writeFileSync(
    night.at("next/service/migrations/9000_later.sql"),
    "-- Older nodes: stop.\nALTER TABLE orders ADD COLUMN later text;\n",
  );
  const upgraded = await startService(night.env, { program });
  const old = night.nodes[0];
  night.nodes = [upgraded, upgraded];
  await until(() => old.process().exitCode !== null);
  assert.equal(old.process().exitCode, 1);
  night.nodes = [upgraded, await startService(night.env, { program })];
  await night.allReady();
  await night.writers.more(10);
  await night.nothingIsLost();
});

test("yesterday's backup is restored, and states since when it lacks acknowledged data", async () => {
  await night.writers.pause();
  const place = night.at("backup");
  const server = { PGHOST: "127.0.0.1", PGPORT: String(night.primary.port), PGUSER: "postgres" };
  await night.type("## Restore", "createdb -O signsealship_owner restored", server, place);
  await night.type("## Restore", "UPDATE webhook_deliveries SET leased_until", server, place);
  const restored = {
    DATA_DIR: night.at("restored"),
    DATABASE_URL: `postgres://signsealship_owner@127.0.0.1:${night.primary.port}/restored`,
  };
  mkdirSync(night.at("restored"));
  cpSync(night.at("backup/blobs"), night.at("restored/blobs"), { recursive: true });
  cpSync(night.at("elsewhere/keys"), night.at("restored/keys"), { recursive: true });
  const said = await night.type("### Yesterday's backup", "restore status", restored, place);
  const end = /The last line of the audit log is \d+ of (\S+);/.exec(said)?.[1] ?? "";
  const { lost, doubled } = lostAndDoubled(night.writers.acknowledged, night.storedCodes("restored"));
  assert.ok(lost.length > 0 && lost.length < night.writers.acknowledged.length);
  assert.deepEqual([doubled, lost.filter(({ at: time }) => time < new Date(end))], [[], []]);

  const service = await startService({ ...night.env, ...restored });
  try {
    const status = async (code: string) => {
      const headers = { Authorization: `Bearer ${night.keys[0]}` };
      return (await fetch(`${service.baseUrl}/api/partner/orders/${code}`, { headers })).status;
    };
    assert.equal(await status(night.writers.acknowledged[0]?.code ?? ""), 200);
    assert.equal(await status(lost[0]?.code ?? ""), 404);
    // The log halts, because published entries may be lost. Everything else works.
    const ready = await until(async () => {
      const answer = await readiness(service);
      return answer.status === "ok" ? null : answer;
    });
    const failed = Object.keys(ready.checks).filter((name) => ready.checks[name] !== "ok");
    assert.deepEqual([ready.code, ready.status, failed], [200, "degraded", ["log"]]);
  } finally {
    await service.stop();
  }
});
