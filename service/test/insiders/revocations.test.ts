import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { runCli } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { issueKey, revokeKey, rotateKey } from "../../src/firms/partners/partners.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "../firms/members/members-service.ts";
import { openInsider } from "./insider.ts";

after(async () => {
  await insider.close();
  // The harness stops only the first service, so the last one is stopped here.
  await running.service.stop();
});
const running = await forTests(openMembersService());
const { partnerId } = await running.newPartner();
let insider = openInsider(running.service.dataDir);

const statusOf = async (key: string) =>
  (await running.call("/api/partner/orders", { headers: { Authorization: `Bearer ${key}` } })).status;
const file = () => join(running.service.dataDir, "keys/revocations");
const lines = () => readFileSync(file(), "utf8").split("\n").filter(Boolean);
const kept = (subject: string) => until(() => lines().find((line) => line.includes(subject)));

async function finding(): Promise<{ result: string; detail: string }> {
  const { stdout } = await runCli({ DATA_DIR: running.service.dataDir }, "doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: { name: string; result: string; detail: string }[] };
  const { result = "", detail = "" } = checks.find(({ name }) => name === "revocations") ?? {};
  return { result, detail };
}

async function restarted(change: () => Promise<unknown>): Promise<void> {
  await insider.close();
  await running.service.stop();
  await change();
  running.service = await running.service.restart({});
  insider = openInsider(running.service.dataDir);
}

test("a revoked key stays revoked when its earlier row, with its MAC, is restored, and doctor names it", async () => {
  const { key, keyId } = await issueKey(running, partnerId, "test");
  assert.equal(await statusOf(key), 200);
  const [before] = await insider.run<{ mac: Buffer }>(sql`SELECT row_mac AS mac FROM partner_keys WHERE id = ${keyId}`);
  await revokeKey(running, keyId);
  await insider.run(sql`UPDATE partner_keys SET revoked_at = NULL, row_mac = ${before?.mac} WHERE id = ${keyId}`);
  assert.equal(await statusOf(key), 401);
  const { result, detail } = await finding();
  assert.equal(result, "failed");
  assert.match(detail, new RegExp(`the row of key ${keyId} says that it has not ended: it was put back`));
  await revokeKey(running, keyId);
});

test("a rotated key ends in time, even with its earlier row", async () => {
  const { key, keyId } = await issueKey(running, partnerId, "test");
  const [before] = await insider.run<{ mac: Buffer }>(sql`SELECT row_mac AS mac FROM partner_keys WHERE id = ${keyId}`);
  const past = { ...running, clock: () => new Date(Date.now() - 3 * 3_600_000) };
  await rotateKey(past, keyId, 1);
  assert.equal(await statusOf(key), 401);
  await insider.run(sql`UPDATE partner_keys SET expires_at = NULL, row_mac = ${before?.mac} WHERE id = ${keyId}`);
  assert.equal(await statusOf(key), 401);
  await revokeKey(running, keyId);
});

test("revocations are lines of a file next to the keys: revocations that the database lost apply again at the next start", async () => {
  const { key, keyId } = await issueKey(running, partnerId, "test");
  const [before] = await insider.run<{ mac: Buffer }>(sql`SELECT row_mac AS mac FROM partner_keys WHERE id = ${keyId}`);
  await revokeKey(running, keyId);
  await kept(keyId);
  await restarted(async () => {
    // Makes the database like an older copy, or like one that an administrator has changed: the key is not revoked.
    await running.db.query(sql`DELETE FROM revocations WHERE subject = ${keyId}`);
    await running.db.query(
      sql`UPDATE partner_keys SET revoked_at = NULL, row_mac = ${before?.mac} WHERE id = ${keyId}`,
    );
  });
  assert.equal(await statusOf(key), 401);
  await revokeKey(running, keyId);
});

test("a forged revocation gets into no file, and doctor names it", async () => {
  const { key, keyId } = await issueKey(running, partnerId, "test");
  await insider.run(sql`
    INSERT INTO revocations (kind, subject, effective_at) VALUES ('key', ${keyId}, now() - interval '1 s')`);
  assert.equal(await statusOf(key), 401);
  const { keyId: genuine } = await issueKey(running, partnerId, "test");
  await revokeKey(running, genuine);
  await kept(genuine);
  assert.deepEqual(
    lines().filter((line) => line.includes(keyId)),
    [],
  );
  assert.match((await finding()).detail, /1 rows of revocations were not written by this service/);
  await running.db.query(sql`DELETE FROM revocations WHERE subject = ${keyId}`);
});

test("doctor names a revocation that only the audit log, the database or the file has", async () => {
  const { keyId } = await issueKey(running, partnerId, "test");
  await revokeKey(running, keyId);
  await kept(keyId);
  const whole = readFileSync(file());
  await restarted(async () => {
    rmSync(file());
    await running.db.query(sql`DELETE FROM revocations WHERE subject = ${keyId}`);
  });
  assert.match((await finding()).detail, new RegExp(`key ${keyId} ended by the audit log alone`));
  writeFileSync(file(), whole);
  await until(async () => (await finding()).result === "ok");
});

test("a retired seal certificate stays retired when the earlier row of its chain is restored", async () => {
  const rotated = await running.service.cli<{ previousSha256: string }>("seal", "rotate");
  await restarted(async () => {});
  const old = rotated.previousSha256;
  const rows = sql`SELECT sha256, row_mac AS mac FROM seal_chains`;
  const before = await insider.run<{ sha256: string; mac: Buffer }>(rows);
  await running.service.cli("seal", "retire", old, "--reason", "superseded");
  await running.service.cli("seal", "retire", old, "--reason", "key-compromise");
  for (const { sha256, mac } of before)
    await insider.run(sql`
      UPDATE seal_chains SET retired_at = NULL, retirement_reason = NULL, row_mac = ${mac} WHERE sha256 = ${sha256}`);
  const reason = async () => {
    const trust = await (await fetch(`${running.service.baseUrl}/seal/trust.json`)).json();
    const listed = (trust as { sealCertificates: { sha256: string; reason: string | null }[] }).sealCertificates;
    return listed.find(({ sha256 }) => sha256 === old)?.reason;
  };
  assert.equal(await reason(), "key-compromise");
  // The database refuses a copy of the earlier retirement. The newer reason still applies after the newer retirement
  // loses its MAC, and after both lose theirs.
  await assert.rejects(
    insider.run(sql`
      INSERT INTO revocations (kind, subject, effective_at, reason, row_mac)
      SELECT kind, subject, effective_at, reason, row_mac FROM revocations WHERE subject = ${old} AND reason = 'superseded'`),
    /revocations_once/,
  );
  await insider.run(sql`UPDATE revocations SET row_mac = NULL WHERE subject = ${old} AND reason = 'key-compromise'`);
  assert.equal(await reason(), "key-compromise");
  await insider.run(sql`UPDATE revocations SET row_mac = NULL WHERE subject = ${old}`);
  assert.equal(await reason(), "key-compromise");
  const { result, detail } = await finding();
  assert.equal(result, "failed");
  assert.match(detail, new RegExp(`the row of seal certificate ${old} says that it is not retired: it was put back`));
});
