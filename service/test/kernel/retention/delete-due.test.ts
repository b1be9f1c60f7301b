import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readBlob } from "@signsealship/testing/blobs";
import {
  authenticateOrders,
  authenticatePayments,
  authenticateRooms,
  changeOrder,
} from "@signsealship/testing/row-mac";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { passportRows, type WholePassport } from "../../../src/evidence/proof-passports/store.ts";
import { storageUse } from "../../../src/firms/partners/storage-quota.ts";
import { auditLine } from "../../../src/kernel/audit/audit.ts";
import type { Principal } from "../../../src/kernel/identity/identity.ts";
import { type Blobs, openBlobs } from "../../../src/kernel/platform/blobs/blobs.ts";
import { folderBackend } from "../../../src/kernel/platform/blobs/folder.ts";
import { sweepOrphans } from "../../../src/kernel/platform/blobs/orphans.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { isSealed, type Statement, sealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { newCode, newUuid, newVerifyCode } from "../../../src/kernel/platform/ids.ts";
import { openRowMac } from "../../../src/kernel/platform/row-mac.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";
import { dueStatement } from "../../../src/kernel/retention/delete-due.ts";
import {
  createMarkCheck,
  deleteDue,
  markedAmong,
  type RetentionPlan,
  readRetention,
  upcomingDeletions,
} from "../../../src/kernel/retention/retention.ts";
import { lockOrder } from "../../../src/orders/order/order.ts";
import { archiveTemplate } from "../../../src/orders/templates/templates.ts";
import { blobTables, retained, storedBlobs } from "../../../src/upkeep/protected-data.ts";
import {
  type OrderFacts,
  type OrdersDatabase,
  openOrdersDatabase,
  silent,
} from "../../orders/order/orders-database.ts";

const folder = temporaryFolder();
const secrets = secretBytes(Buffer.alloc(32, 7));
const rowMac = openRowMac(secrets);
const shipped = readRetention(new URL("../../../data/retention.yaml", import.meta.url).pathname);
const day = 24 * 3600 * 1000;
const placed = new Date("2026-01-01T00:00:00Z");
const after30 = new Date(placed.getTime() + 30 * day);
const beforeThat = new Date(after30.getTime() - 1000);

let orders: OrdersDatabase;
let blobs: Blobs;

before(async () => {
  orders = await openOrdersDatabase();
  blobs = openBlobs(folderBackend(folder.path), secrets, systemClock);
});
after(async () => {
  await orders.close();
  folder.remove();
});

const use = { kind: "document", owner: "", sha256: "0".repeat(64) } as const;
const store = () => blobs.put(Buffer.from("a document"), use);
const isStored = async (key: string) => (await readBlob(blobs, key, use)) !== null;
const run = (now: Date, plan: RetentionPlan = shipped, more: Partial<{ blobs: Blobs }> = {}) =>
  deleteDue({ db: orders.db, blobs, rowMac, log: silent, ...retained, ...more }, plan, now);

const sweep = () => {
  const marks = (keys: readonly string[]) => markedAmong({ db: orders.db, rowMac }, keys);
  return sweepOrphans({ db: orders.db, blobs, blobTables, markedAmong: marks }, new Date(Date.now() + 2 * 3600 * 1000));
};

/** An order with one stored document, and the key of the document's blob. */
async function order(status: string, more: Partial<OrderFacts> = {}): Promise<{ code: string; key: string }> {
  const code = await orders.insert(status, more);
  const key = await store();
  await orders.db.query(sql`
    DELETE FROM documents WHERE kind <> 'original' AND order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`);
  await orders.db.query(sql`
    UPDATE documents SET blob_key = ${key} WHERE order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`);
  return { code, key };
}

const haveCodes = (one: string, other: string): Statement =>
  sql`(${isSealed(sql`code`, "order", one)} OR ${isSealed(sql`code`, "order", other)})`;
const idOf = (code: string): Statement => sql`(SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`;
const marks = (key: string) =>
  orders.db.query<{ rule: string; at: Date }>(
    sql`SELECT rule, deleted_at AS at FROM deleted_blobs WHERE blob_key = ${key}`,
  );
const auditLines = () =>
  orders.db.query<{ actor: string; detail: { rule: string; documents: number } }>(
    sql`SELECT actor, detail FROM audit_log WHERE action = 'documents.deleted' ORDER BY id`,
  );

test("documents of a test order are deleted 30 days after its last change, with an audit line; their rows stay", async () => {
  const { code, key } = await order("Completed", { environment: "test" });
  const rows = () => orders.db.query(sql`SELECT * FROM documents WHERE order_id = ${idOf(code)}`);
  const before = await rows();
  assert.equal(await run(beforeThat), 0);
  assert.ok(await isStored(key));
  assert.equal(await run(after30), 1);
  assert.equal(await isStored(key), false);
  assert.deepEqual(await marks(key), [{ rule: "test.orderDocuments", at: after30 }]);
  assert.deepEqual(await rows(), before);
  assert.deepEqual((await auditLines()).at(-1), {
    actor: "system",
    detail: { rule: "test.orderDocuments", documents: 1 },
  });
  assert.equal(await run(after30), 0, "a second run finds nothing");
});

test("a deleted document's name and notices are deleted with it", async () => {
  const { code } = await order("Completed", { environment: "test" });
  const kept = await order("Completed", { environment: "live" });
  for (const each of [code, kept.code])
    await changeOrder(orders.db, each, sql`document_name = 'sealed', document_notices = 'sealed'`);
  await run(after30);
  const locked = await orders.db.transaction((tx) => lockOrder(tx, code));
  assert.equal(locked?.code, code, "its row holds without the name");
  const named = await orders.db.query<{ code: string }>(
    sql`SELECT code AS "code@order" FROM orders WHERE ${haveCodes(code, kept.code)}
      AND (document_name IS NOT NULL OR document_notices IS NOT NULL)`,
  );
  assert.deepEqual(named, [{ code: kept.code }]);
});

const alter = (code: string, set: Statement) =>
  orders.db.query(sql`UPDATE orders SET ${set} WHERE ${isSealed(sql`code`, "order", code)}`);

test("no document is deleted of an order whose last change, status or environment was altered; other orders continue", async () => {
  const changed = await order("Completed", { environment: "test" });
  await changeOrder(orders.db, changed.code, sql`updated_at = ${after30}`);
  await alter(changed.code, sql`updated_at = ${placed}`);
  const live = await order("EsignPending", { environment: "live" });
  await alter(live.code, sql`environment = 'test'`);
  const other = await order("Completed", { environment: "test" });
  assert.equal(await run(after30), 1);
  assert.deepEqual(
    [await isStored(changed.key), await isStored(live.key), await isStored(other.key)],
    [true, true, false],
  );
  await authenticateOrders(orders.db, haveCodes(changed.code, live.code));
  assert.equal(await run(after30), 2);
});

test("a blob that an altered order also needs stays", async () => {
  const one = await order("Completed", { environment: "test" });
  const other = await order("EsignPending", { environment: "live" });
  await orders.db.query(sql`UPDATE documents SET blob_key = ${one.key} WHERE order_id = ${idOf(other.code)}`);
  await alter(other.code, sql`environment = 'test'`);
  assert.equal(await run(after30), 0);
  assert.ok(await isStored(one.key));
  await authenticateOrders(orders.db, isSealed(sql`code`, "order", other.code));
  assert.equal(await run(after30), 1);
});

test("a firm's notes on an order are deleted with its documents", async () => {
  const { code } = await order("Completed", { environment: "test" });
  const kept = await order("Completed", { environment: "live" });
  await orders.db.query(sql`
    INSERT INTO firm_notes (id, order_id, author, text, created_at)
    SELECT gen_random_uuid(), id, 'member:x', 'sealed', ${beforeThat} FROM orders WHERE ${haveCodes(code, kept.code)}`);
  await run(after30);
  const left = await orders.db.query<{ code: string }>(
    sql`SELECT code AS "code@order" FROM firm_notes n JOIN orders o ON o.id = n.order_id WHERE ${haveCodes(code, kept.code)}`,
  );
  assert.deepEqual(left, [{ code: kept.code }]);
});

test("notes are deleted even if another order still needs the same PDF", async () => {
  const { code, key } = await order("Completed", { environment: "test" });
  const other = await order("Completed", { environment: "live" });
  await orders.db.query(sql`UPDATE documents SET blob_key = ${key} WHERE order_id = ${idOf(other.code)}`);
  await orders.db.query(sql`
    INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at)
    VALUES (${idOf(code)}, 'sealed', ${"0".repeat(64)}, 1, ${await store()}, ${placed})`);
  await orders.db.query(sql`
    INSERT INTO firm_notes (id, order_id, author, text, created_at)
    VALUES (${newUuid()}, ${idOf(code)}, 'member:x', 'sealed', ${beforeThat})`);
  await run(after30);
  assert.ok(await isStored(key));
  assert.deepEqual(await orders.db.query(sql`SELECT FROM firm_notes WHERE order_id = ${idOf(code)}`), []);
});

test("leaps of the firm's test clock count toward the 30 days: only those since the last change, and only for test", async () => {
  const [{ code, key }, live] = [await order("Completed", { environment: "test" }), await order("Completed")];
  const leap = (at: Date, days: number) =>
    orders.db.query(sql`
      INSERT INTO test_clock_advances (partner_id, seconds, advanced_at, total_seconds)
      SELECT partner_id, ${days * 86_400}, ${at}, ${days * 86_400} + coalesce((
        SELECT sum(seconds) FROM test_clock_advances a WHERE a.partner_id = o.partner_id), 0)
      FROM orders o WHERE ${isSealed(sql`code`, "order", code)}`);
  await leap(new Date(placed.getTime() - 1), 30);
  await leap(placed, 7);
  await leap(new Date(placed.getTime() + 5 * day), 3);
  const due = new Date(after30.getTime() - 10 * day);
  assert.equal(await run(new Date(due.getTime() - 1)), 0);
  assert.equal(await run(due), 1);
  assert.deepEqual([await isStored(key), await isStored(live.key)], [false, true]);
  await orders.db.query(sql`DELETE FROM test_clock_advances`);
});

test("live documents are kept depending on their order's outcome", async () => {
  const years = (n: number) => n * 365;
  const expected: [string, number | null, string][] = [
    ["Completed", years(10), "live.finishedOrders"],
    ["Refunded", years(3), "live.refundedOrders"],
    ["Cancelled", 90, "live.unpaidOrders"],
    ["QuoteReady", 90, "live.unpaidOrders"],
    ["AwaitingPayment", 90, "live.unpaidOrders"],
    ["PaymentFailed", 90, "live.unpaidOrders"],
    ["ManualQuoteRequired", 90, "live.unpaidOrders"],
    ["EsignPending", null, ""],
    ["OnHold", null, ""],
    ["Delivered", null, ""],
  ];
  const made = await Promise.all(
    expected.map(async ([status, days, rule]) => ({ days, rule, ...(await order(status, { environment: "live" })) })),
  );
  for (const days of [90, years(3), years(10), years(60)]) {
    const now = new Date(placed.getTime() + days * day);
    await run(new Date(now.getTime() - 1000));
    for (const each of made.filter((other) => other.days === days)) assert.ok(await isStored(each.key), each.rule);
    await run(now);
    for (const each of made) {
      const isDue = each.days !== null && each.days <= days;
      assert.equal(await isStored(each.key), !isDue, `${each.rule} after ${days} days`);
      assert.deepEqual(
        (await marks(each.key)).map(({ rule }) => rule),
        isDue ? [each.rule] : [],
      );
    }
  }
});

test("a canceled order with held money, and one whose checkout can still be paid, keep their documents", async () => {
  const paid = await order("Cancelled");
  await orders.db.query(sql`
    INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at)
    VALUES (${idOf(paid.code)}, 'pi_1', 'cs_1', 9900, 'usd', false, ${placed})`);
  await authenticatePayments(orders.db, sql`payment_intent = 'pi_1'`);
  const open = await order("QuoteReady");
  const now = new Date(placed.getTime() + 100 * day);
  await orders.db.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, session_id, url, created_at, expires_at)
    VALUES (${newUuid()}, ${idOf(open.code)}, 'open', 9900, 'usd', 'cs_open', 'x', ${now}, ${new Date(now.getTime() + day)})`);
  await run(now);
  for (const { key } of [paid, open]) assert.ok(await isStored(key));
  await orders.db.query(sql`UPDATE payments SET refunded_at = ${now} WHERE payment_intent = 'pi_1'`);
  await run(now);
  assert.ok(await isStored(paid.key), "a refund that the service did not record counts for nothing");
  await authenticatePayments(orders.db, sql`payment_intent = 'pi_1'`);
  await run(now);
  assert.equal(await isStored(paid.key), false);
  await run(new Date(now.getTime() + 91 * day));
  assert.equal(await isStored(open.key), false);
});

test("a blob that another row needs stays until that row is due, too", async () => {
  const one = await order("Completed", { environment: "test" });
  const other = await order("EsignPending", { environment: "live" });
  await orders.db.query(sql`UPDATE documents SET blob_key = ${one.key} WHERE order_id = ${idOf(other.code)}`);
  await run(after30);
  assert.ok(await isStored(one.key), "a live order needs it");
  await changeOrder(orders.db, other.code, sql`environment = 'test', updated_at = ${placed}`);
  assert.equal(await run(after30), 1, "once, though two rows name it");
  assert.equal(await isStored(one.key), false);
});

test("a completed document that waits for its order is needed; its used token needs nothing", async () => {
  const { key } = await order("Completed", { environment: "test" });
  await orders.db.query(sql`
    INSERT INTO fill_documents (token_sha256, sha256, bytes, pages, blob_key, created_at, expires_at)
    VALUES (${Buffer.alloc(32, 1)}, ${"0".repeat(64)}, 1, 1, ${key}, ${placed}, ${placed})`);
  await run(after30);
  assert.ok(await isStored(key));
  await orders.db.query(sql`UPDATE fill_documents SET used_at = ${placed} WHERE blob_key = ${key}`);
  await run(after30);
  assert.equal(await isStored(key), false);
});

test("a blob that a crash left in the store after its mark is removed like an orphan, and not marked again", async () => {
  const { key } = await order("Completed", { environment: "test" });
  await run(after30, shipped, { blobs: { ...blobs, discard: async () => {} } });
  assert.ok(await isStored(key));
  assert.equal((await marks(key)).length, 1);
  assert.equal(await run(after30), 0);
  const kept = await order("EsignPending", { environment: "live" });
  await sweep();
  assert.equal(await isStored(key), false);
  assert.ok(await isStored(kept.key));
});

test("a mark that somebody wrote without the key removes nothing", async () => {
  const { key } = await order("EsignPending", { environment: "live" });
  await orders.db.query(sql`
    INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac) VALUES (${key}, 'x', now(), ${Buffer.alloc(36)})`);
  await sweep();
  assert.ok(await isStored(key));
});

const forge = (key: string, times = 1) =>
  orders.db.query(sql`
    INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac)
    SELECT ${key}, 'x', now(), ${Buffer.alloc(36)} FROM generate_series(1, ${times})`);
const checkMarks = () => createMarkCheck({ db: orders.db, rowMac, clock: systemClock })();
const refusedMarks = (key: string) =>
  orders.db.query(sql`
    SELECT mark_id FROM refused_marks JOIN deleted_blobs ON id = mark_id WHERE blob_key = ${key}`);

test("a mark that somebody wrote without the key keeps no blob longer, and does not replace the plan's own", async () => {
  const { key } = await order("Completed", { environment: "test" });
  await checkMarks();
  await forge(key, 3);
  assert.equal(await run(after30), 0);
  assert.equal(await checkMarks(), 3);
  assert.equal(await run(after30), 1);
  assert.equal(await isStored(key), false);
  const genuine = await marks(key);
  assert.deepEqual(
    genuine.filter(({ rule }) => rule !== "x"),
    [{ rule: "test.orderDocuments", at: after30 }],
  );
  assert.equal(await run(after30), 0, "the genuine mark counts");
});

test("a check refuses each forged mark once, also one whose transaction was open while an earlier check ran", async () => {
  const check = createMarkCheck({ db: orders.db, rowMac, clock: systemClock });
  await check();
  const [early, late, deleted] = [newUuid(), newUuid(), await order("Completed", { environment: "test" })];
  await run(after30);
  await orders.db.transaction(async (tx) => {
    await tx.query(sql`
      INSERT INTO deleted_blobs (blob_key, rule, deleted_at, row_mac) VALUES (${late}, 'x', now(), ${Buffer.alloc(36)})`);
    await forge(early);
    assert.equal(await check(), 1);
  });
  assert.equal((await refusedMarks(late)).length, 0);
  assert.equal(await check(), 1);
  assert.equal(await check(), 0);
  for (const key of [early, late]) assert.equal((await refusedMarks(key)).length, 1);
  assert.deepEqual(await refusedMarks(deleted.key), []);
});

test("a check reads more marks than one page, and finds the forged ones of all pages", async () => {
  const key = newUuid();
  await forge(key, 2500);
  assert.equal(await checkMarks(), 2500);
});

test("nobody who inserts a mark can choose its number, or hide it from the next check", async () => {
  const check = createMarkCheck({ db: orders.db, rowMac, clock: systemClock });
  await check();
  const [key, id] = [newUuid(), newUuid()];
  await orders.db.query(sql`
    INSERT INTO deleted_blobs (id, written_in, blob_key, rule, deleted_at, row_mac)
    VALUES (${id}, '1'::xid8, ${key}, 'x', now(), ${Buffer.alloc(36)})`);
  assert.equal(await check(), 1);
  assert.deepEqual(await orders.db.query(sql`SELECT FROM deleted_blobs WHERE id = ${id}`), []);
  const hide = sql`UPDATE deleted_blobs SET written_in = '1'::xid8 WHERE blob_key = ${key}`;
  await assert.rejects(orders.db.query(hide), /append-only/);
  await assert.rejects(orders.db.query(sql`DELETE FROM refused_marks`), /append-only/);
});

test("a genuine mark that somebody refused in the service's name is written again by the plan's next run", async () => {
  const { key } = await order("Completed", { environment: "test" });
  await run(after30);
  await orders.db.query(sql`
    INSERT INTO refused_marks (mark_id, refused_at) SELECT id, now() FROM deleted_blobs WHERE blob_key = ${key}`);
  const later = new Date(after30.getTime() + day);
  assert.equal(await run(later), 1);
  assert.deepEqual(
    (await marks(key)).map(({ at }) => at),
    [after30, later],
  );
  assert.equal(await run(later), 0);
});

test("an order that is being changed is left for the next run", async () => {
  const { code, key } = await order("Completed", { environment: "test" });
  await orders.db.transaction(async (tx) => {
    await tx.query(sql`SELECT FROM orders WHERE ${isSealed(sql`code`, "order", code)} FOR UPDATE`);
    await run(after30);
    assert.ok(await isStored(key));
  });
  await run(after30);
  assert.equal(await isStored(key), false);
});

test("two concurrent nodes mark each of many documents once, batch by batch", async () => {
  const [partner] = await orders.db.query<{ id: string }>(sql`SELECT id FROM partners LIMIT 1`);
  await orders.db.query(sql`
    WITH made AS (
      INSERT INTO orders (code, code_start, partner_id, environment, status, sign, notarize, ship, fax, customer_email, lines,
        subtotal_cents, discount_cents, total_cents, price_book_version, created_at, updated_at)
      SELECT 'c1.' || substr(encode(sha256(n::text::bytea), 'hex'), 1, 40), 'c1.', ${partner?.id}, 'test', 'QuoteReady', true, false, false, false,
        'a@example.com', '[]', 0, 0, 0, 1, ${placed}, ${placed} FROM generate_series(1, 450) AS n
      RETURNING id
    )
    INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at)
    SELECT id, 'original', ${"0".repeat(64)}, 1, 'many/' || id, ${placed} FROM made`);
  await authenticateOrders(orders.db, sql`state_mac IS NULL`);
  const linesBefore = (await auditLines()).length;
  const counts = await Promise.all([run(after30), run(after30)]);
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    450,
  );
  const lines = (await auditLines()).slice(linesBefore);
  assert.equal(
    lines.reduce((sum, { detail }) => sum + detail.documents, 0),
    450,
  );
  assert.ok(lines.length >= 3, "a line for each batch");
});

/**
 * Makes a proof passport, and a room with one closing passport, in an environment. @returns the keys of their blobs,
 * and the ids of the passport and the room
 */
async function passports(environment: "live" | "test") {
  const [partner] = await orders.db.query<{ id: string }>(sql`SELECT id FROM partners LIMIT 1`);
  const [proof, closing, roomId, sha256] = [await store(), await store(), newUuid(), "0".repeat(64)];
  await orders.db.query(sql`
    INSERT INTO seal_chains (sha256, pem, first_used_at) VALUES (${sha256}, 'pem', ${placed}) ON CONFLICT DO NOTHING`);
  const passportId = newUuid();
  await orders.db.query(sql`
    INSERT INTO passports (id, verify_code, partner_id, environment, doc_sha256, sealed_sha256, seal_chain, row_mac, blob_key, created_at)
    VALUES (${passportId}, ${sealed("proof", newVerifyCode())}, ${partner?.id}, ${environment}, ${sha256}, ${sha256}, ${sha256},
      ${Buffer.alloc(36)}, ${proof}, ${placed})`);
  await authenticatePassports();
  await orders.db.query(sql`
    INSERT INTO rooms (id, code, partner_id, environment, name, status, created_at, updated_at)
    VALUES (${roomId}, ${sealed("room", newCode())}, ${partner?.id}, ${environment}, 'Room', 'open', ${placed}, ${placed})`);
  await authenticateRooms(orders.db, sql`id = ${roomId}`);
  await orders.db.query(sql`
    INSERT INTO closing_passports (room_id, version, verify_code, manifest, manifest_sha256, sealed_sha256, seal_chain, blob_key, created_at)
    VALUES (${roomId}, 1, ${sealed("closing", newVerifyCode())}, ${sealed("manifest", "{}")}, ${sha256}, ${sha256}, ${sha256}, ${closing}, ${placed})`);
  return { proof, closing, roomId, passportId };
}

/** Writes the MAC of each passport, as the service does when it seals. */
async function authenticatePassports(): Promise<void> {
  for (const row of await orders.db.query<WholePassport & { key: string; mac: Buffer }>(passportRows.rows)) {
    const mac = rowMac.of("passports", passportRows.members(row) ?? assert.fail());
    await orders.db.query(sql`UPDATE passports SET row_mac = ${mac} WHERE id = ${row.key}`);
  }
}

test("sealed PDFs and certificates of test are deleted by the plan, live ones only if it says so", async () => {
  const ofTest = await passports("test");
  const live = await passports("live");
  await run(beforeThat);
  assert.deepEqual([await isStored(ofTest.proof), await isStored(ofTest.closing)], [true, true]);
  await orders.db.query(
    sql`UPDATE rooms SET updated_at = ${new Date(placed.getTime() + day)} WHERE id = ${ofTest.roomId}`,
  );
  await authenticateRooms(orders.db, sql`id = ${ofTest.roomId}`);
  await run(after30);
  assert.deepEqual([await isStored(ofTest.proof), await isStored(ofTest.closing)], [false, true]);
  await run(new Date(after30.getTime() + day));
  assert.equal(await isStored(ofTest.closing), false);
  const late = new Date(placed.getTime() + 60 * 365 * day);
  await run(late);
  assert.deepEqual([await isStored(live.proof), await isStored(live.closing)], [true, true]);
  await run(late, { ...shipped, live: { ...shipped.live, proofPassports: 400, closingPassports: 400 } });
  assert.deepEqual([await isStored(live.proof), await isStored(live.closing)], [false, false]);
});

test("a closing whose room is being changed is left for the next run", async () => {
  const { closing, roomId } = await passports("test");
  await orders.db.transaction(async (tx) => {
    await tx.query(sql`SELECT FROM rooms WHERE id = ${roomId} FOR UPDATE`);
    await run(after30);
    assert.ok(await isStored(closing));
  });
  await run(after30);
  assert.equal(await isStored(closing), false);
});

test("nothing is deleted because of an altered order, room or passport, and what follows them is", async () => {
  const { code, key } = await order("EsignPending", { environment: "live" });
  const { proof, closing, roomId, passportId } = await passports("live");
  const certificate = await store();
  await orders.db.query(sql`
    INSERT INTO proof_certificates (blob_key, passport_id, names_firm, document_kept, seal_retired, seal_chain, sha256, created_at)
    VALUES (${certificate}, ${passportId}, false, true, false, ${"0".repeat(64)}, ${"0".repeat(64)}, ${placed})`);
  const due = await order("Completed", { environment: "test" });
  await orders.db.query(sql`UPDATE orders SET environment = 'test' WHERE ${isSealed(sql`code`, "order", code)}`);
  await orders.db.query(sql`UPDATE rooms SET environment = 'test' WHERE id = ${roomId}`);
  await orders.db.query(sql`UPDATE passports SET environment = 'test' WHERE id = ${passportId}`);
  await run(new Date(placed.getTime() + 60 * 365 * day));
  assert.deepEqual(await Promise.all([key, closing, proof, certificate].map(isStored)), [true, true, true, true]);
  assert.equal(await isStored(due.key), false);
  await orders.db.query(sql`UPDATE orders SET environment = 'live' WHERE ${isSealed(sql`code`, "order", code)}`);
  await orders.db.query(sql`UPDATE rooms SET environment = 'live' WHERE id = ${roomId}`);
  await orders.db.query(sql`UPDATE passports SET environment = 'live' WHERE id = ${passportId}`);
});

test("due and upcoming deletions can be listed in advance", async () => {
  await run(new Date(placed.getTime() + 60 * 365 * day));
  await order("Completed", { environment: "test" });
  await order("Cancelled", { environment: "live" });
  const at90 = new Date(placed.getTime() + 90 * day);
  const ask = (now: Date) => upcomingDeletions({ db: orders.db, sources: retained.sources }, shipped, now);
  assert.deepEqual(await ask(beforeThat), { due: 0, next: after30, nextRule: "test.orderDocuments" });
  assert.deepEqual(await ask(after30), { due: 1, next: at90, nextRule: "live.unpaidOrders" });
  assert.deepEqual(await ask(at90), { due: 2, next: null, nextRule: null });
});

test("each row is judged by indexes: no table is read completely for one of them", async () => {
  const plans = await orders.db.transaction(async (tx) => {
    await tx.script("SET LOCAL enable_seqscan = off");
    const lines: string[] = [];
    for (const source of retained.sources.map((sourceOf) => sourceOf(shipped))) {
      const rows = await tx.query<{ "QUERY PLAN": string }>(
        sql`EXPLAIN ${dueStatement(source, { after: source.first, now: after30, testOf: null })}`,
      );
      lines.push(...rows.map((row) => row["QUERY PLAN"]));
    }
    return lines.join("\n");
  });
  assert.match(plans, /checkout_sessions_of_order/);
  assert.match(plans, /Scan using deleted_blobs_of_blob/);
  // The query reads only the last row of the index, not all rows of the firm.
  assert.match(plans, /Limit[^\n]*\n[^\n]*Scan Backward using test_clock_advances_of_partner/);
  // Only payments may be read as a whole table: a hash join reads them once.
  assert.doesNotMatch(plans, /Seq Scan on (?!payments)/);
});

type Move = { action: "template.archived" | "template.restored"; at: Date; partnerId: string; environment?: string };

const audit = (templateId: string, { environment = "live", ...move }: Move) =>
  orders.db.query(auditLine({ ...move, actor: "key:1", detail: { templateId, environment } }));

/**
 * Stores a template with one version for each blob in `keys`, in that order. A date in `archivedAt` archives the
 * template.
 * @returns its id
 * @param moves the template's lines in the audit log; null to let `archiveTemplate` archive it and write the lines
 */
async function template(
  keys: readonly string[],
  archivedAt: Date | null,
  partnerId: string,
  moves: readonly Partial<Move>[] | null = null,
): Promise<string> {
  const id = newUuid();
  await orders.db.query(sql`INSERT INTO templates (id, partner_id, environment, created_at, archived_at)
    VALUES (${id}, ${partnerId}, 'live', ${placed}, ${moves && archivedAt})`);
  for (const move of moves ?? []) await audit(id, { action: "template.archived", at: placed, partnerId, ...move });
  for (const [index, key] of keys.entries())
    await orders.db.query(sql`
      INSERT INTO template_versions (id, template_id, version, name, content, prints, sha256, bytes, pages, blob_key, created_by,
        created_at, row_mac)
      VALUES (${newUuid()}, ${id}, ${index + 1}, 'Lease', '{}', '[]', ${"0".repeat(64)}, 10, 1, ${key}, 'key', ${placed}, ${Buffer.alloc(36)})`);
  const caller = { partnerId, environment: "live", firmName: "", tier: "trial", liveEnabled: true } as const;
  const principal: Principal = { ...caller, key: null, member: null };
  const deps = { db: orders.db, rowMac, clock: () => archivedAt ?? placed };
  if (archivedAt && !moves) await archiveTemplate(deps, principal, id, true);
  return id;
}

test("an archived template's documents are deleted after 90 days, and no longer count as stored; orders keep their record", async () => {
  const used = await order("Completed", { environment: "live" });
  const partnerId = newUuid();
  await orders.db.query(sql`INSERT INTO partners (id, name, tier) VALUES (${partnerId}, 'Other Title', 'trial')`);
  const [first, shared, open] = [await store(), await store(), await store()];
  const archived = await template([first, shared, shared], placed, partnerId);
  await template([open], null, partnerId);
  await orders.db.query(sql`
    INSERT INTO order_templates (order_id, template_id, version, row_mac) VALUES (${idOf(used.code)}, ${archived}, 1, ${Buffer.alloc(36)})`);
  const stored = async () =>
    (await storageUse(orders.db, () => 1e9, storedBlobs)({ partnerId, tier: "trial" }))?.stored ?? 0;
  const before = await stored();
  const after90 = new Date(placed.getTime() + 90 * day);
  await run(new Date(after90.getTime() - 1000));
  assert.ok(await isStored(shared));
  await run(after90);
  assert.deepEqual([await isStored(first), await isStored(shared), await isStored(open)], [true, false, true]);
  assert.deepEqual(await marks(shared), [{ rule: "archivedTemplates", at: after90 }]);
  assert.equal(before - (await stored()), 10, "versions of one document count once");
});

test("a document that is shared by a version with an order stays", async () => {
  const used = await order("Completed", { environment: "live" });
  const key = await store();
  const archived = await template([key, key], placed, (await orders.ownerOf(used.code)).partnerId);
  await orders.db.query(sql`
    INSERT INTO order_templates (order_id, template_id, version, row_mac) VALUES (${idOf(used.code)}, ${archived}, 2, ${Buffer.alloc(36)})`);
  await run(new Date(placed.getTime() + 400 * day));
  assert.ok(await isStored(key));
});

test("a template that is archived only in its row keeps its documents, and so does one that was restored", async () => {
  const { partnerId } = await orders.ownerOf((await order("Completed", { environment: "live" })).code);
  const other = newUuid();
  await orders.db.query(sql`INSERT INTO partners (id, name, tier) VALUES (${other}, 'Another Title', 'trial')`);
  const restored = { action: "template.restored", at: new Date(placed.getTime() + day) } as const;
  const later = new Date(placed.getTime() + 2 * day);
  const cases: readonly [string, boolean, Date, readonly Partial<Move>[]][] = [
    ["never archived", true, placed, []],
    ["archived at another time", true, placed, [{ at: later }]],
    ["archived by another firm", true, placed, [{ partnerId: other }]],
    ["archived in test", true, placed, [{ environment: "test" }]],
    ["restored since", true, placed, [{}, restored]],
    ["archived again", false, later, [{}, restored, { at: later }]],
  ];
  const templates = [];
  for (const [name, isKept, archivedAt, moves] of cases) {
    const key = await store();
    templates.push({ name, isKept, key, id: await template([key], archivedAt, partnerId, moves) });
  }
  const [never] = templates;
  await orders.db.query(sql`
    INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail, row_mac)
    VALUES (${placed}, 'template.archived', 'key:1', ${partnerId}, ${{ templateId: never?.id, environment: "live" }}, ${Buffer.alloc(36)})`);
  await run(new Date(placed.getTime() + 400 * day));
  for (const { name, isKept, key } of templates) assert.equal(await isStored(key), isKept, name);
});

test("marks are never removed", async () => {
  const { key } = await order("Completed", { environment: "test" });
  await run(after30);
  await assert.rejects(orders.db.query(sql`DELETE FROM deleted_blobs WHERE blob_key = ${key}`), /append-only/);
});
