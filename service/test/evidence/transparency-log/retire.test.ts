import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { copyFileSync, cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  parseCheckpoint,
  parseEntry,
  parseLogProof,
  type TrustedLog,
  verifyLogProof,
} from "@signsealship/evidence/log";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { testRowMac as rowMac } from "@signsealship/testing/row-mac";
import { temporaryFolder } from "@signsealship/testing/service";
import { monitorAnswer } from "@signsealship/verifier";
import { exportLog, readWholeLog, recoverLog } from "../../../src/evidence/transparency-log/copies.ts";
import { logKeys } from "../../../src/evidence/transparency-log/key.ts";
import { publishedCheckpoint, publishedTile } from "../../../src/evidence/transparency-log/published.ts";
import { retractSeal } from "../../../src/evidence/transparency-log/retractions.ts";
import {
  logProof,
  logStatuses,
  openTransparencyLog,
  queueEntry,
  retireAndBegin,
} from "../../../src/evidence/transparency-log/transparency-log.ts";
import { currentTree, haltRestored, selectTrees } from "../../../src/evidence/transparency-log/trees.ts";
import type { Database, Sql } from "../../../src/kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";

const baseUrl = "https://log.example.com";
const clock = () => new Date();
const place = temporaryFolder();
await forTests(Promise.resolve({ close: async () => place.remove() }));
/** All tests use one database: each test ends the log that the previous test has begun. */
const db = await forTests(newDatabase());

/** A node: a database, and a folder with key files. */
function nodeOn(folder: string, own: Database = db) {
  const dataDir = join(place.path, folder);
  const config = {
    dataDir,
    logKey: `file:${join(dataDir, "keys/log-live")}`,
    logOrigin: "log.example.com",
    logIntervalMs: 0,
    logPolicy: null,
    witnessIntervalMs: 1_000,
    baseUrl,
  };
  const log = openLog("silent");
  const deps = { db: own, rowMac, clock, log, config };
  return { ...deps, dataDir, keys: logKeys(config), open: () => openTransparencyLog(deps, never) };
}
type Node = ReturnType<typeof nodeOn>;
const node = nodeOn("node");

const never: typeof fetch = async () => {
  throw new Error("nobody is asked");
};

const sha256Of = (text: string) => hash("sha256", text);
const entryOf = (text: string) => ({ kind: "seal/v1", sealedSha256: sha256Of(text) }) as const;
const queue = (db: Database, text: string) => db.query(queueEntry("live", entryOf(text), clock()));

/**
 * Runs six rounds of a node's work, which complete everything that is pending. Asserts that the live log was not
 * halted.
 */
async function settle(node: Node): Promise<void> {
  const opened = await node.open();
  for (let turn = 0; turn < 6; turn++) await opened.turn();
  assert.equal(opened.halted().get("live"), undefined);
}

async function logged(node: Node, text: string): Promise<string> {
  await queue(node.db, text);
  await settle(node);
  return proofOf(node, text);
}

async function proofOf({ db }: Node, text: string): Promise<string> {
  const proof = await logProof(db, "live", entryOf(text));
  assert.equal(proof.state, "logged");
  return proof.state === "logged" ? proof.proof : "";
}

/** Names and states of the claims about a proof, verified with the service's own trust list. */
async function judged(node: Node, text: string, proof: string, logs?: readonly TrustedLog[]): Promise<string[]> {
  const trusted = logs ?? (await (await node.open()).trusted());
  const entry = `seal/v1 ${sha256Of(text)}\n`;
  const claims = await verifyLogProof({ proof: Buffer.from(proof), entry, environment: "live", logs: trusted });
  return claims.map(({ name, state }) => `${name} ${state}`);
}
/** The name of the current live log: the one that has not ended. */
const current = async () => (await currentTree(db, "live"))?.log ?? "live";

const proven = ["log_inclusion holds", "log_checkpoint_signed holds"];

/** A `fetch` that serves a node's logs and its trust list. @param other texts to serve at some paths instead */
const served =
  (node: Node, other: ReadonlyMap<string, string> = new Map()): typeof fetch =>
  async (input) => {
    const { pathname } = new URL(String(input));
    const changed = other.get(pathname);
    if (changed !== undefined) return new Response(changed);
    if (pathname === "/seal/trust.json") {
      const logs = await (await node.open()).trusted();
      return new Response(JSON.stringify({ format: 1, sealCertificates: [], logs }));
    }
    const [, name = "", path = ""] = /^\/log\/([^/]+)\/(.*)$/.exec(pathname) ?? [];
    const body =
      path === "checkpoint"
        ? await publishedCheckpoint(node.db, name, clock())
        : await publishedTile(node.db, name, path);
    return body === null ? new Response(null, { status: 404 }) : new Response(Buffer.from(body));
  };

const unwitnessed = { now: () => new Date(), policy: null, quorumWait: { seconds: 0 } };
const monitored = async (node: Node, { state = null as string | null, fetch = served(node), isFull = false } = {}) =>
  monitorAnswer(`${baseUrl}/log/live`, { key: null, state, with: [], isFull, fetch, ...unwitnessed });

const originOf = (name: string) => `log.example.com/log/${name}`;
const retire = (node: Node, name: string, reason: "rotation" | "key-compromise" | "lost") =>
  retireAndBegin(node, originOf(name), reason);

test("a rotation names the next key in the last entry, and proofs, tiles and monitors go on across it", async () => {
  const state = join(place.path, "rotation-monitor");
  const before = await logged(node, "before");
  assert.equal((await monitored(node, { state })).exitCode, 0);
  const retired = await retire(node, "live", "rotation");
  assert.deepEqual([retired.isNew, retired.size, retired.successor], [true, 2, originOf("live-2")]);
  assert.ok(existsSync(join(node.dataDir, "keys/log-live-2")));
  const after = await logged(node, "after");

  assert.equal(await proofOf(node, "before"), before, "an old proof stays, byte for byte");
  assert.deepEqual(await judged(node, "before", before), proven);
  assert.deepEqual(await judged(node, "after", after), proven);
  const [old, next] = await selectTrees(node.db).then((trees) => trees.filter(({ log }) => log.startsWith("live")));
  assert.deepEqual((await readWholeLog(node.db, "live")).map(parseEntry), [
    entryOf("before"),
    { kind: "logkey/v1", key: next?.noteKey, change: "next" },
    { kind: "logkey/v1", key: old?.noteKey, change: "end" },
    { kind: "end/v1", origin: old?.origin, size: "2", root: old?.root.toString("hex"), reason: "rotation" },
    entryOf("after"),
  ]);
  assert.equal(parseCheckpoint((await publishedCheckpoint(node.db, "live", clock())) ?? "").size, 2);
  assert.equal((await publishedTile(node.db, "live", "tile/0/000.p/2"))?.length, 64);

  for (const isFull of [false, true]) {
    const followed = await monitored(node, { state, isFull });
    assert.equal(followed.exitCode, 0, followed.text);
    assert.match(followed.text, /live has ended\.\nlog\.example\.com\/log\/live-2: 3 entries/);
    assert.doesNotMatch(followed.text, /compare its key/, "the old log vouches for the new key");
  }
  assert.equal((await retire(node, "live", "rotation")).isNew, false, "a second run of the command ends nothing more");
  assert.equal((await currentTree(node.db, "live"))?.log, "live-2");
  await assert.rejects(retire(node, "live-7", "rotation"), /no log log\.example\.com\/log\/live-7 here, but .*live-2/);
});

test("a database from before a rotation halts, and copies of both logs bring back one history", async () => {
  const late = await proofOf(node, "after");
  const [first, second] = [join(place.path, "mirror/live"), join(place.path, "mirror/live-2")];
  await exportLog(node.db, "live", first);
  await exportLog(node.db, "live-2", second);
  const options = { key: null, state: null, with: [], isFull: true, fetch: never, ...unwitnessed };
  assert.equal((await monitorAnswer(second, options)).exitCode, 0);

  const restored = nodeOn("restored", await forTests(newDatabase()));
  cpSync(node.dataDir, restored.dataDir, { recursive: true });
  const opened = await restored.open();
  await opened.turn();
  assert.match(opened.halted().get("live") ?? "", /has seen the log live-2, .* it is an older database/);
  const recover = (from: string) => recoverLog({ ...restored, fetch: never }, "live", from);
  assert.deepEqual(await recover(first), { origin: originOf("live"), size: 2, added: 2 });
  await opened.turn();
  assert.match(opened.halted().get("live") ?? "", /was restored .* run log recover/, "the next log waits for its copy");
  assert.deepEqual(await recover(second), { origin: originOf("live-2"), size: 3, added: 1 });
  const lines = await restored.db.query(
    sql`SELECT detail FROM audit_log WHERE action = 'log.recovered' ORDER BY id DESC LIMIT 1`,
  );
  assert.deepEqual(lines, [{ detail: { log: "live", origin: originOf("live-2"), size: 3, added: 1 } }]);
  await queue(restored.db, "now");
  await settle(restored);
  assert.equal(await proofOf(restored, "after"), late);
  assert.equal((await monitored(restored)).exitCode, 0);
});

test("a retraction in the log that follows counts for a file that the ended log has", async () => {
  await logged(node, "wrong");
  const ended = await current();
  await retire(node, ended, "rotation");
  await retractSeal(node, "live", { sealedSha256: sha256Of("wrong"), reason: "wrong-document" });
  await settle(node);
  const proof = await proofOf(node, "wrong");
  assert.equal(parseCheckpoint(parseLogProof(Buffer.from(proof)).checkpoint).origin, originOf(ended));
  assert.deepEqual(await judged(node, "wrong", proof), [...proven, "log_not_retracted fails"]);
});

test("once a key is in other hands, proofs lead to the last state, and more that the key signs is refused", async () => {
  const early = await logged(node, "early");
  await logged(node, "later");
  assert.deepEqual(await judged(node, "early", early), proven);
  const tree = await currentTree(db, "live");
  assert.ok(tree);
  const { log, origin, size } = tree;
  const retired = await retire(node, log, "key-compromise");
  assert.equal(retired.size, size, "it ends without another entry");

  assert.deepEqual(await judged(node, "early", early), ["log_inclusion holds", "log_checkpoint_signed unchecked"]);
  const renewed = await proofOf(node, "early");
  assert.equal(parseCheckpoint(parseLogProof(Buffer.from(renewed)).checkpoint).size, size);
  assert.deepEqual(await judged(node, "early", renewed), proven);
  const followed = await monitored(node);
  assert.equal(followed.exitCode, 0, followed.text);
  assert.match(
    followed.text,
    new RegExp(`${retired.successor} follows by the word of its address alone: compare its key`),
  );

  const thief = await node.keys.open(tree);
  for (const signedSize of [size, size + 5]) {
    const forged = thief.signed(signedSize, Buffer.alloc(32, 9));
    const proof = `${renewed.slice(0, renewed.indexOf("\n\n"))}\n\n${forged}`;
    assert.equal((await judged(node, "early", proof))[1], "log_checkpoint_signed fails");
    const shown = await monitored(node, { fetch: served(node, new Map([[`/log/${log}/checkpoint`, forged]])) });
    assert.equal(shown.exitCode, 1);
    assert.match(
      shown.text,
      new RegExp(`WRONG: ${origin} ended with ${size} entries, as .* says, and shows another state`),
    );
  }
});

test("a node with the old key alone signs nothing more, and the database takes nothing more of an ended log", async () => {
  await logged(node, "before the stale node");
  const ended = await current();
  const stale = nodeOn("stale");
  cpSync(node.dataDir, stale.dataDir, { recursive: true });
  const running = await stale.open();
  await running.turn();
  const { successor, keyPath } = await retire(node, ended, "rotation");
  const next = await current();
  await queue(db, "waits");
  for (let turn = 0; turn < 3; turn++) await running.turn();
  assert.match(running.halted().get("live") ?? "", new RegExp(`lacks the key of ${successor} .*log-${next}`));
  assert.equal((await logProof(db, "live", entryOf("waits"))).state, "queued");
  assert.match((await logStatuses(stale)).find(({ log }) => log === next)?.halted ?? "", /lacks the key/);
  for (const change of [
    sql`UPDATE log_trees SET size = size + 1 WHERE log = ${ended}`,
    sql`UPDATE log_trees SET final_size = NULL, successor_key = NULL, end_reason = NULL, ended_at = NULL WHERE log = ${ended}`,
    sql`UPDATE log_trees SET successor_key = note_key WHERE log = ${ended}`,
    sql`UPDATE log_leaves SET leaf = leaf + 1 WHERE log = ${ended}`,
    sql`INSERT INTO log_checkpoints (log, size, note, signed_at) VALUES (${ended}, 99, 'x', now())`,
  ])
    await assert.rejects(db.query(change), /only grows|has ended/);
  copyFileSync(keyPath, join(stale.dataDir, `keys/log-${next}`));
  for (let turn = 0; turn < 3; turn++) await running.turn();
  assert.deepEqual(await judged(stale, "waits", await proofOf(stale, "waits")), proven);
});

test("a log whose published entries are gone ends as lost, and entries without a checkpoint get a place in the next log", async () => {
  const kept = await logged(node, "kept");
  await queue(db, "unsigned");
  const isCheckpoint = ({ text }: Statement) => text.includes("INSERT INTO log_checkpoints");
  const unsigned: Database = {
    ...db,
    transaction: (work, time) =>
      db.transaction(
        (tx) =>
          work({
            ...tx,
            query: (statement) => {
              if (isCheckpoint(statement)) throw new Error("the process was killed");
              return tx.query(statement);
            },
          }),
        time,
      ),
  };
  await (await nodeOn("node", unsigned).open()).turn();
  await db.transaction((tx) => haltRestored(tx, clock()));
  const { log, size, origin } = (await currentTree(db, "live")) ?? assert.fail();
  await assert.rejects(retire(node, log, "rotation"), /halts, and can't sign its last entry: .*--reason lost/);
  await assert.rejects(retire(node, log, "key-compromise"), /lacks a checkpoint .* that this node signed/);
  const retired = await retire(node, log, "lost");
  assert.deepEqual([retired.origin, retired.size], [origin, size - 1]);
  await settle(node);
  assert.deepEqual(await judged(node, "kept", kept), proven);
  assert.deepEqual(await judged(node, "unsigned", await proofOf(node, "unsigned")), proven);
  const followed = await monitored(node);
  assert.equal(followed.exitCode, 0, followed.text);
});

/** The database of a process that is killed after n steps; statements and commits are steps. */
function killedAfter(n: number): Database & { steps: () => number } {
  let steps = 0;
  const step = () => {
    steps += 1;
    if (steps > n) throw new Error("the process was killed");
  };
  const query: Sql["query"] = (statement) => {
    step();
    return db.query(statement);
  };
  return {
    ...db,
    query,
    steps: () => steps,
    async transaction(work, time) {
      const result = await db.transaction(
        (tx) =>
          work({
            ...tx,
            query: (statement) => {
              step();
              return tx.query(statement);
            },
          }),
        time,
      );
      step();
      return result;
    },
  };
}

test("a kill at any step of a rotation or a compromise leaves one history, and the next run completes it", async () => {
  const before = (await selectTrees(db)).length;
  let ended = 0;
  for (const reason of ["rotation", "key-compromise"] as const) {
    for (let n = 0, isWhole = false; !isWhole; n += 2) {
      const name = await current();
      await queue(db, `${reason} ${n}`);
      const killed = killedAfter(n);
      isWhole = await retireAndBegin({ ...node, db: killed }, originOf(name), reason).then(
        () => killed.steps() <= n,
        () => false,
      );
      await retire(node, name, reason);
      await settle(node);
      ended += 1;
    }
  }
  assert.equal((await selectTrees(db)).length, before + ended);
  assert.ok(ended > 20, `${ended} ends`);
  const lines = await readWholeLog(db, "live");
  assert.equal(new Set(lines).size, lines.length, "no line twice");
  const [unfinished] = await db.query<{ n: number }>(sql`SELECT count(*) AS n FROM log_entries`);
  assert.equal(unfinished?.n, 0, "nothing lost");
  const followed = await monitored(node);
  assert.equal(followed.exitCode, 0, followed.text);
});

test("an end that the service did not write halts the log, and readers do not hear of it", async () => {
  const log = await current();
  await db.query(sql`
    UPDATE log_trees SET final_size = size, successor_key = note_key, end_reason = 'key-compromise', ended_at = now()
    WHERE log = ${log}`);
  const opened = await node.open();
  await opened.turn();
  assert.match(opened.halted().get("live") ?? "", /the tree's row was changed outside the service/);
  assert.equal(await current(), log);
  const newest = (await opened.trusted()).findLast(({ environment }) => environment === "live");
  assert.deepEqual(Object.keys(newest ?? {}), ["environment", "key"]);
});
