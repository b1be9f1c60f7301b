import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { shipping } from "@signsealship/testing/inputs/order-form";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { giveLiveAccess, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { openLiveService } from "../fulfilment/live-service.ts";

const live = await forTests(openLiveService({}));
const { service } = live.harness;
const { headers, linked } = await newMember(service, "dana@acme.example", live.key);
await giveLiveAccess(service, linked.partner.id);
await postForm(`${service.baseUrl}/dashboard/environment`, { environment: "live" }, headers);

test("a member says once that a parcel has not arrived, and the operator has a task until it is recorded", async () => {
  const code = await live.paidOrder({ ...shipping });
  const path = `${service.baseUrl}/dashboard/orders/${code}`;
  const page = async () => (await fetch(path, { headers: { ...headers, Accept: "text/html" } })).text();
  const submissionIn = (text: string) => /name="submission" value="([^"]+)"/.exec(text)?.[1] ?? "";
  const say = async (submission: string) =>
    (await postForm(`${path}/not-arrived`, { submission }, { ...headers, Accept: "text/html" })).status;
  const said = async () =>
    (await live.tasksOf(code)).filter(({ reason }) => reason?.startsWith("The firm says")).map(({ state }) => state);

  const before = await page();
  assert.doesNotMatch(before, /It has not arrived/);
  assert.equal(await say(submissionIn(before)), 409, "nothing is under way");
  await service.cli("order", "move", code, "Shipped", "--carrier", "USPS", "--tracking", "9400 1000");
  const [one, other] = [await page(), await page()].map(submissionIn);
  assert.match(await page(), /It has not arrived/);
  assert.deepEqual((await Promise.all([say(one ?? ""), say(other ?? "")])).sort(), [303, 409]);
  assert.deepEqual(await said(), ["open"]);
  const after = await page();
  assert.match(after, /You said that it has not arrived/);
  assert.doesNotMatch(after, /not-arrived/);
  assert.match(after, /Reported as not arrived/);
  assert.equal(await live.statusOf(code), "Shipped");
  const audited = await live.db.query<{ actor: string }>(sql`
    SELECT a.actor FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE a.action = 'order.not_arrived' AND ${isSealed(sql`o.code`, "order", code)}`);
  assert.equal(audited.length, 1);
  assert.match(audited[0]?.actor ?? "", /^member:/);
  await service.cli("order", "move", code, "Delivered", "--reason", "The recipient confirmed that it arrived.");
  assert.deepEqual(await said(), ["done"]);
});
