import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  appendToEdge,
  type EdgeNode,
  foldNodes,
  leafMessage,
  nodeMessage,
  parseCheckpoint,
} from "@signsealship/evidence/log";
import { databaseOf } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { ownProcess, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { queueEntry } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";

const folder = temporaryFolder();
const kills = repeats(8, 3, 30);
const linesOfRound = 120;

const settings = { DATA_DIR: folder.path, RATE_LIMITS: "off", ...ownProcess };
const nodes = [await startService(settings), await startService(settings)];
after(async () => {
  for (const node of nodes) await node.stop();
});
const db = await forTests(databaseOf(folder.path));

/**
 * Pauses a node at any step of a batch, and terminates the database connections of both nodes, so that the node loses
 * its lock. When the node continues, it still believes that it has the lock.
 */
async function pause(node: Service): Promise<void> {
  node.process().kill("SIGSTOP");
  await db.query(sql`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND application_name <> 'test'`);
  await sleep(300);
  node.process().kill("SIGCONT");
}

/**
 * Queues a line. Returns false while the database does not respond; the test then retries, as a service's caller would.
 */
const isQueued = (commitment: string): Promise<boolean> =>
  db.query(queueEntry("test", { kind: "artifact/v1", commitment }, new Date())).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ServiceError && error.code === "unavailable") return false;
      throw error;
    },
  );

const sha256 = (bytes: Uint8Array): Uint8Array => hash("sha256", bytes, "buffer");

test(`kill -9 of two nodes in turn, each after a pause of the other, ${kills} times: one history, nothing lost, nothing twice`, async () => {
  const queued: string[] = [];
  for (let kill = 0; kill < kills; kill++) {
    const writing = (async () => {
      for (let i = 0; i < linesOfRound; i++) {
        const commitment = String(queued.length).padStart(64, "0");
        queued.push(`artifact/v1 ${commitment}\n`);
        await until(() => isQueued(commitment));
        await sleep(5);
      }
    })();
    const which = kill % 2;
    await sleep(100 + ((kill * 137) % 900));
    const other = nodes[1 - which];
    if (other) await pause(other);
    await nodes[which]?.kill();
    await writing;
    const restarted = await nodes[which]?.restart();
    if (restarted) nodes[which] = restarted;
  }
  const waiting = async () =>
    (await db.query<{ n: number }>(sql`SELECT count(*) AS n FROM log_entries WHERE log = 'test'`))[0]?.n;
  await until(async () => (await waiting()) === 0);
  const rows = await db.query<{ line: string; leaf: number }>(sql`
    SELECT line, leaf FROM log_leaves WHERE log = 'test' ORDER BY leaf`);
  assert.deepEqual(
    rows.map(({ leaf }) => leaf),
    rows.map((_, i) => i),
  );
  assert.deepEqual(rows.map(({ line }) => line).sort(), queued.sort());
  const published = async () =>
    (await db.query<{ size: number }>(sql`SELECT max(size) AS size FROM log_checkpoints WHERE log = 'test'`))[0]?.size;
  await until(async () => (await published()) === rows.length);
  const checkpoints = await db.query<{ size: number; note: string }>(sql`
    SELECT size, note FROM log_checkpoints WHERE log = 'test' ORDER BY size`);
  const roots = new Map(checkpoints.map(({ size, note }) => [size, parseCheckpoint(note).root]));
  const edge: EdgeNode[] = [];
  for (const { line, leaf } of rows) {
    appendToEdge(edge, sha256(leafMessage(Buffer.from(line))), (left, right) => sha256(nodeMessage(left, right)));
    const root = foldNodes(
      edge.map((node) => node.hash),
      (left, right) => sha256(nodeMessage(left, right)),
    );
    const signed = roots.get(leaf + 1);
    if (signed) assert.deepEqual(Buffer.from(signed), Buffer.from(root ?? []));
  }
  assert.ok(checkpoints.length > kills);
});
