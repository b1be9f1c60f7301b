import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { isWaitedFor } from "@signsealship/testing/lock-waits";
import { authenticateOrders, changeFirm } from "@signsealship/testing/row-mac";
import { startService } from "@signsealship/testing/service";
import { isSealed, type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { type Client, openRoomsService } from "./rooms-service.ts";

const running = await forTests(openRoomsService());
const second = await forTests(startService({ DATA_DIR: running.service.dataDir, RATE_LIMITS: "off" }));
const acme = await running.partner("ClosingDesk");

const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));
const nodes = (client: Client) => [client, client.at(second)] as const;

function outcomes(answers: Answer[]): { done: number; refused: number; messages: string[] } {
  const refused = answers.filter(({ status }) => status === 400);
  assert.ok(
    answers.every(({ status }) => status === 200 || status === 400),
    JSON.stringify(answers),
  );
  const messages = [...new Set(refused.map(({ body }) => body.error ?? ""))];
  return { done: answers.length - refused.length, refused: refused.length, messages };
}

const manyOrders = (count: number) => times(count, () => acme.order());

describe("quotas and caps under concurrent requests on two nodes", () => {
  for (const [tier, quota] of [
    ["trial", 5],
    ["PartnerLink", 5],
    ["ProOffice", 25],
  ] as const) {
    test(`${tier}: of 50 rooms at once, ${quota} are made`, async () => {
      const partner = await running.partner(tier);
      const answers = await times(50, (n) =>
        (nodes(partner)[n % 2] ?? partner).call("POST", "/api/rooms", { name: `Room ${n}` }),
      );
      assert.deepEqual(outcomes(answers), {
        done: quota,
        refused: 50 - quota,
        messages: [`Your ${tier} tier allows ${quota} open rooms.`],
      });
      const { rooms } = await partner.ok<{ rooms: unknown[] }>("GET", "/api/rooms");
      assert.equal(rooms.length, quota);
    });
  }

  test("ClosingDesk has no quota", async () => {
    const partner = await running.partner("ClosingDesk");
    assert.equal(outcomes(await times(60, () => partner.call("POST", "/api/rooms", { name: "x" }))).done, 60);
  });

  test("a closed room no longer counts against the quota, and reopening counts again", async () => {
    const partner = await running.partner("trial");
    const rooms = await times(5, (n) => partner.room(`Room ${n}`));
    await times(5, (n) => partner.ok("POST", `/api/rooms/${rooms[n]}/close`));
    await times(3, (n) => partner.room(`More ${n}`));
    const answers = await times(20, (n) =>
      (nodes(partner)[n % 2] ?? partner).call("POST", `/api/rooms/${rooms[n % 5]}/reopen`),
    );
    const opened = (await partner.ok<{ rooms: { status: string }[] }>("GET", "/api/rooms")).rooms.filter(
      ({ status }) => status === "open",
    );
    assert.equal(opened.length, 5);
    assert.deepEqual(outcomes(answers).messages, ["Your trial tier allows 5 open rooms."]);
  });

  test("test and live rooms have separate quotas, and a change of tier applies at once", async () => {
    const partner = await running.partner("trial");
    const live = await partner.withKey("live");
    await times(5, () => partner.room());
    await times(5, () => live.room());
    assert.equal(await live.refused(400, "POST", "/api/rooms", { name: "x" }), "Your trial tier allows 5 open rooms.");
    await changeFirm(running.db, partner.partnerId, sql`tier = 'ProOffice'`);
    await live.room();
  });

  test("of 60 orders attached concurrently, 50 succeed; a full room still shows its orders", async () => {
    const [room, orders] = [await acme.room(), await manyOrders(60)];
    const attach = (n: number) =>
      (nodes(acme)[n % 2] ?? acme).call("POST", `/api/rooms/${room}/orders`, { orderCode: orders[n] });
    assert.deepEqual(outcomes(await times(60, attach)), {
      done: 50,
      refused: 10,
      messages: ["A room holds at most 50 orders."],
    });
    const { orders: cards, progress } = await running.view(room);
    assert.deepEqual([cards.length, progress.total], [50, 50]);
    const again = await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: cards[7]?.orderCode });
    assert.deepEqual(again, { ok: true, alreadyAttached: true });
    const outside = orders.find((code) => cards.every(({ orderCode }) => orderCode !== code));
    await acme.ok("DELETE", `/api/rooms/${room}/orders/${cards[7]?.orderCode}`);
    assert.deepEqual(await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: outside }), {
      ok: true,
      alreadyAttached: false,
    });
  });

  test("of 50 firms' rooms concurrently, an order with 95 rooms of other firms gets into 5", async () => {
    const [partner, orderCode] = [await running.partner("ClosingDesk"), await acme.order()];
    await running.db.query(sql`
      WITH room AS (
        INSERT INTO rooms (id, code, partner_id, environment, name, status, created_at, updated_at)
        SELECT gen_random_uuid(), 'c1.' || n, ${partner.partnerId}, 'test', 'Room',
          'closed', now(), now() FROM generate_series(1, 95) AS n RETURNING id)
      INSERT INTO room_orders (room_id, order_id, attached_at)
      SELECT room.id, orders.id, now() FROM room, orders WHERE ${isSealed(sql`orders.code`, "order", orderCode)}`);
    const rooms = await times(50, () => partner.room());
    const attach = (n: number) =>
      (nodes(partner)[n % 2] ?? partner).call("POST", `/api/rooms/${rooms[n]}/orders`, { orderCode });
    assert.deepEqual(outcomes(await times(50, attach)), {
      done: 5,
      refused: 45,
      messages: ["An order is in at most 100 rooms of other firms."],
    });
  });

  test("one order attached 20 times at once is attached once, with one event", async () => {
    const [room, orderCode] = [await acme.room(), await acme.order()];
    const answers = await times(20, (n) =>
      (nodes(acme)[n % 2] ?? acme).call("POST", `/api/rooms/${room}/orders`, { orderCode }),
    );
    assert.equal(answers.filter(({ body }) => body["alreadyAttached"] === false).length, 1);
    const [events] = await running.db.query(sql`
      SELECT count(*)::int AS count FROM events WHERE ${isSealed(sql`subject`, "event", orderCode)} AND topic = 'room.order_attached'`);
    assert.deepEqual(events, { count: 1 });
    const { rooms } = await acme.ok<{ rooms: { roomCode: string; orderCount: number }[] }>("GET", "/api/rooms");
    assert.equal(rooms.find(({ roomCode }) => roomCode === room)?.orderCount, 1);
  });

  test("of 40 concurrently added participants only 25 have a place in the room, and of duplicates only one is added", async () => {
    const room = await acme.room();
    const path = `/api/rooms/${room}/participants`;
    const duplicates = await times(10, (n) =>
      (nodes(acme)[n % 2] ?? acme).call("POST", path, { name: `Twin ${n}`, email: "Twin@example.com" }),
    );
    assert.equal(duplicates.filter(({ body }) => body["alreadyPresent"] === false).length, 1);
    const answers = await times(40, (n) =>
      (nodes(acme)[n % 2] ?? acme).call("POST", path, { name: `P ${n}`, email: `p${n}@example.com` }),
    );
    assert.deepEqual(outcomes(answers), { done: 24, refused: 16, messages: ["A room holds at most 25 participants."] });
    assert.equal((await running.view(room)).participants.length, 25);
  });

  test("of 10 concurrent rotations of a room one succeeds, and the others don't find the room", async () => {
    const room = await acme.room();
    const answers = await times(10, (n) => (nodes(acme)[n % 2] ?? acme).call("POST", `/api/rooms/${room}/rotate`));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array(9).fill(404)]);
  });
});

describe("a view on two nodes", () => {
  test("is current on both nodes after every change, whichever node made it", async () => {
    const room = await acme.room();
    const order = await acme.order({ svc_sign: "true" });
    const [here, there] = nodes(acme);
    const both = async () => {
      const [one, two] = [await running.view(room), await running.view(room, second)];
      assert.deepEqual(one, two);
      return one;
    };
    assert.equal((await both()).orders.length, 0);
    await there.ok("POST", `/api/rooms/${room}/orders`, { orderCode: order });
    assert.equal((await both()).orders.length, 1);
    await running.setStatus(order, "EsignComplete", sql`, envelope_status = 'Completed'`);
    assert.equal((await both()).progress.signed, 1);
    await here.ok("POST", `/api/rooms/${room}/close`);
    assert.equal((await both()).status, "closed");
    await there.ok("POST", `/api/rooms/${room}/reopen`);
    assert.equal((await both()).status, "open");
    await there.ok("POST", `/api/rooms/${room}/participants`, { name: "Jo", email: "jo@example.com" });
    assert.equal((await both()).participants.length, 1);
    await changeFirm(running.db, acme.partnerId, sql`brand_name = 'Acme'`);
    assert.equal((await both()).branding?.brandName, "Acme");
    await here.ok("DELETE", `/api/rooms/${room}/orders/${order}`);
    assert.equal((await both()).orders.length, 0);
    const { roomCode } = await here.ok<{ roomCode: string }>("POST", `/api/rooms/${room}/rotate`);
    for (const node of [running.service, second]) {
      assert.equal((await fetch(`${node.baseUrl}/api/rooms/${room}`)).status, 404);
      assert.equal((await running.view(roomCode, node)).roomCode, roomCode);
    }
  });

  test("increases its version with each change of an order, in all rooms that contain it and no other", async () => {
    const order = await acme.order();
    const [first, apart] = [await acme.room(), await acme.room()];
    const third = await (await running.partner()).room();
    const partner = await running.partner();
    const foreign = await partner.room();
    for (const room of [first, foreign])
      await (room === first ? acme : partner).ok("POST", `/api/rooms/${room}/orders`, { orderCode: order });
    const versions = async () =>
      new Map(
        (
          await running.db.query<{ code: string; version: number }>(sql`
            SELECT code AS "code@room", view_version AS version FROM rooms`)
        ).map(({ code, version }) => [code, version]),
      );
    const before = await versions();
    await running.setStatus(order, "Paid");
    const bumped = await versions();
    for (const room of [first, foreign]) assert.ok((bumped.get(room) ?? 0) > (before.get(room) ?? 0));
    for (const room of [apart, third]) assert.equal(bumped.get(room), before.get(room));
  });

  // The hardest interleaving: the change begins before the attachment, and commits after the view was read.
  const races: [string, (orderCode: string) => Statement][] = [
    ["a status", (code) => sql`UPDATE orders SET status = 'Delivered' WHERE ${isSealed(sql`code`, "order", code)}`],
    [
      "a seal",
      (code) => sql`
        INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at)
        SELECT id, 'sealed', repeat('a', 64), 1, 'b', now() FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
    ],
    [
      "an activity",
      (code) => sql`
        INSERT INTO audit_log (occurred_at, action, actor, order_id)
        SELECT now(), 'order.claimed', 'system', id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
    ],
  ];
  for (const [what, statement] of races) {
    test(`never misses ${what} that commits while its order is being attached`, async () => {
      const [room, orderCode] = [await acme.room(), await acme.order()];
      let attached = false;
      const attaching = await running.db.transaction(async (tx) => {
        await tx.query(statement(orderCode));
        await authenticateOrders(tx, isSealed(sql`code`, "order", orderCode));
        const request = acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode }).finally(() => {
          attached = true;
        });
        while (!attached && !(await isWaitedFor(tx))) await sleep(5);
        await running.view(room);
        return { request };
      });
      await attaching.request;
      const { progress, activity } = await running.view(room);
      assert.ok(
        progress.delivered + progress.sealed + activity.filter(({ action }) => action === "order.claimed").length === 1,
      );
    });
  }

  test("matches the records after many concurrent changes", async () => {
    const rooms = await times(3, () => acme.room());
    const orders = await manyOrders(6);
    await times(120, async (n) => {
      const client = nodes(acme)[n % 2] ?? acme;
      const [room, orderCode = ""] = [rooms[n % 3], orders[(n * 5) % 6]];
      if (n % 4 === 0) await running.setStatus(orderCode, n % 8 === 0 ? "Shipped" : "Delivered");
      else if (n % 4 === 3) await client.call("DELETE", `/api/rooms/${room}/orders/${orderCode}`);
      else await client.call("POST", `/api/rooms/${room}/orders`, { orderCode });
      await running.view(room ?? "", n % 2 ? second : running.service);
    });
    for (const room of rooms) {
      const rows = await running.db.query<{ code: string; status: string }>(sql`
        SELECT o.code AS "code@order", o.status FROM room_orders a JOIN orders o ON o.id = a.order_id JOIN rooms r ON r.id = a.room_id
        WHERE ${isSealed(sql`r.code`, "room", room)} ORDER BY a.position`);
      for (const node of [running.service, second]) {
        const { orders: cards } = await running.view(room, node);
        assert.deepEqual(
          cards.map(({ orderCode, status }) => ({ code: orderCode, status })),
          rows,
        );
      }
      const [count] = await running.db.query(
        sql`SELECT order_count AS count FROM rooms WHERE ${isSealed(sql`code`, "room", room)}`,
      );
      assert.deepEqual(count, { count: rows.length });
    }
  });
});
