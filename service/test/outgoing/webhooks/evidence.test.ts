import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { standardSecret } from "@signsealship/sdk";
import type { Caught } from "@signsealship/testing/doubles/webhook-catcher";
import { writeEvents } from "@signsealship/testing/row-mac";
import { temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { Webhook } from "standardwebhooks";
import { placeEvents } from "../../../src/kernel/events/events.ts";
import { type Client, openWebhooksService, type WebhooksService } from "./webhooks-service.ts";

const { after, before, test } = testsNeeding("openssl");

type FeedEvent = { position: number; head: string; type: string; id: string; payload: { id: string } | null };
type Feed = { events: FeedEvent[]; cursor: string };

let running: WebhooksService;
let client: Client;
before(async () => {
  running = await openWebhooksService();
  client = await running.partner();
});
after(() => running.close());

const feed = (caller: Client, query = "") => caller.ok<Feed>("GET", `/api/partner/events${query}`);
const standardForm = (secret: string) => `whsec_${createHash("sha256").update(secret).digest("base64")}`;
const headersOf = ({ headers }: Caught) => headers as Record<string, string>;

/** An independent implementation of the hash chain of events, written from the documentation. */
function headsOf(events: readonly FeedEvent[]): string[] {
  let head = Buffer.alloc(32);
  return events.map(({ position, type, id }) => {
    head = createHash("sha256").update(head).update(`${position}\n${type}\n${id}\n`).digest();
    return head.toString("hex");
  });
}

test("the package standardwebhooks accepts a delivery with the secret's standard form, and no other secret", async () => {
  const hook = await client.subscribe("/standard", ["order.created"]);
  const code = await client.order();
  const [caught] = await running.catcher.wait("/standard");
  assert.ok(caught);
  const headers = headersOf(caught);
  assert.equal(headers["webhook-id"], `order.created:${code}`);
  assert.match(headers["webhook-signature"] ?? "", /^v1,[A-Za-z0-9+/]{43}=$/);
  assert.equal(await standardSecret(hook.secret), standardForm(hook.secret));
  const verify = (secret: string, body = caught.body) => new Webhook(standardForm(secret)).verify(body, headers);
  assert.deepEqual(verify(hook.secret), JSON.parse(caught.body.toString()));
  assert.throws(() => verify(`svc_whsec_${"a".repeat(52)}`));
  assert.throws(() => verify(hook.secret, Buffer.concat([caught.body, Buffer.from(" ")])));
});

test("during a rotation the standard header has a signature for each secret, separated by spaces", async () => {
  const hook = await client.subscribe("/standard-rotated", ["order.created"]);
  const { secret } = await client.ok<{ secret: string }>("POST", `/api/partner/webhooks/${hook.id}/rotate`);
  await client.order();
  const [caught] = await running.catcher.wait("/standard-rotated");
  assert.ok(caught);
  assert.match(headersOf(caught)["webhook-signature"] ?? "", /^v1,\S+ v1,\S+$/);
  for (const each of [hook.secret, secret]) new Webhook(standardForm(each)).verify(caught.body, headersOf(caught));
});

test("once the public key is created, v1a is a signature that OpenSSL accepts; each firm and environment has its own key", async () => {
  const folder = temporaryFolder();
  const firm = await running.partner();
  const path = "/api/partner/webhooks/public-key";
  await firm.refused(404, "GET", path);
  const key = await firm.ok<{ publicKey: string; publicKeyPem: string; environment: string }>("POST", path);
  assert.match(key.publicKey, /^whpk_[A-Za-z0-9+/]{43}=$/);
  for (const method of ["GET", "POST"])
    assert.deepEqual({ ...(await firm.ok(method, path)), requestId: "" }, { ...key, requestId: "" });
  const others = await Promise.all(
    [client, await running.withKey(firm.partnerId, "live")].map((other) => other.ok<typeof key>("POST", path)),
  );
  assert.equal(new Set([key, ...others].map(({ publicKey }) => publicKey)).size, 3);

  const hook = await firm.subscribe("/asymmetric", ["order.created"]);
  await firm.order();
  const [caught] = await running.catcher.wait("/asymmetric");
  assert.ok(caught);
  const headers = headersOf(caught);
  // The package of Standard Webhooks ignores signatures of schemes that it doesn't know.
  new Webhook(standardForm(hook.secret)).verify(caught.body, headers);
  const [, signature = ""] = / v1a,(\S+)$/.exec(headers["webhook-signature"] ?? "") ?? [];
  const file = (name: string, bytes: string | Buffer) => {
    writeFileSync(join(folder.path, name), bytes);
    return join(folder.path, name);
  };
  const signed = Buffer.concat([Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`), caught.body]);
  const [pem, sig] = [file("key.pem", key.publicKeyPem), file("sig", Buffer.from(signature, "base64"))];
  const verify = (bytes: Buffer) =>
    execFileSync(
      "openssl",
      ["pkeyutl", "-verify", "-pubin", "-inkey", pem, "-rawin", "-in", file("in", bytes), "-sigfile", sig],
      { stdio: "pipe" },
    );
  assert.match(String(verify(signed)), /Verified Successfully/);
  assert.throws(() => verify(Buffer.concat([signed, Buffer.from(" ")])));
  folder.remove();
});

test("every delivery states its event's position in the firm's chain, and the feed returns events that an endpoint missed", async () => {
  const firm = await running.partner();
  const hook = await firm.subscribe("/chain", ["payment.cleared"]);
  const codes = [await firm.order(), await firm.order()];
  await running.events(firm.partnerId, "payment.cleared", codes);
  const caught = await running.catcher.wait("/chain", 2);
  const { events, cursor } = await feed(firm);
  assert.deepEqual(
    events.map(({ position, type }) => [position, type]),
    [
      [1, "order.created"],
      [2, "order.created"],
      [3, "payment.cleared"],
      [4, "payment.cleared"],
    ],
  );
  assert.deepEqual(
    events.map(({ head }) => head),
    headsOf(events),
  );
  assert.deepEqual(
    caught.map(({ headers }) => headers["service-chain"]).sort(),
    events.slice(2).map(({ position, head }) => `n=${position}; head=${head}`),
  );
  assert.deepEqual(
    events.slice(2).map(({ payload }) => payload),
    caught.map(({ body }) => JSON.parse(body.toString()) as unknown).sort((a, b) => order(a) - order(b)),
  );
  const [delivery] = await firm.ended(hook, 2);
  await firm.ok("POST", `/api/partner/webhooks/deliveries/${delivery?.["deliveryId"]}/replay`);
  const again = (await running.catcher.wait("/chain", 3))[2];
  const first = caught.find(({ headers }) => headers["webhook-id"] === again?.headers["webhook-id"]);
  assert.equal(again?.headers["service-chain"], first?.headers["service-chain"]);
  assert.deepEqual((await feed(firm, `?cursor=${cursor}`)).events, []);
  function order(body: unknown): number {
    return codes.indexOf((body as { data: { orderCode: string } }).data.orderCode);
  }
});

test("events that many callers record and add concurrently have one chain without a gap", async () => {
  const firm = await running.partner();
  const owner = { partnerId: firm.partnerId, environment: "test" } as const;
  const rounds = Number(process.env["CHAIN_ROUNDS"] ?? 20);
  await Promise.all(
    Array.from({ length: rounds }, async (_, n) => {
      await running.events(firm.partnerId, "payment.cleared", [`${n}-a`, `${n}-b`]);
      await placeEvents(running, owner);
    }),
  );
  const { events } = await feed(firm, "?limit=100");
  assert.deepEqual(
    events.map(({ position }) => position),
    Array.from({ length: rounds * 2 }, (_, n) => n + 1),
  );
  assert.equal(new Set(events.map(({ id }) => id)).size, rounds * 2);
  assert.deepEqual(
    events.map(({ head }) => head),
    headsOf(events),
  );
});

test("an event that commits after a later one was added gets the next position, and no reader misses it", async () => {
  const firm = await running.partner();
  const { cursor } = await running.db.transaction(async (tx) => {
    const late = { at: new Date(), topic: "payment.cleared", eventId: "late", subject: "late" };
    await writeEvents(tx, [{ ...late, partnerId: firm.partnerId, environment: "test" }]);
    await running.events(firm.partnerId, "payment.cleared", ["early"]);
    return feed(firm);
  });
  assert.equal(cursor, "1");
  const { events } = await feed(firm, `?cursor=${cursor}`);
  assert.deepEqual(
    events.map(({ position, id }) => [position, id]),
    [[2, "late"]],
  );
});

test("the feed waits for an event, filters topics, pages, and refuses foreign cursors", async () => {
  const firm = await running.partner();
  const { cursor } = await feed(firm, "?cursor=latest");
  const waiting = feed(firm, `?cursor=${cursor}&wait=20`);
  const code = await firm.order();
  assert.deepEqual(
    (await waiting).events.map(({ id }) => id),
    [`order.created:${code}`],
  );
  await running.events(firm.partnerId, "payment.cleared", [code]);
  const narrowed = await feed(firm, "?topics=payment.cleared,shipment.delivered");
  assert.deepEqual(
    narrowed.events.map(({ position }) => position),
    [2],
  );
  const page = await feed(firm, "?limit=1");
  assert.equal(page.cursor, "1");
  assert.deepEqual((await feed(await running.withKey(firm.partnerId, "live"))).events, []);
  for (const query of ["?cursor=99", "?cursor=x", "?topics=order.made", "?wait=-1", "?limit=x"])
    await firm.refused(400, "GET", `/api/partner/events${query}`);
});
