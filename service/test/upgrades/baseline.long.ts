import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { databaseOf } from "@signsealship/testing/database";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { schemaOf } from "@signsealship/testing/schema-of";
import { runCli, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import type { Database } from "../../src/kernel/platform/database/database.ts";
import { baseline, migrate } from "../../src/kernel/platform/database/migrations.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { releaseOf, root } from "./releases.ts";

const folder = temporaryFolder();
after(folder.remove);

const ofSchema68 = "5a1a61efece82586a4cb72aa3f440451d68c33bb";
const ofSchema69 = "94f4817674c84df10d2f1334bc495d19fd45cc6e";
/** The newest migration of the last release before the baseline. */
const lastBefore = 84;
const beforeBaseline = releaseOf(baseline.commit, join(folder.path, "before-baseline"));

/**
 * The schema of a new database after the migrations in the folder `files`, up to number `lastBefore`. Its privileges
 * are those of the release before the baseline.
 */
async function schemaAfter(name: string, files: string): Promise<string[]> {
  const chosen = join(folder.path, name);
  mkdirSync(chosen);
  const rights = "append-only.json";
  cpSync(join(beforeBaseline, "service/migrations", rights), join(chosen, rights));
  for (const file of readdirSync(files))
    if (file.endsWith(".sql") && Number(file.slice(0, 4)) <= lastBefore) cpSync(join(files, file), join(chosen, file));
  const db = await databaseOf(join(folder.path, `${name}-data`));
  await migrate({ db, asOwner: (work) => work(db), folder: chosen });
  return schemaOf(db).finally(db.close);
}

test("a new database has the same schema as after migrations 0001 to 0084, with each function, trigger, right and comment", async () => {
  const [now, before] = [
    await schemaAfter("now", join(root, "service/migrations")),
    await schemaAfter("before", join(beforeBaseline, "service/migrations")),
  ];
  assert.ok(now.length > 1_000);
  assert.deepEqual(now, before);
});

const applied = (db: Database) =>
  db.query<{ version: number; name: string; sha256: string }>(sql`SELECT * FROM schema_migrations ORDER BY version`);

type Written = { key: string; room: string; orderCode: string; verifyCode: string };

/** Writes data with the old release, before it is upgraded. */
async function write(service: Service): Promise<Written> {
  const { partnerId = "" } = await service.cli("partner", "create", "Upgraded", "--tier", "ClosingDesk");
  const { key = "" } = await service.cli("key", "issue", partnerId, "--test");
  const firm = newClient(service.baseUrl, key, (status) => status < 300);
  const { roomCode: room } = await firm.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
  const { orderCode } = await firm.ok<{ orderCode: string }>("POST", "/api/partner/orders", orderForm(minimal));
  await firm.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(makePdf())]), "deed.pdf");
  const { verifyCode } = await firm.ok<{ verifyCode: string }>("POST", "/api/passport/seal", form);
  return { key, room, orderCode, verifyCode };
}

async function check(service: Service, { key, room, orderCode, verifyCode }: Written): Promise<void> {
  const firm = newClient(service.baseUrl, key, (status) => status < 300);
  await firm.ok("GET", `/api/partner/orders/${orderCode}`);
  await firm.ok("GET", `/api/rooms/${room}`);
  await firm.ok("POST", `/api/rooms/${room}/passport`);
  const { verdict } = await firm.ok<{ verdict: string }>("GET", `/api/passport/verify/${verifyCode}`);
  assert.equal(verdict, "verified_test");
  await write(service);
  const { checks } = await service.cli<{ checks: { name: string; result: string }[] }>("doctor");
  assert.deepEqual(
    checks.filter(({ result }) => result === "failed"),
    [],
  );
}

const startOf = (release: string, dataDir: string) =>
  startService(
    { DATA_DIR: dataDir, RATE_LIMITS: "off" },
    { firstStart: true, program: join(release, "service/src/cli/main.ts") },
  );

for (const { name, release } of [
  { name: "schema 69", release: () => releaseOf(ofSchema69, join(folder.path, "schema-69")) },
  { name: "the last schema before the baseline", release: () => beforeBaseline },
])
  test(`a data folder of ${name} upgrades, keeps its data, and its rows of migrations stay`, async () => {
    const dataDir = join(folder.path, `data of ${name}`);
    const earlier = await startOf(release(), dataDir);
    const written = await write(earlier).finally(earlier.stop);
    const db = await databaseOf(dataDir);
    try {
      const before = await applied(db);
      assert.equal(before[baseline.version - 1]?.sha256, baseline.sha256);
      const present = await startOf(root, dataDir);
      await check(present, written).finally(present.stop);
      assert.deepEqual((await applied(db)).slice(0, before.length), before);
    } finally {
      await db.close();
    }
  });

test("a data folder of schema 68 is refused unchanged, and upgrades through the commit that the message names", async () => {
  const dataDir = join(folder.path, "data-68");
  const earlier = await startOf(releaseOf(ofSchema68, join(folder.path, "schema-68")), dataDir);
  const written = await write(earlier).finally(earlier.stop);
  const db = await databaseOf(dataDir);
  try {
    const before = [await applied(db), await schemaOf(db)];
    const { code, stderr } = await runCli({ DATA_DIR: dataDir }, "partner", "list");
    assert.equal(code, 1);
    assert.ok(stderr.includes(`start commit ${baseline.commit}`), stderr);
    assert.deepEqual([await applied(db), await schemaOf(db)], before);
    await (await startOf(beforeBaseline, dataDir)).stop();
    const present = await startOf(root, dataDir);
    await check(present, written).finally(present.stop);
  } finally {
    await db.close();
  }
});
