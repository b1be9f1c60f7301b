import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  after,
  assertGoodLooks,
  type Browser,
  before,
  describe,
  type Look,
  type OpenPage,
  startBrowser,
  test,
} from "@signsealship/testing/browser";
import { freePort } from "@signsealship/testing/free-port";
import { asService } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { makeOperatorLink } from "../../../src/firms/members/sign-in/sign-in.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openSecretsKey, type SecretBytes } from "../../../src/kernel/platform/secrets.ts";
import { cookieIn, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import {
  callback,
  type Execution,
  openPlaybooksService,
  type Partner,
  type PlaybooksService,
  start,
} from "../../orders/playbooks/playbooks-service.ts";

let running: PlaybooksService;
let browser: Browser;
let harbor: Partner;
let secrets: SecretBytes;

before(async () => {
  const port = String(await freePort());
  [running, browser] = await Promise.all([
    openPlaybooksService({ PORT: port, BASE_URL: `http://127.0.0.1:${port}` }),
    startBrowser(),
  ]);
  harbor = await newPartner(running.service, { name: "Harbor & Sons <Title>" });
  secrets = await openSecretsKey(`file:${running.service.dataDir}/keys/secrets`);
});
after(async () => {
  await browser.close();
  await running.close();
});

const newLink = async () =>
  running.service.baseUrl + (await makeOperatorLink({ ...running, clock: systemClock, secrets })).path;
const at = (path: string) => running.service.baseUrl + path;
const signInButton = ({ page }: OpenPage) => page.getByRole("main").getByRole("button", { name: "Sign in" });

/**
 * Sets the environment of all sessions that the command line's links opened. Otherwise they would show live objects.
 */
const showing = (environment: "live" | "test") =>
  running.db.query(sql`UPDATE sessions SET console_environment = ${environment} WHERE user_id IS NULL`);

/** The cookie of a new operator session. */
async function operatorCookie(environment: "live" | "test" = "test"): Promise<string> {
  const cookie = cookieIn(await postForm(await newLink(), {}), "__Host-operator");
  await showing(environment);
  return cookie;
}

/** A browser on the operator's page, by default in test. */
const asOperator = async (look: Look = { width: 1280 }, environment?: "live" | "test"): Promise<OpenPage> =>
  browser.open(at("/operator/approvals"), { ...look, cookie: await operatorCookie(environment) });

const post = (path: string, headers: Record<string, string>, fields: Record<string, string> = {}) =>
  postForm(at(path), fields, headers);

const idOf = ({ executionName }: Execution) => executionName.split("/")[1] ?? "";
const decidePath = (execution: Execution) => `/operator/playbooks/${idOf(execution)}/decide`;
const outcomeOf = async ({ executionName }: Execution) => (await running.find(executionName))?.outcome;
const newExecution = (subjectId: string) => start(running, harbor.headers, { kind: "closing", subjectId });
const alert = ({ page }: OpenPage) => page.getByRole("alert").innerText();

let counter = 0;
/** An access request that the automatic screening leaves for a review. @returns its email address */
async function waitingRequest(firmName: string, workEmail = `dana${++counter}@gmail.com`): Promise<string> {
  const answer = await fetch(at("/api/partner/request"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      firmName,
      contactName: "Dana Whitfield",
      workEmail,
      role: "Owner",
      useCase: "Deeds\nonline",
    }),
  });
  assert.equal(((await answer.json()) as { status: string }).status, "pending");
  return workEmail;
}

/** The mails that were sent to an email address. */
const mailsTo = (address: string): string[] => {
  const outbox = join(running.service.dataDir, "outbox");
  const files = (existsSync(outbox) ? readdirSync(outbox) : []).filter((name) => name.endsWith(".eml"));
  return files
    .map((name) => readFileSync(join(outbox, name), "utf8"))
    .filter((mail) => mail.includes(`To: ${address}`));
};

const requestOf = async (workEmail: string) => {
  const [row] = await running.db.query<{ id: string; status: string }>(sql`
    SELECT id, status FROM access_requests WHERE work_email = ${workEmail} ORDER BY created_at DESC LIMIT 1`);
  return { id: row?.id ?? "", status: row?.status };
};

test("every state of the page is accessible and fits", async () => {
  const execution = await start(running, harbor.headers, { kind: "k".repeat(40), subjectId: "s".repeat(64) });
  await waitingRequest("W".repeat(200));
  const opened = await asOperator();
  const { page, troubles, close } = opened;
  for (const environment of ["live", "test"] as const) {
    await showing(environment);
    await page.reload();
    await assertGoodLooks(opened);
    for (const summary of await page.locator("summary").all()) await summary.click();
    await assertGoodLooks(opened);
  }
  assert.deepEqual(troubles, []);
  await running.service.cli("playbook", "decide", execution.executionName, "x".repeat(200));
  await page.getByRole("button", { name: "Reject kkk" }).first().click();
  await page.getByRole("alert").waitFor();
  await assertGoodLooks(opened);
  await page.goto(
    page
      .url()
      .replace("127.0.0.1", "localhost")
      .replace(/\/operator.*/, "/operator"),
  );
  await page.getByRole("heading", { level: 1, name: "For the operator" }).waitFor();
  await assertGoodLooks(opened);
  await close();
});

describe("the operator gets", () => {
  test("from the command line by the link to a decision, which is the operator's in the log", async () => {
    const execution = await newExecution("FILE-1");
    const { url, expiresAt } = await running.service.cli("operator", "link");
    assert.ok(Date.parse(expiresAt ?? "") > Date.now());
    const opened = await browser.open(url ?? "", { width: 1280 });
    const { page, troubles, close } = opened;
    await signInButton(opened).click();
    assert.equal(new URL(page.url()).pathname, "/operator");
    await showing("test");
    await page.getByRole("link", { name: "Approvals" }).click();
    const row = page.getByRole("row").filter({ hasText: "FILE-1" });
    assert.match(await row.innerText(), /Harbor & Sons <Title>.*Test/s);
    await row.getByRole("button", { name: "Approve closing FILE-1" }).click();
    await page.getByText("Your decision was recorded.").waitFor();
    const ended = page.locator("#ended").getByRole("row").filter({ hasText: "FILE-1" });
    assert.match(await ended.innerText(), /approved\s+The operator/);
    assert.equal(await page.locator("#waiting").getByText("FILE-1").count(), 0);
    assert.equal((await callback(running.service, execution, { decision: "rejected" })).status, 409);
    const [line] = await running.db.query<{ actor: string; detail: object }>(sql`
      SELECT actor, detail FROM audit_log WHERE action = 'playbook.decided' ORDER BY id DESC LIMIT 1`);
    assert.deepEqual(line, {
      actor: "operator:cli",
      detail: { executionName: execution.executionName, outcome: "approved" },
    });
    assert.deepEqual(troubles, []);
    await close();
  });

  test("to a decision in other words; a refused one stays in its field", async () => {
    const execution = await newExecution("FILE-2");
    const opened = await asOperator({ width: 360, javaScript: false });
    const { page, close } = opened;
    const form = () => page.getByRole("row").filter({ hasText: "FILE-2" });
    await form().getByText("Other decision").click();
    await form().getByLabel("Decision").fill("   ");
    await form().getByRole("button", { name: "Record decision" }).click();
    assert.match(await alert(opened), /decision must be a text of 1 to 200 characters\./);
    await form().getByLabel("Decision").fill(" only with the deed ");
    await form().getByRole("button", { name: "Record decision" }).click();
    await page.getByText("Your decision was recorded.").waitFor();
    assert.equal(await outcomeOf(execution), "only with the deed");
    await close();
  });

  test("through many waiting requests, a page at a time", async () => {
    await running.db.query(sql`
      INSERT INTO playbook_executions (id, partner_id, environment, playbook, arguments, callback_sha256, started_at,
        expires_at)
      SELECT gen_random_uuid(), ${harbor.partnerId}, 'test', 'approval_gate', jsonb_build_object('kind', 'bulk',
        'subjectId', 'B-' || n),
        sha256(n::text::bytea), now(), now() + n * interval '1 min' FROM generate_series(1, 130) n`);
    const { page, close } = await asOperator();
    const shown = () => page.locator("#waiting tbody tr");
    assert.equal(await shown().count(), 100);
    assert.match(await shown().first().innerText(), /B-1\b/);
    assert.match(await page.locator("#waiting").innerText(), /1\d\d are waiting; 100 are on this page/);
    await page.getByRole("link", { name: "Show more" }).click();
    assert.match(await shown().first().innerText(), /B-101\b/);
    await shown().first().getByRole("button", { name: "Reject" }).click();
    await page.getByText("Your decision was recorded.").waitFor();
    assert.match(await shown().first().innerText(), /B-102\b/);
    await page.getByText("Back to the first").click();
    assert.match(await shown().first().innerText(), /B-1\b/);
    await running.db.query(sql`DELETE FROM playbook_executions WHERE arguments->>'kind' = 'bulk'`);
    for (const after of ["x", "00000000-0000-4000-8000-000000000000", "%00", "a&after=b"])
      assert.equal((await page.goto(at(`/operator?after=${after}`)))?.status(), 200);
    await close();
  });
});

describe("a decision is made once", () => {
  test("of two tabs the second sees the outcome", async () => {
    const execution = await newExecution("FILE-3");
    const opened = await asOperator();
    const second = await opened.page.context().newPage();
    await second.goto(at("/operator/approvals"));
    await opened.page.getByRole("button", { name: "Approve closing FILE-3" }).click();
    await opened.page.getByText("Your decision was recorded.").waitFor();
    const [answer] = await Promise.all([
      second.waitForResponse((response) => response.request().method() === "POST"),
      second.getByRole("button", { name: "Reject closing FILE-3" }).click(),
    ]);
    assert.equal(answer.status(), 409);
    assert.match(await second.getByRole("alert").innerText(), /This execution has ended\./);
    assert.match(await second.locator("#became").innerText(), /closing FILE-3.*approved.*The operator/s);
    assert.equal(await outcomeOf(execution), "approved");
    await opened.close();
  });

  test("expired requests are neither offered nor decided, whether or not the sweep has run", async () => {
    const execution = await newExecution("FILE-4");
    const id = idOf(execution);
    await running.db.query(sql`UPDATE playbook_executions SET expires_at = now() - interval '1 s' WHERE id = ${id}`);
    const cookie = await operatorCookie();
    const page = await (await fetch(at("/operator/approvals"), { headers: { cookie } })).text();
    assert.ok(!page.includes(decidePath(execution)));
    const late = await post(decidePath(execution), { cookie }, { decision: "approved" });
    assert.equal(late.status, 409);
    assert.match(await late.text(), /This execution has ended\./);
  });

  test("unknown or malformed requests are refused, without a server error", async () => {
    const execution = await newExecution("FILE-5");
    const cookie = await operatorCookie();
    for (const [path, decision, status] of [
      ["/operator/playbooks/00000000-0000-4000-8000-000000000000/decide", "approved", 404],
      ["/operator/playbooks/nope/decide", "approved", 404],
      [decidePath(execution), "", 400],
      [decidePath(execution), "x".repeat(201), 400],
      [decidePath(execution), "a\u0000b", 400],
      [decidePath(execution), "x".repeat(60_000), 400],
      ["/operator/requests/00000000-0000-4000-8000-000000000000/approve", "", 404],
      ["/operator/requests/nope/decline", "", 400],
    ] as const) {
      const answer = await post(path, { cookie }, { decision, after: "\ud800\u0000" });
      assert.equal(answer.status, status, path);
      assert.match(await answer.text(), /role="alert"/);
    }
    assert.equal((await post("/operator/playbooks/%00/decide", { cookie }, { decision: "approved" })).status, 404);
    assert.equal((await post(decidePath(execution), { cookie, "Content-Type": "application/json" })).status, 415);
    assert.equal(await outcomeOf(execution), null);
  });
});

test("a person's decision is that person's in the log", async () => {
  const execution = await newExecution("FILE-8");
  const { id, cookie } = await newOperator(running, { roles: ["agent"], environment: "test" });
  assert.equal((await post(decidePath(execution), { cookie }, { decision: "approved" })).status, 303);
  const [line] = await running.db.query<{ actor: string }>(sql`
    SELECT actor FROM audit_log WHERE action = 'playbook.decided' ORDER BY id DESC LIMIT 1`);
  assert.equal(line?.actor, `operator:${id}`);
});

test("runs of test are neither shown nor decided in live, requests are shown only in live; a reader of records decides nothing", async () => {
  const execution = await newExecution("FILE-9");
  await waitingRequest("Birch Street Notaries");
  const page = async ({ cookie }: { cookie: string }) =>
    (await fetch(at("/operator/approvals"), { headers: { cookie } })).text();
  const made = (role: "agent" | "admin" | "auditor", environment: "live" | "test") =>
    newOperator(running, { roles: [role], environment });
  const live = await made("agent", "live");
  assert.doesNotMatch(await page(live), /FILE-9|Birch Street/);
  const refused = await post(decidePath(execution), { cookie: live.cookie }, { decision: "approved" });
  assert.equal(refused.status, 404);
  assert.doesNotMatch(await refused.text(), /FILE-9/);
  assert.equal(await outcomeOf(execution), null);
  assert.match(await page(await made("admin", "live")), /Birch Street.*Decline the request/s);
  assert.doesNotMatch(await page(await made("admin", "test")), /Birch Street/);
  const records = await page(await made("auditor", "live"));
  assert.match(records, /Birch Street/);
  assert.doesNotMatch(records, /FILE-9|Decline the request/);
  const inTest = await page(await made("auditor", "test"));
  assert.match(inTest, /FILE-9/);
  assert.ok(!inTest.includes(decidePath(execution)));
});

describe("a request for access", () => {
  test("is approved after a confirmation, and its key is mailed", async () => {
    const workEmail = await waitingRequest("Pine Street Notaries");
    const opened = await asOperator({ width: 1280 }, "live");
    const { page, troubles, close } = opened;
    const item = page.getByRole("listitem").filter({ hasText: workEmail });
    assert.match(
      await item.innerText(),
      /Dana Whitfield, Owner.*a free email address, a very short use case.*Deeds\nonline/s,
    );
    const approve = item.getByRole("button", { name: "Approve and email the key" });
    assert.equal(await approve.isVisible(), false);
    await item.getByText("Approve", { exact: false }).first().click();
    await approve.click();
    await page.getByText("The request was approved.").waitFor();
    assert.equal(await page.getByText(workEmail).count(), 0);
    const mail = await until(() => mailsTo(workEmail)[0]);
    assert.match(mail.replaceAll("=\r\n", ""), /svc_pk_test_[a-z2-7]{52}/);
    assert.deepEqual(troubles, []);

    await waitingRequest("Pine Street again", workEmail);
    await page.reload();
    const again = page.getByRole("listitem").filter({ hasText: workEmail });
    assert.match(await again.innerText(), /This address already has a key/);
    assert.equal(await again.getByRole("button", { name: "Approve", includeHidden: true }).count(), 0);
    const cookie = await operatorCookie();
    const { id } = await requestOf(workEmail);
    assert.equal((await post(`/operator/requests/${id}/approve`, { cookie })).status, 409);
    await close();
  });

  test("is declined after a confirmation, once, and nobody is mailed", async () => {
    const workEmail = await waitingRequest("Elm Street Notaries");
    const opened = await asOperator({ width: 360 }, "live");
    const { page, close } = opened;
    const item = page.getByRole("listitem").filter({ hasText: workEmail });
    await item.getByText("Decline", { exact: false }).first().click();
    await item.getByRole("button", { name: "Decline the request" }).click();
    await page.getByText("The request was declined.").waitFor();
    const { id, status } = await requestOf(workEmail);
    assert.equal(status, "declined");
    const cookie = await operatorCookie();
    for (const verb of ["approve", "decline"]) {
      const answer = await post(`/operator/requests/${id}/${verb}`, { cookie });
      assert.equal(answer.status, 409);
      assert.match(await answer.text(), /The request was declined before\./);
    }
    assert.deepEqual(mailsTo(workEmail), []);
    await close();
  });
});

describe("nobody else", () => {
  test("sees or decides anything: without a session, with a member's, or with one in the other's cookie", async () => {
    const execution = await newExecution("FILE-6");
    const member = await newMember(running.service, "dana@harbor-title.com", harbor.key);
    const session = member.cookie.split("=")[1] ?? "";
    assert.equal((await fetch(at("/dashboard"), { headers: member.headers })).status, 200);
    for (const cookie of [
      "",
      `__Host-session=${session}`,
      `__Host-operator=${session}`,
      `__Host-operator=${"a".repeat(52)}`,
      "__Host-operator=",
    ])
      for (const answer of [
        await fetch(at("/operator"), { headers: { cookie } }),
        await post(decidePath(execution), { cookie }, { decision: "approved" }),
        await post("/operator/requests/00000000-0000-4000-8000-000000000000/approve", { cookie }),
      ]) {
        assert.equal(answer.status, 401);
        assert.match(answer.headers.get("cache-control") ?? "", /no-store/);
        const text = await answer.text();
        assert.match(text, /bin\/signsealship operator link/);
        assert.doesNotMatch(text, /FILE-|Harbor|playbook|request for/i);
      }
    assert.equal(await outcomeOf(execution), null);
  });

  test("and the operator's session does not count as a member's", async () => {
    const cookie = await operatorCookie();
    const token = cookie.split("=")[1] ?? "";
    for (const header of [cookie, `__Host-session=${token}`]) {
      const dashboard = await fetch(at("/dashboard"), { headers: { cookie: header }, redirect: "manual" });
      assert.ok([303, 401].includes(dashboard.status));
      assert.equal((await fetch(at("/api/partner/me"), { headers: { cookie: header } })).status, 401);
    }
  });

  test("a form on another site decides nothing", async () => {
    const execution = await newExecution("FILE-7");
    const workEmail = await waitingRequest("Oak Street Notaries");
    const cookie = await operatorCookie();
    const { id } = await requestOf(workEmail);
    for (const headers of [
      { cookie, Origin: "https://evil.example" },
      { cookie, Origin: "null" },
      { cookie, "Sec-Fetch-Site": "cross-site" },
    ] as Record<string, string>[]) {
      assert.equal((await post(decidePath(execution), headers, { decision: "approved" })).status, 403);
      assert.equal((await post(`/operator/requests/${id}/approve`, headers)).status, 403);
    }
    assert.equal(await outcomeOf(execution), null);
    assert.equal((await requestOf(workEmail)).status, "pending");
    const own = { cookie, Origin: running.service.baseUrl };
    assert.equal((await post(decidePath(execution), own, { decision: "approved" })).status, 303);
  });
});

describe("a link", () => {
  test("works once; viewing it uses nothing up", async () => {
    const url = await newLink();
    const first = await browser.open(url, { width: 360 });
    const second = await browser.open(url, { width: 360 });
    await signInButton(first).click();
    await first.page.getByRole("heading", { level: 1, name: "Today" }).waitFor();
    const [answer] = await Promise.all([
      second.page.waitForResponse((response) => response.request().method() === "POST"),
      signInButton(second).click(),
    ]);
    assert.equal(answer.status(), 404);
    assert.match(
      await second.page.getByRole("main").innerText(),
      /A link works once.*bin\/signsealship operator link/s,
    );
    assert.equal((await second.page.goto(at("/operator")))?.status(), 401);
    assert.equal((await first.page.goto(url))?.status(), 404);
    await Promise.all([first.close(), second.close()]);
  });

  test("does nothing after 10 minutes, and a session after 8 hours or signing out", async () => {
    const before = (seconds: number) => () => new Date(Date.now() - seconds * 1000);
    const make = async (seconds: number) =>
      running.service.baseUrl + (await makeOperatorLink({ ...running, clock: before(seconds), secrets })).path;
    assert.equal((await fetch(await make(595))).status, 200);
    assert.equal((await fetch(await make(601))).status, 404);

    const opened = await browser.open(await newLink(), { width: 1280 });
    await signInButton(opened).click();
    const [cookie] = await opened.page.context().cookies();
    assert.deepEqual(
      [cookie?.name, cookie?.httpOnly, cookie?.secure, cookie?.sameSite],
      ["__Host-operator", true, true, "Lax"],
    );
    const header = `${cookie?.name}=${cookie?.value}`;
    const stands = async () => (await fetch(at("/operator"), { headers: { cookie: header } })).status;
    assert.equal(await stands(), 200);
    await opened.page.getByRole("button", { name: "Sign out" }).click();
    assert.equal(await stands(), 401);
    await opened.close();

    const later = await operatorCookie();
    await asService(running, sql`UPDATE sessions SET expires_at = expires_at - interval '8 h' WHERE user_id IS NULL`);
    assert.equal((await fetch(at("/operator"), { headers: { cookie: later } })).status, 401);
  });
});
