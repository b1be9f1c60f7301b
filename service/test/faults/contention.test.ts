import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Service, startService } from "@signsealship/testing/service";
import { type Client, openRoomsService, type RoomsService } from "../rooms/rooms-service.ts";

const rounds = 25;

let running: RoomsService;
let second: Service;
let acme: Client;

before(async () => {
  running = await openRoomsService();
  second = await startService({ DATA_DIR: running.service.dataDir, RATE_LIMITS: "off" });
  acme = await (await running.partner("ClosingDesk")).withKey("test");
});
after(async () => {
  await second.stop();
  await running.close();
});

test("attaching, detaching, steps of orders and seals of the same rooms on two nodes: no request ends in a 5xx", async () => {
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
