import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/order-form";
import type { Service } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { createPartner, issueKey, revokeKey, setPartner } from "../../src/partners/partners.ts";
import { systemClock as clock } from "../../src/platform/clock.ts";
import type { Database } from "../../src/platform/database.ts";
import { sql } from "../../src/platform/sql.ts";
import { link, newMember, postForm, signIn } from "./signed-in-member.ts";

let harness: Harness;
let service: Service;
let db: Database;
let people = 0;

before(async () => {
  harness = await openHarness({ PLAYBOOKS: "on" });
  ({ service, db } = harness);
});
after(() => harness.close());

const somebody = () => `person-${++people}@harbor-title.com`;

async function newPartner({ name = "Acme Title", live = false } = {}) {
  const { partnerId } = await createPartner({ db, clock }, { name, tier: "trial", live });
  const { key, keyId } = await issueKey({ db, clock }, partnerId, live ? "live" : "test");
  return { partnerId, key, keyId, headers: { Authorization: `Bearer ${key}` } };
}

type Sent = { method?: string; headers?: Record<string, string>; body?: BodyInit };

async function call(path: string, { method = "GET", headers = {}, ...more }: Sent = {}) {
  const answer = await fetch(service.baseUrl + path, { method, headers, redirect: "manual", ...more });
  const text = await answer.text();
  const body = (answer.headers.get("content-type") ?? "").includes("json") ? JSON.parse(text) : text;
  return { status: answer.status, headers: answer.headers, body };
}

const json = { "Content-Type": "application/json" };
const form = { "Content-Type": "application/x-www-form-urlencoded" };
const unknownId = "00000000-0000-4000-8000-000000000000";

// Every route of the contract and of the decisions that takes a key or a session.
const sessionOrKey: readonly [method: string, path: string, more?: Sent][] = [
  ["GET", "/api/partner/me"],
  ["GET", "/api/partner/launchpad"],
  ["GET", "/api/partner/analytics"],
  ["GET", "/api/partner/webhooks"],
  ["POST", "/api/partner/webhooks", { headers: json, body: "{}" }],
  ["DELETE", `/api/partner/webhooks/${unknownId}`],
  ["POST", `/api/partner/webhooks/${unknownId}/rotate`],
  ["POST", `/api/partner/webhooks/${unknownId}/test`],
  ["GET", `/api/partner/webhooks/${unknownId}/deliveries`],
  ["GET", "/api/partner/webhooks/deliveries"],
  ["GET", `/api/partner/webhooks/deliveries/${unknownId}`],
  ["POST", `/api/partner/webhooks/deliveries/${unknownId}/replay`],
  ["GET", "/api/partner/playbooks"],
  ["POST", "/api/partner/playbooks/approval_gate/run", { headers: form, body: "kind=k&subjectId=s" }],
];

test("without a key and a session every session-or-key route answers 401, whatever stands in their place", async () => {
  for (const [method, path, more] of sessionOrKey)
    for (const headers of [
      {},
      { Authorization: "Bearer svc_pk_nonsense" },
      { Cookie: `__Host-session=${"a".repeat(52)}` },
    ]) {
      const answer = await call(path, { method, ...more, headers: { ...more?.headers, ...headers } });
      assert.equal(answer.status, 401, `${method} ${path}`);
      assert.deepEqual(answer.body, { error: "Sign in to continue." });
      assert.equal(answer.headers.get("www-authenticate"), "Bearer");
    }
});

test("a session that is linked to nobody is answered with 403 on each of them, and a key beside it goes first", async () => {
  const { cookie } = await signIn(service, somebody());
  const { headers: byKey } = await newPartner();
  for (const [method, path, more] of sessionOrKey) {
    const unlinked = await call(path, { method, ...more, headers: { ...more?.headers, Cookie: cookie } });
    assert.equal(unlinked.status, 403, `${method} ${path}`);
    assert.deepEqual(unlinked.body, {
      error: "This session is not linked to a partner. Link with a partner API key first.",
    });
    const both = await call(path, { method, ...more, headers: { ...more?.headers, Cookie: cookie, ...byKey } });
    assert.ok(![401, 403].includes(both.status), `${method} ${path}: ${both.status}`);
  }
});

test("a linked session opens each of them, also beside a bad key", async () => {
  const { key } = await newPartner();
  const { headers } = await newMember(service, somebody(), key);
  for (const [method, path, more] of sessionOrKey)
    for (const bad of [{}, { Authorization: "Bearer svc_pk_nonsense" }]) {
      const answer = await call(path, { method, ...more, headers: { ...more?.headers, ...headers, ...bad } });
      assert.ok(![401, 403].includes(answer.status), `${method} ${path}: ${answer.status}`);
    }
});

test("routes of keys alone take no session", async () => {
  const { key } = await newPartner();
  const { headers } = await newMember(service, somebody(), key);
  for (const path of ["/api/partner/orders", "/api/rooms", `/api/passport/${unknownId}`]) {
    const answer = await call(path, { headers });
    assert.equal(answer.status, 401, path);
    assert.deepEqual(answer.body, { error: "A valid partner API key is required." });
  }
});

test("the first who is linked is the owner, later ones are members, and linking again changes nothing", async () => {
  const { key, partnerId } = await newPartner({ name: "Linked Title" });
  const first = await newMember(service, somebody(), key);
  const partner = { id: partnerId, name: "Linked Title", tier: "trial" };
  assert.deepEqual(first.linked, { ok: true, partner, role: "owner" });
  const second = await newMember(service, somebody(), key);
  assert.equal(second.linked.role, "member");
  const again = await link(service, first.cookie, key);
  assert.deepEqual(await again.json(), { ok: true, partner, role: "owner" });
});

test("of ten who link at once one is the owner", async () => {
  const { key } = await newPartner();
  const sessions = await Promise.all(Array.from({ length: 10 }, () => signIn(service, somebody())));
  const answers = await Promise.all(sessions.map(async ({ cookie }) => (await link(service, cookie, key)).json()));
  const roles = (answers as { role: string }[]).map(({ role }) => role);
  assert.deepEqual(roles.toSorted(), [...Array(9).fill("member"), "owner"]);
});

test("linking needs a session, a valid key and a body that names it", async () => {
  const { key, keyId } = await newPartner();
  const none = await link(service, "", key);
  assert.equal(none.status, 401);
  assert.deepEqual(await none.json(), { error: "Sign in to continue." });
  const { cookie } = await signIn(service, somebody());
  for (const bad of [undefined, null, 7, "", "svc_pk_", `${key}x`, `svc_pk_test_${"a".repeat(52)}`, ["x"], "\0"]) {
    const answer = await link(service, cookie, bad);
    assert.equal(answer.status, 400, String(bad));
    assert.match(((await answer.json()) as { error: string }).error, /^apiKey /);
  }
  for (const body of ["", "{", "[]", "null", '"x"']) {
    const answer = await call("/api/partner/link", { method: "POST", headers: { ...json, Cookie: cookie }, body });
    assert.equal(answer.status, 400, body);
  }
  await revokeKey({ db, clock }, keyId);
  assert.equal((await link(service, cookie, key)).status, 400);
  assert.equal((await call("/api/partner/me", { headers: { Cookie: cookie } })).status, 403);
});

test("who belongs to one firm can't be linked to another", async () => {
  const [one, other] = [await newPartner(), await newPartner()];
  const { cookie, headers } = await newMember(service, somebody(), one.key);
  const answer = await link(service, cookie, other.key);
  assert.equal(answer.status, 409);
  const me = await call("/api/partner/analytics", { headers });
  assert.equal(me.status, 200);
});

test("me tells a session its firm, role and quota, and goes on in the environment of the key that linked it", async () => {
  const partner = await newPartner({ name: "Both Title", live: true });
  const { key: testKey } = await issueKey({ db, clock }, partner.partnerId, "test");
  const owner = await newMember(service, somebody(), testKey);
  await call("/api/rooms", {
    method: "POST",
    headers: { ...json, Authorization: `Bearer ${testKey}` },
    body: JSON.stringify({ name: "Maple Court" }),
  });
  const { requestId, ...me } = (await call("/api/partner/me", { headers: owner.headers })).body;
  assert.match(requestId, /^[0-9a-f-]{36}$/);
  assert.deepEqual(me, {
    firmName: "Both Title",
    tier: "trial",
    liveEnabled: true,
    environment: "test",
    key: null,
    quotas: { openRooms: 5, openRoomsUsed: 1 },
    role: "owner",
    linked: true,
  });
  const member = await newMember(service, somebody(), partner.key);
  const his = (await call("/api/partner/me", { headers: member.headers })).body;
  assert.deepEqual([his.environment, his.role, his.quotas.openRoomsUsed], ["live", "member", 0]);
  const byKey = (await call("/api/partner/me", { headers: { Authorization: `Bearer ${testKey}` } })).body;
  assert.equal(Object.hasOwn(byKey, "role"), false);
});

test("a session sees the figures of its firm and environment alone", async () => {
  const [one, other] = [await newPartner(), await newPartner()];
  const placed = await call("/api/partner/orders", { method: "POST", headers: one.headers, body: orderForm(minimal) });
  assert.equal(placed.status, 201);
  const figures = async (key: string) => {
    const { headers } = await newMember(service, somebody(), key);
    return (await call("/api/partner/analytics", { headers })).body.funnel.created;
  };
  assert.equal(await figures(one.key), 1);
  assert.equal(await figures(other.key), 0);
  const { key: live } = await issueKey({ db, clock }, one.partnerId, "live");
  assert.equal(await figures(live), 0);
});

test("a write by session must come from our own site; a read, and a write by key, may come from anywhere", async () => {
  const { key, headers: byKey } = await newPartner();
  const { headers, cookie } = await newMember(service, somebody(), key);
  const write = (more: Record<string, string>) =>
    call(`/api/partner/webhooks/${unknownId}`, { method: "DELETE", headers: more });
  const foreign = [
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { Origin: `${service.baseUrl}.evil.example` },
    { Origin: "garbage" },
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
  ] as Record<string, string>[];
  for (const site of foreign) {
    const refused = await write({ ...headers, ...site });
    assert.equal(refused.status, 403, JSON.stringify(site));
    assert.deepEqual(refused.body, { error: "This request came from another site." });
    assert.equal((await link(service, cookie, key, site)).status, 403);
    assert.equal((await call("/api/partner/me", { headers: { ...headers, ...site } })).status, 200);
    assert.equal((await write({ ...byKey, ...site })).status, 404);
  }
  const port = new URL(service.baseUrl).port;
  for (const site of [{}, { Origin: service.baseUrl }, { Origin: `http://localhost:${port}` }])
    assert.equal((await write({ ...headers, ...(site as Record<string, string>) })).status, 404);
});

test("signing out ends the session and clears the cookie; other sessions go on", async () => {
  const email = somebody();
  const { key } = await newPartner();
  const { headers } = await newMember(service, email, key);
  const other = await signIn(service, email);
  const out = await postForm(`${service.baseUrl}/sign-out`, {}, headers);
  assert.equal(out.status, 303);
  assert.match(out.headers.getSetCookie().join("\n"), /__Host-session=; Max-Age=0; Path=\/; HttpOnly; Secure/);
  assert.equal((await call("/api/partner/me", { headers })).status, 401);
  assert.equal((await call("/api/partner/me", { headers: other.headers })).status, 200);
});

test("one ends one's own sessions, and nobody else's", async () => {
  const email = somebody();
  const { key } = await newPartner();
  const { headers } = await newMember(service, email, key);
  const other = await signIn(service, email);
  const stranger = await newMember(service, somebody(), key);
  const page = (await call("/dashboard/settings", { headers })).body as string;
  const ends = [...page.matchAll(/\/dashboard\/settings\/sessions\/[0-9a-f-]{36}\/end/g)].map(String);
  assert.equal(ends.length, 2);
  for (const path of ends) {
    const refused = await call(path, { method: "POST", headers: { ...stranger.headers, Accept: "text/html" } });
    assert.equal(refused.status, 404);
  }
  // The latest is listed first.
  const [ofOther = "", ofThis = ""] = ends;
  const ended = await call(ofOther, { method: "POST", headers });
  assert.deepEqual([ended.status, ended.headers.get("location")], [303, "/dashboard/settings?done=session-ended"]);
  assert.deepEqual(ended.headers.getSetCookie(), []);
  assert.equal((await call("/api/partner/me", { headers: other.headers })).status, 401);
  assert.equal((await call("/api/partner/me", { headers })).status, 200);
  assert.equal((await call("/dashboard/settings/sessions/x/end", { method: "POST", headers })).status, 404);

  const out = await call(ofThis, { method: "POST", headers });
  assert.deepEqual([out.status, out.headers.get("location")], [303, "/sign-in"]);
  assert.match(out.headers.getSetCookie().join("\n"), /^__Host-session=; Max-Age=0; Path=\/; HttpOnly; Secure/);
  assert.equal((await call("/api/partner/me", { headers })).status, 401);
});

test("who is removed from the firm is linked to nothing from the next request on", async () => {
  const { key } = await newPartner();
  const owner = await newMember(service, somebody(), key);
  const member = await newMember(service, somebody(), key);
  const page = (await call("/dashboard/settings", { headers: owner.headers })).body as string;
  const removals = [...page.matchAll(/\/dashboard\/settings\/members\/[0-9a-f-]{36}\/remove/g)].map(String);
  assert.equal(removals.length, 2);
  const [ofOwner = "", ofMember = ""] = removals;
  const remove = (path: string, headers: Record<string, string>) => call(path, { method: "POST", headers });
  assert.equal((await remove(ofOwner, member.headers)).status, 403);
  assert.equal((await remove(ofOwner, owner.headers)).status, 409, "the last owner");
  const removed = await remove(ofMember, owner.headers);
  assert.deepEqual([removed.status, removed.headers.get("location")], [303, "/dashboard/settings?done=member-removed"]);
  assert.equal((await call("/api/partner/me", { headers: member.headers })).status, 403);
  assert.equal((await link(service, member.cookie, key)).status, 200);
});

test("roles are given by owners, and one owner always stays", async () => {
  const { key } = await newPartner();
  const owner = await newMember(service, somebody(), key);
  const member = await newMember(service, somebody(), key);
  const page = (await call("/dashboard/settings", { headers: owner.headers })).body as string;
  const [ofOwner = "", ofMember = ""] = [...page.matchAll(/\/dashboard\/settings\/members\/[0-9a-f-]{36}\/role/g)].map(
    String,
  );
  const give = async (path: string, role: string, headers: Record<string, string>) =>
    (await postForm(service.baseUrl + path, { role }, headers)).status;
  assert.equal(await give(ofMember, "owner", member.headers), 403);
  assert.equal(await give(ofOwner, "member", owner.headers), 409);
  assert.equal(await give(ofMember, "king", owner.headers), 400);
  assert.equal(await give(ofMember.replace(/[0-9a-f-]{36}/, unknownId), "owner", owner.headers), 404);
  assert.equal(await give(ofMember, "owner", owner.headers), 303);
  assert.equal(await give(ofOwner, "member", owner.headers), 303);
  assert.equal((await call("/api/partner/me", { headers: owner.headers })).body.role, "member");
  assert.equal((await call("/api/partner/me", { headers: member.headers })).body.role, "owner");
});

test("of two owners who demote each other at once, one stays", async () => {
  const { key } = await newPartner();
  const one = await newMember(service, somebody(), key);
  const two = await newMember(service, somebody(), key);
  const page = (await call("/dashboard/settings", { headers: one.headers })).body as string;
  const [ofOne = "", ofTwo = ""] = [...page.matchAll(/\/dashboard\/settings\/members\/[0-9a-f-]{36}\/role/g)].map(
    String,
  );
  const give = async (path: string, role: string, headers: Record<string, string>) =>
    (await postForm(service.baseUrl + path, { role }, headers)).status;
  assert.equal(await give(ofTwo, "owner", one.headers), 303);
  await Promise.all([give(ofTwo, "member", one.headers), give(ofOne, "member", two.headers)]);
  const roles = await Promise.all(
    [one, two].map(async ({ headers }) => (await call("/api/partner/me", { headers })).body.role),
  );
  assert.ok(roles.includes("owner"), roles.join());
});

test("a session goes over to live when live is enabled, and back to test when it no longer is", async () => {
  const { key, partnerId } = await newPartner();
  const { headers } = await newMember(service, somebody(), key);
  const choose = async (environment: string) =>
    (await postForm(`${service.baseUrl}/dashboard/environment`, { environment }, headers)).status;
  const environment = async () => (await call("/api/partner/me", { headers })).body.environment;
  assert.equal(await choose("live"), 400);
  assert.equal(await choose("moon"), 400);
  await setPartner({ db, clock }, partnerId, { live: true });
  assert.equal(await choose("live"), 303);
  assert.equal(await environment(), "live");
  await setPartner({ db, clock }, partnerId, { live: false });
  assert.equal(await environment(), "test");
});

test("an owner who was demoted while the request was under way is no owner any more", async () => {
  const { key, partnerId } = await newPartner();
  const one = await newMember(service, somebody(), key);
  const two = await newMember(service, somebody(), key);
  await newMember(service, somebody(), key);
  const page = (await call("/dashboard/settings", { headers: one.headers })).body as string;
  const of = (what: string) =>
    [...page.matchAll(new RegExp(`/dashboard/settings/members/[0-9a-f-]{36}/${what}`, "g"))].map(String);
  const [, roleOfTwo = "", roleOfThree = ""] = of("role");
  const [, removeTwo = ""] = of("remove");
  assert.equal((await postForm(service.baseUrl + roleOfTwo, { role: "owner" }, one.headers)).status, 303);
  // Both requests wait for the firm's row; the removal of its sender comes first.
  const waiting: Promise<Response>[] = [];
  await db.transaction(async (tx) => {
    await tx.query(sql`SELECT FROM partners WHERE id = ${partnerId} FOR UPDATE`);
    const blocked = async (count: number) =>
      until(async () => {
        const rows = await db.query(sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
        return rows.length >= count;
      });
    waiting.push(postForm(service.baseUrl + removeTwo, {}, one.headers));
    await blocked(1);
    waiting.push(postForm(service.baseUrl + roleOfThree, { role: "owner" }, two.headers));
    await blocked(2);
  });
  assert.deepEqual(
    (await Promise.all(waiting)).map(({ status }) => status),
    [303, 403],
  );
});

test("the operator takes the person out who came by a stolen key, be it the owner, and gives the firm another", async () => {
  const { key, keyId, partnerId } = await newPartner();
  const thief = await newMember(service, "thief@evil.example", key);
  const real = await newMember(service, somebody(), key);
  type Listed = { members: { userId: string; email: string; role: string; keyId: string }[] };
  const { members } = await service.cli<Listed>("member", "list", partnerId);
  assert.deepEqual(
    members.map(({ role, keyId: by }) => [role, by]),
    [
      ["owner", keyId],
      ["member", keyId],
    ],
  );
  const [owner, member] = members;
  assert.equal(owner?.email, "thief@evil.example");
  await service.cli("member", "remove", owner?.userId ?? "");
  assert.equal((await call("/api/partner/me", { headers: thief.headers })).status, 403);
  await service.cli("member", "set", member?.userId ?? "", "owner");
  assert.equal((await call("/api/partner/me", { headers: real.headers })).body.role, "owner");
  for (const wrong of [
    ["remove", owner?.userId ?? ""],
    ["remove", "x"],
    ["set", member?.userId ?? "", "king"],
    ["list", unknownId],
  ])
    await assert.rejects(service.cli("member", ...wrong), /ended with 1/);
});

test("a run of a playbook that another site asked for is refused and leaves nothing in the log", async () => {
  const { key, partnerId } = await newPartner();
  const { headers } = await newMember(service, somebody(), key);
  const refused = await postForm(
    `${service.baseUrl}/api/partner/playbooks/approval_gate/run`,
    { kind: "k", subjectId: "s" },
    { ...headers, Origin: "https://evil.example" },
  );
  assert.equal(refused.status, 403);
  const runs = sql`SELECT FROM audit_log WHERE partner_id = ${partnerId} AND action = 'playbook.run'`;
  assert.equal((await db.query(runs)).length, 0);
});

test("odd ids and texts in the settings are refused by name, never by a fault of ours", async () => {
  const { key } = await newPartner();
  const { headers } = await newMember(service, somebody(), key);
  for (const id of ["-".repeat(36), "a".repeat(36), "%00", "x", unknownId]) {
    for (const what of [`sessions/${id}/end`, `members/${id}/remove`])
      assert.equal((await call(`/dashboard/settings/${what}`, { method: "POST", headers })).status, 404, what);
    const role = await postForm(`${service.baseUrl}/dashboard/settings/members/${id}/role`, { role: "owner" }, headers);
    assert.equal(role.status, 404);
  }
  for (const fields of [
    { brandName: "a\0b" },
    { brandName: "x".repeat(201) },
    { accentColor: "red\0" },
    { logoUrl: "https://a.example/\0" },
    { logoUrl: "https://a.example/ x" },
    { logoUrl: "http://a.example/x.png" },
    { logoUrl: "https://127.0.0.1/x.png" },
  ]) {
    const answer = await postForm(
      `${service.baseUrl}/dashboard/settings/branding`,
      fields as Record<string, string>,
      headers,
    );
    assert.equal(answer.status, 400, JSON.stringify(fields));
  }
});

test("what a member does bears the member in the audit log", async () => {
  const { key, partnerId } = await newPartner();
  const { headers } = await newMember(service, somebody(), key);
  const body = JSON.stringify({ url: "https://hooks.example.com/x", topics: ["order.created"] });
  const made = await call("/api/partner/webhooks", { method: "POST", headers: { ...json, ...headers }, body });
  assert.equal(made.status, 200);
  const lines = await db.query<{ action: string; actor: string }>(sql`
    SELECT action, actor FROM audit_log WHERE partner_id = ${partnerId} AND actor LIKE 'member:%' ORDER BY id`);
  assert.deepEqual(
    lines.map(({ action }) => action),
    ["member.linked", "webhook.created"],
  );
  const [{ id } = { id: "" }] = await db.query<{ id: string }>(sql`
    SELECT user_id AS id FROM members WHERE partner_id = ${partnerId}`);
  for (const { actor } of lines) assert.equal(actor, `member:${id}`);
});
