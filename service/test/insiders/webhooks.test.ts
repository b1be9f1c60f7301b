import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import { isSealed, type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { type Client, type Hook, openWebhooksService } from "../outgoing/webhooks/webhooks-service.ts";
import { openInsider } from "./insider.ts";

let paths = 0;

const running = await forTests(openWebhooksService());
const insider = await forTests(openInsider(running.service.dataDir));
const [victim, attacker] = [await running.partner(), await running.partner()];

const subscribe = async (client: Client, topics: string[]): Promise<Hook & { caught: () => number }> => {
  const path = `/insider-${++paths}`;
  const hook = await client.subscribe(path, topics);
  return { ...hook, caught: () => running.catcher.caught.filter((each) => each.path === path).length };
};
test("another firm's event that is inserted into the queue of a firm's own webhook is not sent", async () => {
  const hook = await subscribe(attacker, ["order.created"]);
  const order = await victim.order();
  const [event] = await insider.run<{ id: number }>(
    sql`SELECT id FROM events WHERE ${isSealed(sql`subject`, "event", order)} LIMIT 1`,
  );
  for (const partnerId of [attacker.partnerId, victim.partnerId])
    await insider.run(sql`
      INSERT INTO webhook_deliveries (event, webhook_id, partner_id, environment, topic, created_at, replayed_from)
      VALUES (${event?.id}, ${hook.id}, ${partnerId}, 'test', 'order.created', now(), gen_random_uuid())`);
  const ended = sql`SELECT reason FROM webhook_deliveries WHERE webhook_id = ${hook.id} AND state <> 'pending'`;
  await until(async () => (await insider.run(ended)).length === 2);
  assert.deepEqual(
    (await insider.run<{ reason: string }>(ended)).map(({ reason }) => reason),
    ["event_altered", "event_altered"],
  );
  assert.equal(hook.caught(), 0);
});

test("a webhook whose URL, firm, environment or topics were changed in the database gets no events", async () => {
  const { url: ofAttacker } = await subscribe(attacker, ["passport.sealed"]);
  for (const [change, owner] of [
    [sql`url = ${ofAttacker}`, victim],
    [sql`topics = topics || ARRAY['payment.cleared']`, victim],
    [sql`row_mac = NULL`, victim],
    [sql`partner_id = ${victim.partnerId}`, attacker],
  ] satisfies [Statement, Client][]) {
    const hook = await subscribe(owner, ["order.created"]);
    await insider.run(sql`UPDATE webhooks SET ${change} WHERE id = ${hook.id}`);
    await victim.order();
    const ended = sql`SELECT reason FROM webhook_deliveries WHERE webhook_id = ${hook.id} AND state <> 'pending'`;
    await until(async () => (await insider.run(ended)).length > 0);
    const [row] = await insider.run<{ reason: string }>(ended);
    assert.equal(row?.reason, "webhook_altered", change.text);
    assert.equal(hook.caught(), 0, change.text);
    await insider.run(sql`UPDATE webhooks SET active = false WHERE id = ${hook.id}`);
  }
});

test("a deleted webhook stays deleted when its row is restored", async () => {
  const hook = await subscribe(victim, ["order.created"]);
  await victim.ok("DELETE", `/api/partner/webhooks/${hook.id}`);
  await insider.run(sql`UPDATE webhooks SET deleted_at = NULL WHERE id = ${hook.id}`);
  await victim.order();
  const ended = sql`SELECT reason FROM webhook_deliveries WHERE webhook_id = ${hook.id} AND state <> 'pending'`;
  await until(async () => (await insider.run(ended)).length > 0);
  assert.equal(hook.caught(), 0);
});
