import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { shipping } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { changeRowsOf } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { dayMs, systemClock } from "../../../src/kernel/platform/clock.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { askAgain, businessDay, businessNoon, claimTask } from "../../../src/kernel/tasks/tasks.ts";
import { mailWords } from "../../../src/orders/fulfilment/mail-words.ts";
import { shipmentState } from "../../../src/orders/order/order.ts";
import { newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { openLiveService } from "./live-service.ts";
import { order } from "./mail-samples.ts";

const live = await forTests(openLiveService({ NEXT_SERVICE_WAIT: "0" }));
const { service } = live.harness;
const signed = join(service.dataDir, "signed.pdf");
writeFileSync(signed, makePdf({ text: "Signed" }));

const sign = (code: string) => service.cli("order", "move", code, "EsignComplete", "--document", signed);
const historyOf = async (code: string) =>
  (await service.cli<{ history: { toStatus: string }[] }>("order", "show", code)).history.map(
    ({ toStatus }) => toStatus,
  );

test("completes an order that only bought signing as soon as it is signed, and its log has both", async () => {
  const code = await live.paidOrder({ svc_sign: "true" });
  await sign(code);
  await until(async () => (await live.statusOf(code)) === "Completed");
  assert.deepEqual((await historyOf(code)).slice(-3), ["EsignPending", "EsignComplete", "Completed"]);
});

test("begins the next service at once", async () => {
  const code = await live.paidOrder({ svc_sign: "true", ...shipping });
  await sign(code);
  await until(async () => (await live.statusOf(code)) === "ShippingPending");
  assert.deepEqual((await historyOf(code)).slice(-2), ["EsignComplete", "ShippingPending"]);
});

test("asks whether a parcel that a person handed over has arrived, until somebody records it", async () => {
  const code = await live.paidOrder({ ...shipping, email: "parcel@example.com" });
  const arrivals = async () =>
    (await live.tasksOf(code)).filter(({ kind }) => kind === "arrival").map(({ state, reason }) => [state, reason]);
  await service.cli("order", "move", code, "Shipped", "--carrier", "USPS", "--tracking", "9400 1000");
  assert.deepEqual(await arrivals(), [["open", "USPS 9400 1000"]]);
  await service.cli("order", "move", code, "Delivered", "--reason", "The recipient confirmed that it arrived.");
  assert.deepEqual(await arrivals(), [["done", "USPS 9400 1000"]]);
});

test("asks again in two business days whether a parcel has arrived, if the person does not know yet", async () => {
  const code = await live.paidOrder({ ...shipping, email: "unknown@example.com" });
  await service.cli("order", "move", code, "Shipped", "--carrier", "FedEx Overnight", "--tracking", "7700");
  const asked = async () => (await live.tasksOf(code)).filter(({ kind }) => kind === "arrival");
  const [{ id, dueAt: first } = assert.fail()] = await asked();
  const { id: person, cookie } = await newOperator(live.harness, { roles: ["shipper"] });
  await claimTask({ db: live.db, clock: systemClock }, id, `operator:${person}`);
  const page = `${service.baseUrl}/operator/tasks`;
  const path = `/operator/tasks/${id}/ask-again`;
  assert.match(await (await fetch(`${page}/arrival`, { headers: { cookie } })).text(), new RegExp(path));
  const answer = await postForm(service.baseUrl + path, {}, { cookie, Accept: "text/html" });
  assert.equal(answer.status, 303);
  const [one, two] = await asked();
  assert.deepEqual([one?.state, one?.dueAt], ["done", first]);
  assert.deepEqual([two?.state, two?.reason, two?.claimedBy], ["open", "FedEx Overnight 7700", null]);
  assert.ok(two && two.dueAt > new Date() && two.dueAt < first);
});

test("records the day on which a parcel arrived, not before its hand-over and not after today", async () => {
  const code = await live.paidOrder({ ...shipping, email: "arrived@example.com" });
  await service.cli("order", "move", code, "Shipped", "--carrier", "USPS", "--tracking", "9400 4000");
  const day = (daysAgo: number) => businessDay(new Date(Date.now() - daysAgo * dayMs));
  const ofOrder = sql`order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`;
  await changeRowsOf(live.db, shipmentState, ofOrder, sql`shipped_at = ${businessNoon(day(5))}`);
  const { cookie } = await newOperator(live.harness, { roles: ["agent", "shipper"] });
  const page = `${service.baseUrl}/operator/orders/${code}`;
  const shown = await (await fetch(page, { headers: { cookie } })).text();
  assert.match(shown, new RegExp(`name="arrived_on"[^>]*value="${day(0)}"`));
  const record = (arrivedOn: string) => {
    const form = { reason: "The recipient confirmed that it arrived.", arrived_on: arrivedOn };
    return postForm(`${page}/moves/delivered`, form, { cookie, Accept: "text/html" });
  };
  for (const [arrivedOn, rule] of [
    ["", /Date of arrival must be a day like/],
    ["2026-02-30", /Date of arrival must be a day like/],
    [day(-1), /Date of arrival must not be after today/],
    [day(6), new RegExp(`Date of arrival must not be before ${day(5)}, when the parcel was handed over\\.`)],
  ] as const) {
    const refused = await record(arrivedOn);
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), rule);
  }
  assert.equal(await live.statusOf(code), "Shipped");
  assert.equal((await record(day(2))).status, 303);
  const [at] = await live.db.query(sql`
    SELECT (SELECT delivered_at FROM shipments WHERE ${ofOrder}) AS shipment,
      (SELECT occurred_at FROM events WHERE topic = 'shipment.delivered' AND ${ofOrder}) AS webhook`);
  const noon = businessNoon(day(2));
  assert.deepEqual(at, { shipment: noon, webhook: noon });
  const after = await (await fetch(page, { headers: { cookie } })).text();
  assert.match(after, new RegExp(`delivered <time datetime="${noon.toISOString()}"`));
});

test("no other task waits for an answer that is not known yet, and nobody answers for another person", async () => {
  const tasks = { db: live.db, clock: systemClock };
  const code = await live.paidOrder({ ...shipping, email: "other@example.com" });
  const newest = async () => (await live.tasksOf(code)).at(-1)?.id ?? 0;
  await assert.rejects(
    askAgain(tasks, await newest(), "operator:one"),
    /^ServiceError: This task ends when its work is done\.$/,
  );
  await service.cli("order", "move", code, "Shipped", "--carrier", "USPS", "--tracking", "9400 3000");
  await claimTask(tasks, await newest(), "operator:one");
  await assert.rejects(
    askAgain(tasks, await newest(), "operator:two"),
    /^ServiceError: Somebody else has claimed this task\.$/,
  );
});

test("states that a carrier reports a delivery only if the carrier did", () => {
  const facts = { ...order, firm: order.firm.name };
  const lines = (carrierReports: boolean) => mailWords.delivered({ ...facts, carrierReports }).lines.join(" ");
  assert.match(lines(true), /reports that the document .* was delivered\./);
  assert.match(lines(false), /^We recorded that the document .* was delivered\.$/);
});

test("states that the receiving machine confirmed a fax only if the provider reported it", () => {
  const facts = { ...order, firm: order.firm.name };
  const lines = (machineReports: boolean) => mailWords.fax_delivered({ ...facts, machineReports }).lines.join(" ");
  assert.match(lines(true), /the receiving machine confirmed every page\.$/);
  assert.match(lines(false), /^We recorded that the document .* was faxed to the number that ends in 0199\.$/);
});

const dueOf = async (code: string): Promise<Date | undefined> =>
  (
    await live.db.query<{ dueAt: Date }>(sql`
      SELECT due_at AS "dueAt" FROM jobs WHERE queue = 'next-segment' AND payload ->> 'hasWaited' = 'true'
        AND payload ->> 'orderId' = (SELECT id::text FROM orders WHERE ${isSealed(sql`code`, "order", code)})`)
  )[0]?.dueAt;

test("pauses as long as an owner of the firm chose, and continues by itself", async () => {
  const { key, headers } = await newPartner(service, { live: true, name: "Careful Title" });
  const owner = (await newMember(service, "owner@careful.example", key)).headers;
  const set = (minutes: string, who: Record<string, string> = owner) =>
    postForm(`${service.baseUrl}/dashboard/settings/pause`, { minutes }, { ...who, Accept: "text/html" });
  for (const wrong of ["7", "", "-5", "5 "]) {
    const answer = await set(wrong);
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /minutes must be one of 0, 5, 30, 120, 1440\./);
  }
  assert.equal((await set("30")).status, 303);
  const settings = () => fetch(`${service.baseUrl}/dashboard/settings`, { headers: owner }).then((page) => page.text());
  assert.match(await settings(), /<option value="30" selected>After 30 minutes/);

  const member = (await newMember(service, "member@careful.example", key)).headers;
  assert.equal((await set("5", member)).status, 403);

  const code = await live.paidOrder({ svc_sign: "true", ...shipping }, { by: headers });
  await sign(code);
  const due = await until(() => dueOf(code));
  const minutes = (due.getTime() - Date.now()) / 60_000;
  assert.ok(minutes > 28 && minutes <= 30, String(minutes));
  assert.equal(await live.statusOf(code), "EsignComplete");
  await live.hurry("next-segment");
  await until(async () => (await live.statusOf(code)) === "ShippingPending");

  assert.equal((await set("0")).status, 303);
  const next = await live.paidOrder({ svc_sign: "true" }, { by: headers });
  await sign(next);
  await until(async () => (await live.statusOf(next)) === "Completed");
});
