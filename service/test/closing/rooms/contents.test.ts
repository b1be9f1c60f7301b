import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { oddCodes, openRoomsService, unknownCode } from "./rooms-service.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk");
const other = await running.partner("ClosingDesk", "Other Title");

const actions = async (roomCode: string) => (await running.audit(roomCode)).map(({ action }) => action);

describe("attaching and detaching", () => {
  test("attaches by the order's code alone, once, and keeps the first label", async () => {
    const room = await acme.room();
    const orderCode = await other.order();
    const attach = (label?: string) => acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode, label });
    assert.deepEqual(await attach("Deed"), { ok: true, alreadyAttached: false });
    const { updatedAt } = await running.view(room);
    assert.deepEqual(await attach("Other"), { ok: true, alreadyAttached: true });
    const view = await running.view(room);
    assert.deepEqual(
      view.orders.map((card) => [card.orderCode, card.label]),
      [[orderCode, "Deed"]],
    );
    assert.equal(view.updatedAt, updatedAt);
    assert.deepEqual(await actions(room), ["room.created", "room.order_attached"]);
    const events = await running.db.query(sql`
      SELECT topic, event_id AS "event_id@event", subject AS "subject@event", events.environment, events.partner_id, r.code AS "code@room"
      FROM events JOIN rooms r ON r.id = room_id
      WHERE ${isSealed(sql`subject`, "event", orderCode)}`);
    assert.deepEqual(events, [
      {
        topic: "room.order_attached",
        event_id: `room.order_attached:${room}:${orderCode}`,
        subject: orderCode,
        environment: "test",
        partner_id: acme.partnerId,
        code: room,
      },
    ]);
  });

  test("refuses an orderCode outside 24-64 characters before it looks up the room", async () => {
    for (const orderCode of [undefined, null, 7, "", "0".repeat(23), "0".repeat(65), ["0".repeat(40)]])
      assert.equal(
        await acme.refused(400, "POST", `/api/rooms/${unknownCode}/orders`, { orderCode }),
        "A valid orderCode is required.",
      );
  });

  test("refuses an unknown order of any form, and the room before the order", async () => {
    const room = await acme.room();
    for (const orderCode of [unknownCode, "0".repeat(24), "0".repeat(64), "\u0000".repeat(40), "F".repeat(40)])
      assert.equal(await acme.refused(404, "POST", `/api/rooms/${room}/orders`, { orderCode }), "Order not found.");
    assert.equal(
      await acme.refused(404, "POST", `/api/rooms/${unknownCode}/orders`, { orderCode: unknownCode }),
      "Room not found.",
    );
    assert.deepEqual(await actions(room), ["room.created"]);
  });

  test("refuses a label over 200 characters", async () => {
    const room = await acme.room();
    const body = { orderCode: unknownCode, label: "x".repeat(201) };
    assert.equal(
      await acme.refused(400, "POST", `/api/rooms/${room}/orders`, body),
      "label must be text of at most 200 characters.",
    );
  });

  test("detaches an order once, and accepts it again later, at the end", async () => {
    const room = await acme.room();
    const [first, second] = [await acme.order(), await acme.order()];
    for (const orderCode of [first, second]) await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
    assert.deepEqual(await acme.ok("DELETE", `/api/rooms/${room}/orders/${first}`), { ok: true });
    assert.equal(
      await acme.refused(404, "DELETE", `/api/rooms/${room}/orders/${first}`),
      "That order is not in this room.",
    );
    const left = await running.view(room);
    assert.deepEqual(
      left.orders.map(({ orderCode }) => orderCode),
      [second],
    );
    assert.ok(left.activity.every(({ orderCode }) => orderCode === second));
    assert.deepEqual(await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: first }), {
      ok: true,
      alreadyAttached: false,
    });
    assert.deepEqual(
      (await running.view(room)).orders.map(({ orderCode }) => orderCode),
      [second, first],
    );
    assert.equal((await actions(room)).filter((action) => action === "room.order_detached").length, 1);
  });

  test("distinguishes an unknown room, an unknown order and an order elsewhere when detaching", async () => {
    const room = await acme.room();
    const order = await acme.order();
    assert.equal(await acme.refused(404, "DELETE", `/api/rooms/${unknownCode}/orders/${order}`), "Room not found.");
    for (const code of [unknownCode, ...oddCodes])
      assert.equal(await acme.refused(404, "DELETE", `/api/rooms/${room}/orders/${code}`), "Order not found.");
    assert.equal(
      await acme.refused(404, "DELETE", `/api/rooms/${room}/orders/${order}`),
      "That order is not in this room.",
    );
  });
});

test("an order is in at most 100 rooms of other firms; its own firm may always attach it", async () => {
  const orderCode = await other.order();
  await running.db.query(sql`
    WITH made AS (
      INSERT INTO rooms (id, code, partner_id, environment, name, status, created_at, updated_at)
      SELECT gen_random_uuid(), 'c1.' || n, ${acme.partnerId}, 'test', 'Room', 'closed',
        now(), now() FROM generate_series(1, 99) AS n RETURNING id)
    INSERT INTO room_orders (room_id, order_id, attached_at)
    SELECT made.id, orders.id, now() FROM made, orders WHERE ${isSealed(sql`orders.code`, "order", orderCode)}`);
  const attach = async () => ["POST", `/api/rooms/${await acme.room()}/orders`, { orderCode }] as const;
  await acme.ok(...(await attach()));
  assert.equal(await acme.refused(400, ...(await attach())), "An order is in at most 100 rooms of other firms.");
  await other.ok("POST", `/api/rooms/${await other.room()}/orders`, { orderCode });
});

describe("participants", () => {
  const jane = { name: " Jane Roe ", email: "Jane.Roe@Example.com" };

  test("are added once per email, and can leave", async () => {
    const room = await acme.room();
    const path = `/api/rooms/${room}/participants`;
    assert.deepEqual(await acme.ok("POST", path, jane), { ok: true, alreadyPresent: false });
    assert.deepEqual(await acme.ok("POST", path, { name: "J.", email: "jane.roe@example.COM" }), {
      ok: true,
      alreadyPresent: true,
    });
    await acme.ok("POST", path, { name: "Lena", email: "lena@lender.example", role: "lender" });
    const { participants } = await acme.ok<{ participants: Record<string, string>[] }>("GET", path);
    assert.deepEqual(
      participants.map(({ name, email, role }) => ({ name, email, role })),
      [
        { name: "Jane Roe", email: "jane.roe@example.com", role: "client" },
        { name: "Lena", email: "lena@lender.example", role: "lender" },
      ],
    );
    assert.deepEqual((await running.view(room)).participants, [
      { name: "Jane Roe", email: "j***@example.com", role: "client" },
      { name: "Lena", email: "l***@lender.example", role: "lender" },
    ]);
    const id = participants[0]?.["participantId"];
    assert.deepEqual(await acme.ok("DELETE", `${path}/${id}`), { ok: true });
    assert.equal(await acme.refused(404, "DELETE", `${path}/${id}`), "That participant is not in this room.");
    assert.equal((await running.view(room)).participants.length, 1);
    assert.deepEqual(await acme.ok("POST", path, jane), { ok: true, alreadyPresent: false });
    const [history] = await running.db.query(sql`
      SELECT count(*)::int AS rows FROM room_participants WHERE email = ${"jane.roe@example.com"}`);
    assert.deepEqual(history, { rows: 2 });
    assert.deepEqual(await actions(room), [
      "room.created",
      "room.participant_added",
      "room.participant_added",
      "room.participant_removed",
      "room.participant_added",
    ]);
  });

  test("refuses a participant without a name", async () => {
    const path = `/api/rooms/${await acme.room()}/participants`;
    for (const name of [undefined, "", "x".repeat(201), 1])
      assert.equal(
        await acme.refused(400, "POST", path, { ...jane, name }),
        "A participant name (1-200 chars) is required.",
      );
    for (const email of [undefined, "", "jane", "a@b", "a b@example.com", `${"x".repeat(309)}@example.com`, 1])
      assert.equal(
        await acme.refused(400, "POST", path, { ...jane, email }),
        "A valid participant email (at most 320 chars) is required.",
      );
    await acme.ok("POST", path, { ...jane, email: `${"x".repeat(308)}@example.com` });
    assert.equal(
      await acme.refused(400, "POST", path, { ...jane, role: "x".repeat(41) }),
      "role must be text of at most 40 characters.",
    );
  });

  test("finds no participant by an invalid id or in another room", async () => {
    const room = await acme.room();
    for (const id of [...oddCodes, "00000000-0000-4000-8000-000000000000"])
      assert.equal(
        await acme.refused(404, "DELETE", `/api/rooms/${room}/participants/${id}`),
        "That participant is not in this room.",
      );
    const elsewhere = `/api/rooms/${await acme.room()}/participants`;
    await acme.ok("POST", elsewhere, jane);
    const { participants } = await acme.ok<{ participants: { participantId: string }[] }>("GET", elsewhere);
    await acme.refused(404, "DELETE", `/api/rooms/${room}/participants/${participants[0]?.participantId}`);
  });
});
