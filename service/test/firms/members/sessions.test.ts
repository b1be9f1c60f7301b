import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { asService } from "@signsealship/testing/row-mac";
import { issueKey, setPartner } from "../../../src/firms/partners/partners.ts";
import { systemClock as clock } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { json, openMembersService } from "./members-service.ts";
import { newMember, postForm, signIn } from "./signed-in-member.ts";

const running = await forTests(openMembersService());
const { service, db, call, newPartner, somebody } = running;

test("me shows a session its firm, role and quota, and keeps the environment of the key that linked it", async () => {
  const partner = await newPartner({ name: "Both Title", live: true });
  const { key: testKey } = await issueKey(running, partner.partnerId, "test");
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

test("a session sees only the figures of its firm and environment", async () => {
  const [one, other] = [await newPartner(), await newPartner()];
  const placed = await call("/api/partner/orders", { method: "POST", headers: one.headers, body: orderForm(minimal) });
  assert.equal(placed.status, 201);
  const figures = async (key: string) => {
    const { headers } = await newMember(service, somebody(), key);
    return (await call("/api/partner/analytics", { headers })).body.funnel.created;
  };
  assert.equal(await figures(one.key), 1);
  assert.equal(await figures(other.key), 0);
  const { key: live } = await issueKey(running, one.partnerId, "live");
  assert.equal(await figures(live), 0);
});

test("signing out ends the session and clears the cookie; other sessions continue", async () => {
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

test("a person can end only their own sessions", async () => {
  const email = somebody();
  const { key } = await newPartner();
  const { headers } = await newMember(service, email, key);
  const other = await signIn(service, email);
  const stranger = await newMember(service, somebody(), key);
  const page = (await call("/dashboard/security", { headers })).body as string;
  const ends = [...page.matchAll(/\/dashboard\/security\/sessions\/[0-9a-f-]{36}\/end/g)].map(String);
  assert.equal(ends.length, 2);
  assert.doesNotMatch((await call("/dashboard/settings", { headers })).body as string, /\/sessions\//);
  for (const path of ends) {
    const refused = await call(path, { method: "POST", headers: { ...stranger.headers, Accept: "text/html" } });
    assert.equal(refused.status, 404);
  }
  // The page lists the newest session first. Here that is the other session.
  const [ofOther = "", ofThis = ""] = ends;
  const ended = await call(ofOther, { method: "POST", headers });
  assert.deepEqual([ended.status, ended.headers.get("location")], [303, "/dashboard/security?done=session-ended"]);
  assert.deepEqual(ended.headers.getSetCookie(), []);
  assert.equal((await call("/api/partner/me", { headers: other.headers })).status, 401);
  assert.equal((await call("/api/partner/me", { headers })).status, 200);
  assert.equal((await call("/dashboard/security/sessions/x/end", { method: "POST", headers })).status, 404);

  const out = await call(ofThis, { method: "POST", headers });
  assert.deepEqual([out.status, out.headers.get("location")], [303, "/sign-in"]);
  assert.match(out.headers.getSetCookie().join("\n"), /^__Host-session=; Max-Age=0; Path=\/; HttpOnly; Secure/);
  assert.equal((await call("/api/partner/me", { headers })).status, 401);
});

test("a session of a member with live access switches to live when live is enabled, and back to test when it no longer is", async () => {
  const { key, partnerId } = await newPartner();
  const { headers } = await newMember(service, somebody(), key);
  const choose = async (environment: string) =>
    (await postForm(`${service.baseUrl}/dashboard/environment`, { environment }, headers)).status;
  const environment = async () => (await call("/api/partner/me", { headers })).body.environment;
  assert.equal(await choose("live"), 400);
  assert.equal(await choose("moon"), 400);
  await setPartner({ db, clock }, partnerId, { live: true });
  assert.equal(await choose("live"), 400, "linked by a test key");
  await asService(running, sql`UPDATE members SET live_access = true WHERE partner_id = ${partnerId}`);
  assert.equal(await choose("live"), 303);
  assert.equal(await environment(), "live");
  await setPartner({ db, clock }, partnerId, { live: false });
  assert.equal(await environment(), "test");
});
