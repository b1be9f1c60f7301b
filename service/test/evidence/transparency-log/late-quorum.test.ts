import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseCheckpoint } from "@signsealship/evidence/log";
import { newDatabase } from "@signsealship/testing/database";
import { startWitness } from "@signsealship/testing/doubles/witness";
import { forTests } from "@signsealship/testing/for-tests";
import { testRowMac as rowMac } from "@signsealship/testing/row-mac";
import { temporaryFolder } from "@signsealship/testing/service";
import { publishedCheckpoint } from "../../../src/evidence/transparency-log/published.ts";
import { openTransparencyLog, queueEntry } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";

const place = temporaryFolder();
await forTests(Promise.resolve({ close: async () => place.remove() }));
const db = await forTests(newDatabase());
const one = await forTests(startWitness("one.example.com/witness"));
const two = await forTests(startWitness("two.example.com/witness"));
const logPolicy = join(place.path, "witnesses");
writeFileSync(
  logPolicy,
  `witness one ${one.key} ${one.url}\nwitness two ${two.key} ${two.url}\ngroup both all one two\nquorum both\n`,
);

let second = 0;
const clock = () => new Date(Date.UTC(2026, 0, 1) + second * 1_000);
const config = {
  dataDir: place.path,
  logKey: `file:${join(place.path, "keys/log-live")}`,
  logOrigin: "log.example.com",
  logIntervalMs: 0,
  logPolicy,
  witnessIntervalMs: 0,
  baseUrl: "https://log.example.com",
};

/** Reads the checkpoint, as a client does. @returns the checkpoint's size, and true if it has a quorum of witnesses */
async function read() {
  const note = (await publishedCheckpoint(db, "live", clock())) ?? assert.fail("the log has no checkpoint");
  const { size } = parseCheckpoint(note);
  const quorum = await db.query(
    sql`SELECT FROM log_cosignatures WHERE log = 'live' AND size = ${size} AND is_quorum LIMIT 1`,
  );
  return { size, hasQuorum: quorum.length > 0 };
}

let entries = 0;
let isBusy = false;
/** Adds a line to the log, signs the tree, and reads the checkpoint. */
async function grow() {
  const commitment = String(++entries).padStart(64, "0");
  await db.query(queueEntry("live", { kind: "artifact/v1", commitment }, clock()));
  await log.turn();
  return read();
}

// On a busy log, the tree grows and readers request the checkpoint while a witness responds.
const log = await openTransparencyLog({ db, rowMac, clock, log: openLog("silent"), config }, async (url, init) => {
  const answer = await fetch(url, init);
  if (isBusy && String(url).startsWith(two.url)) await grow();
  return answer;
});

test("a busy log shows quorums again after the outage of a witness", async () => {
  await grow();
  await log.askWitnesses();
  const first = await read();
  assert.equal(first.hasQuorum, true);
  isBusy = true;
  await grow();
  two.order("server-error");
  const sizes: number[] = [];
  for (; second < 150; second += 10) {
    await log.askWitnesses();
    sizes.push((await read()).size);
  }
  const { size, hasQuorum } = await read();
  assert.equal(hasQuorum, false);
  assert.ok(size > first.size, "readers see the newest state once the quorum is old");
  two.order("proper");
  for (let round = 0; round < 3; round++, second++) {
    await log.askWitnesses();
    sizes.push((await read()).size);
  }
  assert.equal((await read()).hasQuorum, true);
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => a - b),
  );
});

test("a witness that has seen more than the readers is asked about the newest state", async () => {
  isBusy = false;
  second += 120;
  const { size } = await grow();
  assert.equal((await read()).hasQuorum, false);
  for (let i = 0; i < 3; i++) await grow();
  assert.equal((await read()).size, size);
  // Simulates another node that has already asked the witness about a newer state.
  const [newest] = await db.query<{ size: number }>(
    sql`SELECT max(size) AS size FROM log_checkpoints WHERE log = 'live'`,
  );
  one.sees(size + 1);
  for (let round = 0; round < 2; round++) {
    second += 1;
    await log.askWitnesses();
  }
  assert.deepEqual(await read(), { size: newest?.size, hasQuorum: true });
});
