import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { canonicalJson } from "@signsealship/evidence/manifest";
import { wholeFile } from "@signsealship/testing/blobs";
import { newClient } from "@signsealship/testing/client";
import { startTelnyx } from "@signsealship/testing/doubles/telnyx";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { authenticate, changeOrder, changeSigners, makeLive } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { issueKey } from "../../../../src/firms/partners/partners.ts";
import { openBlobs } from "../../../../src/kernel/platform/blobs/blobs.ts";
import { folderBackend } from "../../../../src/kernel/platform/blobs/folder.ts";
import { sweepOrphans } from "../../../../src/kernel/platform/blobs/orphans.ts";
import type { MemoryBudget } from "../../../../src/kernel/platform/bounds/memory-budget.ts";
import { systemClock } from "../../../../src/kernel/platform/clock.ts";
import type { Sql } from "../../../../src/kernel/platform/database/database.ts";
import { isSealed, type Statement, sealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { AlteredRecordError } from "../../../../src/kernel/platform/errors.ts";
import { openSecretsKey } from "../../../../src/kernel/platform/secrets.ts";
import { sign } from "../../../../src/signing/envelopes/ceremony/sign.ts";
import { sweepTexts } from "../../../../src/signing/envelopes/ceremony/text-code.ts";
import {
  followOverdue,
  type Link,
  openConsentTexts,
  sweepEnvelopes,
} from "../../../../src/signing/envelopes/envelopes.ts";
import { mailForgotten, mailNotarized } from "../../../../src/signing/envelopes/lifecycle/notarized.ts";
import { openEnvelope } from "../../../../src/signing/envelopes/lifecycle/open.ts";
import { paperWishes } from "../../../../src/signing/envelopes/records/signing.ts";
import { blobTables } from "../../../../src/upkeep/protected-data.ts";
import { browser, consentText, openCeremonyService, signBy, withoutTexts } from "./ceremony-service.ts";

const telnyx = await forTests(startTelnyx());
const running = await forTests(
  openCeremonyService({
    TELNYX_API_KEY: telnyx.apiKey,
    TELNYX_API_BASE: telnyx.url,
    TELNYX_SMS_FROM: "+13125550100",
    TELNYX_SMS_COUNTRIES: "US,GB",
  }),
);

const people = (...names: string[]) =>
  names.map((name) => ({ name, email: `${name.toLowerCase()}-${unique++}@example.com` }));
let unique = 1;
const orderOf = async (code: string) =>
  running.client.ok<{ status: string; envelopeStatus: string }>("GET", `/api/partner/orders/${code}`);

const later = (hours: number) => () => new Date(Date.now() + hours * 3600_000);
const mailBody = (mail = "") => mail.split("\r\n\r\n").slice(1).join("\n");

/** The records of the trails of an order. Asserts that each contains the hash of the preceding record. */
async function readTrail(db: Sql, code: string) {
  const rows = await db.query<{ record: string; sha256: string }>(sql`
    SELECT record, t.sha256 FROM envelope_events t JOIN envelopes e ON e.id = t.envelope_id
      JOIN orders o ON o.id = e.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY e.attempt, t.position`);
  return rows.map(({ record }, index) => {
    const read = JSON.parse(record) as { event: string; position: number; previousSha256: string | null };
    assert.equal(read.previousSha256, read.position === 1 ? null : rows[index - 1]?.sha256);
    return read;
  });
}

test("two signers sign one after the other, and the order is signed and sealed after the last", async () => {
  const [jane, john] = people("Jane", "John");
  assert.ok(jane && john);
  const code = await running.order([jane, { ...john, routing: 2 }]);
  const first = await running.linkOf(jane.email);
  assert.equal((await orderOf(code)).envelopeStatus, "Sent");
  assert.deepEqual(running.mailsTo(john.email), [], "it is not his turn yet");
  const view = await running.ceremony.view(first);
  assert.deepEqual([view.state, view.signer.name, view.signers.length], ["ready", "Jane", 2]);
  await running.ceremony.opened(first, browser);
  assert.equal((await orderOf(code)).envelopeStatus, "Viewed");
  assert.deepEqual(await signBy(running.ceremony, first, "Jane"), { outcome: "signed", completed: false });
  assert.equal((await orderOf(code)).envelopeStatus, "PartiallySigned");
  assert.equal((await running.ceremony.view(first)).state, "signed");
  const second = await running.linkOf(john.email);
  assert.deepEqual(await signBy(running.ceremony, second, "John"), { outcome: "signed", completed: true });
  const { status, envelopeStatus } = await orderOf(code);
  assert.deepEqual([status, envelopeStatus], ["EsignComplete", "Completed"]);
  assert.equal((await running.ceremony.view(second)).state, "completed");
});

test("an altered time zone of the firm closes the page only of a signer who may sign now", async () => {
  const firm = await newPartner(running.service);
  const [jane, john] = people("Jane", "John");
  assert.ok(jane && john);
  const client = newClient(running.service.baseUrl, firm.key, (status) => status < 300);
  const fields = { ...minimal, svc_sign: "true", signers: JSON.stringify([jane, { ...john, routing: 2 }]) };
  const { orderCode } = await client.ok<{ orderCode: string }>("POST", "/api/partner/orders", orderForm(fields));
  await client.ok("POST", `/api/partner/sandbox/orders/${orderCode}/checkout`);
  const { ceremony, db } = running;
  const first = await running.linkOf(jane.email);
  await signBy(ceremony, first, "Jane");
  const second = await running.linkOf(john.email);
  const content = { name: "Acme Title", address: [], zone: "Asia/Tokyo" };
  const forge = () =>
    db.query(sql`
      INSERT INTO billing_parties (partner_id, content, created_by, created_at)
      VALUES (${firm.partnerId}, ${content}, 'x', now())`);
  await forge();
  assert.equal((await ceremony.view(first)).state, "signed");
  await assert.rejects(ceremony.view(second), { code: "unavailable" });
  await db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    await tx.query(sql`DELETE FROM billing_parties WHERE partner_id = ${firm.partnerId}`);
  });
  await signBy(ceremony, second, "John");
  await forge();
  for (const link of [first, second]) {
    const { state, copies } = await ceremony.view(link);
    assert.equal(state, "completed");
    for (const { kind } of copies) await wholeFile(await ceremony.copy(link, kind));
  }
});

test("a signer’s link also opens the document that a notary completed afterwards", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane], { svc_notary: "true" });
  const link = await running.linkOf(jane.email);
  const { ceremony } = running;
  assert.deepEqual(await signBy(ceremony, link, "Jane"), { outcome: "signed", completed: true });
  const copies = async () => (await ceremony.view(link)).copies.map(({ kind }) => kind);
  await until(async () => (await copies()).length === 2);
  assert.deepEqual(await copies(), ["sealed", "custody_certificate"]);
  await assert.rejects(ceremony.copy(link, "notarized"), { code: "conflict" });
  await running.client.ok("POST", `/api/partner/sandbox/orders/${code}/advance`);
  assert.deepEqual(await copies(), ["notarized", "sealed", "custody_certificate"]);
  const notarized = await wholeFile(await ceremony.copy(link, "notarized"));
  assert.notDeepEqual(notarized, await wholeFile(await ceremony.copy(link, "sealed")));
  const { verifyCode } = await ceremony.view(link);
  const page = await (await fetch(`${running.service.baseUrl}/v/envelope/${verifyCode}`)).text();
  const sha256 = createHash("sha256").update(notarized).digest("hex");
  assert.ok(page.includes(sha256), "the page of the signing names it");
  for (const wasSignedAgain of [async () => true, () => Promise.reject(new AlteredRecordError())]) {
    const again = running.ceremonyWith({ wasSignedAgain });
    assert.deepEqual(
      (await again.view(link)).copies,
      [{ kind: "notarized", isSimulated: true }],
      "the earlier signed copy counts no more",
    );
    await assert.rejects(again.copy(link, "sealed"), { code: "conflict" });
  }
});

test("a firm lists and ends links to copies with its key: without secrets, with the right scope, and only its own", async () => {
  const [jane, john] = people("Jane", "John");
  assert.ok(jane && john);
  const code = await running.order([jane, john]);
  type Answer = { links?: { linkId: string; n: number; name: string; email: string }[]; error?: string };
  const ask = async (method: string, path: string, headers: Record<string, string> = running.headers) => {
    const answer = await fetch(`${running.service.baseUrl}/api/partner/orders/${path}`, { method, headers });
    return { status: answer.status, text: await answer.text() };
  };
  const linksOf = ({ text }: { text: string }) => (JSON.parse(text) as Answer).links;
  const list = `${code}/copy-links`;
  assert.deepEqual(linksOf(await ask("GET", list)), [], "people still sign");
  assert.equal((await ask("DELETE", `${list}/1-1`)).status, 404);
  const { ceremony } = running;
  const links = [await running.linkOf(jane.email), await running.linkOf(john.email)];
  for (const [index, link] of links.entries()) await signBy(ceremony, link, `Name ${index}`);
  const listed = await ask("GET", list);
  assert.deepEqual(
    linksOf(listed)?.map(({ linkId, n, name, email }) => ({ linkId, n, name, email })),
    [
      { linkId: "1-1", n: 1, ...jane },
      { linkId: "1-2", n: 2, ...john },
    ],
  );
  for (const { token } of links) assert.ok(!listed.text.includes(token), "no link's address");

  const keys = { db: running.db, clock: systemClock, rowMac: running.deps.rowMac };
  const wanted = { actor: "operator", scopes: ["read"], name: "Reports" } as const;
  const [firm] = await running.db.query<{ id: string }>(sql`
    SELECT partner_id AS id FROM orders o WHERE ${isSealed(sql`o.code`, "order", code)}`);
  const { key } = await issueKey(keys, firm?.id ?? "", "test", wanted);
  const reader = { Authorization: `Bearer ${key}` };
  assert.equal((await ask("GET", list, reader)).status, 200);
  assert.equal((await ask("DELETE", `${list}/1-2`, reader)).status, 403);
  const { headers: stranger } = await newPartner(running.service);
  assert.equal((await ask("GET", list, stranger)).status, 404);
  assert.equal((await ask("DELETE", `${list}/1-2`, stranger)).status, 404);
  for (const unknown of ["1-3", "2-2", "1", "1-2-2", "x", "-", "1-02x"])
    assert.equal((await ask("DELETE", `${list}/${unknown}`)).status, 404, unknown);
  assert.equal((await ask("GET", `${"0".repeat(40)}/copy-links`)).status, 404);
  assert.equal((await ceremony.view(links[1] as Link)).state, "completed", "no refused request ended the link");

  const ended = await Promise.all([1, 2, 3].map(() => ask("DELETE", `${list}/1-2`)));
  assert.deepEqual(ended.map(({ status }) => status).sort(), [200, 404, 404], "concurrent requests end it once");
  await assert.rejects(ceremony.view(links[1] as Link), { code: "not_found" });
  assert.equal((await ceremony.view(links[0] as Link)).state, "completed");
  assert.deepEqual(
    linksOf(await ask("GET", list))?.map(({ linkId }) => linkId),
    ["1-1"],
  );
});

test("an invalid or replaced link is not found, and viewing changes nothing", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane]);
  const link = await running.linkOf(jane.email);
  for (const token of ["", "x", "0".repeat(40), link.token.toUpperCase()])
    await assert.rejects(running.ceremony.view({ token, session: null }), { code: "not_found" });
  const trail = () => readTrail(running.db, code);
  const before = await trail();
  for (let n = 0; n < 100; n++) {
    await running.ceremony.view(link);
    await running.ceremony.document(link);
  }
  assert.deepEqual(await trail(), before);
  assert.equal((await orderOf(code)).envelopeStatus, "Sent");
});

test("nobody signs without consent, out of turn, another revision, twice, or with a broken mark", async () => {
  const [jane, john] = people("Jane", "John");
  assert.ok(jane && john);
  await running.order([jane, john]);
  const [one, two] = [await running.linkOf(jane.email), await running.linkOf(john.email)];
  const mark = { kind: "typed", text: "Jane" } as const;
  const request = { revision: 1, mark, values: new Map<string, string>() };
  const { ceremony } = running;
  await assert.rejects(ceremony.sign(one, request, browser), { code: "conflict", message: /Agree/ });
  await ceremony.consent(one, consentText, browser);
  assert.deepEqual(await ceremony.sign(one, { ...request, revision: 0 }, browser), { outcome: "again" });
  for (const bad of [
    { kind: "typed", text: " " },
    { kind: "typed", text: "x".repeat(101) },
    { kind: "typed", text: "a\u0000" },
    { kind: "drawn", width: 10, height: 10, strokes: [] },
    { kind: "drawn", width: 10, height: Number.NaN, strokes: [[[1, 1]]] },
    { kind: "drawn", width: 10, height: 10, strokes: [[[11, 1]]] },
    { kind: "drawn", width: 10, height: 10, strokes: new Array(201).fill([[1, 1]]) },
  ] as const)
    await assert.rejects(ceremony.sign(one, { ...request, mark: bad }, browser), { code: "validation" });
  await assert.rejects(ceremony.sign(one, { ...request, values: new Map([["another's", "x"]]) }, browser), {
    code: "conflict",
  });
  assert.deepEqual(await ceremony.sign(one, request, browser), { outcome: "signed", completed: false });
  assert.deepEqual(await ceremony.sign(one, request, browser), { outcome: "signed", completed: false });
  assert.deepEqual(await ceremony.sign(two, request, browser).catch(({ code }) => code), "conflict");
  await ceremony.consent(two, consentText, browser);
  assert.deepEqual(await ceremony.sign(two, request, browser), { outcome: "again" });
  assert.deepEqual(await ceremony.sign(two, { ...request, revision: 2 }, browser), {
    outcome: "signed",
    completed: true,
  });
});

test("records no consent to a text that the page no longer shows, and repeats one that is on record", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane]);
  const link = await running.linkOf(jane.email);
  const consents = async () => (await readTrail(running.db, code)).filter(({ event }) => event === "consented").length;
  const texts = openConsentTexts();
  const current: typeof texts.current = (language) => ({ ...texts.current(language), version: "9" });
  const upgraded = running.ceremonyWith({ consentTexts: { ...texts, current } });
  const { version: closing } = texts.ofClosing("en");
  const { version: presence } = texts.inPresence("en");
  for (const version of ["1", consentText.version, closing, presence, "10"])
    assert.deepEqual(
      await upgraded.consent(link, { version, language: "en" }, browser),
      { outcome: "changed" },
      version,
    );
  assert.equal(await consents(), 0);
  for (const each of [running.ceremony, upgraded])
    assert.deepEqual(await each.consent(link, consentText, browser), { outcome: "consented" });
  assert.equal(await consents(), 1);
  assert.equal((await upgraded.view(link)).consent?.version, consentText.version);
});

test("a code is required first if the order says so; the fifth wrong one locks the link", async () => {
  const [jane, john] = people("Jane", "John");
  assert.ok(jane && john);
  const signers = [
    { ...jane, auth: "mail_code" },
    { ...john, auth: "access_code", access_code: "Blue Heron" },
  ];
  await running.order(signers);
  const [byMail, byAccess] = [await running.linkOf(jane.email), await running.linkOf(john.email)];
  const { ceremony } = running;
  assert.deepEqual(await Promise.all([byMail, byAccess].map(async (link) => (await ceremony.view(link)).state)), [
    "identify",
    "identify",
  ]);
  await assert.rejects(ceremony.document(byMail), { code: "conflict" });
  await assert.rejects(ceremony.consent(byMail, consentText, browser), { code: "conflict" });
  await ceremony.sendCode(byMail, browser);
  await assert.rejects(ceremony.sendCode(byMail, browser), { code: "rate_limited", message: /in a minute/ });
  const code = await until(() => /\b\d{6}\b/.exec(mailBody(running.mailsTo(jane.email).at(-1)))?.[0]);
  assert.equal(await ceremony.identify(byMail, code === "000000" ? "000001" : "000000", browser), null);
  const session = await ceremony.identify(byMail, ` ${code.slice(0, 3)} ${code.slice(3)}`, browser);
  assert.ok(session);
  const identified = { ...byMail, session: session.session };
  assert.equal((await ceremony.view(identified)).state, "ready");
  assert.equal((await ceremony.view({ ...byMail, session: "a".repeat(52) })).state, "identify");
  assert.equal((await running.openAt(later(13)).view(identified)).state, "identify", "a session ends after 12 hours");
  for (let n = 0; n < 5; n++) assert.equal(await ceremony.identify(byAccess, "blue herring", browser), null);
  assert.equal((await ceremony.view(byAccess)).state, "locked");
  await assert.rejects(ceremony.identify(byAccess, "Blue Heron", browser), { code: "conflict", message: /Too many/ });
  assert.equal((await running.openAt(later(48)).view(byAccess)).state, "locked", "an access code may be easy to guess");
});

test("a code by text message is sent to the signer's number, and the page reports failures", async () => {
  const [jane, john] = people("Jane", "John");
  assert.ok(jane && john);
  const phone = "212 555 0142";
  const code = await running.order([
    { ...jane, auth: "text_code", phone },
    { ...john, auth: "text_code", phone },
  ]);
  const [{ token }, byJohn] = [await running.linkOf(jane.email), await running.linkOf(john.email)];
  // From here on, the order's text messages are those of a live order.
  await makeLive(running, code);
  const { baseUrl } = running.service;
  const ask = async (of: string, act = "", form: Record<string, string> | null = {}) => {
    const sent = { method: "POST", headers: { Origin: baseUrl }, body: new URLSearchParams(form ?? {}) };
    const answer = await fetch(`${baseUrl}/sign/${of}${act}`, form === null ? {} : sent);
    return { status: answer.status, text: await answer.text() };
  };
  assert.match((await ask(token, "", null)).text, /number ending in 42/);
  for (const [failure, status, words] of [
    [{ status: 402 }, 503, /could not be sent just now/],
    [{ status: 400, code: "40300" }, 409, /can’t receive text messages/],
  ] as const) {
    telnyx.fail(failure, /messages/);
    const refused = await ask(token, "/code");
    assert.equal(refused.status, status);
    assert.match(refused.text, words);
  }
  assert.equal((await ask(token, "/code")).status, 429, "what a number refused counts: asking costs");
  // Simulates that a minute has passed.
  await running.db.query(sql`DELETE FROM signing_texts`);
  assert.match((await ask(token, "/code")).text, /We sent you a text message/);
  assert.deepEqual(
    telnyx.messages.map(({ from, to }) => ({ from, to })),
    [{ from: "+13125550100", to: "+12125550142" }],
  );
  assert.equal((await ask(byJohn.token, "/code")).status, 429, "one a minute for a number, whoever asks");
  const [digits = ""] = /\d{6}/.exec(telnyx.messages[0]?.text ?? "") ?? [];
  assert.equal((await ask(token, "/identify", { code: digits === "000000" ? "000001" : "000000" })).status, 400);
  const session = await running.ceremony.identify({ token, session: null }, digits, browser);
  assert.ok(session);
  await signBy(running.ceremony, { token, session: session.session }, "Jane");
  // Simulates that a minute has passed.
  await running.db.query(sql`DELETE FROM signing_texts`);
  await ask(byJohn.token, "/code");
  const ofJohn = await running.ceremony.identify(
    byJohn,
    /\d{6}/.exec(telnyx.messages[1]?.text ?? "")?.[0] ?? "",
    browser,
  );
  const done = await signBy(running.ceremony, { ...byJohn, session: ofJohn?.session ?? null }, "John");
  assert.deepEqual(done, { outcome: "signed", completed: true });
  const trail = await readTrail(running.db, code);
  const said = canonicalJson(trail);
  assert.match(said, /code by text message to a number ending 42/);
  assert.ok(!said.includes("5550142"), "no record shows the number");
  assert.equal(trail.filter(({ event }) => event === "code_sent").length, 2, "what was not sent is not said to be");
  const log = running.service.stdout() + running.service.stderr();
  assert.ok(!log.includes(digits) && !log.includes("5550142"));
});

test("a number gets ten texts a day", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([{ ...jane, auth: "text_code", phone: "+442071838750" }]);
  const link = await running.linkOf(jane.email);
  await makeLive(running, code);
  const sent: string[] = [];
  const texts = {
    send: async ({ text }: { text: string }) => {
      sent.push(text);
      return "sent" as const;
    },
    reaches: () => true,
  };
  const askAt = (minutes: number) => {
    const consentTexts = withoutTexts;
    return running.ceremonyWith({ texts, clock: later(minutes / 60), consentTexts }).sendCode(link, browser);
  };
  for (let n = 0; n < 10; n++) assert.equal(await askAt(2 * n), "texted");
  await assert.rejects(askAt(30), { code: "rate_limited", message: /tomorrow/ });
  assert.equal(sent.length, 10);
  assert.equal(await askAt(24 * 60 + 1), "texted");
  await sweepTexts(running.db, later(49)());
  assert.deepEqual(
    await running.db.query(sql`SELECT FROM signing_texts`),
    [],
    "no number is kept once its day is over",
  );
});

test("texts per day are limited for an order, a firm and the service, whatever the number; other countries get none", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([{ ...jane, auth: "text_code", phone: "2125550155" }]);
  const link = await running.linkOf(jane.email);
  await makeLive(running, code);
  const other = await running.order([jane]);
  const [sent, consentTexts] = [async () => "sent" as const, withoutTexts];
  const ask = (reaches: boolean) => {
    const texts = { send: sent, reaches: () => reaches };
    return running.ceremonyWith({ texts, consentTexts }).sendCode(link, browser);
  };
  await assert.rejects(ask(false), { code: "conflict", message: /this country/ });
  await newPartner(running.service);
  for (const [times, of, firm, words] of [
    [50, code, sql`partner_id`, /for this document today/],
    [300, other, sql`partner_id`, /for the sender today/],
    [2000, other, sql`(SELECT id FROM partners WHERE id <> orders.partner_id LIMIT 1)`, /by text message today/],
  ] as const) {
    await running.db.query(sql`DELETE FROM signing_texts`);
    await running.db.query(sql`
      INSERT INTO signing_texts (phone, order_id, partner_id, sent_at)
      SELECT '+1312555' || n, id, ${firm}, now() FROM orders, generate_series(1000, 999 + ${times}::int) n WHERE ${isSealed(sql`code`, "order", of)}`);
    await assert.rejects(ask(true), { code: "rate_limited", message: words });
    await running.db.query(sql`DELETE FROM signing_texts WHERE phone = '+13125551000'`);
  }
  assert.equal(await ask(true), "texted", "with one less");
  await running.db.query(sql`DELETE FROM signing_texts`);
  await assert.rejects(
    running.order([{ ...jane, auth: "text_code", phone: "+33612345678" }]),
    /phone must be a number of a country/,
  );
});

test("no text is sent for a test order: its code is stored with the mails", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  await running.order([{ ...jane, auth: "text_code", phone: "2125550177" }]);
  const link = await running.linkOf(jane.email);
  const had = telnyx.messages.length;
  await running.ceremony.sendCode(link, browser);
  const mail = await until(() => running.mailsTo(jane.email).find((each) => /number ending 77/.test(mailBody(each))));
  assert.match(mailBody(mail), /\b\d{6}\b/);
  assert.equal(telnyx.messages.length, had);
});

test("a signer who declines ends it for all: the order is declined, links say so, and it can be reissued", async () => {
  const [jane, john] = people("Jane", "John");
  assert.ok(jane && john);
  const code = await running.order([jane, john]);
  const [one, two] = [await running.linkOf(jane.email), await running.linkOf(john.email)];
  const { ceremony } = running;
  await signBy(ceremony, one, "Jane");
  await ceremony.propose(two, { name: "Joan", email: "joan@example.com" }, browser);
  await ceremony.decline(two, { kind: "paper", reason: "I have no printer" }, browser);
  const declined = await orderOf(code);
  assert.deepEqual([declined.status, declined.envelopeStatus], ["EsignDeclined", "Declined"]);
  assert.deepEqual([(await ceremony.view(one)).state, (await ceremony.view(two)).state], ["declined", "declined"]);
  assert.deepEqual([(await ceremony.view(one)).askedForPaper, (await ceremony.view(two)).askedForPaper], [false, true]);
  const ended = (email: string) =>
    until(() => {
      const bodies = running.mailsTo(email).map((mail) => mailBody(mail).replace(/\s+/g, " "));
      return bodies.find((body) => /has ended for everybody/.test(body));
    });
  assert.match(await ended(john.email), /you want to sign on paper, and .+ arranges it with you/);
  assert.match(await ended(jane.email), /A signer asked to sign .+ on paper/);
  await assert.rejects(ceremony.decline(one, { kind: "declined", reason: "" }, browser), { code: "conflict" });
  await running.service.cli("order", "move", code, "EsignPending");
  const again = await until(async () => {
    const link = await running.linkOf(jane.email);
    return link.token === one.token ? null : link;
  });
  assert.equal((await ceremony.view(again)).state, "ready");
  assert.equal((await ceremony.view(one)).state, "declined");
});

test("a wish for paper with a long reason is one in the API, on the client's page and in the firm's mails", async () => {
  const [jane, john] = people("Jane", "John");
  assert.ok(jane && john);
  const code = await running.order([jane, john]);
  const link = await running.linkOf(john.email);
  await running.ceremony.decline(link, { kind: "paper", reason: "I have no printer. ".repeat(20) }, browser);
  type Signers = { signers: { status: string; wantsPaper?: true }[] };
  const { signers } = await running.client.ok<Signers>("GET", `/api/partner/orders/${code}/signers`);
  assert.deepEqual(
    signers.map(({ status, wantsPaper }) => [status, wantsPaper]),
    [
      ["sent", undefined],
      ["declined", true],
    ],
  );
  for (const [language, says] of [
    ["en", /wants to sign on paper[\s\S]*Wants to sign on paper/],
    ["es", /quiere firmar en papel[\s\S]*Quiere firmar en papel/],
  ] as const) {
    const page = await (await fetch(`${running.service.baseUrl}/orders/${code}?lang=${language}`)).text();
    assert.match(page, says);
    assert.doesNotMatch(page, /declined|rechazad/i);
  }
  const [order] = await running.db.query<{ id: number }>(sql`
    SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  assert.deepEqual([...(await paperWishes(running.db, [order?.id ?? 0]))], [order?.id]);
  await running.service.cli("order", "move", code, "EsignPending");
  await until(async () => (await paperWishes(running.db, [order?.id ?? 0])).size === 0);
});

test("an envelope ends in its trail as its order does", async () => {
  for (const [status, event, outcome] of [
    ["EsignDeclined", "declined", "Declined"],
    ["EsignExpired", "expired", "Expired"],
  ] as const) {
    const [jane] = people("Jane");
    assert.ok(jane);
    const code = await running.order([jane]);
    await running.linkOf(jane.email);
    await running.service.cli("order", "move", code, status, "--reason", "The firm asked for it.");
    const ended = () =>
      running.db.query<{ id: number; outcome: string | null }>(sql`
        SELECT e.id, e.outcome FROM envelopes e JOIN orders o ON o.id = e.order_id
        WHERE ${isSealed(sql`o.code`, "order", code)} AND e.ended_at IS NOT NULL`);
    const [envelope] = await until(async () => ((await ended()).length > 0 ? ended() : null));
    assert.deepEqual([(await readTrail(running.db, code)).at(-1)?.event, envelope?.outcome], [event, outcome]);
  }
});

test("a slow signer is reminded on days 2 and 5, and after 30 days the envelope has expired", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane]);
  const link = await running.linkOf(jane.email);
  const events = async () => (await readTrail(running.db, code)).map(({ event }) => event);
  for (const days of [1, 2.1, 2.1, 4, 5.1, 30.1]) await sweepEnvelopes({ ...running.deps, clock: later(24 * days) });
  assert.deepEqual(await events(), ["created", "link_issued", "reminded", "reminded", "expired"]);
  const expired = await orderOf(code);
  assert.deepEqual([expired.status, expired.envelopeStatus], ["EsignExpired", "Expired"]);
  assert.equal((await running.ceremony.view(link)).state, "expired");
  await until(() => running.mailsTo(jane.email).some((mail) => mail.includes("has expired")));
});

test("a reminder for a live order waits for the morning, and is in the trail only then", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane]);
  await running.linkOf(jane.email);
  await makeLive(running, code);
  const { deps } = running;
  const atHour = (hours: number, nightMs: number) =>
    sweepEnvelopes({ ...deps, clock: later(hours), reach: { ...deps.reach, untilMorning: async () => nightMs } });
  const reminded = async () => (await readTrail(running.db, code)).filter(({ event }) => event === "reminded");
  await atHour(49, 3 * 3_600_000);
  assert.deepEqual(await reminded(), []);
  await atHour(51, 0);
  assert.deepEqual(await reminded(), []);
  await atHour(53, 0);
  assert.equal((await reminded()).length, 1);
});

/**
 * Waits until no mail about a notarized document is due soon, and deletes the delayed mails.
 * @returns the number of such mails that the person got, and for each deleted mail the hours until it was due
 */
async function toldOf(email: string) {
  await until(async () => {
    // Jobs that are due within five minutes include the running ones: the due time of a running job is the end of its
    // lease, which lasts half a minute.
    const due = sql`SELECT FROM jobs WHERE queue = ANY ('{notarized,notarized-notice,signing-mail}') AND due_at <= now() + interval '5 minutes'`;
    return (await running.db.query(due)).length === 0;
  });
  const later = await running.db.query<{ hours: number }>(sql`
    DELETE FROM jobs WHERE queue = 'signing-mail' AND payload ->> 'moment' = 'notarized' RETURNING round(extract(epoch FROM due_at - now()) / 3600)::int AS hours`);
  const told = running.mailsTo(email).filter((mail) => /Subject: .*is notarized/.test(mail));
  return [told.length, ...later.map(({ hours }) => hours)];
}

test("a mail about a live document that an operator took in at night waits for the morning", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane], { svc_notary: "true" });
  await signBy(running.ceremony, await running.linkOf(jane.email), "Jane");
  const scan = join(running.service.dataDir, "notarized.pdf");
  writeFileSync(scan, makePdf({ text: "Notarized" }));
  await running.service.cli("order", "move", code, "NotarizationComplete", "--document", scan);
  assert.deepEqual(await toldOf(jane.email), [1], "a test order's mail is only stored, so nobody is woken");
  await makeLive(running, code);
  const { deps } = running;
  const reach = { ...deps.reach, untilMorning: async () => 3 * 3_600_000 };
  const [order] = await running.db.query<{ id: number }>(sql`
    SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  await mailNotarized({ ...deps, reach }, order?.id ?? 0);
  assert.deepEqual(await toldOf(jane.email), [1], "the job does nothing when it runs again");
  // Simulates a node of an earlier release, which recorded no mails.
  await running.db.query(sql`DELETE FROM notarized_mails`);
  await mailForgotten({ ...deps, reach });
  assert.deepEqual(await toldOf(jane.email), [1], "the job of a document of now may still be waiting");
  await mailForgotten({ ...deps, reach, clock: later(1) });
  assert.deepEqual(await toldOf(jane.email), [1, 3]);
});

test("nobody is told that a document was notarized when the sandbox did it", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane], { svc_notary: "true" });
  await signBy(running.ceremony, await running.linkOf(jane.email), "Jane");
  await running.client.ok("POST", `/api/partner/sandbox/orders/${code}/advance`);
  const { documents } = await running.client.ok<{ documents: { kind: string }[] }>(
    "GET",
    `/api/partner/orders/${code}/documents`,
  );
  assert.ok(documents.some(({ kind }) => kind === "notarized"));
  assert.deepEqual(await toldOf(jane.email), [0]);
});

test("an order that is canceled, or signed in another way, ends its envelope", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane]);
  const link = await running.linkOf(jane.email);
  await running.client.ok("POST", `/api/partner/sandbox/orders/${code}/advance`);
  assert.equal((await running.ceremony.view(link)).state, "voided");
  await until(async () => (await readTrail(running.db, code)).at(-1)?.event === "voided");
  await assert.rejects(signBy(running.ceremony, link, "Jane"), { code: "conflict" });
});

test("an order whose job is missing gets its envelope later, and an order with an interrupted last act gets its seal", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane]);
  await running.linkOf(jane.email);
  const all = sql`SELECT id FROM envelopes WHERE order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`;
  await running.db.query(sql`UPDATE envelopes SET outcome = 'Voided', ended_at = now() WHERE id IN (${all})`);
  await authenticate(running, "envelopes");
  await followOverdue(running.deps);
  assert.equal((await running.db.query(all)).length, 1, "a job may still be under way");
  await followOverdue({ ...running.deps, clock: later(1) });
  assert.equal((await running.db.query(all)).length, 2);
  const link = await until(async () => {
    const found = await running.linkOf(jane.email);
    return (await running.ceremony.view(found)).state === "ready" ? found : null;
  });
  const sealDocument = () => Promise.reject(new Error("the key is away"));
  await running.ceremony.consent(link, consentText, browser);
  const cut = running.ceremonyWith({ sealDocument, consentTexts: withoutTexts });
  const mark = { kind: "typed", text: "Jane" } as const;
  const signed = await cut.sign(link, { revision: 1, mark, values: new Map() }, browser);
  assert.deepEqual(signed, { outcome: "signed", completed: false });
  assert.equal((await orderOf(code)).status, "EsignPending");
  await followOverdue({ ...running.deps, clock: later(1) });
  assert.equal((await orderOf(code)).status, "EsignComplete");
});

test("ten signers who press Sign concurrently have all signed, and the order is completed once", async () => {
  const signers = people(..."ABCDEFGHIJ");
  const code = await running.order(signers);
  const links = await Promise.all(signers.map(({ email }) => running.linkOf(email)));
  const outcomes = await Promise.all(links.map((link, n) => signBy(running.ceremony, link, `Signer ${n + 1}`)));
  assert.ok(outcomes.some(({ completed }) => completed));
  assert.equal((await orderOf(code)).status, "EsignComplete");
  const trail = await readTrail(running.db, code);
  assert.equal(trail.filter(({ event }) => event === "signed").length, 10);
  assert.equal(trail.filter(({ event }) => event === "sealed").length, 1);
});

/** Creates a key and signs with it, as the browser's script does. */
async function browserKey() {
  const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, [
    "sign",
  ]);
  const sign = { name: "ECDSA", hash: "SHA-256" };
  return {
    publicKey: new Uint8Array(await crypto.subtle.exportKey("spki", publicKey)),
    sign: async (bytes: Uint8Array) =>
      new Uint8Array(await crypto.subtle.sign(sign, privateKey, new Uint8Array(bytes))),
  };
}

test("a key that has signed for one signer can't sign for another of the envelope", async () => {
  const signers = people("Jane", "John");
  const code = await running.order(signers);
  const [key, own] = [await browserKey(), await browserKey()];
  const { ceremony } = running;
  const signWith = async (link: Link, { publicKey, sign }: typeof key) => {
    const { document } = await ceremony.view(link);
    const request = {
      revision: document?.revision ?? 0,
      mark: { kind: "typed", text: "X" },
      values: new Map(),
    } as const;
    const act = await ceremony.prepare(link, { ...request, publicKey }, browser);
    assert.ok(act.outcome === "prepared");
    return ceremony.complete(link, await sign(act.signedAttrs));
  };
  const [janes, johns] = await Promise.all(signers.map(({ email }) => running.linkOf(email)));
  assert.ok(janes && johns);
  for (const link of [janes, johns]) await ceremony.consent(link, consentText, browser);
  assert.deepEqual(await signWith(janes, key), { outcome: "signed", completed: false });
  await assert.rejects(signWith(johns, key), { code: "conflict" });
  assert.equal((await orderOf(code)).status, "EsignPending");
  assert.deepEqual(await signWith(johns, own), { outcome: "signed", completed: true });
});

test("a browser's key signs exactly the prepared act, and any other signature is refused", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane]);
  const link = await running.linkOf(jane.email);
  const { ceremony } = running;
  const [key, another] = [await browserKey(), await browserKey()];
  const mark = { kind: "typed", text: "Jane" } as const;
  const request = { revision: 1, mark, values: new Map<string, string>(), publicKey: key.publicKey };
  await assert.rejects(ceremony.prepare(link, request, browser), { code: "conflict", message: /Agree/ });
  await ceremony.consent(link, consentText, browser);
  assert.deepEqual(await ceremony.complete(link, new Uint8Array(64)), { outcome: "again" });
  const hybrid = key.publicKey.with(26, 6 + ((key.publicKey.at(-1) ?? 0) % 2));
  for (const publicKey of [new Uint8Array(0), new Uint8Array(91), key.publicKey.subarray(1), hybrid])
    await assert.rejects(ceremony.prepare(link, { ...request, publicKey }, browser), { code: "validation" });
  const act = await ceremony.prepare(link, request, browser);
  assert.ok(act.outcome === "prepared");
  const bytes = await wholeFile((await ceremony.document(link)).file);
  const signed = [bytes, act.tail.subarray(0, act.contentsStart), act.tail.subarray(act.contentsEnd)];
  const digest = createHash("sha256").update(Buffer.concat(signed)).digest();
  assert.ok(Buffer.from(act.signedAttrs).includes(digest));
  const actSha256 = createHash("sha256").update(canonicalJson(act.record)).digest("hex");
  assert.ok(Buffer.from(act.tail).includes(`/SSSActSha256<${actSha256}>`));
  const signature = await key.sign(act.signedAttrs);
  for (const forged of [
    new Uint8Array(64),
    new Uint8Array(0),
    signature.subarray(1),
    await another.sign(act.signedAttrs),
    await key.sign(digest),
  ])
    await assert.rejects(ceremony.complete(link, forged), { code: "validation" });
  assert.deepEqual(await running.openAt(later(0.2)).complete(link, signature), { outcome: "again" });
  for (const [was, is] of [
    ['"name":"Jane"', '"name":"Joan"'],
    ['"n":1', '"n":2'],
    [actSha256, "0".repeat(64)],
  ] as const) {
    const put = async (from: string, to: string) => {
      const all = await running.db.query<{ kept: string }>(sql`SELECT kept AS "kept@act" FROM prepared_acts`);
      const changed = all.filter(({ kept }) => kept.includes(from));
      for (const { kept } of changed)
        await running.db.query(sql`
          UPDATE prepared_acts SET kept = ${sealed("act", kept.replaceAll(from, to))} WHERE ${isSealed(sql`kept`, "act", kept)}`);
      return changed;
    };
    assert.equal((await put(was, is)).length, 1);
    await assert.rejects(
      ceremony.complete(link, signature),
      /prepared act of signer \d+ is not what the service wrote/,
    );
    await put(is, was);
  }
  assert.deepEqual(await ceremony.complete(link, signature), { outcome: "signed", completed: true });
  assert.deepEqual(await ceremony.complete(link, signature), { outcome: "signed", completed: true });
  const act1 = (await readTrail(running.db, code)).find(({ event }) => event === "signed") as { act?: object };
  assert.equal((act1.act as { keyHeldBy: string }).keyHeldBy, "browser");
});

test("an act of a signer who is changed meanwhile is neither stored nor recorded", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  await running.order([jane]);
  const link = await running.linkOf(jane.email);
  await running.ceremony.consent(link, consentText, browser);
  const renamed = running.ceremonyWith({
    consentTexts: withoutTexts,
    workers: {
      async run(task, call) {
        await changeSigners(running.db, sql`name = name || 't'`, sql`email = ${jane.email}`);
        return running.deps.workers.run(task, call);
      },
    },
  });
  const mark = { kind: "typed", text: "Jane" } as const;
  const request = { revision: 1, mark, values: new Map<string, string>() };
  const { publicKey } = await browserKey();
  assert.deepEqual(await renamed.prepare(link, { ...request, publicKey }, browser), { outcome: "again" });
  assert.deepEqual(
    await running.db.query(sql`
      SELECT FROM prepared_acts JOIN envelope_signers s ON s.id = signer_id WHERE s.email = ${jane.email}`),
    [],
  );
  assert.deepEqual(await renamed.sign(link, request, browser), { outcome: "again" });
  assert.deepEqual(await running.ceremony.sign(link, request, browser), { outcome: "signed", completed: true });
});

test("a code request that waits for its order holds no lock of its envelope", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([{ ...jane, auth: "access_code", access_code: "correct horse" }]);
  const link = await running.linkOf(jane.email);
  const trying = await running.db.transaction(async (tx) => {
    await tx.query(sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)} FOR UPDATE`);
    const tried = running.ceremony.identify(link, "wrong horse", browser);
    // PostgreSQL shows only the first 1,024 bytes of a statement, so this pattern occurs near the statement's
    // beginning.
    const waits = sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%AS "isRush"%'`;
    await until(async () => (await running.db.query(waits)).length > 0);
    const own = sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`;
    const free = await tx.query(sql`SELECT id FROM envelopes WHERE order_id IN (${own}) FOR UPDATE SKIP LOCKED`);
    return { tried, free: free.length };
  });
  assert.equal(trying.free, 1);
  assert.equal(await trying.tried, null);
  assert.ok(await running.ceremony.identify(link, "correct horse", browser));
});

test("an act that waits for a time stamp holds no document in memory", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  await running.order([jane]);
  const link = await running.linkOf(jane.email);
  await running.ceremony.consent(link, consentText, browser);
  const seen: string[] = [];
  const memory: MemoryBudget = {
    reserve: () => assert.fail("an act works within the budget"),
    within: async (_holder, _bytes, work) => {
      seen.push("take");
      return work().finally(() => seen.push("give back"));
    },
  };
  const stamp = async () => {
    seen.push("stamp");
    return null;
  };
  const request = { revision: 1, mark: { kind: "typed", text: "Jane" }, values: new Map<string, string>() } as const;
  const blobs = { ...running.deps.blobs, memory };
  const acts = running.actsWith({ blobs, stamp });
  const done = await sign({ ...running.deps, blobs, acts }, link, request, browser);
  assert.deepEqual(done, { outcome: "signed", completed: true });
  const whileItIsSealed = ["take", "give back"];
  assert.deepEqual(seen, ["take", "give back", "stamp", "take", "give back", ...whileItIsSealed]);
});

test("two signers repeatedly sign at the same instant: both acts are in the file, and it is sealed once", async () => {
  const pairs = Number(process.env["PAIRS"] ?? 5);
  for (let pair = 0; pair < pairs; pair++) {
    const signers = people("Jane", "John");
    const code = await running.order(signers);
    const links = await Promise.all(signers.map(({ email }) => running.linkOf(email)));
    for (const link of links) await running.ceremony.consent(link, consentText, browser);
    await Promise.all(links.map((link, n) => signBy(running.ceremony, link, ["Jane", "John"][n] ?? "")));
    const trail = (await readTrail(running.db, code)).map(({ event }) => event);
    assert.deepEqual(
      ["signed", "sealed"].map((event) => trail.filter((each) => each === event).length),
      [2, 1],
    );
    assert.equal((await orderOf(code)).status, "EsignComplete");
  }
});

test("a full disk, and a service that is killed between file and row, leave an act undone, and it can be repeated", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane]);
  const link = await running.linkOf(jane.email);
  await running.ceremony.consent(link, consentText, browser);
  const request = { revision: 1, mark: { kind: "typed", text: "Jane" } as const, values: new Map<string, string>() };
  const { dataDir } = running.service;
  const secrets = await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`);
  const folder = folderBackend(join(dataDir, "blobs"));
  const noSpace = () => Promise.reject(Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC" }));
  const full = openBlobs({ ...folder, write: noSpace }, secrets, systemClock);
  const consentTexts = withoutTexts;
  await assert.rejects(running.ceremonyWith({ blobs: full, consentTexts }).sign(link, request, browser), {
    code: "unavailable",
    message: /can't be stored now/,
  });
  const stored: string[] = [];
  const { blobs } = running.deps;
  const put: typeof blobs.put = async (...args) => {
    stored.push(await blobs.put(...args));
    // Simulates a kill: the row is not written, and the file is not discarded.
    throw new Error("killed");
  };
  const killed = running.ceremonyWith({ blobs: { ...blobs, put }, consentTexts });
  await assert.rejects(killed.sign(link, request, browser), /killed/);
  const { state, document } = await running.ceremony.view(link);
  assert.deepEqual([state, document?.revision], ["ready", 1]);
  const isStored = () => existsSync(join(dataDir, "blobs", stored[0] ?? "none"));
  assert.ok(isStored());
  await sweepOrphans({ ...running.deps, blobTables, markedAmong: async () => new Set() }, later(2)());
  assert.ok(!isStored(), "no row refers to it");
  assert.deepEqual(await running.ceremony.sign(link, request, browser), { outcome: "signed", completed: true });
  assert.equal((await orderOf(code)).status, "EsignComplete");
});

test("an envelope is not opened for signers, or places, that somebody else wrote into the database", async () => {
  const [jane] = people("Jane");
  assert.ok(jane);
  const code = await running.order([jane], {}, undefined, { pay: false });
  type Row = { id: number; signers: object[]; mac: Buffer };
  const [order] = await running.db.query<Row>(
    sql`SELECT id, signers, row_mac AS mac FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  assert.ok(order);
  const { id, signers, mac } = order;
  const field = {
    kind: "signature",
    signer: 1,
    page: 1,
    x: 1,
    y: 1,
    width: 99,
    height: 40,
    label: null,
    required: true,
  };
  const change = (written: Statement) => changeOrder(running.db, code, written);
  const as = (each: object[] | null) => sql`signers = ${each && JSON.stringify(each)}::jsonb`;
  await change(sql`status = 'EsignPending'`);
  for (const forged of [
    as([{ ...signers[0], email: "eve@example.com" }]),
    as([...signers, ...signers]),
    as(null),
    sql`signature_fields = ${JSON.stringify([field])}::jsonb`,
    sql`row_mac = NULL`,
    sql`row_mac = (SELECT row_mac FROM orders WHERE id <> ${id} AND row_mac IS NOT NULL LIMIT 1)`,
  ]) {
    await change(forged);
    await assert.rejects(
      openEnvelope(running.deps, id),
      /list of signers of order [0-9a-f]{6}… is not what the service wrote/,
    );
    await change(sql`${as(signers)}, signature_fields = NULL, row_mac = ${mac}`);
  }
  await openEnvelope(running.deps, id);
  assert.equal((await running.ceremony.view(await running.linkOf(jane.email))).state, "ready");
});
