import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { asService } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { linkMember, rotateOwnKey, sessionResolver } from "../../../src/firms/members/members.ts";
import { trackLastUse } from "../../../src/firms/partners/partners.ts";
import type { Principal } from "../../../src/kernel/identity/identity.ts";
import { systemClock as clock } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { isStillAllowed } from "../../../src/outgoing/webhooks/subscriptions/store.ts";
import { newOperator } from "../operators/console-people.ts";
import { openMembersService } from "./members-service.ts";
import { mailsTo, newMember, postForm, signIn } from "./signed-in-member.ts";

const keyLimitsOf = () => ({ active: 50, aDay: 50 });

const running = await forTests(openMembersService());
const { service, db, call } = running;

type Headers = Record<string, string>;
const keys = "/dashboard/keys";

async function post(path: string, fields: Record<string, string>, headers: Headers) {
  const answer = await postForm(service.baseUrl + path, fields, headers);
  const text = await answer.text();
  const key = /<code>(svc_pk_(?:test_)?[a-z2-7]{52})<\/code>/.exec(text)?.[1] ?? "";
  const id = /href="\/dashboard\/keys\/([0-9a-f-]{36})"/.exec(text)?.[1] ?? "";
  return { status: answer.status, text, key, id, headers: answer.headers };
}

const create = (headers: Headers, more: Record<string, string> = {}) =>
  post(keys, { name: "Intake", keyEnvironment: "test", expires: "never", access: "full", ...more }, headers);

async function firmWithOwner(options = {}) {
  const firm = await running.newPartner(options);
  const email = running.somebody();
  return { ...firm, email, owner: (await newMember(service, email, firm.key)).headers };
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` });
const statusOfMe = async (key: string) => (await call("/api/partner/me", { headers: bearer(key) })).status;

test("an owner creates a key, which is shown once, and every owner is mailed without it", async () => {
  const { owner, email, partnerId } = await firmWithOwner({ name: "Key Title" });
  const made = await create(owner, { access: "restricted", "scope-read": "on", expires: "90" });
  assert.equal(made.status, 200);
  assert.match(made.headers.get("cache-control") ?? "", /no-store/);
  assert.equal(await statusOfMe(made.key), 200);
  const refused = await call("/api/rooms", { method: "POST", headers: bearer(made.key) });
  assert.deepEqual(refused.body, { error: "This key does not have the scope rooms." });
  for (const path of [keys, `${keys}/${made.id}`]) {
    const page = (await call(path, { headers: owner })).body as string;
    assert.ok(page.includes(`…${made.key.slice(-4)}`) && !page.includes(made.key), path);
  }
  const mail = await until(() =>
    mailsTo(service, email).find((each) => each.includes("Subject: A test key was created")),
  );
  assert.ok(!mail.includes(made.key.slice(-8)));
  const [line] = await db.query<{ actor: string; detail: object }>(
    sql`SELECT actor, detail FROM audit_log WHERE partner_id = ${partnerId} AND action = 'key.issued' ORDER BY id DESC`,
  );
  assert.match(line?.actor ?? "", /^member:/);
  assert.ok(!JSON.stringify(line).includes(made.key) && !service.stdout().includes(made.key));
});

test("a form that is sent twice creates one key, and refusals are shown", async () => {
  const { owner, partnerId } = await firmWithOwner();
  const submission = { submission: "a".repeat(52) };
  const first = await create(owner, submission);
  const second = await create(owner, submission);
  assert.deepEqual([first.status, second.status], [200, 303]);
  assert.match(second.headers.get("location") ?? "", /done=key-there/);
  for (const wrong of [
    { name: "" },
    { name: "x".repeat(101) },
    { keyEnvironment: "live" },
    { keyEnvironment: "both" },
    { expires: "0" },
    { expires: "" },
    { access: "restricted" },
    { access: "full", "scope-read": "on" },
  ])
    assert.ok([400, 403].includes((await create(owner, wrong)).status), JSON.stringify(wrong));
  const rows = await db.query(sql`SELECT FROM partner_keys WHERE partner_id = ${partnerId}`);
  assert.equal(rows.length, 2, "and the one of the operator");
});

test("a rotated key works for the chosen overlap and is replaced once, and revoking ends a key at once", async () => {
  const { owner, email } = await firmWithOwner();
  const old = await create(owner, { access: "restricted", "scope-read": "on", expires: "30" });
  const rotate = (id: string, overlap: string, more = {}) => post(`${keys}/${id}/rotate`, { overlap, ...more }, owner);
  assert.equal((await rotate(old.id, "2")).status, 400);
  const next = await rotate(old.id, "24");
  assert.equal(next.status, 200);
  assert.deepEqual([await statusOfMe(old.key), await statusOfMe(next.key)], [200, 200]);
  assert.equal((await rotate(old.id, "24")).status, 409);
  const [row] = await db.query<{ hours: number; days: number; scopes: string[] }>(sql`
    SELECT extract(epoch FROM o.expires_at - now())::float8 / 3600 AS hours,
      extract(epoch FROM n.expires_at - now())::float8 / 86400 AS days, n.scopes
    FROM partner_keys o JOIN partner_keys n ON n.replaces = o.id WHERE o.id = ${old.id}`);
  assert.deepEqual([Math.round(row?.hours ?? 0), Math.round(row?.days ?? 0), row?.scopes], [24, 30, ["read"]]);
  const last = await rotate(next.id, "0");
  assert.deepEqual([await statusOfMe(next.key), await statusOfMe(last.key)], [401, 200]);
  const revoked = await post(`${keys}/${last.id}/revoke`, {}, owner);
  assert.equal(revoked.status, 303);
  assert.equal(await statusOfMe(last.key), 401);
  assert.equal((await rotate(last.id, "1")).status, 409);
  const shown = (await call(`${keys}/${last.id}`, { headers: owner })).body as string;
  assert.match(shown, new RegExp(`<dt>Revoked</dt>.*<dt>Revoked by</dt><dd>${email}</dd>`, "s"));
  for (const what of ["rotated", "revoked"])
    await until(() => mailsTo(service, email).find((mail) => mail.includes(`Subject: A test key was ${what}`)));
});

test("mails every owner that an operator created, rotated or revoked a key, and once for each", async () => {
  const { email, partnerId } = await firmWithOwner({ name: "Pier Law" });
  const mailsOf = (what: string) =>
    mailsTo(service, email).filter((mail) => mail.includes(`Subject: A test key was ${what}`));
  const { keyId } = await service.cli<{ keyId: string }>("key", "issue", partnerId, "--test", "--name", "Intake");
  await service.cli("key", "rotate", keyId);
  await service.cli("key", "revoke", keyId);
  await service.cli("key", "revoke", keyId, "--all");
  for (const what of ["created", "rotated", "revoked"]) {
    const mail = await until(() => mailsOf(what)[0]);
    assert.match(mail, new RegExp(`The operator of this service ${what} the test key`));
  }
  assert.equal(mailsOf("revoked").length, 1);
});

test("mails the owners and all admins that an operator revoked a key in the console", async () => {
  const { owner, email, partnerId } = await firmWithOwner({ name: "Quay Law" });
  const admin = await newOperator(running, { roles: ["admin"] });
  const { keyId } = await service.cli<{ keyId: string }>("key", "issue", partnerId, "--test");
  const path = `${service.baseUrl}/operator/partners/${partnerId}/keys/${keyId}/revoke`;
  assert.equal((await postForm(path, {}, { cookie: admin.cookie })).status, 303);
  const shown = (await call(`${keys}/${keyId}`, { headers: owner })).body as string;
  assert.match(shown, /<dt>Revoked by<\/dt><dd>The operator of this service<\/dd>/);
  await until(() => mailsTo(service, email).find((mail) => mail.includes("Subject: A test key was revoked")));
  const news = "revoked a key of the firm Quay Law.";
  await until(() => mailsTo(service, admin.email).find((mail) => mail.replaceAll(/=\r?\n/g, "").includes(news)));
});

test("tiers limit a firm's active keys, and its owners' new keys per day; rotations count only per day", async () => {
  const { owner, partnerId } = await firmWithOwner({ tier: "trial" });
  const { id } = await create(owner);
  const add = (count: number, more: { issued: boolean; hours: number }) =>
    db.query(sql`
      INSERT INTO partner_keys (id, partner_id, environment, key_sha256, last4, issued_by, created_at)
      SELECT gen_random_uuid(), partner_id, environment, sha256(gen_random_uuid()::text::bytea), last4,
        CASE WHEN ${more.issued} THEN issued_by END, now() - make_interval(hours => ${more.hours})
      FROM partner_keys, generate_series(1, ${count}) WHERE id = ${id}`);
  await add(18, { issued: true, hours: 25 });
  const full = await create(owner);
  assert.equal(full.status, 409);
  assert.match(full.text, /A firm of this tier has at most 20 active test keys\. Revoke one that is not used\./);
  const rotated = await post(`${keys}/${id}/rotate`, { overlap: "1" }, owner);
  assert.equal(rotated.status, 200, "a key can be replaced all the same");
  await db.query(
    sql`UPDATE partner_keys SET revoked_at = now() WHERE partner_id = ${partnerId} AND created_at < now() - interval '1 day'`,
  );
  await add(18, { issued: false, hours: 1 });
  await db.query(sql`UPDATE partner_keys SET revoked_at = now() WHERE partner_id = ${partnerId} AND issued_by IS NULL`);
  assert.equal((await create(owner)).status, 200, "the operator's are not counted");
  await add(17, { issued: true, hours: 1 });
  await db.query(sql`UPDATE partner_keys SET revoked_at = now() WHERE partner_id = ${partnerId} AND row_mac IS NULL`);
  for (const refused of [await create(owner), await post(`${keys}/${rotated.id}/rotate`, { overlap: "0" }, owner)]) {
    assert.equal(refused.status, 409);
    assert.match(refused.text, /at most 20 keys in 24 hours, rotations included\. Try again tomorrow\./);
  }
});

test("of concurrent rotations only one replaces the key", async () => {
  const { owner } = await firmWithOwner();
  const { id } = await create(owner);
  const principal = (await sessionResolver(running)(owner["Cookie"]))?.principal;
  assert.ok(principal);
  const all = await Promise.allSettled(
    Array.from({ length: 4 }, () => rotateOwnKey({ ...running, keyLimitsOf }, principal, id, "1")),
  );
  assert.equal(all.filter(({ status }) => status === "fulfilled").length, 1);
});

test("a key that ends during its request connects nobody and changes no webhook", async () => {
  const { owner, key, keyId, partnerId } = await firmWithOwner();
  const found = (await sessionResolver(running)(owner["Cookie"]))?.principal;
  const session = await sessionResolver(running)((await signIn(service, running.somebody())).cookie);
  assert.ok(found && session);
  const byKey = {
    id: keyId,
    prefix: "svc_pk_test_",
    last4: key.slice(-4),
    createdAt: new Date(),
    scopes: null,
    expiresAt: null,
  };
  const principal: Principal = { ...found, key: byKey, member: null };
  const asked: unknown[] = [];
  const resolveKey = async (_authorization: string | undefined, ip?: string) => {
    asked.push(ip);
    return principal;
  };
  const link = () => linkMember({ ...running, resolveKey }, session, key, "203.0.113.77");
  const isAllowed = () => db.transaction((tx) => isStillAllowed(tx, principal, clock()));
  assert.equal(await isAllowed(), true);
  await db.query(sql`UPDATE partner_keys SET expires_at = now() - interval '1 s' WHERE id = ${keyId}`);
  assert.equal(await isAllowed(), false);
  await assert.rejects(link(), /apiKey must be a valid partner API key/);
  await db.query(sql`UPDATE partner_keys SET expires_at = now() + interval '1 hour' WHERE id = ${keyId}`);
  assert.equal(await isAllowed(), true);
  assert.equal((await link()).partner.id, partnerId);
  assert.deepEqual(asked, ["203.0.113.77", "203.0.113.77"], "last use is told where from");
});

test("members see only names and last characters, and neither they nor another firm can change a key", async () => {
  const { owner, key, keyId, partnerId } = await firmWithOwner();
  const made = await create(owner, { name: "Secret plans", access: "restricted", "scope-seal": "on" });
  const member = (await newMember(service, running.somebody(), key)).headers;
  const page = (await call(keys, { headers: member })).body as string;
  assert.ok(page.includes("Secret plans") && page.includes(made.key.slice(-4)));
  assert.ok(!page.includes("<code>seal</code>") && !page.includes(made.id) && !page.includes("Create key"));
  const foreign = (await firmWithOwner()).owner;
  const evil = { ...owner, Origin: "https://evil.example" };
  assert.equal((await create(member)).status, 403);
  assert.equal((await create(evil)).status, 403);
  for (const [headers, status] of [
    [member, 403],
    [foreign, 404],
    [evil, 403],
  ] as const)
    for (const what of ["rotate", "revoke"])
      assert.equal((await post(`${keys}/${keyId}/${what}`, { overlap: "0" }, headers)).status, status, what);
  assert.equal((await call(`${keys}/${made.id}`, { headers: foreign })).status, 404);
  assert.equal((await call(`${keys}/${made.id}`, { headers: member })).status, 403);
  for (const id of ["x", "%00", "-".repeat(36)])
    assert.equal((await post(`${keys}/${id}/revoke`, {}, owner)).status, 404, id);
  assert.equal(await statusOfMe(key), 200);
  await asService(
    running,
    sql`UPDATE sessions SET confirmed_at = now() - interval '16 minutes' WHERE user_id IN
    (SELECT user_id FROM members WHERE partner_id = ${partnerId})`,
  );
  assert.equal((await create(owner)).status, 403, "without a recent sign-in");
  assert.equal((await post(`${keys}/${made.id}/revoke`, {}, owner)).status, 403);
});

test("only owners with live access of a live firm see live keys", async () => {
  const { owner, partnerId, keyId } = await firmWithOwner({ live: true });
  const live = await create(owner, { keyEnvironment: "live" });
  assert.match(live.key, /^svc_pk_[a-z2-7]{52}$/);
  assert.equal(await statusOfMe(live.key), 200);
  await asService(running, sql`UPDATE members SET live_access = false WHERE partner_id = ${partnerId}`);
  assert.equal((await create(owner, { keyEnvironment: "live" })).status, 403);
  assert.equal((await post(`${keys}/${keyId}/revoke`, {}, owner)).status, 404);
  assert.equal(await statusOfMe(live.key), 200);
});

test("a key's page shows what it created, and when and from which network it was last used", async () => {
  const { owner } = await firmWithOwner();
  const { key, id } = await create(owner);
  const headers = bearer(key);
  const order = { method: "POST", headers, body: orderForm(minimal, makePdf()) };
  assert.equal((await call("/api/partner/orders", order)).status, 201);
  const room = {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: '{"name":"12 Elm"}',
  };
  assert.equal((await call("/api/rooms", room)).status, 200);
  const track = trackLastUse(db, clock);
  track.seen(id, "203.0.113.77");
  await track.flush();
  track.seen(id, undefined);
  await track.flush();
  const page = (await call(`${keys}/${id}`, { headers: owner })).body as string;
  const fact = (term: string) => new RegExp(`<dt>${term}</dt><dd>([^<]*)`).exec(page)?.[1];
  assert.deepEqual(["Orders", "Rooms", "Webhooks"].map(fact), ["1", "1", "0"]);
  assert.ok(page.includes("203.0.113.0/24") && !page.includes("203.0.113.77"));
  await db.query(sql`UPDATE partner_keys SET last_used_at = now() - interval '91 days' WHERE id = ${id}`);
  assert.match((await call(keys, { headers: owner })).body, /Not used for 90 days/);
});
