import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf, minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { until } from "@signsealship/testing/until";
import { issueKey } from "../../../src/firms/partners/partners.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { fileForm } from "../../evidence/proof-passports/seal-document.ts";
import { json, openMembersService } from "./members-service.ts";
import { link, newMember, postForm, signIn } from "./signed-in-member.ts";

const running = await forTests(openMembersService());
const { service, db, call, somebody } = running;

/** A live firm with a live and a test key. */
async function liveFirm() {
  const { partnerId, key: live, headers } = await running.newPartner({ live: true });
  const { key: testKey } = await issueKey(running, partnerId, "test");
  return { partnerId, live, testKey, headers };
}

type Holder = { headers: { Cookie: string } };

const meOf = async ({ headers }: Holder) => (await call("/api/partner/me", { headers })).body;

const choose = async ({ headers }: Holder, environment: string) =>
  (await postForm(`${service.baseUrl}/dashboard/environment`, { environment }, headers)).status;

async function userIdOf(partnerId: string, role: string): Promise<string> {
  const [found] = await db.query<{ id: string }>(
    sql`SELECT user_id AS id FROM members WHERE partner_id = ${partnerId} AND role = ${role} ORDER BY linked_at DESC`,
  );
  return found?.id ?? "";
}

const change = async (userId: string, what: string, fields: Record<string, string>, { headers }: Holder) =>
  (await postForm(`${service.baseUrl}/dashboard/team/members/${userId}/${what}`, fields, headers)).status;

const unknownId = "00000000-0000-4000-8000-000000000000";

/** Makes live objects of several kinds. Some have a name or a code that only their owner may see. */
async function liveThings(headers: Record<string, string>) {
  const post = async (path: string, body: BodyInit, more = {}) => {
    const answer = await call(path, { method: "POST", headers: { ...headers, ...more }, body });
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const fields = { ...minimal, email: "live-client@example.com", external_reference: "live-reference" };
  const { orderCode } = await post("/api/partner/orders", orderForm(fields));
  const { roomCode } = await post("/api/rooms", JSON.stringify({ name: "The live room" }), json);
  await post(`/api/rooms/${roomCode}/orders`, JSON.stringify({ orderCode, label: "live-label" }), json);
  const person = { name: "Live Participant", email: "live-participant@example.com" };
  await post(`/api/rooms/${roomCode}/participants`, JSON.stringify(person), json);
  const closing = await post(`/api/rooms/${roomCode}/passport`, "");
  const hook = { url: "https://live-hook.example/x", topics: ["order.created"] };
  const { id: webhookId } = await post("/api/partner/webhooks", JSON.stringify(hook), json);
  const { deliveryId } = await post(`/api/partner/webhooks/${webhookId}/test`, "");
  const { passportId, verifyCode } = await post("/api/passport/seal", fileForm(examplePdf));
  const names = ["live-client", "live-reference", "The live room", "live-label", "Live Participant", "live-hook"];
  const codes = [closing.verifyCode as string, verifyCode as string];
  return { orderCode, roomCode, webhookId, deliveryId, passportId, names: [...names, ...codes] };
}

type Things = Awaited<ReturnType<typeof liveThings>>;
type Route = readonly [method: "GET" | "POST" | "DELETE", path: string, expected: number, form?: object];

/** Requests for live objects on every API route that accepts a session. */
const apiRoutes = ({ webhookId, deliveryId, passportId, orderCode }: Things): readonly Route[] => [
  ["GET", "/api/partner/me", 200],
  ["GET", "/api/partner/launchpad", 200],
  ["GET", "/api/partner/analytics", 200],
  ["GET", "/api/partner/webhooks", 200],
  ["POST", "/api/partner/webhooks", 200, { url: "https://test-hook.example/x", topics: ["order.created"] }],
  ["DELETE", `/api/partner/webhooks/${webhookId}`, 404],
  ["POST", `/api/partner/webhooks/${webhookId}/rotate`, 404],
  ["POST", `/api/partner/webhooks/${webhookId}/test`, 404],
  ["GET", `/api/partner/webhooks/${webhookId}/deliveries`, 404],
  ["GET", `/api/partner/webhooks/deliveries?order=${orderCode}`, 200],
  ["GET", `/api/partner/webhooks/deliveries/${deliveryId}`, 404],
  ["GET", `/api/partner/webhooks/deliveries/${deliveryId}/exchange`, 404],
  ["POST", `/api/partner/webhooks/deliveries/${deliveryId}/replay`, 404],
  ["POST", `/api/partner/webhooks/${webhookId}/replay-failed`, 404, { since: "2026-01-01T00:00:00Z" }],
  ["POST", "/api/partner/webhooks/public-key", 200],
  ["GET", "/api/partner/webhooks/public-key", 200],
  ["GET", "/api/partner/events", 200],
  ["GET", `/api/passport/${passportId}/certificate`, 404],
  ["GET", `/api/passport/${passportId}/certificate/tlog-proof`, 404],
  ["GET", `/api/passport/${passportId}/certificate/ots`, 404],
  ["GET", "/api/partner/playbooks", 200],
  ["POST", "/api/partner/playbooks/approval_gate/run", 400, {}],
];

/** The main pages and forms of the dashboard. */
const pages = ({ orderCode, roomCode, webhookId, deliveryId }: Things): readonly Route[] => [
  ["GET", "/dashboard", 200],
  ["GET", "/dashboard/link", 200],
  ["GET", "/dashboard/analytics", 200],
  ["GET", "/dashboard/orders", 200],
  ["GET", "/dashboard/orders/new", 200],
  ["GET", `/dashboard/orders/${orderCode}`, 404],
  ["POST", `/dashboard/orders/${orderCode}/attach`, 404, { roomCode, label: "x" }],
  ["POST", `/dashboard/orders/${orderCode}/sandbox/checkout`, 404, { outcome: "success" }],
  ["POST", `/dashboard/orders/${orderCode}/sandbox/advance`, 404],
  ["POST", `/dashboard/orders/${orderCode}/sandbox/complete`, 404],
  ["GET", "/dashboard/rooms", 200],
  ["GET", `/dashboard/rooms/${roomCode}`, 404],
  ...(["orders", "participants", "passport", "rotate", "close", "reopen"] as const).map(
    (verb) =>
      ["POST", `/dashboard/rooms/${roomCode}/${verb}`, 404, { orderCode, name: "x", email: "x@x.example" }] as const,
  ),
  ["POST", `/dashboard/rooms/${roomCode}/orders/${orderCode}/detach`, 404],
  ["POST", `/dashboard/rooms/${roomCode}/participants/${unknownId}/remove`, 404],
  ["POST", "/dashboard/rooms", 409, { name: "x", environment: "live" }],
  ["GET", "/dashboard/passports", 200],
  ["GET", "/dashboard/webhooks", 200],
  ["POST", "/dashboard/webhooks", 409, { url: "https://x.example", "topic-order.created": "on", environment: "live" }],
  ["GET", `/dashboard/webhooks/${webhookId}`, 404],
  ["GET", `/dashboard/webhooks/${webhookId}/deliveries`, 404],
  ["GET", `/dashboard/webhooks/deliveries/${deliveryId}`, 404],
  ...(["delete", "rotate", "test", "replay-failed", "public-key", `deliveries/${deliveryId}/replay`] as const).map(
    (verb) => ["POST", `/dashboard/webhooks/${webhookId}/${verb}`, 404] as const,
  ),
  ["GET", "/dashboard/settings", 200],
  ["GET", "/dashboard/team", 200],
  ["GET", "/dashboard/keys", 200],
  ["GET", `/dashboard/keys/${unknownId}`, 404],
  ["POST", "/dashboard/settings/branding", 403, { brandName: "Evil" }],
  ["POST", "/dashboard/environment", 400, { environment: "live" }],
];

/** These columns of a webhook may change at any time, because deliveries to the nonexistent live endpoint fail. */
const counted = ["failures", "failing_since", "alerted_at", "mailed_at"];

/**
 * The firm's live orders, rooms, webhooks and passports without the columns in `counted`. Also the ids and expiry of
 * its webhook secrets, the count of its deliveries, and its own row.
 */
async function liveState(partnerId: string): Promise<string> {
  const live = sql`partner_id = ${partnerId} AND environment = 'live'`;
  const rows = await Promise.all([
    ...[sql`orders`, sql`rooms`, sql`webhooks`, sql`passports`].map((table) =>
      db.query(sql`SELECT (to_jsonb(t) - ${counted}::text[])::text AS row FROM ${table} t WHERE ${live} ORDER BY 1`),
    ),
    db.query(
      sql`SELECT s.id, s.expires_at FROM webhook_secrets s JOIN webhooks w ON w.id = s.webhook_id WHERE ${live}`,
    ),
    db.query(sql`SELECT count(*) AS count FROM webhook_deliveries WHERE ${live}`),
    db.query(sql`SELECT t::text FROM partners t WHERE id = ${partnerId}`),
  ]);
  return JSON.stringify(rows);
}

test("a stranger's mailbox and a firm's test key reach nothing live, on any API route for sessions and on the main pages", async () => {
  const { partnerId, testKey, headers } = await liveFirm();
  const things = await liveThings(headers);
  const stranger = await newMember(service, "stranger@evil.example", testKey);
  assert.equal(stranger.linked.role, "owner");
  const state = await liveState(partnerId);
  const visit = async ([method, path, expected, form]: Route, isApi: boolean) => {
    const isText = form === undefined || method === "GET";
    const asJson = isApi && !path.includes("playbooks");
    const answer = await call(path, {
      method,
      headers: { ...stranger.headers, ...(asJson && !isText && json) },
      ...(!isText && { body: asJson ? JSON.stringify(form) : new URLSearchParams(form as Record<string, string>) }),
    });
    const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
    for (const name of things.names) assert.ok(!text.includes(name), `${method} ${path} tells ${name}`);
    assert.equal(answer.status, expected, `${method} ${path}: ${text.slice(0, 300)}`);
  };
  for (const route of apiRoutes(things)) await visit(route, true);
  for (const route of pages(things)) await visit(route, false);
  assert.equal(await liveState(partnerId), state);
  const again = await signIn(service, "stranger@evil.example");
  assert.equal((await meOf(again)).environment, "test");
});

test("the table contains every route of the interface for sessions", async () => {
  type Operations = Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
  const { paths } = (await call("/openapi.json")).body as { paths: Operations };
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { security = [] }]) => security.some((each) => "session" in each))
      .map(([method]) => `${method.toUpperCase()} ${path.replaceAll(/\{[^}]+\}/g, "*")}`),
  );
  const things = { orderCode: "*", roomCode: "*", webhookId: "*", deliveryId: "*", passportId: "*", names: [] };
  const visited = apiRoutes(things).map(([method, path]) => `${method} ${path.split("?")[0]}`);
  const known = [...visited, "POST /api/partner/link"].map((each) => each.replace("approval_gate", "*"));
  assert.deepEqual(new Set(described), new Set(known));
});

test("a member who then presents a live key works in live, and signs in to live", async () => {
  const { live, testKey } = await liveFirm();
  const email = somebody();
  const member = await newMember(service, email, testKey);
  assert.equal(await choose(member, "live"), 400);
  const start = (await call("/dashboard", { headers: member.headers })).body;
  assert.match(start, /Your firm is live, and this is its test environment\. Steps done/);
  assert.doesNotMatch(start, /until your firm is live/);
  assert.equal((await link(service, member.cookie, live)).status, 200);
  assert.deepEqual([(await meOf(member)).environment, (await meOf(member)).role], ["live", "owner"]);
  assert.equal((await meOf(await signIn(service, email))).environment, "live");
  assert.equal((await link(service, member.cookie, testKey)).status, 200, "a test key takes nothing away");
  assert.equal(await choose(member, "live"), 303);
});

test("only an owner with live access can give it to a member and withdraw it", async () => {
  const { partnerId, live, testKey } = await liveFirm();
  const owner = await newMember(service, somebody(), live);
  const member = await newMember(service, somebody(), testKey);
  const memberId = await userIdOf(partnerId, "member");
  assert.equal(await change(memberId, "live", { live: "on" }, member), 403, "a member");
  for (const wrong of ["", "yes"]) assert.equal(await change(memberId, "live", { live: wrong }, owner), 400);
  assert.equal(await change(unknownId, "live", { live: "on" }, owner), 404);
  assert.equal(await change(memberId, "live", { live: "on" }, owner), 303);
  assert.equal(await choose(member, "live"), 303);
  assert.equal((await meOf(member)).environment, "live");
  assert.equal(await change(memberId, "live", { live: "off" }, owner), 303);
  assert.equal((await meOf(member)).environment, "test");
});

test("an owner with test access can't give live access, or change a member who has it", async () => {
  const { partnerId, live, testKey } = await liveFirm();
  const owner = await newMember(service, somebody(), testKey);
  const colleague = await newMember(service, somebody(), testKey);
  const ofTest = await userIdOf(partnerId, "member");
  await newMember(service, somebody(), live);
  const ofLive = await userIdOf(partnerId, "member");
  assert.notEqual(ofLive, ofTest);
  for (const id of [ofTest, ofLive, await userIdOf(partnerId, "owner")])
    assert.equal(await change(id, "live", { live: "on" }, owner), 403);
  assert.equal(await change(ofLive, "role", { role: "owner" }, owner), 403);
  assert.equal(await change(ofLive, "remove", {}, owner), 403);
  assert.equal(await change(ofTest, "role", { role: "owner" }, owner), 303);
  assert.equal((await meOf(colleague)).role, "owner");
  const settings = (await call("/dashboard/keys", { headers: owner.headers })).body as string;
  assert.doesNotMatch(settings, /<code>svc_pk_…/, "no live key is listed");
  assert.match(settings, /<code>svc_pk_test_…/);
});

test("a firm in test continues: its owner changes the branding and removes members", async () => {
  const { key, partnerId } = await running.newPartner();
  const owner = await newMember(service, somebody(), key);
  const member = await newMember(service, somebody(), key);
  const branding = `${service.baseUrl}/dashboard/settings/branding`;
  assert.equal((await postForm(branding, { brandName: "Acme" }, owner.headers)).status, 303);
  assert.equal(await change(await userIdOf(partnerId, "member"), "remove", {}, owner), 303);
  assert.equal((await call("/api/partner/me", { headers: member.headers })).status, 403);
});

test("after a concurrent raise and removal no removed person has live access", async () => {
  const { partnerId, live, testKey } = await liveFirm();
  const owner = await newMember(service, somebody(), live);
  for (let round = 0; round < 5; round++) {
    const member = await newMember(service, somebody(), testKey);
    const memberId = await userIdOf(partnerId, "member");
    const [raised, removed] = await Promise.all([
      change(memberId, "live", { live: "on" }, owner),
      change(memberId, "remove", {}, owner),
    ]);
    assert.ok(raised === 303 || raised === 404, String(raised));
    assert.equal(removed, 303);
    assert.equal((await call("/api/partner/me", { headers: member.headers })).status, 403);
    assert.equal((await link(service, member.cookie, testKey)).status, 200);
    assert.equal(await choose(member, "live"), 400, "who comes again by a test key begins in test");
    assert.equal(await change(memberId, "remove", {}, owner), 303);
  }
});

test("the operator gives live access and withdraws it, alone or with a role", async () => {
  const { partnerId, testKey } = await liveFirm();
  const member = await newMember(service, somebody(), testKey);
  const id = await userIdOf(partnerId, "owner");
  const raised = await service.cli("member", "set", id, "--live", "on");
  assert.deepEqual(raised, { userId: id, partnerId, liveAccess: true });
  assert.equal(await choose(member, "live"), 303);
  const lowered = await service.cli("member", "set", id, "member", "--live", "off");
  assert.deepEqual(lowered, { userId: id, partnerId, role: "member", liveAccess: false });
  assert.equal((await meOf(member)).environment, "test");
  await assert.rejects(service.cli("member", "set", id), /ended with 2/);
  await assert.rejects(service.cli("member", "set", id, "--live", "maybe"), /ended with 2/);
});

test("the other owners are mailed who connected, and with which kind of key", async () => {
  const { live, testKey } = await liveFirm();
  const [owner, newcomer] = [somebody(), somebody()];
  await newMember(service, owner, live);
  const { cookie } = await newMember(service, newcomer, testKey);
  const mails = () => {
    const folder = join(service.dataDir, "outbox");
    return readdirSync(folder)
      .filter((name) => name.endsWith(".eml"))
      .map((name) => readFileSync(join(folder, name), "utf8").replaceAll("=\r\n", ""))
      .filter((mail) => mail.includes(`To: ${owner}`) && mail.includes(newcomer));
  };
  await until(() => mails().length === 1);
  assert.match(mails()[0] ?? "", /with a test key/);
  assert.equal((await link(service, cookie, live)).status, 200);
  await until(() => mails().length === 2);
  assert.ok(mails().some((mail) => /with a live key/.test(mail)));
});
