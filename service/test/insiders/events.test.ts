import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { runCli } from "@signsealship/testing/service";
import { isSealed, type Statement, sealed, sql } from "../../src/kernel/platform/database/sql.ts";
import { type Client, type Hook, openWebhooksService } from "../outgoing/webhooks/webhooks-service.ts";
import { openInsider } from "./insider.ts";

let paths = 0;

const running = await forTests(openWebhooksService());
const insider = await forTests(openInsider(running.service.dataDir));

type Feed = { events: { id: string; position: number; head: string }[]; cursor: string };
const feedOf = (client: Client, query = "limit=100") => client.ok<Feed>("GET", `/api/partner/events?${query}`);

async function eventsFinding() {
  const { stdout } = await runCli({ DATA_DIR: running.service.dataDir }, "doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: { name: string; result: string; detail: string }[] };
  return checks.find(({ name }) => name === "events");
}

/** A webhook of the client for all topics of this test. `caught` returns how many deliveries arrived at it. */
async function listen(client: Client): Promise<Hook & { caught: () => number }> {
  const path = `/planted-${++paths}`;
  const hook = await client.subscribe(path, ["order.created", "payment.cleared"]);
  return { ...hook, caught: () => running.catcher.caught.filter((each) => each.path === path).length };
}

/** A forged event that tells the firm that the order is paid. @returns its id */
async function plant(client: Client, order: string): Promise<number> {
  const [event] = await insider.run<{ id: number }>(sql`
    INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject)
    VALUES (now(), 'payment.cleared', ${`payment.cleared:${order}`}, ${client.partnerId}, 'test', ${order}) RETURNING id`);
  return event?.id ?? 0;
}

test("an inserted event is neither sent nor replayed, listed or chained, and doctor names it", async () => {
  const client = await running.partner();
  const hook = await listen(client);
  const order = await client.order();
  await client.ended(hook);
  const id = await plant(client, order);
  const planted = (await client.ended(hook, 2)).find(({ eventName }) => eventName === "payment.cleared");
  assert.equal(planted?.["reason"], "event_altered");

  const delivery = `/api/partner/webhooks/deliveries/${planted?.["deliveryId"]}`;
  await client.ok("POST", `${delivery}/replay`);
  const reasons = (await client.ended(hook, 3)).map(({ reason }) => reason).sort();
  assert.deepEqual(reasons, ["event_altered", "event_altered", null]);
  assert.equal(hook.caught(), 1);
  const exchange = await client.ok<{ request: { payload: unknown } }>("GET", `${delivery}/exchange`);
  assert.equal(exchange.request.payload, null);

  const later = await client.order();
  const { events } = await feedOf(client);
  assert.deepEqual(
    events.map((event) => [event.position, event.id]),
    [
      [1, `order.created:${order}`],
      [2, `order.created:${later}`],
    ],
  );
  const [link] = await insider.run(sql`SELECT position FROM event_chain WHERE event = ${id}`);
  assert.deepEqual(link, { position: null });

  assert.deepEqual(await eventsFinding(), {
    name: "events",
    result: "failed",
    detail: `the service did not write event ${id}`,
  });
  const lines = running.service.stderr() + running.service.stdout();
  assert.equal(lines.split(`event=${id}"`).length - 1, 1);
});

test("an event whose time, topic, id, firm, environment, subject or room differs from what its MAC covers is not sent", async () => {
  const [victim, attacker] = [await running.partner(), await running.partner()];
  const other = await victim.order();
  const live = await running.withKey(attacker.partnerId, "live");
  for (const [column, value, receiver] of [
    ["occurred_at", sql`occurred_at - interval '1 day'`, victim],
    ["topic", sql`'payment.cleared'`, victim],
    ["event_id", sql`event_id || '2'`, victim],
    ["subject", sql`${sealed("event", other)}`, victim],
    ["partner_id", sql`${attacker.partnerId}`, attacker],
    ["environment", sql`'live'`, await running.withKey(victim.partnerId, "live")],
    ["row_mac", sql`NULL`, victim],
  ] satisfies [string, Statement, Client][]) {
    const order = await victim.order();
    const hook = await listen(receiver);
    const columns = ["occurred_at", "topic", "event_id", "partner_id", "environment", "subject", "row_mac"];
    const [id] = await insider.run<{ id: number }>(
      sql`SELECT id FROM events WHERE ${isSealed(sql`subject`, "event", order)}`,
    );
    assert.ok(columns.includes(column));
    const pick = (name: string, kept: Statement) => (name === column ? value : kept);
    await insider.run(sql`
      INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject, row_mac)
      SELECT ${pick("occurred_at", sql`occurred_at`)}, ${pick("topic", sql`topic`)}, ${pick("event_id", sql`event_id`)},
        ${pick("partner_id", sql`partner_id`)}, ${pick("environment", sql`environment`)}, ${pick("subject", sql`subject`)},
        ${pick("row_mac", sql`row_mac`)}
      FROM events WHERE id = ${id?.id}`);
    const [ended] = await receiver.ended(hook);
    assert.equal(ended?.["reason"], "event_altered", column);
    assert.equal(hook.caught(), 0, column);
    await receiver.ok("DELETE", `/api/partner/webhooks/${hook.id}`);
  }
  assert.deepEqual((await feedOf(attacker)).events, []);
  assert.deepEqual((await feedOf(live)).events, []);
});

test("an event to which an insider gave a position is not listed, and readers miss no later event", async () => {
  const client = await running.partner();
  const first = await client.order();
  await feedOf(client);
  const id = await plant(client, first);
  await insider.run(sql`UPDATE event_chain SET position = 2, head = sha256('x') WHERE event = ${id}`);
  const later = await client.order();
  const ids: string[] = [];
  let cursor = "";
  for (let n = 0; n < 4; n++) {
    const page: Feed = await feedOf(client, `limit=1${cursor && `&cursor=${cursor}`}`);
    ids.push(...page.events.map((event) => event.id));
    ({ cursor } = page);
  }
  assert.deepEqual(ids, [`order.created:${first}`, `order.created:${later}`]);
});

test("events after more forged ones than one batch contains get their positions and are sent", async () => {
  const client = await running.partner();
  await insider.run(sql`
    INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject)
    SELECT now(), 'payment.cleared', n::text, ${client.partnerId}, 'test', 'x' FROM generate_series(1, 5001) AS n`);
  const hook = await listen(client);
  const order = await client.order();
  assert.equal((await client.ended(hook))[0]?.["reason"], null);
  assert.equal(hook.caught(), 1);
  const { events } = await feedOf(client);
  assert.deepEqual(
    events.map((event) => [event.position, event.id]),
    [[1, `order.created:${order}`]],
  );
});

test("doctor names an event that was copied", async () => {
  const client = await running.partner();
  const order = await client.order();
  const [copy] = await insider.run<{ id: number }>(sql`
    INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject, row_mac)
    SELECT occurred_at, topic, event_id, partner_id, environment, subject, row_mac FROM events WHERE ${isSealed(sql`subject`, "event", order)}
    RETURNING id`);
  assert.match((await eventsFinding())?.detail ?? "", new RegExp(`; of events that were copied: event ${copy?.id}$`));
});
