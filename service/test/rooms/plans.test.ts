import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { roomListStatement } from "../../src/rooms/store.ts";
import { versionStatement, viewStatement } from "../../src/rooms/view/store.ts";
import { type Client, openRoomsService, type RoomsService } from "./rooms-service.ts";

let running: RoomsService;
let acme: Client;
let room: string;

before(async () => {
  running = await openRoomsService();
  acme = await running.partner("ClosingDesk");
  room = await acme.room();
  await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: await acme.order() });
});
after(() => running.close());

/** The plan where scans of whole tables are forbidden: one that shows up all the same misses its index. */
async function plan({ text, values }: { text: string; values: unknown[] }): Promise<string> {
  return running.db.transaction(async (tx) => {
    await tx.script("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off");
    const lines = await tx.rows<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, values);
    return lines.map((line) => line["QUERY PLAN"]).join("\n");
  });
}

test("a room's version and its whole view are read by indexes alone", async () => {
  for (const statement of [versionStatement(room), viewStatement(room)]) {
    const found = await plan(statement);
    assert.doesNotMatch(found, /Seq Scan/);
    assert.match(found, /using rooms_code_key/);
  }
});

test("the activity of an order comes from its own index in its order", async () => {
  const found = await plan(viewStatement(room));
  assert.equal(found.match(/Index (?:Only )?Scan using audit_log_activity/g)?.length, 2, found);
});

test("a page of rooms comes from its index in its order", async () => {
  const owner = { partnerId: acme.partnerId, environment: "test" } as const;
  const { rooms } = await acme.ok<{ rooms: unknown[] }>("GET", "/api/rooms");
  assert.equal(rooms.length, 1);
  const [first] = await running.db.rows<{ id: string }>("SELECT id FROM rooms");
  for (const after of [null, first?.id ?? ""]) {
    const found = await plan(roomListStatement(owner, 100, after));
    assert.match(found, /using rooms_newest/);
    assert.doesNotMatch(found, /Sort/);
  }
});

test("a change of an order finds the rooms that hold it by an index", async () => {
  const text = "SELECT room_id FROM room_orders WHERE order_id = $1";
  assert.match(await plan({ text, values: [1] }), /using room_orders_of_order/);
});
