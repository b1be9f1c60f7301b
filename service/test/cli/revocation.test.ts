import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { runCli } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { issueKey, keyResolver, trackLastUse } from "../../src/firms/partners/partners.ts";
import { systemClock as clock } from "../../src/kernel/platform/clock.ts";
import { columnCipher } from "../../src/kernel/platform/column-cipher.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { secretBytes } from "../../src/kernel/platform/secrets.ts";
import { rotateSecret, unsubscribe } from "../../src/outgoing/webhooks/webhooks.ts";
import { json, openMembersService } from "../firms/members/members-service.ts";
import { cookieIn, link, newMember, postForm, signIn } from "../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());
const { service, db, call, somebody } = running;

const unknownId = "00000000-0000-4000-8000-000000000000";

let urls = 0;
async function subscribe(headers: Record<string, string>): Promise<string> {
  const body = JSON.stringify({ url: `https://hooks.example.com/${++urls}`, topics: ["order.created"] });
  const made = await call("/api/partner/webhooks", { method: "POST", headers: { ...json, ...headers }, body });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return made.body.id;
}

const statusOfMe = async (headers: Record<string, string>) => (await call("/api/partner/me", { headers })).status;

type Revoked = {
  keyId: string;
  revokedAt: string;
  webhooks: { webhookId: string; createdBy: string }[];
  members: { userId: string; email: string; role: string; sessions: number }[];
  ended: boolean;
};

const revoke = (keyId: string, ...flags: string[]) => service.cli<Revoked>("key", "revoke", keyId, ...flags);

/**
 * A live firm whose live key was stolen. With the key, the thief created a webhook and became a member; as a member,
 * the thief created another webhook. `own`: the firm's own webhook and member, created with another key.
 */
async function robbedFirm() {
  const firm = await running.newPartner({ live: true });
  const { key, headers } = await (async () => {
    const issued = await issueKey(running, firm.partnerId, "live");
    return { ...issued, headers: { Authorization: `Bearer ${issued.key}` } };
  })();
  const address = somebody();
  const thief = await newMember(service, address, firm.key);
  const hooks = [await subscribe(firm.headers), await subscribe(thief.headers)];
  const own = { webhook: await subscribe(headers), member: await newMember(service, somebody(), key) };
  return { ...firm, thief: { ...thief, address }, hooks, own };
}

const idsOf = ({ webhooks }: Revoked) => webhooks.map(({ webhookId }) => webhookId).toSorted();

test("revoking a key names the webhooks and members that it created, and ends them only with --all", async () => {
  const { keyId, thief, hooks, own, partnerId } = await robbedFirm();
  const second = await signIn(service, thief.address);
  const revoked = await revoke(keyId);
  assert.deepEqual([revoked.keyId, revoked.ended, typeof revoked.revokedAt], [keyId, false, "string"]);
  assert.deepEqual(idsOf(revoked), hooks.toSorted());
  assert.deepEqual(
    revoked.members.map(({ email, role, sessions }) => [email, role, sessions]),
    [[thief.address, "owner", 2]],
  );
  assert.equal(await statusOfMe(thief.headers), 200, "named, not ended");

  const ended = await revoke(keyId, "--all");
  assert.deepEqual([ended.ended, ended.revokedAt, idsOf(ended)], [true, revoked.revokedAt, hooks.toSorted()]);
  for (const { headers } of [thief, second]) assert.equal(await statusOfMe(headers), 401);
  const { webhooks } = await service.cli<Revoked>("webhook", "list", partnerId);
  assert.deepEqual(
    webhooks.map(({ webhookId }) => webhookId),
    [own.webhook],
  );
  const secrets = sql`SELECT FROM webhook_secrets WHERE webhook_id = ANY (${hooks}::uuid[])`;
  assert.equal((await db.query(secrets)).length, 0, "nothing can sign for them");
  assert.equal(await statusOfMe(own.member.headers), 200);
  const nothing = await revoke(keyId, "--all");
  assert.deepEqual([nothing.webhooks, nothing.members], [[], []]);
});

test("a webhook is found even if its creator has left the firm, and a membership even if a test key created it first", async () => {
  const { partnerId, key, keyId } = await running.newPartner({ live: true });
  const { key: testKey } = await issueKey(running, partnerId, "test");
  const thief = await newMember(service, somebody(), testKey);
  assert.equal((await link(service, thief.cookie, key)).status, 200);
  const hook = await subscribe(thief.headers);
  const [member] = (await revoke(keyId)).members;
  assert.ok(member);
  await service.cli("member", "remove", member.userId);
  const revoked = await revoke(keyId, "--all");
  assert.deepEqual([idsOf(revoked), revoked.members], [[hook], []]);
});

test("a person who links or subscribes while the key is revoked is found or refused", async () => {
  for (let round = 0; round < 3; round++) {
    const { key, keyId, headers, partnerId } = await running.newPartner();
    const { cookie } = await signIn(service, somebody());
    await Promise.all([
      revoke(keyId, "--all"),
      ...Array.from({ length: 20 }, async (_, n) => {
        await new Promise((resolve) => setTimeout(resolve, n * 60));
        await link(service, cookie, key);
        const body = JSON.stringify({ url: `https://hooks.example.com/${++urls}`, topics: ["order.created"] });
        await call("/api/partner/webhooks", { method: "POST", headers: { ...json, ...headers }, body });
      }),
    ]);
    const left = await db.query(sql`SELECT FROM webhooks WHERE partner_id = ${partnerId} AND deleted_at IS NULL`);
    const members = await db.query(sql`SELECT FROM members WHERE partner_id = ${partnerId}`);
    assert.deepEqual([left.length, members.length], [0, 0]);
  }
});

test("a request in progress when its key is revoked gets a 401, like the next one, and changes nothing", async () => {
  const { partnerId, keyId, headers } = await running.newPartner();
  const hook = await subscribe(headers);
  const body = JSON.stringify({ url: `https://hooks.example.com/${++urls}`, topics: ["order.created"] });
  const sent = { method: "POST", headers: { ...json, ...headers }, body };
  const asleep = sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  let onItsWay: ReturnType<typeof call> | undefined;
  await db.transaction(async (tx) => {
    await tx.query(sql`SELECT FROM partners WHERE id = ${partnerId} FOR UPDATE`);
    onItsWay = call("/api/partner/webhooks", sent);
    await until(async () => (await db.query(asleep)).length > 0);
    await tx.query(sql`UPDATE partner_keys SET revoked_at = now() WHERE id = ${keyId}`);
  });
  const cut = await onItsWay;
  assert.deepEqual([cut?.status, cut?.body], [401, { error: "A valid partner API key is required." }]);
  assert.equal(cut?.headers.get("www-authenticate"), "Bearer");
  assert.equal((await call("/api/partner/webhooks", sent)).status, 401);
  const hooks = await db.query<{ id: string }>(sql`
    SELECT id FROM webhooks WHERE partner_id = ${partnerId} AND deleted_at IS NULL`);
  assert.deepEqual(hooks, [{ id: hook }]);
});

test("a key that is revoked during its request can neither delete a webhook nor rotate its secret", async () => {
  const { key, keyId, headers } = await running.newPartner();
  const hook = await subscribe(headers);
  const principal = await keyResolver({ ...running, lastUse: trackLastUse(db, clock) })(`Bearer ${key}`);
  assert.ok(principal);
  await revoke(keyId);
  const deps = { ...running, clock, secretCipher: columnCipher(secretBytes(Buffer.alloc(32)), "none") };
  for (const change of [unsubscribe, rotateSecret])
    await assert.rejects(change(deps, principal, hook), { code: "key_revoked" });
});

test("for a person the text says what remains and which command ends it", async () => {
  const { keyId, hooks } = await robbedFirm();
  const env = { DATA_DIR: service.dataDir };
  const { stdout } = await runCli(env, "key", "revoke", keyId);
  assert.match(stdout, new RegExp(`^To end these: bin/signsealship key revoke ${keyId} --all$`, "m"));
  for (const id of hooks) assert.match(stdout, new RegExp(`^webhook ${id} `, "m"));
  assert.match(stdout, /^member .* owner .*signed in 1 times$/m);
  await assert.rejects(revoke(unknownId), /ended with 1/);
  await assert.rejects(revoke("x"), /ended with 1/);
});

test("the operator lists a firm's webhooks of both environments with their creators, and disables one", async () => {
  const { partnerId, keyId, headers } = await running.newPartner({ live: true });
  const { key: testKey } = await issueKey(running, partnerId, "test");
  const live = await subscribe(headers);
  const inTest = await subscribe({ Authorization: `Bearer ${testKey}` });
  const { webhooks } = await service.cli<Revoked>("webhook", "list", partnerId);
  assert.deepEqual(
    webhooks.map(({ webhookId }) => webhookId),
    [inTest, live],
  );
  assert.equal(webhooks[1]?.createdBy, `key:${keyId}`);
  const answer = await service.cli("webhook", "disable", live);
  assert.deepEqual(answer, { webhookId: live, partnerId, environment: "live", disabled: true });
  assert.deepEqual((await call("/api/partner/webhooks", { headers })).body, []);
  const line = sql`SELECT FROM audit_log WHERE action = 'webhook.deleted' AND actor = 'operator'
    AND partner_id = ${partnerId} AND detail ->> 'webhookId' = ${live}`;
  assert.equal((await db.query(line)).length, 1);
  for (const wrong of [
    ["disable", live],
    ["disable", "x"],
    ["disable", unknownId],
    ["list", unknownId],
  ])
    await assert.rejects(service.cli("webhook", ...wrong), /ended with 1/);
});

type Sessions = { sessions: { sessionId: string; email: string | null; partnerId: string | null; device: string }[] };

test("the operator lists the sessions of everybody, a person, a firm and the operator, and ends them", async () => {
  const { key, partnerId } = await running.newPartner();
  const email = somebody();
  const member = await newMember(service, email, key);
  const again = await signIn(service, email);
  const { url = "" } = await service.cli<{ url: string }>("operator", "link");
  const opened = await postForm(service.baseUrl + new URL(url).pathname, {});
  const operator = { Cookie: cookieIn(opened, "__Host-operator") };
  const list = async (...whose: string[]) => (await service.cli<Sessions>("session", "list", ...whose)).sessions;
  const statusOfOperator = async () => (await call("/operator", { headers: operator })).status;
  assert.equal(await statusOfOperator(), 200);

  const [own] = await list("operator");
  assert.deepEqual([own?.email, own?.partnerId], [null, null]);
  const ofPerson = await list(email.toUpperCase());
  assert.deepEqual(
    ofPerson.map((each) => [each.email, each.partnerId]),
    [
      [email, partnerId],
      [email, partnerId],
    ],
  );
  assert.deepEqual(await list(partnerId), ofPerson);
  assert.ok((await list()).length >= 3);
  assert.deepEqual(await list("nobody@example.com"), []);

  const [latest] = ofPerson;
  const one = await service.cli("session", "end", latest?.sessionId ?? "");
  assert.deepEqual(one, { ended: [latest?.sessionId] });
  assert.deepEqual([await statusOfMe(again.headers), await statusOfMe(member.headers)], [401, 200]);
  assert.equal((await service.cli<{ ended: string[] }>("session", "end", "--all", email)).ended.length, 1);
  assert.equal(await statusOfMe(member.headers), 401);
  await service.cli("session", "end", "--all", "operator");
  assert.equal(await statusOfOperator(), 401);
  assert.deepEqual(await list("operator"), []);

  await assert.rejects(service.cli("session", "end", latest?.sessionId ?? ""), /ended with 1/);
  await assert.rejects(service.cli("session", "end"), /ended with 2/);
  await assert.rejects(service.cli("session", "end", unknownId, "--all", email), /ended with 2/);
});

test("only owners with live access create, rotate and delete live webhooks by session; every member may in test", async () => {
  const { partnerId, key, headers } = await running.newPartner({ live: true });
  const { key: testKey } = await issueKey(running, partnerId, "test");
  const owner = await newMember(service, somebody(), key);
  const member = await newMember(service, somebody(), key);
  const id = await subscribe(owner.headers);
  const body = JSON.stringify({ url: "https://hooks.example.com/no", topics: ["order.created"] });
  const path = "/api/partner/webhooks";
  const refusals = [
    await call(path, { method: "POST", headers: { ...json, ...member.headers }, body }),
    await call(`${path}/${id}/rotate`, { method: "POST", headers: member.headers }),
    await call(`${path}/${id}`, { method: "DELETE", headers: member.headers }),
    await call(`/dashboard/webhooks/${id}/delete`, { method: "POST", headers: member.headers }),
  ];
  assert.deepEqual(
    refusals.map(({ status }) => status),
    [403, 403, 403, 403],
  );
  assert.match(refusals[0]?.body.error, /^Only an owner of the firm with live access/);
  assert.equal((await call(path, { headers: member.headers })).body.length, 1);
  await subscribe(headers);
  assert.equal((await call(`${path}/${id}/rotate`, { method: "POST", headers: owner.headers })).status, 200);
  assert.equal((await call(`${path}/${id}`, { method: "DELETE", headers: owner.headers })).status, 200);
  assert.equal((await link(service, member.cookie, testKey)).status, 200);
  await subscribe(member.headers);
});
