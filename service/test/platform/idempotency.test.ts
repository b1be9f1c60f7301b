import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql } from "../../src/platform/database/sql.ts";
import { ServiceError } from "../../src/platform/errors.ts";
import { once, type RequestKey, sweepIdempotencyKeys, type Work } from "../../src/platform/idempotency.ts";
import { newUuid } from "../../src/platform/ids.ts";
import { type OrdersDatabase, openOrdersDatabase } from "../orders/orders-database.ts";

let orders: OrdersDatabase;
let now = new Date("2026-03-04T05:06:07.089Z");

before(async () => {
  orders = await openOrdersDatabase();
});
after(() => orders.close());

const newKey = (more: Partial<RequestKey> = {}): RequestKey => ({
  owner: { partnerId: newUuid(), environment: "live" },
  route: "POST /things",
  key: "a-key-of-a-test",
  fingerprint: Buffer.alloc(32),
  ...more,
});

const send = (key: RequestKey | null, work: Omit<Work, "status">) =>
  once({ db: orders.db, clock: () => now }, key, { status: 200, ...work });

/** Work that waits until the test ends it. */
function held() {
  const end = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const finish = () => {
    begun.resolve();
    return end.promise;
  };
  return { end, begun: begun.promise, finish };
}

test("without a key each request does its work", async () => {
  for (const body of ["one", "two"])
    assert.deepEqual(await send(null, { finish: async () => body }), { status: 200, body, replayed: false });
});

test("a duplicate waits for the first response and replays it", async () => {
  const key = newKey();
  const { end, begun, finish } = held();
  const first = send(key, { finish });
  await begun;
  const second = send(key, { finish: async () => assert.fail("done twice") });
  end.resolve("made");
  assert.deepEqual(await first, { status: 200, body: "made", replayed: false });
  assert.deepEqual(await second, { status: 200, body: "made", replayed: true });
});

test("a duplicate of a refused request does the work itself", async () => {
  const key = newKey();
  const { end, begun, finish } = held();
  const first = send(key, { finish });
  await begun;
  const second = send(key, { finish: async () => "made by the second" });
  end.reject(new ServiceError("validation", "no"));
  await assert.rejects(first, { message: "no" });
  assert.deepEqual(await second, { status: 200, body: "made by the second", replayed: false });
});

test("a duplicate gives up after five seconds, and another body is refused at once", async () => {
  const key = newKey();
  const { end, begun, finish } = held();
  const first = send(key, { finish });
  await begun;
  const other = { ...key, fingerprint: Buffer.alloc(32, 1) };
  await assert.rejects(send(other, { finish }), { code: "idempotency_key_reused" });
  await assert.rejects(send(key, { finish }), { code: "idempotency_in_flight" });
  end.resolve("made");
  await first;
});

test("a request that died is gone on with by the next one, from where it had come to", async () => {
  const key = newKey();
  const { db } = orders;
  const begin: Work["begin"] = async (claim) => {
    const progress = { body: "half", final: false };
    if (claim) await db.query(claim(progress));
    return progress;
  };
  await assert.rejects(send(key, { begin, finish: () => Promise.reject(new Error("killed")) }), /killed/);
  now = new Date(now.getTime() + 61_000);
  const again = send(key, {
    begin: async () => assert.fail("begun twice"),
    finish: async (soFar) => `${soFar} and whole`,
  });
  assert.deepEqual(await again, { status: 200, body: "half and whole", replayed: false });
  assert.equal((await send(key, { finish: async () => assert.fail("done twice") })).body, "half and whole");
});

test("a key expires after 24 hours: it may be used anew, and is swept", async () => {
  const key = newKey();
  const old = newKey();
  for (const each of [key, old]) await send(each, { finish: async () => "first" });
  now = new Date(now.getTime() + 24 * 3_600_000);
  assert.equal((await send(key, { finish: async () => assert.fail("not yet") })).replayed, true);
  now = new Date(now.getTime() + 1);
  assert.equal((await send(key, { finish: async () => "second" })).body, "second");
  await sweepIdempotencyKeys(orders.db, now);
  assert.equal((await send(key, { finish: async () => assert.fail("swept too early") })).body, "second");
  assert.equal((await send(old, { finish: async () => "third" })).body, "third");
});

test("a firm, an environment and a route each have keys of their own", async () => {
  const key = newKey();
  await send(key, { finish: async () => "first" });
  const { owner } = key;
  const others: Partial<RequestKey>[] = [
    { owner: { ...owner, partnerId: newUuid() } },
    { owner: { ...owner, environment: "test" } },
    { route: "POST /others" },
  ];
  for (const other of others)
    assert.equal((await send({ ...key, ...other }, { finish: async () => "other" })).body, "other");
  assert.equal((await send(key, { finish: async () => assert.fail("done twice") })).body, "first");
});

test("answers stored for an API key or a member are replayed to the firm after an upgrade, the first of two", async () => {
  const [firm, rotated, current, member] = [newUuid(), newUuid(), newUuid(), newUuid()];
  const upgrade = readFileSync(join(import.meta.dirname, "../../migrations/0075_idempotency_of_firms.sql"), "utf8");
  const rows = await orders.db.transaction(async (tx) => {
    // A table as it was before, which hides the one of today until the transaction ends.
    await tx.script(`CREATE SCHEMA before; SET LOCAL search_path = before, public;
      CREATE TABLE idempotency_keys (caller_id uuid NOT NULL, route text NOT NULL, idempotency_key text NOT NULL,
        fingerprint bytea NOT NULL, status int NOT NULL, body text NOT NULL, created_at timestamptz NOT NULL,
        pending_until timestamptz, PRIMARY KEY (caller_id, route, idempotency_key))`);
    await tx.query(sql`INSERT INTO partners (id, name, tier) VALUES (${firm}, 'Acme Title', 'trial')`);
    for (const id of [rotated, current])
      await tx.query(sql`
        INSERT INTO partner_keys (id, partner_id, environment, key_sha256, last4)
        VALUES (${id}, ${firm}, 'test', ${hash("sha256", id, "buffer")}, 'last')`);
    const insert = (caller: string, key: string, body: string, hours: number) =>
      tx.query(sql`
        INSERT INTO idempotency_keys VALUES (${caller}, 'POST /things', ${key}, '', 200, ${body},
          now() - make_interval(hours => ${hours}))`);
    await insert(rotated, "both-keys", "first", 2);
    await insert(current, "both-keys", "second", 1);
    await insert(rotated, "expired-once", "expired", 25);
    await insert(current, "expired-once", "valid", 1);
    await insert(member, `${firm}:form`, "redirect", 1);
    await insert(newUuid(), "of nobody", "unreachable", 1);
    await tx.script(upgrade);
    const found = await tx.query<{ key: string }>(sql`
      SELECT partner_id AS firm, environment, idempotency_key AS key, body FROM idempotency_keys
      ORDER BY idempotency_key, environment`);
    await tx.script("DROP SCHEMA before CASCADE");
    return found;
  });
  assert.deepEqual(rows, [
    { firm, environment: "test", key: "both-keys", body: "first" },
    { firm, environment: "test", key: "expired-once", body: "valid" },
    { firm, environment: "live", key: "form", body: "redirect" },
    { firm, environment: "test", key: "form", body: "redirect" },
  ]);
});

test("a duplicate that waits for a transaction's end gives up as in progress, but a locked table is the database's", async () => {
  const key = newKey();
  const { end, begun, finish } = held();
  const first = send(key, {
    begin: (claim) =>
      orders.db.transaction(async (tx) => {
        if (claim) await tx.query(claim({ body: "made", final: true }));
        return { body: await finish(), final: true };
      }),
    finish: async (body) => body,
  });
  await begun;
  await assert.rejects(send(key, { finish: async () => "twice" }), { code: "idempotency_in_flight" });
  end.resolve("made");
  await first;
  const lock = held();
  const migration = orders.db.transaction(async (tx) => {
    await tx.script("LOCK TABLE idempotency_keys IN SHARE ROW EXCLUSIVE MODE");
    await lock.finish();
  });
  await lock.begun;
  const other = newKey();
  await assert.rejects(send(other, { finish: async () => "too early" }), { code: "unavailable" });
  lock.end.resolve("migrated");
  await migration;
  assert.equal((await send(other, { finish: async () => "after it" })).body, "after it");
});
