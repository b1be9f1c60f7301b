import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { readZip } from "@signsealship/evidence/zip";
import { databaseOf } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { queueEntry } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { sealRoom } from "../../closing/closing-passports/seal-room.ts";
import { openRoomsService } from "../../closing/rooms/rooms-service.ts";
import { fileForm, postSeal } from "../../evidence/proof-passports/seal-document.ts";
import { findingsOf, settled } from "./findings.ts";

after(() => running.service.stop());
const running = await forTests(openRoomsService());
const acme = await running.partner();
const { db } = running;
const { headers } = await newPartner(running.service);
const folder = temporaryFolder();
await forTests(Promise.resolve({ close: async () => folder.remove() }));

const seal = async ({ baseUrl }: Pick<Service, "baseUrl">, text: string) => {
  const answer = await postSeal({ baseUrl, headers }, fileForm(makePdf({ bytes: 20_000, text })));
  return (await answer.json()) as { passportId: string; verifyCode: string; sealedSha256: string };
};

const findings = () => findingsOf(running);

/** An attack by someone who can write to the database as its superuser. */
const attack = (statement: Statement) =>
  db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    await tx.query(statement);
  });

test("finds no fault when each row of a sealed file has its entry, and each entry its row", async () => {
  const sealed = await seal(running.service, "own");
  assert.equal(
    (await fetch(`${running.service.baseUrl}/api/passport/verify/${sealed.verifyCode}/certificate`)).status,
    200,
  );
  const room = await acme.room();
  await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: await acme.order() });
  await sealRoom(acme, room);
  await sealRoom(acme, room);
  await running.service.cli("log", "retract", sealed.sealedSha256, "--reason", "superseded", "--test");
  assert.deepEqual(await findings(), []);
  const kinds = await db.query<{ kind: string }>(sql`
    SELECT DISTINCT split_part(line, ' ', 1) AS kind FROM log_leaves WHERE log = 'test' ORDER BY 1`);
  assert.deepEqual(
    kinds.map(({ kind }) => kind),
    ["closing/v1", "retract/v1", "seal/v1"],
  );
});

/**
 * A holder's verdict on a pack (a file with its evidence), and the verdict's claims about the log. The service is not
 * asked.
 */
async function claimsOfPack(pack: string): Promise<(string | undefined)[]> {
  const statuses = await running.service.cli<{ log: string; key: string }[]>("log", "status");
  const key = statuses.find(({ log }) => log === "test")?.key ?? "";
  const trust = join(running.service.dataDir, "keys", "test-seal-certificate.pem");
  const holder = { DATA_DIR: join(folder.path, "holder") };
  const { stdout } = await runCli(holder, "verify", pack, "--trust", trust, "--log", key, "--json");
  const { verdict, checks } = JSON.parse(stdout) as { verdict: string; checks: { claim: string; result: string }[] };
  const result = (name: string) => checks.find(({ claim }) => claim === name)?.result;
  return [verdict, result("log_inclusion"), result("log_checkpoint_signed")];
}

test("names the entry of a deleted passport, whose pack still verifies for its holder, and a row without an entry", async () => {
  const gone = await seal(running.service, "deleted");
  const ownPack = () => fetch(`${running.service.baseUrl}/api/passport/verify/${gone.verifyCode}/evidence`);
  const hasProof = async () => readZip(Buffer.from(await (await ownPack()).arrayBuffer())).has("sealed.pdf.tlog-proof");
  await until(hasProof);
  const pack = join(folder.path, "pack.zip");
  writeFileSync(pack, Buffer.from(await (await ownPack()).arrayBuffer()));
  await settled(db);
  const [row] = await db.query<{ row: string }>(sql`
    SELECT to_jsonb(p)::text AS row FROM passports p WHERE id = ${gone.passportId}`);
  await attack(sql`DELETE FROM passports WHERE id = ${gone.passportId}`);
  assert.match(
    (await findings()).join("\n"),
    new RegExp(`^Entry \\d+, seal/v1 ${gone.sealedSha256}, matches no row of the database\\.$`),
  );
  assert.equal((await ownPack()).status, 404);
  assert.deepEqual(await claimsOfPack(pack), ["verified_test", "holds", "holds"]);
  const other = "0".repeat(64);
  await attack(sql`
    INSERT INTO passports SELECT * FROM jsonb_populate_record(NULL::passports, ${row?.row ?? ""}::jsonb || ${JSON.stringify({ sealed_sha256: other })}::jsonb)`);
  const found = await findings();
  assert.equal(found.length, 2);
  assert.equal(found[1], `The log has no entry seal/v1 ${other}, of passport ${gone.passportId}.`);
  await attack(sql`UPDATE passports SET sealed_sha256 = ${gone.sealedSha256} WHERE id = ${gone.passportId}`);
  assert.deepEqual(await findings(), []);
});

test("names an entry that no row of the service caused", async () => {
  const sealedSha256 = "5e".repeat(32);
  await db.query(queueEntry("live", { kind: "seal/v1", sealedSha256 }, new Date()));
  await settled(db);
  const own = { DATA_DIR: running.service.dataDir };
  const found = await runCli(own, "monitor", `${running.service.baseUrl}/log/live`, "--own");
  assert.match(found.stdout, new RegExp(`WRONG: Entry 0, seal/v1 ${sealedSha256}, matches no row of the database\\.`));
  assert.equal(found.code, 1);
});

test("a log that a restored copy continues from a stale export is found, and the file with both checkpoints convinces others", async () => {
  const [place, backup, keys, mirror] = ["copy", "backup", "keys", "mirror"].map((name) => join(folder.path, name));
  assert.ok(place && backup && keys && mirror);
  await seal(running.service, "before the copy");
  await settled(db);
  await running.service.cli("log", "export", mirror, "--test");
  await running.service.cli("backup", backup, "--keys", keys);
  assert.equal((await runCli({ DATA_DIR: place }, "restore", backup, "--keys", keys)).code, 0);
  assert.equal((await runCli({ DATA_DIR: place }, "log", "recover", "--from", mirror, "--test")).code, 0);
  const copy = await startService({ DATA_DIR: place, RATE_LIMITS: "off" });
  const copied = await databaseOf(place);
  try {
    await seal(running.service, "ours");
    await seal(copy, "theirs");
    await settled(db);
    await settled(copied);
    const own = { DATA_DIR: running.service.dataDir };
    const state = join(folder.path, "state");
    const found = await runCli(own, "monitor", `${copy.baseUrl}/log/test`, "--own", "--state", state);
    assert.equal(found.code, 1, found.stderr);
    assert.match(
      found.stdout,
      /WRONG: The log does not begin with the \d+ entries of the database: it has two histories\./,
    );
    const [, file = ""] = /The proof is in (\S+)\. /.exec(found.stdout) ?? [];
    const key = (await running.service.cli<{ log: string; key: string }[]>("log", "status")).find(
      (one) => one.log === "test",
    );
    const proven = await runCli({}, "monitor", file, "--key", key?.key ?? "");
    assert.match(proven.stdout, /Proven: this key signed two histories/);
    assert.match(readFileSync(file, "utf8"), /BEGIN OLDER CHECKPOINT[\s\S]*BEGIN NEWER CHECKPOINT/);
    // The copy's log now has more entries than ours, so its newest checkpoint is not one that we signed.
    await seal(copy, "more");
    await settled(copied);
    const again = join(folder.path, "again");
    const more = await runCli(own, "monitor", `${copy.baseUrl}/log/test`, "--own", "--state", again);
    assert.match(more.stdout, /WRONG: The checkpoint of \d+ entries is not one that this installation signed\./);
    // A holder of a file that the copy sealed detects the fork as well. The file's seal contains a checkpoint of the
    // copy.
    for (let i = 0; i < 5; i++) await seal(running.service, `ours ${i}`);
    await settled(db);
    const received = join(folder.path, "received.pdf");
    const { verifyCode } = await seal(copy, "received");
    const document = await fetch(`${copy.baseUrl}/api/passport/verify/${verifyCode}/document`);
    writeFileSync(received, Buffer.from(await document.arrayBuffer()));
    const held = await runCli(
      {},
      "monitor",
      `${running.service.baseUrl}/log/test`,
      "--with",
      received,
      "--state",
      again,
    );
    assert.match(
      held.stdout,
      /does not begin with the \d+ entries of the seal of .*received\.pdf: it has two histories/,
    );
  } finally {
    await copied.close();
    await copy.stop();
  }
});

test("names an entry that the log has twice, because somebody deleted its row and queued it again", async () => {
  const { sealedSha256 } = await seal(running.service, "twice");
  await settled(db);
  const line = `seal/v1 ${sealedSha256}`;
  await attack(sql`DELETE FROM log_leaves WHERE line = ${`${line}\n`}`);
  await db.query(queueEntry("test", { kind: "seal/v1", sealedSha256 }, new Date()));
  assert.match((await findings()).join("\n"), new RegExp(`^Entry \\d+, ${line}, repeats an earlier entry\\.$`));
});

test("refuses the log of another installation, and makes no claim about an unreadable one", async () => {
  const elsewhere = await startService({ DATA_DIR: join(folder.path, "elsewhere"), LOG_ORIGIN: "elsewhere.example" });
  const own = { DATA_DIR: running.service.dataDir };
  // A service that has just started has no checkpoint yet, so its log can't be read.
  await until(async () => (await fetch(`${elsewhere.baseUrl}/log/test/checkpoint`)).ok);
  const refused = await runCli(own, "monitor", `${elsewhere.baseUrl}/log/test`, "--own");
  assert.match(refused.stderr, /this installation has no log elsewhere\.example\/log\/test/);
  await elsewhere.stop();
  const away = await runCli(own, "monitor", `${elsewhere.baseUrl}/log/test`, "--own");
  assert.equal(away.code, 2);
});
