import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { forTests } from "@signsealship/testing/for-tests";
import { runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { enqueue } from "../../../src/kernel/platform/jobs/jobs.ts";
import { openWebhooksService } from "../../outgoing/webhooks/webhooks-service.ts";
import { endHalts, hasEveryCode, sealAll } from "./restored.ts";

const cli = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
const place = temporaryFolder();
const at = (...names: string[]) => join(place.path, ...names);

/** Functions that send the delayed responses. Until the test calls one, its delivery stays in progress. */
const answers: (() => void)[] = [];

after(() => {
  for (const answer of answers) answer();
});
const running = await forTests(openWebhooksService());
const firm = await running.partner();
const hook = await firm.subscribe("/hook", ["order.created"]);
const order = await firm.order();
const codes = await sealAll(firm, order);
await firm.ended(hook);

const env = () => ({ ...running.env, RATE_LIMITS: "off" });
const command = (dataDir: string, ...args: string[]) => runCli({ ...env(), DATA_DIR: dataDir }, ...args);

type Report = {
  held: { jobs: Record<string, number>; deliveries: number };
  lastAuditLine: { id: number };
  missingBlobs: string[];
  sessionsEnded: number;
};

const outbox = (dataDir: string): string[] =>
  existsSync(join(dataDir, "outbox")) ? readdirSync(join(dataDir, "outbox")) : [];

/** Starts work that is in progress during the backup: an unanswered delivery, and a mail that is due within minutes. */
async function begin(): Promise<string> {
  running.catcher.answer("/slow", (_request, response) => void answers.push(() => response.end("ok")));
  await firm.subscribe("/slow", ["order.created"]);
  const late = await firm.order();
  await running.catcher.wait("/slow");
  const [row] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", late)}`,
  );
  const due = new Date(Date.now() + 600_000);
  await enqueue(
    running.db,
    "order-mail",
    { orderId: row?.id, moment: "payment_received", at: due, isAlone: true },
    due,
  );
  return late;
}

test("a restored backup has every code, and repeats no job and no webhook until they are released", async () => {
  const late = await begin();
  // Writers continue during the backup.
  let ended = false;
  const writing = (async () => {
    while (!ended) await firm.order();
  })();
  const made = await command(running.service.dataDir, "backup", at("copy"), "--keys", at("keys"), "--json");
  assert.equal(made.code, 0, made.stderr);
  ended = true;
  await writing;
  const lost = await firm.order();
  const metrics = await (await fetch(`${running.service.baseUrl}/metrics`)).text();
  assert.match(metrics, /^backup_last_success_time_seconds\{kind="made"\} \d{10}/m);
  for (const answer of answers.splice(0)) answer();
  await sentOnce();

  const restored = await command(at("other"), "restore", at("copy"), "--keys", at("keys"), "--json");
  assert.equal(restored.code, 0, restored.stderr);
  const report = JSON.parse(restored.stdout) as Report;
  assert.ok((report.held.jobs["order-mail"] ?? 0) >= 1);
  assert.ok(report.held.deliveries >= 1);
  assert.deepEqual(report.missingBlobs, []);
  const caught = running.catcher.caught.length;
  const service = await startService({ ...env(), DATA_DIR: at("other") });
  try {
    await hasEveryCode(service.baseUrl, firm.key, codes, { orders: [order, late], lost });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    assert.equal(running.catcher.caught.length, caught);
    assert.deepEqual(outbox(at("other")), []);
    await service.cli("restore", "release");
    await until(() => running.catcher.caught.length > caught);
    await until(() => outbox(at("other")).length > 0);
    await endHalts(service);
    const { checks } = await service.cli<{ checks: { name: string; result: string; detail: string }[] }>("doctor");
    const { result = "", detail = "" } = checks.find(({ name }) => name === "audit log") ?? {};
    // Audit lines without a position in the chain get one after the restore. The check may warn that this took more
    // than a minute.
    assert.ok(result === "ok" || (result === "warning" && /more than a minute after/.test(detail)), detail);
  } finally {
    await service.stop();
  }
});

/** Waits until the original service has sent everything that was in progress. */
async function sentOnce(): Promise<void> {
  await running.db.query(sql`UPDATE jobs SET due_at = now() WHERE queue = 'order-mail'`);
  await until(async () => {
    const waiting = await running.db.query(sql`SELECT FROM jobs WHERE queue = 'order-mail' AND failed_at IS NULL`);
    const pending = await running.db.query(sql`SELECT FROM webhook_deliveries WHERE state = 'pending'`);
    for (const answer of answers.splice(0)) answer();
    return waiting.length === 0 && pending.length === 0;
  });
}

test("the keys are not in the backup, and only the owner can read it", async () => {
  const files = readdirSync(at("copy"), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  assert.ok(files.every(({ name }) => name !== "secrets" && name !== "pgpass" && name !== "seal"));
  assert.ok(files.every(({ parentPath, name }) => (statSync(join(parentPath, name)).mode & 0o077) === 0));
  const secret = readFileSync(join(running.service.dataDir, "keys/secrets"), "utf8").trim();
  assert.ok(readFileSync(at("keys/keys/secrets"), "utf8").startsWith(secret));
});

test("refuses a folder that is not empty, or is in the data or in the backup", async () => {
  const { dataDir } = running.service;
  for (const [args, rule] of [
    [[at("copy")], /is not empty/],
    [[join(dataDir, "backup")], /inside of DATA_DIR/],
    [[at("next"), "--keys", at("next/keys")], /is not separate from/],
    [[at("next"), "--keys", at("keys")], /is not empty/],
  ] as const) {
    const { code, stderr } = await command(dataDir, "backup", ...args);
    assert.deepEqual([code, rule.test(stderr)], [1, true], stderr);
  }
  assert.equal(existsSync(at("next")), false);
  assert.equal(existsSync(at("next.partial")), false);
});

test("refuses a data folder that is not empty, and an external database", async () => {
  const { stderr } = await command(running.service.dataDir, "restore", at("copy"));
  assert.match(stderr, /is not empty/);
  for (const verb of ["backup", "restore"]) {
    const external = await runCli({ DATA_DIR: at("x"), DATABASE_URL: "postgres://u@127.0.0.1:1/x" }, verb, at("y"));
    assert.match(external.stderr, new RegExp(`${verb} is for the embedded database`));
  }
});

test("refuses a backup that was altered or lacks a file, and leaves the data folder empty", async () => {
  const folder = at("damaged");
  const blob = readdirSync(at("copy/blobs"), { recursive: true, withFileTypes: true }).find((entry) => entry.isFile());
  assert.ok(blob);
  const damaged = join(blob.parentPath, blob.name).replace(at("copy"), folder);
  const damages: [RegExp, () => void][] = [
    [/is altered/, () => writeFileSync(damaged, "other")],
    [/is missing/, () => rmSync(damaged)],
    [/has no manifest/, () => rmSync(join(folder, "manifest.json"))],
    [/not a whole backup/, () => writeFileSync(join(folder, "files.sha256"), "")],
  ];
  for (const [rule, damage] of damages) {
    rmSync(folder, { recursive: true, force: true });
    cpSync(at("copy"), folder, { recursive: true });
    damage();
    const { code, stderr } = await command(at("third"), "restore", folder, "--keys", at("keys"));
    assert.deepEqual([code, rule.test(stderr)], [1, true], stderr);
    assert.deepEqual(existsSync(at("third")) ? readdirSync(at("third")) : [], []);
  }
});

test("a restore that fails empties the folder of blobs, but leaves the folder if it existed before", async () => {
  const folder = at("incomplete");
  cpSync(at("copy"), folder, { recursive: true });
  const [file] = readdirSync(join(folder, "database")).filter((name) => name === "PG_VERSION");
  assert.ok(file);
  writeFileSync(join(folder, "database", file), "other");
  const restoreInto = async (blobs: string) => {
    const settings = { ...env(), DATA_DIR: at("fifth"), BLOB_URL: `file:${blobs}` };
    const { code, stderr } = await runCli(settings, "restore", folder, "--keys", at("keys"));
    assert.deepEqual([code, /is altered/.test(stderr)], [1, true], stderr);
  };
  mkdirSync(at("mounted"), { mode: 0o750 });
  const { ino } = statSync(at("mounted"));
  await restoreInto(at("mounted"));
  assert.deepEqual([readdirSync(at("mounted")), statSync(at("mounted")).ino], [[], ino]);
  await restoreInto(at("unmounted"));
  assert.equal(existsSync(at("unmounted")), false);
});

test("an interrupted restore leaves a data folder on which nothing starts", async () => {
  mkdirSync(at("cut"), { recursive: true });
  writeFileSync(at("cut/restore-unfinished"), "1\n");
  const { code, stderr } = await command(at("cut"), "partner", "list");
  assert.deepEqual([code, /a restore into DATA_DIR .* did not end/.test(stderr)], [1, true], stderr);
});

test("a backup that kill -9 interrupts leaves nothing that a restore accepts as complete, and the next backup removes the rest", async () => {
  const folder = at("killed");
  const child = spawn(process.execPath, [cli, "backup", folder], {
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...env(), DATA_DIR: running.service.dataDir },
    stdio: "ignore",
  });
  while (!existsSync(`${folder}.partial`) && child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 1));
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.equal(existsSync(folder), false);
  const { code, stderr } = await command(at("fourth"), "restore", `${folder}.partial`, "--keys", at("keys"));
  assert.deepEqual([code, /not a whole backup/.test(stderr)], [1, true], stderr);
  assert.equal((await command(running.service.dataDir, "backup", folder)).code, 0);
  assert.equal(existsSync(`${folder}.partial`), false);
  // PostgreSQL ended the killed process's work when its connection closed.
  const slots = await running.db.query(sql`SELECT FROM pg_replication_slots`);
  assert.equal(slots.length, 0);
});

test("a backup that fails at its end leaves neither itself nor the copied keys", async () => {
  const folder = at("refused");
  const made = command(running.service.dataDir, "backup", folder, "--keys", at("refused-keys"));
  while (!existsSync(`${folder}.partial`)) await new Promise((resolve) => setTimeout(resolve, 1));
  // The last step gives the backup its name. That step fails now, because a folder with other content has the name.
  mkdirSync(folder);
  writeFileSync(join(folder, "other"), "");
  assert.equal((await made).code, 1);
  const left = readdirSync(place.path).filter((name) => name.startsWith("refused"));
  assert.deepEqual(left, ["refused"]);
  assert.deepEqual(readdirSync(folder), ["other"]);
});

test("names each key that is outside of the data folder's keys, and so in neither folder", async () => {
  const { dataDir } = running.service;
  const names = ["signer-ca", "log-live", "witness"];
  for (const name of names)
    if (existsSync(join(dataDir, "keys", name))) cpSync(join(dataDir, "keys", name), at(`key-${name}`));
  const uri = (name: string) => `file:${at(`key-${name}`)}`;
  const keys = { SIGNER_CA_KEY: uri("signer-ca"), LOG_KEY: uri("log-live"), WITNESS_KEY: uri("witness") };
  const settings = { ...env(), DATA_DIR: dataDir, ...keys };
  const { code, stdout, stderr } = await runCli(settings, "backup", at("elsewhere"));
  assert.equal(code, 0, stderr);
  for (const name of names) assert.ok(stdout.includes(uri(name)), stdout);
});

test("a backup by another program is recorded", async () => {
  await running.service.cli("backup", "record");
  const metrics = await (await fetch(`${running.service.baseUrl}/metrics`)).text();
  assert.match(metrics, /^backup_last_success_time_seconds\{kind="recorded"\} \d{10}/m);
});

test("a backup that can't be recorded stays, and the command says how to record it", async () => {
  const alter = (change: string) => running.db.transaction((tx) => tx.script(`ALTER TABLE backups ${change}`));
  await alter("ADD CONSTRAINT none_made CHECK (kind <> 'made') NOT VALID");
  try {
    const { code, stderr } = await command(running.env.DATA_DIR, "backup", at("unrecorded"));
    assert.notEqual(code, 0);
    assert.match(stderr, /is complete, but could not be recorded: run `backup record`/);
    assert.ok(existsSync(at("unrecorded", "manifest.json")));
  } finally {
    await alter("DROP CONSTRAINT none_made");
  }
});
