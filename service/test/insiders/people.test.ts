import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { asService } from "@signsealship/testing/row-mac";
import { dropMember, dropPasskeys, newToken, setMember } from "../../src/firms/members/members.ts";
import { byCommandLine, changeOperator } from "../../src/firms/operators/operators.ts";
import { type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { tokenSha256 } from "../../src/kernel/platform/secrets.ts";
import { openMembersService } from "../firms/members/members-service.ts";
import { askForLink, cookieIn, newMember, postForm, signIn } from "../firms/members/signed-in-member.ts";
import { newOperator } from "../firms/operators/console-people.ts";
import { openInsider } from "./insider.ts";

const running = await forTests(openMembersService());
const insider = await forTests(openInsider(running.service.dataDir));

const statusOf = async (path: string, Cookie: string) =>
  (await fetch(running.service.baseUrl + path, { headers: { Cookie }, redirect: "manual" })).status;
const opensConsole = async (cookie: string) => (await statusOf("/operator", cookie)) === 200;
const opensPeople = async (cookie: string) => (await statusOf("/operator/people", cookie)) === 200;
const me = async (Cookie: string) => {
  const { status, body } = await running.call("/api/partner/me", { headers: { Cookie } });
  return status === 200 ? body.role : status;
};
const refused = (role: unknown) => assert.ok(role === 401 || role === 403, `${role}`);

const plantSession = async (userId: string | null) => {
  const [token, at] = [newToken(), new Date()];
  await insider.run(sql`
    INSERT INTO sessions (id, token_sha256, user_id, environment, device, created_at, last_seen_at, confirmed_at, passkey_at,
      expires_at)
    VALUES (${randomUUID()}, ${tokenSha256(token)}, ${userId}, 'test', 'Firefox', ${at}, ${at}, ${at}, ${at},
      ${new Date(at.getTime() + 3_600_000)})`);
  return token;
};

const userOf = async (email: string) => {
  const [user] = await insider.run<{ id: string }>(sql`SELECT id FROM users WHERE email = ${email}`);
  return user?.id ?? "";
};

test("an inserted session of the command line's operator gives no access", async () => {
  assert.equal(await opensConsole(`__Host-operator=${await plantSession(null)}`), false);
});

test("an inserted session of a firm's owner gives no access", async () => {
  const { key } = await running.newPartner();
  const email = running.somebody();
  await newMember(running.service, email, key);
  assert.equal(await me(`__Host-session=${await plantSession(await userOf(email))}`), 401);
});

test("an operator who was inserted with a passkey gets no access to the console", async () => {
  const [id, at] = [randomUUID(), new Date()];
  const email = "planted@desk.example";
  await insider.run(sql`INSERT INTO users (id, email, created_at) VALUES (${id}, ${email}, ${at})`);
  await insider.run(sql`INSERT INTO operators (user_id, name, roles, added_at) VALUES (${id}, 'P', '{admin}', ${at})`);
  const { cookie } = await signIn(running.service, email);
  assert.equal(await opensConsole(cookie), false);
  await insider.run(sql`
    INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, backup_eligible, transports, name, created_at)
    VALUES (${randomUUID()}, ${id}, ${id}, '\\x00', 0, false, '{}', 'Key', ${at})`);
  assert.equal(await opensConsole(`__Host-session=${await plantSession(id)}`), false);
});

test("a session whose end, holder, token or proof was changed gives no access", async () => {
  const { key } = await running.newPartner();
  const other = running.somebody();
  await newMember(running.service, other, key);
  const changes = (otherId: string): Statement[] => [
    sql`expires_at = expires_at + interval '1 year'`,
    sql`user_id = ${otherId}`,
    sql`passkey_at = now()`,
    sql`confirmed_at = confirmed_at + interval '1 s'`,
    sql`user_id = NULL`,
    sql`row_mac = NULL`,
  ];
  const otherId = await userOf(other);
  for (const change of changes(otherId)) {
    const email = running.somebody();
    const { cookie } = await newMember(running.service, email, key);
    assert.equal(await me(cookie), "member");
    await insider.run(sql`UPDATE sessions SET ${change} WHERE user_id = ${await userOf(email)}`);
    assert.equal(await me(cookie), 401, change.text);
  }
});

test("changed roles, address and access of an operator in the database give no access to the console", async () => {
  for (const change of [sql`roles = '{admin}'`, sql`name = 'Somebody else'`, sql`row_mac = NULL`]) {
    const { id, cookie } = await newOperator(running, { roles: ["agent"] });
    assert.equal(await opensConsole(cookie), true);
    await insider.run(sql`UPDATE operators SET ${change} WHERE user_id = ${id}`);
    assert.deepEqual([await opensConsole(cookie), await opensPeople(cookie)], [false, false], change.text);
    // A change by the service must not give the forged row a valid MAC either.
    await assert.rejects(changeOperator(running, byCommandLine, id, { name: "New name" }), /was altered/);
  }
});

test("an operator whose waiting time was removed in the database gets no access to the console", async () => {
  const { id, cookie } = await newOperator(running, { roles: ["approver"] });
  await asService(running, sql`UPDATE operators SET decides_from = now() + interval '1 day' WHERE user_id = ${id}`);
  assert.equal(await opensConsole(cookie), true);
  for (const from of [sql`NULL`, sql`now()`]) {
    await insider.run(sql`UPDATE operators SET decides_from = ${from} WHERE user_id = ${id}`);
    assert.equal(await opensConsole(cookie), false, from.text);
  }
});

test("nobody's address can be changed in the database, not even while somebody signs in with it", async () => {
  const { id } = await newOperator(running, { roles: ["admin"], passkey: false });
  const { key } = await running.newPartner();
  const owner = running.somebody();
  await newMember(running.service, owner, key);
  for (const person of [id, await userOf(owner)])
    for (const statement of [
      sql`UPDATE users SET email = 'attacker@elsewhere.example' WHERE id = ${person}`,
      sql`UPDATE users SET id = gen_random_uuid() WHERE id = ${person}`,
      sql`DELETE FROM users WHERE id = ${person}`,
      sql`INSERT INTO users (id, email, created_at) VALUES (gen_random_uuid(), ${owner}, now())
        ON CONFLICT (email) DO UPDATE SET email = 'attacker@elsewhere.example'`,
    ])
      await assert.rejects(insider.run(statement), /append-only/, statement.text);
  assert.equal(await me((await signIn(running.service, owner)).cookie), "owner");
});

test("a changed return address in the database leads to no other site", async () => {
  const email = running.somebody();
  const { browser, path } = await askForLink(running.service, email);
  await insider.run(sql`UPDATE sign_in_links SET return_to = 'https://evil.example/' WHERE email = ${email}`);
  const answer = await postForm(running.service.baseUrl + path, {}, { Cookie: browser });
  assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/dashboard"]);
});

test("a membership that was inserted, raised or moved in the database gives no access to a firm", async () => {
  const [own, other] = [await running.newPartner({ live: true }), await running.newPartner()];
  await newMember(running.service, running.somebody(), own.key);
  for (const change of [
    sql`role = 'owner'`,
    sql`live_access = NOT live_access`,
    sql`partner_id = ${other.partnerId}`,
    sql`row_mac = NULL`,
  ]) {
    const email = running.somebody();
    const { cookie } = await newMember(running.service, email, own.key);
    const userId = await userOf(email);
    await insider.run(sql`UPDATE members SET ${change} WHERE user_id = ${userId}`);
    refused(await me(cookie));
  }
  const stranger = running.somebody();
  const { cookie } = await signIn(running.service, stranger);
  await insider.run(sql`
    INSERT INTO members (user_id, partner_id, role, live_access, linked_at)
    VALUES (${await userOf(stranger)}, ${own.partnerId}, 'owner', true, now())`);
  refused(await me(cookie));
});

test("an inserted link of the command line signs nobody in", async () => {
  const token = "a".repeat(40);
  const at = new Date();
  await insider.run(sql`
    INSERT INTO sign_in_links (id, token_sha256, return_to, created_at, expires_at)
    VALUES (${randomUUID()}, ${tokenSha256(token)}, '/operator', ${at}, ${new Date(at.getTime() + 600_000)})`);
  assert.equal(await statusOf(`/operator/sign-in/${token}`, ""), 404);
  const used = await postForm(`${running.service.baseUrl}/operator/sign-in/${token}`, {});
  assert.deepEqual([used.status, cookieIn(used, "__Host-operator")], [404, ""]);
});

test("a link whose address or browser was changed in the database signs nobody in", async () => {
  for (const change of [
    sql`email = 'victim@harbor-title.com'`,
    sql`expires_at = expires_at + interval '1 day'`,
    sql`email = NULL, browser_sha256 = NULL, network_sha256 = NULL`,
  ]) {
    const email = running.somebody();
    const { browser, path } = await askForLink(running.service, email);
    await insider.run(sql`UPDATE sign_in_links SET ${change} WHERE email = ${email}`);
    for (const at of [path, path.replace("/sign-in/", "/operator/sign-in/")]) {
      const used = await postForm(running.service.baseUrl + at, {}, { Cookie: browser });
      assert.equal(used.status, 404, change.text);
      assert.deepEqual(
        used.headers.getSetCookie().filter((cookie) => /__Host-(session|operator)=[^;]/.test(cookie)),
        [],
      );
    }
  }
});

test("an inserted invitation makes nobody a member", async () => {
  const { key, partnerId } = await running.newPartner();
  const owner = running.somebody();
  await newMember(running.service, owner, key);
  const email = running.somebody();
  const { cookie } = await signIn(running.service, email);
  const token = "b".repeat(40);
  await insider.run(sql`
    INSERT INTO invitations (id, partner_id, email, role, live_access, token_sha256, invited_by, created_at, expires_at)
    VALUES (${randomUUID()}, ${partnerId}, ${email}, 'owner', false, ${tokenSha256(token)}, ${await userOf(owner)}, now(),
      now() + interval '1 day')`);
  const accepted = await postForm(`${running.service.baseUrl}/invitation/${token}`, {}, { Cookie: cookie });
  assert.notEqual(accepted.status, 200);
  refused(await me(cookie));
});

test("a session that was signed out stays ended when its row is restored", async () => {
  const { key } = await running.newPartner();
  const email = running.somebody();
  const { cookie, headers } = await newMember(running.service, email, key);
  const putBack = await insider.keep(sql`sessions`, sql`user_id`, await userOf(email));
  await postForm(`${running.service.baseUrl}/sign-out`, {}, headers);
  await putBack();
  assert.equal(await me(cookie), 401);
});

test("an operator whose roles were lowered, or who was removed, gets no access when the earlier row is restored", async () => {
  for (const change of [{ roles: ["agent"] }, { active: false }]) {
    const { id, cookie } = await newOperator(running, { roles: ["admin"] });
    const putBack = await insider.keep(sql`operators`, sql`user_id`, id);
    assert.equal(await opensPeople(cookie), true);
    // Saves the session, which the change can end. It is restored below, so that only the forged role is tested.
    const session = await insider.keep(sql`sessions`, sql`user_id`, id);
    await changeOperator(running, byCommandLine, id, change);
    await session();
    await putBack();
    assert.deepEqual([await opensConsole(cookie), await opensPeople(cookie)], [false, false]);
  }
});

test("a member whose role was lowered, or who was removed, gets no access when the earlier row is restored", async () => {
  const { key } = await running.newPartner();
  for (const lower of [
    (id: string) => setMember(running, id, { role: "member" }),
    (id: string) => dropMember(running, id),
  ]) {
    const email = running.somebody();
    const { cookie } = await newMember(running.service, email, key);
    const id = await userOf(email);
    await setMember(running, id, { role: "owner" });
    assert.equal(await me(cookie), "owner");
    const putBack = await insider.keep(sql`members`, sql`user_id`, id);
    await lower(id);
    await putBack();
    refused(await me(cookie));
  }
});

test("an inserted or restored passkey or recovery code is not accepted", async () => {
  const { findCredential, consumeRecoveryCode: takeCode } = await import("../../src/firms/members/passkeys/store.ts");
  const email = running.somebody();
  await signIn(running.service, email);
  const userId = await userOf(email);
  const [id, code] = [randomUUID(), Buffer.alloc(32, 7)];
  const passkey = sql`
    INSERT INTO passkeys (id, user_id, credential_id, public_key, counter, backup_eligible, transports, name, created_at)
    VALUES (${id}, ${userId}, ${id}, '\\x00', 0, false, '{}', 'Key', now())`;
  const recovery = sql`INSERT INTO recovery_codes (user_id, code_sha256) VALUES (${userId}, ${code})`;
  const found = () => findCredential(running.db, running.rowMac, { userId, credentialId: id, now: new Date() });
  const taken = () =>
    running.db.transaction((tx) => takeCode(tx, running.rowMac, { userId, codeSha256: code, at: new Date() }));
  await insider.run(passkey);
  await insider.run(recovery);
  assert.deepEqual([await found(), await taken()], [undefined, false]);
  await insider.run(sql`DELETE FROM passkeys WHERE id = ${id}`);
  await asService(running, passkey, recovery);
  assert.equal((await found())?.id, id);
  const [key, codeRow] = [
    await insider.keep(sql`passkeys`, sql`id`, id),
    await insider.keep(sql`recovery_codes`, sql`user_id`, userId),
  ];
  assert.equal(await taken(), true);
  await dropPasskeys(running, userId);
  await key();
  await codeRow();
  assert.deepEqual([await found(), await taken()], [undefined, false]);
});

test("the service's role can't remove revocations", async () => {
  const denied = { code: "42501" };
  await assert.rejects(insider.run(sql`DELETE FROM revocations`), denied);
  await assert.rejects(insider.run(sql`UPDATE revocations SET effective_at = now() + interval '1 year'`), denied);
});

test("a member whose firm was renamed or marked as live in the database sees none of its pages", async () => {
  for (const change of [
    sql`name = 'First National Title'`,
    sql`live_enabled = NOT live_enabled`,
    sql`passkey_for_live = true`,
  ]) {
    const email = running.somebody();
    const { key, partnerId } = await running.newPartner();
    const { cookie } = await newMember(running.service, email, key);
    assert.equal(await me(cookie), "owner");
    await insider.run(sql`UPDATE partners SET ${change} WHERE id = ${partnerId}`);
    refused(await me(cookie));
  }
});
