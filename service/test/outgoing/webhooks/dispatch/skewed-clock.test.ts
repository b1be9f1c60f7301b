import assert from "node:assert/strict";
import { ownProcess } from "@signsealship/testing/service";
import { clockAhead, testsNeeding } from "@signsealship/testing/tools/tools";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openWebhooksService, type WebhooksService } from "../webhooks-service.ts";

const { after, before, test } = testsNeeding("openssl", "faketime");

let running: WebhooksService;
before(async () => {
  running = await openWebhooksService(ownProcess);
});
after(() => running.close());

test("a node whose clock is ten minutes ahead leaves the deliveries that another node has leased", async () => {
  running.catcher.answer("/leased", () => {});
  const client = await running.partner();
  const leased = await client.subscribe("/leased", ["order.created"]);
  await client.order();
  await running.catcher.wait("/leased");
  // The killed node's lease stays, but the node does nothing more.
  await running.service.kill();
  running.service = await running.service.restart(clockAhead(600));
  const [database] = await running.db.query<{ isRight: boolean }>(
    sql`SELECT ${new Date()}::timestamptz BETWEEN now() - interval '1 minute' AND now() + interval '1 minute' AS "isRight"`,
  );
  assert.equal(database?.isRight, true);

  const free = await client.subscribe("/free", ["order.created"]);
  await client.order();
  await client.ended(free);
  const deliveries = await running.db.query<{ attempts: number }>(sql`
    SELECT attempts FROM webhook_deliveries WHERE webhook_id = ${leased.id} ORDER BY seq LIMIT 1`);
  assert.deepEqual(deliveries, [{ attempts: 1 }]);
});
