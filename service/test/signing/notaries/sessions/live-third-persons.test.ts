import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import { roomEnvelopeOf } from "../../../../src/signing/envelopes/envelopes.ts";
import {
  admitPerson,
  answerConsent,
  excusePerson,
  type LivePerson,
  type LiveSession,
  markLive,
  noteLiveWitness,
  roleObstacle,
  watchSessions,
} from "../../../../src/signing/notaries/notaries.ts";
import {
  appendEvent,
  eventsOf,
  insertPerson,
  livePeople,
  lockLive,
  updateLive,
  updatePerson,
} from "../../../../src/signing/notaries/sessions/store.ts";
import { hasVouched, isPartDone, presentLines } from "../../../../src/signing/notaries/sessions/third-persons.ts";
import { mailsTo } from "../../../firms/members/signed-in-member.ts";
import {
  abandoned,
  agreed,
  begun,
  clock,
  db,
  desk,
  documentFiles,
  entered,
  hashAt,
  killed,
  liveOf,
  marksUntil,
  newLease,
  opened,
  operator,
  otherNode,
  post,
  rowMac,
  running,
  sheetOf,
} from "./session-world.ts";

test("a credible witness comes by a link of their own, agrees, is recorded, and identifies the signer; an interpreter comes only where the state says yes", async () => {
  const email = "vouched@example.com";
  const { code, room } = await opened(email);
  const witness = {
    role: "credible_witness",
    name: "Wanda Wise",
    email: "wanda@example.com",
    for_signer: "1",
    language: "en",
  };
  const invite = (typed: Record<string, string>) => post(desk(code, "/invite"), { ...witness, ...typed });
  for (const [typed, why] of [
    [{ role: "interpreter" }, /say no to “An interpreter is allowed”/],
    [{ role: "guest" }, /role must be one of/],
    [{ email: "wanda" }, /email must be an email address/],
    [{ email }, /email must differ from the addresses of the others/],
    [{ for_signer: "2" }, /for_signer must be the number of the signer/],
    [{ name: "JANE  doe" }, /name must be of somebody who neither signs/],
    [{ name: "Jáne Döe" }, /name must be of somebody who neither signs/],
    [{ name: "Nora Ames" }, /name must be of somebody who neither signs/],
    [{ language: "de" }, /language must be one of/],
  ] as const) {
    const refused = await invite(typed);
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), why);
  }
  assert.equal((await invite({ email: "wrong@example.com" })).status, 303);
  assert.equal((await invite({})).status, 400, "the same person twice");
  assert.equal((await invite({ name: "Will Wise" })).status, 409, "one witness for a signer");
  assert.equal((await post(desk(code, "/withdraw"), { person: "1" })).status, 400, "a signer is not taken back");
  assert.equal((await post(desk(code, "/withdraw"), { person: "11" })).status, 303);
  assert.equal((await invite({})).status, 303);
  assert.equal((await post(desk(code, "/withdraw"), { person: "11" })).status, 400, "no number is used again");

  const signer = await entered(room, email);
  assert.equal((await signer.send("/consent", agreed)).status, 303);
  const early = await post(desk(code, "/start"));
  assert.match(await early.text(), /Wanda Wise has not answered/);
  const hers = await until(
    () =>
      mailsTo(running.service, witness.email).flatMap((mail) => /\/notary-room\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
  );
  const wanda = await entered(hers, witness.email);
  assert.equal((await wanda.send("/consent", agreed)).status, 303);
  assert.equal((await post(desk(code, "/start"))).status, 303);
  assert.equal((await invite({ name: "Will Wise", email: "will@example.com" })).status, 409);
  for (const person of ["1", "12"]) assert.equal((await post(desk(code, "/admit"), { person })).status, 303);
  assert.equal((await wanda.send("/media")).status, 200);
  const shown = await wanda.send("/shown", { sha256: "ab".repeat(32) });
  assert.equal(shown.status, 403);
  assert.match(await shown.text(), /Only the page of a signer or of a witness of the act shows the document/);
  assert.doesNotMatch(await (await wanda.look()).text(), /iframe|you can read it below/);
  for (const file of documentFiles) assert.equal((await wanda.look(file)).status, 403, file);
  const { id, orderId } = await liveOf(code);
  const [recorded] = await db.query<{ people: object[] }>(sql`SELECT people FROM recordings WHERE session = ${id}`);
  assert.deepEqual(recorded?.people.at(-1), { person: "third-2", role: "credible witness", name: "Wanda Wise" });

  await marksUntil(code, "identify");
  const credential = {
    principal_1_witness_name: "Wanda Wise",
    principal_1_witness_address: "2 Side Street",
    principal_1_type: "Passport",
    principal_1_issuer: "United States",
    principal_1_result: "checked on camera",
    principal_1_issued: "2020-01-01",
    principal_1_expires: "2040-01-01",
  };
  const away = await post(desk(code, "/witness"), { signer: "1", part: "identified", ...credential });
  assert.equal(away.status, 409);
  assert.match(await away.text(), /must all be here now/);
  const { deps, rooms, joined } = otherNode();
  const live = await abandoned(code, -600, deps.own.id);
  const everybody = ["notary", "signer-1", "third-2"];
  const here = rooms.add(id, orderId, live.openedAt, everybody, newLease());
  joined(id, everybody);
  for (const person of everybody.slice(0, 2)) here.recorded.add(person);
  const vouches = (part: string, typed: Record<string, string>) => {
    joined(id, everybody);
    return noteLiveWitness(deps, operator, code, { signer: "1", part, ...typed });
  };
  await assert.rejects(vouches("identified", credential), /not on the recording yet/);
  here.recorded.add("third-2");
  const identify = {
    step: "identify",
    signer: "1",
    principal_1_name: "Jane Doe",
    principal_1_address: "1 Main Street",
  };
  const byWitness = { ...identify, principal_1_basis: "credible_witness" };
  await assert.rejects(markLive(deps, operator, code, byWitness), /credible witness is not identified yet/);
  await assert.rejects(vouches("identified", { ...credential, principal_1_witness_name: "Will Wise" }), /Wanda Wise/);
  await vouches("identified", credential);
  await assert.rejects(markLive(deps, operator, code, byWitness), /has not sworn/);
  await vouches("sworn", { oath: "affirmation", knows: "Neighbors since 2011" });
  await markLive(deps, operator, code, byWitness);
  const mark = (await sheetOf(code))?.marks.findLast(({ name }) => name === "identify");
  assert.match(JSON.stringify(mark?.detail), /Neighbors since 2011/);

  const lines = async () => {
    const sheet = await sheetOf(code);
    assert.ok(sheet);
    return presentLines(await livePeople(db, id), await eventsOf(db, rowMac, await liveOf(code)), sheet);
  };
  const present = ["Wanda Wise, credible witness, Columbus, Ohio, United States"];
  assert.deepEqual(await lines(), [], "no event says that she came");
  await db.transaction(async (tx) => {
    const session = await lockLive(tx, id);
    assert.ok(session);
    const event = { at: clock(), name: "joined", by: "system", person: "third-2", detail: null };
    await appendEvent(tx, rowMac, session, event);
  });
  assert.deepEqual(await lines(), present);

  // The session does not wait for the witness after the notary excuses her, and her absence cancels no step.
  const people = () => [...(rooms.roomOf(id)?.people.keys() ?? [])];
  Object.assign(here.people.get("third-2") ?? {}, { lastAt: Date.now() - 100_000, phase: "away" });
  await db.transaction((tx) => updateLive(tx, id, sql`state = 'held'`));
  const excuse = (person: string) => excusePerson(deps, operator, code, { person });
  await assert.rejects(excuse("1"), /must be the number of a witness or an observer/);
  await excuse("12");
  await assert.rejects(excuse("12"), /Wanda Wise is not in the session/);
  assert.deepEqual([people(), await lines()], [["notary", "signer-1"], present]);
  assert.match(await (await wanda.look()).text(), /Thank you\. You can close this page/);
  assert.equal((await wanda.send("/media")).status, 409);
  joined(id);
  const stop = watchSessions(deps);
  await until(async () => {
    joined(id);
    return (await liveOf(code)).state === "live";
  });
  await stop();
  assert.equal((await sheetOf(code))?.run, 1);
  // A changed email address in the witness's row makes the row's MAC invalid, so the witness's room doesn't open.
  await db.query(sql`UPDATE live_people SET email = 'eve@example.com' WHERE session_id = ${id} AND n = 12`);
  assert.equal((await wanda.look()).status, 503);
});

test("the return of a credible witness matters only before the signer is identified, that of an interpreter always", () => {
  const people = [
    { n: 11, role: "credible_witness", forSigner: 1 },
    { n: 12, role: "interpreter", forSigner: null },
  ] as LivePerson[];
  const mark = { kind: "step", run: 2, name: "identify", signer: 1, detail: { basis: "credential" } };
  const sheet = (marks: object[]) => ({ run: 2, marks }) as never;
  const vouched = (marks: object[]) => ["third-1", "third-2"].map((name) => isPartDone(people, sheet(marks), name));
  assert.deepEqual(vouched([mark]), [true, false]);
  for (const other of [{ run: 1 }, { signer: 2 }, { name: "appear_online" }])
    assert.deepEqual(vouched([{ ...mark, ...other }]), [false, false]);
});

test("the journal names a witness who was excused early only if that witness had identified the signer", () => {
  const place = "Ohio, United States";
  const people = [
    { n: 11, role: "credible_witness", forSigner: 1, name: "Wanda Wise", place },
    { n: 12, role: "interpreter", forSigner: null, name: "Ivy Ito", place: null },
  ] as LivePerson[];
  const moved = (names: string[]) => names.map((name) => ({ name, person: "third-1" }));
  const interpreter = ["admitted", "joined"].map((name) => ({ name, person: "third-2" }));
  const named = (moves: string[], basis: string | null) => {
    const mark = { kind: "step", run: 1, name: "identify", signer: 1, detail: { basis } };
    const sheet = { run: 1, marks: basis === null ? [] : [mark] } as never;
    const lines = presentLines(people, [...interpreter, ...moved(moves)] as never, sheet);
    assert.equal(lines.at(-1), "Ivy Ito, interpreter");
    return lines.length === 2 && hasVouched(people, sheet, "third-1") === (basis === "credible_witness");
  };
  const came = ["admitted", "joined"];
  assert.equal(named([...came, "excused"], "credible_witness"), true);
  assert.equal(named([...came, "excused"], "credential"), false);
  assert.equal(named([...came, "excused"], null), false);
  assert.equal(named(came, "credential"), true);
  assert.equal(named([...came, "released"], "credible_witness"), false);
  // The list of those present omits people who were admitted but never joined, or who left and did not return.
  assert.equal(named(["admitted"], "credential"), false);
  assert.equal(named(["admitted", "away"], "credential"), false);
  assert.equal(named(["admitted", "away", "back"], "credential"), true);
  assert.equal(named([...came, "excused", "admitted"], "credential"), false);
});

/** Adds an invited person who has agreed to the recording and waits to be admitted. */
async function waiting(session: LiveSession, n: number, role: "witness" | "observer", name: string): Promise<void> {
  const person = {
    id: newUuid(),
    sessionId: session.id,
    n,
    name,
    token: newUuid().replaceAll("-", "").padEnd(40, "0"),
  };
  const consent = JSON.stringify({ agreed: true });
  await db.transaction(async (tx) => {
    await insertPerson(tx, { ...person, role, email: `${role}@example.com`, language: "en" });
    await updatePerson(tx, person.id, sql`consent = ${consent}::jsonb, waiting_at = ${clock()}`);
  });
}

test("an admitted witness who does not join blocks the act, and no act names a witness or observer before they join", async () => {
  const { code } = await begun("late-witness@example.com", "open");
  const { deps, rooms, joined, hear } = otherNode();
  const session = await abandoned(code, -600, deps.own.id);
  const { id, orderId, openedAt } = session;
  await waiting(session, 11, "witness", "Wilma West");
  await waiting(session, 12, "observer", "Otto Okafor");
  const room = rooms.add(id, orderId, openedAt, ["notary", "signer-1"], newLease());
  for (const person of ["11", "12"]) await admitPerson(deps, operator, code, { person });
  joined(id);
  await assert.rejects(markLive(deps, operator, code, { step: "open" }), /Somebody is away/);
  const lines = async () => {
    const sheet = await sheetOf(code);
    assert.ok(sheet);
    return presentLines(await livePeople(db, id), await eventsOf(db, rowMac, await liveOf(code)), sheet);
  };
  const moves = async (person: string) =>
    (await eventsOf(db, rowMac, await liveOf(code))).flatMap((event) => (event.person === person ? [event.name] : []));
  // The admitted witness was last present a minute ago, so at the next check the absence exceeds the limit of 60 s.
  Object.assign(room.people.get("third-1") ?? {}, { lastAt: Date.now() - 60_000 });
  await rooms.connect(id, "third-2", null, true);
  const stop = watchSessions(deps);
  const isIn = (state: string) =>
    until(async () => {
      joined(id);
      return (await liveOf(code)).state === state;
    });
  await isIn("held");
  assert.deepEqual(await lines(), []);
  joined(id, ["third-1"]);
  hear({ kind: "joined", session: id, person: "third-2" });
  await until(async () => {
    joined(id, ["notary", "signer-1", "third-1"]);
    return (await lines()).length === 2 && (await liveOf(code)).state === "live";
  });
  assert.deepEqual(await lines(), ["Wilma West, witness", "Otto Okafor, observer"]);
  hear({ kind: "left", session: id, person: "third-2", cause: "failed" });
  await until(async () => {
    joined(id, ["notary", "signer-1", "third-1"]);
    return (await moves("third-2")).includes("left");
  });
  await stop();
  assert.deepEqual(await moves("third-1"), ["admitted", "away", "joined"]);
  assert.deepEqual(await moves("third-2"), ["admitted", "joined", "left"]);
  assert.equal((await sheetOf(code))?.run, 1);
});

test("an interpreter can't be excused before the notary signs", async () => {
  const { code } = await begun("interpreted@example.com", "identify");
  const { id } = await liveOf(code);
  const { deps } = otherNode();
  await killed(code, -600, deps.own.id);
  const ivy = {
    id: newUuid(),
    sessionId: id,
    n: 11,
    name: "Ivy Ito",
    token: "c".repeat(40),
    role: "interpreter",
  } as const;
  await db.transaction((tx) => insertPerson(tx, { ...ivy, email: "ivy@example.com", language: "en" }));
  await assert.rejects(
    excusePerson(deps, operator, code, { person: "11" }),
    /Ivy Ito interprets until you have signed/,
  );
});

test("a role that no rule of the state names, or to which it says no, is not offered", () => {
  const known = (value: boolean) => ({ value, asOf: "2026-01-01", source: "made up" });
  assert.match(roleObstacle("interpreter", {}) ?? "", /“An interpreter is allowed” is missing/);
  assert.match(roleObstacle("credible_witness", { credibleWitness: known(false) }) ?? "", /say no/);
  assert.equal(roleObstacle("interpreter", { interpreter: known(true) }), null);
  assert.match(roleObstacle("observer", {}) ?? "", /“Observers are allowed” is missing/);
  assert.match(roleObstacle("witness", { witnesses: known(false) }) ?? "", /say no/);
});

test("an observer is admitted where everybody has agreed to it, sends and writes nothing, opens no document, and can be excused", async () => {
  const email = "observed@example.com";
  const { code, room } = await opened(email);
  const signer = await entered(room, email);
  assert.equal((await signer.send("/consent", agreed)).status, 303);
  const otto = { role: "observer", name: "Otto Okafor", email: "otto@example.com", language: "en" };
  assert.equal((await post(desk(code, "/invite"), otto)).status, 303);
  // The signer had agreed to a session without an observer.
  assert.match(await (await post(desk(code, "/start"))).text(), /Jane Doe has not answered/);
  assert.match(await (await signer.look()).text(), /see and hear the session: Otto Okafor/);
  const outdated = await signer.send("/consent", agreed);
  assert.equal(outdated.status, 409, "to people whom the page did not name");
  assert.match(await outdated.text(), /has changed since you opened this page.*hear the session: Otto Okafor/s);
  const withOtto = { ...agreed, observers: "11" };
  const newer = { current: () => ({ version: "2", sha256: "a" }) } as never;
  const upgraded = { ...otherNode().deps, consentTexts: newer };
  assert.equal(await answerConsent(upgraded, signer.link(), withOtto), "changed", "to an earlier text");
  assert.equal((await livePeople(db, (await liveOf(code)).id))[0]?.consent, null);
  assert.equal((await signer.send("/consent", withOtto)).status, 303);
  const his = await until(
    () =>
      mailsTo(running.service, otto.email).flatMap((mail) => /\/notary-room\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
  );
  const observer = await entered(his, otto.email);
  assert.match(await (await post(desk(code, "/start"))).text(), /Otto Okafor has not answered/);
  assert.equal((await observer.send("/consent", withOtto)).status, 303);
  assert.equal((await post(desk(code, "/start"))).status, 303);
  for (const person of ["1", "11"]) assert.equal((await post(desk(code, "/admit"), { person })).status, 303);

  assert.equal((await observer.send("/media")).status, 200);
  const page = await (await observer.look()).text();
  assert.match(page, /data-sends="no"/);
  assert.match(page, /Nobody sees or hears you/);
  assert.doesNotMatch(page, /iframe|you can read it below/);
  for (const file of documentFiles) assert.equal((await observer.look(file)).status, 403, file);
  assert.equal((await observer.send("/message", { text: "I object" })).status, 403);
  assert.equal((await observer.send("/shown", { sha256: "ab".repeat(32) })).status, 403);
  assert.equal((await observer.send("/page", { page: "1", pages: "1" })).status, 403);
  const { id } = await liveOf(code);
  const [recorded] = await db.query<{ people: object[] }>(sql`SELECT people FROM recordings WHERE session = ${id}`);
  assert.deepEqual(recorded?.people.at(-1), { person: "third-1", role: "observer", name: "Otto Okafor" });
  for (const { consent } of await livePeople(db, id)) assert.deepEqual(consent?.observers, [11]);

  assert.equal((await post(desk(code, "/excuse"), { person: "11" })).status, 303);
  assert.equal((await observer.send("/media")).status, 409);
  assert.equal((await post(desk(code, "/end"), { outcome: "abandoned" })).status, 303);
});

test("at most two witnesses who identify nobody are present, and the notary can excuse them", async () => {
  const email = "witnessed@example.com";
  const { code, room } = await opened(email);
  const invite = (name: string) =>
    post(desk(code, "/invite"), { role: "witness", name, email: `${name.slice(-1)}@example.com`, language: "en" });
  for (const name of ["Witness A", "Witness B"]) assert.equal((await invite(name)).status, 303);
  assert.match(await (await invite("Witness C")).text(), /at most 2 witnesses/);
  assert.equal((await post(desk(code, "/withdraw"), { person: "12" })).status, 303);
  const signer = await entered(room, email);
  const link = await until(
    () =>
      mailsTo(running.service, "A@example.com").flatMap(
        (mail) => /\/notary-room\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [],
      )[0],
  );
  const witness = await entered(link, "A@example.com");
  for (const each of [signer, witness]) assert.equal((await each.send("/consent", agreed)).status, 303);
  assert.equal((await post(desk(code, "/start"))).status, 303);
  assert.equal((await post(desk(code, "/admit"), { person: "11" })).status, 303);
  assert.equal((await witness.send("/media")).status, 200);
  // A witness of the act reads the document, as the signer does, until the notary excuses the witness.
  const { orderId } = await liveOf(code);
  const sha256 = (await roomEnvelopeOf(db, orderId))?.head.sha256 ?? "";
  assert.equal(await hashAt(witness), sha256);
  assert.equal((await witness.send("/shown", { sha256: "ab".repeat(32) })).status, 409);
  assert.equal((await witness.send("/shown", { sha256 })).status, 200);
  assert.equal((await witness.send("/page", { page: "1", pages: "2" })).status, 200);
  assert.equal((await post(desk(code, "/excuse"), { person: "11" })).status, 303);
  assert.equal((await witness.send("/media")).status, 409);
  for (const file of documentFiles) assert.equal((await witness.look(file)).status, 409, file);
  assert.equal((await post(desk(code, "/end"), { outcome: "abandoned" })).status, 303);
});
