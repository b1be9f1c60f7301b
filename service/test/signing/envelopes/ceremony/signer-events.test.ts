import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import Schema from "typebox/schema";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { payloads } from "../../../../src/outgoing/webhooks/payload-schemas.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { browser, openCeremonyService, signBy } from "./ceremony-service.ts";

const running = await forTests(openCeremonyService({}));

type Payload = { type: string; id: string; data: Record<string, unknown> };
type Feed = { events: { type: string; id: string; payload: Payload }[]; cursor: string };

/** Reads the events about an order's signers, oldest first. */
async function told(orderCode: string): Promise<Payload[]> {
  const found: Payload[] = [];
  for (let cursor = "0", count = -1; count !== 0; ) {
    const { events, cursor: next } = await running.client.ok<Feed>(
      "GET",
      `/api/partner/events?cursor=${cursor}&topics=signature.requested,signature.viewed,signature.signed,signature.declined`,
    );
    found.push(...events.map(({ payload }) => payload));
    [cursor, count] = [next, events.length];
  }
  return found.filter(({ data }) => data["orderCode"] === orderCode);
}

/** Begins a signer's turn on a device that a member hands over. @returns the token of the signer's pages */
async function turnOnDevice(orderCode: string, n: number): Promise<string> {
  const key = running.headers.Authorization.replace("Bearer ", "");
  const { headers } = await newMember(running.service, "host@signer-events.example", key);
  const { baseUrl } = running.service;
  const opened = await postForm(`${baseUrl}/dashboard/orders/${orderCode}/sitting`, {}, headers);
  const cookie = opened.headers.getSetCookie().find((line) => line.startsWith("sitting=")) ?? assert.fail("no device");
  const token = cookie.split(";")[0]?.replace("sitting=", "") ?? "";
  return (await running.ceremony.beginTurn(token, n, browser)).session;
}

const steps = (events: readonly Payload[]) => events.map(({ type, data }) => `${type} ${data["signer"]}`);
const people = (...names: string[]) =>
  names.map((name, index) => ({ name, email: `${name.toLowerCase()}@signer-events.example`, routing: index + 1 }));

test("a firm is notified once of each step of each signer, in order and without personal data", async () => {
  const signers = people("Ada", "Bob");
  const orderCode = await running.order(signers);
  const ada = await running.linkOf("ada@signer-events.example");
  await running.ceremony.opened(ada, browser);
  await running.ceremony.opened(ada, browser);
  await signBy(running.ceremony, ada, "Ada");
  const bob = await running.linkOf("bob@signer-events.example");
  await running.ceremony.opened(bob, browser);
  await signBy(running.ceremony, bob, "Bob");
  const events = await told(orderCode);
  assert.deepEqual(steps(events), [
    "signature.requested 1",
    "signature.viewed 1",
    "signature.signed 1",
    "signature.requested 2",
    "signature.viewed 2",
    "signature.signed 2",
  ]);
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
  for (const { type, data } of events)
    assert.equal(data["channel"], type === "signature.requested" ? undefined : "mail_link", type);
  for (const event of events) {
    assert.match(event.id, new RegExp(`^${event.type}:${orderCode}:[12]:1-\\d+$`));
    const schema = payloads[event.type]?.schema;
    assert.ok(schema && Schema.Check(schema, event), JSON.stringify(event));
    for (const { name, email } of signers)
      assert.ok(!JSON.stringify(event).includes(name) && !JSON.stringify(event).includes(email));
  }
});

test("a signer who declines is reported once, and a signer whose turn had not come is not", async () => {
  const orderCode = await running.order(people("Cleo", "Dan"));
  const link = await running.linkOf("cleo@signer-events.example");
  await running.ceremony.decline(link, { kind: "declined", reason: "The price is wrong." }, browser);
  await assert.rejects(running.ceremony.decline(link, { kind: "declined", reason: "" }, browser));
  const events = await told(orderCode);
  assert.deepEqual(steps(events), ["signature.requested 1", "signature.declined 1"]);
  assert.equal(events.at(-1)?.data["status"], "EsignDeclined");
  assert.equal(events.at(-1)?.data["channel"], "mail_link");
  assert.ok(!JSON.stringify(events).includes("price"));
});

test("an event says whether the signer came by the firm's site or by a device of the firm, and not which", async () => {
  const site = "https://events.example.com";
  await running.client.ok("POST", "/api/partner/embed-origins", { origin: site });
  const signers = people("Fay", "Gus");
  const orderCode = await running.order(signers);
  await running.linkOf("fay@signer-events.example");
  const { url } = await running.client.ok<{ url: string }>("POST", `/api/partner/orders/${orderCode}/signers/1/embed`, {
    origin: site,
  });
  const { session } = await running.ceremony.redeem(url.split("/").at(-1) ?? "", browser);
  const framed = { token: session, session: null };
  await running.ceremony.opened(framed, browser);
  await signBy(running.ceremony, framed, "Fay");
  await running.linkOf("gus@signer-events.example");
  const onDevice = { token: await turnOnDevice(orderCode, 2), session: null };
  await running.ceremony.opened(onDevice, browser);
  await running.ceremony.decline(onDevice, { kind: "declined", reason: "" }, browser);
  const events = await told(orderCode);
  assert.deepEqual(
    events.map(({ type, data }) => `${type.replace("signature.", "")} ${data["signer"]} ${data["channel"]}`),
    [
      "requested 1 undefined",
      "viewed 1 embedded",
      "signed 1 embedded",
      "requested 2 undefined",
      "viewed 2 in_person",
      "declined 2 in_person",
    ],
  );
  assert.ok(!JSON.stringify(events).includes(site), "the event does not name the site");
});

test("an event whose channel was changed in the database is not reported", async () => {
  const orderCode = await running.order(people("Hal"));
  await running.ceremony.opened(await running.linkOf("hal@signer-events.example"), browser);
  assert.equal((await told(orderCode)).length, 2);
  await running.db.transaction(async (tx) => {
    await tx.query(sql`ALTER TABLE events DISABLE TRIGGER USER`);
    await tx.query(
      sql`UPDATE events SET channel = 'embedded' WHERE id = (SELECT max(id) FROM events WHERE channel IS NOT NULL)`,
    );
    await tx.query(sql`ALTER TABLE events ENABLE TRIGGER USER`);
  });
  assert.deepEqual(steps(await told(orderCode)), ["signature.requested 1"]);
});

test("a new link for the same signer is a new event, and refused steps are not reported", async () => {
  const orderCode = await running.order(people("Eve"));
  const link = await running.linkOf("eve@signer-events.example");
  await assert.rejects(
    running.ceremony.sign(link, { revision: 1, mark: { kind: "typed", text: "Eve" }, values: new Map() }, browser),
  );
  await running.client.ok("POST", `/api/partner/orders/${orderCode}/signers/1/replace`, {
    name: "Eve Stone",
    email: "eve-2@signer-events.example",
  });
  await running.linkOf("eve-2@signer-events.example");
  const events = await told(orderCode);
  assert.deepEqual(steps(events), ["signature.requested 1", "signature.requested 1"]);
  assert.notEqual(events[0]?.id, events[1]?.id);
});
