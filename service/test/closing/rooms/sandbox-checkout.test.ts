import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openRoomsService } from "./rooms-service.ts";

const running = await forTests(openRoomsService());
type Paid = {
  payBy: string;
  orders: { orderCode: string; totalCents: number; status: string }[];
  totalCents: number;
  firedEvents: string[];
  outcome: string;
};
const path = (room: string) => `/api/partner/sandbox/rooms/${room}/checkout`;

async function closing(...orders: Record<string, string>[]) {
  const firm = await running.partner("ClosingDesk", "Acme Title");
  const room = await firm.room("Ortega closing");
  const codes: string[] = [];
  for (const fields of orders) {
    const orderCode = await firm.order({ svc_sign: "true", ...fields });
    await firm.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
    codes.push(orderCode);
  }
  const statuses = async () =>
    Promise.all(
      codes.map(async (code) => (await firm.ok<{ status: string }>("GET", `/api/partner/orders/${code}`)).status),
    );
  return { firm, room, codes, statuses };
}

test("one simulated payment pays all payable test orders of a room, and each fires its event", async () => {
  const { firm, room, codes, statuses } = await closing({}, {}, {});
  const paid = await firm.ok<Paid>("POST", path(room));
  assert.deepEqual(
    paid.orders.map(({ orderCode }) => orderCode),
    codes,
  );
  assert.equal(
    paid.totalCents,
    paid.orders.reduce((sum, { totalCents }) => sum + totalCents, 0),
  );
  assert.deepEqual([paid.payBy, paid.outcome], ["client", "success"]);
  assert.deepEqual(paid.firedEvents, ["payment.cleared", "payment.cleared", "payment.cleared"]);
  assert.deepEqual(await statuses(), ["EsignPending", "EsignPending", "EsignPending"]);
  const again = await firm.ok<Paid>("POST", path(room), { outcome: "success" });
  assert.deepEqual([again.firedEvents, again.orders.length], [[], 3], "a replay fires nothing");
});

for (const [outcome, status] of [
  ["decline", "PaymentFailed"],
  ["cancel", "AwaitingPayment"],
  ["delayed", "AwaitingPayment"],
] as const)
  test(`a payment that ends as ${outcome} moves all orders alike, and the room can be paid afterwards`, async () => {
    const { firm, room, statuses } = await closing({}, {});
    const failed = await firm.ok<Paid>("POST", path(room), { outcome });
    assert.deepEqual(failed.firedEvents, []);
    assert.deepEqual(await statuses(), [status, status]);
    await firm.ok<Paid>("POST", path(room));
    assert.deepEqual(await statuses(), ["EsignPending", "EsignPending"]);
  });

test("pays only what is not paid, and never another firm's order", async () => {
  const { firm, room, codes } = await closing({}, {});
  const other = await running.partner("ClosingDesk", "Other Title");
  const foreign = await other.order({ svc_sign: "true" });
  await firm.ok("POST", `/api/rooms/${room}/orders`, { orderCode: foreign });
  await firm.ok("POST", `/api/partner/sandbox/orders/${codes[0]}/checkout`);
  const paid = await firm.ok<Paid>("POST", path(room));
  assert.deepEqual(
    paid.orders.map(({ orderCode }) => orderCode),
    [codes[1]],
  );
  assert.equal((await other.ok<{ status: string }>("GET", `/api/partner/orders/${foreign}`)).status, "QuoteReady");
});

test("a repeated payment of the client's orders pays none of the firm's, which pay_by pays", async () => {
  const { firm, room, statuses } = await closing({ pay_by: "firm" }, {});
  for (let twice = 0; twice < 2; twice++) {
    assert.equal((await firm.ok<Paid>("POST", path(room))).payBy, "client");
    assert.deepEqual(await statuses(), ["QuoteReady", "EsignPending"]);
  }
  assert.equal((await firm.ok<Paid>("POST", path(room), { pay_by: "firm" })).payBy, "firm");
  assert.deepEqual(await statuses(), ["EsignPending", "EsignPending"]);
});

test("pays the firm's orders of a room without orders of a client, and names a payer who pays none", async () => {
  const { firm, room, statuses } = await closing({ pay_by: "firm" });
  assert.match(
    await firm.refused(409, "POST", path(room), { pay_by: "client" }),
    /No order of this room is paid by a client/,
  );
  assert.equal(await firm.refused(400, "POST", path(room), { pay_by: "notary" }), "pay_by must be client or firm.");
  assert.deepEqual(await statuses(), ["QuoteReady"]);
  assert.equal((await firm.ok<Paid>("POST", path(room))).payBy, "firm");
  assert.deepEqual(await statuses(), ["EsignPending"]);
});

test("ten payments at once pay each order once", async () => {
  const { firm, room, statuses } = await closing({}, {}, {});
  const answers = await Promise.all(Array.from({ length: 10 }, () => firm.ok<Paid>("POST", path(room))));
  assert.equal(answers.flatMap(({ firedEvents }) => firedEvents).length, 3);
  assert.deepEqual(await statuses(), ["EsignPending", "EsignPending", "EsignPending"]);
});

test("refuses an unknown room, another firm's room, an empty room, an unknown outcome, and live", async () => {
  const { firm, room } = await closing({});
  const other = await running.partner("ClosingDesk", "Other Title");
  const empty = await firm.room("Empty");
  assert.equal(await firm.refused(404, "POST", path("f".repeat(40))), "Room not found.");
  assert.equal(await other.refused(404, "POST", path(room)), "Room not found.");
  assert.equal(await firm.refused(409, "POST", path(empty)), "No order of this room is payable.");
  assert.match(await firm.refused(400, "POST", path(room), { outcome: "maybe" }), /^outcome must be success, decline/);
  await running.service.cli("partner", "set", firm.partnerId, "--live", "on");
  const live = await firm.withKey("live");
  const liveRoom = await live.room("Live closing");
  assert.equal(await live.refused(409, "POST", path(liveRoom)), "The sandbox takes test orders only.");
});
