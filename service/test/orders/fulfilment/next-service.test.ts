import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { mailWords } from "../../../src/orders/fulfilment/mail-words.ts";
import { newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { openLiveService } from "./live-service.ts";
import { order } from "./mail-samples.ts";

const live = await forTests(openLiveService({ NEXT_SERVICE_WAIT: "0" }));
const { service } = live.harness;
const signed = join(service.dataDir, "signed.pdf");
writeFileSync(signed, examplePdf);

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
