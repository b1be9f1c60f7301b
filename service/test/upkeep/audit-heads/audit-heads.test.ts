import assert from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { verifyLogProof } from "@signsealship/evidence/log";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { recordedChains, retireCertificate } from "../../../src/evidence/seals/seals.ts";
import { deleteMember, findMembership, insertMember, updateMember } from "../../../src/firms/members/store.ts";
import { insertOperator, updateOperator } from "../../../src/firms/operators/store.ts";
import { issueKey, revokeKey } from "../../../src/firms/partners/partners.ts";
import { auditLine } from "../../../src/kernel/audit/audit.ts";
import { dayMs, systemClock } from "../../../src/kernel/platform/clock.ts";
import type { Database } from "../../../src/kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../../src/kernel/platform/database/state-mac.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { systemRandom } from "../../../src/kernel/platform/random.ts";
import { paymentState } from "../../../src/orders/payments/payments.ts";
import { insertRequest, updateDecision } from "../../../src/orders/refunds/store.ts";
import { makeHead, type RecordsReport } from "../../../src/upkeep/audit-heads/audit-heads.ts";
import { digestOf } from "../../../src/upkeep/audit-heads/records.ts";
import { followedRows } from "../../../src/upkeep/audit-heads/store.ts";

const { service, db, rowMac } = await forTests(openHarness());
const acme = await newPartner(service, { live: true });
const other = await newPartner(service, { name: "Other Title" });
const keys = { db, rowMac, clock: systemClock };

const daysAhead = (days: number) => new Date(Date.now() + days * dayMs);
const dayOf = (at: Date) => at.toISOString().slice(0, 10);
let heads = 0;

/** Creates the next day's head of the audit log, and waits until the transparency log includes it. */
async function nextDay(): Promise<string> {
  heads += 1;
  const clock = () => daysAhead(heads);
  await settled();
  const day = await makeHead({ db, clock, random: systemRandom, log: openLog("silent") });
  assert.equal(day, dayOf(daysAhead(heads - 1)));
  await settled();
  return day;
}

/**
 * Waits until each line of the audit log is in its chain, and a checkpoint covers each line of the transparency log.
 */
const settled = () =>
  until(async () => {
    const [waits] = await db.query<{ some: boolean }>(sql`
      SELECT EXISTS (SELECT FROM audit_log WHERE chain_position IS NULL)
        OR EXISTS (SELECT FROM log_entries)
        OR EXISTS (SELECT FROM log_trees t WHERE NOT EXISTS (SELECT FROM log_checkpoints c WHERE c.log = t.log AND c.size = t.size)) AS some`);
    return waits?.some === false;
  });

async function verify(): Promise<RecordsReport> {
  const { code, stdout, stderr } = await runCli({ DATA_DIR: service.dataDir }, "audit", "verify", "--json");
  assert.notEqual(stdout, "", stderr);
  const report = JSON.parse(stdout) as RecordsReport;
  assert.equal(code, report.faults.length > 0 ? 1 : 0);
  return report;
}

/** An attack by someone who can write to the database as its superuser. */
const attack = (on: Database, ...statements: Statement[]) =>
  on.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    for (const statement of statements) await tx.query(statement);
  });

type Row = { row: string };
const rowOf = async (table: Statement, where: Statement): Promise<string> => {
  const [found] = await db.query<Row>(sql`SELECT to_jsonb(t)::text AS row FROM ${table} AS t WHERE ${where}`);
  assert.ok(found);
  return found.row;
};
const putBack = (table: Statement, where: Statement, row: string) => [
  sql`DELETE FROM ${table} AS t WHERE ${where}`,
  sql`INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::${table}, ${row}::jsonb)`,
];

/** The faults found while a row is changed. Restores the row afterwards. */
async function faultsWhile(table: Statement, where: Statement, ...change: Statement[]): Promise<string[]> {
  const right = await rowOf(table, where);
  await attack(db, ...change);
  const { faults } = await verify();
  await attack(db, ...putBack(table, where, right));
  return faults;
}

async function newMember(partnerId: string): Promise<string> {
  const userId = randomUUID();
  const email = `${userId}@desk.example`;
  await db.query(sql`INSERT INTO users (id, email, created_at) VALUES (${userId}, ${email}, now())`);
  await db.transaction((tx) =>
    insertMember(tx, rowMac, { userId, email, partnerId, role: "member", keyId: null, at: new Date() }),
  );
  return userId;
}

const membership = async (userId: string) => {
  const found = await findMembership(db, rowMac, userId, new Date());
  assert.ok(found);
  return found;
};

async function removeMember(userId: string, partnerId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await deleteMember(tx, userId, daysAhead(heads));
    const line = { at: daysAhead(heads), action: "member.removed", actor: "operator", partnerId, detail: { userId } };
    await tx.query(auditLine(line));
  });
}

async function newOperator(): Promise<string> {
  const id = randomUUID();
  const email = `${id}@console.example`;
  await db.query(sql`INSERT INTO users (id, email, created_at) VALUES (${id}, ${email}, now())`);
  const agent = { id, email, name: "Olga", roles: ["agent" as const], decidesFrom: null, at: new Date() };
  assert.ok(await db.transaction((tx) => insertOperator(tx, rowMac, agent)));
  return id;
}

/** An order of a firm. @returns the id of its row */
async function newOrder(partnerId: string): Promise<number> {
  const { key } = await issueKey(keys, partnerId, "test");
  const { body } = await newClient(service.baseUrl, key).call(
    "POST",
    "/api/partner/orders",
    orderForm(minimal, makePdf()),
  );
  const code = String(body["orderCode"]);
  const [order] = await db.query<{ id: number }>(sql`
    SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  assert.ok(order, JSON.stringify(body));
  return order.id;
}

/** A payment for a new order of acme, and an open request to refund it. */
async function refundAsked(requestedBy: string) {
  const orderId = await newOrder(acme.partnerId);
  const paymentId = await db.transaction(async (tx) => {
    const [payment] = await tx.query<{ id: number }>(sql`
      INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at)
      VALUES (${orderId}, ${`pi_${orderId}`}, ${`cs_${orderId}`}, 9900, 'usd', true, now()) RETURNING id`);
    assert.ok(payment);
    await writeStateMacs(tx, paymentState, sql`id = ${payment.id}`);
    return payment.id;
  });
  const requestId = randomUUID();
  const held = [{ id: paymentId, amountCents: 9900, currency: "usd" }];
  const request = { id: requestId, orderId, reason: "A mistake", payments: held, requestedBy, at: new Date() };
  assert.ok(await db.transaction((tx) => insertRequest(tx, request)));
  return { orderId, paymentId, requestId };
}

const partnerKeys = sql`partner_keys`;
const operators = sql`operators`;
const payments = sql`payments`;
const refundRequests = sql`refund_requests`;
const idIs = (id: string | number) => sql`id = ${id}`;
const members = sql`members`;
const userIs = (id: string) => sql`user_id = ${id}`;

test("makes the head of an ended day once, on any node, and none for a day before the installation", async () => {
  const clock = () => daysAhead(1);
  const deps = { db, clock, random: systemRandom, log: openLog("silent") };
  assert.equal(await makeHead({ ...deps, clock: systemClock }), null);
  assert.equal((await verify()).days, 0);
  await settled();
  const both = await Promise.all([makeHead(deps), makeHead(deps)]);
  heads = 1;
  assert.deepEqual(
    both.filter((day) => day !== null),
    [dayOf(new Date())],
  );
  assert.equal(await makeHead(deps), null);
  await settled();
  const lines = await db.query<{ line: string }>(sql`SELECT line FROM log_leaves WHERE line LIKE 'audit/v1 %'`);
  assert.equal(lines.length, 1);
  assert.match(lines[0]?.line ?? "", new RegExp(`^audit/v1 ${dayOf(new Date())} [0-9a-f]{64}\n$`));
  assert.partialDeepStrictEqual(await verify(), { days: 1, faults: [] });
});

test("finds a revoked key and a changed member that were set back to an earlier row with its own MAC", async () => {
  const { keyId } = await issueKey(keys, acme.partnerId, "test");
  const userId = await newMember(acme.partnerId);
  await nextDay();
  const [key, member] = [await rowOf(partnerKeys, idIs(keyId)), await rowOf(members, userIs(userId))];
  await revokeKey(keys, keyId);
  await db.transaction(async (tx) => updateMember(tx, rowMac, await membership(userId), { role: "owner" }, new Date()));
  const second = await nextDay();
  assert.deepEqual((await verify()).faults, []);
  assert.deepEqual(await faultsWhile(partnerKeys, idIs(keyId), ...putBack(partnerKeys, idIs(keyId), key)), [
    `partner_keys ${keyId} is in an earlier state again: set back between the head of ${second} and now`,
  ]);
  assert.deepEqual(await faultsWhile(members, userIs(userId), ...putBack(members, userIs(userId), member)), [
    `members ${userId} is in an earlier state again: set back between the head of ${second} and now`,
  ]);
});

test("finds a changed operator, a refunded payment and a withdrawn request for a refund that were set back", async () => {
  const id = await newOperator();
  const { paymentId, requestId } = await refundAsked(id);
  await nextDay();
  const earlier = {
    operator: await rowOf(operators, userIs(id)),
    payment: await rowOf(payments, idIs(paymentId)),
    request: await rowOf(refundRequests, idIs(requestId)),
  };
  const at = new Date();
  const after = { id, email: `${id}@console.example`, name: "Olga", roles: ["admin" as const], active: true };
  await db.transaction(async (tx) => {
    assert.ok(await updateOperator(tx, rowMac, { after, at, decidesFrom: undefined }));
    await tx.query(sql`UPDATE payments SET refunded_at = ${at} WHERE id = ${paymentId}`);
    await writeStateMacs(tx, paymentState, idIs(paymentId));
    await updateDecision(tx, requestId, { state: "withdrawn", by: id, at, note: null });
  });
  const second = await nextDay();
  assert.deepEqual((await verify()).faults, []);
  const setBack = (row: string) => [
    `${row} is in an earlier state again: set back between the head of ${second} and now`,
  ];
  assert.deepEqual(
    await faultsWhile(operators, userIs(id), ...putBack(operators, userIs(id), earlier.operator)),
    setBack(`operators ${id}`),
  );
  assert.deepEqual(
    await faultsWhile(payments, idIs(paymentId), ...putBack(payments, idIs(paymentId), earlier.payment)),
    setBack(`payments ${paymentId}`),
  );
  assert.deepEqual(
    await faultsWhile(refundRequests, idIs(requestId), ...putBack(refundRequests, idIs(requestId), earlier.request)),
    setBack(`refund_requests ${requestId}`),
  );
});

test("finds a deleted operator, payment and request for a refund", async () => {
  const id = await newOperator();
  const { paymentId, requestId } = await refundAsked(id);
  const day = await nextDay();
  for (const [table, where, row] of [
    [operators, userIs(id), `operators ${id}`],
    [payments, idIs(paymentId), `payments ${paymentId}`],
    [refundRequests, idIs(requestId), `refund_requests ${requestId}`],
  ] as const)
    assert.deepEqual(await faultsWhile(table, where, sql`DELETE FROM ${table} WHERE ${where}`), [
      `${row} is gone: deleted between the head of ${day} and now`,
    ]);
});

test("finds a payment and a request for a refund that were moved to another firm, also by moving their order", async () => {
  const { orderId, paymentId, requestId } = await refundAsked(await newOperator());
  const ofOther = await newOrder(other.partnerId);
  const day = await nextDay();
  const moved = (row: string) =>
    `${row} moved from the firm ${acme.partnerId} to ${other.partnerId} between the head of ${day} and now`;
  for (const [table, id, row] of [
    [payments, paymentId, `payments ${paymentId}`],
    [refundRequests, requestId, `refund_requests ${requestId}`],
  ] as const) {
    const move = sql`UPDATE ${table} SET order_id = ${ofOther} WHERE ${idIs(id)}`;
    assert.deepEqual(await faultsWhile(table, idIs(id), move), [moved(row)]);
  }
  const orderTo = (partnerId: string) => sql`UPDATE orders SET partner_id = ${partnerId} WHERE id = ${orderId}`;
  await attack(db, orderTo(other.partnerId));
  const { faults } = await verify();
  await attack(db, orderTo(acme.partnerId));
  assert.deepEqual(faults, [moved(`payments ${paymentId}`), moved(`refund_requests ${requestId}`)]);
  assert.deepEqual((await verify()).faults, []);
});

test("finds a deleted row, but no removed member whose removal is in the audit log", async () => {
  const userId = await newMember(acme.partnerId);
  const { keyId } = await issueKey(keys, acme.partnerId, "test");
  const day = await nextDay();
  assert.deepEqual(await faultsWhile(partnerKeys, idIs(keyId), sql`DELETE FROM partner_keys WHERE id = ${keyId}`), [
    `partner_keys ${keyId} is gone: deleted between the head of ${day} and now`,
  ]);
  assert.deepEqual(await faultsWhile(members, userIs(userId), sql`DELETE FROM members WHERE user_id = ${userId}`), [
    `members ${userId} is gone: deleted between the head of ${day} and now`,
  ]);
  const removed = await rowOf(members, userIs(userId));
  await removeMember(userId, acme.partnerId);
  assert.deepEqual((await verify()).faults, []);
  await nextDay();
  assert.deepEqual((await verify()).faults, []);
  await attack(db, ...putBack(members, userIs(userId), removed));
  const { faults } = await verify();
  await attack(db, sql`DELETE FROM members WHERE user_id = ${userId}`);
  assert.match(faults.join(), new RegExp(`^members ${userId} is in an earlier state again: set back`));
});

test("finds a key that was moved to another firm, and a person who was moved without a removal", async () => {
  const userId = await newMember(acme.partnerId);
  const { keyId } = await issueKey(keys, acme.partnerId, "test");
  const day = await nextDay();
  const moved = (row: string) =>
    `${row} moved from the firm ${acme.partnerId} to ${other.partnerId} between the head of ${day} and now`;
  const move = sql`UPDATE partner_keys SET partner_id = ${other.partnerId} WHERE id = ${keyId}`;
  assert.deepEqual(await faultsWhile(partnerKeys, idIs(keyId), move), [moved(`partner_keys ${keyId}`)]);
  const moveMember = sql`UPDATE members SET partner_id = ${other.partnerId} WHERE user_id = ${userId}`;
  assert.deepEqual(await faultsWhile(members, userIs(userId), moveMember), [moved(`members ${userId}`)]);
  await removeMember(userId, acme.partnerId);
  const email = `${userId}@desk.example`;
  const joined = { userId, email, partnerId: other.partnerId, role: "member", keyId: null, at: new Date() } as const;
  await db.transaction((tx) => insertMember(tx, rowMac, joined));
  assert.deepEqual((await verify()).faults, []);
});

test("finds a state that was written for a day without a head, so that a restored row seems to be known", async () => {
  const { keyId } = await issueKey(keys, acme.partnerId, "test");
  await nextDay();
  const row = await rowOf(partnerKeys, idIs(keyId));
  const content = await db.transaction(async (tx) => {
    for await (const { record } of followedRows(tx)) if (record?.key === keyId) return record.content;
    return "";
  });
  assert.notEqual(content, "");
  await revokeKey(keys, keyId);
  await nextDay();
  const day = dayOf(daysAhead(heads + 5));
  const salt = Buffer.alloc(16, 1);
  const known = sql`INSERT INTO audit_leaves (source, row_key, day, firm, salt, digest)
    VALUES ('partner_keys', ${keyId}, ${day}, ${acme.partnerId}, ${salt}, ${digestOf(salt, content)})`;
  const faults = await faultsWhile(partnerKeys, idIs(keyId), ...putBack(partnerKeys, idIs(keyId), row), known);
  await attack(db, sql`DELETE FROM audit_leaves WHERE day = ${day}`);
  assert.deepEqual(faults, [`partner_keys ${keyId} has a state for ${day}, which has no head (such states: 1)`]);
  assert.deepEqual((await verify()).faults, []);
});

test("detects a row that was set back before the next head was made", async () => {
  const { keyId } = await issueKey(keys, acme.partnerId, "test");
  await nextDay();
  const row = await rowOf(partnerKeys, idIs(keyId));
  await revokeKey(keys, keyId);
  const second = await nextDay();
  const revoked = await rowOf(partnerKeys, idIs(keyId));
  await attack(db, ...putBack(partnerKeys, idIs(keyId), row));
  const third = await nextDay();
  await attack(db, ...putBack(partnerKeys, idIs(keyId), revoked));
  const { faults } = await verify();
  assert.ok(
    faults.includes(
      `partner_keys ${keyId} is in an earlier state again: set back between the head of ${second} and that of ${third}`,
    ),
    faults.join("\n"),
  );
});

test("accepts a seal certificate that was retired again in the same way", async () => {
  const log = openLog("silent");
  const [chain] = await recordedChains({ db, rowMac, log });
  const fingerprint = chain?.fingerprint ?? "";
  const dates = [new Date("2026-01-01T00:00:00Z"), new Date("2026-02-01T00:00:00Z"), new Date("2026-01-01T00:00:00Z")];
  const faults = async () => (await verify()).faults.filter((fault) => fault.startsWith("seal_chains"));
  const rows: string[] = [];
  for (const retiredAt of dates) {
    await nextDay();
    const at = daysAhead(heads);
    await retireCertificate({ db, rowMac, log }, [], { fingerprint, retiredAt, reason: "superseded", at });
    rows.push(await rowOf(sql`seal_chains`, sql`sha256 = ${chain?.sha256}`));
    assert.deepEqual(await faults(), []);
  }
  await nextDay();
  assert.deepEqual(await faults(), []);
  const putEarlier = putBack(sql`seal_chains`, sql`sha256 = ${chain?.sha256}`, rows[1] ?? "");
  const found = await faultsWhile(sql`seal_chains`, sql`sha256 = ${chain?.sha256}`, ...putEarlier);
  assert.match(found.join("\n"), /^seal_chains .* is in an earlier state again: set back/m);
});

test("reads rows in the order of their lines, whatever characters a key has", async () => {
  const ids = ["evt_a:b", "evt_a", "evt_a b", "evt_a%b", "evt_aé", "evt_A", "evt_a.b", "evt_a-b", "evt_a_b", "evt_a~"];
  for (const id of ids)
    await db.query(sql`
      INSERT INTO processor_events (event_id, type, outcome, received_at) VALUES (${id}, 'test', 'ignored', now())`);
  const before = (await verify()).faults;
  await nextDay();
  assert.deepEqual((await verify()).faults, before);
  const read: string[] = [];
  await db.transaction(async (tx) => {
    for await (const { name, states, record } of followedRows(tx)) {
      assert.ok(record === null || states.length > 0, name);
      read.push(name);
    }
  });
  assert.deepEqual(read, read.toSorted());
  assert.equal(new Set(read).size, read.length);
});

const faultsNow = async () => (await verify()).faults;

test("finds an audit log whose end was cut off after a head was made", async () => {
  const [last] = await db.query<{ id: number; position: number; row: string }>(sql`
    SELECT id, chain_position AS position, to_jsonb(a)::text AS row FROM audit_log a ORDER BY chain_position DESC LIMIT 1`);
  assert.ok(last);
  await nextDay();
  const before = await faultsNow();
  await attack(db, sql`DELETE FROM audit_log WHERE id = ${last.id}`);
  const { faults } = await verify();
  await attack(
    db,
    sql`INSERT INTO audit_log OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::audit_log, ${last.row}::jsonb)`,
  );
  assert.match(faults.join("\n"), new RegExp(`audit log: it lacks line ${last.position}, which was of the head of`));
  assert.deepEqual(await faultsNow(), before);
});

test("says since when the newest head is not logged, and fails once the log had a day to take it", async () => {
  const before = await faultsNow();
  const headTaken = (ago: string) => sql`
    INSERT INTO audit_heads (day, taken_at, salt, audit_position, audit_sha256, sets)
    SELECT day + 1, now() - ${ago}::interval, sha256(salt), audit_position, audit_sha256, sets FROM audit_heads
    ORDER BY day DESC LIMIT 1`;
  const takenAway = sql`DELETE FROM audit_heads WHERE day = (SELECT max(day) FROM audit_heads)`;
  await db.query(headTaken("5 minutes"));
  const { notLogged, faults } = await verify();
  assert.ok(notLogged && notLogged.ageSeconds >= 300 && notLogged.ageSeconds < 3_600, JSON.stringify(notLogged));
  assert.ok(!faults.some((fault) => fault.includes("does not have the head")));
  await attack(db, takenAway);
  await db.query(headTaken("25 hours"));
  const late = await verify();
  assert.equal(late.notLogged, null);
  assert.ok(
    late.faults.some((fault) => /^the log does not have the head of .*, which was taken 25 hours ago/.test(fault)),
    late.faults.join("\n"),
  );
  await attack(db, takenAway);
  assert.deepEqual(await faultsNow(), before);
});

test("finds a head that was deleted, altered or over other states than the stored ones", async () => {
  const before = await faultsNow();
  const [head] = await db.query<{ day: string; row: string }>(sql`
    SELECT to_char(day, 'YYYY-MM-DD') AS day, to_jsonb(h)::text AS row FROM audit_heads h ORDER BY h.day LIMIT 1`);
  assert.ok(head);
  const added = async (...change: Statement[]) => {
    await attack(db, ...change);
    const { faults } = await verify();
    return faults.filter((fault) => !before.includes(fault)).join("\n");
  };
  const heads_ = sql`audit_heads`;
  const restore = () => attack(db, ...putBack(heads_, sql`day = ${head.day}::date`, head.row));
  assert.match(
    await added(sql`DELETE FROM audit_heads WHERE day = ${head.day}`),
    /a head of .*, and the database has lost it/,
  );
  await restore();
  assert.match(
    await added(sql`UPDATE audit_heads SET salt = sha256(salt) WHERE day = ${head.day}`),
    /the head of .* is not the one that the log has/,
  );
  await restore();
  const [leaf] = await db.query<{ key: string; row: string }>(sql`
    SELECT row_key AS key, to_jsonb(l)::text AS row FROM audit_leaves l WHERE source = 'partner_keys' AND l.day = ${head.day} LIMIT 1`);
  assert.ok(leaf);
  const one = sql`source = 'partner_keys' AND row_key = ${leaf.key} AND day = ${head.day}`;
  assert.match(
    await added(sql`DELETE FROM audit_leaves WHERE ${one}`),
    /the states of keys that are stored are not those of the head of/,
  );
  await attack(
    db,
    sql`INSERT INTO audit_leaves SELECT * FROM jsonb_populate_record(NULL::audit_leaves, ${leaf.row}::jsonb)`,
  );
  assert.deepEqual(await faultsNow(), before);
  await assert.rejects(db.query(sql`DELETE FROM audit_heads`), /audit_heads/);
  await assert.rejects(db.query(sql`UPDATE audit_leaves SET firm = NULL`), /audit_leaves/);
});

type Exported = {
  day: string;
  head: string;
  text: string;
  lines: Record<string, string[]>;
  rows: { source: string; key: string; salt: string; content: string }[];
  auditLines: string[];
  key: string;
  proof: string;
};

const sha256 = (...parts: (string | Uint8Array)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();

/** The Merkle tree hash of RFC 6962, section 2.1, written like its definition there. */
function treeHash(leaves: readonly string[]): Buffer {
  if (leaves.length < 2) return leaves.length === 0 ? sha256("") : sha256(Buffer.of(0), leaves[0] ?? "");
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return sha256(Buffer.of(1), treeHash(leaves.slice(0, split)), treeHash(leaves.slice(split)));
}

test("an auditor computes the head of an exported day from rows and lines, and the log's key proves it", async () => {
  const folder = temporaryFolder();
  const path = join(folder.path, "records.json");
  const { keyId } = await issueKey(keys, acme.partnerId, "test");
  const day = await nextDay();
  await service.cli("audit", "export", path);
  assert.deepEqual(
    await db.query(sql`SELECT detail ->> 'day' AS day FROM audit_log WHERE action = 'records.exported'`),
    [{ day }],
  );
  const { head, text, lines, rows, auditLines, key, proof, ...more } = JSON.parse(
    readFileSync(path, "utf8"),
  ) as Exported;
  assert.equal(more.day, day);
  assert.equal(sha256(text).toString("hex"), head);
  const [title, ofDay, salt, audit = "", ...sets] = text.trimEnd().split("\n");
  assert.deepEqual([title, ofDay, salt?.length], ["signsealship audit/v1", day, 64]);
  assert.deepEqual(
    sets,
    Object.entries(lines).map(([name, all]) => `${name} ${all.length} ${treeHash(all).toString("hex")}`),
  );
  for (const ofSet of Object.values(lines)) assert.deepEqual(ofSet, ofSet.toSorted());
  const all = new Set(Object.values(lines).flat());
  for (const row of rows) {
    const digest = sha256(`${row.salt}\n${row.content}`).toString("hex");
    assert.ok(
      [...all].some(
        (line) => line.startsWith(`${row.source} ${encodeURIComponent(row.key)} `) && line.endsWith(` ${digest}\n`),
      ),
    );
  }
  assert.ok(rows.some((row) => row.key === keyId && row.content.includes(acme.partnerId)));
  assert.ok(auditLines.length > 0);
  assert.equal(sha256(auditLines.at(-1) ?? "").toString("hex"), audit.split(" ")[2]);
  for (const [i, line] of auditLines.slice(1).entries())
    assert.equal((JSON.parse(line) as string[])[0], sha256(auditLines[i] ?? "").toString("hex"));
  const claims = await verifyLogProof({
    proof: Buffer.from(proof),
    entry: `audit/v1 ${day} ${head}\n`,
    environment: "live",
    logs: [{ environment: "live", key }],
  });
  assert.deepEqual(
    claims.map(({ state }) => state),
    ["holds", "holds"],
  );
  const none = await runCli({ DATA_DIR: service.dataDir }, "audit", "export", path, "--day", "2020-01-01");
  assert.match(none.stderr, /2020-01-01 has no head/);
  const wrong = await runCli({ DATA_DIR: service.dataDir }, "audit", "export", path, "--day", "yesterday");
  assert.equal(wrong.code, 2);
  folder.remove();
});

test("the log's line reveals nothing: two heads over the same records differ", async () => {
  const [one, two] = [await nextDay(), await nextDay()];
  const found = await db.query<{ sets: string; salt: Buffer }>(sql`
    SELECT sets::text AS sets, salt FROM audit_heads WHERE day IN (${one}, ${two})`);
  assert.equal(found[0]?.sets, found[1]?.sets);
  assert.notDeepEqual(found[0]?.salt, found[1]?.salt);
});
