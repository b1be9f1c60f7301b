import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { sealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { reaching } from "../../../src/kernel/platform/database/sql-errors.ts";
import { ServiceError } from "../../../src/kernel/platform/errors.ts";
import { once, onceInSteps, type Steps, type Work } from "../../../src/kernel/platform/idempotency.ts";
import { type RequestKey, sweepIdempotencyKeys } from "../../../src/kernel/platform/idempotency-keys.ts";
import { newUuid } from "../../../src/kernel/platform/ids.ts";
import { openOrdersDatabase } from "../../orders/order/orders-database.ts";

let now = new Date("2026-03-04T05:06:07.089Z");

const orders = await forTests(openOrdersDatabase());

const newKey = (more: Partial<RequestKey> = {}): RequestKey => ({
  owner: { partnerId: newUuid(), environment: "live" },
  route: "POST /things",
  key: "a-key-of-a-test",
  fingerprint: Buffer.alloc(32),
  ...more,
});

type Thing = { thing: string };

const deps = () => ({ db: orders.db, clock: () => now });

const send = (key: RequestKey | null, work: Work<Thing>["work"], more: Partial<Work<Thing>> = {}) =>
  once(deps(), key, { status: 200, refuseAbandoned: null, work, ...more });

const made = (thing: string) => async (): Promise<Thing> => ({ thing });

const sendInSteps = (key: RequestKey, steps: Pick<Steps<Thing>, "begin" | "finish">) =>
  onceInSteps(deps(), key, { status: 200, ...steps });

const first = (thing: string) => ({ status: 200, result: { thing }, replayed: false });
const replay = (thing: string) => ({ status: 200, result: { thing }, replayed: true });

/** Moves the end of a claim's pending time into the past, by the database's clock. */
const endPending = ({ owner: { partnerId } }: RequestKey) =>
  orders.db.query(sql`
    UPDATE idempotency_keys SET pending_until = now() - interval '1 s'
    WHERE partner_id = ${partnerId} AND pending_until IS NOT NULL`);

/** Work that waits until the test ends it. */
function held() {
  const end = Promise.withResolvers<Thing>();
  const begun = Promise.withResolvers<void>();
  const work = () => {
    begun.resolve();
    return end.promise;
  };
  return { end, begun: begun.promise, work };
}

/** The error of a write whose connection was lost before the answer. */
const connectionLost = () =>
  reaching(Promise.reject(new Error("Connection terminated unexpectedly"))).catch((error) => error);

test("without a key each request does its work", async () => {
  for (const thing of ["one", "two"]) assert.deepEqual(await send(null, made(thing)), first(thing));
});

test("a duplicate waits for the first result and replays it", async () => {
  const key = newKey();
  const { end, begun, work } = held();
  const sent = send(key, work);
  await begun;
  const second = send(key, async () => assert.fail("done twice"));
  end.resolve({ thing: "made" });
  assert.deepEqual(await sent, first("made"));
  assert.deepEqual(await second, replay("made"));
});

test("a duplicate of a refused request does the work itself", async () => {
  const key = newKey();
  const { end, begun, work } = held();
  const sent = send(key, work);
  await begun;
  const second = send(key, made("made by the second"));
  end.reject(new ServiceError("validation", "no"));
  await assert.rejects(sent, { message: "no" });
  assert.deepEqual(await second, first("made by the second"));
});

test("a duplicate gives up after five seconds, and another body is refused at once", async () => {
  const key = newKey();
  const { end, begun, work } = held();
  const sent = send(key, work);
  await begun;
  const other = { ...key, fingerprint: Buffer.alloc(32, 1) };
  await assert.rejects(send(other, work), { code: "idempotency_key_reused" });
  await assert.rejects(send(key, work), { code: "idempotency_in_flight" });
  end.resolve({ thing: "made" });
  await sent;
});

test("a request that died is continued by the next one, from its stored result", async () => {
  const key = newKey();
  const { db } = orders;
  const begin: Steps<Thing>["begin"] = async (claim) => {
    const progress = { result: { thing: "half" }, final: false };
    if (claim) await db.query(claim(progress));
    return progress;
  };
  await assert.rejects(sendInSteps(key, { begin, finish: () => Promise.reject(new Error("killed")) }), /killed/);
  await endPending(key);
  const again = sendInSteps(key, {
    begin: async () => assert.fail("begun twice"),
    finish: async ({ thing }) => ({ thing: `${thing} and whole` }),
  });
  assert.deepEqual(await again, first("half and whole"));
  assert.deepEqual(await send(key, async () => assert.fail("done twice")), replay("half and whole"));
});

test("the database's clock ends the minute of a claim: a node whose clock is an hour ahead waits as well", async () => {
  const key = newKey();
  const { end, begun, work } = held();
  const sent = send(key, work);
  await begun;
  now = new Date(now.getTime() + 3_600_000);
  await assert.rejects(
    send(key, async () => assert.fail("done twice")),
    { code: "idempotency_in_flight" },
  );
  end.resolve({ thing: "made" });
  await sent;
  const late = newKey();
  const other = held();
  const died = send(late, other.work);
  await other.begun;
  now = new Date(now.getTime() - 7_200_000);
  await endPending(late);
  assert.deepEqual(await send(late, made("by the node behind")), first("by the node behind"));
  other.end.resolve({ thing: "never read" });
  await died;
});

describe("a request that was slow, but alive, when a second one took over its claim", () => {
  /** Two requests in progress: the slow one began first, and the second has taken over the claim. */
  async function twoUnderWay() {
    const key = newKey();
    const [slow, second] = [held(), held()];
    const slowSent = send(key, slow.work);
    await slow.begun;
    await endPending(key);
    const secondSent = send(key, second.work);
    await second.begun;
    return { key, slow, slowSent, second, secondSent };
  }
  const nobodyElse = async () => assert.fail("done by a third");

  test("stores no result over the claim: while the second works, it is told that the request is in progress", async () => {
    const { key, slow, slowSent, second, secondSent } = await twoUnderWay();
    slow.end.resolve({ thing: "by the slow one" });
    await Promise.all(
      [slowSent, send(key, nobodyElse)].map((sent) => assert.rejects(sent, { code: "idempotency_in_flight" })),
    );
    second.end.resolve({ thing: "by the second" });
    assert.deepEqual(await secondSent, first("by the second"));
    assert.deepEqual(await send(key, nobodyElse), replay("by the second"));
  });

  test("answers with the second's result once it exists", async () => {
    const { slow, slowSent, second, secondSent } = await twoUnderWay();
    slow.end.resolve({ thing: "by the slow one" });
    second.end.resolve({ thing: "by the second" });
    assert.deepEqual(await Promise.all([slowSent, secondSent]), [replay("by the second"), first("by the second")]);
  });

  test("does not release the key when it is refused: nobody repeats the work while the second runs", async () => {
    const { key, slow, slowSent, second, secondSent } = await twoUnderWay();
    slow.end.reject(new ServiceError("validation", "no"));
    await assert.rejects(slowSent, { message: "no" });
    await assert.rejects(send(key, nobodyElse), { code: "idempotency_in_flight" });
    second.end.resolve({ thing: "by the second" });
    assert.deepEqual(await secondSent, first("by the second"));
    assert.deepEqual(await send(key, nobodyElse), replay("by the second"));
  });

  test("does not end the second's claim, which lasts a minute, when its own outcome is unknown", async () => {
    const { key, slow, slowSent, second, secondSent } = await twoUnderWay();
    slow.end.reject(await connectionLost());
    await assert.rejects(slowSent, { code: "unavailable" });
    await assert.rejects(send(key, nobodyElse), { code: "idempotency_in_flight" });
    second.end.resolve({ thing: "by the second" });
    assert.deepEqual(await secondSent, first("by the second"));
  });

  test("keeps the second's result when the slow one ends later", async () => {
    const { key, slow, slowSent, second, secondSent } = await twoUnderWay();
    second.end.resolve({ thing: "by the second" });
    assert.deepEqual(await secondSent, first("by the second"));
    slow.end.resolve({ thing: "by the slow one" });
    assert.deepEqual(await slowSent, replay("by the second"));
    assert.deepEqual(await send(key, nobodyElse), replay("by the second"));
  });

  test("keeps the claim of a third request that took over from the second", async () => {
    const { key, slow, slowSent, second, secondSent } = await twoUnderWay();
    await endPending(key);
    const third = held();
    const thirdSent = send(key, third.work);
    await third.begun;
    slow.end.reject(new ServiceError("validation", "no"));
    second.end.reject(new ServiceError("validation", "no, too"));
    await assert.rejects(slowSent, { message: "no" });
    await assert.rejects(secondSent, { message: "no, too" });
    third.end.resolve({ thing: "by the third" });
    assert.deepEqual(await thirdSent, first("by the third"));
    assert.deepEqual(await send(key, nobodyElse), replay("by the third"));
  });
});

describe("work that may have been committed", () => {
  const unknown = async () => {
    throw await connectionLost();
  };
  const refuseAbandoned = "It may have been done.";

  test("is not repeated: the key stays claimed, and a retry is refused at once", async () => {
    const key = newKey();
    await assert.rejects(send(key, unknown, { refuseAbandoned }), { code: "unavailable" });
    for (const _ of [1, 2])
      await assert.rejects(
        send(key, async () => assert.fail("done twice"), { refuseAbandoned }),
        { code: "conflict", message: refuseAbandoned },
      );
  });

  test("is not repeated either when its process died", async () => {
    const key = newKey();
    const { end, begun, work } = held();
    const died = send(key, work, { refuseAbandoned });
    await begun;
    await endPending(key);
    await assert.rejects(
      send(key, async () => assert.fail("done twice"), { refuseAbandoned }),
      { code: "conflict", message: refuseAbandoned },
    );
    end.resolve({ thing: "made" });
    await died;
    assert.deepEqual(await send(key, async () => assert.fail("done twice"), { refuseAbandoned }), replay("made"));
  });

  test("is repeated at once when that is harmless", async () => {
    const key = newKey();
    await assert.rejects(send(key, unknown), { code: "unavailable" });
    assert.deepEqual(await send(key, made("repeated")), first("repeated"));
  });

  test("did not happen when the wait for a lock failed: the key is free again", async () => {
    const key = newKey();
    const lock = held();
    const holder = orders.db.transaction(async (tx) => {
      await tx.script("LOCK TABLE price_books");
      await lock.work();
    });
    await lock.begun;
    const read = () =>
      orders.db.query<Thing>(sql`SELECT sha256 AS thing FROM price_books`).then(([row]) => row as Thing);
    await assert.rejects(send(key, read, { refuseAbandoned }), { code: "unavailable" });
    lock.end.resolve({ thing: "" });
    await holder;
    assert.deepEqual(await send(key, made("made"), { refuseAbandoned }), first("made"));
  });
});

test("a key expires after 24 hours: it may be used again, and is swept", async () => {
  const key = newKey();
  const old = newKey();
  for (const each of [key, old]) await send(each, made("first"));
  now = new Date(now.getTime() + 24 * 3_600_000);
  assert.equal((await send(key, async () => assert.fail("not yet"))).replayed, true);
  now = new Date(now.getTime() + 1);
  assert.deepEqual(await send(key, made("second")), first("second"));
  await sweepIdempotencyKeys(orders.db, now);
  assert.deepEqual(await send(key, async () => assert.fail("swept too early")), replay("second"));
  assert.deepEqual(await send(old, made("third")), first("third"));
});

test("each firm, environment and route has its own keys", async () => {
  const key = newKey();
  await send(key, made("first"));
  const { owner } = key;
  const others: Partial<RequestKey>[] = [
    { owner: { ...owner, partnerId: newUuid() } },
    { owner: { ...owner, environment: "test" } },
    { route: "POST /others" },
  ];
  for (const other of others) assert.deepEqual(await send({ ...key, ...other }, made("other")), first("other"));
  assert.deepEqual(await send(key, async () => assert.fail("done twice")), replay("first"));
});

test("replays results of earlier releases: JSON unchanged, and texts of pages through their reader", async () => {
  const store = async (status: number, text: string) => {
    const key = newKey();
    const { owner, route } = key;
    const bound = `${owner.partnerId} ${owner.environment} ${route} ${key.key}\n`;
    await orders.db.query(sql`
      INSERT INTO idempotency_keys (partner_id, environment, route, idempotency_key, fingerprint, status, body, created_at)
      VALUES (${owner.partnerId}, ${owner.environment}, ${route}, ${key.key}, ${key.fingerprint}, ${status},
        ${sealed("answer", bound + text)}, ${now})`);
    return key;
  };
  const again = async () => assert.fail("done twice");
  const json = JSON.stringify({
    requestId: "1b",
    lines: [{ cents: 1200, rate: 0.05 }],
    name: "\ud800 \u2028é",
    checkoutUrl: null,
  });
  const replayed = await send(await store(201, json), again);
  assert.deepEqual([replayed.status, JSON.stringify(replayed.result), replayed.replayed], [201, json, true]);
  const path = "/dashboard/orders/9f?done=order-noted#notes-title";
  const read = await send(await store(303, path), again, { readText: (thing) => ({ thing }) });
  assert.deepEqual(read, { status: 303, result: { thing: path }, replayed: true });
});

test("answers stored for an API key or a member are replayed to the firm after an upgrade, the first of two", async () => {
  const [firm, rotated, current, member] = [newUuid(), newUuid(), newUuid(), newUuid()];
  const upgrade = readFileSync(join(import.meta.dirname, "../../../migrations/0075_idempotency_of_firms.sql"), "utf8");
  const rows = await orders.db.transaction(async (tx) => {
    // The table of an earlier release, which hides the current one until the transaction ends.
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

test("a duplicate that waits for a transaction gives up as in progress, but a locked table is the database's error", async () => {
  const key = newKey();
  const { end, begun, work } = held();
  const sent = sendInSteps(key, {
    begin: (claim) =>
      orders.db.transaction(async (tx) => {
        if (claim) await tx.query(claim({ result: { thing: "made" }, final: true }));
        return { result: await work(), final: true };
      }),
    finish: async (result) => result,
  });
  await begun;
  await assert.rejects(send(key, made("twice")), { code: "idempotency_in_flight" });
  end.resolve({ thing: "made" });
  await sent;
  const lock = held();
  const migration = orders.db.transaction(async (tx) => {
    await tx.script("LOCK TABLE idempotency_keys IN SHARE ROW EXCLUSIVE MODE");
    await lock.work();
  });
  await lock.begun;
  const other = newKey();
  await assert.rejects(send(other, made("too early")), { code: "unavailable" });
  lock.end.resolve({ thing: "migrated" });
  await migration;
  assert.deepEqual(await send(other, made("after it")), first("after it"));
});
