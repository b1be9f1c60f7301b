import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { formatNoteKey, parseCheckpoint, parseWitnessKey, verifyCosignature } from "@signsealship/evidence/log";
import { databaseOf } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { ownProcess, runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { consistencyOf, hashOfLeaf, rootOf, sampleLog } from "../../../../packages/evidence/test/log/sample-tree.ts";
import { queueEntry } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { parseLogsList } from "../../../src/evidence/witness/logs-list.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";

const folder = temporaryFolder();
await forTests(Promise.resolve({ close: async () => folder.remove() }));

let made = 0;
/** Another operator's log, which signs every checkpoint. */
const newLog = async () => {
  made += 1;
  const origin = `other${made}.example/log/live`;
  const log = await sampleLog(origin, 40 + made);
  return { origin, key: formatNoteKey(log.key), signed: log.signed };
};
type Log = Awaited<ReturnType<typeof newLog>>;
const known = await Promise.all(Array.from({ length: 12 }, newLog));
let used = 0;
const nextLog = (): Log => {
  const log = known[used++];
  assert.ok(log);
  return log;
};
const limited = await newLog();
const stranger = await newLog();

const list = join(folder.path, "logs");
writeFileSync(
  list,
  `# logs of others\nlogs/v0\n\n${known.map(({ key, origin }) => `vkey ${key}\norigin ${origin}\ncontact ops@other.example\n`).join("\n")}\nvkey ${limited.key}\nqpd 2\n`,
);
const harness = await forTests(openHarness({ WITNESS_LOGS: list, ...ownProcess }));
const { db } = harness;

const status = () =>
  harness.service.cli<{ key: string; logs: { origin: string; size: number }[] }>("witness", "status");

const leaves = (count: number, name = "entry"): Uint8Array[] =>
  Array.from({ length: count }, (_, i) => hashOfLeaf(Buffer.from(`${name} ${i}\n`)));
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");

/** A request like that of an honest log. */
function question({ signed }: Log, old: number, tree: readonly Uint8Array[]): string {
  const proof = old === 0 || old === tree.length ? [] : consistencyOf(tree, old);
  return `old ${old}\n${proof.map((one) => `${base64(one)}\n`).join("")}\n${signed(tree.length, rootOf(tree))}`;
}

async function ask(body: string, url = harness.service.baseUrl) {
  const answer = await fetch(`${url}/witness/add-checkpoint`, { method: "POST", body });
  return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
}
const statusOf = async (body: string) => (await ask(body)).status;

test("cosigns each state that extends the previous one, and serves the newest one", async () => {
  const log = nextLog();
  const all = leaves(40);
  const key = await parseWitnessKey((await status()).key);
  let old = 0;
  for (const size of [1, 2, 7, 7, 8, 40]) {
    const tree = all.slice(0, size);
    const answer = await ask(question(log, old, tree));
    assert.equal(answer.status, 200, answer.text);
    const note = log.signed(size, rootOf(tree)) + answer.text;
    const cosigned = await verifyCosignature(parseCheckpoint(note).note, key);
    assert.equal(cosigned.verdict, "signed");
    assert.ok(Math.abs((cosigned.at ?? 0) - Date.now() / 1000) < 30);
    const shown = await fetch(`${harness.service.baseUrl}/witness/${hash("sha256", log.origin)}/checkpoint`);
    assert.equal(await shown.text(), note);
    old = size;
  }
  assert.deepEqual((await status()).logs.find(({ origin }) => origin === log.origin)?.size, 40);
});

test("refuses a smaller tree and a wrong old size, and states its own size", async () => {
  const log = nextLog();
  const all = leaves(20);
  assert.equal(await statusOf(question(log, 0, all.slice(0, 10))), 200);
  for (const body of [
    question(log, 0, all.slice(0, 5)),
    question(log, 5, all.slice(0, 10)),
    question(log, 0, all),
    question(log, 9, all),
    question(log, 11, all),
  ]) {
    const refused = await ask(body);
    assert.deepEqual([refused.status, refused.type, refused.text], [409, "text/x.tlog.size", "10\n"]);
  }
  assert.equal(await statusOf(question(log, 10, all)), 200);
});

test("refuses a fork: a proof of another history, and another root for the size that it has", async () => {
  const log = nextLog();
  const [honest, forged] = [leaves(20), [...leaves(9), ...leaves(11, "forged")]];
  assert.equal(await statusOf(question(log, 0, honest.slice(0, 10))), 200);
  assert.equal(await statusOf(question(log, 10, forged)), 422);
  assert.equal(await statusOf(question(log, 10, forged.slice(0, 10))), 409);
  const more = question(log, 10, honest);
  assert.equal(await statusOf(more.replace("\n\n", `\n${base64(leaves(1)[0] ?? new Uint8Array(32))}\n\n`)), 422);
  assert.equal(await statusOf(more.replace(/\n[^\n]+\n\n/, "\n\n")), 422);
  assert.equal(await statusOf(more), 200);
});

test("refuses unknown logs and keys, and malformed texts, and stores nothing", async () => {
  const log = nextLog();
  const tree = leaves(8);
  const good = question(log, 0, tree);
  const notSigned = good.replace(
    log.signed(8, rootOf(tree)),
    stranger.signed(8, rootOf(tree)).replaceAll(stranger.origin, log.origin),
  );
  const cases: [string, number][] = [
    [question(stranger, 0, tree), 404],
    [notSigned, 403],
    [good.replace("\n8\n", "\n9\n"), 403],
    [question(log, 9, tree), 400],
    ["", 400],
    ["old 0\n", 400],
    [good.replace("old 0", "old 00"), 400],
    [good.replace("old 0", "old -1"), 400],
    [good.replace("old 0", "old 9007199254740992"), 400],
    [good.replace("old 0\n", ""), 400],
    [good.replace("old 0\n", `old 0\n${"A".repeat(43)}=\r\n`), 400],
    [good.replace("old 0\n", `old 0\n${"A".repeat(42)}B=\n`), 400],
    [good.replace("old 0\n", `old 0\n${`${"A".repeat(43)}=\n`.repeat(64)}`), 400],
    [good.slice(0, -1), 400],
    [good.replaceAll("\n", "\r\n"), 400],
    [`${good}${"x".repeat(80_000)}`, 413],
  ];
  for (const [body, expected] of cases) assert.equal(await statusOf(body), expected, body.slice(0, 200));
  const [row] = await db.query<{ size: number }>(sql`SELECT size FROM witness_logs WHERE origin = ${log.origin}`);
  assert.equal(row?.size ?? 0, 0);
  for (const path of ["0".repeat(64), hash("sha256", log.origin), "..%2f", "x"])
    assert.equal((await fetch(`${harness.service.baseUrl}/witness/${path}/checkpoint`)).status, 404, path);
});

test("answers a log at most as often per day as its list allows, whoever repeats the log's public checkpoints", async () => {
  const tree = leaves(3);
  const first = question(limited, 0, tree.slice(0, 1));
  assert.equal(await statusOf(first), 200);
  for (const [body, expected] of [
    [first, 409],
    [question(limited, 1, tree.slice(0, 1)), 200],
    [question(limited, 1, tree).replace(/\n[^\n]+\n\n/, "\n\n"), 422],
  ] as const)
    for (let i = 0; i < 3; i++) assert.equal(await statusOf(body), expected);
  assert.equal(await statusOf(question(limited, 1, tree.slice(0, 2))), 200);
  assert.equal(await statusOf(question(limited, 2, tree)), 429);
});

test("refuses a checkpoint that is too long to store, even if its log signed it", async () => {
  const log = nextLog();
  const tree = leaves(1);
  const long = (bytes: number) => `old 0\n\n${log.signed(1, rootOf(tree), `${"x".repeat(bytes)}\n`)}`;
  assert.equal(await statusOf(long(64_000)), 400);
  assert.equal(await statusOf(long(60_000)), 200);
});

test("of two concurrent histories, only one gets cosignatures", async () => {
  const rounds = 12;
  const log = nextLog();
  let honest: Uint8Array[] = [];
  for (let round = 0; round < rounds; round++) {
    const old = honest.length;
    const ways = ["a", "b", "c", "d"].map((name) => [...honest, ...leaves(3, `${round}${name}`)]);
    const answers = await Promise.all(ways.map((way) => ask(question(log, old, way))));
    const won = answers.flatMap(({ status: code }, i) => (code === 200 ? [i] : []));
    assert.equal(won.length, 1, JSON.stringify(answers));
    for (const { status: code } of answers) assert.ok(code === 200 || code === 409);
    honest = ways[won[0] ?? 0] ?? [];
  }
  assert.equal(await statusOf(question(log, honest.length, [...honest, ...leaves(1, "end")])), 200);
});

test("a kill at any moment leaves no cosignature that the state does not record", async () => {
  const log = nextLog();
  const all = leaves(400);
  let cosigned = 0;
  for (let round = 0; round < 4; round++) {
    let isKilled = false;
    const asking = (async () => {
      for (let size = cosigned + 1; !isKilled; ) {
        const answer = await ask(question(log, cosigned, all.slice(0, size))).catch(() => null);
        if (answer?.status === 200) cosigned = size++;
        else if (answer?.status === 409) return assert.ok(Number(answer.text) >= cosigned, answer.text);
        else if (answer === null) return;
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, 120 + round * 40));
    isKilled = true;
    await harness.service.kill();
    await asking;
    harness.service = await harness.service.restart();
    const behind = await ask(question(log, 0, leaves(1, "forged")));
    assert.equal(behind.status, 409);
    const size = Number(behind.text);
    assert.ok(size >= cosigned && cosigned > 0, `${size} after ${cosigned}`);
    // The witness refuses a fork of the cosigned tree, whatever state the kill left behind.
    const fork = [...all.slice(0, size - 1), ...leaves(5, "forged")];
    assert.equal(await statusOf(question(log, size, fork)), 422);
    cosigned = size;
  }
});

test("does not cosign once the database is older than its last cosignature, or its row is not authentic", async () => {
  const log = nextLog();
  const all = leaves(12);
  assert.equal(await statusOf(question(log, 0, all.slice(0, 4))), 200);
  const [before] = await db.query<{ row: string }>(sql`
    SELECT to_jsonb(w)::text AS row FROM witness_logs w WHERE origin = ${log.origin}`);
  assert.equal(await statusOf(question(log, 4, all.slice(0, 8))), 200);
  const attack = (statement: ReturnType<typeof sql>) =>
    db.transaction(async (tx) => {
      await tx.script("SET LOCAL session_replication_role = replica");
      await tx.query(sql`DELETE FROM witness_logs WHERE origin = ${log.origin}`);
      await tx.query(statement);
    });
  const [after] = await db.query<{ row: string }>(sql`
    SELECT to_jsonb(w)::text AS row FROM witness_logs w WHERE origin = ${log.origin}`);
  const put = (row = "") =>
    sql`INSERT INTO witness_logs SELECT * FROM jsonb_populate_record(NULL::witness_logs, ${row}::jsonb)`;
  await attack(put(before?.row));
  assert.equal(await statusOf(question(log, 4, [...all.slice(0, 4), ...leaves(4, "forged")])), 503);
  await attack(put((after?.row ?? "").replace(/"size": 8/, '"size": 9')));
  assert.equal(await statusOf(question(log, 9, all)), 503);
  await attack(put(after?.row));
  const file = join(harness.service.dataDir, "keys/witness.state", hash("sha256", log.origin));
  const kept = readFileSync(file, "utf8");
  assert.match(kept, /^8 [0-9a-f]{64}\n$/);
  writeFileSync(file, "8\n");
  assert.equal(await statusOf(question(log, 8, all)), 503);
  writeFileSync(file, kept);
  await assert.rejects(db.query(sql`UPDATE witness_logs SET size = 1 WHERE origin = ${log.origin}`), /only grows/);
  assert.equal(await statusOf(question(log, 8, all)), 200);
});

test("another name of the key does not start again, because a cosignature does not cover the name", async () => {
  const log = nextLog();
  assert.equal(await statusOf(question(log, 0, leaves(3))), 200);
  await harness.service.stop();
  harness.service = await harness.service.restart({ WITNESS_NAME: "renamed.example/witness" });
  assert.match((await status()).key, /^renamed\.example\/witness\+/);
  assert.equal(await statusOf(question(log, 0, leaves(3, "forged"))), 409);
  assert.equal(await statusOf(question(log, 3, leaves(4))), 200);
  await harness.service.stop();
  harness.service = await harness.service.restart();
});

test("a restored backup ends the key, and a new key starts again", async () => {
  const log = nextLog();
  const tree = leaves(6);
  assert.equal(await statusOf(question(log, 0, tree.slice(0, 3))), 200);
  const place = temporaryFolder();
  const [backup, keys, restored] = ["backup", "keys", "restored"].map((name) => join(place.path, name));
  assert.ok(backup && keys && restored);
  await harness.service.cli("backup", backup, "--keys", keys);
  assert.equal((await runCli({ DATA_DIR: restored }, "restore", backup, "--keys", keys)).code, 0);
  const env = { DATA_DIR: restored, WITNESS_LOGS: list, RATE_LIMITS: "off" };
  const other = await startService(env);
  try {
    assert.equal((await ask(question(log, 3, tree), other.baseUrl)).status, 503);
    const said = await runCli(env, "witness", "status");
    assert.match(said.stdout, /HALTS: the database was restored/);
    assert.equal(said.code, 1);
  } finally {
    await other.stop();
  }
  const renewed = await startService({ ...env, WITNESS_KEY: `file:${join(restored, "keys/witness-2")}` });
  try {
    assert.equal((await ask(question(log, 0, tree), renewed.baseUrl)).status, 200);
  } finally {
    await renewed.stop();
    place.remove();
  }
});

test("two installations cosign each other's logs", async () => {
  const place = temporaryFolder();
  const at = (name: string) => join(place.path, name);
  const logKey = async (of: typeof harness.service) =>
    (await of.cli<{ log: string; key: string }[]>("log", "status")).find(({ log }) => log === "live")?.key ?? "";
  const second = await startService({ DATA_DIR: at("data"), RATE_LIMITS: "off", LOG_ORIGIN: "second.example" });
  writeFileSync(list, `logs/v0\nvkey ${await logKey(second)}\n`);
  await harness.service.stop();
  harness.service = await harness.service.restart();
  const { key } = await status();
  writeFileSync(at("policy"), `witness first ${key} ${harness.service.baseUrl}/witness\nquorum first\n`);
  await second.stop();
  const witnessed = await second.restart({ LOG_POLICY: at("policy"), WITNESS_INTERVAL: "1" });
  const other = await databaseOf(at("data"));
  try {
    for (const commitment of ["a", "b", "c"])
      await other.query(queueEntry("live", { kind: "artifact/v1", commitment: commitment.repeat(64) }, new Date()));
    await until(async () => {
      const [newest] = await other.query<{ whole: boolean }>(sql`
        SELECT EXISTS (SELECT FROM log_cosignatures c JOIN log_trees t ON t.log = c.log AND t.size = c.size AND t.size > 3) AS whole`);
      return newest?.whole === true;
    });
    const published = await (await fetch(`${witnessed.baseUrl}/log/live/checkpoint`)).text();
    assert.equal(
      (await verifyCosignature(parseCheckpoint(published).note, await parseWitnessKey(key))).verdict,
      "signed",
    );
  } finally {
    await other.close();
    await witnessed.stop();
    place.remove();
  }
});

test("is off without a list, and refuses to start with a list that has its own log, no first line or a repeated key", async () => {
  const place = temporaryFolder();
  const plain = await startService({ DATA_DIR: join(place.path, "plain"), LOG_ORIGIN: "own.example" });
  assert.equal((await fetch(`${plain.baseUrl}/witness/add-checkpoint`, { method: "POST", body: "" })).status, 404);
  const own = (await plain.cli<{ key: string }[]>("log", "status"))[0]?.key ?? "";
  assert.match((await runCli({ DATA_DIR: plain.dataDir }, "witness", "status")).stderr, /is not a witness/);
  const listed = join(place.path, "list");
  writeFileSync(listed, `logs/v0\nvkey ${own}\n`);
  const refused = await runCli({ DATA_DIR: plain.dataDir, WITNESS_LOGS: listed }, "witness", "status");
  assert.match(refused.stderr, /own\.example\/log\/live is this installation's own log/);
  await plain.stop();
  assert.ok(!existsSync(join(plain.dataDir, "keys/witness")));
  place.remove();
  const one = stranger.key;
  for (const [text, why] of [
    ["", /the first line is logs\/v0/],
    [`vkey ${one}\n`, /line 1: the first line is logs\/v0/],
    ["logs/v0\nqpd 3\n", /line 2: a log begins with its vkey/],
    [`logs/v0\nvkey ${one}\nvkey ${one}\n`, /line 3: this key is there already/],
    [`logs/v0\nvkey ${one}x\n`, /line 2: /],
    [`logs/v0\nvkey ${one}\nqpd 0\n`, /line 3: qpd is a whole number/],
    [`logs/v0\nvkey ${one}\norigin elsewhere\n`, /line 3: the origin is the name/],
    [`logs/v0\nvkey ${one}\ncolor blue\n`, /line 3: a line begins with/],
  ] as const)
    await assert.rejects(parseLogsList(text), why);
});
