import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { changeSigners } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { signingCode } from "../../../../src/signing/envelopes/ceremony/codes.ts";
import type { Link } from "../../../../src/signing/envelopes/envelopes.ts";
import { issueLink } from "../../../../src/signing/envelopes/lifecycle/issue-link.ts";
import { findEnvelopeOf, findSigners } from "../../../../src/signing/envelopes/records/envelope.ts";
import { appendToTrail } from "../../../../src/signing/envelopes/records/trail.ts";
import { browser, consentText, openCeremonyService, signBy } from "./ceremony-service.ts";

const running = await forTests(openCeremonyService());

let unique = 1;
const person = (name: string, more: object = {}) => ({
  name,
  email: `${name.toLowerCase()}-${unique++}@example.com`,
  ...more,
});
const minutes = (count: number) => () => new Date(Date.now() + count * 60_000);
const at = (count: number) => running.openAt(minutes(count));
const path = (code: string, rest: string) => `/api/partner/orders/${code}/signers/1/${rest}`;
const codesIn = (email: string) =>
  running.mailsTo(email).flatMap((mail) => /^\d{6}$/m.exec(mail.replaceAll("\r", ""))?.[0] ?? []);

/** An order whose only signer needs a mailed code, and the signer's link. */
async function mailCoded() {
  const jane = person("Jane", { auth: "mail_code" });
  const code = await running.order([jane]);
  const link = await running.linkOf(jane.email);
  const [row] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  return { jane, code, link, orderId: row?.id ?? 0 };
}

const rowOf = async (orderId: number) => {
  const [row] = await running.db.query<{ language: string; opened_at: Date | null; codes_requested: number }>(sql`
    SELECT s.language, s.opened_at, s.codes_requested FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
    WHERE e.order_id = ${orderId}`);
  return row;
};

const eventsOf = async (orderId: number) => {
  const found = await running.db.query<{ event: string }>(sql`
    SELECT t.record::jsonb->>'event' AS event FROM envelope_events t JOIN envelopes e ON e.id = t.envelope_id
    WHERE e.order_id = ${orderId} ORDER BY t.position`);
  return found.map(({ event }) => event);
};

/**
 * Waits until the newest code is mailed, and returns it. Earlier codes may be replaced before their mail is written.
 */
async function lastCodeOf(orderId: number, email: string): Promise<string> {
  const [row] = await running.db.query<{ code_id: string }>(sql`
    SELECT s.code_id FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id WHERE e.order_id = ${orderId}`);
  const code = signingCode(running.deps.secrets, row?.code_id ?? "");
  await until(() => codesIn(email).includes(code));
  return code;
}

/** Requests a code 200 times over ten days. @returns how many codes were sent */
async function useUpCodes(link: Link): Promise<number> {
  let sent = 0;
  for (let n = 0; n < 200; n++)
    await at(n * 72)
      .sendCode(link, browser)
      .then(() => sent++)
      .catch((error: { code: string }) => assert.equal(error.code, "rate_limited"));
  return sent;
}

test("records nothing, and changes no language, for a link whose code was not entered", async () => {
  const { code, link, orderId } = await mailCoded();
  const { ceremony } = running;
  const before = await eventsOf(orderId);
  await ceremony.opened(link, browser);
  await assert.rejects(ceremony.consent(link, consentText, browser), { code: "conflict" });
  await ceremony.setLanguage(link, "es");
  await ceremony.opened({ ...link, session: "a".repeat(52) }, browser);
  assert.deepEqual(await eventsOf(orderId), before);
  const row = await rowOf(orderId);
  assert.deepEqual([row?.language, row?.opened_at], ["en", null]);
  const order = await running.client.ok<{ envelopeStatus: string }>("GET", `/api/partner/orders/${code}`);
  assert.equal(order.envelopeStatus, "Sent");
});

test("keeps the language of the pages in the browser, and uses it for mails once the code was entered", async () => {
  const { jane, link, orderId } = await mailCoded();
  const { baseUrl } = running.service;
  const ask = async (rest: string, cookie: string, form: Record<string, string> | null) => {
    const answer = await fetch(`${baseUrl}/sign/${link.token}${rest}`, {
      headers: { Cookie: cookie, Origin: baseUrl },
      redirect: "manual",
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    return { status: answer.status, text: await answer.text(), cookie: answer.headers.get("set-cookie") ?? "" };
  };
  const chosen = await ask("/language", "", { language: "es" });
  assert.equal(chosen.status, 303);
  assert.match(chosen.cookie, new RegExp(`Path=/sign/${link.token}; HttpOnly`));
  const [cookie = ""] = chosen.cookie.split(";");
  assert.match((await ask("", cookie, null)).text, /<html lang="es"/);
  assert.match((await ask("", "", null)).text, /<html lang="en"/);
  await ask("/code", cookie, {});
  const [digits = ""] = await until(() => (codesIn(jane.email).length > 0 ? codesIn(jane.email) : null));
  assert.equal((await rowOf(orderId))?.language, "en");
  assert.equal((await ask("/identify", cookie, { code: digits })).status, 303);
  assert.equal((await rowOf(orderId))?.language, "es");
});

test("mails one code when sixty are requested concurrently", async () => {
  const { jane, link, orderId } = await mailCoded();
  const asked = await Promise.allSettled(Array.from({ length: 60 }, () => running.ceremony.sendCode(link, browser)));
  assert.equal(asked.filter(({ status }) => status === "fulfilled").length, 1);
  await until(() => codesIn(jane.email).length > 0);
  assert.equal(codesIn(jane.email).length, 1);
  assert.equal((await eventsOf(orderId)).filter((event) => event === "code_sent").length, 1);
});

test("sends ten codes in a day and thirty for a link, and the last one lets the signer in days later", async () => {
  const { jane, code, link, orderId } = await mailCoded();
  let sent = 0;
  for (let n = 0; n < 40; n++)
    await at(n * 2)
      .sendCode(link, browser)
      .then(() => sent++)
      .catch((error: { code: string; message: string }) => assert.match(error.message, /tomorrow/));
  assert.equal(sent, 10, "in a day");
  assert.equal(sent + (await useUpCodes(link)), 30, "for the link");
  await assert.rejects(at(15 * 24 * 60).sendCode(link, browser), { message: /No more codes are sent for this link/ });
  const records = await eventsOf(orderId);
  assert.equal(records.filter((event) => event === "code_sent").length, 30);
  const { signers } = await running.client.ok<{ signers: { status: string }[] }>(
    "GET",
    `/api/partner/orders/${code}/signers`,
  );
  assert.equal(signers[0]?.status, "locked", "the firm sees that the signer may need a new link");

  const late = at(16 * 24 * 60);
  const session = await late.identify(link, await lastCodeOf(orderId, jane.email), browser);
  assert.ok(session);
  assert.equal((await rowOf(orderId))?.codes_requested, 0, "a right code starts the count again");
  await signBy(late, { ...link, session: session.session }, "Jane");
});

test("deletes a code after ten minutes while another can be sent", async () => {
  const { jane, link } = await mailCoded();
  await running.ceremony.sendCode(link, browser);
  const [digits = ""] = await until(() => (codesIn(jane.email).length > 0 ? codesIn(jane.email) : null));
  assert.equal(await at(11).identify(link, digits, browser), null);
  assert.ok(await at(9).identify(link, digits, browser));
});

test("gives a signer whose codes were used up a new link, with its own codes, when the firm unlocks it", async () => {
  const { jane, code, link } = await mailCoded();
  assert.match(await running.client.refused(409, "POST", path(code, "unlock")), /not locked/);
  await useUpCodes(link);
  await running.client.ok("POST", path(code, "unlock"));
  await assert.rejects(running.ceremony.view(link), { code: "not_found" });
  const fresh = await until(async () => {
    const found = await running.linkOf(jane.email);
    return found.token === link.token ? null : found;
  });
  assert.equal(await running.ceremony.sendCode(fresh, browser), "mailed");
});

test("replaces a signer whose codes were used up by one who gets their own codes", async () => {
  const { code, link } = await mailCoded();
  await useUpCodes(link);
  const mary = person("Mary");
  await running.client.ok("POST", path(code, "replace"), mary);
  const hers = await running.linkOf(mary.email);
  assert.equal(await running.ceremony.sendCode(hers, browser), "mailed");
});

test("admits a signer, and accepts consent, whatever strangers and the sender had written to the trail", async () => {
  const { jane, link, orderId } = await mailCoded();
  const envelope = await findEnvelopeOf(running.db, orderId);
  assert.ok(envelope);
  await running.db.transaction(async (tx) => {
    for (let n = 0; n < 600; n++)
      await appendToTrail(tx, running.rowMac, envelope, n % 2 ? "code_sent" : "reminded", new Date(), { signer: 1 });
  });
  await running.ceremony.sendCode(link, browser);
  const [digits = ""] = await until(() => (codesIn(jane.email).length > 0 ? codesIn(jane.email) : null));
  const session = await running.ceremony.identify(link, digits, browser);
  assert.ok(session);
  await running.ceremony.consent({ ...link, session: session.session }, consentText, browser);
});

test("limits the records that a signer causes with one link, and starts again with a new one", async () => {
  const { link, orderId } = await mailCoded();
  const envelope = await findEnvelopeOf(running.db, orderId);
  const [signer] = envelope ? await findSigners(running.db, envelope.id) : [];
  assert.ok(envelope && signer);
  const fill = () =>
    running.db.transaction(async (tx) => {
      for (let n = 0; n < 500; n++)
        await appendToTrail(tx, running.rowMac, envelope, "proposed", new Date(), { signer: 1 });
    });
  await changeSigners(running.db, sql`auth = 'link'`, sql`id = ${signer.id}`);
  await fill();
  await assert.rejects(running.ceremony.consent(link, consentText, browser), { code: "rate_limited" });
  const by = { at: new Date(), actor: "system" };
  await running.db.transaction((tx) => issueLink(tx, running.deps, envelope, signer, by));
  const fresh = await until(async () => {
    const { email } = signer;
    const found = await running.linkOf(email);
    return found.token === link.token ? null : found;
  });
  await running.ceremony.consent(fresh, consentText, browser);
});

test("sends no more than ten codes for copies that nobody enters, however long the link exists", async () => {
  const { jane, link, orderId } = await mailCoded();
  await running.ceremony.sendCode(link, browser);
  const [digits = ""] = await until(() => (codesIn(jane.email).length > 0 ? codesIn(jane.email) : null));
  const session = await running.ceremony.identify(link, digits, browser);
  assert.deepEqual(await signBy(running.ceremony, { ...link, session: session?.session ?? null }, "Jane"), {
    outcome: "signed",
    completed: true,
  });
  let sent = 0;
  for (let n = 0; n < 600; n++)
    await at(n * 60)
      .sendCode(link, browser)
      .then(() => sent++)
      .catch((error: { code: string }) => assert.equal(error.code, "rate_limited"));
  assert.equal(sent, 10);
  const last = await lastCodeOf(orderId, jane.email);
  assert.ok(await at(700 * 60).identify(link, last, browser), "the last one stays valid");
  await at(730 * 60).sendCode(link, browser);
  const next = await lastCodeOf(orderId, jane.email);
  assert.ok(
    await at(730 * 60 + 1).identify(link, next, browser),
    "a signer who enters a right code can come back for copies",
  );
});

test("lets a signer in a day after a stranger's wrong codes, and ends no session", async () => {
  const { jane, link, orderId } = await mailCoded();
  const lock = async (ceremony: typeof running.ceremony) => {
    for (let n = 0; n < 5; n++) assert.equal(await ceremony.identify(link, "no code", browser), null);
  };
  const taskState = async () => {
    const [task] = await running.db.query<{ state: string }>(sql`
      SELECT state FROM tasks WHERE order_id = ${orderId} AND kind = 'signer_locked' ORDER BY id DESC LIMIT 1`);
    return task?.state;
  };
  // Mails are written by the service's own clock, so the lock must have expired by that clock, too.
  await lock(at(-24 * 60 - 1));
  assert.equal(await taskState(), "open");
  assert.equal((await at(-61).view(link)).state, "locked");
  const nextDay = running.ceremony;
  assert.equal((await nextDay.view(link)).state, "identify");
  await nextDay.sendCode(link, browser);
  const session = await nextDay.identify(link, await lastCodeOf(orderId, jane.email), browser);
  assert.ok(session);
  assert.equal(await taskState(), "done");
  await lock(nextDay);
  assert.equal((await nextDay.view(link)).state, "locked", "for the stranger");
  assert.equal((await nextDay.view({ ...link, session: session.session })).state, "ready");
  await signBy(nextDay, { ...link, session: session.session }, "Jane");
});
