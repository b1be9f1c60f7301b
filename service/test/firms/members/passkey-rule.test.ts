import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService } from "@signsealship/testing/row-mac";
import { issueKey } from "../../../src/firms/partners/partners.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { json, openMembersService } from "./members-service.ts";
import { link, newMember, postForm, signIn } from "./signed-in-member.ts";
import { newAuthenticator } from "./soft-authenticator.ts";

const running = await forTests(openMembersService());
const { service, db, call } = running;

type Headers = Record<string, string>;

const rule = "/dashboard/security/live";
const webhooks = "/dashboard/webhooks";
let hooks = 0;
const webhookForm = () => ({ url: `https://hooks.example.com/${++hooks}`, "topic-order.created": "on" });

const post = async (path: string, fields: Record<string, string>, headers: Headers) => {
  const answer = await postForm(service.baseUrl + path, fields, { Accept: "text/html", ...headers });
  return { status: answer.status, text: await answer.text() };
};

const challengeAt = async (path: string, headers: Headers) =>
  (await call(path, { method: "POST", headers: { Accept: "application/json", ...headers } })).body as {
    challenge: string;
  };

/** A member of a firm, with an authenticator for passkeys. */
async function member(key: string) {
  const { headers, cookie } = await newMember(service, running.somebody(), key);
  const authenticator = newAuthenticator(`http://localhost:${new URL(service.baseUrl).port}`);
  return {
    headers,
    cookie,
    async add() {
      const answer = authenticator.add(await challengeAt("/dashboard/security/passkeys/options", headers));
      assert.equal((await post("/dashboard/security/passkeys", { name: "Laptop", answer }, headers)).status, 200);
    },
    /** The fields that confirm a form with the passkey. */
    async shown() {
      return { confirm_passkey: authenticator.show(await challengeAt("/dashboard/confirm/options", headers)) };
    },
    byApi: async () => {
      const body = JSON.stringify({ url: `https://hooks.example.com/${++hooks}`, topics: ["order.created"] });
      return call("/api/partner/webhooks", { method: "POST", headers: { ...headers, ...json }, body });
    },
  };
}

/** A live firm that requires passkeys. Its owner has a passkey, but has not used it recently. */
async function strictFirm() {
  const { partnerId, key } = await running.newPartner({ live: true });
  const owner = await member(key);
  await owner.add();
  assert.equal((await post(rule, { passkey: "on", ...(await owner.shown()) }, owner.headers)).status, 303);
  const forget = () => asService(running, sql`UPDATE sessions SET passkey_at = passkey_at - interval '16 min'`);
  await forget();
  return { partnerId, key, owner, forget };
}

test("only an owner with live access who has just used a passkey can set or end the firm's rule about passkeys", async () => {
  const { key, partnerId } = await running.newPartner({ live: true });
  const owner = await member(key);
  const missing = await post(rule, { passkey: "on" }, owner.headers);
  assert.equal(missing.status, 403);
  assert.match(missing.text, /you have none yet/);
  await owner.add();
  const asked = await post(rule, { passkey: "on" }, owner.headers);
  assert.equal(asked.status, 403);
  assert.match(asked.text, /Confirm with your passkey/);
  assert.doesNotMatch(asked.text, /recovery code/);
  assert.equal((await post(rule, { passkey: "x" }, owner.headers)).status, 400);
  assert.equal((await post(rule, { passkey: "on", ...(await owner.shown()) }, owner.headers)).status, 303);
  const colleague = await member(key);
  const refused = await post(rule, { passkey: "off" }, colleague.headers);
  assert.match(refused.text, /Only an owner/);
  await asService(running, sql`UPDATE sessions SET passkey_at = passkey_at - interval '16 min'`);
  assert.equal((await post(rule, { passkey: "off" }, owner.headers)).status, 403);
  const lines = await db.query<{ detail: object }>(
    sql`SELECT detail FROM audit_log WHERE partner_id = ${partnerId} AND action = 'partner.changed'`,
  );
  assert.deepEqual(
    lines.map(({ detail }) => detail),
    [{ passkeyForLive: true }],
  );
});

test("live webhooks then need a recent passkey, by page and API; test webhooks and keys do not", async () => {
  const { key, partnerId, owner } = await strictFirm();
  const refused = await owner.byApi();
  assert.equal(refused.status, 403);
  assert.match(refused.body.error, /^Sign in with a passkey to do this/);
  const asked = await post(webhooks, webhookForm(), owner.headers);
  assert.match(asked.text, /Your firm asks for a passkey/);
  const mailed = await post(webhooks, { ...webhookForm(), confirm_code: "123456" }, owner.headers);
  assert.equal(mailed.status, 403);
  const made = await post(webhooks, { ...webhookForm(), ...(await owner.shown()) }, owner.headers);
  assert.equal(made.status, 200);
  assert.equal((await owner.byApi()).status, 200, "for 15 minutes");
  const byKey = await call("/api/partner/webhooks", {
    method: "POST",
    headers: { ...json, Authorization: `Bearer ${key}` },
    body: JSON.stringify({ url: "https://hooks.example.com/by-key", topics: ["order.created"] }),
  });
  assert.equal(byKey.status, 200);
  const { key: testKey } = await issueKey(running, partnerId, "test");
  const tester = await member(testKey);
  assert.equal((await tester.byApi()).status, 200);
});

test("nobody then gets live access without a passkey: not from an owner, and not by a live key", async () => {
  const { key, partnerId, owner } = await strictFirm();
  const { key: testKey } = await issueKey(running, partnerId, "test");
  const colleague = await member(testKey);
  const liveOf = async () => {
    const rows = await db.query<{ live: boolean }>(
      sql`SELECT live_access AS live FROM members WHERE partner_id = ${partnerId} AND role = 'member' ORDER BY linked_at`,
    );
    return rows.map(({ live }) => live);
  };
  const [{ id } = { id: "" }] = await db.query<{ id: string }>(
    sql`SELECT user_id AS id FROM members WHERE partner_id = ${partnerId} AND role = 'member'`,
  );
  const give = (more = {}) => post(`/dashboard/team/members/${id}/live`, { live: "on", ...more }, owner.headers);
  assert.equal((await give()).status, 403);
  assert.equal((await link(service, colleague.cookie, key)).status, 403, "a live key raises no member");
  const newcomer = await signIn(service, running.somebody());
  assert.equal((await link(service, newcomer.cookie, key)).status, 200);
  assert.deepEqual(await liveOf(), [false, false], "a live key links to test alone");
  assert.equal((await call("/api/partner/me", { headers: newcomer.headers })).body.environment, "test");
  assert.equal((await give(await owner.shown())).status, 303);
  assert.deepEqual(await liveOf(), [true, false]);
});

test("a member who has just used a passkey then gets live access with a live key", async () => {
  const { key, partnerId } = await strictFirm();
  const { key: testKey } = await issueKey(running, partnerId, "test");
  const colleague = await member(testKey);
  await colleague.add();
  await post("/dashboard/settings/branding", { brandName: "x", ...(await colleague.shown()) }, colleague.headers);
  assert.equal((await link(service, colleague.cookie, key)).status, 200);
  assert.equal((await call("/api/partner/me", { headers: colleague.headers })).body.environment, "live");
});
