import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { changeSigners, makeLive } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { signingCode, signingEntry } from "../../../../src/signing/envelopes/ceremony/codes.ts";
import { type Link, remindSigner, sweepEnvelopes } from "../../../../src/signing/envelopes/envelopes.ts";
import { browser, openCeremonyService, signBy, withoutTexts } from "./ceremony-service.ts";

// In these tests, an attacker has the signing link, but neither the signer's mailbox nor phone.
const running = await forTests(openCeremonyService());

let unique = 1;
const at = (minutes: number) => running.openAt(() => new Date(Date.now() + minutes * 60_000));
const day = 24 * 60;

async function signer(more: object = { auth: "mail_code" }) {
  const email = `jane-${unique++}@example.com`;
  const code = await running.order([{ name: "Jane", email, ...more }]);
  return { email, code, link: await running.linkOf(email) };
}

/** The entry links that were mailed to an email address. */
const entriesIn = (email: string): string[] =>
  running.mailsTo(email).flatMap((mail) => /\/enter\/([0-9a-f]{40})/.exec(mail)?.[1] ?? []);

const codeIdOf = async (code: string): Promise<string> => {
  const [row] = await running.db.query<{ codeId: string }>(sql`
    SELECT s.code_id AS "codeId" FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
      JOIN orders o ON o.id = e.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
  return row?.codeId ?? "";
};

/** Waits until the newest code is mailed. @returns its entry link */
async function lastEntry({ email, code }: { email: string; code: string }): Promise<string> {
  const entry = signingEntry(running.deps.secrets, await codeIdOf(code));
  await until(() => entriesIn(email).includes(entry));
  return entry;
}

async function lock(link: Link, minutes: number): Promise<void> {
  for (let n = 0; n < 5; n++) assert.equal(await at(minutes).identify(link, "no code", browser), null);
  assert.equal((await at(minutes).view(link)).state, "locked");
  await assert.rejects(at(minutes).identify(link, "000000", browser), { code: "conflict" });
}

/** Requests a code twenty times, every two minutes from `minutes` on. @returns how many codes were sent */
async function useUpCodes(link: Link, minutes: number): Promise<number> {
  let sent = 0;
  for (let n = 0; n < 20; n++)
    await at(minutes + n * 2)
      .sendCode(link, browser)
      .then(() => sent++)
      .catch((error: { code: string }) => assert.equal(error.code, "rate_limited"));
  return sent;
}

test("a stranger who locks the link each day, and uses up the codes, cannot lock out a signer with the mailbox", async () => {
  const jane = await signer();
  for (const start of [0, day, 2 * day]) {
    assert.equal(await useUpCodes(jane.link, start), 10);
    await lock(jane.link, start + 60);
    assert.equal(await useUpCodes(jane.link, start + 70), 3, "more of them once the link is locked");
    const later = at(start + 300);
    const session = await later.enter(jane.link, await lastEntry(jane), browser);
    assert.ok(session);
    assert.equal((await later.view({ ...jane.link, session: session.session })).state, "ready");
  }
  const session = await at(3 * day).enter(jane.link, "0".repeat(40), browser);
  assert.equal(session, null);
});

test("a stranger who locks the link once locks no signer out, and the signer's entry link opens it again", async () => {
  const jane = await signer();
  await lock(jane.link, 0);
  assert.equal(await at(1).sendCode(jane.link, browser), "mailed");
  const session = await at(2).enter(jane.link, await lastEntry(jane), browser);
  assert.ok(session);
  assert.equal((await at(2).view(jane.link)).state, "identify", "nobody has to unlock it");
  await signBy(at(3), { ...jane.link, session: session.session }, "Jane");
});

test("mails no six digits while the link is locked, because the page refuses them", async () => {
  const jane = await signer();
  await lock(jane.link, 0);
  await at(1).sendCode(jane.link, browser);
  await lastEntry(jane);
  const mail = running.mailsTo(jane.email).at(-1) ?? "";
  assert.match(mail, /Too many wrong codes were entered/);
  assert.doesNotMatch(mail, /\b\d{6}\b|Enter this code/);
});

test("mails the six digits of a texted code in test again after the lock has expired", async () => {
  const jane = await signer();
  const byText = sql`auth = 'text_code', phone = '+442071838750'`;
  await changeSigners(running.db, byText, sql`email = ${jane.email}`);
  await lock(jane.link, -day - 1);
  await running.ceremony.sendCode(jane.link, browser);
  const code = signingCode(running.deps.secrets, await codeIdOf(jane.code));
  await until(() => running.mailsTo(jane.email).some((mail) => mail.includes(code)));
  assert.ok(await running.ceremony.identify(jane.link, code, browser));
});

/** How often the trail records that the order's signer was reminded. */
async function reminders(code: string): Promise<number> {
  const rows = await running.db.query(sql`
    SELECT FROM envelope_events t JOIN envelopes e ON e.id = t.envelope_id JOIN orders o ON o.id = e.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND t.record::json ->> 'event' = 'reminded'`);
  return rows.length;
}

test("reminds a signer again as soon as the lock has expired", async () => {
  const jane = await signer();
  const [row] = await running.db.query<{ partnerId: string }>(sql`
    SELECT partner_id AS "partnerId" FROM orders WHERE ${isSealed(sql`code`, "order", jane.code)}`);
  const owner = { partnerId: row?.partnerId ?? "", environment: "test" } as const;
  const by = { owner, orderCode: jane.code, n: 1, actor: "member" };
  const depsAt = (minutes: number) => ({ ...running.deps, clock: () => new Date(Date.now() + minutes * 60_000) });
  const lockedAt = 2 * day - 60;
  await lock(jane.link, lockedAt);
  await assert.rejects(remindSigner(depsAt(lockedAt + 60), by), { code: "conflict", message: /is locked/ });
  await sweepEnvelopes(depsAt(2 * day + 1));
  assert.equal(await reminders(jane.code), 0);
  await remindSigner(depsAt(lockedAt + day + 1), by);
  assert.equal(await reminders(jane.code), 1);
  await sweepEnvelopes(depsAt(5 * day + 1));
  assert.equal(await reminders(jane.code), 2);
});

test("wrong codes can't be tried against a locked link, however many codes were sent since", async () => {
  const jane = await signer();
  await lock(jane.link, 0);
  await at(1).sendCode(jane.link, browser);
  for (let n = 0; n < 20; n++)
    await assert.rejects(at(2).identify(jane.link, String(n).padStart(6, "0"), browser), { code: "conflict" });
});

test("an entry link opens only its own link, once, until another code is sent or ten minutes are over", async () => {
  const [jane, zoe] = [await signer(), await signer()];
  for (const { link } of [jane, zoe]) await running.ceremony.sendCode(link, browser);
  const [first, other] = [await lastEntry(jane), await lastEntry(zoe)];
  for (const wrong of [other, "", "x".repeat(40), `${first}0`, first.toUpperCase()])
    if (wrong !== first) assert.equal(await running.ceremony.enter(jane.link, wrong, browser), null, wrong);
  assert.equal(await at(11).enter(jane.link, first, browser), null, "after ten minutes");
  await at(2).sendCode(jane.link, browser);
  const second = await lastEntry(jane);
  assert.equal(await at(2).enter(jane.link, first, browser), null, "another code was sent");
  assert.ok(await at(3).enter(jane.link, second, browser));
  assert.equal(await at(3).enter(jane.link, second, browser), null, "it was used");
  for (let n = 0; n < 50; n++) assert.equal(await at(4).enter(jane.link, "f".repeat(40), browser), null);
  assert.equal((await at(4).view(jane.link)).state, "identify", "wrong ways in lock nothing");
});

const accessCode = { auth: "access_code", access_code: "elm street 12" };

test("a stranger who locks an access code cannot lock out a signer with the mailbox, and can guess no more codes", async () => {
  const jane = await signer(accessCode);
  await assert.rejects(running.ceremony.sendCode(jane.link, browser), { code: "conflict" }, "nothing is locked");
  for (const start of [0, day]) {
    await lock(jane.link, start);
    assert.equal(await at(start + 1).sendCode(jane.link, browser), "mailed");
    const entry = await lastEntry(jane);
    const later = at(start + 2);
    for (const wrong of ["0".repeat(40), "", `${entry}0`])
      assert.equal(await later.enter(jane.link, wrong, browser, "elm street 12"), null, "the access code alone");
    assert.equal(await later.enter(jane.link, entry, browser), null, "the way in alone");
    assert.equal(await later.enter(jane.link, entry, browser, "elm street 11"), null);
    await assert.rejects(later.identify(jane.link, "elm street 12", browser), { code: "conflict" });
    const session = await later.enter(jane.link, entry, browser, " elm street 12 ");
    assert.ok(session);
    assert.equal((await later.view({ ...jane.link, session: session.session })).state, "ready");
    assert.equal((await later.view(jane.link)).state, "identify", "nobody has to unlock it");
  }
  const mail = running.mailsTo(jane.email).at(-1) ?? "";
  assert.match(mail, /A link to open/);
  assert.doesNotMatch(mail, /\b\d{6}\b/, "no code");
});

test("three wrong access codes by the mailed entry link, at once or in turn, leave the link to the firm", async () => {
  const jane = await signer(accessCode);
  await lock(jane.link, 0);
  await at(1).sendCode(jane.link, browser);
  const entry = await lastEntry(jane);
  const tried = await Promise.all(
    Array.from({ length: 8 }, (_, n) => at(2).enter(jane.link, entry, browser, `elm street ${20 + n}`)),
  );
  assert.ok(tried.every((session) => session === null));
  assert.equal(await at(2).enter(jane.link, entry, browser, "elm street 12"), null, "the right one, too late");
  const view = await at(2).view(jane.link);
  assert.deepEqual([view.state, view.canSendWayIn], ["locked", false]);
  for (const minutes of [5, 3 * day])
    await assert.rejects(at(minutes).sendCode(jane.link, browser), { code: "conflict" }, "no other way in is sent");
});

test("mails no entry link to a completed envelope after too many wrong access codes", async () => {
  const jane = await signer(accessCode);
  const session = (await running.ceremony.identify(jane.link, "elm street 12", browser))?.session ?? assert.fail();
  await signBy(running.ceremony, { ...jane.link, session }, "Jane");
  for (let n = 0; n < 5; n++) assert.equal(await at(0).identify(jane.link, "no code", browser), null);
  assert.equal(await at(1).sendCode(jane.link, browser), "mailed");
  const entry = await lastEntry(jane);
  for (let n = 0; n < 3; n++) assert.equal(await at(2).enter(jane.link, entry, browser, "elm"), null);
  await assert.rejects(at(5).sendCode(jane.link, browser), { code: "rate_limited", message: /Try again tomorrow/ });
});

test("the page of an entry link to an access code asks for the code, and reports a wrong one", async () => {
  const jane = await signer(accessCode);
  await lock(jane.link, 0);
  const { baseUrl } = running.service;
  const headers = { Origin: baseUrl, Accept: "text/html" };
  const at_ = `${baseUrl}/sign/${jane.link.token}`;
  assert.match(await (await fetch(at_, { headers })).text(), /This link is locked.*Email me a link that opens it/s);
  const post = (path: string, form: Record<string, string>) =>
    fetch(`${at_}/${path}`, { method: "POST", headers, redirect: "manual", body: new URLSearchParams(form) });
  assert.equal((await post("code", {})).status, 303);
  const entry = await lastEntry(jane);
  const asked = await (await fetch(`${at_}/enter/${entry}`, { headers })).text();
  assert.match(asked, /Enter the access code that .*name="code"/s);
  const wrong = await post("enter", { entry, code: "elm" });
  assert.equal(wrong.status, 400);
  assert.equal((await post("enter", { entry, code: "elm street 12" })).status, 303);
});

test("the pages of a locked link mail an entry link, which viewing does not use up", async () => {
  const jane = await signer();
  const { baseUrl } = running.service;
  const ask = async (rest: string, form: Record<string, string> | null = null, cookie = "") => {
    const answer = await fetch(`${baseUrl}/sign/${jane.link.token}${rest}`, {
      headers: { Origin: baseUrl, Cookie: cookie, Accept: "text/html" },
      redirect: "manual",
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    return { status: answer.status, text: await answer.text(), cookie: answer.headers.get("set-cookie") ?? "" };
  };
  for (let n = 0; n < 5; n++) assert.equal((await ask("/identify", { code: "000000x" })).status, 400);
  assert.match((await ask("")).text, /This link is locked.*Email me a link that opens it/s);
  assert.equal((await ask("/code", {})).status, 303);
  const entry = await lastEntry(jane);
  for (let n = 0; n < 3; n++) {
    const shown = await ask(`/enter/${entry}`);
    assert.equal(shown.status, 200);
    assert.match(shown.text, /Press the button to see the document/);
    assert.equal(shown.cookie, "");
  }
  const wrong = await ask("/enter", { entry: "0".repeat(40) });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /Use the newest message/);
  const entered = await ask("/enter", { entry });
  assert.equal(entered.status, 303);
  const [cookie = ""] = entered.cookie.split(";");
  assert.match((await ask("", null, cookie)).text, /Before you sign/);
  assert.equal((await ask("/enter", { entry })).status, 400, "it was used");
  assert.equal((await ask(`/enter/${entry}`, null, cookie)).status, 303, "a browser that is in goes on");
});

test("texts a longer code to the phone of a signer whose link a stranger locked after the day's texts, and no link", async () => {
  const jane = await signer();
  const byText = sql`auth = 'text_code', phone = '+442071838750'`;
  await changeSigners(running.db, byText, sql`email = ${jane.email}`);
  await makeLive(running, jane.code);
  const sent: string[] = [];
  const texts = {
    send: async ({ text }: { text: string }) => {
      sent.push(text);
      return "sent" as const;
    },
    reaches: () => true,
  };
  const phoneAt = (minutes: number) =>
    running.ceremonyWith({
      texts,
      clock: () => new Date(Date.now() + minutes * 60_000),
      consentTexts: withoutTexts,
    });
  for (let n = 0; n < 10; n++) assert.equal(await phoneAt(2 * n).sendCode(jane.link, browser), "texted");
  await assert.rejects(phoneAt(30).sendCode(jane.link, browser), { code: "rate_limited" });
  await lock(jane.link, 40);
  for (let n = 0; n < 3; n++) assert.equal(await phoneAt(50 + 2 * n).sendCode(jane.link, browser), "texted");
  await assert.rejects(phoneAt(60).sendCode(jane.link, browser), { code: "rate_limited" });
  assert.ok(
    sent.every((text) => !text.includes("/sign/") && !text.includes(jane.link.token)),
    "the phone alone opens nothing",
  );
  const last = /^[a-z2-9]{12}(?= is your code)/.exec(sent.at(-1) ?? "")?.[0] ?? assert.fail(sent.at(-1));
  const entry = signingEntry(running.deps.secrets, await codeIdOf(jane.code));
  for (const wrong of ["", entry, last.slice(0, 11), `${last}a`, "a".repeat(12)])
    assert.equal(await phoneAt(290).enter(jane.link, wrong, browser), null, wrong);
  await assert.rejects(phoneAt(295).identify(jane.link, last, browser), { code: "conflict" });
  // Some keyboards for Chinese and Japanese type letters and digits in full width.
  const wide = last.slice(8).replaceAll(/./g, (character) => String.fromCodePoint(character.charCodeAt(0) + 0xfee0));
  const typed = `${last.slice(0, 4).toUpperCase()} ${last.slice(4, 8)}-${wide}`;
  assert.ok(await phoneAt(300).enter(jane.link, typed, browser));
});
