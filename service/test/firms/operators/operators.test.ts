import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { asService } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { link, mailsTo, postForm, signIn } from "../members/signed-in-member.ts";
import { newOperator } from "./console-people.ts";

const running = await forTests(openHarness());

type Row = { id: string; email: string; name: string; roles: string[]; active: boolean };
const cli = <T = Row>(...args: string[]) => running.service.cli<T>("operator", ...args);
const get = (path: string, cookie: string) =>
  fetch(running.service.baseUrl + path, { headers: { cookie, Accept: "text/html" }, redirect: "manual" });
const post = (path: string, cookie: string, fields: Record<string, string>) =>
  postForm(running.service.baseUrl + path, fields, { cookie, Accept: "text/html" });

async function lastLine(action: string) {
  const [line] = await running.db.query<{ actor: string; detail: Record<string, unknown> }>(sql`
    SELECT actor, detail FROM audit_log WHERE action = ${action} ORDER BY id DESC LIMIT 1`);
  return line;
}

const setSession = (id: string, column: "created_at" | "last_seen_at" | "passkey_at", secondsAgo: number) =>
  asService(
    running,
    column === "created_at"
      ? sql`UPDATE sessions SET created_at = ${ago(secondsAgo)} WHERE id = ${id}`
      : column === "passkey_at"
        ? sql`UPDATE sessions SET passkey_at = ${ago(secondsAgo)} WHERE id = ${id}`
        : sql`UPDATE sessions SET last_seen_at = ${ago(secondsAgo)} WHERE id = ${id}`,
  );
const ago = (seconds: number) => new Date(Date.now() - seconds * 1000);

test("an operator who was added by the command line is mailed, signs in by a link, and gets to the console", async () => {
  const added = await cli("add", "Ann@Desk.example", "--role", "auditor,agent", "--name", "Ann");
  assert.deepEqual(
    [added.email, added.name, added.roles, added.active],
    ["ann@desk.example", "Ann", ["agent", "auditor"], true],
  );
  await until(() => mailsTo(running.service, added.email).find((mail) => mail.includes("You are an operator")));
  const { answer, cookie } = await signIn(running.service, added.email);
  assert.equal(answer.headers.get("location"), "/operator");
  const page = await get("/operator", cookie);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /Ann/);
  assert.equal((await get("/dashboard", cookie)).headers.get("location"), "/dashboard/link");
  assert.deepEqual((await lastLine("operator.added"))?.actor, "operator");
});

test("a person who is also a firm's member works in both; one who is only a member sees no console", async () => {
  const { key } = await newPartner(running.service);
  const email = "both@harbor-title.com";
  const { cookie } = await signIn(running.service, email);
  assert.equal((await link(running.service, cookie, key)).status, 200);
  assert.deepEqual([(await get("/operator", cookie)).status, (await get("/dashboard", cookie)).status], [401, 200]);
  await cli("add", email, "--role", "agent");
  assert.deepEqual([(await get("/operator", cookie)).status, (await get("/dashboard", cookie)).status], [200, 200]);
  assert.match(await (await get("/operator", cookie)).text(), /Your firm’s dashboard/);
});

test("an operator's session ends after half an hour without use, and after 8 hours", async () => {
  const { cookie, sessionId } = await newOperator(running, { roles: ["agent"] });
  const status = async () => (await get("/operator", cookie)).status;
  await setSession(sessionId, "last_seen_at", 30 * 60 - 10);
  assert.equal(await status(), 200);
  await setSession(sessionId, "last_seen_at", 30 * 60);
  assert.equal(await status(), 401);
  await setSession(sessionId, "last_seen_at", 0);
  await setSession(sessionId, "created_at", 8 * 3600 - 10);
  assert.equal(await status(), 200);
  await setSession(sessionId, "created_at", 8 * 3600);
  assert.equal(await status(), 401);
});

test("a removed operator, or one who loses a role, has no access from the next request on", async () => {
  const { cookie, email, id } = await newOperator(running, { roles: ["agent"] });
  assert.equal((await get("/operator/orders", cookie)).status, 200);
  await cli("set", email, "--role", "notary");
  assert.equal((await get("/operator/orders", cookie)).status, 403);
  const removed = await cli("remove", id);
  assert.equal(removed.active, false);
  assert.equal((await get("/operator", cookie)).status, 401);
  const { sessions } = await running.service.cli<{ sessions: object[] }>("session", "list", email);
  assert.deepEqual(sessions, []);
  assert.deepEqual((await lastLine("operator.changed"))?.detail, {
    userId: id,
    before: { name: removed.name, roles: ["notary"], active: true },
    after: { name: removed.name, roles: ["notary"], active: false },
  });
  const { operators } = await cli<{ operators: Row[] }>("list");
  assert.equal(operators.find((each) => each.id === id)?.active, false);
});

test("the command line refuses unknown roles, addresses and people, and repeated operators", async () => {
  const { email } = await newOperator(running, { roles: ["agent"] });
  for (const [args, message] of [
    [["add", "x@desk.example", "--role", "boss"], /roles must be one or more of agent, notary/],
    [["add", "x@desk.example", "--role", ""], /roles must be/],
    [["add", "no address", "--role", "agent"], /email must be an email address/],
    [["add", email, "--role", "agent"], /is an operator already/],
    [["add", "x@desk.example"], /needs --role/],
    [["set", "nobody@desk.example", "--role", "agent"], /No such operator/],
    [["set", email], /needs --role, --name or --active/],
    [["remove", "00000000-0000-4000-8000-000000000000"], /No such operator/],
  ] as const)
    await assert.rejects(cli(...args), message, args.join(" "));
});

test("sessions of operators are listed as such, and end together", async () => {
  const { email } = await newOperator(running, { roles: ["agent"] });
  const stranger = await newOperator(running, { roles: ["agent"], listed: false });
  type Listed = { sessions: { email: string; operator: boolean; expiresAt: string }[] };
  const { sessions } = await running.service.cli<Listed>("session", "list", "operator");
  assert.ok(sessions.some((each) => each.email === email && each.operator));
  assert.ok(sessions.every((each) => each.email !== stranger.email));
  assert.ok(sessions.every(({ expiresAt }) => Date.parse(expiresAt) <= Date.now() + 8 * 3_600_000));
  await running.service.cli("session", "end", "--all", "operator");
  assert.deepEqual((await running.service.cli<Listed>("session", "list", "operator")).sessions, []);
  assert.equal((await running.service.cli<Listed>("session", "list", stranger.email)).sessions.length, 1);
});

test("live and test are switched for each session, in the console separately from the dashboard", async () => {
  const { cookie } = await newOperator(running, { roles: ["agent"] });
  const pressed = async () =>
    / value="(live|test)" aria-pressed="true"/.exec(await (await get("/operator", cookie)).text())?.[1];
  assert.equal(await pressed(), "live");
  const fields = { environment: "test", return_to: "/operator/orders/abc?x=1" };
  const switched = await post("/operator/environment", cookie, fields);
  assert.equal(switched.headers.get("location"), "/operator/orders?done=environment");
  assert.equal(await pressed(), "test");
  for (const [environment, return_to, status] of [
    ["prod", "/operator", 400],
    ["live", "//evil.example/operator/x", 303],
  ] as const) {
    const answer = await post("/operator/environment", cookie, { environment, return_to });
    assert.deepEqual(
      [answer.status, answer.headers.get("location")],
      [status, status === 303 ? "/operator?done=environment" : null],
    );
  }
});

test("a link of the command line gives all rights, says so on each page, and names no person in the log", async () => {
  const { url } = await running.service.cli("operator", "link");
  const answer = await postForm(running.service.baseUrl + new URL(url ?? "").pathname, {});
  const cookie = answer.headers
    .getSetCookie()
    .map((each) => each.split(";")[0])
    .join("; ");
  assert.match(await (await get("/operator", cookie)).text(), /You came by a link of the command line/);
  const { cookie: own } = await newOperator(running, { roles: ["agent"] });
  assert.doesNotMatch(await (await get("/operator", own)).text(), /You came by a link/);
});
