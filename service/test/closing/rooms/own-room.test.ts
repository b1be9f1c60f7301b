import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Principal } from "../../src/identity/identity.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { ownOrdersStatement } from "../../src/rooms/attachments/store.ts";
import { ownRoom } from "../../src/rooms/rooms.ts";
import { explain } from "../explain.ts";
import { asMember } from "./members.ts";
import { type Client, openRoomsService, type RoomsService } from "./rooms-service.ts";

let running: RoomsService;
let acme: Client;
let other: Client;

before(async () => {
  running = await openRoomsService();
  acme = await running.partner();
  other = await running.partner();
});
after(() => running.close());

const read = (principal: Principal, room: string) => ownRoom({ db: running.db, clock: systemClock }, principal, room);

test("the owner sees what everybody sees, and besides emails in full and which orders are its own", async () => {
  const room = await acme.room();
  const [own, foreign] = [await acme.order(), await other.order()];
  for (const orderCode of [own, foreign]) await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  await acme.ok("POST", `/api/rooms/${room}/participants`, { name: "Jane", email: "jane@example.com" });
  const { participants, ownOrders, ...view } = await read(asMember(acme), room);
  const { participants: masked, ...seenByAll } = await running.view(room);
  assert.deepEqual(view, seenByAll);
  assert.deepEqual([...ownOrders.keys()], [own]);
  assert.deepEqual([masked[0]?.email, participants[0]?.email], ["j***@example.com", "jane@example.com"]);
});

test("anyone else who has the code is no owner: another firm, the other environment, and a code that was replaced", async () => {
  const room = await acme.room();
  const notFound = { code: "not_found", message: "Room not found." };
  await assert.rejects(read(asMember(other), room), notFound);
  await assert.rejects(read(asMember(acme, "live"), room), notFound);
  const { roomCode } = await acme.ok<{ roomCode: string }>("POST", `/api/rooms/${room}/rotate`);
  await assert.rejects(read(asMember(acme), room), notFound);
  assert.equal((await read(asMember(acme), roomCode)).roomCode, roomCode);
  for (const code of ["", "\0", "f".repeat(40)]) await assert.rejects(read(asMember(acme), code), notFound);
});

test("a room's own orders are found by indexes alone", async () => {
  const statement = ownOrdersStatement(await acme.room(), asMember(acme));
  const plan = await explain(running.db, statement, { settings: "SET LOCAL enable_seqscan = off" });
  assert.deepEqual(
    plan.filter((node) => node["Node Type"] === "Seq Scan"),
    [],
  );
});
