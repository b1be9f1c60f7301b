import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connectionTo, databaseOf, newDatabase } from "@signsealship/testing/database";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { ownProcess, runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { type Database, openDatabase } from "../../../src/kernel/platform/database/database.ts";
import { latestSchema, migrate } from "../../../src/kernel/platform/database/migrations.ts";
import { nodeName, readFence } from "../../../src/kernel/platform/database/schema-fence.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";

const migrations = join(import.meta.dirname, "../../../migrations");
const goOn = "-- Older nodes: go on.\n";
const stop = "-- Older nodes: stop.\n";
const folder = temporaryFolder();
after(folder.remove);

let releases = 0;
/** The migrations of the next release. */
function nextRelease(...scripts: string[]): string {
  const path = join(folder.path, `release-${++releases}`);
  cpSync(migrations, path, { recursive: true });
  for (const [n, script] of scripts.entries()) writeFileSync(join(path, `${9000 + n}_next.sql`), script);
  return path;
}

const upgrade = (db: Database, release: string) => migrate({ db, asOwner: (work) => work(db), folder: release });

// Changes after which an older node's statements may fail or have another effect.
const notExpanding =
  /\b(?:DROP\s+(?:TABLE|COLUMN|FUNCTION|TYPE|VIEW)|RENAME\b|(?<!\b(?:OR|BEFORE)\s)TRUNCATE|SET\s+NOT\s+NULL|ALTER\s+(?:COLUMN\s+)?\w+\s+(?:SET\s+DATA\s+)?TYPE|ADD\s+COLUMN\s+\w+\s+[^,;]*NOT\s+NULL(?![^,;]*(?:DEFAULT|GENERATED)))/i;
const withoutComments = (script: string) => script.replace(/--.*$/gm, "");

test("each migration states whether older nodes continue, and one next to which they do only expands", () => {
  const scripts = readdirSync(migrations)
    .filter((name) => name.endsWith(".sql") && Number(name.slice(0, 4)) > 74)
    .map((name) => ({ name, script: readFileSync(join(migrations, name), "utf8") }));
  assert.ok(scripts.length > 0);
  for (const { name, script } of scripts) {
    assert.ok(
      script.startsWith(goOn) || script.startsWith(stop),
      `${name} does not begin with "${goOn.trim()}" or "${stop.trim()}"`,
    );
    if (script.startsWith(goOn)) assert.doesNotMatch(withoutComments(script), notExpanding, name);
  }
});

test("finds statements that do more than expand", () => {
  for (const script of [
    "ALTER TABLE orders DROP COLUMN note",
    "ALTER TABLE orders RENAME note TO notes",
    "ALTER TABLE orders ALTER COLUMN note TYPE bytea USING note::bytea",
    "ALTER TABLE orders ALTER COLUMN note SET NOT NULL",
    "ALTER TABLE orders ADD COLUMN note text NOT NULL",
  ])
    assert.match(script, notExpanding);
  for (const script of [
    "ALTER TABLE orders ADD COLUMN note text",
    "ALTER TABLE orders ADD COLUMN note text NOT NULL DEFAULT ''",
    "CREATE TABLE notes (id int NOT NULL, text text NOT NULL)",
  ])
    assert.doesNotMatch(script, notExpanding);
});

/**
 * Opens connections under a name. A node's name states the schema version that the node supports. The connections use
 * the role of the tables' owner, because the fence applies to every role.
 */
async function nodesOf(dataDir: string, name: string) {
  return openDatabase({ ...connectionTo(dataDir, "owner"), application_name: name }, () => {}, { poolSize: 2 });
}

const touch = sql`DELETE FROM sessions WHERE false`;
const refused = { code: "unavailable" };

test("a migration waits for older nodes' writing transactions, and none of theirs writes after it", async () => {
  const place = temporaryFolder();
  const { prepareDatabase } = await import("@signsealship/testing/data-template");
  await prepareDatabase(place.path);
  const db = await databaseOf(place.path);
  const own = nodeName(await latestSchema(migrations));
  const [node, ancient, newer, person] = await Promise.all(
    [own, "signsealship", nodeName(9000), "psql"].map((name) => nodesOf(place.path, name)),
  );
  assert.ok(node && ancient && newer && person);
  try {
    const steps: string[] = [];
    const writer = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    const wrote = node.transaction(async (tx) => {
      await tx.query(touch);
      begun.resolve();
      await writer.promise;
      steps.push("the transaction that wrote ends");
    });
    // When the migration ends, this transaction has only read.
    const lateWrite = node.transaction(async (tx) => {
      await tx.query(sql`SELECT count(*) FROM orders`);
      await late.promise;
      await tx.query(touch);
    });
    await begun.promise;
    const migrated = upgrade(db, nextRelease(`${stop}CREATE TABLE later (id int);`)).then(() => steps.push("migrated"));
    await until(async () => {
      const waiting = await db.query(sql`SELECT FROM pg_locks WHERE NOT granted`);
      return waiting.length > 0;
    });
    writer.resolve();
    await Promise.all([wrote, migrated]);
    assert.deepEqual(steps, ["the transaction that wrote ends", "migrated"]);
    late.resolve();
    await assert.rejects(lateWrite, refused);
    for (const old of [node, ancient]) {
      await assert.rejects(old.query(touch), refused);
      await assert.rejects(old.query(sql`UPDATE later SET id = 1`), refused);
      await assert.rejects(old.query(sql`SELECT enqueue_job('mail', '{}'::jsonb, now())`), refused);
      await old.query(sql`SELECT count(*) FROM orders`);
    }
    for (const other of [newer, person]) await other.query(touch);
  } finally {
    for (const each of [node, ancient, newer, person]) await each.close();
    await db.close();
    place.remove();
  }
});

test("a fence is never lowered, and an older release neither migrates nor changes rights after it", async () => {
  const db = await newDatabase();
  try {
    const next = nextRelease(`${goOn}CREATE TABLE expanded (id int);`, `${stop}CREATE TABLE later (id int);`);
    await upgrade(db, next);
    await upgrade(db, next);
    assert.equal(await readFence(db), 9001);
    await assert.rejects(upgrade(db, migrations), /the database is of a newer release \(it needs schema 9001/);
    await assert.rejects(upgrade(db, nextRelease(`${goOn}CREATE TABLE expanded (id int);`)), /newer release/);
  } finally {
    await db.close();
  }
});

const place = async (baseUrl: string, key: string) =>
  (
    await fetch(`${baseUrl}/api/partner/orders`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}` },
      body: orderForm(minimal),
    })
  ).status;

async function servedFolder() {
  const data = temporaryFolder();
  const service = await startService({ DATA_DIR: data.path, RATE_LIMITS: "off", LOG_LEVEL: "info", ...ownProcess });
  const { partnerId } = await service.cli("partner", "create", "Fenced");
  const { key = "" } = await service.cli("key", "issue", partnerId ?? "", "--test");
  return { data, service, key, db: await databaseOf(data.path) };
}

test("a node whose database a newer release migrates stops writing, states the reason, and ends by itself", async () => {
  const { data, service, key, db } = await servedFolder();
  try {
    assert.equal(await place(service.baseUrl, key), 201);
    const statuses: number[] = [];
    let migrated = false;
    const load = Array.from({ length: 4 }, async () => {
      for (;;) {
        const begunAfter = migrated;
        const status = await place(service.baseUrl, key).catch(() => 0);
        if (begunAfter) statuses.push(status);
        if (status === 0) return;
        if (begunAfter) await sleep(20);
      }
    });
    await sleep(300);
    await upgrade(db, nextRelease(`${stop}ALTER TABLE orders ADD COLUMN later text;`));
    migrated = true;
    const [before] = await db.query<{ orders: number }>(sql`SELECT count(*) AS orders FROM orders`);
    await until(async () => (await fetch(`${service.baseUrl}/readyz`)).status === 503);
    assert.deepEqual(await (await fetch(`${service.baseUrl}/readyz`)).json(), {
      status: "failed",
      reason: "the database is of a newer release",
      checks: { schema: "failed" },
    });
    assert.equal((await fetch(`${service.baseUrl}/healthz`)).status, 200);
    const read = await fetch(`${service.baseUrl}/api/partner/orders`, { headers: { Authorization: `Bearer ${key}` } });
    assert.deepEqual([read.status, read.headers.has("retry-after")], [503, true]);
    await until(() => service.process().exitCode !== null);
    await Promise.all(load);
    assert.equal(service.process().exitCode, 1);
    assert.match(service.stderr(), /signsealship: the database is of a newer release \(it needs schema 9000/);
    assert.ok(statuses.includes(503));
    assert.deepEqual(
      statuses.filter((status) => status !== 503 && status !== 0),
      [],
    );
    const [now] = await db.query<{ orders: number }>(sql`SELECT count(*) AS orders FROM orders`);
    assert.deepEqual(now, before);
    const doctor = await runCli({ DATA_DIR: data.path }, "partner", "list");
    assert.match(doctor.stderr, /database is of a newer release/);
  } finally {
    await db.close();
    await service.stop();
    data.remove();
  }
});

test("next to a migration that only expands an older node continues, starts again, and leaves the rights unchanged", async () => {
  const { data, service, key, db } = await servedFolder();
  let again: typeof service | undefined;
  try {
    await upgrade(db, nextRelease(`${goOn}ALTER TABLE orders ADD COLUMN later text;`));
    await sleep(1_500);
    assert.equal(await place(service.baseUrl, key), 201);
    await service.stop();
    again = await service.restart();
    assert.equal((await fetch(`${again.baseUrl}/readyz`)).status, 200);
    assert.equal(await place(again.baseUrl, key), 201);
  } finally {
    await db.close();
    await (again ?? service).stop();
    data.remove();
  }
});
