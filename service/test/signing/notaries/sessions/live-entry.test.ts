import assert from "node:assert/strict";
import { test } from "node:test";
import { changeRowsOf } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newSecret, newUuid } from "../../../../src/kernel/platform/ids.ts";
import { tokenSha256 } from "../../../../src/kernel/platform/secrets.ts";
import { taskState } from "../../../../src/kernel/tasks/tasks.ts";
import { lockOrder } from "../../../../src/orders/order/order.ts";
import {
  addNotary,
  answerConsent,
  connectPerson,
  endLive,
  enteredBy,
  enterRoom,
  renewNotaryLinks,
  startLive,
  withdrawPerson,
} from "../../../../src/signing/notaries/notaries.ts";
import { roomCode, roomTokenOf } from "../../../../src/signing/notaries/sessions/mail.ts";
import { findLive, livePeople, updatePerson } from "../../../../src/signing/notaries/sessions/store.ts";
import { mailsTo, newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { ordersToNotarize } from "../orders-to-notarize.ts";
import {
  agreed,
  at,
  begun,
  browserAt,
  clock,
  commission,
  db,
  desk,
  entered,
  liveOf,
  newLease,
  nora,
  opened,
  operator,
  orders,
  otherNode,
  post,
  roomOf,
  rowMac,
  running,
  secrets,
  spooled,
} from "./session-world.ts";

test("a link opens its room in the one browser that enters the mailed code, and before the notary admits it there is neither media nor document", async () => {
  const email = "one@example.com";
  const { code, room } = await opened(email);
  const stranger = browserAt(room);
  const before = await stranger.look();
  assert.match(before.headers.get("permissions-policy") ?? "", /camera=\(self\), microphone=\(self\)/);
  assert.match(before.headers.get("content-security-policy") ?? "", /default-src 'none'.*frame-src 'self'/);
  assert.doesNotMatch(await before.text(), /Deed|iframe|Nora/);
  for (const rest of ["/media", "/check", "/consent"])
    assert.equal((await stranger.send(rest, agreed)).status, 409, rest);
  assert.equal((await stranger.look("/events")).status, 409);
  assert.equal((await stranger.send("/signal", { ticket: "x", kind: "join" })).status, 409);

  const signer = await entered(room, email);
  // The code was used, and the room is bound to one browser.
  assert.equal((await stranger.send("/enter", { code: "000000" })).status, 409);
  assert.equal((await stranger.send("/code")).status, 409);
  assert.match(await (await stranger.look()).text(), /open in another browser/);
  assert.equal((await signer.send("/media")).status, 409);
  assert.equal((await signer.send("/consent", { ...agreed, city: "" })).status, 400);
  assert.equal((await signer.send("/consent", { ...agreed, country: "XX" })).status, 400);
  assert.match(await (await signer.look()).text(), /<input type="checkbox"[^>]* name="own"[^>]* required/);
  assert.equal((await signer.send("/consent", { ...agreed, own: "" })).status, 400);
  // Ohio allows a signer abroad only under conditions that the service can't check, so it refuses.
  const abroad = await signer.send("/consent", { ...agreed, city: "Paris", region: "Île-de-France", country: "FR" });
  assert.equal(abroad.status, 400);
  assert.match(await abroad.text(), /may not act for somebody who is in that country/);
  const seenByNotary = async () => (await fetch(at(desk(code)), { headers: { cookie: nora.cookie } })).text();
  assert.match(await seenByNotary(), /Paris, Île-de-France, France.*Not let in.*Jane Doe says they are outside/s);
  // The page still shows the answer and its error when its script reloads the card.
  for (const rest of ["", "/part"]) {
    const about = await (await signer.look(rest)).text();
    assert.match(about, /may not act for somebody who is in that country.*value="Paris".*value="FR" selected/s);
  }
  assert.equal((await post(desk(code, "/start"))).status, 409);
  assert.equal((await signer.send("/consent", agreed)).status, 303);
  assert.match(await (await signer.look()).text(), /Waiting room/);
  assert.doesNotMatch(await seenByNotary(), /Not let in/);
  assert.equal((await post(desk(code, "/admit"), { person: "1" })).status, 409);
  assert.equal((await post(desk(code, "/start"))).status, 303);
  assert.equal((await signer.send("/media")).status, 409);
  assert.equal((await post(desk(code, "/admit"), { person: "2" })).status, 400);
  assert.equal((await post(desk(code, "/admit"), { person: "1" })).status, 303);
  const ticket = (await (await signer.send("/media")).json()) as { ticket: string };
  assert.ok(ticket.ticket);
  // A ticket of another person is not found.
  assert.equal((await post(desk(code, "/signal"), { ...ticket, kind: "join" })).status, 404);
  assert.equal((await signer.send("/signal", { ...ticket, kind: "jump" })).status, 400);
  const answered = await signer.send("/signal", { ...ticket, kind: "join" });
  assert.equal(answered.status, 200);
  // Nobody sends video, so everybody is absent, and steps that require presence can't be marked.
  assert.equal((await post(desk(code, "/mark"), { step: "open" })).status, 409);
  assert.equal((await post(desk(code, "/turn"))).status, 409);

  assert.equal((await post(desk(code, "/end"), { outcome: "technical" })).status, 303);
  await until(async () => /has ended/.test(await (await signer.look()).text()));
  assert.equal((await signer.send("/media")).status, 409);
  assert.equal((await signer.send("/signal", { ...ticket, kind: "join" })).status, 409);
  assert.doesNotMatch(await (await signer.look()).text(), /iframe/);
});

test("a person who refuses the recording is not admitted, and nobody's media are forwarded or recorded", async () => {
  const email = "two@example.com";
  const { code, room } = await opened(email);
  const signer = await entered(room, email);
  assert.equal((await signer.send("/consent", { ...agreed, answer: "refuse", own: "", place: "" })).status, 303);
  assert.match(
    await (await signer.look()).text(),
    /did not agree.*the firm that sent the document tells you what else/s,
  );
  const seenByNotary = await (await fetch(at(desk(code)), { headers: { cookie: nora.cookie } })).text();
  assert.match(
    seenByNotary,
    /Does not agree to be recorded.*Jane Doe can still agree.*end the session without an act/s,
  );
  const start = await post(desk(code, "/start"));
  assert.equal(start.status, 409);
  assert.match(await start.text(), /does not agree to be recorded/);
  assert.equal((await post(desk(code, "/media"))).status, 409);
  assert.deepEqual(spooled(), []);
  const rows = await running.db.query(sql`
    SELECT FROM recordings r JOIN orders o ON o.id = r.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.equal(rows.length, 0);
  // A person who declined may still agree.
  assert.equal((await signer.send("/consent", agreed)).status, 303);
  assert.equal((await post(desk(code, "/start"))).status, 303);
  assert.equal((await post(desk(code, "/end"), { outcome: "abandoned" })).status, 303);
});

test("five wrong codes end a code, and the notary can admit another browser", async () => {
  const email = "three@example.com";
  const { code, room } = await opened(email);
  const guesser = browserAt(room);
  assert.equal((await guesser.send("/code")).status, 303);
  assert.equal((await guesser.send("/code")).status, 429);
  const right = await until(
    () => mailsTo(running.service, email).flatMap((mail) => /Your code is (\d{6})\./.exec(mail)?.[1] ?? [])[0],
  );
  const wrong = right === "111111" ? "222222" : "111111";
  for (let count = 0; count < 5; count++) assert.equal((await guesser.send("/enter", { code: wrong })).status, 400);
  assert.equal((await guesser.send("/enter", { code: right })).status, 409);
  assert.equal((await post(desk(code, "/release"), { person: "1" })).status, 303);
  assert.equal((await guesser.send("/code")).status, 303);
  assert.equal((await post(desk(code, "/end"), { outcome: "no_show" })).status, 303);
});

test("an act of a session can't be marked by the forms of an act in person", async () => {
  const { code } = await opened("four@example.com");
  const paths = ["mark", "hand-over", "back", "end"].map((verb) => `/operator/notary/orders/${code}/sheet/${verb}`);
  for (const path of paths) assert.equal((await post(path, { step: "open" })).status, 409, path);
  assert.equal((await post(`/operator/notary/orders/${code}/release`)).status, 409);
});

test("a person's altered row gives no access", async () => {
  const email = "five@example.com";
  const { room } = await opened(email);
  await running.db.query(
    sql`UPDATE live_people SET admitted_at = now() WHERE name = 'Jane Doe' AND browser_sha256 IS NULL`,
  );
  assert.equal((await browserAt(room).look()).status, 503);
});

test("a person whom the notary excuses while they connect is not connected", async () => {
  const { code, room } = await begun("gone@example.com", "identify");
  const { id, orderId } = await liveOf(code);
  const browser = newSecret();
  const [person] = await livePeople(db, id);
  assert.ok(person);
  const link = { token: room.split("/").at(-1) ?? "", browser };
  await db.transaction((tx) => updatePerson(tx, person.id, sql`browser_sha256 = ${tokenSha256(browser)}`));
  let isLetGo = true;
  const { deps, rooms } = otherNode({
    async admit() {
      if (isLetGo) await db.transaction((tx) => updatePerson(tx, person.id, sql`admitted_at = NULL`));
    },
  });
  rooms.add(id, orderId, clock(), ["notary"], newLease());
  const of = { session: id, person: "signer-1", asking: null };
  await assert.rejects(connectPerson(deps, link, of), { code: "conflict" });
  assert.deepEqual([...(rooms.roomOf(id)?.people.keys() ?? [])], ["notary"]);
  isLetGo = false;
  await db.transaction((tx) => updatePerson(tx, person.id, sql`admitted_at = now()`));
  assert.ok("ticket" in (await connectPerson(deps, link, of)));
  assert.deepEqual([...(rooms.roomOf(id)?.people.keys() ?? [])], ["notary", "signer-1"]);
});

test("a browser that was replaced while it connects does not disconnect the person's new browser", async () => {
  const { code, room } = await begun("replaced@example.com", "identify");
  const { id, orderId } = await liveOf(code);
  const [person] = await livePeople(db, id);
  assert.ok(person);
  const [former, next] = [newSecret(), newSecret()];
  const binds = (browser: string) =>
    db.transaction((tx) => updatePerson(tx, person.id, sql`browser_sha256 = ${tokenSha256(browser)}`));
  const link = (browser: string) => ({ token: room.split("/").at(-1) ?? "", browser });
  const of = { session: id, person: "signer-1", asking: null };
  let isFormer = true;
  const { deps, rooms } = otherNode({
    async admit() {
      if (!isFormer) return;
      isFormer = false;
      await binds(next);
      assert.ok("ticket" in (await connectPerson(deps, link(next), of)));
    },
  });
  rooms.add(id, orderId, clock(), ["notary"], newLease());
  await binds(former);
  await assert.rejects(connectPerson(deps, link(former), of), { code: "conflict" });
  assert.ok(rooms.hasIn(id, "signer-1"));
});

test("a corrected address unbinds the browser that entered the code of the earlier one, and ends a session that had admitted it", async () => {
  const correct = (code: string, email: string) =>
    db.transaction(async (tx) => {
      const order = await lockOrder(tx, code);
      const people = { names: new Set(["Jane Doe"]), email };
      await renewNotaryLinks(tx, { desk: { rowMac }, secrets }, order?.id ?? 0, people, clock());
    });
  const waiting = "bound@example.com";
  const { code, room } = await opened(waiting);
  const browser = await entered(room, waiting);
  assert.equal((await browser.send("/consent", agreed)).status, 303);
  const step = async () => (await enteredBy({ sheets: { desk: { db } } } as never, browser.link())).step;
  await correct(code, "other@example.com");
  assert.equal(await step(), "waiting");
  const links = () => mailsTo(running.service, waiting).filter((mail) => mail.includes(room));
  const before = links().length;
  await correct(code, waiting);
  assert.equal(await step(), "code");
  await until(() => links().length === before + 1);
  assert.equal((await liveOf(code)).state, "open");

  const { code: met, signer } = await begun("admitted@example.com", "identify");
  await correct(met, "admitted@example.com");
  await until(async () => (await liveOf(met)).state === "ended");
  assert.equal((await liveOf(met)).outcome, "abandoned");
  assert.equal((await signer.send("/media")).status, 409);
});

test("during an update, a notary to whom an older node gave an order gets no part in the session of the one before", async () => {
  const { code } = await opened("older-node@example.com");
  const { id, orderId } = await liveOf(code);
  const omar = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  await addNotary({ db, clock }, omar.id, { ...commission, commissionName: "Omar Beck" }, "operator");
  await changeRowsOf(db, taskState, sql`order_id = ${orderId}`, sql`claimed_by = ${`operator:${omar.id}`}`);
  const asOmar = (path: string, typed: Record<string, string> = {}) =>
    postForm(at(path), typed, { cookie: omar.cookie, Accept: "application/json" });
  for (const [verb, status] of [
    ["/start", 409],
    ["/admit", 409],
    ["/mark", 409],
    ["/end", 409],
    ["/media", 404],
  ] as const) {
    const refused = await asOmar(desk(code, verb), { person: "1", step: "open", outcome: "abandoned" });
    assert.equal(refused.status, status, verb);
  }
  const again = await asOmar(desk(code), { act: "jurat" });
  assert.deepEqual([again.status, /Another notary left an act open/.test(await again.text())], [409, true]);
  assert.equal((await findLive(db, id))?.state, "open");
  assert.equal((await asOmar(`/operator/notary/orders/${code}/release`)).status, 303);
  await orders.claim(code, omar.cookie);
  await until(async () => (await findLive(db, id))?.state === "ended");
  assert.equal((await asOmar(desk(code), { act: "jurat" })).status, 303);
});

test("pages learn that a person has entered, or was withdrawn, once that is stored", async () => {
  const { code } = await opened("told@example.com");
  const otto = { role: "observer", name: "Otto Okafor", email: "told-otto@example.com", language: "en" };
  assert.equal((await post(desk(code, "/invite"), otto)).status, 303);
  const [person] = await livePeople(db, (await liveOf(code)).id);
  assert.ok(person);
  const token = roomTokenOf(secrets, person) ?? "";
  const codeId = newUuid();
  const sent = sql`code_id = ${codeId}, code_sent_at = ${new Date()}`;
  await db.transaction((tx) => updatePerson(tx, person.id, sent));
  const { deps, rooms, changes } = otherNode();
  const order: string[] = [];
  changes.after = async () => void order.push("stored");
  rooms.listen(person.sessionId, "notary", { hear: ({ kind }) => void order.push(kind), end: () => {} });
  assert.ok(await enterRoom(deps, { token, browser: null }, roomCode(secrets, codeId)));
  assert.deepEqual(order.splice(0), ["stored", "changed"]);
  await withdrawPerson(deps, operator, code, { person: "11" });
  assert.deepEqual(order, ["stored", "changed"]);
});

test("a browser that was removed during its answer gives no consent for the next one", async () => {
  const email = "late@example.com";
  const { code, room } = await opened(email);
  const token = room.split("/").at(-1) ?? "";
  const [person] = await livePeople(db, (await liveOf(code)).id);
  assert.ok(person);
  const browser = "b".repeat(43);
  await db.transaction((tx) => updatePerson(tx, person.id, sql`browser_sha256 = ${tokenSha256(browser)}`));
  const { deps } = otherNode({
    before: async () => {
      await db.transaction((tx) => updatePerson(tx, person.id, sql`browser_sha256 = NULL`));
    },
  });
  const consentTexts = { current: () => ({ version: "1", sha256: "a" }) } as never;
  await assert.rejects(answerConsent({ ...deps, consentTexts }, { token, browser }, agreed), { code: "conflict" });
  assert.equal((await livePeople(db, person.sessionId))[0]?.consent, null);
});

test("a stranger who used up a signer's codes locks them out only until the notary allows more", async () => {
  const { code, room } = await opened("codes@example.com");
  const page = async () => (await fetch(at(desk(code)), { headers: { cookie: nora.cookie } })).text();
  assert.doesNotMatch(await page(), /ask for codes again/);
  const [person] = await livePeople(db, (await liveOf(code)).id);
  await db.transaction((tx) => updatePerson(tx, person?.id ?? "", sql`codes_sent = 12`));
  assert.equal((await browserAt(room).send("/code")).status, 429);
  assert.match(await page(), /ask for codes again/);
  assert.equal((await post(desk(code, "/release"), { person: "1" })).status, 303);
  assert.equal((await browserAt(room).send("/code")).status, 303);
});

test("answers of signers and observers to the mail with a room's link go to an owner of a firm without a contact address", async () => {
  const own = await newPartner(running.service);
  const [owner, email] = ["owner@rooms.example", "answers@example.com"];
  await newMember(running.service, owner, own.key);
  const theirs = ordersToNotarize(running, own);
  const code = await theirs.place({ email });
  await theirs.claim(code, nora.cookie);
  assert.equal((await post(desk(code), { act: "jurat" })).status, 303);
  const observer = { role: "observer", name: "Olga Ott", email: "observer@rooms.example", language: "en" };
  assert.equal((await post(desk(code, "/invite"), observer)).status, 303);
  for (const to of [email, observer.email]) {
    await roomOf(to);
    const mail = mailsTo(running.service, to).find((each) => each.includes("/notary-room/")) ?? "";
    assert.equal(/^Reply-To: (.*)\r$/m.exec(mail)?.[1], owner, to);
  }
});

test("a session that ends while it begins leaves no recording open", async () => {
  const email = "begin@example.com";
  const { code, room } = await opened(email);
  const signer = await entered(room, email);
  assert.equal((await signer.send("/consent", agreed)).status, 303);
  const begin = (): Promise<void> => endLive(deps, operator, code, { outcome: "technical" });
  const { deps, rooms, ended } = otherNode({ begin: () => begin() });
  await assert.rejects(startLive(deps, operator, code), /has ended/);
  const { id } = await liveOf(code);
  assert.deepEqual([ended, rooms.roomOf(id)], [[id], undefined]);
});
