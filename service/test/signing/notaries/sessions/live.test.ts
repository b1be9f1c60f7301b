import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { roomEnvelopeOf } from "../../../../src/signing/envelopes/envelopes.ts";
import { findSignature, keepPrepared, keepSigned } from "../../../../src/signing/notaries/acts/signatures.ts";
import { claimedOrder } from "../../../../src/signing/notaries/claims/claims.ts";
import {
  admitPerson,
  closeForAct,
  currentSha256,
  markLive,
  openForPerson,
  releaseBrowser,
  sweepSignatures,
  watchSessions,
} from "../../../../src/signing/notaries/notaries.ts";
import { onRecord, requireTogether } from "../../../../src/signing/notaries/sessions/act.ts";
import { endTechnical } from "../../../../src/signing/notaries/sessions/end.ts";
import { eventsOf, findLive, updateLive } from "../../../../src/signing/notaries/sessions/store.ts";
import { openTurn } from "../../../../src/signing/notaries/sheets/steps.ts";
import {
  abandoned,
  agreed,
  at,
  begun,
  browserAt,
  clock,
  db,
  desk,
  documentFiles,
  entered,
  given,
  hashAt,
  killed,
  liveOf,
  marksUntil,
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
  sheetOf,
  signatures,
} from "./session-world.ts";

test("written messages reach notary and signer, are part of the recording's manifest, and end with the recording", async () => {
  const email = "deaf@example.com";
  const { code, room } = await opened(email);
  const early = await entered(room, email);
  const hello = { text: "I can’t hear: <i>please</i> write" };
  assert.equal((await post(desk(code, "/message"), hello)).status, 409);
  assert.equal((await early.send("/message", hello)).status, 409);
  assert.equal((await early.send("/consent", agreed)).status, 303);
  assert.equal((await post(desk(code, "/start"))).status, 303);
  assert.equal((await post(desk(code, "/message"), { text: "Before you came" })).status, 200);
  assert.equal((await early.send("/message", hello)).status, 409);
  assert.equal((await early.look("/messages")).status, 409);
  assert.equal((await post(desk(code, "/admit"), { person: "1" })).status, 303);
  assert.equal((await early.send("/message", hello)).status, 200);
  assert.equal((await browserAt(room).send("/message", hello)).status, 409);
  for (const text of ["", "  ", "two\nlines", "x".repeat(501)])
    assert.equal((await early.send("/message", { text })).status, 400, JSON.stringify(text));
  const textsFor = async (answer: Response) =>
    ((await answer.json()) as { messages: { text: string; person: string }[] }).messages.map(
      ({ person, text }) => `${person}: ${text}`,
    );
  const said = `signer-1: ${hello.text}`;
  assert.deepEqual(await textsFor(await early.look("/messages")), [said], "only since the signer was let in");
  const ours = await fetch(at(desk(code, "/messages")), { headers: { cookie: nora.cookie } });
  assert.deepEqual(await textsFor(ours), ["notary: Before you came", said]);
  for (let count = 1; count < 20; count++) assert.equal((await early.send("/message", hello)).status, 200);
  assert.equal((await early.send("/message", hello)).status, 429);
  assert.equal((await post(desk(code, "/message"), { text: "Slowly, please" })).status, 200);

  assert.equal((await post(desk(code, "/end"), { outcome: "abandoned" })).status, 303);
  assert.equal((await early.send("/message", hello)).status, 409);
  const { id } = await liveOf(code);
  const manifest = await until(async () => {
    const [row] = await db.query<{ manifest: string | null }>(
      sql`SELECT manifest FROM recordings WHERE session = ${id}`,
    );
    return row?.manifest;
  });
  const { marks } = JSON.parse(manifest) as { marks: { kind: string; person: string; sha256?: string }[] };
  const written = await db.query<{ sha256: string }>(sql`
    SELECT m.sha256 FROM recording_messages m JOIN recordings r ON r.id = m.recording_id WHERE r.session = ${id} ORDER BY m.n`);
  assert.deepEqual(
    marks.flatMap(({ kind, sha256 }) => (kind === "message" ? [{ sha256 }] : [])),
    written,
  );
  assert.equal(written.length, 22);
});

test("an act opens once all its signers are connected and recorded, a step in which the notary sees a signer needs their picture on the notary's page, and a session on hold names who is away", async () => {
  const { code } = await begun("not-in-yet@example.com", "open");
  const { deps, rooms, joined } = otherNode();
  const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
  const room = rooms.add(id, orderId, openedAt, ["notary"], newLease());
  const marks = (typed: Record<string, string>) => {
    joined(id);
    return markLive(deps, operator, code, typed);
  };
  const isOpen = async () => openTurn((await sheetOf(code)) as never)?.step.name;
  await assert.rejects(marks({ step: "open" }), /Opening is not open yet: Jane Doe is not here now/);
  await rooms.expect(id, "signer-1");
  room.recorded.add("notary");
  await assert.rejects(marks({ step: "open" }), /Jane Doe is not on the recording yet/);
  room.recorded.add("signer-1");
  await marks({ step: "open" });
  for (const step of ["appear_online", "credential"]) {
    if (step === "credential") await marksUntil(code, step);
    const sees = { step, signer: "1" };
    for (const shows of [{}, { shows: "" }, { shows: "signer-2 notary" }])
      await assert.rejects(marks({ ...sees, ...shows }), /not open yet: Your page shows no moving picture of Jane Doe/);
    assert.equal(await isOpen(), step);
    await marks({ ...sees, shows: "signer-1" });
    assert.notEqual(await isOpen(), step);
  }
  const heldAs = async (isPaused: boolean, silent: string, refusal: RegExp) => {
    await db.transaction((tx) => updateLive(tx, id, sql`state = 'held', is_paused = ${isPaused}`));
    joined(id);
    Object.assign(room.people.get(silent) ?? {}, { lastAt: Date.now() - 60_000 });
    await assert.rejects(markLive(deps, operator, code, { step: "alone", signer: "1" }), refusal);
  };
  await heldAs(true, "signer-1", /You hold the session/);
  await heldAs(false, "signer-1", /on hold: camera and sound of Jane Doe don’t arrive/);
  await heldAs(false, "notary", /on hold: your own camera and sound don’t arrive/);
  await heldAs(false, "nobody", /on hold\. Try it again/);
});

test("the hash of the document that each browser shows is recorded; a wrong hash is recorded and refused", async () => {
  const { code, signer } = await begun("shown@example.com", "sign");
  const { id, orderId } = await liveOf(code);
  const now = (await roomEnvelopeOf(db, orderId))?.head.sha256 ?? "";
  for (const sha256 of ["", "AB".repeat(32), "ab"]) assert.equal((await signer.send("/shown", { sha256 })).status, 400);
  const page = async () => (await fetch(at(desk(code)), { headers: { cookie: nora.cookie } })).text();
  assert.match(await page(), /not opened yet/);
  const other = "ab".repeat(32);
  assert.equal((await signer.send("/shown", { sha256: other })).status, 409);
  assert.match(await page(), /showed another one, or an earlier version/);
  for (let count = 0; count < 2; count++) assert.equal((await signer.send("/shown", { sha256: now })).status, 200);
  assert.equal((await post(desk(code, "/shown"), { sha256: now })).status, 200);
  assert.match(await page(), /shows the current one/);
  assert.equal((await post(desk(code, "/end"), { outcome: "abandoned" })).status, 303);
  const manifest = await until(async () => {
    const rows = await db.query<{ manifest: string | null }>(
      sql`SELECT manifest FROM recordings WHERE session = ${id}`,
    );
    return rows[0]?.manifest;
  });
  const { marks } = JSON.parse(manifest) as { marks: { kind: string; person: string; sha256?: string }[] };
  assert.deepEqual(
    marks.flatMap(({ kind, person, sha256 }) => (kind === "shown" ? [[person, sha256]] : [])),
    [
      ["signer-1", other],
      ["signer-1", now],
      ["notary", now],
    ],
  );
  assert.equal((await signer.send("/shown", { sha256: now })).status, 409);
});

test("a document that was signed before is open to the people of its session alone, while it is recorded, and their browsers' hashes go on record", async () => {
  const email = "before@example.com";
  const code = await orders.place({ email, svc_sign: "true" });
  await orders.signsAtHome(email);
  await orders.reachesNotary(code);
  await orders.claim(code, nora.cookie);
  assert.equal((await post(desk(code), { act: "acknowledgment" })).status, 303);
  const room = await roomOf(email);
  const refused = async (browser: ReturnType<typeof browserAt>, status: number) => {
    for (const file of documentFiles) assert.equal((await browser.look(file)).status, status, file);
  };
  const link = browserAt(room);
  const signer = await entered(room, email);
  await refused(browserAt(`/notary-room/${"0".repeat(40)}`), 404);
  await refused(browserAt("/notary-room/x"), 404);
  await refused(link, 409);
  await refused(signer, 409);
  assert.equal((await signer.send("/consent", agreed)).status, 303);
  assert.equal((await post(desk(code, "/start"))).status, 303);
  await refused(signer, 409);
  assert.doesNotMatch(await (await signer.look()).text(), /iframe/);
  assert.equal((await post(desk(code, "/admit"), { person: "1" })).status, 303);
  const other = await begun("beside@example.com", "sign");
  assert.equal((await fetch(at(`${room}/document.pdf`), { headers: { cookie: other.signer.cookie() } })).status, 409);
  await refused(link, 409);

  const { id, orderId } = await liveOf(code);
  assert.equal(await roomEnvelopeOf(db, orderId), undefined, "nobody signs in this session");
  const sha256 = await currentSha256(db, orderId);
  const frame = new RegExp(`<iframe id="document-frame"[^>]* src="${room}/document\\?of=${sha256}"`);
  assert.match(await (await signer.look()).text(), frame);
  assert.match(await (await signer.look("/part")).text(), frame);
  const page = await signer.look("/document");
  assert.match(page.headers.get("content-security-policy") ?? "", /frame-ancestors 'self'/);
  assert.match(await page.text(), new RegExp(`"document":"${room}/document.pdf"`));
  assert.equal(await hashAt(signer), sha256);
  assert.equal((await signer.send("/shown", { sha256: "ab".repeat(32) })).status, 409);
  assert.equal((await signer.send("/shown", { sha256: sha256 ?? "" })).status, 200);
  // The notary leads the signer through the document.
  assert.equal((await post(desk(code, "/shown"), { sha256: sha256 ?? "" })).status, 200);
  assert.equal((await post(desk(code, "/page"), { page: "1" })).status, 200);
  const reads = await signer.send("/page", { page: "1", pages: "2", following: "yes" });
  assert.deepEqual(await reads.json(), { led: { page: 1, sha256 } });
  const shown = (await eventsOf(db, rowMac, await liveOf(code))).filter(({ name }) => name === "shown");
  assert.deepEqual(
    shown.map(({ person, detail }) => [person, detail]),
    [
      ["signer-1", { sha256: "ab".repeat(32), isCurrent: false }],
      ["signer-1", { sha256, isCurrent: true }],
      ["notary", { sha256, isCurrent: true }],
    ],
  );
  const unrecorded = otherNode();
  await assert.rejects(openForPerson(unrecorded.deps, signer.link()), { code: "unavailable" });

  assert.equal((await post(desk(code, "/release"), { person: "1" })).status, 303);
  await refused(signer, 409);
  assert.equal((await post(desk(code, "/end"), { outcome: "abandoned" })).status, 303);
  await until(async () => (await findLive(db, id))?.state === "ended");
  await refused(signer, 409);
});

test("the notary asks signers to go to pages that the document has, on record; a signer's page is told to the notary alone", async () => {
  const { code, signer } = await begun("pages@example.com", "sign");
  const { id, orderId } = await liveOf(code);
  const now = (await roomEnvelopeOf(db, orderId))?.head.sha256 ?? "";
  const show = (page: string) => post(desk(code, "/page"), { page });
  const early = await show("2");
  assert.equal(early.status, 409);
  assert.match(await early.text(), /Load the document first/);
  assert.equal((await post(desk(code, "/shown"), { sha256: "ab".repeat(32) })).status, 409);
  assert.equal((await show("2")).status, 409, "of another document no page is shown");
  assert.equal((await post(desk(code, "/shown"), { sha256: now })).status, 200);
  for (const page of ["", "0", "-1", "1.5", "10001", "x"]) assert.equal((await show(page)).status, 400, page);
  const reads = (typed: Record<string, string>) => signer.send("/page", typed);
  for (const wrong of [{}, { page: "3", pages: "2" }, { page: "1" }]) assert.equal((await reads(wrong)).status, 400);
  const at = { page: "1", pages: "2", following: "no" };
  assert.deepEqual(await (await reads(at)).json(), { led: null });
  // A repeated request adds nothing to the record.
  for (let count = 0; count < 3; count++) assert.equal((await show("2")).status, 200);
  const beyond = await show("3");
  assert.equal(beyond.status, 400);
  assert.match(await beyond.text(), /page must be at most 2, the document’s last page/);
  assert.deepEqual(await (await reads(at)).json(), { led: { page: 2, sha256: now } });
  const events = (await eventsOf(db, rowMac, await liveOf(code))).filter(({ name }) => name === "page");
  assert.deepEqual(
    events.map(({ person, detail }) => ({ person, detail })),
    [{ person: "notary", detail: { page: 2, sha256: now } }],
  );
  assert.equal((await post(desk(code, "/end"), { outcome: "abandoned" })).status, 303);
  const manifest = await until(async () => {
    const rows = await db.query<{ manifest: string | null }>(
      sql`SELECT manifest FROM recordings WHERE session = ${id}`,
    );
    return rows[0]?.manifest;
  });
  const { marks } = JSON.parse(manifest) as { marks: { kind: string; person: string; sha256?: string }[] };
  const ofPages = marks.filter(({ kind }) => kind.startsWith("page")).map(({ kind, sha256 }) => ({ kind, sha256 }));
  assert.deepEqual(ofPages, [{ kind: "page 2", sha256: now }]);
  assert.equal((await show("1")).status, 409);
});

test("a hold blocks the open signature at once", async () => {
  const { code } = await begun("hold@example.com", "sign");
  await given(code);
  assert.deepEqual(await signatures(code), [{ maySign: true }]);
  assert.equal((await post(desk(code, "/hold"), { hold: "yes" })).status, 303);
  assert.deepEqual(await signatures(code), [{ maySign: false }]);
});

test("a person who joins with another browser loses the document, and the act begins again", async () => {
  const { code } = await begun("other@example.com", "sign");
  const pages = await given(code);
  assert.equal((await fetch(at(pages))).status, 200);
  assert.equal((await post(desk(code, "/release"), { person: "1" })).status, 303);
  assert.equal((await fetch(at(pages))).status, 404);
  const sheet = await sheetOf(code);
  assert.deepEqual([sheet?.run, sheet && openTurn(sheet)?.step.name], [2, "open"]);
});

test("a session ends once its order is on hold, refunded or locked, because its notary can't end it any more", async () => {
  const { code: open } = await opened("held-early@example.com");
  const { code: live } = await begun("held@example.com", "identify");
  const { code: locked } = await begun("locked-order@example.com", "identify");
  const hold = ["OnHold", "--reason", "A dispute."];
  for (const code of [open, live]) await running.service.cli("order", "move", code, ...hold);
  await running.service.cli("order", "move", locked, "IdentityLocked", "--reason", "Not the person.");
  for (const [code, outcome] of [
    [open, "abandoned"],
    [live, "abandoned"],
    [locked, "identity"],
  ] as const) {
    await until(async () => (await liveOf(code)).state === "ended");
    assert.deepEqual([(await liveOf(code)).outcome, (await sheetOf(code))?.outcome], [outcome, outcome]);
  }
});

test("a signed revision stays while its session waits for the document to be sealed, and expires after that", async () => {
  const { code } = await begun("seal-later@example.com", "notary_signs");
  const { id, taskId, notaryId } = await abandoned(code, -600);
  const [key, at, bytes] = [{ taskId, notaryId }, new Date(Date.now() - 2 * 3_600_000), Buffer.from("revision")];
  const prepared = { givenSha256: "a".repeat(64), actSha256: "b".repeat(64), certificate: bytes, tail: bytes };
  await keepPrepared(db, key, { ...prepared, contentsStart: 1, contentsEnd: 2, signedAttrs: bytes }, at);
  await keepSigned(db, key, bytes, bytes);
  assert.equal(await findSignature(db, key, clock()), undefined);
  await db.transaction((tx) => updateLive(tx, id, sql`state = 'signed'`));
  await sweepSignatures(db, clock());
  assert.equal((await findSignature(db, key, clock()))?.isSigned, true);
  await endTechnical(otherNode().deps, await liveOf(code));
  await db.transaction((tx) => updateLive(tx, id, sql`node = NULL, lease_until = NULL`));
  await until(async () => (await liveOf(code)).state === "ended");
  assert.equal(await findSignature(db, key, clock()), undefined);
  await sweepSignatures(db, clock());
  assert.deepEqual(await db.query(sql`SELECT FROM notary_signatures WHERE task_id = ${taskId}`), []);
});

test("a file that is not accepted ends no recording, and nobody can sign an act without its people", async () => {
  const { code } = await begun("junk@example.com", "notary_signs");
  const body = new FormData();
  body.append("document", new Blob(["junk"], { type: "application/pdf" }), "d.pdf");
  const headers = { cookie: nora.cookie, Origin: running.service.baseUrl };
  const order = `/operator/notary/orders/${code}`;
  const answer = await fetch(at(`${order}/complete`), { method: "POST", redirect: "manual", headers, body });
  assert.ok([400, 409].includes(answer.status), String(answer.status));
  assert.notEqual((await liveOf(code)).state, "signed");

  const { deps, rooms, ended } = otherNode();
  const { id, orderId } = await killed(code, 1, deps.own.id);
  const signed = { sha256: "a", actSha256: "b" };
  const close = (more = {}) => closeForAct(deps, operator, code, { ...signed, ...more });
  const room = rooms.add(id, orderId, clock(), ["notary"], newLease());
  Object.assign(room.people.get("notary") ?? {}, { hasJoined: true });
  await assert.rejects(close(), /somebody is away/);
  // An admitted witness has not arrived yet.
  const withWitness = rooms.add(id, orderId, clock(), ["notary", "signer-1", "third-1"], newLease());
  for (const person of ["notary", "signer-1"]) Object.assign(withWitness.people.get(person) ?? {}, { hasJoined: true });
  await assert.rejects(close(), /somebody is away/);
  rooms.add(id, orderId, clock(), ["notary", "signer-1"], newLease());
  for (const presence of rooms.roomOf(id)?.people.values() ?? []) presence.hasJoined = true;
  await db.transaction((tx) => updateLive(tx, id, sql`state = 'live'`));
  const claimed = await claimedOrder(deps.sheets.desk, operator, code);
  await assert.rejects(onRecord(deps, claimed), { code: "conflict", message: /only just starting/ });
  await close();
  assert.deepEqual([(await liveOf(code)).state, ended], ["signed", [id]]);
  await assert.rejects(onRecord(deps, claimed), { code: "conflict", message: /You have signed/ });
  // Closing again with the same file is accepted; another file is refused.
  await close();
  await assert.rejects(close({ sha256: "c" }), /another file or act/);
  const act = { mode: "ron", session: { id }, recording: { head: {} } } as never;
  const { taskId } = await liveOf(code);
  await requireTogether(db, taskId, act);
  await assert.rejects(requireTogether(db, taskId, act, false), /the recording has ended/);
  await assert.rejects(releaseBrowser(deps, operator, code, { person: "1" }), /You have signed/);
  await assert.rejects(
    admitPerson(deps, operator, code, { person: "1" }),
    /You have signed/,
    "the recording has ended",
  );
  assert.equal((await post(desk(code, "/release"), { person: "1" })).status, 503, "another node has the session");
});

test("a session is on hold, with an event, while frames of a person stay incomplete", async () => {
  const { code } = await begun("torn@example.com", "identify");
  const { deps, rooms, joined, hear } = otherNode();
  const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
  rooms.add(id, orderId, openedAt, ["notary", "signer-1"], newLease());
  joined(id);
  hear({ kind: "incomplete", session: id, person: "signer-1", take: 1, media: "video" });
  const room = rooms.roomOf(id);
  Object.assign(room?.people.get("signer-1") ?? {}, { lastAt: Date.now() - 5_000 });
  const stop = watchSessions(deps);
  await until(async () => {
    joined(id, ["notary"]);
    return (await liveOf(code)).state === "held";
  });
  await stop();
  const events = await eventsOf(db, rowMac, await liveOf(code));
  const frozen = events.find(({ name, person }) => name === "frozen" && person === "signer-1");
  assert.equal((frozen?.detail as { cause?: string })?.cause, "incomplete frames");
});
