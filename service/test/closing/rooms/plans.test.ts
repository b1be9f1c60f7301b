import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { roomListStatement } from "../../../src/closing/rooms/store.ts";
import { versionStatement, viewStatement } from "../../../src/closing/rooms/view/store.ts";
import { type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { explain, type PlanNode } from "../../explain.ts";
import { openRoomsService } from "./rooms-service.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk");
const room = await acme.room();
await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: await acme.order() });

/** The plan with sequential scans disabled. If it still contains a sequential scan, an index is missing. */
const plan = (statement: Statement) =>
  explain(running.db, statement, { settings: "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off" });

const isSeqScan = (node: PlanNode) => node["Node Type"] === "Seq Scan";
const scans = (nodes: PlanNode[], index: string) => nodes.filter((node) => node["Index Name"] === index).length;

test("a room's version and its whole view are read only by indexes", async () => {
  for (const statement of [versionStatement(room), viewStatement(room)]) {
    const nodes = await plan(statement);
    assert.deepEqual(nodes.filter(isSeqScan), []);
    assert.ok(scans(nodes, "rooms_code_key") > 0);
  }
});

test("the activity of an order is read from its own index, in order", async () => {
  const nodes = await plan(viewStatement(room));
  assert.equal(scans(nodes, "audit_log_activity"), 2, JSON.stringify(nodes));
});

test("a page of rooms is read from its index, in order", async () => {
  const owner = { partnerId: acme.partnerId, environment: "test" } as const;
  const list = await acme.ok<{ rooms: unknown[] }>("GET", "/api/rooms");
  assert.equal(list.rooms.length, 1);
  const [first] = await running.db.query<{ id: string }>(sql`SELECT id FROM rooms`);
  for (const after of [null, first?.id ?? ""]) {
    const nodes = await plan(roomListStatement(owner, 100, after));
    assert.ok(scans(nodes, "rooms_newest") > 0);
    assert.deepEqual(
      nodes.filter((node) => /Sort/.test(node["Node Type"])),
      [],
    );
  }
});

test("a change of an order finds the rooms that contain it by an index", async () => {
  const nodes = await plan(sql`SELECT room_id FROM room_orders WHERE order_id = ${1}`);
  assert.equal(scans(nodes, "room_orders_of_order"), 1);
});
