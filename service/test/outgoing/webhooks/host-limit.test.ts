import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { changeFirm } from "@signsealship/testing/row-mac";
import { temporaryFolder } from "@signsealship/testing/service";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { createHostLimit } from "../../../src/outgoing/webhooks/dispatch/host-limit.ts";
import { type Hook, openWebhooksService, type WebhooksService } from "./webhooks-service.ts";

const folder = temporaryFolder();
const limits = join(folder.path, "limits.yaml");
const others = ["PartnerLink", "ProOffice", "ClosingDesk"].map(
  (tier) => `${tier}: {deliveriesPerHostPerMinute: none, waitingUploads: 8, storedBytes: none}`,
);
writeFileSync(
  limits,
  `tiers: {trial: {deliveriesPerHostPerMinute: 4, waitingUploads: 8, storedBytes: none}, ${others.join(", ")}}`,
);
const running = await forTests(openWebhooksService({ LIMITS: limits, RATE_LIMITS: "on" }));

test("a firm and a host are counted separately from others, from minute to minute", () => {
  let now = 0;
  const { toUrl } = createHostLimit(() => new Date(now));
  const many = (partner: string, url: string, perHost = 2) =>
    [1, 2, 3].map(() => toUrl(partner, url, { perHost, perAddress: Number.POSITIVE_INFINITY }));
  assert.deepEqual(many("a", "https://one.example/x"), [true, true, false]);
  assert.deepEqual(many("a", "https://one.example:444/y"), [false, false, false]);
  assert.deepEqual(many("b", "https://one.example/x"), [true, true, false]);
  assert.deepEqual(many("a", "https://two.example/x"), [true, true, false]);
  assert.deepEqual(many("a", "https://one.example/x", Number.POSITIVE_INFINITY), [true, true, true]);
  now = 60_000;
  assert.deepEqual(many("a", "https://one.example/x"), [true, true, false]);
});

test("hosts of one domain are counted together, and so are names of one address", () => {
  const { toUrl, toAddresses } = createHostLimit(() => new Date(0));
  const limits = { perHost: Number.POSITIVE_INFINITY, perAddress: 2 };
  const sent = (hosts: string[]) => hosts.map((host) => toUrl("a", `https://${host}/`, limits));
  assert.deepEqual(sent(["a.one.example", "b.one.example", "c.b.one.example", "two.example"]), [
    true,
    true,
    false,
    true,
  ]);
  assert.deepEqual(sent(["one.example.", "10.0.0.1", "11.0.0.1", "12.0.0.1", "[::1]"]), [
    false,
    true,
    true,
    true,
    true,
  ]);
  assert.equal(toUrl("b", "https://a.one.example/", limits), true, "another firm");
  const addresses = [["192.0.2.1"], ["192.0.2.2", "192.0.2.1"], ["192.0.2.3", "192.0.2.1"], ["192.0.2.3"]];
  assert.deepEqual(
    addresses.map((each) => toAddresses("a", each, limits)),
    [true, true, false, true],
  );
});

test("a hundred names of one address get no more than the address's limit", async () => {
  const firm = await running.partner();
  await changeFirm(running.db, firm.partnerId, sql`tier = 'trial'`);
  const { port } = new URL(running.catcher.url);
  const hooks = [];
  for (let n = 0; n < 9; n++) {
    const url = `https://h${n}.localhost:${port}/`;
    hooks.push(await firm.ok<Hook>("POST", "/api/partner/webhooks", { url, topics: ["order.created"] }));
  }
  await firm.order();
  const ends = (await Promise.all(hooks.map((hook) => firm.ended(hook)))).flat();
  const refused = ends.filter(({ reason }) => reason === "host_limit");
  // If a new minute begins during the test, twice as many deliveries are allowed.
  assert.ok(refused.length === 5 || refused.length === 1, `${refused.length} refused`);
});

async function trialFirm({ partner, db }: WebhooksService) {
  const trial = await partner();
  await changeFirm(db, trial.partnerId, sql`tier = 'trial'`);
  return trial;
}

async function subscribed({ subscribe }: Awaited<ReturnType<typeof trialFirm>>) {
  const hooks = [];
  for (const path of ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h", "/i"])
    hooks.push(await subscribe(path, ["order.created"]));
  return hooks;
}

test("RATE_LIMITS=off lifts the limit of deliveries to one host, too", async () => {
  const unlimited = await openWebhooksService({ LIMITS: limits, RATE_LIMITS: "off" });
  const trial = await trialFirm(unlimited);
  const hooks = await subscribed(trial);
  await trial.order();
  const ends = (await Promise.all(hooks.map((hook) => trial.ended(hook)))).flat();
  assert.deepEqual(
    ends.map(({ state }) => state),
    hooks.map(() => "delivered"),
  );
  await unlimited.close();
});

test("a trial firm can reach a host only a limited number of times a minute, over all its webhooks; the rest fails by name", async () => {
  const trial = await trialFirm(running);
  const hooks = await subscribed(trial);
  const paying = await running.partner();
  const paid = await paying.subscribe("/paid", ["order.created"]);
  await trial.order();
  await paying.order();
  const ends = (await Promise.all(hooks.map((hook) => trial.ended(hook)))).flat();
  const failed = ends.filter(({ state }) => state === "failed");
  // If a new minute begins during the test, twice as many deliveries are allowed.
  assert.ok(failed.length === 5 || failed.length === 1, `${failed.length} failed`);
  // No request was sent, so nothing is known about how long the endpoint takes.
  for (const { reason, lastStatusCode, durationMs } of failed)
    assert.deepEqual([reason, lastStatusCode, durationMs], ["host_limit", null, null]);
  assert.equal((await paying.ended(paid))[0]?.["state"], "delivered");
});
