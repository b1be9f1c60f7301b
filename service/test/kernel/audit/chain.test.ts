import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { beforeEach, test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { createPartner } from "../../../src/firms/partners/partners.ts";
import { auditLine } from "../../../src/kernel/audit/audit.ts";
import { chainAuditLines } from "../../../src/kernel/audit/chain.ts";
import { checkAuditChain } from "../../../src/kernel/audit/check-chain.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { openRowMac } from "../../../src/kernel/platform/row-mac.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";
import { auditLogWhole } from "../../../src/upkeep/doctor/records.ts";

const rowMac = openRowMac(secretBytes(randomBytes(32)));
const log = openLog("silent");

const db = await forTests(newDatabase());
db.useRowMac(rowMac);

const at = new Date("2026-01-02T03:04:05.678Z");
const write = (actor: string) => db.query(auditLine({ at, action: "test", actor, detail: { actor, n: 1 } }));
const chainAt = (placedAt: Date) =>
  chainAuditLines({ db, rowMac, log, clock: () => placedAt }, new AbortController().signal);
const chain = () => chainAt(at);
const faults = async () => (await checkAuditChain({ db, rowMac })).faults;

/** Runs a statement as the database's superuser, with triggers disabled. */
const attack = (statement: Statement) =>
  db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    await tx.query(statement);
  });

beforeEach(async () => {
  await attack(sql`DELETE FROM audit_log`);
  for (let n = 1; n <= 6; n++) await write(`key:${n}`);
  await chain();
});

test("lines get their positions in the order of their ids, and further lines follow them", async () => {
  assert.deepEqual(await checkAuditChain({ db, rowMac }), { lines: 6, waiting: 0, faults: [], late: [] });
  await write("key:7");
  assert.deepEqual(await checkAuditChain({ db, rowMac }), { lines: 6, waiting: 1, faults: [], late: [] });
  assert.equal(await auditLogWhole({ db, rowMac }), "6 lines in one chain, 1 wait for a running service to add them");
  await chain();
  assert.deepEqual(await checkAuditChain({ db, rowMac }), { lines: 7, waiting: 0, faults: [], late: [] });
  const [row] = await db.query(
    sql`SELECT array_agg(id ORDER BY chain_position) = array_agg(id ORDER BY id) AS same FROM audit_log`,
  );
  assert.deepEqual(row, { same: true });
});

test("a line that differs from its MAC gets no position, and is named", async () => {
  const { partnerId } = await createPartner({ db, clock: systemClock }, { name: "Acme", tier: "trial", live: false });
  const names = [
    "occurred_at",
    "action",
    "actor",
    "partner_id",
    "from_status",
    "to_status",
    "detail",
    "row_mac",
  ] as const;
  const changes: { [name in (typeof names)[number]]: Statement } = {
    occurred_at: sql`occurred_at + interval '1 microsecond'`,
    action: sql`'order.refunded'`,
    actor: sql`'key:8'`,
    partner_id: sql`${partnerId}::uuid`,
    from_status: sql`'Created'`,
    to_status: sql`'Paid'`,
    detail: sql`detail || '{"n": 2}'`,
    row_mac: sql`NULL`,
  };
  for (const changed of names) {
    const actor = `of ${changed}`;
    await write(actor);
    const column = (name: (typeof names)[number], kept: Statement) => (name === changed ? changes[name] : kept);
    const [copy] = await db.query<{ id: number }>(sql`
      INSERT INTO audit_log (occurred_at, action, actor, partner_id, from_status, to_status, detail, row_mac)
      SELECT ${column("occurred_at", sql`occurred_at`)}, ${column("action", sql`action`)}, ${column("actor", sql`actor`)},
        ${column("partner_id", sql`partner_id`)}, ${column("from_status", sql`from_status`)},
        ${column("to_status", sql`to_status`)}, ${column("detail", sql`detail`)}, ${column("row_mac", sql`row_mac`)}
      FROM audit_log WHERE actor = ${actor} RETURNING id`);
    await chain();
    assert.deepEqual(await faults(), [`the line with id ${copy?.id} was not written by the service`], changed);
    await attack(sql`DELETE FROM audit_log WHERE id = ${copy?.id}`);
  }
});

test("a line that was changed before it got its position gets none", async () => {
  await write("key:7");
  await attack(sql`UPDATE audit_log SET actor = 'key:8' WHERE actor = 'key:7'`);
  await chain();
  assert.equal((await faults()).length, 1);
});

test("lines after more forged ones than one batch contains get their positions", async () => {
  await db.query(sql`
    INSERT INTO audit_log (occurred_at, action, actor) SELECT now(), 'forged', 'operator' FROM generate_series(1, 1001)`);
  await write("key:7");
  await chain();
  const { lines, waiting } = await checkAuditChain({ db, rowMac });
  assert.deepEqual([lines, waiting], [7, 0]);
});

test("a line gets its position whatever its detail says", async () => {
  const detail = {
    b: [1.5, -0, 1e21, 1e-7, null, true, { z: "\u2028\n\u007f", a: undefined }],
    "": '"',
    ä: new Date(0),
    aa: {},
  };
  await db.query(auditLine({ at, action: "test", actor: "key:7", detail }));
  await db.query(auditLine({ at, action: "test", actor: "key:7", detail: {} }));
  await chain();
  assert.deepEqual(await checkAuditChain({ db, rowMac }), { lines: 8, waiting: 0, faults: [], late: [] });
});

test("a changed line is detected, whichever column it is", async () => {
  for (const change of [
    sql`occurred_at = occurred_at + interval '1 microsecond'`,
    sql`action = 'other'`,
    sql`actor = 'key:9'`,
    sql`from_status = ''`,
    sql`to_status = 'Paid'`,
    sql`detail = '{}'`,
    sql`detail = NULL`,
    sql`id = DEFAULT`,
    sql`chain_sha256 = sha256('x')`,
    sql`chain_placed_at = chain_placed_at - interval '1 day'`,
    sql`chain_placed_at = NULL`,
    sql`row_mac = (SELECT row_mac FROM audit_log WHERE chain_position = 2)`,
  ]) {
    await attack(sql`DELETE FROM audit_log`);
    for (let n = 1; n <= 4; n++) await write(`key:${n}`);
    await chain();
    await attack(sql`UPDATE audit_log SET ${change} WHERE chain_position = 3`);
    const found = await faults();
    assert.ok(found.includes("line 3 is not what was written"), `${change.text}: ${found.join()}`);
  }
});

test("a removed line is detected, and so are several, and the first", async () => {
  await attack(sql`DELETE FROM audit_log WHERE chain_position = 3`);
  assert.deepEqual(await faults(), ["line 3 is missing"]);
  await attack(sql`DELETE FROM audit_log WHERE chain_position IN (1, 4)`);
  assert.deepEqual(await faults(), ["line 1 is missing", "lines 3 to 4 are missing"]);
  await assert.rejects(auditLogWhole({ db, rowMac }), /^Error: line 1 is missing; lines 3 to 4 are missing$/);
});

test("swapped lines are detected", async () => {
  await attack(sql`UPDATE audit_log SET chain_position = -chain_position WHERE chain_position IN (2, 5)`);
  await attack(sql`UPDATE audit_log SET chain_position = 7 + chain_position WHERE chain_position < 0`);
  assert.deepEqual(await faults(), [
    "line 2 is not what was written",
    "line 3 is not what was written",
    "line 5 is not what was written",
    "line 6 is not what was written",
  ]);
});

test("a gap can only be closed with SECRETS_KEY", async () => {
  await attack(sql`DELETE FROM audit_log WHERE chain_position = 3`);
  await attack(sql`UPDATE audit_log SET chain_position = -chain_position WHERE chain_position > 3`);
  await attack(sql`UPDATE audit_log SET chain_position = -chain_position - 1 WHERE chain_position < 0`);
  assert.deepEqual((await faults())[0], "line 3 is not what was written");
});

test("a line in the chain can't get another position, or lose its position", async () => {
  for (const change of [
    sql`chain_position = 9`,
    sql`chain_placed_at = NULL`,
    sql`chain_position = NULL, chain_sha256 = NULL, row_mac = NULL`,
  ])
    await assert.rejects(db.query(sql`UPDATE audit_log SET ${change} WHERE chain_position = 6`), /is append-only/);
});

test("names a line that got its position more than a minute after its own time", async () => {
  await write("key:7");
  await chainAt(new Date(at.getTime() + 60_000));
  assert.equal(await auditLogWhole({ db, rowMac }), "7 lines in one chain");
  for (let n = 8; n <= 14; n++) await write(`key:${n}`);
  await chainAt(new Date(at.getTime() + 60_001));
  assert.deepEqual(await checkAuditChain({ db, rowMac }), {
    lines: 14,
    waiting: 0,
    faults: [],
    late: [8, 9, 10, 11, 12, 13, 14],
  });
  assert.deepEqual(await auditLogWhole({ db, rowMac }), {
    warning:
      "lines 10, 11, 12, 13, 14 and 2 more got a place more than a minute after the time of the line: backdated, or no service ran",
  });
});

test("verifies positions of earlier releases, which do not state their time", async () => {
  const places = await db.query<{ position: number; sha256: string }>(
    sql`SELECT chain_position AS position, encode(chain_sha256, 'hex') AS sha256 FROM audit_log`,
  );
  for (const { position, sha256 } of places)
    await attack(sql`
      UPDATE audit_log SET chain_placed_at = NULL, row_mac = ${rowMac.of("audit_log", { position, sha256 })}
      WHERE chain_position = ${position}`);
  await write("key:7");
  await chain();
  assert.deepEqual(await checkAuditChain({ db, rowMac }), { lines: 7, waiting: 0, faults: [], late: [] });
});

test("nodes that chain concurrently while many write make one chain of all lines", async () => {
  let writing = true;
  const chainers = Array.from({ length: 3 }, async () => {
    while (writing) await chain();
  });
  const writers = Array.from({ length: 8 }, async (_, w) => {
    for (let n = 0; n < 40; n++) {
      await db.transaction(async (tx) => {
        await tx.query(auditLine({ at, action: "test", actor: `key:${w}` }));
        // Delays some commits, so that transactions commit in another order than their ids.
        if (n % 3 === w % 3) await new Promise((done) => setTimeout(done, Math.random() * 5));
      });
    }
  });
  await Promise.all(writers);
  writing = false;
  await Promise.all(chainers);
  await chain();
  assert.deepEqual(await checkAuditChain({ db, rowMac }), { lines: 326, waiting: 0, faults: [], late: [] });
});
