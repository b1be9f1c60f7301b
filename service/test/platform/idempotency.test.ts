import assert from "node:assert/strict";
import { after, before, test } from "node:test";
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
  callerId: newUuid(),
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
