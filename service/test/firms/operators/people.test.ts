import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { asService } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { requireDecidesNow } from "../../../src/firms/operators/operators.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { claimTask, openTask, type TaskKind } from "../../../src/kernel/tasks/tasks.ts";
import { mailsTo, postForm } from "../members/signed-in-member.ts";
import { newOperator, newSession } from "./console-people.ts";

const running = await forTests(openHarness());
let admin = await newOperator(running, { roles: ["admin"] });

const post = (path: string, fields: Record<string, string> = {}, { cookie }: { cookie: string } = admin) =>
  postForm(`${running.service.baseUrl}/operator/people${path}`, fields, { cookie, Accept: "text/html" });

async function look(path: string, { cookie }: { cookie: string } = admin) {
  const page = await fetch(`${running.service.baseUrl}/operator/people${path}`, { headers: { cookie } });
  return { status: page.status, text: await page.text() };
}

async function refused(answer: Response, status: number, message: RegExp): Promise<void> {
  const text = await answer.text();
  assert.equal(answer.status, status, text);
  assert.match(text, message);
}

async function lastLine(action: string) {
  const [line] = await running.db.query<{ actor: string; detail: Record<string, unknown> }>(sql`
    SELECT actor, detail FROM audit_log WHERE action = ${action} ORDER BY id DESC LIMIT 1`);
  return line;
}

test("an admin adds an operator and changes the roles; every admin is mailed, and the log has the old and new roles", async () => {
  const second = await newOperator(running, { roles: ["admin"] });
  const added = await post("", { email: "new@desk.example", name: "New <One>", role_agent: "on", role_shipper: "on" });
  assert.equal(added.status, 303, await added.text());
  const path = /people(\/[0-9a-f-]{36})/.exec(added.headers.get("location") ?? "")?.[1] ?? "";
  await until(() => mailsTo(running.service, "new@desk.example")[0]);
  for (const { email } of [admin, second])
    await until(() =>
      mailsTo(running.service, email).find((mail) => /was made an operator: agent, shipper/.test(mail)),
    );
  await post(`${path}/roles`, { name: "New Other", role_agent: "on", role_shipper: "on" });
  await until(() =>
    mailsTo(running.service, admin.email).find((mail) =>
      /new@desk\.example\s+is\s+now\s+named\s+New\s+Other\.\s+Before:\s+New\s+<One>\./.test(mail),
    ),
  );
  const renamed = mailsTo(running.service, admin.email).filter((mail) => /New\s+Other/.test(mail));
  assert.ok(renamed.every((mail) => !/these\s+roles/.test(mail)));
  await post(`${path}/roles`, { name: "New <One>", role_agent: "on", role_shipper: "on" });
  const changed = await post(`${path}/roles`, { name: "New <One>", role_notary: "on" });
  assert.equal(changed.status, 303);
  assert.deepEqual(await lastLine("operator.changed"), {
    actor: `operator:${admin.id}`,
    detail: {
      userId: path.slice(1),
      before: { name: "New <One>", roles: ["agent", "shipper"], active: true },
      after: { name: "New <One>", roles: ["notary"], active: true },
    },
  });
  assert.match((await look("")).text, /New &lt;One&gt;.*new@desk\.example.*notary/s);
  await refused(
    await post("", { email: "new@desk.example", name: "Again", role_agent: "on" }),
    409,
    /is an operator already.*Again/s,
  );
  await refused(await post("", { email: "x@desk.example", name: "X" }), 400, /roles must be one or more/);
  await refused(
    await post(`${path}/roles`, { name: " ", role_agent: "on" }),
    400,
    /name must have 1 to 100 characters/,
  );
  await running.service.cli("operator", "remove", second.email);
});

test("an operator whose access ends has none from the next request on, and can be restored", async () => {
  const agent = await newOperator(running, { roles: ["agent"] });
  const console_ = () => fetch(`${running.service.baseUrl}/operator`, { headers: { cookie: agent.cookie } });
  assert.equal((await console_()).status, 200);
  assert.equal((await post(`/${agent.id}/remove`)).status, 303);
  assert.equal((await console_()).status, 401);
  assert.equal((await post(`/${agent.id}/restore`)).status, 303);
  const again = await newSession(running, agent.id);
  assert.equal((await look("", again)).status, 403);
});

/** Opens a task, lets the operator claim it, and returns its id. */
async function claimed(kind: TaskKind, { id }: { id: string }): Promise<number> {
  const task = { kind, at: new Date(), environment: "live", subject: `${kind} ${id}` } as const;
  await running.db.transaction((tx) => openTask(tx, task));
  const [row] = await running.db.query<{ id: number }>(sql`SELECT id FROM tasks WHERE subject = ${task.subject}`);
  await claimTask({ db: running.db, clock: systemClock }, row?.id ?? 0, `operator:${id}`);
  return row?.id ?? 0;
}

const claimOf = async (task: number) =>
  (
    await running.db.query<{ claimedBy: string | null }>(
      sql`SELECT claimed_by AS "claimedBy" FROM tasks WHERE id = ${task}`,
    )
  )[0]?.claimedBy;

test("claimed tasks are released when a role or the access ends, and the person is mailed", async () => {
  const both = await newOperator(running, { roles: ["agent", "shipper"] });
  const [quote, fax] = [await claimed("quote", both), await claimed("fax_send", both)];
  assert.equal((await post(`/${both.id}/roles`, { name: both.name, role_agent: "on" })).status, 303);
  assert.deepEqual([await claimOf(quote), await claimOf(fax)], [`operator:${both.id}`, null]);
  assert.deepEqual(await lastLine("task.released"), {
    actor: `operator:${admin.id}`,
    detail: { task: fax, kind: "fax_send", claimedBy: `operator:${both.id}` },
  });
  await until(() => mailsTo(running.service, both.email).find((mail) => /now has these roles: agent\./.test(mail)));
  await running.service.cli("operator", "remove", both.email);
  assert.equal(await claimOf(quote), null);
  await until(() => mailsTo(running.service, both.email).find((mail) => /is an operator no more/.test(mail)));
});

test("a removed admin is mailed about it", async () => {
  const second = await newOperator(running, { roles: ["admin"] });
  assert.equal((await post(`/${second.id}/remove`)).status, 303);
  for (const { email } of [admin, second])
    await until(() =>
      mailsTo(running.service, email).find((mail) => mail.includes(`${second.name} (${second.email}) is an operator`)),
    );
});

test("an admin and the command line release anybody's claimed task; others only their own", async () => {
  const agent = await newOperator(running, { roles: ["agent"] });
  const other = await newOperator(running, { roles: ["agent"] });
  const [first, second] = [await claimed("quote", agent), await claimed("order_on_hold", agent)];
  const release = (task: number, { cookie }: { cookie: string }) =>
    postForm(`${running.service.baseUrl}/operator/tasks/${task}/release`, {}, { cookie, Accept: "text/html" });
  await refused(await release(first, other), 409, /Somebody else has claimed this task/);
  assert.equal((await release(first, admin)).status, 303);
  assert.deepEqual(await running.service.cli("task", "release", String(second)), { task: second, state: "open" });
  assert.deepEqual([await claimOf(first), await claimOf(second)], [null, null]);
  await refused(await release(first, admin), 409, /Nobody has claimed this task/);
});

test("nobody can change their own roles, and the last active admin stays; the command line may remove even that one", async () => {
  const own = `/${admin.id}`;
  await refused(
    await post(`${own}/roles`, { name: "Me", role_admin: "on", role_approver: "on" }),
    409,
    /Nobody changes their own roles/,
  );
  await refused(await post(`${own}/remove`), 409, /Nobody changes their own roles/);
  await refused(await post(`${own}/passkeys/remove`), 409, /Remove your own passkeys/);
  const { url } = await running.service.cli("operator", "link");
  const answer = await postForm(running.service.baseUrl + new URL(url ?? "").pathname, {});
  const byLink = { cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
  await refused(await post(`${own}/remove`, {}, byLink), 409, /The last active admin stays/);
  await refused(
    await post(`${own}/roles`, { name: "Me", role_agent: "on" }, byLink),
    409,
    /The last active admin stays/,
  );
  const other = await newOperator(running, { roles: ["admin"] });
  // When two operators remove each other at the same time, one of them remains.
  const both = await Promise.all([post(`/${other.id}/remove`), post(`${own}/remove`, {}, other)]);
  assert.equal(both.filter(({ status }) => status === 303).length, 1);
  const [left] = await running.db.query<{ count: number }>(
    sql`SELECT count(*) AS count FROM operators WHERE active AND 'admin' = ANY (roles)`,
  );
  assert.equal(left?.count, 1);
  for (const { id } of [admin, other]) await running.service.cli("operator", "remove", id);
  admin = await newOperator(running, { roles: ["admin"] });
});

test("only an admin can end an operator's sessions and remove lost passkeys", async () => {
  const agent = await newOperator(running, { roles: ["agent"] });
  const stranger = await newOperator(running, { roles: ["agent"], listed: false });
  const { text } = await look(`/${agent.id}`);
  assert.match(text, new RegExp(`sessions/${agent.sessionId}/end`));
  assert.equal((await post(`/${agent.id}/sessions/${agent.sessionId}/end`)).status, 303);
  assert.deepEqual(await lastLine("session.ended"), {
    actor: `operator:${admin.id}`,
    detail: { sessionId: agent.sessionId },
  });
  assert.equal((await post(`/${agent.id}/sessions/${stranger.sessionId}/end`)).status, 404);
  assert.equal((await post(`/${agent.id}/passkeys/remove`)).status, 303);
  assert.equal((await lastLine("passkeys.removed"))?.actor, `operator:${admin.id}`);
  await until(() => mailsTo(running.service, admin.email).find((mail) => mail.includes("removed the passkeys")));
  const news = await until(() =>
    mailsTo(running.service, agent.email).find((mail) => mail.includes("removed all your")),
  );
  assert.match(news, /\/operator\/security/, "an operator may have no dashboard");
  for (const path of [`/${stranger.id}/passkeys/remove`, "/nope/remove", "/%00/roles"])
    assert.equal((await post(path, { name: "X", role_agent: "on" })).status, 404, path);
  assert.equal((await look(`/${stranger.id}`)).status, 404);
});

test("changing people needs a recent passkey; a person who may only read gets no forms", async () => {
  const earlier = await newSession(running, admin.id, { at: new Date(Date.now() - 16 * 60_000) });
  const fields = { email: "late@desk.example", name: "Late", role_agent: "on" };
  await refused(await post("", fields, earlier), 403, /Confirm that it is you.*value="late@desk\.example"/s);
  const auditor = await newOperator(running, { roles: ["auditor"] });
  for (const path of ["", `/${admin.id}`]) {
    const { status, text } = await look(path, auditor);
    assert.equal(status, 200);
    assert.doesNotMatch(text, /action="\/operator\/people/);
  }
});

/**
 * The whole hours that the person must still wait before deciding on other people's requests; null for no waiting time.
 */
async function waitOf(email: string): Promise<number | null> {
  const [row] = await running.db.query<{ from: Date | null }>(sql`
    SELECT decides_from AS "from" FROM operators JOIN users ON users.id = user_id WHERE email = ${email}`);
  return row?.from ? Math.round((row.from.getTime() - Date.now()) / 3_600_000) : null;
}

test("an operator whom an admin appoints or promotes waits a day before decisions; one of the command line does not", async () => {
  const email = "waits@desk.example";
  const added = await post("", { email, name: "Waits", role_shipper: "on" });
  const path = /people(\/[0-9a-f-]{36})/.exec(added.headers.get("location") ?? "")?.[1] ?? "";
  assert.equal(await waitOf(email), 24);
  const age = (hours: number) =>
    asService(
      running,
      sql`UPDATE operators SET decides_from = now() + make_interval(hours => ${hours}) WHERE user_id = ${path.slice(1)}`,
    );
  const roles = (...names: string[]) =>
    post(`${path}/roles`, { name: "Waits", ...Object.fromEntries(names.map((name) => [`role_${name}`, "on"])) });
  await age(-5);
  await roles("shipper", "auditor");
  assert.equal(await waitOf(email), -5, "no right to decide was gained");
  await roles("approver");
  assert.equal(await waitOf(email), 24);
  await age(3);
  await roles("approver", "auditor");
  assert.equal(await waitOf(email), 3, "a wait is not begun again");
  await roles("approver", "notary");
  assert.equal(await waitOf(email), 24, "a notary decides without a second person");
  await age(-5);
  await post(`${path}/remove`);
  await post(`${path}/restore`);
  assert.equal(await waitOf(email), 24, "access that was given back");
  await running.service.cli("operator", "add", "direct@desk.example", "--name", "Direct", "--role", "approver");
  assert.equal(await waitOf("direct@desk.example"), null);
});

test("an operator may decide once the day is over", () => {
  const decidesFrom = new Date("2026-11-26T10:30:00Z");
  const at = (ms: number) => requireDecidesNow({ decidesFrom }, new Date(decidesFrom.getTime() + ms));
  assert.throws(() => at(-1), { code: "conflict", message: /You may decide from 2026-11-26 10:30 UTC\./ });
  at(0);
  requireDecidesNow({ decidesFrom: null }, new Date(0));
});
