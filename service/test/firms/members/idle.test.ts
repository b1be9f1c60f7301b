import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import { sweepSessions } from "../../../src/firms/members/members.ts";
import { systemClock as clock } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "./members-service.ts";
import { cookieIn, newMember, postForm } from "./signed-in-member.ts";

const running = await forTests(openMembersService());
const { service, db, call } = running;

const minutes = 60;
const hours = 60 * minutes;
const days = 24 * hours;

async function member() {
  const { key } = await running.newPartner();
  const email = running.somebody();
  const { headers } = await newMember(service, email, key);
  return { email, headers, me: async () => (await call("/api/partner/me", { headers })).status };
}

async function operator() {
  const { url } = await service.cli("operator", "link");
  const answer = await postForm(service.baseUrl + new URL(url ?? "").pathname, {});
  const cookie = cookieIn(answer, "__Host-operator");
  return { look: async () => (await call("/operator", { headers: { cookie } })).status };
}

const holder = (email: string | null) =>
  email === null ? sql`user_id IS NULL` : sql`user_id = (SELECT id FROM users WHERE email = ${email})`;

/** Makes the session look unused for this many seconds. */
const rest = (email: string | null, seconds: number) =>
  db.query(sql`UPDATE sessions SET last_seen_at = ${new Date(Date.now() - seconds * 1000)} WHERE ${holder(email)}`);

async function lastSeen(email: string | null): Promise<number> {
  const [row] = await db.query<{ at: Date }>(sql`SELECT last_seen_at AS at FROM sessions WHERE ${holder(email)}`);
  return row?.at.getTime() ?? 0;
}

test("a member's session ends after three days without use, long before its 14 days", async () => {
  const { email, me } = await member();
  await rest(email, 3 * days - 10);
  assert.equal(await me(), 200);
  await rest(email, 3 * days);
  assert.equal(await me(), 401);
});

test("the operator's session ends after half an hour without use", async () => {
  const { look } = await operator();
  await rest(null, 30 * minutes - 10);
  assert.equal(await look(), 200);
  await until(async () => Date.now() - (await lastSeen(null)) < minutes * 1000);
  await rest(null, 30 * minutes);
  assert.equal(await look(), 401);
});

test("an idle session is in no list, and is deleted with the expired ones", async () => {
  const { email } = await member();
  const other = await member();
  await rest(email, 3 * days);
  const listed = async (whose: string) =>
    (await service.cli<{ sessions: object[] }>("session", "list", whose)).sessions.length;
  assert.deepEqual([await listed(email), await listed(other.email)], [0, 1]);
  await sweepSessions(db, clock());
  assert.equal(await lastSeen(email), 0);
  assert.notEqual(await lastSeen(other.email), 0);
});

test("the use of a session is recorded at most every five minutes", async () => {
  const { email, me } = await member();
  await rest(email, 4 * minutes);
  const before = await lastSeen(email);
  await me();
  assert.equal(await lastSeen(email), before);
  await rest(email, 6 * minutes);
  await me();
  assert.ok(Date.now() - (await lastSeen(email)) < minutes * 1000);
});

test("a page that refreshes itself does not count as use of the session", async () => {
  const { email, headers } = await member();
  await rest(email, 6 * minutes);
  const before = await lastSeen(email);
  await call("/dashboard/webhooks/x/deliveries", { headers: { ...headers, "HX-Request": "true" } });
  assert.equal(await lastSeen(email), before);
  await call("/dashboard/webhooks", { headers });
  assert.ok((await lastSeen(email)) > before);
});
