import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { changeRowsOf } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { deliveryReceipt } from "../../../src/delivery/shipping/labels/labels.ts";
import { labelState, sweepLabels } from "../../../src/delivery/shipping/labels/store.ts";
import { isSealed, type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { openLabelsWorld } from "./labels-world.ts";

const world = await forTests(openLabelsWorld());

const setLabel = (id: number, set: Statement) => changeRowsOf(world.db, labelState, sql`id = ${id}`, set);

const nonEmpty = <T>(rows: T[]): T[] | null => (rows.length === 0 ? null : rows);

const postage = (order: { lines: { type: string; label: string; amountCents: number }[] }) =>
  order.lines.find(({ type }) => type === "ShippingCarrierRate");

test("a live order is quoted at the carrier's rate, shipped with a label that was bought, and delivered by the carrier's report", async () => {
  const order = await world.place();
  assert.deepEqual(postage(order), {
    type: "ShippingCarrierRate",
    label: "USPS Ground Advantage postage, zone 4",
    amountCents: 593,
  });
  assert.equal(world.easypost.labels(), 0);
  const code = await world.payFor(order);
  const label = await world.boughtLabel(code);
  assert.deepEqual([label.carrier, label.service, label.cents], ["USPS", "Ground Advantage", 593]);
  assert.equal(world.easypost.labels(), 1);
  // A purchased label does not mean that the parcel was shipped.
  assert.equal(await world.statusOf(code), "ShippingPending");
  const [task] = await world.tasks(code);
  assert.deepEqual([task?.kind, task?.state], ["label_print", "open"]);
  assert.match(task?.reason ?? "", /^The label is bought \(USPS Ground Advantage, \$5\.93, 94\d+\): print it/);

  assert.equal((await world.deliver(label.trackerId, "pre_transit")).status, 200);
  assert.equal((await world.deliver(label.trackerId, "in_transit", {}, { twice: true })).status, 200);
  await until(async () => (await world.statusOf(code)) === "Shipped");
  await world.deliver(label.trackerId, "delivered", { signed_by: "J ROE" });
  await until(async () => (await world.statusOf(code)) === "Delivered");
  const shipments = await world.db.query(sql`
    SELECT s.status, carrier, tracking_number AS "trackingNumber" FROM shipments s JOIN orders o ON o.id = s.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.deepEqual(shipments, [{ status: "Delivered", carrier: "USPS", trackingNumber: label.trackingNumber }]);
  const actors = await world.db.query<{ actor: string }>(sql`
    SELECT DISTINCT actor FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND to_status IN ('Shipped', 'Delivered')`);
  assert.deepEqual(actors, [{ actor: "provider:easypost" }]);
  const kinds = () =>
    world.db.query<{ kind: string }>(sql`
      SELECT kind FROM documents d JOIN orders o ON o.id = d.order_id WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY kind`);
  const [receipt] = await until(async () =>
    nonEmpty((await kinds()).filter(({ kind }) => kind === "delivery_receipt")),
  );
  assert.ok(receipt);
  assert.deepEqual(
    (await kinds()).map(({ kind }) => kind),
    ["delivery_receipt", "original", "shipping_label"],
  );
});

test("a receipt names carrier, number and the receiver, and attaches the events that reported it", async () => {
  type Found = { id: number; orderId: number; trackingNumber: string; trackerId: string };
  const [label] = await world.db.query<Found>(sql`
    SELECT id, tracker_id AS "trackerId", order_id AS "orderId", tracking_number AS "trackingNumber" FROM labels WHERE signed_by IS NOT NULL`);
  assert.ok(label);
  const source = (body: object) => {
    const event = {
      id: 1,
      provider: "easypost",
      type: "tracker.updated",
      body: Buffer.from(JSON.stringify(body)),
    } as const;
    return deliveryReceipt({ rawEvents: async () => [{ ...event, headers: {} }] });
  };
  const { easypost } = world;
  const tracker = [...easypost.trackers.values()].find(({ id }) => id === label.trackerId) ?? assert.fail();
  const receipt = await source(easypost.event(tracker))(world.db, label.orderId, label.id);
  assert.match(receipt?.sentence ?? "", /EasyPost forwarded the report in the attached events/);
  const onItsWay = easypost.event({ ...tracker, status: "in_transit" });
  const asked = await source(onItsWay)(world.db, label.orderId, label.id);
  assert.match(
    asked?.sentence ?? "",
    /EasyPost gave this report when this service asked\. No event of EasyPost contains it/,
  );
  const rows = Object.fromEntries(receipt?.rows ?? []);
  assert.deepEqual(
    [rows["Carrier"], rows["Tracking number"], rows["Signed for by"]],
    ["USPS Ground Advantage", label.trackingNumber, "J ROE"],
  );
  const events = await world.db.query<{ type: string }>(sql`
    SELECT type FROM provider_events WHERE id = ANY (${receipt?.events ?? []}::bigint[])`);
  assert.deepEqual(
    events.map(({ type }) => type),
    ["tracker.updated", "tracker.updated", "tracker.updated"],
  );
  assert.equal(await source(onItsWay)(world.db, label.orderId, 0), null);
});

test("the console offers the label for printing, and its hand-over form is filled in from it", async () => {
  const code = await world.payFor(await world.place());
  const label = await world.boughtLabel(code);
  const { cookie } = await newOperator(world.harness, { roles: ["shipper"] });
  const agent = await newOperator(world.harness, { roles: ["agent"] });
  assert.match(await world.page(`/operator/orders/search?q=${label.trackingNumber}`, agent.cookie), new RegExp(code));
  const shown = await world.page(`/operator/paper/${code}`, cookie);
  assert.match(shown, new RegExp(`name="tracking"[^>]*value="${label.trackingNumber}"`));
  assert.match(shown, /name="carrier"[^>]*value="USPS"/);
  // The label shows the address, so the packet has no separate address sheet.
  assert.match(shown, /The packet<\/a>: the packing sheet, then/);
  const sheets = await fetch(`${world.url()}/operator/paper/${code}/sheets.pdf`, { headers: { cookie } });
  assert.match(Buffer.from(await sheets.arrayBuffer()).toString("latin1"), /\/Count 1\b/);
  const file = await fetch(`${world.url()}/operator/paper/${code}/labels/1`, { headers: { cookie } });
  assert.equal(file.headers.get("content-type"), "application/pdf");
  assert.match(await file.text(), /^%PDF-/);
  for (const number of ["2", "x", "0"])
    assert.match(await world.page(`/operator/paper/${code}/labels/${number}`, cookie), /no such label/);
  // Only the operator sees the label's document.
  assert.doesNotMatch(await world.page(`/orders/${code}`, ""), /shipping.label/);

  const form = { carrier: "USPS", tracking: label.trackingNumber };
  assert.equal((await world.post(`/operator/paper/${code}/moves/shipped`, cookie, form)).status, 303);
  assert.equal(await world.statusOf(code), "Shipped");
  await world.deliver(label.trackerId, "in_transit");
  await world.deliver(label.trackerId, "available_for_pickup");
  await until(async () => (await world.queued("label-pickup")) > 0);
  await world.deliver(label.trackerId, "delivered");
  await until(async () => (await world.statusOf(code)) === "Delivered");
  await world.deliver(label.trackerId, "return_to_sender");
  const [trouble] = await until(async () =>
    nonEmpty((await world.tasks(code)).filter(({ kind }) => kind === "delivery_trouble")),
  );
  assert.match(trouble?.reason ?? "", /came back after it was delivered/);
  assert.equal(await world.statusOf(code), "Delivered");
});

test("a person decides about postage that exceeds the quote by more than a tenth", async () => {
  const order = await world.place();
  const { offers } = world.easypost;
  const usual = offers.splice(0, offers.length, { carrier: "USPS", service: "GroundAdvantage", rate: "6.53", days: 3 });
  const before = world.easypost.labels();
  const code = await world.payFor(order);
  const task = await until(async () => (await world.tasks(code)).find(({ kind }) => kind === "postage_dearer"));
  assert.equal(task.reason, "USPS Ground Advantage is $6.53; at most $6.52 is paid without asking.");
  assert.equal(world.easypost.labels(), before);
  const { cookie, id } = await newOperator(world.harness, { roles: ["shipper"] });
  const shown = () => world.page(`/operator/paper/${code}`, cookie);
  assert.match(await shown(), /Buy it for \$6\.53 \(USPS Ground Advantage\)/);
  // The shipping role may not accept a price far above the quote. Nobody may accept a missing price.
  const [{ id: labelId = 0 } = {}] = await world.labels(code);
  for (const [cents, status] of [
    [1187, 403],
    [null, 409],
  ] as const) {
    await setLabel(labelId, sql`cents = ${cents}`);
    assert.doesNotMatch(await shown(), /Buy it for/);
    assert.equal((await world.post(`/operator/paper/${code}/buy`, cookie, { most: String(cents) })).status, status);
  }
  await setLabel(labelId, sql`cents = 653`);
  assert.equal((await world.post(`/operator/paper/${code}/buy`, cookie, { most: "9999" })).status, 409);
  const answers = await Promise.all(
    [1, 2].map(() => world.post(`/operator/paper/${code}/buy`, cookie, { most: "653" })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409]);
  const label = await world.boughtLabel(code);
  assert.deepEqual([label.number, label.cents, world.easypost.labels()], [2, 653, before + 1]);
  assert.equal((await world.tasks(code)).find(({ kind }) => kind === "postage_dearer")?.state, "done");
  const orderedBy = await world.db.query<{ actor: string }>(sql`
    SELECT actor FROM audit_log a JOIN orders o ON o.id = a.order_id WHERE ${isSealed(sql`o.code`, "order", code)} AND action = 'label.ordered'`);
  assert.deepEqual(orderedBy, [{ actor: `operator:${id}` }]);
  offers.splice(0, offers.length, ...usual);
});

test("an undeliverable address can be ordered, and a person sees it before a label is bought", async () => {
  const before = world.easypost.labels();
  const code = await world.payFor(await world.place({ ship_line1: "1 Undeliverable Road" }));
  const task = await until(async () => (await world.tasks(code)).find(({ reason }) => reason));
  assert.equal(task.kind, "label_print");
  assert.match(task.reason ?? "", /No label was bought\. EasyPost calls the address undeliverable: Address not found/);
  const { cookie } = await newOperator(world.harness, { roles: ["agent"] });
  assert.match(
    await world.page(`/operator/paper/${code}`, cookie),
    /doubted the address when it was quoted: Address not/,
  );
  assert.match(await world.page(`/operator/orders/${code}`, cookie), /Doubt about it[\s\S]{0,40}Address not found/);
  assert.equal(world.easypost.labels(), before);
});

test("without an answer the zone table quotes; a test order never contacts the provider", async () => {
  const asked = () => world.easypost.requests.length;
  world.easypost.failOn(/^POST \/v2\/addresses$/, { status: 503 });
  assert.equal(postage(await world.place())?.label, "USPS Priority Mail postage, zone 7");
  world.easypost.failOn(/^POST \/v2\/shipments$/, "cut");
  assert.equal(postage(await world.place())?.label, "USPS Priority Mail postage, zone 7");
  const before = asked();
  const { headers } = await newPartner(world.harness.service, { name: "Beta Title" });
  const order = await world.place({}, headers);
  assert.equal(postage(order)?.label, "USPS Priority Mail postage, zone 7");
  const simulate = { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: "{}" };
  await fetch(`${world.url()}/api/partner/sandbox/orders/${order.orderCode}/simulate`, simulate);
  await world.place({ ship_method: "print_mail" });
  assert.equal(asked(), before);
  assert.deepEqual(await world.labels(order.orderCode), []);
});

test("events that are forged, with another secret or about unknown objects change nothing; lost ones are polled for", async () => {
  const code = await world.payFor(await world.place());
  const label = await world.boughtLabel(code);
  assert.equal((await world.deliver(label.trackerId, "in_transit", {}, { forged: true })).status, 400);
  assert.equal((await world.deliver(label.trackerId, "delivered", {}, { otherSecret: true })).status, 400);
  const { easypost } = world;
  const tracker = easypost.track(label.trackerId, "pre_transit");
  const foreign = easypost.event({ ...tracker, id: "trk_of_another", status: "delivered" });
  assert.equal((await easypost.deliver(world.url(), foreign)).status, 200);
  assert.equal(await world.statusOf(code), "ShippingPending");
  easypost.track(label.trackerId, "delivered");
  await world.db.query(sql`UPDATE labels SET ask_at = now() - interval '1 minute' WHERE id = ${label.id}`);
  await world.hurry("label-ask");
  await until(async () => (await world.statusOf(code)) === "Delivered");
});

test("a report that arrived while an order was on hold counts after the hold", async () => {
  const code = await world.payFor(await world.place());
  const label = await world.boughtLabel(code);
  const { cookie } = await newOperator(world.harness, { roles: ["agent"] });
  assert.equal(
    (await world.post(`/operator/orders/${code}/moves/held`, cookie, { reason: "A question." })).status,
    303,
  );
  await world.deliver(label.trackerId, "in_transit");
  await until(
    async () => (await world.db.query(sql`SELECT FROM labels WHERE id = ${label.id} AND seen <> '{}'`)).length > 0,
  );
  assert.equal(await world.statusOf(code), "OnHold");
  assert.equal((await world.post(`/operator/orders/${code}/moves/released`, cookie)).status, 303);
  await until(async () => (await world.statusOf(code)) === "Shipped");
  assert.equal((await world.labels(code)).length, 1);

  // The parcel waits to be picked up. The service runs a job three days later, which the test makes due now.
  await world.deliver(label.trackerId, "available_for_pickup", {}, { twice: true });
  const [trouble] = await until(async () => {
    await world.hurry("label-pickup");
    return nonEmpty((await world.tasks(code)).filter(({ kind }) => kind === "delivery_trouble"));
  });
  assert.equal(trouble?.reason, "The parcel has waited to be picked up for three days.");
  await until(() => world.mails().some((mail) => /keeps the document\s+from Acme/.test(mail) && mail.includes(code)));
});

test("a parcel that came back is shipped again; an unused label is returned, and polled until it is refunded", async () => {
  const code = await world.payFor(await world.place());
  const first = await world.boughtLabel(code);
  await world.deliver(first.trackerId, "return_to_sender");
  await until(async () => (await world.statusOf(code)) === "ShippingFailed");
  const { cookie } = await newOperator(world.harness, { roles: ["agent"] });
  const { offers } = world.easypost;
  const usual = offers.splice(0, offers.length, {
    carrier: "USPS",
    service: "GroundAdvantage",
    rate: "99.00",
    days: 3,
  });
  assert.equal((await world.post(`/operator/orders/${code}/moves/shipping_retried`, cookie)).status, 303);
  await until(async () =>
    (await world.labels(code)).some(({ number, state }) => number === 2 && state === "not_bought"),
  );
  // The label of the parcel that came back can't be printed or used again.
  const paper = await world.page(`/operator/paper/${code}`, cookie);
  assert.doesNotMatch(paper, new RegExp(`labels/1"|value="${first.trackingNumber}"`));
  offers.splice(0, offers.length, ...usual);
  assert.equal((await world.post(`/operator/paper/${code}/buy`, cookie, { most: "9900" })).status, 303);
  const second = await until(async () =>
    (await world.labels(code)).find(({ number, state }) => number === 3 && state === "bought"),
  );
  assert.notEqual(second.trackingNumber, first.trackingNumber);
  // The parcel that came back no longer decides the order's status.
  await world.deliver(first.trackerId, "delivered");
  await until(async () => (await world.tasks(code)).some(({ reason }) => /delivered after all/.test(reason ?? "")));
  assert.equal(await world.statusOf(code), "ShippingPending");

  // A person ships the order with another carrier, so the service requests a refund of the unused new label.
  const form = { carrier: "FedEx", tracking: "7777 1000 0001" };
  assert.equal((await world.post(`/operator/paper/${code}/moves/shipped`, cookie, form)).status, 303);
  const refund = (state: string) =>
    until(async () => (await world.labels(code)).find((each) => each.number === 3 && each.refundState === state));
  await refund("submitted");
  assert.equal((await world.labels(code))[0]?.refundState, null);
  const shipment = [...world.easypost.shipments.values()].find(
    (each) => each["tracking_code"] === second.trackingNumber,
  );
  Object.assign(shipment ?? {}, { refund_status: "rejected" });
  await world.db.query(sql`UPDATE labels SET ask_at = now() - interval '1 minute' WHERE id = ${second.id}`);
  await world.hurry("label-ask");
  await refund("rejected");
  assert.match(await world.page(`/operator/orders/${code}`, cookie), /the carrier refused to refund it/);
  assert.ok((await world.tasks(code)).some(({ reason }) => /is not refunded/.test(reason ?? "")));
});

test("whichever request is cut after the provider acted, one label is bought and one is returned", async () => {
  const { easypost, db } = world;
  const calls = [
    /^POST \/v2\/addresses$/,
    /^POST \/v2\/shipments$/,
    /^POST .*\/buy$/,
    /^GET \/files/,
    /^POST .*\/refund$/,
  ];
  for (let n = 0; n < Number(process.env["CUTS"] ?? 4); n++) {
    const order = await world.place();
    const before = easypost.labels();
    // The service looks up a request with an unknown outcome after a minute; the test makes the look-up due at once.
    const nudge = async () => {
      await db.query(
        sql`UPDATE provider_calls SET look_at = now() - interval '1 minute' WHERE state IN ('begun', 'unknown')`,
      );
      for (const queue of ["provider-act-easypost", "label-prepare", "label-file"]) await world.hurry(queue);
    };
    easypost.failOn(calls[(n + 2) % calls.length] ?? /^/, "cut");
    const code = await world.payFor(order);
    const nudging = setInterval(() => void nudge(), 300);
    try {
      await world.boughtLabel(code);
      const { cookie } = await newOperator(world.harness, { roles: ["shipper"] });
      const form = { carrier: "FedEx", tracking: `7777 1000 ${String(n).padStart(4, "0")}` };
      assert.equal((await world.post(`/operator/paper/${code}/moves/shipped`, cookie, form)).status, 303);
      await until(async () => (await world.labels(code))[0]?.refundState === "submitted");
    } finally {
      clearInterval(nudging);
    }
    assert.deepEqual([easypost.labels(), easypost.failing()], [before + 1, 0]);
  }
});

test("the receiver of a parcel, and the address of its label, are deleted when they are old", async () => {
  const left = () => world.db.query(sql`SELECT FROM labels WHERE num_nonnulls(signed_by, label_url) > 0`);
  const [{ latest = new Date() } = {}] = await world.db.query<{ latest: Date }>(sql`
    SELECT max(bought_at) AS latest FROM labels`);
  await sweepLabels(world.db, latest);
  assert.equal((await left()).length, 1, "the one of that instant stays");
  await sweepLabels(world.db, new Date(latest.getTime() + 1));
  assert.deepEqual(await left(), []);
});

test("a label whose price was changed in the database is neither shown nor bought", async () => {
  const order = await world.place();
  const { offers } = world.easypost;
  const usual = offers.splice(0, offers.length, { carrier: "USPS", service: "GroundAdvantage", rate: "6.53", days: 3 });
  const code = await world.payFor(order);
  await until(async () => (await world.tasks(code)).find(({ kind }) => kind === "postage_dearer"));
  const before = world.easypost.labels();
  const { cookie } = await newOperator(world.harness, { roles: ["shipper"] });
  const [{ id = 0 } = {}] = await world.labels(code);
  const [row] = await world.db.query<{ most: number }>(sql`SELECT most_cents AS most FROM labels WHERE id = ${id}`);
  await world.db.query(sql`UPDATE labels SET most_cents = 99999 WHERE id = ${id}`);
  assert.match(await world.page(`/operator/paper/${code}`, cookie), /not what the service wrote/);
  assert.equal((await world.post(`/operator/paper/${code}/buy`, cookie, { most: "653" })).status, 503);
  await world.db.query(sql`UPDATE labels SET most_cents = ${row?.most} WHERE id = ${id}`);
  assert.match(await world.page(`/operator/paper/${code}`, cookie), /not what the service wrote/, "as it was before");
  await assert.rejects(world.db.query(sql`DELETE FROM labels WHERE id = ${id}`), /append-only/);
  assert.equal(world.easypost.labels(), before);
  await setLabel(id, sql`most_cents = ${row?.most}`);
  assert.match(await world.page(`/operator/paper/${code}`, cookie), /Buy it for/);
  offers.splice(0, offers.length, ...usual);
});

test("a label that was not bought is no longer offered once the parcel was shipped in another way", async () => {
  const order = await world.place();
  const { offers } = world.easypost;
  const usual = offers.splice(0, offers.length, { carrier: "USPS", service: "GroundAdvantage", rate: "6.53", days: 3 });
  const code = await world.payFor(order);
  await until(async () => (await world.labels(code)).some(({ state }) => state === "not_bought"));
  offers.splice(0, offers.length, ...usual);
  const { cookie } = await newOperator(world.harness, { roles: ["shipper"] });
  const shown = () => world.page(`/operator/paper/${code}`, cookie);
  assert.match(await shown(), /Buy it for/);
  const form = { carrier: "USPS", tracking: "9400 1000 0000 0000 0000 07" };
  assert.equal((await world.post(`/operator/paper/${code}/moves/shipped`, cookie, form)).status, 303);
  assert.doesNotMatch(await shown(), /Buy it for/);
});

test("a label that a person reported as bought is followed by EasyPost's data about it", async () => {
  const code = await world.payFor(await world.place());
  const label = await world.boughtLabel(code);
  const { easypost, db } = world;
  // Makes the label look as if a person had reported its purchase: the tracking number is mistyped, and the tracker and
  // the file are missing.
  await setLabel(
    label.id,
    sql`tracker_id = NULL, label_url = NULL, file_sha256 = NULL, tracking_number = 'MISTYPED',
      ask_at = now() - interval '1 minute'`,
  );
  await db.query(sql`DELETE FROM documents d USING orders o WHERE o.id = d.order_id AND ${isSealed(sql`o.code`, "order", code)}
    AND d.kind = 'shipping_label'`);
  await world.hurry("label-ask");
  const filled = await until(async () => (await world.labels(code)).find(({ fileSha256 }) => fileSha256 !== null));
  assert.deepEqual([filled.trackerId, filled.trackingNumber], [label.trackerId, label.trackingNumber]);
  easypost.track(label.trackerId, "delivered");
  await db.query(sql`UPDATE labels SET ask_at = now() - interval '1 minute' WHERE id = ${label.id}`);
  await world.hurry("label-ask");
  await until(async () => (await world.statusOf(code)) === "Delivered");
});

test("the labels of an order that is refunded are returned", async () => {
  const code = await world.payFor(await world.place());
  await world.boughtLabel(code);
  await world.harness.service.cli("order", "move", code, "RefundPending", "--reason", "The client changed their mind.");
  await until(async () => (await world.labels(code))[0]?.refundState === "submitted");
});

test("while the provider is unreachable people ship by hand, and nothing else is bought", async () => {
  const order = await world.place();
  const before = world.easypost.labels();
  world.easypost.failOn(/^POST/, ...Array(20).fill({ status: 503 }));
  const code = await world.payFor(order);
  const { cookie } = await newOperator(world.harness, { roles: ["shipper"] });
  // The attempts would take half an hour. `hurry` makes each of them due now.
  const task = await until(async () => {
    await world.hurry("label-prepare");
    return (await world.tasks(code)).find(({ reason }) => reason);
  });
  assert.match(task.reason ?? "", /^EasyPost: .*No label was bought yet: ship the parcel in another way/);
  const ship = `/operator/paper/${code}/moves/shipped`;
  for (const [carrier, tracking, rule] of [
    ["Courier", "###", /must have a digit, and no characters but letters/],
    ["USPS Priority Mail", "9400 7", /has 20, 22, 26, 30 or 34 digits/],
    ["UPS", "1Z999", /begins with 1Z/],
    ["Fed Ex", "7777 1", /has 12, 15, 20 or 22 digits/],
  ] as const) {
    const refused = await world.post(ship, cookie, { carrier, tracking });
    assert.equal(refused.status, 400, tracking);
    assert.match(await refused.text(), rule);
  }
  const form = { carrier: "USPS", tracking: "9400 1000 0000 0000 0000 07" };
  assert.equal((await world.post(`/operator/paper/${code}/moves/shipped`, cookie, form)).status, 303);
  assert.equal(await world.statusOf(code), "Shipped");
  assert.equal(world.easypost.labels(), before);
});
