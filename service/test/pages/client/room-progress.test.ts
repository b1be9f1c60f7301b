import assert from "node:assert/strict";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { changeOrder } from "@signsealship/testing/row-mac";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "../../firms/members/members-service.ts";
import { newMember, postForm } from "../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());

/** A room with this many orders to sign, and functions that move them. */
async function roomOf(orders: number) {
  const { service, call } = running;
  const { key } = await running.newPartner();
  const member = await newMember(service, running.somebody(), key);
  const { post } = newClient(service.baseUrl, key);
  const { roomCode } = await post("/api/rooms", { name: "12 Elm Street" });
  const codes: string[] = [];
  for (let n = 0; n < orders; n++) {
    const body = orderForm({ ...minimal, svc_sign: "true" });
    const { orderCode } = await post<{ orderCode: string }>("/api/partner/orders", body);
    await post(`/api/rooms/${roomCode}/orders`, { orderCode });
    codes.push(orderCode);
  }
  const own = (code: string, form: string, fields = {}) =>
    postForm(`${service.baseUrl}/dashboard/orders/${code}/${form}`, fields, member.headers);
  const text = async (path: string, more = {}) =>
    ((await call(path, { headers: { ...member.headers, ...more } })).body as string)
      .replace(/<[^>]*>/g, "\n")
      .replace(/\n+/g, "\n");
  return {
    codes,
    complete: (code: string) =>
      post(`/api/partner/sandbox/orders/${code}/checkout`).then(() => own(code, "sandbox/complete")),
    cancel: (code: string) => own(code, "cancel", { reason: "Withdrawn" }),
    progress: async () => (await call(`/api/rooms/${roomCode}`)).body.progress,
    pages: async () => [await text(`/rooms/${roomCode}`), await text(`/dashboard/rooms/${roomCode}`)],
    spanish: () => text(`/rooms/${roomCode}?lang=es`),
  };
}

const meters = (text: string) =>
  /Signed\n(.*)\n[\s\S]*?Sealed\n(.*)\n[\s\S]*?Delivered or complete\n(.*)\n/.exec(text)?.slice(1);

test("a canceled order does not count as awaited on the room's pages; the API's counts stay", async () => {
  const room = await roomOf(3);
  const [done = "", gone = ""] = room.codes;
  for (const page of await room.pages()) {
    assert.ok(page.includes("\n3 orders in this room\n"));
    assert.deepEqual(meters(page), ["0 of 3", "0 of 3", "0 of 3"]);
  }
  await room.complete(done);
  await room.cancel(gone);
  assert.deepEqual(await room.progress(), { total: 3, signed: 1, sealed: 1, delivered: 1 });
  for (const page of await room.pages()) {
    assert.ok(page.includes("\n3 orders in this room, 1 canceled or refunded\n"));
    assert.deepEqual(meters(page), ["1 of 2", "1 of 2", "1 of 2"]);
  }
  assert.ok((await room.spanish()).includes("\n3 pedidos en esta sala, 1 cancelado o reembolsado\n"));
});

test("an order that was refunded after signing counts as signed, and is not awaited", async () => {
  const room = await roomOf(2);
  const [signed = "", gone = ""] = room.codes;
  await room.complete(signed);
  await changeOrder(running.db, signed, sql`status = 'Refunded'`);
  await room.cancel(gone);
  assert.deepEqual(await room.progress(), { total: 2, signed: 1, sealed: 1, delivered: 0 });
  for (const page of await room.pages()) {
    assert.ok(page.includes("\n2 orders in this room, 2 canceled or refunded\n"));
    assert.deepEqual(meters(page), ["1 of 1", "1 of 1", "None needed"]);
  }
});
