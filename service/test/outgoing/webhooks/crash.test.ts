import assert from "node:assert/strict";
import type { Caught } from "@signsealship/testing/doubles/webhook-catcher";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { ownProcess, runCli, startService } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { type Client, openWebhooksService, type WebhooksService } from "./webhooks-service.ts";

const { after, before, test } = testsNeeding("openssl");

let running: WebhooksService;
let client: Client;
before(async () => {
  running = await openWebhooksService(ownProcess);
  client = await running.partner();
});
after(() => running.close());

const idOf = ({ body }: Caught): string => (JSON.parse(body.toString()) as { id: string }).id;
const ids = async (path: string, count: number) => (await running.catcher.wait(path, count)).map(idOf);

test("an event whose service is killed right after the commit is sent after the restart", async () => {
  await client.subscribe("/committed", ["order.created"]);
  const codes: string[] = [];
  for (let round = 0; round < repeats(1, 1, 3); round++) {
    codes.push(await client.order());
    await running.service.kill();
    running.service = await running.service.restart();
  }
  // Makes the leases of the killed service expire at once.
  await running.db.query(sql`UPDATE webhook_deliveries SET leased_until = now() WHERE state = 'pending'`);
  while (new Set(await ids("/committed", 1)).size < codes.length)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(
    [...new Set(await ids("/committed", 1))].sort(),
    codes.map((code) => `order.created:${code}`).sort(),
  );
});

test("an event whose service is killed while it is being sent is sent again, and marked as repeated", async () => {
  running.catcher.answer("/cut", () => {});
  const hook = await client.subscribe("/cut", ["order.created"]);
  const code = await client.order();
  await running.catcher.wait("/cut");
  await running.service.kill();
  running.catcher.answer("/cut", (_request, response) => void response.end());
  const [row] = await running.db.query<{ ahead: boolean }>(sql`
    SELECT leased_until > now() AS ahead FROM webhook_deliveries WHERE webhook_id = ${hook.id}`);
  assert.equal(row?.ahead, true);
  // Makes the lease expire early.
  await running.db.query(sql`UPDATE webhook_deliveries SET leased_until = now() WHERE webhook_id = ${hook.id}`);
  running.service = await running.service.restart();
  assert.deepEqual(await ids("/cut", 2), [`order.created:${code}`, `order.created:${code}`]);
  const [delivery] = await client.ended(hook);
  assert.deepEqual([delivery?.["state"], delivery?.["attempts"]], ["delivered", 2]);
});

test("a service that stops releases its deliveries, and the next one sends them at once", async () => {
  running.catcher.answer("/stopped", () => {});
  const hook = await client.subscribe("/stopped", ["order.created"]);
  const code = await client.order();
  await running.catcher.wait("/stopped");
  assert.equal(await running.service.stop(), 0);
  const [row] = await running.db.query<{ free: boolean }>(sql`
    SELECT leased_until IS NULL AS free FROM webhook_deliveries WHERE webhook_id = ${hook.id}`);
  assert.equal(row?.free, true);
  running.catcher.answer("/stopped", (_request, response) => void response.end());
  running.service = await running.service.restart();
  assert.deepEqual(await ids("/stopped", 2), [`order.created:${code}`, `order.created:${code}`]);
});

test("without an allowance loopback is refused, and no connection is made", async () => {
  const hook = await client.subscribe("/private", ["order.created"]);
  await running.service.stop();
  const allowed = running.service;
  // The new service is assigned to the harness, which stops it at the end, even if the test fails.
  running.service = await startService({ ...running.env, WEBHOOK_ALLOW: "", PORT: new URL(allowed.baseUrl).port });
  await client.order();
  const [delivery] = await client.ended(hook);
  assert.deepEqual(
    [delivery?.["state"], delivery?.["reason"], delivery?.["lastStatusCode"]],
    ["failed", "address_refused", null],
  );
  assert.equal(
    running.catcher.caught.some(({ path }) => path === "/private"),
    false,
  );
  await running.service.stop();
  running.service = await allowed.restart();
});

test("a WEBHOOK_CA that is not a certificate prevents the start in one line", async () => {
  const { freePort } = await import("@signsealship/testing/free-port");
  const env = { ...running.env, WEBHOOK_CA: `${running.env.DATA_DIR}/none.pem`, PORT: String(await freePort()) };
  const { code, stderr } = await runCli(env, "serve");
  assert.equal(code, 1);
  assert.match(stderr, /WEBHOOK_CA must be a PEM file of certificates/);
  assert.equal(stderr.trim().split("\n").length, 1, stderr);
});
