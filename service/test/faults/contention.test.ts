import assert from "node:assert/strict";
import { test } from "node:test";
import { databaseOf } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, startService } from "@signsealship/testing/service";
import { type Client, openRoomsService } from "../closing/rooms/rooms-service.ts";

const rounds = 25;

const running = await forTests(openRoomsService());
const second = await forTests(startService({ DATA_DIR: running.service.dataDir, RATE_LIMITS: "off" }));
const acme = await (await running.partner("ClosingDesk")).withKey("test");

test("concurrent attaching, detaching, steps of orders and seals of the same rooms on two nodes: no request ends in a 5xx", async () => {
  const rooms = [await acme.room("One"), await acme.room("Two")];
  const orders = [await acme.order(), await acme.order(), await acme.order()];
  const statuses = new Map<string, number>();
  const nodes = [acme, acme.at(second)] as const;
  async function repeat(caller: Client, what: string, call: (n: number) => [string, string, unknown?]) {
    for (let n = 0; n < rounds; n++) {
      const [method, path, body] = call(n);
      const { status } = await caller.call(method, path, body);
      const name = `${what} ${status}`;
      statuses.set(name, (statuses.get(name) ?? 0) + 1);
    }
  }
  const room = (n: number) => rooms[n % rooms.length];
  const order = (n: number) => orders[n % orders.length];
  await Promise.all(
    nodes.flatMap((caller) => [
      repeat(caller, "attach", (n) => ["POST", `/api/rooms/${room(n)}/orders`, { orderCode: order(n) }]),
      repeat(caller, "detach", (n) => ["DELETE", `/api/rooms/${room(n + 1)}/orders/${order(n)}`]),
      repeat(caller, "pay", (n) => [
        "POST",
        `/api/partner/sandbox/orders/${order(n)}/checkout`,
        { outcome: "success" },
      ]),
      repeat(caller, "advance", (n) => ["POST", `/api/partner/sandbox/orders/${order(n)}/advance`]),
      repeat(caller, "seal", (n) => ["POST", `/api/rooms/${room(n)}/passport`]),
    ]),
  );
  assert.deepEqual(
    [...statuses].filter(([name]) => / 5\d\d$/.test(name)),
    [],
  );
  assert.ok(
    (statuses.get("attach 200") ?? 0) > 0 && (statuses.get("seal 200") ?? 0) > 0,
    JSON.stringify([...statuses]),
  );
});

test("writers that wait too long for the locks of a migration get a 503 with the time to retry, and succeed after it", async () => {
  const { dataDir, baseUrl } = running.service;
  const { headers: own } = await newPartner(running.service);
  const db = await databaseOf(dataDir);
  const migrated = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const migration = db.transaction(async (tx) => {
    await tx.script("LOCK TABLE orders, rooms, documents, idempotency_keys IN SHARE ROW EXCLUSIVE MODE");
    locked.resolve();
    await migrated.promise;
  });
  await locked.promise;
  const place = (headers: Record<string, string> = {}) =>
    fetch(`${baseUrl}/api/partner/orders`, {
      method: "POST",
      headers: { ...own, ...headers },
      body: orderForm(minimal),
    });
  const room = (headers: Record<string, string> = {}) =>
    fetch(`${baseUrl}/api/rooms`, {
      method: "POST",
      headers: { ...own, "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ name: "Locked" }),
    });
  const ways = [
    () => place(),
    () => place({ "Idempotency-Key": "place-while-locked" }),
    () => room(),
    () => room({ "Idempotency-Key": "make-while-locked" }),
  ];
  const refused = await Promise.all(ways.map((call) => call()));
  migrated.resolve();
  await migration;
  await db.close();
  assert.deepEqual(
    refused.map(({ status, headers }) => [status, headers.has("retry-after")]),
    ways.map(() => [503, true]),
  );
  for (const call of ways) assert.ok((await call()).ok);
});
