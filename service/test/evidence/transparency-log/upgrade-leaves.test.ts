import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseCheckpoint, parseLogProof } from "@signsealship/evidence/log";
import { databaseOf } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { testRowMac as rowMac } from "@signsealship/testing/row-mac";
import { temporaryFolder } from "@signsealship/testing/service";
import { readWholeLog } from "../../../src/evidence/transparency-log/copies.ts";
import { edgePlaces, emptyRoot, grow } from "../../../src/evidence/transparency-log/grow.ts";
import { logKeys } from "../../../src/evidence/transparency-log/key.ts";
import { insertCheckpoint, selectTiles, writeGrowth } from "../../../src/evidence/transparency-log/store.ts";
import { logProof, openTransparencyLog, queueEntry } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { currentTree, insertTree, noEnd } from "../../../src/evidence/transparency-log/trees.ts";
import { migrate } from "../../../src/kernel/platform/database/migrations.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { MacOfRow } from "../../../src/kernel/platform/database/state-mac.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";

const migrations = join(import.meta.dirname, "../../../migrations");
/** The migration that splits one table of lines into two: queued lines, and lines with a leaf. */
const dividing = readdirSync(migrations).find((name) => name.endsWith("_log_leaves.sql")) ?? "";
const place = temporaryFolder();
await forTests(Promise.resolve({ close: async () => place.remove() }));
const db = await forTests(databaseOf(join(place.path, "data")));
const upgrade = (folder: string) => migrate({ db, asOwner: (work) => work(db), folder });

const config = {
  dataDir: place.path,
  logKey: `file:${join(place.path, "keys/log-live")}`,
  logOrigin: "log.example.com",
  logIntervalMs: 0,
  logPolicy: null,
  witnessIntervalMs: 1_000,
  baseUrl: "https://log.example.com",
};
const deps = { db, rowMac, clock: () => new Date(), log: openLog("silent"), config };
const open = () =>
  openTransparencyLog(deps, async () => {
    throw new Error("nobody is asked");
  });

const entryOf = (text: string) => ({ kind: "seal/v1", sealedSha256: hash("sha256", text) }) as const;
const lineOf = (text: string) => `seal/v1 ${hash("sha256", text)}\n`;
const queuedAt = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));

/** Writes a log of the earlier schema: 300 lines with leaves, three queued lines, and a forged line. */
async function writeEarlier(): Promise<void> {
  const origin = "log.example.com/log/live";
  const signer = await logKeys(config).create({ log: "live", origin });
  const begun = { size: 0, root: emptyRoot, restoredAt: null, recoveredAt: null, ...noEnd };
  const tree = { log: "live", origin, noteKey: signer.key, ...begun };
  const lines = Array.from({ length: 300 }, (_, i) => lineOf(`leaf ${i}`));
  await db.transaction(async (tx) => {
    await insertTree(tx, tree);
    const { size, root, tiles } = await grow(tree, await selectTiles(tx, "live", edgePlaces(0)), lines);
    await writeGrowth(tx, { tree: { ...tree, size, root }, from: 0, tiles });
    await tx.query(sql`
      INSERT INTO log_entries (log, line, leaf, queued_at)
      SELECT 'live', line, place - 1, ${queuedAt(1)} FROM unnest(${lines}::text[]) WITH ORDINALITY AS n (line, place)`);
    await insertCheckpoint(tx, "live", { size, note: signer.signed(size, root) }, queuedAt(2));
    for (const [i, text] of ["waits 0", "waits 1", "waits 2"].entries())
      await tx.query(sql`
        INSERT INTO log_entries (log, line, queued_at, row_mac)
        VALUES ('live', ${lineOf(text)}, ${queuedAt(3 + i)}, ${new MacOfRow("log_entries", { log: "live", line: lineOf(text) })})`);
    await tx.query(
      sql`INSERT INTO log_entries (log, line, queued_at) VALUES ('live', ${lineOf("forged")}, ${queuedAt(9)})`,
    );
  });
}

test("an upgrade keeps each leaf and its proof, and lines that wait get leaves in their order", async () => {
  const earlier = join(place.path, "migrations");
  cpSync(migrations, earlier, { recursive: true });
  for (const file of readdirSync(earlier))
    if (Number(file.slice(0, 4)) >= Number(dividing.slice(0, 4))) rmSync(join(earlier, file));
  await upgrade(earlier);
  await writeEarlier();
  await upgrade(migrations);

  assert.deepEqual(
    await db.query(sql`SELECT log, size FROM log_published`),
    [{ log: "live", size: 300 }],
    "readers saw the newest checkpoint before the upgrade",
  );
  const before = await logProof(db, "live", entryOf("leaf 0"));
  assert.equal(
    before.state === "logged" && parseCheckpoint(parseLogProof(Buffer.from(before.proof)).checkpoint).size,
    300,
  );
  const opened = await open();
  for (let turn = 0; turn < 4; turn++) await opened.turn();
  assert.equal(opened.halted().get("live"), undefined);
  assert.deepEqual(await logProof(db, "live", entryOf("leaf 0")), before);
  const whole = await readWholeLog(db, "live");
  assert.equal(whole.length, 303);
  assert.deepEqual(whole.slice(300), ["waits 0", "waits 1", "waits 2"].map(lineOf));
  const leaves = await db.query<{ line: string; queuedAt: Date }>(sql`
    SELECT line, queued_at AS "queuedAt" FROM log_leaves WHERE log = 'live' ORDER BY leaf`);
  assert.deepEqual(
    leaves.map(({ line }) => line),
    whole,
  );
  assert.deepEqual(
    leaves.slice(300).map((leaf) => leaf.queuedAt),
    [3, 4, 5].map(queuedAt),
  );
  assert.deepEqual(
    await db.query(sql`SELECT line FROM log_entries`),
    [{ line: lineOf("forged") }],
    "the service still does not number what it did not write",
  );
});

test("a line from before the upgrade gets no second leaf when it is queued again", async () => {
  await db.query(queueEntry("live", entryOf("leaf 7"), new Date()));
  const opened = await open();
  for (let turn = 0; turn < 4; turn++) await opened.turn();
  assert.equal((await currentTree(db, "live"))?.size, 303);
  assert.equal((await db.query(sql`SELECT FROM log_entries`)).length, 1);
});
