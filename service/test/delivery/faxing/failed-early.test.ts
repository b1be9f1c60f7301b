import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { until } from "@signsealship/testing/until";
import { certificateStates, sendClosings } from "../../../src/closing/rooms/rooms.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { mailOrderUpdates } from "../../../src/orders/fulfilment/fulfilment.ts";
import { giveLiveAccess, mailsTo, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { openFaxWorld } from "./fax-world.ts";

const world = await forTests(openFaxWorld());
const { db } = world;
const { service } = world.harness;
const email = "dana@acme.example";
const { headers, linked } = await newMember(service, email, world.key);
await giveLiveAccess(service, linked.partner.id);
await postForm(`${service.baseUrl}/dashboard/environment`, { environment: "live" }, headers);

const page = async (path: string) =>
  (await fetch(service.baseUrl + path, { headers: { ...headers, Accept: "text/html" } })).text();
const call = async (path: string, body: object) => {
  const answer = await fetch(service.baseUrl + path, {
    method: "POST",
    headers: { ...world.headers, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
};
const sweep = (minutes: number) =>
  mailOrderUpdates({ db, clock: () => new Date(Date.now() + minutes * 60_000), closesToday: () => sql`true` });
const failures = () => mailsTo(service, email).filter((mail) => mail.includes("Subject: Fax failed"));

test("a fax that fails while the parcel is in transit is reported once, shown as stuck, and sent again by the member", async () => {
  const faxTo = "+16465550142";
  const body = orderForm({ ...minimal, ...shipping, fax_to: faxTo, external_reference: "2026-77" });
  const placed = await fetch(`${service.baseUrl}/dashboard/orders/new`, {
    method: "POST",
    redirect: "manual",
    headers,
    body,
  });
  assert.equal(placed.status, 303, await placed.clone().text());
  const code = /orders\/([0-9a-f]{40})/.exec(placed.headers.get("location") ?? "")?.[1] ?? "";
  const { checkoutUrl = "" } = (await call(`/api/partner/orders/${code}/checkout`, {})).body;
  await world.stripe.deliver(world.url(), world.stripe.pay(world.stripe.sessionOf(checkoutUrl)));
  await world.become(code, "ShippingPending");
  const { roomCode = "" } = (await call("/api/rooms", { name: "Ortega closing" })).body;
  assert.equal((await call(`/api/rooms/${roomCode}/orders`, { orderCode: code, label: "Deed" })).status, 200);
  const again = () => call(`/api/partner/orders/${code}/send-again`, {});
  assert.equal((await again()).status, 409, "nothing has failed yet");

  await world.tell(await world.fax(faxTo), "failed", { failure_reason: "receiver_unallocated_number" });
  await until(async () => (await world.tasksOf(code)).some(({ kind }) => kind === "fax_exception"));
  assert.equal(await world.statusOf(code), "ShippingPending");
  assert.equal(await sweep(3), 1);
  const mail = await until(() => failures()[0]);
  assert.match(mail, /2026-77/);
  const list = await page("/dashboard/rooms");
  assert.match(list, /stuck: the fax did not go through/);
  assert.doesNotMatch(list, /we prepare the shipment/);
  assert.ok(list.includes(`/dashboard/orders/${code}`));
  assert.match(await page(`/dashboard/orders/${code}`), /Fax it again/);
  assert.equal(
    (await postForm(`${service.baseUrl}/dashboard/rooms/${roomCode}/seal-when-done`, { to: "on" }, headers)).status,
    303,
  );
  assert.match(await page(`/dashboard/rooms/${roomCode}`), /Not sealed: something is stuck.*Deed: fax failed/s);
  const stuckIn = async () => {
    const [order] = await db.query<{ id: number; partnerId: string }>(
      sql`SELECT id, partner_id AS "partnerId" FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
    );
    const owner = { partnerId: order?.partnerId ?? "", environment: "live" } as const;
    return (await certificateStates(db, owner, [order?.id ?? 0])).map(({ stuck }) => stuck);
  };
  assert.deepEqual(await stuckIn(), [1]);
  assert.equal(await sendClosings({ db, clock: () => new Date("2026-11-23T15:00:00Z") }), 1);
  const morning = await until(() => mailsTo(service, email).find((each) => each.includes("Subject: Your closings")));
  assert.match(morning, /1 with something stuck/);

  assert.equal((await again()).status, 200);
  assert.equal((await again()).status, 409, "it is being sent");
  assert.doesNotMatch(await page("/dashboard/rooms"), /stuck/);
  assert.doesNotMatch(await page(`/dashboard/rooms/${roomCode}`), /something is stuck/);
  assert.deepEqual(await stuckIn(), [0]);
  assert.match(await page(`/dashboard/orders/${code}`), /The fax is sent again.*The fax did not go through/s);
  const second = await world.fax(faxTo, 2);
  await world.tell(second, "failed", { failure_reason: "receiver_decline" });
  await until(async () => (await world.tasksOf(code)).filter(({ kind }) => kind === "fax_exception").length === 2);
  assert.equal(await sweep(30), 1, "another failure is told");
  await until(() => failures()[1]);

  await service.cli("order", "move", code, "Shipped", "--carrier", "UPS", "--tracking", "1Z");
  await service.cli("order", "move", code, "Delivered");
  await until(async () => {
    await world.hurry("next-segment");
    return (await world.statusOf(code)) === "FaxFailed";
  });
  const noted = await db.query(
    sql`SELECT FROM order_news n JOIN orders o ON o.id = n.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`,
  );
  assert.equal(noted.length, 0, "the same failure is not told again");
});
