import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { acceptInvitation, removeMember, sessionResolver } from "../../../src/firms/members/members.ts";
import type { Session } from "../../../src/kernel/identity/identity.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "./members-service.ts";
import { cookieIn, invitationsTo, mailsTo, newMember, postForm, signIn } from "./signed-in-member.ts";

const running = await forTests(openMembersService());
const { service, db, call, somebody } = running;

type Headers = Record<string, string>;
const team = "/dashboard/team";
const post = (path: string, fields: Record<string, string>, headers: Headers) =>
  postForm(service.baseUrl + path, fields, headers);
const invite = async (headers: Headers, email: string, more: Record<string, string> = {}) =>
  (await post(`${team}/invitations`, { email, role: "member", ...more }, headers)).status;
const meOf = (headers: Headers) => call("/api/partner/me", { headers });

async function firmWithOwner(options = {}) {
  const firm = await running.newPartner(options);
  const email = somebody();
  return { ...firm, email, owner: (await newMember(service, email, firm.key)).headers };
}

const mailedTo = (email: string, count = 1) =>
  until(() => {
    const paths = invitationsTo(service, email);
    return paths.length >= count ? paths[0] : undefined;
  });

/** The cookies of a signed-in person who has opened an invitation's link. */
async function opened(path: string, session: Headers): Promise<Headers> {
  const answer = await fetch(service.baseUrl + path, { redirect: "manual" });
  assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/dashboard/invitation"]);
  return { Cookie: `${session["Cookie"]}; ${cookieIn(answer, "__Host-invitation")}` };
}

const accept = async (headers: Headers) => (await post("/dashboard/invitation", {}, headers)).status;
const look = (headers: Headers) => call("/dashboard/invitation", { headers });
const pendingOf = (partnerId: string) =>
  db.query<{ id: string; token: string }>(
    sql`SELECT id, encode(token_sha256, 'hex') AS token FROM invitations WHERE partner_id = ${partnerId} AND ended_at IS NULL`,
  );

test("an invited person joins with the offered role, and the owners are told", async () => {
  const { owner, partnerId, email: inviter } = await firmWithOwner({ name: "Joined Title" });
  const email = somebody();
  assert.equal(await invite(owner, ` ${email.toUpperCase()} `, { role: "owner" }), 303);
  const path = await mailedTo(email);
  assert.match(mailsTo(service, email)[0] ?? "", /invites you to join Joined Title as an owner/);
  const rows = JSON.stringify(await db.query(sql`SELECT * FROM invitations WHERE partner_id = ${partnerId}`));
  assert.ok(!rows.includes(path.slice(-40)), "the token is in no table");
  const { headers } = await signIn(service, email);
  const guest = await opened(path, headers);
  assert.match((await look(guest)).body, /Join Joined Title/);
  assert.equal(await accept(guest), 303);
  const { body } = await meOf(headers);
  assert.deepEqual([body.firmName, body.role, body.environment], ["Joined Title", "owner", "test"]);
  assert.equal(await accept(guest), 404, "it works once");
  assert.equal((await look(guest)).status, 404);
  await until(() => mailsTo(service, inviter).find((mail) => mail.includes("Subject: Your invitation was accepted")));
  const lines = await db.query<{ action: string }>(
    sql`SELECT action FROM audit_log WHERE partner_id = ${partnerId} AND action IN ('invitation.sent', 'member.joined')`,
  );
  assert.equal(lines.length, 2);
});

test("a link works only for its address, and tells others nothing else", async () => {
  const { owner } = await firmWithOwner({ name: "Secret Title" });
  const email = somebody();
  await invite(owner, email);
  const path = await mailedTo(email);
  const stranger = await opened(path, (await signIn(service, somebody())).headers);
  const page = await look(stranger);
  assert.equal(page.status, 403);
  assert.ok(!page.body.includes(email) && !page.body.includes("Secret Title"));
  assert.equal(await accept(stranger), 404);
  const nobody = await fetch(`${service.baseUrl}/dashboard/invitation`, {
    redirect: "manual",
    headers: { Accept: "text/html" },
  });
  assert.equal(nobody.headers.get("location"), "/sign-in?return_to=%2Fdashboard%2Finvitation");
  const signInPage = await (await fetch(`${service.baseUrl}/sign-in?return_to=%2Fdashboard%2Finvitation`)).text();
  assert.match(signInPage, /You were invited/);
  assert.doesNotMatch(signInPage, /Request partner access/);
  for (const token of ["0".repeat(40), "x", "%00"])
    assert.equal((await fetch(`${service.baseUrl}/invitation/${token}`, { redirect: "manual" })).status, 303);
});

test("of two people who accept one invitation concurrently, one joins", async () => {
  const { owner, partnerId } = await firmWithOwner();
  const email = somebody();
  await invite(owner, email);
  const path = await mailedTo(email);
  const { headers } = await signIn(service, email);
  const session = (await sessionResolver(running)(headers["Cookie"])) as Session;
  const done = await Promise.allSettled(
    Array.from({ length: 4 }, () => acceptInvitation(running, session, path.slice(-40))),
  );
  assert.equal(done.filter(({ status }) => status === "fulfilled").length, 1);
  const joined = sql`SELECT FROM audit_log WHERE partner_id = ${partnerId} AND action = 'member.joined'`;
  assert.equal((await db.query(joined)).length, 1);
});

test("a person who is invited twice has one invitation, and only the latest link works", async () => {
  const { owner, partnerId } = await firmWithOwner();
  const email = somebody();
  const both = await Promise.all([invite(owner, email), invite(owner, email)]);
  assert.deepEqual(both, [303, 303], "the same form, sent twice");
  const first = await mailedTo(email);
  assert.equal((await pendingOf(partnerId)).length, 1);
  const [{ id } = { id: "" }] = await pendingOf(partnerId);
  await asService(running, sql`UPDATE invitations SET created_at = created_at - interval '2 minutes' WHERE id = ${id}`);
  assert.equal((await post(`${team}/invitations/${id}/resend`, {}, owner)).status, 303);
  const second = await until(() => invitationsTo(service, email).find((path) => path !== first));
  assert.equal(invitationsTo(service, email).length, 2);
  assert.equal((await pendingOf(partnerId)).length, 1);
  const { headers } = await signIn(service, email);
  assert.equal(await accept(await opened(first, headers)), 404);
  assert.equal(await accept(await opened(second, headers)), 303);
  assert.equal((await post(`${team}/invitations/${id}/resend`, {}, owner)).status, 404);
});

test("a link ends after 7 days, when it is withdrawn, and when its inviter may no longer invite", async () => {
  const { owner, partnerId, key } = await firmWithOwner();
  const other = await newMember(service, somebody(), key);
  await asService(running, sql`UPDATE members SET role = 'owner' WHERE partner_id = ${partnerId}`);
  const email = somebody();
  const { headers } = await signIn(service, email);
  const ends = [
    () =>
      asService(
        running,
        sql`UPDATE invitations SET expires_at = now() - interval '1 s' WHERE partner_id = ${partnerId} AND ended_at IS NULL`,
      ),
    async () => {
      const [{ id } = { id: "" }] = await pendingOf(partnerId);
      assert.equal((await post(`${team}/invitations/${id}/withdraw`, {}, owner)).status, 303);
      assert.equal((await post(`${team}/invitations/${id}/withdraw`, {}, owner)).status, 404);
    },
    () =>
      asService(
        running,
        sql`UPDATE members SET role = 'member' WHERE partner_id = ${partnerId} AND user_id IN
      (SELECT invited_by FROM invitations WHERE partner_id = ${partnerId} AND ended_at IS NULL)`,
      ),
  ];
  for (const [n, end] of ends.entries()) {
    assert.equal(await invite(n === 2 ? other.headers : owner, email, { role: n === 1 ? "owner" : "member" }), 303);
    const guest = await opened(await mailedTo(email, n + 1), headers);
    assert.equal((await look(guest)).status, 200);
    await end();
    assert.equal((await look(guest)).status, 404);
    assert.equal(await accept(guest), 404);
  }
});

test("a person belongs to one firm: the invitation waits until the person has left the other one", async () => {
  const [here, there] = [await firmWithOwner(), await firmWithOwner()];
  assert.equal(await invite(here.owner, there.email), 303, "nobody is told of the other firm");
  assert.equal(await invite(here.owner, here.email), 409, "a member of one's own");
  const guest = await opened(await mailedTo(there.email), there.owner);
  assert.match((await look(guest)).body, /You belong to .* already/);
  assert.equal(await accept(guest), 409);
  assert.equal((await pendingOf(here.partnerId)).length, 1);
  const page = (await call(team, { headers: there.owner })).body as string;
  const [leave = ""] = /\/dashboard\/team\/members\/[0-9a-f-]{36}\/remove/.exec(page) ?? [];
  assert.equal((await post(leave, {}, there.owner)).status, 303);
  assert.equal(await accept(guest), 303);
  assert.equal((await meOf(there.owner)).body.role, "member");
});

test("only owners of the firm invite, resend and withdraw, from our own pages, after a recent sign-in", async () => {
  const { owner, partnerId, key } = await firmWithOwner();
  const member = await newMember(service, somebody(), key);
  const foreign = await firmWithOwner();
  await invite(owner, somebody());
  const [{ id } = { id: "" }] = await pendingOf(partnerId);
  assert.equal(await invite(member.headers, somebody(), { role: "owner" }), 403);
  const at = (what: string) => `${team}/invitations/${id}/${what}`;
  for (const what of ["resend", "withdraw"]) {
    assert.equal((await post(at(what), {}, member.headers)).status, 403);
    assert.equal((await post(at(what), {}, foreign.owner)).status, 404);
    assert.equal((await post(at(what).replace(id, "x"), {}, owner)).status, 404);
    assert.equal((await post(at(what), {}, { ...owner, Origin: "https://evil.example" })).status, 403);
  }
  assert.ok(!(await call(team, { headers: member.headers })).body.includes(id));
  await asService(
    running,
    sql`UPDATE sessions SET confirmed_at = now() - interval '16 minutes' WHERE user_id IN
    (SELECT user_id FROM members WHERE partner_id = ${partnerId} AND role = 'owner')`,
  );
  assert.equal(await invite(owner, somebody()), 403);
  assert.equal((await pendingOf(partnerId)).length, 1);
});

test("an owner with live access can give it, and it applies once the invitation was accepted", async () => {
  const { owner, partnerId } = await firmWithOwner({ live: true });
  const email = somebody();
  assert.equal(await invite(owner, email, { live: "on" }), 303);
  const { headers } = await signIn(service, email);
  assert.equal(await accept(await opened(await mailedTo(email), headers)), 303);
  const live = sql`SELECT FROM members m JOIN users u ON u.id = m.user_id WHERE u.email = ${email} AND live_access`;
  assert.equal((await db.query(live)).length, 1);
  await asService(running, sql`UPDATE members SET live_access = false WHERE partner_id = ${partnerId}`);
  assert.equal(await invite(owner, somebody(), { live: "on" }), 403);
});

test("only people who may create an invitation with live access may withdraw, resend and replace it", async () => {
  const { owner, partnerId, key } = await firmWithOwner({ live: true });
  const other = (await newMember(service, somebody(), key)).headers;
  await asService(running, sql`UPDATE members SET role = 'owner' WHERE partner_id = ${partnerId}`);
  const email = somebody();
  assert.equal(await invite(owner, email, { live: "on" }), 303);
  const [{ id } = { id: "" }] = await pendingOf(partnerId);
  const act = async (what: string, by: Headers) => (await post(`${team}/invitations/${id}/${what}`, {}, by)).status;
  await asService(
    running,
    sql`UPDATE members SET live_access = false
    WHERE partner_id = ${partnerId} AND user_id NOT IN (SELECT invited_by FROM invitations WHERE id = ${id})`,
  );
  for (const what of ["resend", "withdraw"]) assert.equal(await act(what, other), 403, what);
  assert.equal(await invite(other, email), 403, "nor with another in its place");
  assert.doesNotMatch((await call(team, { headers: other })).body, new RegExp(`${id}/withdraw`));
  await asService(
    running,
    sql`UPDATE sessions SET confirmed_at = now() - interval '16 minutes' WHERE user_id IN
    (SELECT invited_by FROM invitations WHERE id = ${id})`,
  );
  for (const what of ["resend", "withdraw"])
    assert.equal(await act(what, owner), 403, `${what} without a recent sign-in`);
  assert.deepEqual(
    (await pendingOf(partnerId)).map((each) => each.id),
    [id],
  );
  await asService(running, sql`UPDATE sessions SET confirmed_at = now()`);
  assert.equal(await act("withdraw", owner), 303);
});

test("a firm whose name looks like an address is named in no mail", async () => {
  const { owner, email: inviter } = await firmWithOwner({ name: "Prize at evil.example" });
  const email = somebody();
  assert.equal(await invite(owner, email), 303);
  const path = await mailedTo(email);
  const { headers } = await signIn(service, email);
  assert.equal(await accept(await opened(path, headers)), 303);
  const told = await until(() => mailsTo(service, inviter).find((mail) => mail.includes("invitation was accepted")));
  assert.match(mailsTo(service, email).join(""), /invites you to join their firm as a member/);
  assert.match(told, /accepted an invitation to your firm/);
  assert.ok(![told, ...mailsTo(service, email)].some((mail) => mail.includes("evil.example")));
});

test("invalid addresses and roles are refused by name", async () => {
  const { owner, partnerId } = await firmWithOwner();
  // The third email address begins with a Kelvin sign, whose lower case is the letter k.
  for (const email of [
    "",
    "ate@harbor-title.com\r\nBcc: a@b.example",
    "\u212Aate@harbor-title.com",
    "ä@harbor-title.com",
    "a@b",
  ])
    assert.equal(await invite(owner, email), 400, email);
  for (const role of ["", "king", "Owner"]) assert.equal(await invite(owner, somebody(), { role }), 400, role);
  assert.equal((await pendingOf(partnerId)).length, 0);
});

test("the number of a firm's invitations per day is limited, in total and to one address", async () => {
  const { owner, partnerId } = await firmWithOwner();
  const email = somebody();
  const mailed = (count: number, to: (n: number) => string) =>
    asService(
      running,
      sql`
      INSERT INTO invitations (id, partner_id, email, role, live_access, token_sha256, invited_by, created_at, expires_at,
        ended_at, outcome)
      SELECT gen_random_uuid(), ${partnerId}, e, 'member', false, sha256(e::bytea || ${email}::text::bytea || n::text::bytea), m.user_id, now(),
        now(), now(), 'withdrawn'
      FROM unnest(${Array.from({ length: count }, (_, n) => to(n))}::text[]) WITH ORDINALITY AS e (e, n), members m
      WHERE m.partner_id = ${partnerId}`,
    );
  await mailed(5, () => email);
  assert.equal(await invite(owner, email), 409);
  assert.equal(await invite(owner, somebody()), 303);
  await mailed(24, (n) => `n${n}@harbor-title.com`);
  assert.equal(await invite(owner, somebody()), 409);
});

test("of two owners who remove each other concurrently, one remains", async () => {
  const { key, partnerId } = await firmWithOwner();
  const other = await newMember(service, somebody(), key);
  await newMember(service, somebody(), key);
  await asService(
    running,
    sql`UPDATE members SET role = 'owner' WHERE user_id =
    (SELECT s.user_id FROM sessions s ORDER BY created_at DESC OFFSET 1 LIMIT 1)`,
  );
  const owners = await db.query<{ id: string }>(
    sql`SELECT user_id AS id FROM members WHERE partner_id = ${partnerId} AND role = 'owner' ORDER BY linked_at`,
  );
  assert.equal(owners.length, 2);
  const principals = await Promise.all(
    [other.headers].map(async ({ Cookie }) => (await sessionResolver(running)(Cookie))?.principal),
  );
  const [second] = principals;
  assert.ok(second?.member);
  const first = { ...second, member: { ...second.member, userId: owners[0]?.id ?? "" } };
  await Promise.allSettled([
    removeMember(running, first, second.member.userId),
    removeMember(running, second, first.member.userId),
    removeMember(running, first, first.member.userId),
    removeMember(running, second, second.member.userId),
  ]);
  const left = sql`SELECT FROM members WHERE partner_id = ${partnerId} AND role = 'owner'`;
  assert.equal((await db.query(left)).length, 1);
});
