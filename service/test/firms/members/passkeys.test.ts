import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "./members-service.ts";
import { askForLink, codesTo, cookieIn, mailsTo, newMember, postForm } from "./signed-in-member.ts";
import { certificates, newAuthenticator, type SoftAuthenticator } from "./soft-authenticator.ts";

const running = await forTests(openMembersService());
const { service, db, call } = running;
const origin = `http://localhost:${new URL(service.baseUrl).port}`;

const asPage = { Accept: "text/html" };
type Headers = Record<string, string>;
type Options = { challenge: string } & Record<string, unknown>;

const post = async (path: string, fields: Record<string, string>, headers: Headers) => {
  const answer = await postForm(service.baseUrl + path, fields, { ...asPage, ...headers });
  return {
    answer,
    status: answer.status,
    location: answer.headers.get("location") ?? "",
    text: await answer.text(),
  };
};

const optionsAt = (path: string, headers: Headers) =>
  call(path, { method: "POST", headers: { Accept: "application/json", ...headers } }) as Promise<{
    status: number;
    body: Options;
  }>;

const codesIn = (page: string) =>
  [...page.matchAll(/<code>((?:[a-z2-7]{6}-){3}[a-z2-7]{6})<\/code>/g)].map(([, code]) => code ?? "");

async function add(headers: Headers, authenticator: SoftAuthenticator, lie = {}) {
  const { body } = await optionsAt("/dashboard/security/passkeys/options", headers);
  return post("/dashboard/security/passkeys", { name: "Laptop", answer: authenticator.add(body, lie) }, headers);
}

/** A member with a passkey. */
async function withPasskey({ live = false, key }: { live?: boolean; key?: string } = {}) {
  const firm = key === undefined ? await running.newPartner({ live }) : { key, partnerId: "" };
  const email = running.somebody();
  const { headers } = await newMember(service, email, firm.key);
  const authenticator = newAuthenticator(origin);
  const added = await add(headers, authenticator);
  assert.equal(added.status, 200, added.text);
  return { ...firm, email, headers, authenticator, codes: codesIn(added.text), added };
}

/** Uses a mailed link. @returns the cookie that the response sets, and where it redirects to */
async function useLink(email: string) {
  const { browser, path } = await askForLink(service, email);
  const { answer, location } = await post(path, {}, { Cookie: browser });
  return { headers: { Cookie: cookieIn(answer, "__Host-session") }, location };
}

const me = async (headers: Headers) => (await call("/api/partner/me", { headers })).status;
const sessionIn = (answer: Response) => ({ Cookie: cookieIn(answer, "__Host-session") });
const secondStep = "/sign-in/passkey";
const dueOptions = async (headers: Headers) => (await optionsAt(`${secondStep}/options`, headers)).body;
const sessionsOf = (email: string) => sql`user_id = (SELECT id FROM users WHERE email = ${email})`;

test("signing in with a passkey: the link alone gives no access, and the passkey gives it with a new token", async () => {
  const { email, authenticator } = await withPasskey();
  const due = await useLink(email);
  assert.equal(due.location, `${secondStep}?return_to=%2Fdashboard`);
  assert.equal(await me(due.headers), 401);
  for (const path of ["/dashboard", "/dashboard/settings", "/dashboard/link"])
    assert.equal((await call(path, { headers: { ...due.headers, ...asPage } })).status, 303, path);
  const listed = await service.cli<{ sessions: object[] }>("session", "list", email);
  assert.equal(listed.sessions.length, 1, "it is in no list");
  const options = await dueOptions(due.headers);
  assert.deepEqual(
    [options["rpId"], options["userVerification"], (options["allowCredentials"] as object[]).length],
    ["localhost", "required", 1],
  );
  const signedIn = await post(
    secondStep,
    { passkey: authenticator.show(options), return_to: "/dashboard/rooms" },
    due.headers,
  );
  assert.deepEqual([signedIn.status, signedIn.location], [303, "/dashboard/rooms"]);
  const session = sessionIn(signedIn.answer);
  assert.notEqual(session.Cookie, due.headers.Cookie);
  assert.deepEqual([await me(session), await me(due.headers)], [200, 401]);
  const page = (await call("/dashboard/security", { headers: session })).body as string;
  assert.doesNotMatch(page.slice(page.indexOf('id="passkeys"'), page.indexOf('id="add-passkey"')), /Never/);
});

test("a person without a passkey signs in as before", async () => {
  const { key } = await running.newPartner();
  const { headers, answer } = await newMember(service, running.somebody(), key);
  assert.equal(answer.headers.get("location"), "/dashboard");
  assert.equal(await me(headers), 200);
  const step = await call(secondStep, { headers });
  assert.deepEqual([step.status, step.headers.get("location")], [303, "/sign-in"]);
});

test("a second step takes ten minutes at most", async () => {
  const { email, authenticator } = await withPasskey();
  const due = await useLink(email);
  const options = await dueOptions(due.headers);
  await asService(
    running,
    sql`UPDATE sessions SET expires_at = expires_at - interval '10 min' WHERE ${sessionsOf(email)} AND factor_due`,
  );
  const late = await post(secondStep, { passkey: authenticator.show(options) }, due.headers);
  assert.deepEqual([late.status, late.location], [303, "/sign-in"]);
});

test("an authenticator's answer is refused unless all of it is correct", async () => {
  const { email, authenticator } = await withPasskey();
  const other = await withPasskey();
  const due = await useLink(email);
  const refused = async (what: string, answerTo: (options: Options) => string) => {
    const { status, text } = await post(secondStep, { passkey: answerTo(await dueOptions(due.headers)) }, due.headers);
    assert.equal(status, 400, what);
    assert.match(text, /role="alert"[\s\S]*The passkey was not accepted/, what);
    assert.equal(await me(due.headers), 401, what);
  };
  await refused("another origin", (o) => authenticator.show(o, { origin: "https://evil.example" }));
  await refused("the origin by another scheme", (o) =>
    authenticator.show(o, { origin: origin.replace("http", "https") }),
  );
  await refused("another relying party", (o) => authenticator.show(o, { rpId: "evil.example" }));
  await refused("no user verification", (o) => authenticator.show(o, { isUserVerified: false }));
  await refused("a registration", (o) => authenticator.show(o, { type: "webauthn.create" }));
  await refused("a challenge of one's own", () => authenticator.show({ challenge: "AAAA" }));
  await refused("another member's passkey", (o) => other.authenticator.show(o));
  await refused("an unknown passkey", (o) => newAuthenticator(origin).show(o));
  await refused("another person's handle", (o) => authenticator.show(o, { userHandle: "AAAA" }));
  await refused("another kind of credential", (o) => authenticator.show(o, { isBackupEligible: true }));
  await refused("another signature", (o) => {
    const answer = JSON.parse(authenticator.show(o));
    const foreign = JSON.parse(newAuthenticator(origin).show(o));
    return JSON.stringify({ ...answer, response: { ...answer.response, signature: foreign.response.signature } });
  });
  for (const garbage of ["", "null", "[]", "{}", '{"id":1}', '{"id":"x","response":null}', "x".repeat(1000)])
    await refused(garbage.slice(0, 30), () => garbage);
  const options = await dueOptions(due.headers);
  assert.equal((await post(secondStep, { passkey: authenticator.show(options) }, due.headers)).status, 303);
});

test("a challenge works once, for five minutes, only in its own session and for its own purpose", async () => {
  const { email, authenticator, headers } = await withPasskey();
  const due = await useLink(email);
  const spent = await dueOptions(due.headers);
  await post(secondStep, { passkey: authenticator.show(spent, { isUserVerified: false }) }, due.headers);
  assert.equal((await post(secondStep, { passkey: authenticator.show(spent) }, due.headers)).status, 400, "used");
  const old = await dueOptions(due.headers);
  await db.query(sql`UPDATE passkey_challenges SET expires_at = expires_at - interval '5 min'`);
  assert.equal((await post(secondStep, { passkey: authenticator.show(old) }, due.headers)).status, 400, "expired");
  const ofOther = (await optionsAt("/dashboard/confirm/options", headers)).body;
  await dueOptions(due.headers);
  assert.equal(
    (await post(secondStep, { passkey: authenticator.show(ofOther) }, due.headers)).status,
    400,
    "of another session",
  );
  const toAdd = (await optionsAt("/dashboard/security/passkeys/options", headers)).body;
  const shown = await post(
    "/dashboard/settings/branding",
    { brandName: "x", confirm_passkey: authenticator.show(toAdd) },
    headers,
  );
  assert.equal(shown.status, 303);
  const [{ at } = { at: null }] = await db.query<{ at: Date | null }>(
    sql`SELECT passkey_at AS at FROM sessions WHERE ${sessionsOf(email)} AND NOT factor_due`,
  );
  assert.equal(at, null, "for another purpose");
});

test("a replayed answer, and a counter that went back, are refused", async () => {
  const { email, authenticator } = await withPasskey();
  const first = await useLink(email);
  const answer = authenticator.show(await dueOptions(first.headers), { counter: 7 });
  assert.equal((await post(secondStep, { passkey: answer }, first.headers)).status, 303);
  const second = await useLink(email);
  await dueOptions(second.headers);
  assert.equal((await post(secondStep, { passkey: answer }, second.headers)).status, 400, "replayed");
  for (const [counter, status] of [
    [7, 400],
    [6, 400],
    [0, 400],
    [8, 303],
  ] as const) {
    const options = await dueOptions(second.headers);
    const again = await post(secondStep, { passkey: authenticator.show(options, { counter }) }, second.headers);
    assert.equal(again.status, status, `counter ${counter}`);
  }
});

test("an authenticator that does not count is accepted repeatedly", async () => {
  const { email, headers } = await withPasskey();
  const uncounted = newAuthenticator(origin);
  assert.equal((await add(headers, uncounted, { counter: 0 })).status, 303);
  for (let n = 0; n < 2; n++) {
    const due = await useLink(email);
    const options = await dueOptions(due.headers);
    assert.equal(
      (await post(secondStep, { passkey: uncounted.show(options, { counter: 0 }) }, due.headers)).status,
      303,
    );
  }
});

test("a new passkey must be completely correct, too, and brings no certificates", async () => {
  const { key } = await running.newPartner();
  const email = running.somebody();
  const { headers } = await newMember(service, email, key);
  const authenticator = newAuthenticator(origin);
  for (const lie of [
    { origin: "https://evil.example" },
    { rpId: "evil.example" },
    { isUserVerified: false },
    { type: "webauthn.get" },
    { format: "packed", statement: certificates(Buffer.from("3000", "hex")) },
    { format: "tpm" },
  ]) {
    const refused = await add(headers, authenticator, lie);
    assert.equal(refused.status, 400, JSON.stringify(lie));
    assert.match(refused.text, /value="Laptop"/, "what was typed stays");
  }
  for (const name of ["", "x".repeat(61), "a\u0000b"]) {
    const { body } = await optionsAt("/dashboard/security/passkeys/options", headers);
    const refused = await post("/dashboard/security/passkeys", { name, answer: authenticator.add(body) }, headers);
    assert.equal(refused.status, 400, JSON.stringify(name));
  }
  assert.equal((await add(headers, authenticator)).status, 200);
  const twice = await add(headers, authenticator);
  assert.match(twice.text, /in use already/);
  const stranger = await newMember(service, running.somebody(), key);
  assert.match((await add(stranger.headers, authenticator)).text, /in use already/);
});

test("adding and removing need a recent proof, which for a person with a passkey is a passkey or a recovery code", async () => {
  const { email, headers, authenticator, codes, key } = await withPasskey();
  const stale = () =>
    asService(
      running,
      sql`UPDATE sessions SET confirmed_at = confirmed_at - interval '16 min' WHERE ${sessionsOf(email)}`,
    );
  const page = (await call("/dashboard/security", { headers })).body as string;
  const remove = /\/dashboard\/security\/passkeys\/[0-9a-f-]{36}\/remove/.exec(page)?.[0] ?? "";
  await stale();
  assert.equal((await optionsAt("/dashboard/security/passkeys/options", headers)).status, 403);
  for (const path of ["/dashboard/security/passkeys", "/dashboard/security/recovery-codes", remove]) {
    const asked = await post(path, { name: "Phone" }, headers);
    assert.equal(asked.status, 403, path);
    assert.match(asked.text, /Confirm with your passkey/);
  }
  assert.deepEqual(codesTo(service, email), [], "no code is mailed to who has a passkey");
  const guessed = await post(remove, { confirm_code: "123456" }, headers);
  assert.equal(guessed.status, 403);
  assert.match(guessed.text, /This recovery code is not right/);
  const renewed = await post("/dashboard/security/recovery-codes", { confirm_code: codes[0] ?? "" }, headers);
  assert.equal(renewed.status, 200);
  const fresh = codesIn(renewed.text);
  assert.equal(fresh.length, 10);
  await stale();
  assert.equal(
    (await post(remove, { confirm_code: codes[1] ?? "" }, headers)).status,
    403,
    "the earlier codes are over",
  );
  const { body } = await optionsAt("/dashboard/confirm/options", headers);
  const removed = await post(remove, { confirm_passkey: authenticator.show(body) }, headers);
  assert.deepEqual([removed.status, removed.location], [303, "/dashboard/security?done=passkey-removed"]);
  const again = await newMember(service, email, key);
  assert.equal(await me(again.headers), 200, "the link alone signs in");
  const [left] = await db.query<{ count: number }>(
    sql`SELECT count(*) AS count FROM recovery_codes WHERE ${sessionsOf(email)}`,
  );
  assert.equal(left?.count, 0, "codes go with the last passkey");
});

test("a removed passkey signs nobody in, and a member can't remove another's", async () => {
  const { email, headers, authenticator } = await withPasskey();
  const other = await withPasskey();
  const second = newAuthenticator(origin);
  assert.equal((await add(headers, second)).status, 303);
  const page = (await call("/dashboard/security", { headers })).body as string;
  const [first = ""] = /\/dashboard\/security\/passkeys\/[0-9a-f-]{36}\/remove/.exec(page) ?? [];
  for (const path of [first, first.replace(/[0-9a-f-]{36}/, "x")])
    assert.equal((await post(path, {}, other.headers)).status, 404);
  const due = await useLink(email);
  const options = await dueOptions(due.headers);
  const [{ id } = { id: "" }] = await db.query<{ id: string }>(
    sql`SELECT id FROM passkeys WHERE ${sessionsOf(email)} ORDER BY created_at`,
  );
  await db.query(sql`DELETE FROM passkeys WHERE id = ${id}`);
  assert.equal((await post(secondStep, { passkey: authenticator.show(options) }, due.headers)).status, 400);
  const more = await dueOptions(due.headers);
  assert.equal((await post(secondStep, { passkey: second.show(more) }, due.headers)).status, 303);
});

test("ten recovery codes are shown once, are stored as hashes, and each signs in once", async () => {
  const { email, codes, added } = await withPasskey();
  assert.equal(new Set(codes).size, 10);
  assert.equal(added.answer.headers.get("cache-control"), "no-store");
  const [row] = await db.query<{ text: string }>(
    sql`SELECT string_agg(r::text, ' ') AS text FROM recovery_codes r WHERE ${sessionsOf(email)}`,
  );
  for (const code of codes) assert.ok(!row?.text.includes(code.replaceAll("-", "")));
  const due = await useLink(email);
  const wrong = await post(secondStep, { code: "aaaaaa-aaaaaa-aaaaaa-aaaaaa" }, due.headers);
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /role="alert"[\s\S]*This recovery code is not right/);
  const typed = ` ${codes[3]?.toUpperCase().replaceAll("-", " ")} `;
  const signedIn = await post(secondStep, { code: typed }, due.headers);
  assert.equal(signedIn.status, 303);
  const session = sessionIn(signedIn.answer);
  assert.equal(await me(session), 200);
  assert.match((await call("/dashboard/security", { headers: session })).body as string, /9 of 10 are left/);
  const next = await useLink(email);
  assert.equal((await post(secondStep, { code: codes[3] ?? "" }, next.headers)).status, 400, "used");
  const other = await withPasskey();
  assert.equal((await post(secondStep, { code: other.codes[0] ?? "" }, next.headers)).status, 400, "another's");
});

test("adding a passkey signs the person's other browsers out, and a mail reports it", async () => {
  const { key } = await running.newPartner();
  const email = running.somebody();
  const here = await newMember(service, email, key);
  const there = await newMember(service, email, key);
  assert.equal((await add(here.headers, newAuthenticator(origin))).status, 200);
  assert.deepEqual([await me(here.headers), await me(there.headers)], [200, 401]);
  const news = () => mailsTo(service, email).filter((mail) => mail.includes("Subject: Your sign-in changed"));
  await until(() => news().length === 1);
  assert.match(news()[0] ?? "", /A passkey was added/);
  assert.match(news()[0] ?? "", /\/dashboard\/security/);
});

test("the operator removes the passkeys of a person who has lost them, and signs the person out", async () => {
  const { email, headers, codes } = await withPasskey();
  const [{ id } = { id: "" }] = await db.query<{ id: string }>(sql`SELECT id FROM users WHERE email = ${email}`);
  type Listed = { passkeys: { name: string; lastUsedAt: string | null }[] };
  const listed = await service.cli<Listed>("member", "passkeys", id);
  assert.deepEqual(
    listed.passkeys.map(({ name, lastUsedAt }) => [name, lastUsedAt]),
    [["Laptop", null]],
  );
  const due = await useLink(email);
  const removed = await service.cli<object>("member", "passkeys", id, "--remove");
  assert.deepEqual(removed, { userId: id, removed: 1, endedSessions: 2 });
  assert.equal(await me(headers), 401);
  assert.equal((await post(secondStep, { code: codes[0] ?? "" }, due.headers)).location, "/sign-in");
  const again = await useLink(email);
  assert.deepEqual([again.location, await me(again.headers)], ["/dashboard", 200]);
  await assert.rejects(service.cli("member", "passkeys", "00000000-0000-4000-8000-000000000000"), /No such person/);
  await assert.rejects(service.cli("member", "passkeys", "x", "--remove"), /USER_ID/);
});
