import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import { type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { tokenSha256 } from "../../src/kernel/platform/secrets.ts";

import { browser, consentText, openCeremonyService } from "../signing/envelopes/ceremony/ceremony-service.ts";
import { openInsider } from "./insider.ts";

let people = 0;

const running = await forTests(openCeremonyService());
const insider = await forTests(openInsider(running.service.dataDir));

const refused = { code: "unavailable", message: /^This record is not what the service wrote/ };

async function signer(more: object = {}) {
  const email = `jane${++people}@example.com`;
  const code = await running.order([{ name: "Jane", email, ...more }]);
  const link = await running.linkOf(email);
  const attack = (set: Statement) => insider.run(sql`UPDATE envelope_signers SET ${set} WHERE email = ${email}`);
  return { email, code, link, attack };
}

const signingOf = (code: string) => running.client.call("GET", `/api/partner/orders/${code}/signers`);

test("a link whose hash was inserted signs nothing, and is logged as an error once", async () => {
  const { email, code, attack } = await signer();
  const token = randomBytes(20).toString("hex");
  await attack(sql`token_sha256 = ${tokenSha256(token)}`);
  const planted = { token, session: null };
  for (let n = 0; n < 2; n++) await assert.rejects(running.ceremony.view(planted), refused);
  await assert.rejects(running.ceremony.consent(planted, consentText, browser), refused);
  const page = await fetch(`${running.service.baseUrl}/sign/${token}`);
  assert.equal(page.status, 503);
  const [row] = await insider.run<{ id: number }>(sql`SELECT id FROM envelope_signers WHERE email = ${email}`);
  const logged = () =>
    `${running.service.stdout()}\n${running.service.stderr()}`
      .split("\n")
      .filter((line) => line.includes("is not vouched for") && line.includes(`id=${row?.id} `));
  await until(async () => logged().length > 0);
  assert.equal((await fetch(`${running.service.baseUrl}/sign/${token}`)).status, 503);
  assert.equal(logged().length, 1);
  assert.equal((await running.client.call("GET", `/api/partner/orders/${code}`)).status, 200);
});

const changes: readonly [string, Statement][] = [
  ["a name", sql`name = 'Eve'`],
  ["a language", sql`language = 'es'`],
  ["a consent", sql`consent = '{"version": "1", "language": "en", "textSha256": "", "at": "2026-01-01T00:00:00Z"}'`],
  ["a time of signing", sql`signed_at = now()`],
  ["a session", sql`session_sha256 = sha256('x'), session_expires_at = now() + interval '1 day'`],
  ["wrong codes that are forgotten", sql`failures = failures + 1`],
  ["an access step taken away", sql`auth = 'link', access_code_hash = 'x'`],
  ["no MAC", sql`row_mac = NULL`],
];
for (const [name, change] of changes)
  test(`a signer whose row was altered can't open or sign anything: ${name}`, async () => {
    const { code, link, attack } = await signer();
    await running.ceremony.view(link);
    await attack(change);
    await assert.rejects(running.ceremony.view(link), refused);
    await assert.rejects(running.ceremony.consent(link, consentText, browser), refused);
    assert.equal((await signingOf(code)).status, 503);
  });

test("a signer whose address was altered gets no mail", async () => {
  const { code, attack } = await signer();
  const eve = `eve${people}@example.com`;
  await attack(sql`email = ${eve}`);
  const { status } = await running.client.call("POST", `/api/partner/orders/${code}/signers/1/remind`);
  assert.equal(status, 503);
  await insider.run(sql`
    SELECT enqueue_job('signing-mail', jsonb_build_object('signerId', id, 'moment', 'reminder', 'at', 'x'), now())
    FROM envelope_signers WHERE email = ${eve}`);
  const { email } = await signer();
  await until(() => running.mailsTo(email).length > 0);
  assert.deepEqual(running.mailsTo(eve), []);
});

test("an earlier row of a signer with its earlier MAC gives no access", async () => {
  const { email, link, attack } = await signer();
  const state = sql`SELECT consent, state_version AS version, row_mac AS mac FROM envelope_signers WHERE email = ${email}`;
  const [before] = await insider.run<{ consent: object | null; version: number; mac: Buffer }>(state);
  assert.ok(before);
  await running.ceremony.consent(link, consentText, browser);
  await attack(sql`consent = ${before.consent}, state_version = ${before.version}, row_mac = ${before.mac}`);
  await assert.rejects(running.ceremony.view(link), refused);
});

test("no signer can be removed, and no inserted signer counts", async () => {
  const { email, link } = await signer();
  await assert.rejects(insider.run(sql`DELETE FROM envelope_signers WHERE email = ${email}`), /append-only/);
  await insider.run(sql`
    INSERT INTO envelope_signers (envelope_id, n, name, email, language, routing, auth)
    SELECT envelope_id, 2, 'Eve', 'eve@example.com', 'en', 1, 'link' FROM envelope_signers WHERE email = ${email}`);
  await assert.rejects(running.ceremony.view(link), refused);
});

const envelopeChanges: readonly [string, Statement][] = [
  ["a field at another place", sql`fields = jsonb_set(fields, '{0,page}', '1')`],
  ["a field taken away", sql`fields = '[]'`],
  ["a later end", sql`expires_at = expires_at + interval '1 year'`],
  ["an end that nobody decided", sql`outcome = 'Completed', ended_at = now(), remind_at = NULL`],
  ["no MAC", sql`row_mac = NULL`],
];
for (const [name, change] of envelopeChanges)
  test(`an altered envelope is neither shown nor signed: ${name}`, async () => {
    const { email, code, link } = await signer();
    await running.ceremony.view(link);
    await insider.run(sql`
      UPDATE envelopes SET ${change} WHERE id = (SELECT envelope_id FROM envelope_signers WHERE email = ${email})`);
    await assert.rejects(running.ceremony.view(link), refused);
    await assert.rejects(running.ceremony.consent(link, consentText, browser), refused);
    assert.equal((await signingOf(code)).status, 503);
  });

test("the codes of two envelopes can't be exchanged, and an earlier row of an envelope can't be restored", async () => {
  const [one, other] = [await signer(), await signer()];
  const envelopeOf = async (email: string) => {
    const [row] = await insider.run<{ id: number; code: string; version: number; mac: Buffer; expires: Date }>(sql`
      SELECT e.id, e.verify_code AS code, e.state_version AS version, e.row_mac AS mac, e.expires_at AS expires
      FROM envelopes e JOIN envelope_signers s ON s.envelope_id = e.id WHERE s.email = ${email}`);
    return row ?? assert.fail();
  };
  const [first, second] = [await envelopeOf(one.email), await envelopeOf(other.email)];
  const set = (change: Statement, id: number) => insider.run(sql`UPDATE envelopes SET ${change} WHERE id = ${id}`);
  await set(sql`verify_code = ${`${second.code}x`}`, second.id);
  await set(sql`verify_code = ${second.code}`, first.id);
  await assert.rejects(running.ceremony.view(one.link), refused);
  await set(sql`verify_code = ${first.code}`, first.id);
  await running.ceremony.view(one.link);
  await set(sql`expires_at = now()`, first.id);
  await set(sql`expires_at = ${first.expires}, state_version = ${first.version}, row_mac = ${first.mac}`, first.id);
  await assert.rejects(running.ceremony.view(one.link), refused);
  await assert.rejects(insider.run(sql`DELETE FROM envelopes WHERE id = ${first.id}`), /append-only/);
});
