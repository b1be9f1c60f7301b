import assert from "node:assert/strict";
import { test } from "node:test";
import { startMailCatcher } from "@signsealship/testing/doubles/mail-catcher";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { until } from "@signsealship/testing/until";
import { type ListedRequest, listRequests } from "../../../src/firms/access-requests/access-requests.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";

const useCase = "We are a title company and want our closings notarized online\nbefore the deeds are recorded.";
const required = "firmName, contactName, and a valid workEmail are required.";

const mails = await forTests(startMailCatcher());
const harness = await forTests(openHarness({ SMTP_URL: mails.url }));
const { service, db } = harness;

let counter = 0;
/** A valid access request, with a new email address and a new domain. */
const request = (more: object = {}) => {
  counter += 1;
  return {
    firmName: "Harbor Title",
    contactName: "Dana",
    workEmail: `dana@harbor-${counter}.com`,
    useCase,
    ...more,
  };
};

async function ask(body: unknown) {
  const response = await fetch(`${service.baseUrl}/api/partner/request`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, string>,
    headers: response.headers,
  };
}

const mailTo = (address: string) => until(() => mails.caught.find(({ to }) => to === address));
const keyIn = (text: string) => /^svc_pk_test_[a-z2-7]{52}$/m.exec(text)?.[0] ?? "";
const me = async (key: string) => {
  const response = await fetch(`${service.baseUrl}/api/partner/me`, { headers: { Authorization: `Bearer ${key}` } });
  return (await response.json()) as Record<string, unknown>;
};
const jobsDone = () =>
  until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'access-mail'`)).length === 0);
const requestOf = async (address: string) =>
  (await listRequests({ db })).find(({ workEmail }) => workEmail === address);
const actionsOf = async (requestId: string) =>
  (
    await db.query<{ action: string; actor: string }>(sql`
      SELECT action, actor FROM audit_log WHERE detail ->> 'requestId' = ${requestId} ORDER BY id`)
  ).map(({ action, actor }) => `${actor} ${action}`);

test("a firm that meets the rules is mailed a working test key, and live access stays off", async () => {
  const sent = request({ firmName: "  Harbor Title & Sons ", role: " Closer ", recaptchaToken: "x".repeat(2000) });
  const answer = await ask(sent);
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.body), ["status", "message"]);
  assert.equal(answer.body["status"], "issued");
  const mail = await mailTo(sent.workEmail);
  const key = keyIn(mail.text);
  assert.ok(mail.html.includes(key));
  assert.ok(
    !mail.raw.includes("Harbor Title") && !mail.raw.includes("Dana"),
    "nothing that the asker wrote is sent on",
  );
  const { firmName, tier, liveEnabled, environment } = await me(key);
  assert.deepEqual(
    { firmName, tier, liveEnabled, environment },
    { firmName: "Harbor Title & Sons", tier: "trial", liveEnabled: false, environment: "test" },
  );
  const row = await requestOf(sent.workEmail);
  assert.equal(row?.status, "issued");
  assert.equal(row?.role, "Closer");
  assert.deepEqual(row?.reasons, []);
  assert.deepEqual(await actionsOf(row?.requestId ?? ""), [
    "system access_request.received",
    "system partner.created",
    "system key.issued",
    "system access_request.issued",
  ]);
});

test("the key's text is never stored as plain text, and is deleted once it was mailed", async () => {
  mails.refuseNext(1);
  const sent = request();
  await ask(sent);
  const read = async () => {
    const [row] = await db.query<{ all: string; sealed: boolean }>(sql`
      SELECT encode(sealed_key, 'escape') || (SELECT coalesce(string_agg(payload::text, ''), '') FROM jobs) AS all,
        sealed_key IS NOT NULL AS sealed FROM access_requests WHERE work_email = ${sent.workEmail}`);
    return row;
  };
  const waiting = await read();
  assert.equal(waiting?.sealed, true);
  const key = keyIn((await mailTo(sent.workEmail)).text);
  assert.ok(key !== "" && !waiting?.all.includes(key) && !waiting?.all.includes("svc_pk_"));
  await until(async () => (await read())?.sealed === false);
  assert.ok(!JSON.stringify(await db.query(sql`SELECT * FROM audit_log`)).includes(key));
});

test("every other request waits for a person, with the same answer whatever the reason", async () => {
  const answers = await Promise.all([
    ask(request({ workEmail: "dana@gmail.com" })),
    ask(request({ workEmail: "dana@mailinator.com" })),
    ask(request({ useCase: undefined })),
    ask(request({ useCase: null })),
    ask(request({ useCase: "We sell garden furniture." })),
    ask(request({ useCase: "asdf" })),
  ]);
  for (const { status, body } of answers) {
    assert.equal(status, 200);
    assert.deepEqual(body, answers[0]?.body);
    assert.equal(body["status"], "pending");
    assert.doesNotMatch(JSON.stringify(body), /mail(inator|box)|free|disposable|topic|short/i);
  }
  assert.deepEqual((await requestOf("dana@gmail.com"))?.reasons, ["free_mail"]);
  assert.equal((await requestOf("dana@gmail.com"))?.partnerId, null);
});

test("an address gets one key, and a repeated request, at once or with other capitals, gets the same answer", async () => {
  const sent = request();
  const answers = await Promise.all([1, 2, 3, 4].map(() => ask(sent)));
  answers.push(await ask({ ...sent, workEmail: sent.workEmail.toUpperCase(), firmName: "Another" }));
  for (const { body } of answers) assert.deepEqual(body, answers[0]?.body);
  const [row] = await db.query<{ count: number }>(sql`
    SELECT count(*) FROM access_requests WHERE lower(work_email) = ${sent.workEmail} AND partner_id IS NOT NULL`);
  assert.equal(Number(row?.count), 1);
  await mailTo(sent.workEmail);
  await jobsDone();
  const caught = mails.caught.filter(({ to }) => to.toLowerCase() === sent.workEmail);
  assert.equal(caught.filter(({ text }) => keyIn(text) !== "").length, 1);
  const told = caught.filter(({ text }) => text.includes("This address was given access to a firm before"));
  assert.equal(told.length, 1, "once a day the address is told why nothing else comes");
  assert.equal(caught.length, 2);
  assert.ok(!told[0]?.raw.includes("Another"), "nothing that the asker wrote is sent on");
});

test("one address of a mail domain gets a key at once; another gets the same answer, a mail, and waits for review", async () => {
  const first = request();
  const domain = first.workEmail.split("@")[1];
  const answers = [await ask(first), await ask({ ...first, workEmail: `sam+x@${domain}`, firmName: "First American" })];
  answers.push(await ask({ ...first, workEmail: `kim@office.${domain}` }));
  for (const { status, body } of answers) assert.deepEqual({ status, body }, { status: 200, body: answers[0]?.body });
  for (const address of [`sam+x@${domain}`, `kim@office.${domain}`]) {
    const mail = await mailTo(address);
    assert.match(mail.text, /Somebody with an address of the same domain has a trial already/);
    assert.equal(keyIn(mail.text), "");
    assert.ok(!mail.raw.includes("First American"));
    const row = await requestOf(address);
    assert.deepEqual([row?.status, row?.reasons, row?.partnerId], ["pending", ["domain_has_trial"], null]);
  }
  await ask({ ...first, workEmail: `sam+x@${domain}` });
  await jobsDone();
  assert.equal(mails.caught.filter(({ to }) => to === `sam+x@${domain}`).length, 1, "told once a day");

  const review = await requestOf(`kim@office.${domain}`);
  await service.cli("request", "approve", review?.requestId ?? "");
  await until(() => mails.caught.some(({ to, text }) => to === `kim@office.${domain}` && keyIn(text) !== ""));
});

test("four concurrent addresses of a domain get one key; below a public suffix each name is its own domain", async () => {
  const { workEmail, ...rest } = request();
  const domain = workEmail.split("@")[1];
  await Promise.all(["a", "b", "c", "d"].map((name) => ask({ ...rest, workEmail: `${name}@${domain}` })));
  const [row] = await db.query<{ n: number }>(sql`
    SELECT count(*) AS n FROM access_requests WHERE work_email LIKE ${`%@${domain}`} AND status = 'issued'`);
  assert.equal(row?.n, 1);
  for (const address of ["dana@elm-title.co.uk", "dana@oak-title.co.uk"]) {
    await ask({ ...rest, workEmail: address });
    assert.notEqual(keyIn((await mailTo(address)).text), "");
  }
});

test("refuses missing fields with the contract's message", async () => {
  for (const body of [
    {},
    [],
    null,
    "text",
    request({ firmName: undefined }),
    request({ firmName: "   " }),
    request({ contactName: null }),
    request({ workEmail: undefined }),
    request({ workEmail: "dana" }),
    request({ workEmail: "dana@localhost" }),
    request({ workEmail: "a@b.com, c@d.com" }),
  ]) {
    const { status, body: answer } = await ask(body);
    assert.deepEqual([status, answer], [400, { error: required }], JSON.stringify(body));
  }
});

test("refuses a value that is too long, not a text or not UTF-8, and names its field", async () => {
  const maxima = { firmName: 200, contactName: 200, role: 120, expectedVolume: 120, useCase: 4000 };
  for (const [field, max] of Object.entries(maxima)) {
    const pad = "é".repeat(max);
    assert.equal((await ask(request({ [field]: `  ${pad}  ` }))).status, 200, field);
    const long = await ask(request({ [field]: `${pad}é` }));
    assert.deepEqual([long.status, long.body["error"]], [400, `${field} must have at most ${max} characters.`]);
    const number = await ask(request({ [field]: 5 }));
    assert.deepEqual([number.status, number.body["error"]], [400, `${field} must be text.`]);
    for (const bad of ["a\u0000b", "a\ud800b"]) {
      const { status, body } = await ask(request({ [field]: bad }));
      assert.equal(status, 400);
      assert.match(body["error"] ?? "", new RegExp(`^${field} `));
    }
  }
  const email = await ask(request({ workEmail: `${"a".repeat(60)}@${"b".repeat(60)}.${"c".repeat(140)}.com` }));
  assert.deepEqual([email.status, email.body["error"]], [400, "workEmail must have at most 254 characters."]);
  const token = await ask(request({ recaptchaToken: "x".repeat(8193) }));
  assert.match(token.body["error"] ?? "", /^recaptchaToken /);
});

test("the operator sees pending requests first, approves one with a mailed key, and declines another", async () => {
  await ask(request());
  const [yes, no] = [request({ workEmail: "yes@gmail.com" }), request({ workEmail: "no@gmail.com" })];
  await ask(yes);
  await ask(no);
  const { requests: all } = await service.cli<{ requests: ListedRequest[] }>("request", "list");
  const statuses = all.map(({ status }) => status === "pending");
  assert.ok(statuses.lastIndexOf(true) < statuses.indexOf(false));
  const id = (email: string) => all.find(({ workEmail }) => workEmail === email)?.requestId ?? "";
  const approved = await service.cli("request", "approve", id(yes.workEmail));
  assert.equal(approved["status"], "issued");
  const { tier, liveEnabled } = await me(keyIn((await mailTo(yes.workEmail)).text));
  assert.deepEqual([tier, liveEnabled], ["trial", false]);
  assert.ok((await actionsOf(id(yes.workEmail))).includes("operator access_request.issued"));
  assert.equal((await service.cli("request", "decline", id(no.workEmail)))["status"], "declined");
  assert.deepEqual((await actionsOf(id(no.workEmail))).at(-1), "operator access_request.declined");
  assert.ok(!mails.caught.some(({ to }) => to === no.workEmail));
  await assert.rejects(service.cli("request", "approve", id(no.workEmail)), /declined before/);
  await assert.rejects(service.cli("request", "decline", id(yes.workEmail)), /issued before/);
  await assert.rejects(service.cli("request", "approve", "00000000-0000-4000-8000-000000000000"), /No such request/);
  await assert.rejects(service.cli("request", "decline", "x"), /UUID/);
});

test("a pending request whose address already has its key says so and gives no second one", async () => {
  const sent = request({ useCase: "" });
  await ask(sent);
  await ask({ ...sent, useCase });
  const waiting = (await listRequests({ db })).find(
    ({ workEmail, status }) => workEmail === sent.workEmail && status === "pending",
  );
  assert.equal(waiting?.addressHasKey, true);
  await assert.rejects(service.cli("request", "approve", waiting?.requestId ?? ""), /issued a key before/);
});
