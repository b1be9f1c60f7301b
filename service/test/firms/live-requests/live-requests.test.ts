import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { until } from "@signsealship/testing/until";
import { liveAccessMail } from "../../../src/firms/live-requests/live-requests.ts";
import { decideRequest, insertRequest } from "../../../src/firms/live-requests/store.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { mailsTo, postForm, signIn } from "../members/signed-in-member.ts";
import { newOperator } from "../operators/console-people.ts";

const harness = await forTests(openHarness({}));
const { service, db } = harness;
const at = (path: string) => service.baseUrl + path;
const html = { Accept: "text/html" };

function requestAccess(firmName: string, workEmail: string): Promise<Response> {
  const useCase = "We are a title company and want our closings notarized online before the deeds are recorded.";
  return fetch(at("/api/partner/request"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ firmName, contactName: "Dana", workEmail, useCase }),
  });
}

let firms = 0;
/** A firm that got a trial key, and the signed-in person who had requested access for the firm. */
async function firm(name: string) {
  const workEmail = `dana@live-${++firms}.com`;
  const asked = await requestAccess(name, workEmail);
  assert.equal(((await asked.json()) as { status: string }).status, "issued");
  const owner = { ...(await signIn(service, workEmail)).headers, Origin: new URL(service.baseUrl).origin };
  const [row] = await db.query<{ partnerId: string }>(sql`
    SELECT partner_id AS "partnerId" FROM access_requests WHERE work_email = ${workEmail}`);
  return { workEmail, owner, partnerId: row?.partnerId ?? "" };
}

const open = (owner: { Cookie: string }) => postForm(at("/dashboard/link/own"), {}, { ...owner, ...html });
const askWithoutContact = (owner: { Cookie: string }) =>
  postForm(at("/dashboard/settings/live"), {}, { ...owner, ...html });
const ask = async (owner: { Cookie: string }) => {
  const contact = { contactEmail: "closings@title.example" };
  await postForm(at("/dashboard/settings/branding"), contact, { ...owner, ...html });
  return askWithoutContact(owner);
};
const look = async (path: string, headers: Record<string, string>) => (await fetch(at(path), { headers })).text();
const alertIn = async (answer: Response) => /role="alert"[^>]*>.*?<p>(.*?)<\/p>/s.exec(await answer.text())?.[1] ?? "";
const requestsOf = (partnerId: string) =>
  db.query<{ id: string; state: string }>(sql`
    SELECT id, state FROM live_requests WHERE partner_id = ${partnerId} ORDER BY asked_at`);
const liveOf = async (partnerId: string) =>
  (
    await db.query<{ firm: boolean; owners: boolean[] }>(sql`
      SELECT live_enabled AS firm, ARRAY(SELECT live_access FROM members WHERE partner_id = p.id ORDER BY linked_at) AS owners
      FROM partners p WHERE id = ${partnerId}`)
  )[0];
const decide = (id: string, verb: string, { cookie }: { cookie: string }, fields: Record<string, string> = {}) =>
  postForm(at(`/operator/live-requests/${id}/${verb}`), fields, {
    cookie,
    Origin: new URL(service.baseUrl).origin,
    ...html,
  });

test("the person who requested access opens the firm with one click, and nobody else becomes its first owner", async () => {
  const { owner, partnerId } = await firm("Harbor Title");
  assert.match(await look("/dashboard/link", owner), /Harbor Title<\/strong> was opened for your email address/);
  const stranger = { ...(await signIn(service, "stranger@elsewhere.com")).headers, Origin: owner.Origin };
  assert.doesNotMatch(await look("/dashboard/link", stranger), /Harbor Title/);
  assert.match(await alertIn(await open(stranger)), /Ask an owner to invite you/);
  const answers = await Promise.all([open(owner), open(owner)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409]);
  const members = await db.query(sql`SELECT role FROM members WHERE partner_id = ${partnerId}`);
  assert.deepEqual(members, [{ role: "owner" }]);
});

test("the owner whom the operator named when adding a firm opens it with one click and no key, and nobody else does", async () => {
  const name = "Poplar Title";
  const create = (owner: string) =>
    service.cli<{ partnerId: string }>("partner", "create", name, "--tier", "ProOffice", "--owner", owner);
  const { partnerId } = await create("Dana@Poplar-Title.com");
  const firms = () => db.query(sql`SELECT id FROM partners WHERE name = ${name}`);
  await assert.rejects(create("nobody"), /owner must be an email address/);
  await assert.rejects(create("dana@poplar-title.com"), /was given access to a firm before/);
  assert.deepEqual(await firms(), [{ id: partnerId }], "a refused owner leaves no firm behind");
  await requestAccess(name, "dana@poplar-title.com");
  const mail = await until(() => mailsTo(service, "Dana@poplar-title.com")[0]);
  assert.match(mail, /was given access to a firm before/, "no test key was made or sent");
  assert.match(mail, /Sign in with it to open the firm/);
  assert.doesNotMatch(mail, /sent a test key before/);
  const stranger = { ...(await signIn(service, "stranger@poplar-title.com")).headers, Origin: service.baseUrl };
  assert.doesNotMatch(await look("/dashboard/link", stranger), /Poplar Title/);
  assert.equal((await open(stranger)).status, 409);
  const owner = { ...(await signIn(service, "dana@poplar-title.com")).headers, Origin: service.baseUrl };
  assert.match(await look("/dashboard/link", owner), /Poplar Title<\/strong> was opened for your email address/);
  const answers = await Promise.all([open(owner), open(owner)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409]);
  const members = await db.query(
    sql`SELECT role, live_access AS live, key_id AS key FROM members WHERE partner_id = ${partnerId}`,
  );
  assert.deepEqual(members, [{ role: "owner", live: false, key: null }]);
});

test("the named owner of a firm that the operator added with live has live from the start", async () => {
  const { partnerId } = await service.cli<{ partnerId: string }>(
    "partner",
    "create",
    "Larch Title",
    "--tier",
    "ProOffice",
    "--live",
    "--owner",
    "dana@larch-title.com",
  );
  const owner = { ...(await signIn(service, "dana@larch-title.com")).headers, Origin: service.baseUrl };
  assert.equal((await open(owner)).status, 303);
  assert.deepEqual(await liveOf(partnerId), { firm: true, owners: [true] });
});

test("an owner who left a firm, or whom the operator removed, does not open it again", async () => {
  const { partnerId, owner } = await firm("Larch Title");
  assert.equal((await open(owner)).status, 303);
  const [{ id } = { id: "" }] = await db.query<{ id: string }>(
    sql`SELECT user_id AS id FROM members WHERE partner_id = ${partnerId}`,
  );
  await postForm(at(`/dashboard/team/members/${id}/remove`), {}, { ...owner, ...html });
  const members = () => db.query(sql`SELECT role FROM members WHERE partner_id = ${partnerId}`);
  assert.deepEqual(await members(), []);
  assert.doesNotMatch(await look("/dashboard/link", owner), /was opened for your email address/);
  const refused = await open(owner);
  assert.equal(refused.status, 409);
  assert.match(await alertIn(refused), /Ask an owner to invite you, or connect with one of its keys/);
  assert.deepEqual(await members(), []);

  const { partnerId: second, owner: removed } = await firm("Rowan Title");
  assert.equal((await open(removed)).status, 303);
  const [member] = await db.query<{ id: string }>(sql`SELECT user_id AS id FROM members WHERE partner_id = ${second}`);
  await service.cli("member", "remove", member?.id ?? "");
  assert.equal((await open(removed)).status, 409);
  assert.deepEqual(await liveOf(second), { firm: false, owners: [] });
});

test("an address that somebody wrote into a request in the database opens no firm", async () => {
  const { partnerId } = await firm("Elm Title");
  await db.query(sql`UPDATE access_requests SET work_email = 'mallory@example.org' WHERE partner_id = ${partnerId}`);
  const mallory = {
    ...(await signIn(service, "mallory@example.org")).headers,
    Origin: new URL(service.baseUrl).origin,
  };
  assert.doesNotMatch(await look("/dashboard/link", mallory), /Elm Title/);
  assert.equal((await open(mallory)).status, 409);
});

test("live access is requested once, granted without a key, and mailed to the owners", async () => {
  const { owner, partnerId, workEmail } = await firm("Oak Title");
  await open(owner);
  assert.equal((await ask(owner)).status, 303);
  assert.match(await alertIn(await ask(owner)), /^Live was asked for already/);
  await until(() => mailsTo(service, workEmail).some((mail) => mail.includes("Somebody asked for live")));
  const [request] = await requestsOf(partnerId);
  const admin = await newOperator(harness, { roles: ["admin"] });
  assert.match(await look("/operator/approvals", { cookie: admin.cookie }), /Oak Title/);
  assert.match(await look("/operator", { cookie: admin.cookie }), /Oak Title asks for live/);
  assert.deepEqual(await liveOf(partnerId), { firm: false, owners: [false] });
  const answers = await Promise.all([1, 2].map(() => decide(request?.id ?? "", "grant", admin)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409]);
  assert.deepEqual(await liveOf(partnerId), { firm: true, owners: [true] });
  // An admin opened the firm's page before the firm got live access. Saving that page changes only the tier.
  const page = `/operator/partners/${partnerId}`;
  const origin = new URL(service.baseUrl).origin;
  const saved = await postForm(
    at(page),
    { tier: "ProOffice", shown_live: "no" },
    { cookie: admin.cookie, Origin: origin },
  );
  assert.equal(saved.status, 303);
  assert.deepEqual(await liveOf(partnerId), { firm: true, owners: [true] });
  assert.match(await look(page, { cookie: admin.cookie }), /name="shown_live" value="yes"/);
  await until(() => mailsTo(service, workEmail).some((mail) => mail.includes("Your firm has live now")));
  assert.match(await look("/dashboard/settings", owner), /<dt>Live<\/dt>\s*<dd>Enabled<\/dd>/);
  const launchpad = await (await fetch(`${service.baseUrl}/api/partner/launchpad`, { headers: owner })).json();
  const { checklist } = launchpad as { checklist: { key: string; done: boolean }[] };
  assert.equal(checklist.find(({ key }) => key === "live")?.done, true);
  const tasks = await db.query(
    sql`SELECT state FROM tasks WHERE kind = 'live_access' AND subject = ${request?.id ?? ""}`,
  );
  assert.deepEqual(tasks, [{ state: "done" }]);
});

test("a firm asks for live only once it has a contact email for its clients and signers", async () => {
  const { owner, partnerId } = await firm("Aspen Title");
  await open(owner);
  const refused = await askWithoutContact(owner);
  assert.deepEqual(
    [refused.status, await alertIn(refused)],
    [409, "Set your firm’s contact email first: answers of clients and signers go there."],
  );
  assert.deepEqual(await requestsOf(partnerId), []);
  assert.equal((await ask(owner)).status, 303);
});

test("a refusal has a reason, which is mailed and shown, and the owner may ask again a day later", async () => {
  const { owner, partnerId, workEmail } = await firm("Ash Title");
  await open(owner);
  const [user] = await db.query<{ id: string }>(sql`SELECT id FROM users WHERE email = ${workEmail}`);
  const [id, at] = [randomUUID(), new Date(Date.now() - 25 * 3600_000)];
  await db.transaction(async (tx) => {
    await insertRequest(tx, { id, partnerId, askedBy: user?.id ?? "", at });
    await decideRequest(tx, id, { state: "refused", by: "test", at, note: "Too early." });
  });
  assert.equal((await ask(owner)).status, 303);
  const request = (await requestsOf(partnerId)).at(-1);
  const admin = await newOperator(harness, { roles: ["admin"] });
  assert.equal((await decide(request?.id ?? "", "refuse", admin)).status, 400);
  assert.equal(
    (await decide(request?.id ?? "", "refuse", admin, { note: "Complete a test order first." })).status,
    303,
  );
  await until(() => mailsTo(service, workEmail).some((mail) => mail.includes("Complete a test order first.")));
  assert.match(await look("/dashboard/settings", owner), /Complete a test order first\./);
  assert.deepEqual(await liveOf(partnerId), { firm: false, owners: [false] });
  assert.match(await alertIn(await ask(owner)), /^Live was refused less than 24 hours ago\./);
});

test("lists requests for access and for live among those decided lately, and none that was altered", async () => {
  const decided = async () => {
    const admin = await newOperator(harness, { roles: ["admin"] });
    const page = await look("/operator/approvals", { cookie: admin.cookie });
    return page.slice(page.indexOf("Requests decided lately")).replace(/<[^>]*>/g, "");
  };
  const { owner, partnerId } = await firm("Linden Title");
  assert.match(await decided(), /Linden Title: access was given, /);
  assert.doesNotMatch(await decided(), /Linden Title: live was/);
  await open(owner);
  await ask(owner);
  const [request] = await requestsOf(partnerId);
  const admin = await newOperator(harness, { roles: ["admin"] });
  assert.equal((await decide(request?.id ?? "", "refuse", admin, { note: "Too early." })).status, 303);
  assert.match(await decided(), /Linden Title: live was refused, /);
  await db.query(sql`UPDATE live_requests SET row_mac = NULL WHERE id = ${request?.id}`);
  assert.doesNotMatch(await decided(), /Linden Title: live was/);
});

test("a mail about a decision that nobody made is not sent", async () => {
  const { owner, partnerId, workEmail } = await firm("Rowan Title");
  await open(owner);
  await ask(owner);
  const [request] = await requestsOf(partnerId);
  const [user] = await db.query<{ id: string }>(sql`SELECT id FROM users WHERE email = ${workEmail}`);
  const news = { requestId: request?.id ?? "", moment: "granted", ownerId: user?.id ?? "" } as const;
  await db.transaction((tx) => liveAccessMail.enqueue(tx, news));
  await until(
    async () => (await db.query(sql`SELECT FROM jobs WHERE payload ->> 'requestId' = ${news.requestId}`)).length === 0,
  );
  assert.ok(!mailsTo(service, workEmail).some((mail) => mail.includes("Your firm has live now")));
});

test("a former owner gets no mail, and neither does a member", async () => {
  const { owner, partnerId } = await firm("Yew Title");
  await open(owner);
  await ask(owner);
  const [request] = await requestsOf(partnerId);
  const [member] = await db.query<{ id: string }>(
    sql`SELECT user_id AS id FROM members WHERE partner_id = ${partnerId}`,
  );
  await service.cli("member", "set", member?.id ?? "", "member");
  assert.equal((await ask(owner)).status, 403);
  const admin = await newOperator(harness, { roles: ["admin"] });
  assert.match(await alertIn(await decide(request?.id ?? "", "grant", admin)), /The firm has no owner now/);
  assert.deepEqual(await liveOf(partnerId), { firm: false, owners: [false] });
});

test("an operator without the right, without a recent passkey, or of the firm itself can't decide", async () => {
  const { owner, partnerId, workEmail } = await firm("Fir Title");
  await open(owner);
  await ask(owner);
  const [request] = await requestsOf(partnerId);
  const agent = await newOperator(harness, { roles: ["agent"] });
  const keyless = await newOperator(harness, { roles: ["admin"], passkey: false });
  for (const person of [agent, keyless])
    assert.notEqual(
      (await decide(request?.id ?? "", "grant", person)).headers.get("location"),
      "/operator/approvals#live",
    );
  const [user] = await db.query<{ id: string }>(sql`SELECT id FROM users WHERE email = ${workEmail}`);
  await db.query(sql`
    INSERT INTO operators (user_id, name, roles, added_at) VALUES (${user?.id}, 'Dana', '{admin}', now() - interval '2 days')`);
  assert.deepEqual(await liveOf(partnerId), { firm: false, owners: [false] });
});

test("a request that was changed in the database is named as altered among the others, and is not granted", async () => {
  const { owner, partnerId } = await firm("Elder Title");
  await open(owner);
  await ask(owner);
  const other = await firm("Hazel Title");
  await open(other.owner);
  await ask(other.owner);
  const [request] = await requestsOf(partnerId);
  await assert.rejects(db.query(sql`DELETE FROM live_requests WHERE id = ${request?.id}`), /append-only/);
  await db.query(sql`UPDATE live_requests SET row_mac = NULL WHERE id = ${request?.id}`);
  const admin = await newOperator(harness, { roles: ["admin"] });
  const page = await look("/operator/approvals", { cookie: admin.cookie });
  const part = page.slice(page.indexOf('id="live"'), page.indexOf("Playbook runs that ended recently"));
  assert.match(part, /Hazel Title/);
  assert.match(part, new RegExp(`/operator/partners/${partnerId}">Altered outside the service<`));
  assert.doesNotMatch(part, /Elder Title/);
  assert.ok(!part.includes(`/operator/live-requests/${request?.id}/`), "no button for the altered request");
  assert.equal((await decide(request?.id ?? "", "grant", admin)).status, 503);
  assert.deepEqual(await liveOf(partnerId), { firm: false, owners: [false] });
});
