import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import { revokeKey } from "../../../src/firms/partners/partners.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { json, openMembersService } from "./members-service.ts";
import { link, newMember, postForm, signIn } from "./signed-in-member.ts";

const running = await forTests(openMembersService());
const { service, db, call, newPartner, somebody } = running;

const unknownId = "00000000-0000-4000-8000-000000000000";

test("the first linked person is the owner, later ones are members, and linking again changes nothing", async () => {
  const { key, partnerId } = await newPartner({ name: "Linked Title" });
  const first = await newMember(service, somebody(), key);
  const partner = { id: partnerId, name: "Linked Title", tier: "trial" };
  assert.deepEqual(first.linked, { ok: true, partner, role: "owner" });
  const second = await newMember(service, somebody(), key);
  assert.equal(second.linked.role, "member");
  const again = await link(service, first.cookie, key);
  assert.deepEqual(await again.json(), { ok: true, partner, role: "owner" });
});

test("of ten people who link concurrently one is the owner", async () => {
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
  await revokeKey(running, keyId);
  assert.equal((await link(service, cookie, key)).status, 400);
  assert.equal((await call("/api/partner/me", { headers: { Cookie: cookie } })).status, 403);
});

test("a person of one firm can't be linked to another", async () => {
  const [one, other] = [await newPartner(), await newPartner()];
  const { cookie, headers } = await newMember(service, somebody(), one.key);
  const answer = await link(service, cookie, other.key);
  assert.equal(answer.status, 409);
  const me = await call("/api/partner/analytics", { headers });
  assert.equal(me.status, 200);
});

/** The paths that change each member, in the order in which the members joined. */
async function pathsOf(partnerId: string, what: "role" | "remove"): Promise<string[]> {
  const members = await db.query<{ id: string }>(
    sql`SELECT user_id AS id FROM members WHERE partner_id = ${partnerId} ORDER BY linked_at`,
  );
  return members.map(({ id }) => `/dashboard/team/members/${id}/${what}`);
}

test("a removed person has no firm from the next request on", async () => {
  const { key, partnerId } = await newPartner();
  const owner = await newMember(service, somebody(), key);
  const member = await newMember(service, somebody(), key);
  const page = (await call("/dashboard/team", { headers: owner.headers })).body as string;
  const [ofOwner = "", ofMember = ""] = await pathsOf(partnerId, "remove");
  assert.ok(page.includes(ofMember) && !page.includes(ofOwner), "the only owner is offered no way out");
  const remove = (path: string, headers: Record<string, string>) => call(path, { method: "POST", headers });
  assert.equal((await remove(ofOwner, member.headers)).status, 403);
  assert.equal((await remove(ofOwner, owner.headers)).status, 409, "the last owner");
  const removed = await remove(ofMember, owner.headers);
  assert.deepEqual([removed.status, removed.headers.get("location")], [303, "/dashboard/team?done=member-removed"]);
  assert.equal((await call("/api/partner/me", { headers: member.headers })).status, 403);
  assert.equal((await link(service, member.cookie, key)).status, 200);
});

test("owners assign roles, and one owner always remains", async () => {
  const { key, partnerId } = await newPartner();
  const owner = await newMember(service, somebody(), key);
  const member = await newMember(service, somebody(), key);
  const [ofOwner = "", ofMember = ""] = await pathsOf(partnerId, "role");
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

test("of two owners who demote each other concurrently, one remains", async () => {
  const { key, partnerId } = await newPartner();
  const one = await newMember(service, somebody(), key);
  const two = await newMember(service, somebody(), key);
  const [ofOne = "", ofTwo = ""] = await pathsOf(partnerId, "role");
  const give = async (path: string, role: string, headers: Record<string, string>) =>
    (await postForm(service.baseUrl + path, { role }, headers)).status;
  assert.equal(await give(ofTwo, "owner", one.headers), 303);
  await Promise.all([give(ofTwo, "member", one.headers), give(ofOne, "member", two.headers)]);
  const roles = await Promise.all(
    [one, two].map(async ({ headers }) => (await call("/api/partner/me", { headers })).body.role),
  );
  assert.ok(roles.includes("owner"), roles.join());
});

test("an owner who is demoted during the request no longer has an owner's rights", async () => {
  const { key, partnerId } = await newPartner();
  const one = await newMember(service, somebody(), key);
  const two = await newMember(service, somebody(), key);
  await newMember(service, somebody(), key);
  const [, roleOfTwo = "", roleOfThree = ""] = await pathsOf(partnerId, "role");
  const [, removeTwo = ""] = await pathsOf(partnerId, "remove");
  assert.equal((await postForm(service.baseUrl + roleOfTwo, { role: "owner" }, one.headers)).status, 303);
  // Both requests wait for the lock on the firm's row. First, `one` removes `two`. Then `two` tries to make `three` an
  // owner, but is not a member any more.
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

test("the operator removes a person who joined with a stolen key, even an owner, and gives the firm another owner", async () => {
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

test("invalid ids and texts in the settings are refused by name, never with a server error", async () => {
  const { key } = await newPartner();
  const { headers } = await newMember(service, somebody(), key);
  for (const id of ["-".repeat(36), "a".repeat(36), "%00", "x", unknownId]) {
    for (const what of [`security/sessions/${id}/end`, `team/members/${id}/remove`])
      assert.equal((await call(`/dashboard/${what}`, { method: "POST", headers })).status, 404, what);
    const role = await postForm(`${service.baseUrl}/dashboard/team/members/${id}/role`, { role: "owner" }, headers);
    assert.equal(role.status, 404);
  }
  for (const fields of [
    { brandName: "a\0b" },
    { contactEmail: "nobody" },
    { contactEmail: "a@b.example\r\nBcc: c@d.example" },
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

test("the audit log names the member in each action of a member", async () => {
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
