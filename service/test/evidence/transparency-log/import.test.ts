import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { databaseOf } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { sealRoom } from "../../closing/closing-passports/seal-room.ts";
import { openRoomsService } from "../../closing/rooms/rooms-service.ts";
import { seal } from "../proof-passports/seal-document.ts";

after(() => running.service.stop());
// The test turns this service's database into that of a release without a log, and then upgrades it to this release.
const running = await forTests(openRoomsService());
const acme = await running.partner();
const { headers } = await newPartner(running.service);
const place = { baseUrl: running.service.baseUrl, headers };
const first = await seal(place, makePdf({ bytes: 20_000, text: "first" }));
const room = await acme.room();
await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: await acme.order() });
const versions = [await sealRoom(acme, room), await sealRoom(acme, room)];
const second = await seal(place, makePdf({ bytes: 20_000, text: "second" }));

const lines = async () => {
  const db = await databaseOf(running.service.dataDir);
  try {
    const rows = await db.query<{ line: string }>(sql`
      SELECT line FROM log_leaves WHERE log = 'test' ORDER BY leaf`);
    return rows.map(({ line }) => line.trim());
  } finally {
    await db.close();
  }
};

async function withoutLog(): Promise<void> {
  const { dataDir } = running.service;
  await running.service.stop();
  const script = readFileSync(join(import.meta.dirname, "../../../migrations/0101_transparency_log.sql"), "utf8");
  const fill = script.slice(script.indexOf("WITH sealed (log, line, at)"));
  const db = await databaseOf(dataDir);
  await db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    for (const table of ["log_cosignatures", "log_checkpoints", "log_tiles", "log_leaves", "log_entries", "log_trees"])
      await tx.query(new Statement([`DELETE FROM ${table}`], []));
    await tx.query(sql`DELETE FROM row_mac_backfill WHERE filled = 'lines of the log'`);
    await tx.script(fill);
  });
  await db.close();
  for (const file of ["row-macs-filled-log", "log-test", "log-live", "log-test.state", "log-live.state"])
    rmSync(join(dataDir, "keys", file), { force: true });
}

test("seals from before the log enter it in the order of their creation, then closings, before a line with their number", async () => {
  await until(async () => (await lines()).length === 4);
  const before = await lines();
  await withoutLog();
  running.service = await running.service.restart();
  await until(async () => (await lines()).length === 5);
  const sealed = [first.sealedSha256, second.sealedSha256].map((sha256) => `seal/v1 ${sha256}`);
  const imported = await lines();
  assert.deepEqual(imported.slice(0, 2), sealed);
  assert.deepEqual(
    imported.slice(2, 4).map((line) => line.split(" ").slice(0, 2).join(" ")),
    versions.map(({ sealedSha256 }) => `closing/v1 ${sealedSha256}`),
  );
  assert.equal(imported[4], "import/v1 4");
  assert.deepEqual(imported.slice(0, 4).toSorted(), before.toSorted());
});

test("the imported log is complete: proofs of earlier seals verify, own rows agree, and new seals follow", async () => {
  const url = `${running.service.baseUrl}/api/passport/verify/${first.verifyCode}/tlog-proof`;
  await until(async () => (await fetch(url)).status === 200);
  const { code, stdout } = await runCli(
    { DATA_DIR: running.service.dataDir },
    "monitor",
    `${running.service.baseUrl}/log/test`,
    "--own",
    "--full",
  );
  assert.equal(code, 0, stdout);
  assert.match(stdout, /Nothing is wrong/);
  const third = await seal(place, makePdf({ bytes: 20_000, text: "third" }));
  await until(async () => (await lines()).length === 6);
  assert.equal((await lines())[5], `seal/v1 ${third.sealedSha256}`);
  assert.ok(existsSync(join(running.service.dataDir, "keys/row-macs-filled-log")));
});

test("imports only once: another start adds nothing", async () => {
  const before = await lines();
  await running.service.stop();
  running.service = await running.service.restart();
  assert.deepEqual(await lines(), before);
});
