import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "@signsealship/testing/until";
import { sql } from "../../src/platform/database/sql.ts";
import { type LabelsWorld, openLabelsWorld } from "./labels-world.ts";

let world: LabelsWorld;
before(async () => {
  world = await openLabelsWorld();
});
after(() => world.close());

const postage = (order: { lines: { type: string; label: string; amountCents: number }[] }) =>
  order.lines.find(({ type }) => type === "ShippingCarrierRate");

async function boughtLabel(code: string) {
  const [label] = await until(async () => {
    const labels = await world.labels(code);
    return labels.some(({ state, fileSha256 }) => state === "bought" && fileSha256) ? labels.slice(-1) : null;
  });
  assert.ok(label);
  return label;
}

const deliver = async (trackerId: string, status: string, more: Record<string, unknown> = {}, how = {}) => {
  const { easypost } = world;
  return easypost.deliver(world.url(), easypost.event(easypost.track(trackerId, status, more)), how);
};

test("a live order is quoted at the carrier's rate, shipped by a label that was bought, and delivered by the carrier's word", async () => {
  const order = await world.place();
  assert.deepEqual(postage(order), {
    type: "ShippingCarrierRate",
    label: "USPS Ground Advantage postage, zone 4",
    amountCents: 593,
  });
  assert.equal(world.easypost.labels(), 0);
  const code = await world.payFor(order);
  const label = await boughtLabel(code);
  assert.deepEqual([label.carrier, label.service, label.cents], ["USPS", "Ground Advantage", 593]);
  assert.equal(world.easypost.labels(), 1);
  // A label that was bought is not yet a parcel that was handed over.
  assert.equal(await world.statusOf(code), "ShippingPending");
  const [task] = await world.tasks(code);
  assert.deepEqual([task?.kind, task?.state], ["label_print", "open"]);
  assert.match(task?.reason ?? "", /^The label is bought \(USPS Ground Advantage, \$5\.93, 94\d+\): print it/);

  assert.equal((await deliver(label.trackerId, "pre_transit")).status, 200);
  assert.equal((await deliver(label.trackerId, "in_transit", {}, { twice: true })).status, 200);
  await until(async () => (await world.statusOf(code)) === "Shipped");
  await deliver(label.trackerId, "delivered", { signed_by: "J ROE" });
  await until(async () => (await world.statusOf(code)) === "Delivered");
  const shipments = await world.db.query(sql`
    SELECT s.status, carrier, tracking_number AS "trackingNumber" FROM shipments s JOIN orders o ON o.id = s.order_id
    WHERE o.code = ${code}`);
  assert.deepEqual(shipments, [{ status: "Delivered", carrier: "USPS", trackingNumber: label.trackingNumber }]);
  const actors = await world.db.query<{ actor: string }>(sql`
    SELECT DISTINCT actor FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE o.code = ${code} AND to_status IN ('Shipped', 'Delivered')`);
  assert.deepEqual(actors, [{ actor: "provider:easypost" }]);
});
