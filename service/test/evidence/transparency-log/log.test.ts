import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  parseBundle,
  parseCheckpoint,
  parseNoteKey,
  tilePath,
  verifyLogProof,
  verifyNote,
} from "@signsealship/evidence/log";
import { readCarriedCheckpoint } from "@signsealship/evidence/seal";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { createSequencer } from "../../../src/evidence/transparency-log/sequencer.ts";
import { selectOutlook, selectTiles, writeGrowth } from "../../../src/evidence/transparency-log/store.ts";
import { currentTree, LogHalt, logProof, queueEntry } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { openRowMac } from "../../../src/kernel/platform/row-mac.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";
import { fileForm, postSeal } from "../proof-passports/seal-document.ts";

const { service, db } = await forTests(openHarness());
const test_ = await newPartner(service);
const live = await newPartner(service, { live: true });

type Sealed = { verifyCode: string; sealedSha256: string; log: { origin: string; state: string } };

let sealedSoFar = 0;
async function seal(headers: Record<string, string>): Promise<Sealed> {
  const document = makePdf({ bytes: 20_000, text: `Document ${sealedSoFar++}` });
  const answer = await postSeal({ baseUrl: service.baseUrl, headers }, fileForm(document));
  assert.equal(answer.status, 200);
  return (await answer.json()) as Sealed;
}

const checkpointOf = async (log: "live" | "test") => {
  const answer = await fetch(`${service.baseUrl}/log/${log}/checkpoint`);
  assert.equal(answer.status, 200);
  return { answer, checkpoint: parseCheckpoint(await answer.text()) };
};

const keyOf = async (log: string): Promise<string> => {
  const statuses = await service.cli<{ log: string; key: string }[]>("log", "status");
  return statuses.find((one) => one.log === log)?.key ?? "";
};

/** Waits until the log includes a seal. @returns its proof */
async function proofOf({ verifyCode }: Sealed): Promise<string> {
  const url = `${service.baseUrl}/api/passport/verify/${verifyCode}/tlog-proof`;
  await until(async () => (await fetch(url)).status === 200);
  return (await fetch(url)).text();
}

const entryOf = ({ sealedSha256 }: Sealed): string => `seal/v1 ${sealedSha256}\n`;

test("puts a seal into the log of its environment within seconds, and proves it", async () => {
  const host = new URL(service.baseUrl).port;
  for (const [log, { headers }] of [
    ["live", live],
    ["test", test_],
  ] as const) {
    const sealed = await seal(headers);
    assert.deepEqual(sealed.log, { origin: `localhost:${host}/log/${log}`, state: "queued" });
    const proof = Buffer.from(await proofOf(sealed));
    const text = await keyOf(log);
    const key = await parseNoteKey(text);
    const given = { proof, entry: entryOf(sealed), environment: log, logs: [{ environment: log, key: text }] };
    const claims = await verifyLogProof(given);
    assert.deepEqual(
      claims.map(({ name, state }) => [name, state]),
      [
        ["log_inclusion", "holds"],
        ["log_checkpoint_signed", "holds"],
      ],
    );
    const { checkpoint, answer } = await checkpointOf(log);
    assert.equal(await verifyNote(checkpoint.note, key), "signed");
    assert.equal(answer.headers.get("cache-control"), "max-age=1");
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
  }
});

test("a sealed file contains the log's newest checkpoint at that time", async () => {
  await proofOf(await seal(test_.headers));
  const { checkpoint: before } = await checkpointOf("test");
  const { verifyCode } = await seal(test_.headers);
  const document = await fetch(`${service.baseUrl}/api/passport/verify/${verifyCode}/document`);
  const carried = parseCheckpoint((await readCarriedCheckpoint(Buffer.from(await document.arrayBuffer()))) ?? "");
  assert.ok(carried.size >= before.size);
  assert.equal(await verifyNote(carried.note, await parseNoteKey(await keyOf("test"))), "signed");
});

test("numbers lines only when the interval since the last batch is over, on whichever node", async () => {
  await proofOf(await seal(test_.headers));
  const rollback = new Error("rollback");
  const isDue = async (intervalMs: number) => {
    let due: boolean | undefined;
    const outlook = db.transaction(async (tx) => {
      await tx.query(queueEntry("test", { kind: "artifact/v1", commitment: "9d".repeat(32) }, new Date()));
      due = (await selectOutlook(tx, intervalMs)).find(({ environment }) => environment === "test")?.isDue;
      throw rollback;
    });
    await assert.rejects(outlook, rollback);
    return due;
  };
  assert.equal(await isDue(3_600_000), false);
  assert.equal(await isDue(0), true);
});

test("gives the same proof after the log has grown", async () => {
  const sealed = await seal(test_.headers);
  const first = await proofOf(sealed);
  await proofOf(await seal(test_.headers));
  assert.equal(await proofOf(sealed), first);
});

test("serves the tiles of each published width, and nothing beyond", async () => {
  await Promise.all(Array.from({ length: 5 }, () => seal(test_.headers).then(proofOf)));
  const { checkpoint } = await checkpointOf("test");
  const get = (path: string) => fetch(`${service.baseUrl}/log/test/${path}`);
  for (let width = 1; width <= checkpoint.size; width++) {
    const hashes = await get(tilePath({ level: 0, n: 0, width }));
    assert.equal(hashes.status, 200);
    assert.equal((await hashes.arrayBuffer()).byteLength, 32 * width);
    assert.match(hashes.headers.get("cache-control") ?? "", /immutable/);
    const bundle = await get(tilePath({ level: "entries", n: 0, width }));
    assert.equal(parseBundle(Buffer.from(await bundle.arrayBuffer())).length, width);
  }
  const beyond = `tile/0/000.p/${checkpoint.size + 1}`;
  const wrong = [beyond, "tile/0/000", "tile/entries/000", "tile/0/000.p/0", "tile/0/000.p/300", "tile/0/x000/001"];
  for (const path of [...wrong, "tile/1/000.p/1", "tile/0/..%2f000", "tile"])
    assert.equal((await get(path)).status, 404, path);
});

test("lets no cache store that a tile is missing, because the log may publish it in the next second", async () => {
  const missing = [
    "test/tile/0/000",
    "test/anchors/1",
    "live/policy",
    `live/policy/${"0".repeat(64)}`,
    "test-2/checkpoint",
  ];
  for (const path of missing) {
    const answer = await fetch(`${service.baseUrl}/log/${path}`);
    assert.equal(answer.status, 404, path);
    assert.equal(answer.headers.get("cache-control"), "no-store", path);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*", path);
  }
});

test("continues after the database's clock was set back", async () => {
  await db.query(sql`UPDATE log_trees SET sequenced_at = now() + interval '1 year' WHERE log = 'test'`);
  await proofOf(await seal(test_.headers));
});

test("finds a line that commits after lines with higher ids", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const commitment = "5a".repeat(32);
  let queuedAs = (_id: number) => {};
  const queued = new Promise<number>((resolve) => {
    queuedAs = resolve;
  });
  const late = db.transaction(async (tx) => {
    await tx.query(queueEntry("test", { kind: "artifact/v1", commitment }, new Date()));
    const [row] = await tx.query<{ id: number }>(sql`SELECT currval('log_entries_id_seq') AS id`);
    queuedAs(row?.id ?? 0);
    await held;
  });
  const id = await queued;
  await proofOf(await seal(test_.headers));
  const [later] = await db.query<{ id: number }>(sql`SELECT last_value AS id FROM log_entries_id_seq`);
  assert.ok(later && later.id > id);
  release();
  await late;
  await until(async () => (await leavesOf(`artifact/v1 ${commitment}\n`)).length === 1);
});

const leavesOf = (line: string) => db.query<{ leaf: number }>(sql`SELECT leaf FROM log_leaves WHERE line = ${line}`);

/** True if every line of the test log has a leaf. */
const isQueueEmpty = async () => (await db.query(sql`SELECT FROM log_entries WHERE log = 'test'`)).length === 0;

test("gives a line one leaf, although it is queued twice at once and again later", async () => {
  const entry = { kind: "artifact/v1", commitment: "2d".repeat(32) } as const;
  const queue = () => db.query(queueEntry("test", entry, new Date()));
  await db.transaction(async (tx) => {
    for (let i = 0; i < 2; i++) await tx.query(queueEntry("test", entry, new Date()));
  });
  await until(isQueueEmpty);
  // Waits for the proof. A line leaves the queue before its checkpoint is published.
  const first = await until(async () => {
    const proof = await logProof(db, "test", entry);
    return proof.state === "queued" ? undefined : proof;
  });
  const size = (await currentTree(db, "test"))?.size;
  await queue();
  await until(isQueueEmpty);
  assert.equal((await currentTree(db, "test"))?.size, size);
  await Promise.all([queue(), seal(test_.headers), queue()]);
  await until(isQueueEmpty);
  assert.equal((await leavesOf(`artifact/v1 ${entry.commitment}\n`)).length, 1);
  assert.deepEqual(await logProof(db, "test", entry), first);
});

test("writes nothing of a batch when another node has grown the tree since the batch began", async () => {
  await proofOf(await seal(test_.headers));
  const tree = await currentTree(db, "test");
  assert.ok(tree);
  const tile = { level: 0, n: 9, hashes: Buffer.alloc(32), entries: Buffer.alloc(1) };
  const stale = { tree: { ...tree, size: tree.size + 1 }, from: tree.size - 1, tiles: [tile] };
  assert.equal(await db.transaction((tx) => writeGrowth(tx, stale)), false);
  assert.deepEqual(await currentTree(db, "test"), tree);
  assert.deepEqual(await selectTiles(db, "test", [tile]), []);
});

/** Changes tiles of the test log, which simulates a fault of the disk. */
const damage = (change: Statement) =>
  db.transaction(async (tx) => {
    await tx.query(sql`ALTER TABLE log_tiles DISABLE TRIGGER log_tiles_grow`);
    await tx.query(sql`UPDATE log_tiles SET ${change} AND log = 'test'`);
    await tx.query(sql`ALTER TABLE log_tiles ENABLE TRIGGER log_tiles_grow`);
  });

test("refuses to prove a line by a damaged tile, and proves it once the tile is whole again", async () => {
  const sealed = await seal(test_.headers);
  const proof = await proofOf(sealed);
  const entry = { kind: "seal/v1", sealedSha256: sealed.sealedSha256 } as const;
  const flip = () => damage(sql`hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0)) WHERE level = 0`);
  await flip();
  await assert.rejects(logProof(db, "test", entry), /the test log does not prove its entry \d+/);
  await flip();
  for (const _ of ["from the table", "from memory"]) {
    const logged = await logProof(db, "test", entry);
    assert.equal(logged.state === "logged" && logged.proof, proof);
  }
});

test("serves no damaged bundle or tile, full or partial, because readers would store it for a year", async () => {
  for (let i = 0; i < 300; i++)
    await db.query(queueEntry("test", { kind: "artifact/v1", commitment: String(i).padStart(64, "e") }, new Date()));
  // Waits until no batch is due, because a batch that runs while a tile is damaged would halt the log.
  await until(async () => {
    return (
      (await isQueueEmpty()) && (await checkpointOf("test")).checkpoint.size === (await currentTree(db, "test"))?.size
    );
  });
  const ofFull = ["tile/0/000", "tile/entries/000", "tile/0/000.p/9", "tile/entries/000.p/9"];
  const ofEdge = ["tile/0/001.p/9", "tile/entries/001.p/9", "tile/1/000.p/1"];
  const paths = [...ofFull, ...ofEdge];
  const statuses = async () => {
    const answers = await Promise.all(paths.map((path) => fetch(`${service.baseUrl}/log/test/${path}`)));
    for (const { status, headers } of answers)
      assert.equal(headers.get("cache-control"), status === 200 ? "public, max-age=31536000, immutable" : "no-store");
    return answers.map(({ status }) => status);
  };
  const [first, last, upper] = [sql`level = 0 AND n = 0`, sql`level = 0 AND n = 1`, sql`level = 1`];
  const faults: [Statement, string[]][] = [
    [sql`hashes = set_byte(hashes, 9, 255 - get_byte(hashes, 9)) WHERE ${first}`, ofFull],
    [sql`hashes = set_byte(hashes, 8191, 255 - get_byte(hashes, 8191)) WHERE ${first}`, ofFull],
    [
      sql`entries = set_byte(entries, 9, 255 - get_byte(entries, 9)) WHERE ${first}`,
      ["tile/entries/000", "tile/entries/000.p/9"],
    ],
    [sql`entries = set_byte(entries, 9, 255 - get_byte(entries, 9)) WHERE ${last}`, ["tile/entries/001.p/9"]],
    [sql`hashes = set_byte(hashes, 9, 255 - get_byte(hashes, 9)) WHERE ${last}`, ofEdge],
    [sql`hashes = set_byte(hashes, 999, 255 - get_byte(hashes, 999)) WHERE ${last}`, ofEdge],
    [sql`hashes = set_byte(hashes, 9, 255 - get_byte(hashes, 9)) WHERE ${upper}`, paths],
  ];
  const whole = paths.map(() => 200);
  assert.deepEqual(await statuses(), whole);
  for (const [fault, expected] of faults) {
    await damage(fault);
    const damaged = paths.map((path) => (expected.includes(path) ? 500 : 200));
    assert.deepEqual(await statuses(), damaged, expected.join());
    await damage(fault);
    assert.deepEqual(await statuses(), whole);
  }
});

test("answers the hash of a sealed file, in place of a code, as it answers any other hash", async () => {
  const { sealedSha256, verifyCode } = await seal(test_.headers);
  const { paths } = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as {
    paths: Record<string, { get?: object }>;
  };
  const urls = Object.keys(paths).filter((path) => paths[path]?.get && path.includes("{"));
  assert.ok(urls.length > 20);
  const ask = async (path: string, hash: string) => {
    const answer = await fetch(service.baseUrl + path.replaceAll(/\{[^}]*\}/g, hash), { redirect: "manual" });
    return { status: answer.status, text: await answer.text() };
  };
  for (const path of [...urls, "/verify/{code}", "/log/live/policy/{sha256}"]) {
    const [found, other] = [await ask(path, sealedSha256), await ask(path, "ab".repeat(32))];
    assert.equal(found.status, other.status, path);
    assert.ok(!found.text.includes(verifyCode), path);
  }
});

test("never gives a leaf to a line that the service did not write, and reports the line", async () => {
  await db.query(sql`
    INSERT INTO log_entries (log, line, queued_at, row_mac)
    VALUES ('test', ${`seal/v1 ${"0f".repeat(32)}\n`}, now() - interval '1 hour', NULL)`);
  await proofOf(await seal(test_.headers));
  assert.deepEqual(await leavesOf(`seal/v1 ${"0f".repeat(32)}\n`), []);
  const { stdout } = await runCli({ DATA_DIR: service.dataDir }, "doctor");
  assert.match(stdout, /did not write 1 lines of the test log/);
  await db.query(sql`ALTER TABLE log_entries DISABLE TRIGGER log_entries_lost`);
  await db.query(sql`DELETE FROM log_entries WHERE row_mac IS NULL`);
  await db.query(sql`ALTER TABLE log_entries ENABLE TRIGGER log_entries_lost`);
});

test("refuses to shrink, rewrite or delete the log", async () => {
  // This line stays in the queue, because it has no MAC.
  await db.query(sql`
    INSERT INTO log_entries (log, line, queued_at) VALUES ('test', ${`seal/v1 ${"1e".repeat(32)}\n`}, now() - interval '1 hour')`);
  const changes = [
    sql`UPDATE log_trees SET size = size - 1`,
    sql`UPDATE log_trees SET origin = 'other'`,
    sql`DELETE FROM log_trees`,
    sql`UPDATE log_leaves SET leaf = leaf + 1000`,
    sql`UPDATE log_leaves SET line = line || ' '`,
    sql`UPDATE log_leaves SET log = 'test-2'`,
    sql`UPDATE log_leaves SET queued_at = now()`,
    sql`DELETE FROM log_leaves`,
    sql`DELETE FROM log_entries`,
    sql`UPDATE log_entries SET line = 'seal/v1 ' || repeat('2e', 32) || chr(10)`,
    sql`UPDATE log_entries SET id = DEFAULT`,
    sql`UPDATE log_entries SET log = 'live'`,
    sql`UPDATE log_entries SET queued_at = now()`,
    sql`UPDATE log_tiles SET hashes = substring(hashes FOR 32) WHERE length(hashes) > 32`,
    sql`UPDATE log_tiles SET hashes = set_byte(hashes, 0, 255 - get_byte(hashes, 0))`,
    sql`UPDATE log_tiles SET entries = set_byte(entries, 9, 1)`,
    sql`DELETE FROM log_tiles`,
    sql`UPDATE log_checkpoints SET note = 'x'`,
    sql`DELETE FROM log_checkpoints`,
    sql`TRUNCATE log_trees`,
    sql`TRUNCATE log_tiles`,
    sql`TRUNCATE log_entries`,
    sql`TRUNCATE log_leaves`,
  ];
  for (const change of changes) await assert.rejects(db.query(change), /only grows|append-only/);
});

test("stores its keys so that only the service can read them, with its newest checkpoint next to them", async () => {
  await proofOf(await seal(test_.headers));
  const { checkpoint } = await checkpointOf("test");
  const state = parseCheckpoint(readFileSync(join(service.dataDir, "keys/log-test.state"), "utf8"));
  assert.ok(state.size >= checkpoint.size);
  assert.match(readFileSync(join(service.dataDir, "keys/log-live"), "utf8"), /BEGIN PRIVATE KEY/);
});

test("reports a turn that fails for another reason than a halt once a minute, and continues with the other log", async () => {
  const lines: unknown[] = [];
  const halted: string[] = [];
  const log = openLog("silent");
  log.error = ({ log: name, err }: { log: string; err: Error }) =>
    void (err instanceof LogHalt ? halted.push(name) : lines.push(`${name} ${err}`));
  let minute = 0;
  const clock = () => new Date(minute * 60_000);
  const away = (): never => {
    throw new Error("the device with the key is away");
  };
  const open = async (tree: { log: string }) => (tree.log === "live" ? away() : { key: "another", signed: () => "" });
  const keys = { pathOf: () => "", open, create: away };
  const sequencer = createSequencer({
    db,
    rowMac: openRowMac(secretBytes(Buffer.alloc(32, 7))),
    clock,
    log,
    keys,
    intervalMs: 1,
  });
  for (const at of [0, 0, 0, 1, 1]) {
    minute = at;
    await sequencer.turn();
  }
  assert.deepEqual(lines, Array(2).fill("live Error: the device with the key is away"));
  assert.deepEqual(halted, ["test"]);
});

test("a turn that must stop takes no further step, and reports no pool that was closed under it", async () => {
  const reported: string[] = [];
  const log = openLog("silent");
  log.error = ({ log: name, err }: { log: string; err: Error }) =>
    void (err instanceof LogHalt || reported.push(`${name} ${err}`));
  const other = async () => ({ key: "another", signed: () => "" });
  const keys = { pathOf: () => "", open: other, create: other };
  const common = { rowMac: openRowMac(secretBytes(Buffer.alloc(32, 7))), clock: () => new Date(0), log, keys };
  const asked: number[] = [];
  for (const last of [1, 2, 3]) {
    const stopping = new AbortController();
    let statements = 0;
    // Runs a statement. Simulates a service that stops during statement number `last`, and whose pool then refuses
    // further statements.
    const ask = <Answer>(statement: () => Answer): Answer => {
      statements++;
      if (stopping.signal.aborted) throw new Error("Cannot use a pool after calling end on the pool");
      if (statements === last) stopping.abort();
      return statement();
    };
    const closing = Object.assign(Object.create(db), {
      query: (...args: Parameters<typeof db.query>) => ask(() => db.query(...args)),
      transaction: (...args: Parameters<typeof db.transaction>) => ask(() => db.transaction(...args)),
    });
    await createSequencer({ ...common, db: closing, intervalMs: 1 }).turn(stopping.signal);
    assert.ok(stopping.signal.aborted);
    asked.push(statements);
  }
  assert.equal(asked[0], 1, "the turn ends with the statement during which it was stopped");
  assert.deepEqual(reported, []);
});

test("ends the log at the command line, and seals go into the one that follows", async () => {
  const before = await seal(test_.headers);
  const proof = await proofOf(before);
  const { origin } = before.log;
  const run = (...args: string[]) => runCli({ DATA_DIR: service.dataDir }, "log", "retire", ...args);
  assert.match((await run(origin)).stderr, /log retire needs --reason: rotation, key-compromise, lost/);
  assert.match((await run(origin, "--reason", "bored")).stderr, /--reason/);
  assert.match(
    (await run("example.com/log/test", "--reason", "rotation")).stderr,
    /no log example\.com\/log\/test here/,
  );
  const retired = await run(origin, "--reason", "rotation");
  assert.equal(retired.code, 0, retired.stderr);
  assert.match(
    retired.stdout,
    new RegExp(`${origin} has ended, with \\d+ entries\\. It is followed by ${origin}-2\\.`),
  );
  assert.match((await run(origin, "--reason", "rotation")).stdout, /had ended before/);

  await until(async () => (await seal(test_.headers)).log.origin === `${origin}-2`);
  const after = await seal(test_.headers);
  assert.equal(parseCheckpoint((await proofOf(after)).split("\n\n").slice(1).join("\n\n")).origin, `${origin}-2`);
  assert.equal(await proofOf(before), proof);
  const list = (await (await fetch(`${service.baseUrl}/seal/trust.json`)).json()) as {
    logs: { end?: { reason: string } }[];
  };
  assert.deepEqual(
    list.logs.map(({ end }) => end?.reason ?? null),
    [null, "rotation", null],
  );
  assert.equal((await fetch(`${service.baseUrl}/log/test-2/checkpoint`)).status, 200);
  for (const other of ["test-3", "test-1", "other", "live%2f.."])
    assert.equal((await fetch(`${service.baseUrl}/log/${other}/checkpoint`)).status, 404, other);
  const status = await runCli({ DATA_DIR: service.dataDir }, "log", "status");
  assert.match(status.stdout, /ended at \d{4}.* \(rotation\)/);
  assert.equal(status.code, 0, status.stdout);
  const [line] = await db.query<{ detail: { reason: string } }>(
    sql`SELECT detail FROM audit_log WHERE action = 'log.retired'`,
  );
  assert.equal(line?.detail.reason, "rotation");
});
