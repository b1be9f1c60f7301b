import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { ownOrdersStatement } from "../../../src/closing/rooms/attachments/store.ts";
import { ownRoom } from "../../../src/closing/rooms/rooms.ts";
import type { Principal } from "../../../src/kernel/identity/identity.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { explain } from "../../explain.ts";
import { asMember } from "./members.ts";
import { openRoomsService } from "./rooms-service.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner();
const other = await running.partner();

const read = (principal: Principal, room: string) => ownRoom({ ...running, clock: systemClock }, principal, room);

test("the owner sees the public view, full emails, and which orders are the owner's", async () => {
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

test("anyone else with the code is not an owner: another firm, the other environment, and a replaced code", async () => {
  const room = await acme.room();
  const notFound = { code: "not_found", message: "Room not found." };
  await assert.rejects(read(asMember(other), room), notFound);
  await assert.rejects(read(asMember(acme, "live"), room), notFound);
  const { roomCode } = await acme.ok<{ roomCode: string }>("POST", `/api/rooms/${room}/rotate`);
  await assert.rejects(read(asMember(acme), room), notFound);
  assert.equal((await read(asMember(acme), roomCode)).roomCode, roomCode);
  for (const code of ["", "\0", "f".repeat(40)]) await assert.rejects(read(asMember(acme), code), notFound);
});

test("a room's own orders are found only by indexes", async () => {
  const statement = ownOrdersStatement(await acme.room(), asMember(acme));
  const plan = await explain(running.db, statement, { settings: "SET LOCAL enable_seqscan = off" });
  assert.deepEqual(
    plan.filter((node) => node["Node Type"] === "Seq Scan"),
    [],
  );
});
