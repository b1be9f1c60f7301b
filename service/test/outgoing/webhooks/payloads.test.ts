import assert from "node:assert/strict";
import { verifyWebhook } from "@signsealship/sdk";
import type { Caught } from "@signsealship/testing/doubles/webhook-catcher";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { changeOrder, writeEvents } from "@signsealship/testing/row-mac";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import Schema from "typebox/schema";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { payloads } from "../../../src/outgoing/webhooks/payload-schemas.ts";
import { orderTopics, topics } from "../../../src/outgoing/webhooks/topics.ts";
import { type Client, type Hook, openWebhooksService, type WebhooksService } from "./webhooks-service.ts";

const { after, before, test } = testsNeeding("openssl");

let running: WebhooksService;
let client: Client;
let paths = 0;
before(async () => {
  running = await openWebhooksService();
  client = await running.partner();
});
after(() => running.close());

type Body = { type: string; id: string; data: Record<string, string> };
const webhooks = "/api/partner/webhooks";

async function hookFor(...names: string[]): Promise<Hook & { path: string }> {
  const path = `/p${paths++}`;
  return { ...(await client.subscribe(path, names)), path };
}

/** The body of a received delivery, after checks of its signature, headers and published schema. */
async function checked({ headers, body, method }: Caught, secret: string): Promise<Body> {
  assert.equal(method, "POST");
  assert.equal(headers["content-type"], "application/json");
  const signature = String(headers["service-signature"]);
  assert.match(signature, /^t=\d+,v1=[0-9a-f]{64}$/);
  assert.equal(await verifyWebhook(body, signature, secret), true);
  const parsed = JSON.parse(body.toString()) as Body;
  assert.equal(headers["service-event"], parsed.type);
  const schema = payloads[parsed.type]?.schema;
  assert.ok(schema && Schema.Check(schema, parsed), body.toString());
  return parsed;
}

async function caught(hook: Hook & { path: string }, count = 1): Promise<Body[]> {
  return Promise.all((await running.catcher.wait(hook.path, count)).map((each) => checked(each, hook.secret)));
}

test("order.created states code, status, environment, time and the sent reference", async () => {
  const hook = await hookFor("order.created");
  const orderCode = await client.order({ external_reference: "FILE-2207" });
  const [body] = await caught(hook);
  const [event] = await running.db.query<{ at: Date }>(sql`
    SELECT occurred_at AS at FROM events WHERE ${isSealed(sql`event_id`, "event", `order.created:${orderCode}`)}`);
  assert.deepEqual(body, {
    type: "order.created",
    id: `order.created:${orderCode}`,
    data: {
      orderCode,
      status: "QuoteReady",
      environment: "test",
      occurredAtUtc: event?.at.toISOString(),
      externalReference: "FILE-2207",
    },
  });
});

test("without a reference the member is omitted, never null", async () => {
  const hook = await hookFor("order.created");
  await client.order();
  const [body] = await caught(hook);
  assert.deepEqual(Object.keys(body?.data ?? {}), ["orderCode", "status", "environment", "occurredAtUtc"]);
});

test("the other order topics have the same shape, with the status at the time of dispatch", async () => {
  const hook = await hookFor("payment.cleared", "signature.completed", "shipment.delivered");
  const orderCode = await client.order();
  await changeOrder(running.db, orderCode, sql`status = 'EsignPending'`);
  for (const topic of orderTopics.slice(1)) await running.events(client.partnerId, topic, [orderCode]);
  const bodies = await caught(hook, 3);
  assert.deepEqual(bodies.map(({ type }) => type).sort(), [...orderTopics.slice(1)].sort());
  for (const { type, id, data } of bodies) {
    assert.equal(id, `${type}:${orderCode}`);
    assert.deepEqual([data["orderCode"], data["status"]], [orderCode, "EsignPending"]);
  }
});

test("room.order_attached states room and order, and no passport code", async () => {
  const hook = await hookFor("room.order_attached");
  const orderCode = await client.order();
  const { roomCode } = await client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
  await client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode });
  const [body] = await caught(hook);
  const { occurredAtUtc, ...data } = body?.data ?? {};
  assert.match(String(occurredAtUtc), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(
    { ...body, data },
    {
      type: "room.order_attached",
      id: `room.order_attached:${roomCode}:${orderCode}`,
      data: { roomCode, roomName: "12 Elm Street", event: "room.order_attached", orderCode },
    },
  );
});

test("room.passport_sealed states room and passport code, and no order", async () => {
  const hook = await hookFor("room.passport_sealed");
  const { roomCode } = await client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "9 Oak Lane" });
  const passportVerifyCode = "mfrggzdfmztwq2lknnwg23tpoa";
  const [room] = await running.db.query<{ id: string }>(
    sql`SELECT id FROM rooms WHERE ${isSealed(sql`code`, "room", roomCode)}`,
  );
  const topic = "room.passport_sealed";
  await writeEvents(running.db, [
    {
      at: new Date("2026-03-04T05:06:07.089Z"),
      topic,
      eventId: `${topic}:${roomCode}:${passportVerifyCode}`,
      partnerId: client.partnerId,
      environment: "test",
      subject: passportVerifyCode,
      roomId: room?.id ?? "",
    },
  ]);
  const [body] = await caught(hook);
  assert.deepEqual(body, {
    type: "room.passport_sealed",
    id: `room.passport_sealed:${roomCode}:${passportVerifyCode}`,
    data: {
      roomCode,
      roomName: "9 Oak Lane",
      event: "room.passport_sealed",
      passportVerifyCode,
      occurredAtUtc: "2026-03-04T05:06:07.089Z",
    },
  });
});

/**
 * The payload of a passport's event, as the feed lists it. It is null if the passport's row was altered, and undefined
 * if the feed has no event.
 */
async function fromFeed(passportId = ""): Promise<Body | null | undefined> {
  type Feed = { events: { id: string; payload: Body | null }[] };
  const { events } = await client.ok<Feed>("GET", "/api/partner/events?topics=passport.sealed");
  return events.find(({ id }) => id === passportId)?.payload;
}

test("passport.sealed equals the seal's answer, by a webhook and in the feed", async () => {
  const hook = await hookFor("passport.sealed");
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(makePdf())], { type: "application/pdf" }), "executed.pdf");
  const sealed = await client.ok<Record<string, string>>("POST", "/api/passport/seal", form);
  const verified = await client.ok<Record<string, string>>("GET", `/api/passport/verify/${sealed["verifyCode"]}`);
  const [body] = await caught(hook);
  const { passportId, verifyCode, verifyUrl, docSha256, sealedSha256 } = sealed;
  assert.deepEqual(body, {
    type: "passport.sealed",
    id: passportId,
    data: {
      passportId,
      verifyCode,
      verifyUrl,
      docSha256,
      sealedSha256,
      status: "sealed",
      sealedAtUtc: verified["sealedAtUtc"],
      environment: "test",
    },
  });
  assert.deepEqual(await fromFeed(passportId), body);
});

test("a passport whose row was altered since is sent to nobody", async () => {
  const hook = await hookFor("passport.sealed");
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(makePdf())], { type: "application/pdf" }), "executed.pdf");
  const { passportId } = await client.ok<Record<string, string>>("POST", "/api/passport/seal", form);
  const [first] = await client.ended(hook);
  assert.equal(first?.["state"], "delivered");
  await running.db.query(sql`UPDATE passports SET doc_sha256 = ${"e".repeat(64)} WHERE id = ${passportId}`);
  await client.ok("POST", `${webhooks}/deliveries/${first?.["deliveryId"]}/replay`);
  const [second] = await client.ended(hook, 2);
  assert.deepEqual([second?.["state"], second?.["reason"]], ["failed", "subject_missing"]);
  assert.equal((await caught(hook)).length, 1);
  assert.equal(await fromFeed(passportId), null);
});

test("webhook.test goes only to the requested subscription, whatever its topics", async () => {
  const asked = await hookFor("passport.sealed");
  const beside = await hookFor("passport.sealed");
  const answer = await client.ok("POST", `${webhooks}/${asked.id}/test`);
  assert.deepEqual(Object.keys(answer), ["ok", "deliveryId", "requestId"]);
  const [body] = await caught(asked);
  assert.equal(body?.type, "webhook.test");
  assert.match(String(body?.id), /^webhook\.test:[0-9a-f-]{36}$/);
  assert.deepEqual([body?.data["webhookId"], body?.data["environment"]], [asked.id, "test"]);
  const [delivery] = await client.ended(asked);
  assert.equal(delivery?.["deliveryId"], answer["deliveryId"]);
  assert.deepEqual(await client.ended(beside, 0), []);
});

test("a subscription gets only its own topics, firm and environment", async () => {
  const hook = await hookFor("payment.cleared");
  const [live, other] = [await running.withKey(client.partnerId, "live"), await running.partner()];
  const lives = await live.subscribe("/live", ["order.created"]);
  const others = await other.subscribe("/other", ["order.created"]);
  const [liveCode, otherCode] = [await live.order(), await other.order()];
  await client.order();
  const bodiesAt = async (path: string, secret: string) =>
    Promise.all((await running.catcher.wait(path)).map((each) => checked(each, secret)));
  const [liveBody] = await bodiesAt("/live", lives.secret);
  const [otherBody] = await bodiesAt("/other", others.secret);
  assert.deepEqual([liveBody?.data["orderCode"], liveBody?.data["environment"]], [liveCode, "live"]);
  assert.equal(otherBody?.data["orderCode"], otherCode);
  assert.deepEqual(
    [(await live.ended(lives)).length, (await other.ended(others)).length, (await client.ended(hook, 0)).length],
    [1, 1, 0],
  );
});

test("during the rotation of a secret each delivery has a signature by both, and afterwards only by the new one", async () => {
  const hook = await hookFor("passport.sealed");
  const before = Date.now();
  const rotated = await client.ok<{
    id: string;
    secret: string;
    signatureHeader: string;
    previousSecretExpiresAt: string;
  }>("POST", `${webhooks}/${hook.id}/rotate`);
  assert.deepEqual(Object.keys(rotated), [
    "id",
    "secret",
    "signatureHeader",
    "standardWebhooksSecret",
    "previousSecretExpiresAt",
  ]);
  const overlap = Date.parse(rotated.previousSecretExpiresAt) - before;
  assert.ok(overlap >= 24 * 3600_000 && overlap < 24 * 3600_000 + 60_000);
  const again = await client.ok<{ secret: string }>("POST", `${webhooks}/${hook.id}/rotate`);
  await client.ok("POST", `${webhooks}/${hook.id}/test`);
  const [first] = await running.catcher.wait(hook.path);
  const header = String(first?.headers["service-signature"]);
  assert.match(header, /^t=\d+(,v1=[0-9a-f]{64}){3}$/);
  for (const secret of [hook.secret, rotated.secret, again.secret])
    assert.equal(await verifyWebhook(first?.body ?? "", header, secret), true);
  assert.equal(
    await verifyWebhook(first?.body ?? "", header, `${hook.secret.slice(0, -1)}a`),
    hook.secret.endsWith("a"),
  );
  // Simulates that a day has passed.
  await running.db.query(sql`
    UPDATE webhook_secrets SET expires_at = now() - interval '1 second'
    WHERE webhook_id = ${hook.id} AND expires_at IS NOT NULL`);
  await client.ok("POST", `${webhooks}/${hook.id}/test`);
  const second = (await running.catcher.wait(hook.path, 2))[1];
  assert.ok(second);
  await checked(second, again.secret);
});

test("repeated rotations keep the header short, with the newest secrets in it", async () => {
  const hook = await hookFor("passport.sealed");
  const secrets = [hook.secret];
  for (let n = 0; n < 7; n++)
    secrets.push((await client.ok<{ secret: string }>("POST", `${webhooks}/${hook.id}/rotate`)).secret);
  await client.ok("POST", `${webhooks}/${hook.id}/test`);
  const [first] = await running.catcher.wait(hook.path);
  const header = String(first?.headers["service-signature"]);
  assert.deepEqual(await Promise.all(secrets.map((secret) => verifyWebhook(first?.body ?? "", header, secret))), [
    false,
    false,
    false,
    true,
    true,
    true,
    true,
    true,
  ]);
});

test("every topic that can be chosen has a published payload", () => {
  assert.deepEqual(Object.keys(payloads).sort(), [...topics, "webhook.test"].sort());
});
