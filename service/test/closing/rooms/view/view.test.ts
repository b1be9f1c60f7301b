import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { changeFirm } from "@signsealship/testing/row-mac";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openRoomsService } from "../rooms-service.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk");

async function roomWith(...orders: string[]): Promise<string> {
  const room = await acme.room();
  for (const orderCode of orders) await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  return room;
}

const cards = async (room: string) => (await running.view(room)).orders;
const addDocument = (orderCode: string, kind: string) =>
  running.db.query(sql`
    INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at)
    SELECT id, ${kind}, repeat('a', 64), 1, 'b', now() FROM orders WHERE ${isSealed(sql`code`, "order", orderCode)}`);
const addAudit = (orderCode: string, action: string, at: string) =>
  running.db.query(sql`
    INSERT INTO audit_log (occurred_at, action, actor, order_id, from_status, to_status, detail)
    SELECT ${at}, ${action}, 'key:secret', id, 'A', 'B', '{"recipient": "secret"}'
    FROM orders
    WHERE ${isSealed(sql`code`, "order", orderCode)}`);

describe("a room's view", () => {
  test("has the contract's fields and no other", async () => {
    const order = await acme.order({ svc_sign: "true", name: "Dora Client", email: "dora@example.com" });
    const room = await roomWith(order);
    const view = await running.view(room);
    assert.deepEqual(Object.keys(view), [
      "roomCode",
      "name",
      "reference",
      "status",
      "partnerName",
      "branding",
      "progress",
      "orders",
      "activity",
      "passport",
      "participants",
      "createdAt",
      "updatedAt",
    ]);
    const { attachedAt, ...card } = view.orders[0] ?? { attachedAt: "" };
    assert.equal(new Date(attachedAt).toISOString(), attachedAt);
    assert.deepEqual(card, {
      orderCode: order,
      label: null,
      status: "QuoteReady",
      statusGroup: "open",
      services: { sign: true, notarize: false, ship: false, fax: false },
      signers: [{ name: "Dora Client", email: "d***@example.com", routingOrder: 1, signed: false }],
      evidenceBadge: "none",
      verifyCode: null,
      trackingNumber: null,
      carrier: null,
    });
    assert.deepEqual(Object.keys(view.activity[0] ?? {}), [
      "orderCode",
      "action",
      "fromStatus",
      "toStatus",
      "occurredAt",
    ]);
    assert.deepEqual([view.roomCode, view.partnerName, view.branding, view.passport], [room, "Acme Title", null, null]);
  });

  test("reveals nothing about people except masked emails and the signers' names", async () => {
    const order = await acme.order({
      svc_sign: "true",
      email: "dora.client@example.com",
      external_reference: "SECRET-REF",
    });
    const room = await roomWith(order);
    await acme.ok("POST", `/api/rooms/${room}/participants`, { name: "Paul", email: "paul.person@example.com" });
    await addAudit(order, "signing_link.issued", "2026-01-01T00:00:00Z");
    const text = await (await fetch(`${running.service.baseUrl}/api/rooms/${room}`)).text();
    for (const secret of ["dora.client", "paul.person", "SECRET-REF", "secret", acme.partnerId, acme.keyId])
      assert.ok(!text.includes(secret), secret);
  });

  test("shows the cards in the order of attachment", async () => {
    const orders = [await acme.order(), await acme.order(), await acme.order()].reverse();
    assert.deepEqual(
      (await cards(await roomWith(...orders))).map(({ orderCode }) => orderCode),
      orders,
    );
  });

  test("shows a status as soon as it is committed, with its group, and an unknown one as open", async () => {
    const order = await acme.order();
    const room = await roomWith(order);
    for (const [status, group] of [
      ["EsignPending", "signing"],
      ["FaxSent", "shipped"],
      ["Completed", "complete"],
      ["IdentityLocked", "attention"],
      ["Teleported", "open"],
      ["constructor", "open"],
    ] as const) {
      await running.setStatus(order, status);
      const [card] = await cards(room);
      assert.deepEqual([card?.status, card?.statusGroup], [status, group]);
    }
  });

  test("counts progress from the cards, with orders without signers counted separately", async () => {
    const signing = { svc_sign: "true" };
    const orders = [await acme.order(signing), await acme.order(signing), await acme.order(), await acme.order()];
    const room = await roomWith(...orders);
    assert.deepEqual((await running.view(room)).progress, { total: 4, signed: 0, sealed: 0, delivered: 0 });
    const [first = "", second = "", third = "", fourth = ""] = orders;
    await running.setStatus(first, "EsignComplete", sql`, envelope_status = 'Completed'`);
    await running.setStatus(second, "EsignPending", sql`, envelope_status = 'PartiallySigned'`);
    await running.setStatus(third, "Delivered", sql`, envelope_status = 'Completed'`);
    await running.setStatus(fourth, "Completed");
    await addDocument(first, "sealed");
    await addDocument(second, "notarized");
    await addDocument(third, "custody_certificate");
    assert.deepEqual((await running.view(room)).progress, { total: 4, signed: 1, sealed: 2, delivered: 2 });
  });

  test("marks an order as sealed by its artifact and recorded by its payment, and as neither before", async () => {
    const order = await acme.order();
    const room = await roomWith(order);
    const badge = async () => (await cards(room))[0]?.evidenceBadge;
    assert.equal(await badge(), "none");
    await running.setStatus(order, "OnHold", sql`, status_before_hold = 'AwaitingPayment'`);
    assert.equal(await badge(), "none");
    await running.setStatus(order, "OnHold", sql`, status_before_hold = 'ShippingPending'`);
    assert.equal(await badge(), "recorded");
    await running.setStatus(order, "Refunded");
    assert.equal(await badge(), "recorded");
    await addDocument(order, "sealed");
    assert.equal(await badge(), "sealed");
  });

  test("has the partner's branding as soon as it is set", async () => {
    const partner = await running.partner("trial", "Brand Title");
    const room = await partner.room();
    assert.equal((await running.view(room)).branding, null);
    await running.service.cli("partner", "set", partner.partnerId, "--accent", "#1A2B3C");
    assert.deepEqual((await running.view(room)).branding, { brandName: null, accentColor: "#1a2b3c", logoUrl: null });
    await changeFirm(
      running.db,
      partner.partnerId,
      sql`name = 'New Name', brand_name = 'Brand', logo_url = 'https://brand.example/l.svg'`,
    );
    const { branding, partnerName } = await running.view(room);
    assert.equal(partnerName, "New Name");
    assert.deepEqual(branding, { brandName: "Brand", accentColor: "#1a2b3c", logoUrl: "https://brand.example/l.svg" });
  });
});

describe("a room's activity", () => {
  test("consists of the six actions of its orders, newest first, and at most 100", async () => {
    const [first, second] = [await acme.order(), await acme.order()];
    const room = await roomWith(first, second);
    for (const action of ["order.viewed", "payment.recorded", "room.order_detached", "order.note"])
      await addAudit(first, action, "2100-01-01T00:00:00Z");
    for (let n = 0; n < 60; n++) {
      const minute = String(n).padStart(2, "0");
      await addAudit(first, "order.transition", `2099-01-01T00:${minute}:00Z`);
      await addAudit(second, "order.claimed", `2099-01-01T00:${minute}:30Z`);
    }
    await addAudit(first, "order.cancelled", "2099-01-01T02:00:00Z");
    await addAudit(second, "signing_link.issued", "2099-01-01T02:00:00Z");
    const { activity } = await running.view(room);
    assert.equal(activity.length, 100);
    assert.deepEqual(activity.slice(0, 4), [
      {
        orderCode: second,
        action: "signing_link.issued",
        fromStatus: "A",
        toStatus: "B",
        occurredAt: "2099-01-01T02:00:00.000Z",
      },
      {
        orderCode: first,
        action: "order.cancelled",
        fromStatus: "A",
        toStatus: "B",
        occurredAt: "2099-01-01T02:00:00.000Z",
      },
      {
        orderCode: second,
        action: "order.claimed",
        fromStatus: "A",
        toStatus: "B",
        occurredAt: "2099-01-01T00:59:30.000Z",
      },
      {
        orderCode: first,
        action: "order.transition",
        fromStatus: "A",
        toStatus: "B",
        occurredAt: "2099-01-01T00:59:00.000Z",
      },
    ]);
    const times = activity.map(({ occurredAt }) => occurredAt);
    assert.deepEqual(times, times.toSorted().reverse());
  });

  test("does not reveal that an order was attached to another room", async () => {
    const order = await acme.order();
    const [room] = [await roomWith(order), await roomWith(order)];
    const attached = (await running.view(room)).activity.filter(({ action }) => action === "room.order_attached");
    assert.equal(attached.length, 1);
  });

  test("begins with an order's creation", async () => {
    const { activity } = await running.view(await roomWith(await acme.order()));
    assert.deepEqual(
      activity.map(({ action, fromStatus, toStatus }) => [action, fromStatus, toStatus]),
      [
        ["room.order_attached", null, null],
        ["order.transition", "Created", "QuoteReady"],
        ["order.created", null, "Created"],
      ],
    );
  });
});
