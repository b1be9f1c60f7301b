import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvelopeEvidence, TrailEntry } from "@signsealship/evidence/envelope";
import { forTests } from "@signsealship/testing/for-tests";
import { authenticateOrders } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { entryWords } from "../../../../src/signing/envelopes/custody/content.ts";
import { sweepSittings } from "../../../../src/signing/envelopes/records/sittings.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { browser, openCeremonyService, signBy } from "./ceremony-service.ts";

const running = await forTests(openCeremonyService());
const { client, ceremony, db } = running;
const { baseUrl } = running.service;
const key = running.headers.Authorization.replace("Bearer ", "");

const jane = { name: "Jane Doe", email: "jane@example.com" };
const max = { name: "Max Roe", email: "max@example.com", language: "es", routing: 2 };
const coded = { name: "Cody Lane", email: "cody@example.com", auth: "access_code", access_code: "4711" };

async function waiting(signers: readonly object[]): Promise<string> {
  const code = await running.order(signers);
  await until(async () => {
    const path = `/api/partner/orders/${code}/signers`;
    const { signers: states } = await client.ok<{ signers: { status: string }[] }>("GET", path);
    return states[0]?.status === "sent";
  });
  return code;
}

let members = 0;
async function host() {
  members += 1;
  const email = `host${members}@harbor-title.com`;
  return { email, headers: (await newMember(running.service, email, key)).headers };
}
type Host = Awaited<ReturnType<typeof host>>;

const cookiesOf = (response: Response) => response.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
const sit = (code: string, { headers }: Host) => postForm(`${baseUrl}/dashboard/orders/${code}/sitting`, {}, headers);

/** A device that a member opened for signing, and the token in its browser. */
async function device(code: string, by: Host): Promise<{ token: string; cookie: string }> {
  const opened = await sit(code, by);
  assert.deepEqual([opened.status, opened.headers.get("location")], [303, "/in-person"]);
  const cookie = cookiesOf(opened).find((each) => each.startsWith("sitting=")) ?? "";
  return { token: cookie.replace("sitting=", ""), cookie };
}
const shown = async (cookie: string) => (await fetch(`${baseUrl}/in-person`, { headers: { Cookie: cookie } })).text();
const post = (path: string, fields: Record<string, string>, cookie: string) =>
  postForm(`${baseUrl}/in-person/${path}`, fields, { Cookie: cookie });

async function begin(cookie: string, signer: number): Promise<string> {
  const begun = await post("begin", { signer: String(signer) }, cookie);
  assert.equal(begun.status, 303, await begun.text());
  return (begun.headers.get("location") ?? "").split("/").at(-1) ?? "";
}
const pageOf = (token: string) => fetch(`${baseUrl}/sign/${token}`);

test("two signers sign on a member's device, one after another: neither sees anything of the other, and the evidence names the host", async () => {
  const [code, member] = [await waiting([jane, max]), await host()];
  const { cookie } = await device(code, member);
  const first = await shown(cookie);
  assert.match(first, /Hand the device to Jane Doe/);
  assert.doesNotMatch(first, /Max Roe|example\.com/, "it is not his turn, and no address is shown");
  assert.ok(!first.includes(code), "the order's code opens the client's page");
  const ofJane = await begin(cookie, 1);
  const page = await (await pageOf(ofJane)).text();
  assert.match(page, new RegExp(`on a device that ${member.email} handed you`));
  assert.match(page, /action="\/in-person\/done"/);
  await signBy(ceremony, { token: ofJane, session: null }, "Jane Doe");
  const given = await post("done", {}, cookie);
  assert.deepEqual([given.status, given.headers.get("clear-site-data")], [303, '"cache", "storage"']);
  assert.equal((await pageOf(ofJane)).status, 404, "going back shows nothing");
  const second = await shown(cookie);
  assert.match(second, /<section lang="es"><h2>Entregue el dispositivo a Max Roe<\/h2>/);
  const ofMax = await begin(cookie, 2);
  await signBy(ceremony, { token: ofMax, session: null }, "Max Roe");
  await post("done", {}, cookie);
  const over = await shown(cookie);
  assert.match(over, new RegExp(`Give the device back to ${member.email}`));
  assert.doesNotMatch(over, /Jane|Max/);
  const trail = await db.query<{ event: string; host: string | null; act: Record<string, unknown> | null }>(sql`
    SELECT t.record::json ->> 'event' AS event, t.record::json ->> 'host' AS host, t.record::json -> 'act' AS act
    FROM envelope_events t JOIN envelopes e ON e.id = t.envelope_id
    WHERE e.order_id = (SELECT max(order_id) FROM envelopes) ORDER BY t.position`);
  const turns = trail.filter(({ event }) => event === "in_person");
  assert.deepEqual(
    turns.map(({ host: by }) => by),
    [member.email, member.email],
  );
  for (const { act } of trail.filter(({ event }) => event === "signed"))
    assert.deepEqual(
      [act?.["channel"], act?.["host"], act?.["identifiedBy"]],
      ["in_person", member.email, [`in person, on a device that ${member.email} of the firm handed over`]],
    );
  const order = await client.ok<{ status: string }>("GET", `/api/partner/orders/${code}`);
  assert.equal(order.status, "EsignComplete");
});

test("the member is signed out on the device before a signer gets it", async () => {
  const [code, member] = [await waiting([jane]), await host()];
  const opened = await sit(code, member);
  assert.equal(cookiesOf(opened).filter((each) => /^[^=]*session[^=]*=$/.test(each)).length > 0, true);
  const dashboard = await fetch(`${baseUrl}/dashboard/orders/${code}`, { headers: member.headers, redirect: "manual" });
  assert.equal(dashboard.status, 401, "the session is over, also for who kept its cookie");
});

test("a signer on a device must still be identified, and passing that step in one browser opens no other turn", async () => {
  const [code, member] = [await waiting([coded]), await host()];
  const { cookie } = await device(code, member);
  const token = await begin(cookie, 1);
  assert.equal((await ceremony.view({ token, session: null })).state, "identify");
  assert.equal(await ceremony.identify({ token, session: null }, "9999", browser), null);
  assert.ok(await ceremony.identify({ token, session: null }, "4711", browser));
  assert.equal((await ceremony.view({ token, session: null })).state, "ready");
  const again = await begin(cookie, 1);
  await assert.rejects(ceremony.view({ token, session: null }), /not valid/);
  assert.equal((await ceremony.view({ token: again, session: null })).state, "identify");
});

test("a device gives no access for a signer whose turn it is not, after the last signature, and after its hours", async () => {
  const [code, member] = [await waiting([jane, max]), await host()];
  const { cookie, token } = await device(code, member);
  for (const signer of ["2", "3", "0", "x", ""]) {
    const refused = await post("begin", { signer }, cookie);
    assert.deepEqual([signer, refused.status], [signer, 409]);
  }
  const later = running.openAt(() => new Date(Date.now() + 4 * 3_600_000 + 60_000));
  assert.equal(await later.sitting(token), undefined);
  await assert.rejects(later.beginTurn(token, 1, browser), /no longer given/);
  assert.deepEqual((await ceremony.sitting(token))?.next.length, 1);
  const turn = await begin(cookie, 1);
  const after = running.openAt(() => new Date(Date.now() + 31 * 60_000));
  await assert.rejects(after.view({ token: turn, session: null }), /not valid/);
  await signBy(ceremony, { token: turn, session: null }, "Jane Doe");
  await assert.rejects(ceremony.beginTurn(token, 1, browser), /not this person’s turn/);
  assert.deepEqual((await post("begin", { signer: "1" }, "sitting=none")).status, 404);
  assert.match(await shown("sitting=none"), /no longer with signers/);
});

test("a signer who was replaced loses the turn, and a forged row gives no access", async () => {
  const [code, member] = [await waiting([jane]), await host()];
  const { cookie } = await device(code, member);
  const token = await begin(cookie, 1);
  const other = { name: "Ann Poe", email: "ann@example.com" };
  await client.ok("POST", `/api/partner/orders/${code}/signers/1/replace`, other);
  await assert.rejects(ceremony.view({ token, session: null }), /not valid/);
  const next = await begin(cookie, 1);
  assert.equal((await ceremony.view({ token: next, session: null })).signer.name, other.name);
  await db.query(
    sql`UPDATE sittings SET host = 'mallory@example.com' WHERE session_sha256 = sha256(${Buffer.from(next)})`,
  );
  await assert.rejects(ceremony.view({ token: next, session: null }), { code: "unavailable" });
});

test("only a member of the firm can hand a device over, and only while the order waits for signatures", async () => {
  const [code, member] = [await waiting([jane]), await host()];
  const stranger = await newMember(
    running.service,
    `stranger${members}@example.org`,
    (await newPartner(running.service)).key,
  );
  assert.equal((await sit(code, { email: "", headers: stranger.headers })).status, 404);
  const crossSite = await fetch(`${baseUrl}/dashboard/orders/${code}/sitting`, {
    method: "POST",
    headers: { ...member.headers, Origin: "https://evil.example" },
    redirect: "manual",
  });
  assert.equal(crossSite.status, 403);
  const unpaid = await running.order([jane], {}, undefined, { pay: false });
  const refused = await sit(unpaid, member);
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /does not wait for signatures now/);
});

test("a device opens no turn once its host has left the firm, and ends when the firm ends it", async () => {
  const [code, member, other] = [await waiting([jane]), await host(), await host()];
  const { cookie, token } = await device(code, member);
  await db.query(sql`DELETE FROM members WHERE user_id = (SELECT id FROM users WHERE email = ${member.email})`);
  assert.equal(await ceremony.sitting(token), undefined);
  assert.equal((await post("begin", { signer: "1" }, cookie)).status, 404);
  const second = await device(code, other);
  const turn = await begin(second.cookie, 1);
  const again = await host();
  const ended = await postForm(`${baseUrl}/dashboard/orders/${code}/sitting/end`, {}, again.headers);
  assert.equal(ended.status, 303);
  await assert.rejects(ceremony.view({ token: turn, session: null }), /not valid/);
  assert.equal(await ceremony.sitting(second.token), undefined);
});

const ann = { name: "Ann Poe", email: "ann@example.com" };

/** A closing with these documents, which wait for their signers. */
async function closing(documents: readonly (readonly object[])[]): Promise<{ room: string; codes: string[] }> {
  const codes: string[] = [];
  for (const signers of documents) codes.push(await waiting(signers));
  const { roomCode: room } = await client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "Ortega closing" });
  for (const orderCode of codes) await client.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  return { room, codes };
}

/** For each document, the lines of its certificate about turns on the member's device. */
async function turnsOf(member: Host): Promise<{ words: string[] }[]> {
  const rows = await db.query<{ records: TrailEntry[] }>(sql`
    SELECT json_agg(t.record::json ORDER BY t.position) AS records FROM envelope_events t
    WHERE t.record::json ->> 'event' = 'in_person' AND t.record::json ->> 'host' = ${member.email}
    GROUP BY t.envelope_id ORDER BY t.envelope_id`);
  const signers = [
    { n: 1, name: "Jane Doe" },
    { n: 2, name: "Ann Poe" },
  ] as unknown as EnvelopeEvidence["signers"];
  return rows.map(({ records }) => ({
    words: records.map((record) => entryWords({ signers } as EnvelopeEvidence, record)),
  }));
}
const given = (member: Host, name: string) =>
  `The firm handed the signer a device in person, through ${member.email}: ${name}`;
const wentOn = (member: Host) =>
  `The signer continued to this document on the device that the firm had handed over in person, through ${member.email}: Jane Doe`;

test("one hand-over of a closing covers all documents that a person signs, one after another", async () => {
  const [{ room, codes }, member] = [await closing([[jane, ann], [jane], [jane]]), await host()];
  const path = `${baseUrl}/dashboard/rooms/${room}`;
  assert.match(await (await fetch(path, { headers: member.headers })).text(), /Sign here, on this device/);
  const opened = await postForm(`${path}/sitting`, {}, member.headers);
  assert.deepEqual([opened.status, opened.headers.get("location")], [303, "/in-person"]);
  const cookie = cookiesOf(opened).find((each) => each.startsWith("sitting=")) ?? "";
  assert.equal((await post("next", {}, cookie)).status, 409, "nobody has begun");
  const first = await shown(cookie);
  assert.equal(first.match(/Hand the device to Jane Doe/g)?.length, 1, "a person is listed once");
  assert.match(first, /Hand the device to Ann Poe/);
  for (const code of [room, ...codes]) assert.ok(!first.includes(code));
  const [, sitting = ""] =
    /name="sitting" value="([^"]*)"[^>]*>\s*<input[^>]*name="signer" value="1"/.exec(first) ?? [];
  assert.notEqual(sitting, "");
  const other = "00000000-0000-4000-8000-000000000000";
  assert.equal((await post("begin", { sitting: other, signer: "1" }, cookie)).status, 409);

  const begun = await post("begin", { sitting, signer: "1" }, cookie);
  let token = (begun.headers.get("location") ?? "").split("/").at(-1) ?? "";
  for (const n of [1, 2, 3]) {
    assert.match(await (await pageOf(token)).text(), new RegExp(`Document ${n} of 3`));
    await signBy(ceremony, { token, session: null }, "Jane Doe");
    const signed = await (await pageOf(token)).text();
    assert.match(signed, new RegExp(`You have signed ${n} of 3\\.`));
    assert.equal(/action="\/in-person\/next"/.test(signed), n < 3);
    const [, after = ""] = /name="after" value="([^"]*)"/.exec(signed) ?? [];
    const next = await post("next", { after }, cookie);
    if (n === 3) assert.equal(next.status, 409);
    else {
      assert.equal(next.status, 303);
      assert.equal((await post("next", { after }, cookie)).status, 409, "a second click skips no document");
      assert.equal((await pageOf(token)).status, 404, "the pages of the document before are closed");
      token = (next.headers.get("location") ?? "").split("/").at(-1) ?? "";
    }
  }
  await post("done", {}, cookie);
  assert.equal((await pageOf(token)).status, 404);
  const second = await shown(cookie);
  assert.doesNotMatch(second, /Jane/);
  const [, ofAnn = ""] = /name="sitting" value="([^"]*)"/.exec(second) ?? [];
  const annBegun = await post("begin", { sitting: ofAnn, signer: "2" }, cookie);
  const annToken = (annBegun.headers.get("location") ?? "").split("/").at(-1) ?? "";
  assert.doesNotMatch(await (await pageOf(annToken)).text(), /Document 1 of/, "she signs one document");
  await signBy(ceremony, { token: annToken, session: null }, "Ann Poe");
  assert.match(await shown(cookie), /Give the device back/);
  assert.deepEqual(
    await turnsOf(member),
    [
      { words: [given(member, "Jane Doe"), given(member, "Ann Poe")] },
      { words: [wentOn(member)] },
      { words: [wentOn(member)] },
    ],
    "each document's trail names the host, and says to whom the host handed the device",
  );
});

test("a document that its signer can't or won't sign now is skipped: the device continues with the others, and returns to it", async () => {
  const member = await host();
  const { room } = await closing([[coded], [coded], [coded]]);
  const path = `${baseUrl}/dashboard/rooms/${room}/sitting`;
  const cookie = cookiesOf(await postForm(path, {}, member.headers)).find((each) => each.startsWith("sitting=")) ?? "";
  const [, sitting = ""] = /name="sitting" value="([^"]*)"/.exec(await shown(cookie)) ?? [];
  const begun = await post("begin", { sitting, signer: "1" }, cookie);
  let token = (begun.headers.get("location") ?? "").split("/").at(-1) ?? "";
  const goOn = async () => {
    const page = await (await pageOf(token)).text();
    const [, after = ""] = /name="after" value="([^"]*)"/.exec(page) ?? [];
    const next = await post("next", { after }, cookie);
    assert.equal(next.status, 303);
    token = (next.headers.get("location") ?? "").split("/").at(-1) ?? "";
    return page;
  };
  // Skips the first document before its access code is entered, and then the second document.
  assert.match(await goOn(), /Document 1 of 3[\s\S]*Sign this one later\. Next: /);
  await ceremony.identify({ token, session: null }, "4711", browser);
  assert.match(await goOn(), /Document 2 of 3[\s\S]*Sign this one later\. Next: /);
  await ceremony.identify({ token, session: null }, "4711", browser);
  await signBy(ceremony, { token, session: null }, "Cody Lane");
  const signed = await goOn();
  assert.match(signed, /You have signed 1 of 3\./);
  assert.doesNotMatch(signed, /Sign this one later/);
  for (const n of [1, 2]) {
    assert.match(await (await pageOf(token)).text(), new RegExp(`Document ${n} of 3`));
    await ceremony.identify({ token, session: null }, "4711", browser);
    await signBy(ceremony, { token, session: null }, "Cody Lane");
    if (n === 1) assert.doesNotMatch(await goOn(), /Sign this one later/);
  }
  assert.doesNotMatch(await (await pageOf(token)).text(), /action="\/in-person\/next"/);
});

test("two nodes that go on at once begin one turn, and none outlives the end of the devices", async () => {
  const [{ room }, member, other] = [await closing([[jane], [jane], [jane]]), await host(), await host()];
  const path = `${baseUrl}/dashboard/rooms/${room}/sitting`;
  const cookie = cookiesOf(await postForm(path, {}, member.headers)).find((each) => each.startsWith("sitting=")) ?? "";
  const token = cookie.replace("sitting=", "");
  const [, sitting = ""] = /name="sitting" value="([^"]*)"/.exec(await shown(cookie)) ?? [];
  await post("begin", { sitting, signer: "1" }, cookie);
  const nodes = [ceremony, running.openAt(() => new Date())];
  const goOn = (after: string) => Promise.allSettled(nodes.map((node) => node.nextTurn(token, after, browser)));
  const went = await goOn(sitting);
  assert.deepEqual(went.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  const begun = went.find((each) => each.status === "fulfilled");
  assert.ok(begun);
  const { device: now } = await ceremony.view({ token: begun.value.session, session: null });
  assert.equal(now?.n, 2, "no document is skipped");
  const [ended, ...last] = await Promise.all([postForm(`${path}/end`, {}, other.headers), goOn(now?.sitting ?? "")]);
  assert.equal(ended.status, 303);
  for (const each of last.flat())
    if (each.status === "fulfilled")
      await assert.rejects(ceremony.view({ token: each.value.session, session: null }), /not valid/);
  assert.match(await shown(cookie), /no longer with signers/);
  // Closes the room, because a firm on trial may have only a few open rooms.
  await client.ok("POST", `/api/rooms/${room}/close`);
});

test("a device of a closing opens no document of another person as the next one, and ends for all documents", async () => {
  const [{ room }, member, other] = [await closing([[jane], [ann]]), await host(), await host()];
  const path = `${baseUrl}/dashboard/rooms/${room}/sitting`;
  const stranger = await newMember(running.service, "room@example.org", (await newPartner(running.service)).key);
  assert.equal((await postForm(path, {}, stranger.headers)).status, 404);
  const cookie = cookiesOf(await postForm(path, {}, member.headers)).find((each) => each.startsWith("sitting=")) ?? "";
  const [, sitting = ""] = /name="sitting" value="([^"]*)"/.exec(await shown(cookie)) ?? [];
  const begun = await post("begin", { sitting, signer: "1" }, cookie);
  const token = (begun.headers.get("location") ?? "").split("/").at(-1) ?? "";
  assert.equal((await post("next", { after: sitting }, cookie)).status, 409);
  assert.equal((await pageOf(token)).status, 200, "a refused request ends no turn");
  assert.equal((await postForm(`${path}/end`, {}, other.headers)).status, 303);
  assert.equal((await pageOf(token)).status, 404);
  assert.match(await shown(cookie), /no longer with signers/);
});

test("ending a closing's devices also ends a document that waits for nothing now, and is signed later", async () => {
  const [{ room, codes }, member, other] = [await closing([[jane], [ann]]), await host(), await host()];
  const path = `${baseUrl}/dashboard/rooms/${room}/sitting`;
  const cookie = cookiesOf(await postForm(path, {}, member.headers)).find((each) => each.startsWith("sitting=")) ?? "";
  assert.match(await shown(cookie), /Hand the device to Jane Doe/);
  const held = isSealed(sql`code`, "order", codes[0] ?? "");
  await db.query(sql`UPDATE orders SET status = 'OnHold' WHERE ${held}`);
  await authenticateOrders(db, held);
  assert.equal((await postForm(`${path}/end`, {}, other.headers)).status, 303);
  await db.query(sql`UPDATE orders SET status = 'EsignPending' WHERE ${held}`);
  await authenticateOrders(db, held);
  assert.match(await shown(cookie), /no longer with signers/);
});

test("an order and a closing on hold can end their devices, so that none works after the hold", async () => {
  const [{ room, codes }, other] = [await closing([[jane]]), await host()];
  const held = isSealed(sql`code`, "order", codes[0] ?? "");
  const move = async (status: string, before: string | null = null) => {
    await db.query(sql`UPDATE orders SET status = ${status}, status_before_hold = ${before} WHERE ${held}`);
    await authenticateOrders(db, held);
  };
  for (const path of [`${baseUrl}/dashboard/rooms/${room}`, `${baseUrl}/dashboard/orders/${codes[0]}`]) {
    const { cookie } = await device(codes[0] ?? "", await host());
    assert.match(await shown(cookie), /Hand the device to Jane Doe/);
    await move("OnHold", "ShippingPending");
    assert.doesNotMatch(await (await fetch(path, { headers: other.headers })).text(), /End signing on devices/);
    await move("OnHold", "EsignPending");
    assert.match(await (await fetch(path, { headers: other.headers })).text(), /End signing on devices/);
    assert.equal((await postForm(`${path}/sitting/end`, {}, other.headers)).status, 303);
    await move("EsignPending");
    assert.match(await shown(cookie), /no longer with signers/);
  }
  await client.ok("POST", `/api/rooms/${room}/close`);
});

test("a hand-over names how many documents of the closing can't be signed yet", async () => {
  const [{ room }, member] = [await closing([[jane]]), await host()];
  const orderCode = await running.order([jane], {}, undefined, { pay: false });
  await client.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  const unprepared = isSealed(sql`code`, "order", orderCode);
  await db.query(sql`UPDATE orders SET status = 'EsignPending' WHERE ${unprepared}`);
  await authenticateOrders(db, unprepared);
  const opened = await postForm(`${baseUrl}/dashboard/rooms/${room}/sitting`, {}, member.headers);
  assert.equal(opened.headers.get("location"), "/in-person?left=1");
  const cookie = cookiesOf(opened).find((each) => each.startsWith("sitting=")) ?? "";
  const page = async (query: string) =>
    (await fetch(`${baseUrl}/in-person${query}`, { headers: { Cookie: cookie } })).text();
  assert.match(await page("?left=1"), /can’t be signed yet: 1\. They are not on this device/);
  for (const query of ["", "?left=0", "?left=x", "?left=-1", "?left=9999"])
    assert.doesNotMatch(await page(query), /can’t be signed yet/);
  await client.ok("POST", `/api/rooms/${room}/close`);
});

test("a hand-over of a closing is refused when none of its documents waits for signatures", async () => {
  const { roomCode: room } = await client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "Empty closing" });
  const refused = await postForm(`${baseUrl}/dashboard/rooms/${room}/sitting`, {}, (await host()).headers);
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /No document of this closing waits for signatures now/);
});

test("old devices are deleted", async () => {
  const [code, member] = [await waiting([jane]), await host()];
  await device(code, member);
  const count = async () => (await db.query<{ n: number }>(sql`SELECT count(*)::int AS n FROM sittings`))[0]?.n ?? 0;
  const before = await count();
  await sweepSittings(db, new Date());
  assert.equal(await count(), before);
  await sweepSittings(db, new Date(Date.now() + 5 * 3_600_000));
  assert.equal(await count(), 0);
});
