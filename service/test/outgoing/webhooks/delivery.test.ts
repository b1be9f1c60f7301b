import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { parseCheckpoint, parseNoteKey, verifyNote } from "@signsealship/evidence/log";
import type { Caught } from "@signsealship/testing/doubles/webhook-catcher";
import { changeOrder, writeEvents } from "@signsealship/testing/row-mac";
import { startService } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import type { EventRow } from "../../../src/kernel/events/events.ts";
import { dayMs } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { type Client, type Delivery, openWebhooksService, type WebhooksService } from "./webhooks-service.ts";

const { after, before, test } = testsNeeding("openssl");

let running: WebhooksService;
let acme: Client;
before(async () => {
  running = await openWebhooksService();
  acme = await running.partner();
});
after(() => running.close());

const webhooks = "/api/partner/webhooks";
const idOf = ({ body }: Caught): string => (JSON.parse(body.toString()) as { id: string }).id;
const hang = () => {};

test("a delivery is pending, then ended with its outcome", async () => {
  const hook = await acme.subscribe("/fields", ["order.created"]);
  const orderCode = await acme.order();
  const [delivery] = await acme.ended(hook);
  const members = [
    "deliveryId",
    "webhookId",
    "eventId",
    "eventName",
    "state",
    "attempts",
    "lastStatusCode",
    "durationMs",
    "reason",
    "destinationUrl",
    "createdAt",
    "completedAt",
    "replayedFrom",
  ];
  assert.deepEqual(Object.keys(delivery ?? {}), members);
  const { deliveryId, createdAt, completedAt, durationMs, ...rest } = delivery ?? {};
  assert.deepEqual(rest, {
    webhookId: hook.id,
    eventId: `order.created:${orderCode}`,
    eventName: "order.created",
    state: "delivered",
    attempts: 1,
    lastStatusCode: 200,
    reason: null,
    destinationUrl: hook.url,
    replayedFrom: null,
  });
  assert.ok(Number.isInteger(durationMs) && String(completedAt) >= String(createdAt));
  assert.deepEqual(await acme.ok("GET", `${webhooks}/deliveries/${deliveryId}`), delivery);
});

test("contains the newest checkpoint of the log of the firm's seals", async () => {
  const hook = await acme.subscribe("/checkpoint", ["order.created"]);
  await acme.order();
  await acme.ended(hook);
  const [caught] = await running.catcher.wait("/checkpoint");
  const value = String(caught?.headers["service-log-checkpoint"]);
  const { origin, note } = parseCheckpoint(Buffer.from(value, "base64").toString());
  const [tree] = await running.db.query<{ origin: string; key: string }>(
    sql`SELECT origin, note_key AS key FROM log_trees WHERE log = 'test'`,
  );
  assert.equal(origin, tree?.origin);
  assert.equal(await verifyNote(note, await parseNoteKey(tree?.key ?? "")), "signed");
});

test("a refused delivery is not sent again", async () => {
  running.catcher.answer("/refuses", (_request, response) => void response.writeHead(503).end());
  const hook = await acme.subscribe("/refuses", ["order.created"]);
  await acme.order();
  const [delivery] = await acme.ended(hook);
  assert.deepEqual(
    [delivery?.["state"], delivery?.["lastStatusCode"], delivery?.["reason"], delivery?.["attempts"]],
    ["failed", 503, "http_status", 1],
  );
  await acme.ok("POST", `${webhooks}/${hook.id}/test`);
  await acme.ended(hook, 2);
  assert.equal((await running.catcher.wait("/refuses", 2)).length, 2);
});

test("a replay is a separate delivery: the same event id, a body from the present records", async () => {
  const hook = await acme.subscribe("/replay", ["order.created"]);
  const orderCode = await acme.order();
  const [first] = await acme.ended(hook);
  await changeOrder(running.db, orderCode, sql`status = 'Delivered'`);
  const answer = await acme.ok("POST", `${webhooks}/deliveries/${first?.["deliveryId"]}/replay`);
  assert.deepEqual(Object.keys(answer), ["ok", "deliveryId", "replayedFrom", "requestId"]);
  assert.equal(answer["replayedFrom"], first?.["deliveryId"]);
  const [second] = await acme.ended(hook, 2);
  assert.deepEqual(
    [second?.["deliveryId"], second?.["replayedFrom"], second?.["eventId"]],
    [answer["deliveryId"], first?.["deliveryId"], first?.["eventId"]],
  );
  const bodies = (await running.catcher.wait("/replay", 2)).map(
    ({ body }) => JSON.parse(body.toString()) as { id: string; data: { status: string } },
  );
  assert.deepEqual(
    bodies.map(({ id, data }) => [id, data.status]),
    [
      [`order.created:${orderCode}`, "QuoteReady"],
      [`order.created:${orderCode}`, "Delivered"],
    ],
  );
  await acme.ok("DELETE", `${webhooks}/${hook.id}`);
  assert.equal(
    await acme.refused(409, "POST", `${webhooks}/deliveries/${first?.["deliveryId"]}/replay`),
    "The webhook of this delivery was deleted.",
  );
});

test("deliveries of all subscriptions are paged newest first and filtered", async () => {
  const client = await running.partner();
  running.catcher.answer("/f-bad", (_request, response) => void response.writeHead(500).end());
  const good = await client.subscribe("/f-good", ["order.created", "payment.cleared"]);
  const bad = await client.subscribe("/f-bad", ["payment.cleared"]);
  const [one, two] = [
    await client.order({ external_reference: "A-1" }),
    await client.order({ external_reference: "A-2" }),
  ];
  await running.events(client.partnerId, "payment.cleared", [one]);
  await client.ended(good, 3);
  await client.ended(bad, 1);
  const find = async (query: string) => {
    const page = await client.ok<{ deliveries: Delivery[]; nextCursor: string | null; requestId: string }>(
      "GET",
      `${webhooks}/deliveries${query}`,
    );
    assert.deepEqual(Object.keys(page), ["deliveries", "nextCursor", "requestId"]);
    return page;
  };
  const ids = async (query: string) =>
    (await find(query)).deliveries.map(({ eventId, state }) => `${eventId} ${state}`).sort();
  const createdOne = `order.created:${one} delivered`;
  const createdTwo = `order.created:${two} delivered`;
  const paid = `payment.cleared:${one} delivered`;
  const failed = `payment.cleared:${one} failed`;
  assert.deepEqual(await ids(""), [createdOne, createdTwo, paid, failed].sort());
  assert.deepEqual(await ids("?topic=order.created"), [createdOne, createdTwo].sort());
  assert.deepEqual(await ids(`?order=${one}`), [createdOne, paid, failed].sort());
  assert.deepEqual(await ids("?external_reference=A-2"), [createdTwo]);
  assert.deepEqual(await ids("?status=failed"), [failed]);
  assert.deepEqual(await ids(`?status=delivered&topic=payment.cleared&order=${one}&external_reference=A-1`), [paid]);
  for (const query of ["?status=gone", "?topic=x", "?order=x", "?external_reference=none"])
    assert.deepEqual(await ids(query), []);
  const all = (await find("")).deliveries.map(({ deliveryId }) => deliveryId);
  const listed: unknown[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Awaited<ReturnType<typeof find>> = await find(`?limit=3&cursor=${cursor}`);
    listed.push(...page.deliveries.map(({ deliveryId }) => deliveryId));
    cursor = page.nextCursor;
  }
  assert.deepEqual(listed, all);
  assert.equal((await find("?limit=0")).deliveries.length, 1);
  for (const query of [
    "?limit=x",
    "?cursor=x",
    "?cursor=00000000-0000-4000-8000-000000000000",
    "?topic=a&topic=b",
    "?order=%00",
  ])
    await client.refused(400, "GET", `${webhooks}/deliveries${query}`);
  const foreign = await acme.refused(400, "GET", `${webhooks}/deliveries?cursor=${all[0]}`);
  assert.equal(foreign, "cursor must be one that this list has returned.");
});

test("a hanging endpoint delays neither the order nor anybody else's deliveries", async () => {
  const [slow, quick] = [await running.partner(), await running.partner()];
  running.catcher.answer("/hangs", hang);
  const hanging = await slow.subscribe("/hangs", ["payment.cleared", "order.created"]);
  await running.events(slow.partnerId, "payment.cleared", new Array(200).fill(await slow.order()));
  const beside = await slow.subscribe("/beside", ["order.created"]);
  const hook = await quick.subscribe("/quick", ["order.created"]);
  for (let n = 0; n < 20; n++) await quick.order();
  assert.equal((await quick.ended(hook, 20)).length, 20);
  await slow.order();
  await slow.ended(beside);
  const [row] = await running.db.query<{ pending: number }>(sql`
    SELECT count(*) AS pending FROM webhook_deliveries WHERE webhook_id = ${hanging.id} AND state = 'pending'`);
  assert.ok(Number(row?.pending) > 100, "its own queue still waits");
  await slow.ok("DELETE", `${webhooks}/${hanging.id}`);
});

test("two nodes send 10,000 queued events once each", async () => {
  const second = await startService(running.env);
  try {
    const client = await running.partner();
    const hooks = await Promise.all(["/many-a", "/many-b"].map((path) => client.subscribe(path, ["payment.cleared"])));
    const orderCode = await client.order();
    const cleared = { at: new Date(), topic: "payment.cleared", subject: orderCode };
    const events = Array.from({ length: 5000 }, (_, n): EventRow => {
      return { ...cleared, eventId: `payment.cleared:${n + 1}`, partnerId: client.partnerId, environment: "test" };
    });
    await running.db.transaction((tx) => writeEvents(tx, events));
    const left = async () =>
      (
        await running.db.query<{ n: number }>(sql`
          SELECT count(*) AS n FROM webhook_deliveries WHERE partner_id = ${client.partnerId} AND state <> 'delivered'`)
      )[0]?.n;
    const attempts = () =>
      running.db.query(sql`
        SELECT attempts, count(*) AS n, max(duration_ms) AS longest FROM webhook_deliveries
        WHERE partner_id = ${client.partnerId} GROUP BY attempts`);
    while (Number(await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
    for (const path of ["/many-a", "/many-b"]) {
      const sent = running.catcher.caught.filter((each) => each.path === path).map(idOf);
      assert.deepEqual([sent.length, new Set(sent).size], [5000, 5000], JSON.stringify(await attempts()));
    }
    assert.equal(hooks.length, 2);
  } finally {
    await second.stop();
  }
});

test("one event with a hundred subscriptions is sent to each once", async () => {
  const client = await running.partner();
  for (let n = 0; n < 100; n++) await client.subscribe(`/hundred-${n}`, ["order.created"]);
  await client.order();
  for (let n = 0; n < 100; n++) await running.catcher.wait(`/hundred-${n}`);
  assert.equal(running.catcher.caught.filter(({ path }) => path.startsWith("/hundred-")).length, 100);
});

test("the metrics of deliveries are on /metrics", async () => {
  const text = await (await fetch(`${running.service.baseUrl}/metrics`)).text();
  assert.match(text, /^webhook_deliveries_total\{outcome="delivered"\} [1-9]/m);
  assert.match(text, /^webhook_deliveries_total\{outcome="failed"\} [1-9]/m);
});

test("a delivery's request and response are stored, limited in size and without the sent body", async () => {
  const firm = await running.partner();
  running.catcher.answer("/exchange", (_request, response) => {
    response.writeHead(500, { "content-type": "text/html", "x-long": "y".repeat(2_000) });
    response.end(`<script>alert(1)</script>${"z".repeat(10_000)}`);
  });
  const hook = await firm.subscribe("/exchange", ["order.created"]);
  const orderCode = await firm.order();
  const [delivery] = await firm.ended(hook);
  const path = `${webhooks}/deliveries/${delivery?.["deliveryId"]}/exchange`;
  type Exchange = {
    failure: string;
    request: { headers: Record<string, string>; payload: { text: string; isAsSent: boolean | null } };
    response: { statusCode: number; headers: Record<string, string>; body: string; isCut: boolean };
  };
  const exchange = await firm.ok<Exchange>("GET", path);
  const [caught] = await running.catcher.wait("/exchange");
  assert.deepEqual(exchange.request.payload, { text: caught?.body.toString(), isAsSent: true });
  assert.equal(exchange.request.headers["Service-Signature"], caught?.headers["service-signature"]);
  assert.deepEqual([exchange.failure, exchange.response.statusCode], ["Answered 500", 500]);
  assert.match(exchange.response.body, /^<script>alert\(1\)<\/script>z+$/);
  assert.deepEqual([exchange.response.body.length, exchange.response.isCut], [4096, true]);
  assert.equal(exchange.response.headers["x-long"]?.length, 500);
  // The service reconstructs the earlier status from the body's hash. If anything else in the record has changed, the
  // rebuilt body differs from the sent one.
  await changeOrder(running.db, orderCode, sql`status = 'Delivered'`);
  assert.deepEqual((await firm.ok<Exchange>("GET", path)).request.payload, exchange.request.payload);
  await changeOrder(running.db, orderCode, sql`external_reference = 'other'`);
  assert.equal((await firm.ok<Exchange>("GET", path)).request.payload.isAsSent, false);
  await acme.refused(404, "GET", path);
  const [row] = await running.db.query<{ plain: boolean }>(sql`
    SELECT position(convert_to('alert(1)', 'UTF8') IN exchange) > 0 AS plain FROM webhook_deliveries WHERE webhook_id = ${hook.id}`);
  assert.equal(row?.plain, false);
});

test("deliveries that failed since a time are sent again, each event once, and not those that arrived meanwhile", async () => {
  const firm = await running.partner();
  running.catcher.answer("/away", (_request, response) => void response.writeHead(503).end());
  const hook = await firm.subscribe("/away", ["order.created", "payment.cleared"]);
  const codes = [await firm.order(), await firm.order(), await firm.order()];
  await firm.ended(hook, 3);
  running.catcher.answer("/away", (_request, response) => void response.end());
  await running.events(firm.partnerId, "payment.cleared", codes.slice(0, 1));
  await firm.ok("POST", `${webhooks}/${hook.id}/test`);
  const replay = (since: unknown, caller = firm) =>
    caller.ok<{ replayed: number; left: number }>("POST", `${webhooks}/${hook.id}/replay-failed`, { since });
  const all = "2020-01-01T00:00:00Z";
  assert.equal((await replay(new Date(Date.now() + 60_000).toISOString())).replayed, 0);
  const { replayed, left } = await replay(all);
  assert.deepEqual([replayed, left], [3, 0]);
  assert.equal((await replay(all)).replayed, 0);
  const ended = await firm.ended(hook, 8);
  assert.deepEqual(
    ended
      .filter(({ replayedFrom }) => replayedFrom !== null)
      .map(({ state, eventId }) => `${state} ${eventId}`)
      .sort(),
    codes.map((code) => `delivered order.created:${code}`).sort(),
  );
  assert.equal((await replay(all)).replayed, 0);
  const url = `${webhooks}/${hook.id}/replay-failed`;
  for (const since of [undefined, 1, "yesterday", "2026-13-01T00:00:00Z", "2026-01-01"])
    await firm.refused(400, "POST", url, { since });
  for (const until of [1, "tomorrow", "2019-12-31T00:00:00Z", new Date(Date.now() + 60_000).toISOString()])
    await firm.refused(400, "POST", url, { since: all, until });
  await acme.refused(404, "POST", url, { since: all });
  const found = await firm.ok<{ deliveries: Delivery[] }>(
    "GET",
    `${webhooks}/deliveries?webhook=${hook.id}&status=failed&since=${all}`,
  );
  assert.equal(found.deliveries.length, 3);
  await firm.refused(400, "GET", `${webhooks}/deliveries?webhook=x`);
  await firm.refused(400, "GET", `${webhooks}/deliveries?since=x`);
});

test("a failed delivery is found by the time when it was queued, although its event is reported a day late", async () => {
  const firm = await running.partner();
  running.catcher.answer("/late", (_request, response) => void response.writeHead(503).end());
  const hook = await firm.subscribe("/late", ["payment.cleared"]);
  const subject = await firm.order();
  const begin = new Date();
  const at = new Date(begin.getTime() - dayMs);
  const late = { at, topic: "payment.cleared", partnerId: firm.partnerId, environment: "test", subject } as const;
  await running.db.transaction((tx) => writeEvents(tx, [{ ...late, eventId: randomUUID() }]));
  const [delivery] = await firm.ended(hook);
  assert.ok(String(delivery?.["createdAt"]) >= begin.toISOString(), String(delivery?.["createdAt"]));
  const [sent] = await running.catcher.wait("/late");
  const { data } = JSON.parse(String(sent?.body)) as { data: { occurredAtUtc: string } };
  assert.equal(data.occurredAtUtc, at.toISOString());
  const since = begin.toISOString();
  const { replayed } = await firm.ok<{ replayed: number }>("POST", `${webhooks}/${hook.id}/replay-failed`, { since });
  assert.equal(replayed, 1);
});

test("each event is replayed once for a period, even if it fails again, and never about a deleted record", async () => {
  const firm = await running.partner();
  running.catcher.answer("/broken", (_request, response) => void response.writeHead(500).end());
  const hook = await firm.subscribe("/broken", ["order.created", "payment.cleared"]);
  await running.events(firm.partnerId, "payment.cleared", ["gone"]);
  await firm.order();
  const before = await firm.ended(hook, 2);
  assert.deepEqual(before.map(({ reason }) => reason).sort(), ["http_status", "subject_missing"]);
  type Answer = { replayed: number; left: number; until: string };
  const since = "2020-01-01T00:00:00Z";
  const replay = (until?: string) => firm.ok<Answer>("POST", `${webhooks}/${hook.id}/replay-failed`, { since, until });
  const first = await replay();
  assert.deepEqual([first.replayed, first.left], [1, 0]);
  await firm.ended(hook, 3);
  const again = await replay(first.until);
  assert.deepEqual([again.replayed, again.left, again.until], [0, 0, first.until]);
  // Without `until`, each call covers a new period that ends now. Even so, an event is replayed at most once a minute.
  const many = await Promise.all(Array.from({ length: 30 }, () => replay()));
  assert.deepEqual(new Set(many.map(({ replayed, left }) => replayed + left)), new Set([0]));
  await running.db.query(sql`
    UPDATE webhook_deliveries SET created_at = created_at - interval '1 minute' WHERE webhook_id = ${hook.id}`);
  await new Promise((resolve) => setTimeout(resolve, 5));
  const until = new Date().toISOString();
  await firm.order();
  await firm.ended(hook, 4);
  assert.equal((await replay(until)).replayed, 1);
});

test("while more than 200 deliveries of a webhook are pending, no failed ones are added", async () => {
  const firm = await running.partner();
  running.catcher.answer("/full", hang);
  const hook = await firm.subscribe("/full", ["payment.cleared"]);
  const [{ id: order = "" } = {}] = await running.db.query<{ id: string }>(
    sql`SELECT code AS "id@order" FROM orders LIMIT 1`,
  );
  const cleared = { topic: "payment.cleared", partnerId: firm.partnerId, environment: "test", subject: order } as const;
  const events = (count: number) =>
    running.db.transaction((tx) => {
      const made = Array.from({ length: count }, () => ({ ...cleared, at: new Date(), eventId: randomUUID() }));
      return writeEvents(tx, made);
    });
  const since = "2020-01-01T00:00:00Z";
  const url = `${webhooks}/${hook.id}/replay-failed`;
  await events(201);
  assert.match(
    JSON.stringify(await firm.refused(409, "POST", url, { since })),
    /More than 200 deliveries of this webhook are on their way/,
  );
  await running.db.query(sql`
    UPDATE webhook_deliveries SET state = 'failed', reason = 'timeout', completed_at = now() - interval '1 second'
    WHERE webhook_id = ${hook.id}`);
  const answer = await firm.ok<{ replayed: number; left: number }>("POST", url, { since });
  assert.deepEqual([answer.replayed, answer.left], [200, 1]);
  await firm.ok("DELETE", `${webhooks}/${hook.id}`);
});
