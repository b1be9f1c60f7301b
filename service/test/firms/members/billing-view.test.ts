import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "./members-service.ts";
import { newMember, postForm } from "./signed-in-member.ts";

const running = await forTests(openMembersService());
const { service, db, call, somebody } = running;
const { partnerId, key } = await running.newPartner();
const owner = await newMember(service, somebody(), key);
const member = await newMember(service, somebody(), key);
const [found] = await db.query<{ userId: string }>(sql`
  SELECT user_id AS "userId" FROM members WHERE partner_id = ${partnerId} AND role = 'member'`);
const userId = found?.userId ?? "";

type Holder = { headers: { Cookie: string } };
const look = (path: string, { headers }: Holder) => call(path, { headers: { ...headers, Accept: "text/html" } });
const change = (billing: string, by: Holder, whom = userId) =>
  postForm(`${service.baseUrl}/dashboard/team/members/${whom}/billing`, { billing }, by.headers);
const pages = ["/dashboard/billing", "/dashboard/statements"];
const closed = ["/dashboard/statements/2026-01/pdf", `/dashboard/orders/${"a".repeat(40)}/receipts/R-2026-00001`];

test("owners see billing, and other members once an owner lets them", async () => {
  for (const path of pages) assert.equal((await look(path, owner)).status, 200, path);
  for (const path of [...pages, ...closed]) {
    const refused = await look(path, member);
    assert.equal(refused.status, 403, path);
    assert.match(String(refused.body), /has not let you see billing/);
  }
  assert.doesNotMatch(String((await look("/dashboard", member)).body), /href="\/dashboard\/(?:billing|statements)"/);
  assert.equal((await change("on", owner)).status, 303);
  for (const path of pages) assert.equal((await look(path, member)).status, 200, path);
  assert.match(String((await look("/dashboard", member)).body), /href="\/dashboard\/statements"/);
  for (const path of closed) assert.equal((await look(path, member)).status, 404, path);
  assert.match(String((await look("/dashboard/team", owner)).body), /Hide billing/);
  assert.equal((await change("off", owner)).status, 303);
  assert.equal((await look("/dashboard/billing", member)).status, 403);
  const lines = await db.query<{ sees: boolean }>(sql`
    SELECT (detail ->> 'seesBilling')::boolean AS sees FROM audit_log WHERE action = 'member.billing_changed' ORDER BY id`);
  assert.deepEqual(
    lines.map(({ sees }) => sees),
    [true, false],
  );
});

test("only owners decide who sees billing, and by the words on and off", async () => {
  assert.equal((await change("on", member)).status, 403);
  assert.equal((await change("perhaps", owner)).status, 400);
  assert.equal((await change("on", owner, "00000000-0000-4000-8000-000000000000")).status, 404);
  assert.equal((await look("/dashboard/billing", member)).status, 403);
});

test("a member who may see billing gets mails about statements only after switching them on, and others can't", async () => {
  const send = async (mails: string) => {
    const fields = { kind: "statements", mails };
    return (await postForm(`${service.baseUrl}/dashboard/security/mails`, fields, member.headers)).status;
  };
  const shown = async (by: Holder) =>
    /You get (an|no) email on the 1st/.exec(String((await look("/dashboard/security", by)).body))?.[1];
  assert.equal(await shown(owner), "an");
  assert.equal(await shown(member), undefined);
  assert.equal(await send("on"), 403);
  assert.equal((await change("on", owner)).status, 303);
  assert.equal(await shown(member), "no");
  assert.deepEqual(await Promise.all([send("on"), send("on"), send("on")]), [303, 303, 303]);
  assert.equal(await shown(member), "an");
  assert.equal(await send("off"), 303);
  assert.equal(await shown(member), "no");
  assert.equal(await send("on"), 303);
  assert.equal(await shown(member), "an");
  const lines = await db.query<{ action: string }>(sql`
    SELECT action FROM audit_log WHERE actor = ${`member:${userId}`} AND action LIKE 'mails.%' ORDER BY id`);
  assert.deepEqual(
    lines.map(({ action }) => action),
    ["mails.switched_on", "mails.switched_off", "mails.switched_on"],
  );
  assert.equal((await change("off", owner)).status, 303);
  assert.equal(await shown(member), undefined);
});

test("a right that somebody wrote into the database opens nothing", async () => {
  await db.query(sql`UPDATE members SET sees_billing = true WHERE user_id = ${userId}`);
  assert.notEqual((await look("/dashboard/billing", member)).status, 200);
});
