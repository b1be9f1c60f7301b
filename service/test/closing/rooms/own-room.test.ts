import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { authenticate, markDeleted } from "@signsealship/testing/row-mac";
import { insertDelivery } from "../../../src/closing/deliveries/store.ts";
import { dueOfRoom, lastChanges, ownRoom } from "../../../src/closing/rooms/rooms.ts";
import { viewStatement } from "../../../src/closing/rooms/view/store.ts";
import type { Principal } from "../../../src/kernel/identity/identity.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../../src/kernel/platform/database/state-mac.ts";
import { newUuid } from "../../../src/kernel/platform/ids.ts";
import { refusalOf } from "../../../src/orders/payments/checkout/refusals.ts";
import { refusalsOf, supplementState } from "../../../src/orders/payments/payments.ts";
import { explain } from "../../explain.ts";
import { asMember } from "./members.ts";
import { openRoomsService } from "./rooms-service.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk");
const other = await running.partner();

const read = (principal: Principal, room: string) => ownRoom(running, principal, room);
const notarySupply = { gapOf: async () => null, refuses: false };
const due = async (room: string) =>
  dueOfRoom({ db: running.db, notarySupply }, await read(asMember(acme), room), ["client", "firm"]);

test("the owner sees the public view, full emails, and which orders are the owner's", async () => {
  const room = await acme.room();
  const [own, foreign] = [await acme.order(), await other.order()];
  for (const orderCode of [own, foreign]) await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  await acme.ok("POST", `/api/rooms/${room}/participants`, { name: "Jane", email: "jane@example.com" });
  const { id, versions, participants, ownOrders, firmMethod, charges, closesOn, sealWish, altered, ...view } =
    await read(asMember(acme), room);
  assert.deepEqual([firmMethod, charges, closesOn, sealWish, altered], [null, [], null, null, []]);
  const { participants: masked, ...seenByAll } = await running.view(room);
  assert.deepEqual(view, seenByAll);
  assert.deepEqual([...ownOrders.keys()], [own]);
  assert.deepEqual(versions, []);
  assert.match(id, /^[0-9a-f-]{36}$/);
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

test("each payer can pay the own orders that are not paid, and supplements; an altered supplement is refused", async () => {
  const [clients, firms, paid] = [await acme.order(), await acme.order({ pay_by: "firm" }), await acme.order()];
  const room = await acme.room();
  for (const orderCode of [clients, firms, paid, await other.order()])
    await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  await running.setStatus(paid, "ShippingPending");
  const sums = async () => {
    const { client, firm } = await due(room);
    return [client, firm];
  };
  const { ownOrders } = await read(asMember(acme), room);
  const total = (code: string) => ownOrders.get(code)?.totalCents;
  assert.deepEqual(await sums(), [[total(clients)], [total(firms)]]);
  await running.db.transaction(async (tx) => {
    await tx.query(sql`
      INSERT INTO supplements (order_id, amount_cents, label, state, asked_at, changed_at)
      VALUES (${ownOrders.get(paid)?.id}, 250, 'Postage', 'asked', now(), now())`);
    await writeStateMacs(tx, supplementState, sql`true`);
  });
  assert.deepEqual(await sums(), [[total(clients), 250], [total(firms)]]);
  assert.equal((await due(room)).chargeableCents, total(firms));
  await running.db.query(sql`UPDATE supplements SET row_mac = NULL`);
  await assert.rejects(sums(), { code: "unavailable" });
});

test("what a bank took back is part of the firm's checkout, and not of its charge", async () => {
  const [taken, open] = [await acme.order({ pay_by: "firm" }), await acme.order({ pay_by: "firm" })];
  const room = await acme.room();
  for (const orderCode of [taken, open]) await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  await running.setStatus(taken, "Completed");
  const { ownOrders } = await read(asMember(acme), room);
  await running.db.transaction(async (tx) => {
    await tx.query(sql`
      INSERT INTO supplements (order_id, amount_cents, label, replaces_loss, state, asked_at, changed_at)
      VALUES (${ownOrders.get(taken)?.id}, 20000, 'Price', true, 'asked', now(), now())`);
    await writeStateMacs(tx, supplementState, sql`order_id = ${ownOrders.get(taken)?.id}`);
  });
  const { firm, chargeableCents } = await due(room);
  const total = ownOrders.get(open)?.totalCents;
  assert.deepEqual([firm, chargeableCents], [[20000, total], total]);
});

test("the sums of the room leave out what no checkout would take: a disputed payment, and a deleted document", async () => {
  const [disputed, deleted, banked, open] = [
    await acme.order({ pay_by: "firm" }),
    await acme.order(),
    await acme.order(),
    await acme.order({ pay_by: "firm" }),
  ];
  const room = await acme.room();
  for (const orderCode of [disputed, deleted, banked, open])
    await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  await running.setStatus(disputed, "Completed");
  const { ownOrders } = await read(asMember(acme), room);
  const [id, bankedId] = [ownOrders.get(disputed)?.id, ownOrders.get(banked)?.id];
  const now = new Date();
  await running.db.query(sql`
    INSERT INTO supplements (order_id, amount_cents, label, replaces_loss, state, asked_at, changed_at)
    VALUES (${id}, 20000, 'Price', true, 'asked', ${now}, ${now})`);
  await running.db.query(sql`
    INSERT INTO payments (order_id, payment_intent, session_id, amount_cents, currency, simulated, received_at)
    VALUES (${id}, 'pi_room', 'cs_room', 20000, 'usd', false, ${now})`);
  await running.db.query(sql`
    INSERT INTO disputes (id, payment_intent, amount_cents, currency, state, event_at, seen_at, changed_at)
    VALUES ('dp_room', 'pi_room', 20000, 'usd', 'opened', ${now}, ${now}, ${now})`);
  await running.db.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, created_at, expires_at)
    VALUES (${newUuid()}, ${bankedId}, 'pending_funds', 100, 'usd', ${now}, ${now})`);
  for (const table of ["supplements", "payments", "disputes", "checkout_sessions"]) await authenticate(running, table);
  await markDeleted(running, deleted, "documents");
  const total = ownOrders.get(open)?.totalCents;
  assert.deepEqual(await due(room), { client: [], firm: [total], chargeableCents: total });
});

test("an altered record about one order's payment removes only that order from the sums of its room", async () => {
  const [altered, other] = [await acme.order(), await acme.order()];
  const room = await acme.room();
  for (const orderCode of [altered, other]) await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  const { ownOrders } = await read(asMember(acme), room);
  const now = new Date();
  await running.db.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, created_at, expires_at)
    VALUES (${newUuid()}, ${ownOrders.get(altered)?.id}, 'pending_funds', 100, 'usd', ${now}, ${now})`);
  assert.deepEqual((await due(room)).client, [ownOrders.get(other)?.totalCents]);
  const refusals = await refusalsOf(
    running.db,
    notarySupply,
    [...ownOrders.values()].map(({ id }) => id),
  );
  assert.deepEqual(
    [...refusals].map(([id, { kind }]) => [id, kind]),
    [[ownOrders.get(altered)?.id, "altered"]],
  );
  await assert.rejects(refusalOf(running.db, notarySupply, { id: ownOrders.get(altered)?.id ?? 0 }), {
    code: "unavailable",
  });
});

test("the owner's room is read only by indexes", async () => {
  const statement = viewStatement(await acme.room(), asMember(acme));
  const plan = await explain(running.db, statement, { settings: "SET LOCAL enable_seqscan = off" });
  assert.deepEqual(
    plan.filter((node) => node["Node Type"] === "Seq Scan"),
    [],
  );
});

test("the last change of a room is also a correction of an order in it, and a delivery", async () => {
  const [room, orderCode] = [await acme.room(), await acme.order()];
  await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  const last = async () => (await lastChanges(running.db, asMember(acme), [room])).get(room)?.toISOString() ?? "";
  const { id, updatedAt } = await read(asMember(acme), room);
  assert.equal(await last(), updatedAt);
  const correct = (email: string) => acme.ok<object>("POST", `/api/partner/orders/${orderCode}/corrections`, { email });
  await correct("right@example.com");
  const corrected = await last();
  assert.ok(corrected > updatedAt);
  const createdAt = new Date(Date.now() + 3_600_000);
  const delivery = { id: newUuid(), roomId: id, recipientName: "Lena", recipientEmail: "lena@example.com" };
  const more = {
    files: [{ orderId: 1, kind: "sealed", sha256: "0" }],
    sentBy: "member:test",
    createdAt,
    expiresAt: new Date(createdAt.getTime() + 1),
    asksCode: false,
    certificateSha256: null,
  };
  await running.db.transaction((tx) => insertDelivery(tx, { ...delivery, ...more }));
  assert.equal(await last(), createdAt.toISOString());
  assert.equal((await lastChanges(running.db, asMember(other), [room])).size, 0);
});

test("an address is corrected also in a room without an order of the firm", async () => {
  const [room, orderCode] = [await acme.room(), await other.order()];
  await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  const people = `/api/rooms/${room}/participants`;
  await acme.ok("POST", people, { name: "Lena Lender", email: "lena@wrong.example" });
  const move = { from: "lena@wrong.example", to: "lena@right.example" };
  const done = await acme.ok<Record<string, unknown>>("POST", `/api/rooms/${room}/corrections`, move);
  assert.deepEqual([done["corrected"], done["notCorrected"], done["linksNotMailed"]], [[], [], false]);
  const { participants } = await acme.ok<{ participants: { email: string }[] }>("GET", people);
  assert.deepEqual(
    participants.map(({ email }) => email),
    [move.to],
  );
  assert.equal((await acme.call("POST", `/api/rooms/${room}/corrections`, move)).status, 409, "nobody has it now");
});
