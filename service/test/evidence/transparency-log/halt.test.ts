import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseCheckpoint } from "@signsealship/evidence/log";
import { databaseOf } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { fileForm, postSeal } from "../proof-passports/seal-document.ts";

const { service } = await forTests(openHarness());
const { headers } = await newPartner(service);

let sealed = 0;
async function seal(baseUrl: string): Promise<string> {
  const answer = await postSeal(
    { baseUrl, headers },
    fileForm(makePdf({ bytes: 20_000, text: `Document ${sealed++}` })),
  );
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { verifyCode: string }).verifyCode;
}

const proofAt = (baseUrl: string, code: string) => fetch(`${baseUrl}/api/passport/verify/${code}/tlog-proof`);
const sizeOf = async (baseUrl: string) =>
  parseCheckpoint(await (await fetch(`${baseUrl}/log/test/checkpoint`)).text()).size;
const readiness = async (baseUrl: string) => {
  const answer = await fetch(`${baseUrl}/readyz`);
  const { status, checks } = (await answer.json()) as { status: string; checks: Record<string, string> };
  return { code: answer.status, status, log: checks["log"] };
};
const logged = (baseUrl: string, code: string) => until(async () => (await proofAt(baseUrl, code)).status === 200);

test("a restored backup halts the logs, sealing continues, and a copy ends the halt with one history", async () => {
  const place = temporaryFolder();
  await logged(service.baseUrl, await seal(service.baseUrl));
  await service.cli("backup", join(place.path, "backup"), "--keys", join(place.path, "keys"));
  const lost = await seal(service.baseUrl);
  await logged(service.baseUrl, lost);
  const mirror = join(place.path, "mirror");
  await service.cli("log", "export", mirror, "--test");
  const published = await sizeOf(service.baseUrl);
  const old = { DATA_DIR: join(place.path, "restored") };
  const restored = await runCli(old, "restore", join(place.path, "backup"), "--keys", join(place.path, "keys"));
  assert.equal(restored.code, 0, restored.stderr);

  const other = await startService({ ...old, RATE_LIMITS: "off", BASE_URL: service.baseUrl });
  try {
    const code = await seal(other.baseUrl);
    const status = await runCli(old, "log", "status");
    assert.equal(status.code, 1);
    assert.match(status.stdout, /HALTS: the database was restored from a backup .* run log recover/);
    const doctor = await runCli(old, "doctor");
    assert.match(doctor.stdout, /transparency log.*halts/);
    assert.match(await (await fetch(`${other.baseUrl}/metrics`)).text(), /log_halted\{log="test"\} 1/);
    assert.deepEqual(await readiness(other.baseUrl), { code: 200, status: "degraded", log: "failed" });
    assert.equal((await proofAt(other.baseUrl, code)).status, 503);

    const db = await databaseOf(old.DATA_DIR);
    try {
      await assert.rejects(db.query(sql`UPDATE log_trees SET restored_at = NULL`), /only gets later/);
      await assert.rejects(db.query(sql`UPDATE log_trees SET restored_at = restored_at - interval '1 year'`), /later/);
      await db.query(sql`UPDATE log_trees SET recovered_at = restored_at`);
    } finally {
      await db.close();
    }
    const cleared = await runCli(old, "log", "status");
    assert.match(cleared.stdout, /HALTS: the tree's row was changed outside the service/);

    const stale = join(place.path, "stale");
    writeFileSync(stale, await (await fetch(`${other.baseUrl}/log/test/checkpoint`)).text());
    copyFileSync(join(service.dataDir, "keys/log-test.state"), join(old.DATA_DIR, "keys/log-test.state"));
    const refused = await runCli(old, "log", "recover", "--from", stale, "--test");
    assert.match(refused.stderr, /name a newer copy/);
    const alone = await runCli(old, "log", "recover", "--from", join(mirror, "checkpoint"), "--test");
    assert.match(alone.stderr, /the copy has no tile\/entries\/000\.p\//);

    const recovered = await runCli(old, "log", "recover", "--from", mirror, "--test");
    assert.equal(recovered.code, 0, recovered.stderr);
    assert.match(recovered.stdout, /goes on at \d+ entries; 1 came from/);
    await logged(other.baseUrl, code);
    assert.ok((await sizeOf(other.baseUrl)) > published);
    const live = join(service.dataDir, "keys/log-live.state");
    const both = await runCli(old, "log", "recover", "--from", live);
    assert.equal(both.code, 0, both.stderr);
    await until(async () => (await readiness(other.baseUrl)).status === "ok");
  } finally {
    await other.stop();
    place.remove();
  }
});

test("a copy with another line than the signed one is refused, and nothing of it is stored", async () => {
  const place = temporaryFolder();
  await logged(service.baseUrl, await seal(service.baseUrl));
  await service.cli("backup", join(place.path, "backup"), "--keys", join(place.path, "keys"));
  await logged(service.baseUrl, await seal(service.baseUrl));
  const mirror = join(place.path, "mirror");
  await service.cli("log", "export", mirror, "--test");
  const size = parseCheckpoint(readFileSync(join(mirror, "checkpoint"), "utf8")).size;
  const bundle = join(mirror, `tile/entries/000.p/${size}`);
  assert.ok(existsSync(bundle));
  const bytes = readFileSync(bundle);
  bytes[bytes.length - 2] = bytes.at(-2) === 0x30 ? 0x31 : 0x30;
  writeFileSync(bundle, bytes);
  const old = { DATA_DIR: join(place.path, "restored") };
  await runCli(old, "restore", join(place.path, "backup"), "--keys", join(place.path, "keys"));
  const refused = await runCli(old, "log", "recover", "--from", mirror, "--test");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /does not begin with .*mirror of \d+ entries: it was rewritten/);
  const db = await databaseOf(old.DATA_DIR);
  try {
    const [tree] = await db.query<{ size: number; restored: boolean }>(
      sql`SELECT size, restored_at IS NOT NULL AS restored FROM log_trees WHERE log = 'test'`,
    );
    assert.ok(tree?.restored && tree.size < size);
  } finally {
    await db.close();
    place.remove();
  }
});
