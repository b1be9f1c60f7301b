import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { issueKey } from "../../../src/firms/partners/partners.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { json, openMembersService } from "./members-service.ts";
import { codesTo, newMember, postForm } from "./signed-in-member.ts";

const running = await forTests(openMembersService());
const { service, db, call } = running;

const minutes = 60;
const asPage = { Accept: "text/html" };
const webhooks = "/dashboard/webhooks";
let hooks = 0;
const webhookForm = () => ({ url: `https://hooks.example.com/${++hooks}`, "topic-order.created": "on" });

const wrongFor = (code: string) => (code === "000000" ? "000001" : "000000");

/** An owner who signed in this many seconds ago. */
async function owner(seconds: number, { live = false } = {}) {
  const { key, partnerId } = await running.newPartner({ live });
  const email = running.somebody();
  const { headers, cookie } = await newMember(service, email, key);
  const sessionOf = sql`user_id = (SELECT id FROM users WHERE email = ${email})`;
  const age = (by: number) =>
    asService(running, sql`UPDATE sessions SET confirmed_at = ${new Date(Date.now() - by * 1000)} WHERE ${sessionOf}`);
  await age(seconds);
  return {
    partnerId,
    key,
    email,
    cookie,
    headers,
    age,
    post: async (path: string, fields: Record<string, string>) => {
      const answer = await postForm(service.baseUrl + path, fields, { ...headers, ...asPage });
      return { status: answer.status, location: answer.headers.get("location"), text: await answer.text() };
    },
    /** The mailed codes, the newest first, once there are `count`. */
    code: async (count = 1) => {
      await until(() => codesTo(service, email).length === count);
      return codesTo(service, email);
    },
    webhooks: async () => (await call("/api/partner/webhooks", { headers })).body.length as number,
    userId: async () =>
      (await db.query<{ id: string }>(sql`SELECT user_id AS id FROM sessions WHERE ${sessionOf}`))[0]?.id,
  };
}

test("keys, roles and secrets need a sign-in within the last 15 minutes, on every route for sessions", async () => {
  const dana = await owner(0);
  const made = (await call("/api/partner/webhooks", {
    method: "POST",
    headers: { ...dana.headers, ...json },
    body: JSON.stringify({ url: "https://hooks.example.com/first", topics: ["order.created"] }),
  })) as { body: { id: string } };
  const { headers: colleague } = await newMember(service, running.somebody(), dana.key);
  const [{ id: colleagueId } = { id: "" }] = await db.query<{ id: string }>(
    sql`SELECT user_id AS id FROM members WHERE partner_id = ${dana.partnerId} AND role = 'member'`,
  );
  const doors = async () => {
    const body = JSON.stringify({ url: `https://hooks.example.com/${++hooks}`, topics: ["order.created"] });
    const api = (path: string, more = {}) =>
      call(path, { method: "POST", headers: { ...dana.headers, ...json }, ...more });
    const form = async (path: string, fields = {}) =>
      (await postForm(service.baseUrl + path, fields, dana.headers)).status;
    const member = `/dashboard/team/members/${colleagueId}`;
    return [
      (await api("/api/partner/webhooks", { body })).status,
      (await api(`/api/partner/webhooks/${made.body.id}/rotate`, { headers: dana.headers })).status,
      await form(webhooks, webhookForm()),
      await form(`${webhooks}/${made.body.id}/rotate`),
      await form(`${member}/role`, { role: "owner" }),
      await form(`${member}/role`, { role: "member" }),
    ];
  };
  await dana.age(15 * minutes - 10);
  assert.deepEqual(await doors(), [200, 200, 200, 200, 303, 303]);
  await dana.age(15 * minutes);
  const before = await dana.webhooks();
  assert.deepEqual(await doors(), Array(6).fill(403));
  assert.equal(await dana.webhooks(), before);
  assert.equal(
    (await postForm(`${service.baseUrl}/dashboard/team/members/${colleagueId}/remove`, {}, dana.headers)).status,
    403,
  );
  assert.equal((await call("/api/partner/me", { headers: colleague })).status, 200, "nobody was removed");
});

test("the API states the reason in the contract's form, and never requires it of a key", async () => {
  const dana = await owner(16 * minutes);
  const body = JSON.stringify({ url: "https://hooks.example.com/by-key", topics: ["order.created"] });
  const post = (headers: object) =>
    call("/api/partner/webhooks", { method: "POST", headers: { ...json, ...headers }, body });
  const refused = await post(dana.headers);
  assert.equal(refused.status, 403);
  assert.deepEqual(refused.body, {
    error: "Sign in again to do this: it needs a sign-in within the last 15 minutes.",
  });
  const problem = await post({ ...dana.headers, Accept: "application/problem+json" });
  assert.equal(problem.body.code, "confirmation_required");
  assert.equal((await post({ ...dana.headers, Authorization: `Bearer ${dana.key}` })).status, 200);
  assert.equal((await call("/api/partner/webhooks", { headers: dana.headers })).status, 200, "reading goes on");
});

test("live access, and ending another session, need it too; a person's own sign-out does not", async () => {
  const dana = await owner(0, { live: true });
  const { key: testKey } = await issueKey(running, dana.partnerId, "test");
  await newMember(service, running.somebody(), testKey);
  const [{ id } = { id: "" }] = await db.query<{ id: string }>(
    sql`SELECT user_id AS id FROM members WHERE partner_id = ${dana.partnerId} AND NOT live_access`,
  );
  const other = await newMember(service, dana.email, dana.key);
  await dana.age(16 * minutes);
  assert.equal((await dana.post(`/dashboard/team/members/${id}/live`, { live: "on" })).status, 403);
  const page = (await call("/dashboard/security", { headers: dana.headers })).body as string;
  // The page lists the newest session first. Here that is the other session.
  const [ofOther = "", ofThis = ""] = [...page.matchAll(/\/dashboard\/security\/sessions\/[0-9a-f-]{36}\/end/g)].map(
    String,
  );
  assert.equal((await dana.post(ofOther, {})).status, 403);
  assert.equal((await call("/api/partner/me", { headers: other.headers })).status, 200);
  assert.equal((await dana.post(ofThis, {})).location, "/sign-in");
  assert.equal((await call("/api/partner/me", { headers: dana.headers })).status, 401);
});

test("a refused form asks for a mailed code, and with the code performs the typed action once", async () => {
  const dana = await owner(16 * minutes);
  const typed = { ...webhookForm(), odd: '"><b>&' };
  const asked = await dana.post(webhooks, typed);
  assert.equal(asked.status, 403);
  assert.match(asked.text, /<h1>Confirm that it is you<\/h1>/);
  assert.match(asked.text, new RegExp(`name="url" value="${typed.url}"`));
  assert.match(asked.text, /name="odd" value="&quot;&gt;&lt;b&gt;&amp;"/);
  assert.doesNotMatch(asked.text, /role="alert"/);
  const [code = ""] = await dana.code();
  const wrong = await dana.post(webhooks, { ...typed, confirm_code: wrongFor(code) });
  assert.equal(wrong.status, 403);
  assert.match(wrong.text, /role="alert"[\s\S]*This code is not right/);
  assert.match(wrong.text, new RegExp(`name="url" value="${typed.url}"`));
  assert.equal(await dana.webhooks(), 0);
  const done = await dana.post(webhooks, { ...typed, confirm_code: ` ${code.slice(0, 3)} ${code.slice(3)} ` });
  assert.equal(done.status, 200);
  assert.match(done.text, /Your new signing secret|svc_whsec_/);
  assert.equal(await dana.webhooks(), 1);
  assert.equal((await dana.post(webhooks, webhookForm())).status, 200, "for 15 minutes nothing more is asked");
  const actions = await db.query<{ action: string }>(
    sql`SELECT action FROM audit_log WHERE partner_id = ${dana.partnerId} AND action = 'session.confirmed'`,
  );
  assert.equal(actions.length, 1);
});

test("a code works once, only in its own session, for 10 minutes", async () => {
  const dana = await owner(16 * minutes);
  const other = await newMember(service, dana.email, dana.key);
  await dana.age(16 * minutes);
  await dana.post(webhooks, webhookForm());
  const [first = ""] = await dana.code();
  const withCode = (code: string) => ({ ...webhookForm(), confirm_code: code });
  const elsewhere = { ...other.headers, ...asPage };
  assert.equal((await postForm(service.baseUrl + webhooks, withCode(first), elsewhere)).status, 403);
  await dana.code(2);
  await db.query(
    sql`UPDATE confirmation_codes SET created_at = created_at - interval '10 min', expires_at = expires_at - interval '10 min'`,
  );
  const before = await dana.code(2);
  assert.equal((await dana.post(webhooks, withCode(first))).status, 403, "expired");
  const second = (await dana.code(3)).find((code) => !before.includes(code)) ?? "";
  assert.equal((await dana.post(webhooks, withCode(second))).status, 200);
  await dana.age(16 * minutes);
  assert.equal((await dana.post(webhooks, withCode(second))).status, 403, "used");
});

test("a code that somebody moved to another session in the database confirms nothing there", async () => {
  const [eve, dana] = [await owner(16 * minutes), await owner(16 * minutes)];
  for (const each of [eve, dana]) await each.post(webhooks, webhookForm());
  const [code = ""] = await eve.code();
  await dana.code();
  const ofSession = async ({ userId }: typeof eve) =>
    sql`session_id IN (SELECT id FROM sessions WHERE user_id = ${await userId()})`;
  const [known] = await db.query<{ id: string; expiresAt: Date }>(sql`
    DELETE FROM confirmation_codes WHERE ${await ofSession(eve)} RETURNING code_id AS id, expires_at AS "expiresAt"`);
  await db.query(sql`
    UPDATE confirmation_codes SET code_id = ${known?.id}, expires_at = ${known?.expiresAt} WHERE ${await ofSession(dana)}`);
  assert.equal((await dana.post(webhooks, { ...webhookForm(), confirm_code: code })).status, 403);
});

test("five wrong codes end the session, even if other codes were requested in between", async () => {
  const dana = await owner(16 * minutes);
  await dana.post(webhooks, webhookForm());
  const [code = ""] = await dana.code();
  for (let n = 0; n < 4; n++)
    assert.equal((await dana.post(webhooks, { ...webhookForm(), confirm_code: wrongFor(code) })).status, 403);
  await db.query(sql`UPDATE confirmation_codes SET created_at = created_at - interval '1 min'`);
  assert.equal((await dana.post(webhooks, { ...webhookForm(), confirm_another: "1" })).status, 403);
  await dana.code(2);
  const fifth = await dana.post(webhooks, { ...webhookForm(), confirm_code: "abc" });
  assert.deepEqual([fifth.status, fifth.location], [303, "/sign-in"]);
  assert.equal((await call("/api/partner/me", { headers: dana.headers })).status, 401);
});

test("a mailbox is not flooded: one code is open at a time, and another is mailed a minute later at the earliest", async () => {
  const dana = await owner(16 * minutes);
  for (let n = 0; n < 3; n++) await dana.post(webhooks, webhookForm());
  await dana.post(webhooks, { ...webhookForm(), confirm_another: "1" });
  const queued = await db.query<{ count: number }>(sql`SELECT count(*) AS count FROM confirmation_codes c
    JOIN sessions s ON s.id = c.session_id JOIN users u ON u.id = s.user_id WHERE u.email = ${dana.email}`);
  assert.equal(queued[0]?.count, 1);
  const [first = ""] = await dana.code();
  await db.query(sql`UPDATE confirmation_codes SET created_at = created_at - interval '1 min'`);
  await dana.post(webhooks, { ...webhookForm(), confirm_another: "1", confirm_code: "" });
  await dana.code(2);
  assert.equal(
    (await dana.post(webhooks, { ...webhookForm(), confirm_code: first })).status,
    403,
    "the earlier one is over",
  );
});

test("a person without the right gets a refusal, and no request to confirm", async () => {
  const { key } = await running.newPartner({ live: true });
  await newMember(service, running.somebody(), key);
  const email = running.somebody();
  const { headers } = await newMember(service, email, key);
  await asService(running, sql`UPDATE sessions SET confirmed_at = ${new Date(0)}`);
  const refused = await postForm(service.baseUrl + webhooks, webhookForm(), { ...headers, ...asPage });
  assert.equal(refused.status, 403);
  assert.match(await refused.text(), /Only an owner/);
  assert.deepEqual(codesTo(service, email), []);
});
