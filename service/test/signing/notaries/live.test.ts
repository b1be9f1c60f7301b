import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { isWaitedFor } from "@signsealship/testing/lock-waits";
import { changeRowsOf } from "@signsealship/testing/row-mac";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { columnCipher } from "../../../src/kernel/platform/column-cipher.ts";
import type { Tx } from "../../../src/kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { newSecret, newUuid } from "../../../src/kernel/platform/ids.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { OwnNode } from "../../../src/kernel/platform/nodes.ts";
import { openSecretsKey, secretBytes } from "../../../src/kernel/platform/secrets.ts";
import { taskState } from "../../../src/kernel/tasks/tasks.ts";
import { lockOrder } from "../../../src/orders/order/order.ts";
import type { MediaEngine, MediaEvent } from "../../../src/providers/providers.ts";
import { giveToSigner, roomEnvelopeOf } from "../../../src/signing/envelopes/envelopes.ts";
import { openRoomOf } from "../../../src/signing/envelopes/records/rooms.ts";
import { findSignature, keepPrepared, keepSigned } from "../../../src/signing/notaries/acts/signatures.ts";
import { eligibilityReader } from "../../../src/signing/notaries/eligibility/changes/in-force.ts";
import { loadNotaryRules } from "../../../src/signing/notaries/eligibility/rules.ts";
import { isProofVoid, proofVoid } from "../../../src/signing/notaries/identity/results.ts";
import {
  checksOf,
  endCheck,
  endProof,
  type IdentityCheck,
  insertCheck,
  insertProof,
} from "../../../src/signing/notaries/identity/store.ts";
import {
  addNotary,
  admitPerson,
  answerConsent,
  closeForAct,
  connectPerson,
  currentSha256,
  endLive,
  enteredBy,
  enterRoom,
  excusePerson,
  type LiveDeps,
  type LivePerson,
  type LiveSession,
  markLive,
  noteLiveWitness,
  openForPerson,
  releaseBrowser,
  renewNotaryLinks,
  reopen,
  roleObstacle,
  startLive,
  sweepSignatures,
  wasUnrecorded,
  watchSessions,
  withdrawPerson,
} from "../../../src/signing/notaries/notaries.ts";
import { recordingDisk } from "../../../src/signing/notaries/recordings/disk.ts";
import type { Recordings } from "../../../src/signing/notaries/recordings/recordings.ts";
import type { RequireHeld } from "../../../src/signing/notaries/recordings/store.ts";
import { giveTurn, requireTogether } from "../../../src/signing/notaries/sessions/act.ts";
import { requireDisk } from "../../../src/signing/notaries/sessions/disk-room.ts";
import { endTechnical } from "../../../src/signing/notaries/sessions/end.ts";
import { voidProofs } from "../../../src/signing/notaries/sessions/hold.ts";
import { fence, renew } from "../../../src/signing/notaries/sessions/holding.ts";
import { leaseMs, requireHere, requireLease, turnEndOf } from "../../../src/signing/notaries/sessions/lease.ts";
import { roomCode, roomTokenOf } from "../../../src/signing/notaries/sessions/mail.ts";
import { writeAsNotary } from "../../../src/signing/notaries/sessions/messages.ts";
import { showPage } from "../../../src/signing/notaries/sessions/pages.ts";
import { LiveRooms } from "../../../src/signing/notaries/sessions/rooms.ts";
import { reportShownToNotary } from "../../../src/signing/notaries/sessions/shown.ts";
import {
  appendEvent,
  eventsOf,
  findLive,
  insertPerson,
  livePeople,
  lockLive,
  sha256Of,
  updateLive,
  updatePerson,
} from "../../../src/signing/notaries/sessions/store.ts";
import { hasVouched, isPartDone, presentLines } from "../../../src/signing/notaries/sessions/third-persons.ts";
import { endUnrecorded } from "../../../src/signing/notaries/sessions/unrecorded.ts";
import { lockOpenSheet, markStep } from "../../../src/signing/notaries/sheets/sheet.ts";
import { openTurn } from "../../../src/signing/notaries/sheets/steps.ts";
import { findSheet, sheetsOfOrder } from "../../../src/signing/notaries/sheets/store.ts";
import { mailsTo, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { certificateFiles } from "./certificate-files.ts";
import { liveSettings } from "./live-rules.ts";
import { ohioCommission, ordersToNotarize } from "./orders-to-notarize.ts";

const folder = await forTests(temporaryFolder());
const settings = liveSettings(folder.path, {
  ...{ credibleWitness: "true", interpreter: "false", witnesses: "true", observers: "true" },
});
const running = await forTests(openHarness(settings));
const certificate = certificateFiles(folder.path)("Nora Ames", { key: "p256" }).pem;
const partner = await newPartner(running.service);
const nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
const commission = { ...ohioCommission, certificate };
await addNotary({ db: running.db, clock: () => new Date() }, nora.id, commission, "operator");

const orders = ordersToNotarize(running, partner);
const at = (path: string) => running.service.baseUrl + path;
const desk = (code: string, rest = "") => `/operator/notary/orders/${code}/session${rest}`;
const post = (path: string, typed: Record<string, string> = {}) =>
  postForm(at(path), typed, { cookie: nora.cookie, Accept: "application/json" });

/** The path of the room to which a mailed link leads. */
const roomOf = (email: string): Promise<string> =>
  until(
    () => mailsTo(running.service, email).flatMap((mail) => /\/notary-room\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
  );

/** A session of an order with one signer. @returns the order's code, and the path of the signer's room */
async function opened(email: string): Promise<{ code: string; room: string }> {
  const code = await orders.place({ email });
  await orders.claim(code, nora.cookie);
  const began = await post(desk(code), { act: "jurat" });
  assert.equal(began.status, 303, await began.text());
  return { code, room: await roomOf(email) };
}

/** A browser that sends requests below a room's path, and keeps the room's cookie. */
function browserAt(room: string) {
  let cookie = "";
  return {
    async send(rest: string, typed: Record<string, string> = {}) {
      const answer = await postForm(at(`${room}${rest}`), typed, {
        ...(cookie && { cookie }),
        Accept: "application/json",
      });
      cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? cookie;
      return answer;
    },
    look: async (rest = "") => fetch(at(`${room}${rest}`), { headers: cookie ? { cookie } : {} }),
    cookie: () => cookie,
    link: () => ({ token: room.replace("/notary-room/", ""), browser: cookie.replace(/^[^=]*=/, "") }),
  };
}

async function entered(room: string, email: string) {
  const browser = browserAt(room);
  assert.equal((await browser.send("/code")).status, 303);
  const code = await until(
    () => mailsTo(running.service, email).flatMap((mail) => /Your code is (\d{6})\./.exec(mail)?.[1] ?? [])[0],
  );
  assert.equal((await browser.send("/enter", { code })).status, 303);
  return browser;
}

/** Two paths below the path of a person's room: the page that the room shows in a frame, and the document's PDF. */
const documentFiles = ["/document", "/document.pdf"];

/** The hash of the document that a person's browser gets. */
async function hashAt(browser: ReturnType<typeof browserAt>): Promise<string> {
  const answer = await browser.look("/document.pdf");
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("cache-control") ?? "", /no-store/);
  return hash("sha256", Buffer.from(await answer.arrayBuffer()));
}

const agreed = {
  ...{ answer: "agree", own: "on", version: "1", language: "en" },
  ...{ city: "Columbus", region: "Ohio", country: "US" },
};
/** The names of all recording files on the service's disk. */
function spooled(): string[] {
  const files = readdirSync(join(running.service.dataDir, "recordings"), { recursive: true, withFileTypes: true });
  return files.filter((file) => file.isFile()).map(({ name }) => name);
}

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

const { db, rowMac } = running;
const clock = () => new Date();
const secrets = await openSecretsKey(`file:${join(running.service.dataDir, "keys/secrets")}`);
const by = { by: "system" };

async function liveOf(code: string): Promise<LiveSession> {
  const [row] = await db.query<{ id: string }>(sql`
    SELECT l.id FROM live_sessions l JOIN orders o ON o.id = l.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
  const session = await findLive(db, row?.id ?? "");
  assert.ok(session);
  return session;
}

const sheetOf = async (code: string) => findSheet({ db, rowMac }, (await liveOf(code)).sheetId);

/** A session that has begun and whose signer was admitted, with the steps before `step` marked. */
async function begun(email: string, step: string) {
  const { code, room } = await opened(email);
  const signer = await entered(room, email);
  assert.equal((await signer.send("/consent", agreed)).status, 303);
  assert.equal((await post(desk(code, "/start"))).status, 303);
  assert.equal((await post(desk(code, "/admit"), { person: "1" })).status, 303);
  await marksUntil(code, step);
  return { code, signer, room };
}

async function marksUntil(code: string, step: string): Promise<void> {
  const { sheetId } = await liveOf(code);
  await db.transaction(async (tx) => {
    let sheet = await lockOpenSheet(tx, rowMac, sheetId);
    for (let turn = openTurn(sheet); turn && turn.step.name !== step; turn = openTurn(sheet)) {
      const mark = { name: turn.step.name, signer: turn.signer, choice: turn.step.choices[0] ?? null };
      sheet = await markStep(tx, rowMac, sheet, mark, { ...by, at: clock() }, () => null);
    }
  });
}

/** Opens the document for the signer, who may then sign. @returns the path of the signing pages */
async function given(code: string, until?: Date): Promise<string> {
  const { orderId } = await liveOf(code);
  const token = await db.transaction(async (tx) => {
    const envelope = await roomEnvelopeOf(tx, orderId);
    const turn = { n: 1, maySign: true, presence: "in a test", actor: "system", at: clock(), ...(until && { until }) };
    return giveToSigner(tx, rowMac, envelope?.id ?? 0, turn);
  });
  return `/sign/${token}`;
}

const signatures = async (code: string) =>
  db.query<{ maySign: boolean }>(sql`
    SELECT r.may_sign AS "maySign" FROM signer_rooms r JOIN envelope_signers s ON s.id = r.signer_id
      JOIN envelopes e ON e.id = s.envelope_id
    WHERE e.order_id = ${(await liveOf(code)).orderId} AND r.closed_at IS NULL`);

const shipped = loadNotaryRules(settings["NOTARY_RULES"] ?? "");
const operator = { id: nora.id, actor: `operator:${nora.id}`, environment: "test", roles: ["notary"] } as never;

/**
 * Another process on the same database, with a simulated engine that only reports whose video arrives. Tests can
 * replace three hooks in the returned `changes`: `before` and `after` run before and after each transaction, and `read`
 * before each statement outside of transactions. The parameter `before` is the first value of that hook.
 */
function otherNode({
  begin = async () => {},
  before = async () => {},
  admit = async () => {},
  leave = async (_: string) => {},
  resume = async (_: string, __: RequireHeld) => {},
  aheadMs = 0,
} = {}) {
  const clock = () => new Date(Date.now() + aheadMs);
  let hear: (event: MediaEvent) => void = () => {};
  const ended: string[] = [];
  const engine = {
    listen(listener: typeof hear) {
      hear = listener;
      return () => {};
    },
    async admit() {
      await admit();
      return { ticket: newUuid(), iceServers: [] };
    },
    remove: async () => {},
  } as unknown as MediaEngine;
  const end = async (session: string) => void ended.push(session);
  const interrupted: string[] = [];
  const tellInterrupted = async (_: Tx, __: string, ___: Date, cause: string) => void interrupted.push(cause);
  const recordings = { begin, end, leave, resume, tellInterrupted, headOf: () => null } as unknown as Recordings;
  const free = { bytes: 1e12, sessions: [] as string[] };
  const disk = { leastBytes: 5e9, freeBytes: async () => free.bytes, sessions: async () => free.sessions };
  const rooms = new LiveRooms({ engine, recordings, now: () => clock().getTime() });
  const readEligibility = eligibilityReader({ shipped, clock, notarizationBlocked: () => false });
  const changes = { node: { before, after: async () => {}, read: async (_: Statement) => {} } };
  const node = Object.assign(Object.create(db), {
    async query(statement: Statement) {
      await changes.node.read(statement);
      return db.query(statement);
    },
    async transaction(work: Parameters<typeof db.transaction>[0]) {
      await changes.node.before();
      const result = await db.transaction(work);
      await changes.node.after();
      return result;
    },
  });
  const papers = { titleOf: () => null };
  const parts = { db: node, rowMac, clock, log: openLog("silent"), readEligibility, papers };
  const own = new OwnNode({ secrets: secretBytes(Buffer.alloc(32)), clock, url: null });
  const identity = { desk: parts, secrets };
  const deps = { sheets: { desk: parts }, identity, recordings, disk, rooms, own } as unknown as LiveDeps;
  const joined = (session: string, people = ["notary", "signer-1"]) => {
    for (const person of people)
      hear({
        ...{
          kind: "quality",
          session,
          person,
          at: Date.now(),
          audioPackets: 50,
          videoPackets: 20,
          lost: 0,
          dropped: 0,
        },
        ...{ silentMs: 0, unseenMs: 0, picture: { width: 640, height: 480 } },
      });
  };
  return {
    deps,
    rooms,
    ended,
    interrupted,
    free,
    joined,
    hear: (event: MediaEvent) => hear(event),
    changes: changes.node,
  };
}

const newLease = () => ({ until: 0, since: performance.now() });

/** Makes the session look like one whose service was killed this many seconds ago. */
async function killed(code: string, seconds: number, node = "killed"): Promise<LiveSession> {
  const { id } = await liveOf(code);
  const at = new Date(Date.now() - seconds * 1000 + leaseMs);
  await db.transaction((tx) => updateLive(tx, id, sql`state = 'live', node = ${node}, lease_until = ${at}`));
  return liveOf(code);
}

/**
 * Like `killed`, but first waits until this test's service has released the lease, because the service could renew it.
 */
async function abandoned(code: string, seconds: number, node?: string): Promise<LiveSession> {
  await killed(code, -600, "other");
  await until(async () => (await post(desk(code, "/media"))).status === 503);
  return killed(code, seconds, node);
}

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
    ...{ principal_1_witness_name: "Wanda Wise", principal_1_witness_address: "2 Side Street" },
    ...{ principal_1_type: "Passport", principal_1_issuer: "United States", principal_1_result: "checked on camera" },
    ...{ principal_1_issued: "2020-01-01", principal_1_expires: "2040-01-01" },
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

test("a person whom the notary excuses while they connect is not connected", async () => {
  const { code, room } = await begun("gone@example.com", "identify");
  const { id, orderId } = await liveOf(code);
  const browser = newSecret();
  const [person] = await livePeople(db, id);
  assert.ok(person);
  const link = { token: room.split("/").at(-1) ?? "", browser };
  await db.transaction((tx) => updatePerson(tx, person.id, sql`browser_sha256 = ${sha256Of(browser)}`));
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
    db.transaction((tx) => updatePerson(tx, person.id, sql`browser_sha256 = ${sha256Of(browser)}`));
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
  // The admitted witness was last present a minute ago. That is longer than the absence that makes an act begin again.
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

test("a check that was passed before another browser was admitted is void, and a later one counts, on nodes whose clocks differ", async () => {
  const { code } = await begun("skew@example.com", "sign");
  const session = await liveOf(code);
  const check = checksFor(session);
  const isVoid = async () => {
    const [passed] = await checksOf(db, session.orderId);
    assert.ok(passed);
    return isProofVoid(await sheetsOfOrder({ db, rowMac }, session.orderId), passed);
  };
  const tenMinutes = 600_000;
  await check({ state: "passed", at: new Date(Date.now() + tenMinutes) });
  assert.equal((await post(desk(code, "/release"), { person: "1" })).status, 303);
  assert.equal(await isVoid(), true);
  await check({ state: "passed", at: new Date(Date.now() - tenMinutes) });
  assert.equal(await isVoid(), false);
});

test("events of earlier releases make those checks void that the same signer had passed before", () => {
  const at = new Date();
  const mark = { kind: "event" as const, name: proofVoid, signer: 1, at: at.toISOString(), detail: null };
  const sheets = [{ marks: [{ ...mark, position: 1, by: "system", run: 1, choice: null }] }];
  const isVoid = (person: number, ms: number) =>
    isProofVoid(sheets, { id: newUuid(), person, endedAt: new Date(at.getTime() + ms) });
  assert.deepEqual([isVoid(1, -1), isVoid(1, 1), isVoid(2, -1)], [true, false, false]);
});

/** The form in which the notary records that they identified the signer by a credential (here, a passport). */
const byCredential = {
  ...{ step: "identify", signer: "1", principal_1_name: "Jane Doe", principal_1_address: "1 Main Street" },
  ...{ principal_1_basis: "credential", principal_1_type: "Passport", principal_1_issuer: "United States" },
  ...{ principal_1_result: "checked", principal_1_issued: "2020-01-01", principal_1_expires: "2040-01-01" },
};

type Checked = { state: IdentityCheck["state"]; at: Date; tried?: string };

/** Writes identity checks of the session's signer. Each replaces the one before. */
function checksFor({ orderId, notaryId }: LiveSession) {
  return async ({ state, at, tried }: Checked): Promise<void> => {
    await db.query(
      sql`DELETE FROM identity_proofs USING identity_checks c WHERE check_id = c.id AND c.order_id = ${orderId}`,
    );
    await db.query(sql`DELETE FROM identity_checks WHERE order_id = ${orderId}`);
    await db.transaction(async (tx) => {
      const id = newUuid();
      const expiresAt = new Date(at.getTime() + 7 * 86_400_000);
      const about = { id, orderId, notaryId, person: 1, needs: ["credential_analysis" as const], quiz: null };
      await insertCheck(tx, { ...about, tokenSha256: hash("sha256", id, "buffer"), askedAt: at, expiresAt });
      if (tried !== undefined) {
        const proof = { id: newUuid(), checkId: id, kind: "credential" as const, attempt: 1 };
        await insertProof(tx, { ...proof, provider: "stripe_identity", begunAt: at });
        const result = { outcome: "inconclusive", isFinal: false, credential: null, names: null, why: tried };
        const content = columnCipher(secrets, "identity_proofs").encrypt(
          Buffer.from(JSON.stringify({ ...result, faces: "not compared" })),
          proof.id,
        );
        await endProof(tx, proof.id, { state: "inconclusive", at, content });
      }
      if (state !== "asked") await endCheck(tx, id, state, at);
    });
  };
}

/**
 * Voids the identity checks of the session's signer. An interruption does the same if the rules of the US state require
 * new checks.
 */
async function voids(code: string, tx?: Tx): Promise<void> {
  const { sheetId } = await liveOf(code);
  const write = async (inner: Tx) => {
    const sheet = await lockOpenSheet(inner, rowMac, sheetId);
    await voidProofs(inner, rowMac, sheet, 1, { ...by, at: clock() });
  };
  await (tx ? write(tx) : db.transaction(write));
}

test("where the state wants identity again after an interruption, a check that was passed before it no longer counts", async () => {
  const { code } = await begun("again@example.com", "identify");
  const check = checksFor(await liveOf(code));
  await check({ state: "passed", at: new Date(Date.now() - 3_600_000) });
  const session = await abandoned(code, 100);
  const { deps, rooms, joined } = otherNode();
  const { desk } = deps.sheets;
  const read = desk.readEligibility;
  Object.assign(desk, {
    readEligibility: async (of: typeof db) => {
      const { rules, ...rest } = await read(of);
      const identity = { value: "identity", asOf: "2026-01-01", source: "made up for tests" };
      const stateRules = (state: string) => {
        const found = rules.of(state);
        return { ...found, online: { ...found.online, restart: identity } };
      };
      return { ...rest, rules: { ...rules, of: stateRules } };
    },
  });
  await reopen(deps, session);
  const stop = watchSessions(deps);
  joined(session.id);
  await until(async () => (await sheetOf(code))?.run === 2);
  await until(async () => (await liveOf(code)).state === "live");
  await marksUntil(code, "identify");
  const room = rooms.roomOf(session.id);
  for (const person of ["notary", "signer-1"]) room?.recorded.add(person);
  const identify = () => {
    joined(session.id);
    return markLive(deps, operator, code, byCredential);
  };
  await assert.rejects(identify(), /passed before an interruption/);
  await check({ state: "passed", at: new Date() });
  await identify();
  assert.equal((await sheetOf(code))?.marks.at(-1)?.name, "identify");
  await stop();
});

test("a check that is open, expired, failed, too old or void is shown to the notary, and the mark that relies on it is refused", async () => {
  const { code } = await begun("unproved@example.com", "identify");
  const session = await liveOf(code);
  const check = checksFor(session);
  const [hour, day] = [3_600_000, 86_400_000];
  const ago = (ms: number) => new Date(Date.now() - ms);
  /** The present text of one of the notary's pages, without HTML tags. */
  const saysOn = async (path: string) =>
    (await (await fetch(at(path), { headers: { cookie: nora.cookie } })).text()).replaceAll(/<[^>]*>/g, " ");
  const says = async (words: RegExp, badge: RegExp) => {
    const inSession = await saysOn(desk(code));
    assert.match(inSession, words);
    assert.match(inSession, badge);
    assert.match(inSession, /“Credential” is not accepted now/);
    assert.match(await saysOn(`/operator/notary/orders/${code}`), badge);
  };
  const cases = [
    { words: /Jane Doe was not asked for an identity check/, badge: /none was asked for|No check was asked for/ },
    {
      checked: { state: "asked", at: ago(hour), tried: "document_expired" },
      words: /has not passed the identity check yet. The last try was inconclusive: document expired\./,
      badge: /Asked/,
    },
    { checked: { state: "asked", at: ago(8 * day) }, words: /expired before it was passed/, badge: /Link expired/ },
    { checked: { state: "expired", at: ago(hour) }, words: /expired before it was passed/, badge: /Link expired/ },
    { checked: { state: "failed", at: ago(hour) }, words: /failed for good/, badge: /Failed/ },
    { checked: { state: "passed", at: ago(25 * hour) }, words: /more than 24 hours ago/, badge: /counts no more/ },
  ] as const;
  for (const { words, badge, ...each } of cases) {
    if ("checked" in each) await check(each.checked);
    await says(words, badge);
  }
  await check({ state: "passed", at: ago(hour) });
  assert.doesNotMatch(await saysOn(desk(code)), /is not accepted now/);
  await voids(code);
  await says(/is void: it was passed before an interruption, or with another browser/, /counts no more/);

  const { deps, rooms, joined } = otherNode();
  await abandoned(code, 10);
  await reopen(deps, session);
  const stop = watchSessions(deps);
  joined(session.id);
  await until(async () => (await liveOf(code)).state === "live");
  for (const person of ["notary", "signer-1"]) rooms.roomOf(session.id)?.recorded.add(person);
  const identify = () => {
    joined(session.id);
    return markLive(deps, operator, code, byCredential);
  };
  await assert.rejects(identify(), /is void/);
  for (const { words, ...each } of cases) {
    if (!("checked" in each)) continue;
    await check(each.checked);
    await assert.rejects(identify(), words);
  }
  assert.equal(
    (await sheetOf(code))?.marks.some(({ name }) => name === "identify"),
    false,
  );

  // The identity check is voided while the request that marks the step waits for the order's lock. The request detects
  // this.
  await check({ state: "passed", at: new Date() });
  let marking: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await lockOrder(tx, code);
    marking = identify();
    marking.catch(() => {});
    await until(() => isWaitedFor(tx));
    await voids(code, tx);
  });
  await assert.rejects(marking ?? Promise.resolve(), /is void/);
  await check({ state: "passed", at: new Date() });
  await identify();
  assert.equal((await sheetOf(code))?.marks.at(-1)?.name, "identify");
  await stop();
});

test("a check that became void in one session stays void in the next session", async () => {
  const { code } = await begun("next@example.com", "identify");
  await checksFor(await liveOf(code))({ state: "passed", at: new Date(Date.now() - 60_000) });
  await voids(code);
  assert.equal((await post(desk(code, "/end"), { outcome: "abandoned" })).status, 303);
  await until(async () => (await liveOf(code)).state === "ended");
  const again = await post(desk(code), { act: "jurat" });
  assert.equal(again.status, 303, await again.text());
  const page = await (await fetch(at(desk(code)), { headers: { cookie: nora.cookie } })).text();
  assert.match(page, /is void: it was passed before an interruption/);
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
  await close();
  assert.deepEqual([(await liveOf(code)).state, ended], ["signed", [id]]);
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

test("once a recording can't continue, nothing is marked, signed or entered, the session ends, and the firm is told the cause", async () => {
  for (const [email, why, cause] of [
    ["full@example.com", "ENOSPC: no space left on device, write", "disk_full"],
    ["numbers@example.com", "the recording has no more numbers of takes", "failed"],
  ] as const) {
    const { code } = await begun(email, "close");
    const { deps, rooms, hear, interrupted } = otherNode();
    const { id, orderId } = await abandoned(code, 1, deps.own.id);
    const room = rooms.add(id, orderId, clock(), ["notary", "signer-1"], newLease());
    for (const presence of room.people.values()) Object.assign(presence, { hasJoined: true });
    hear({ kind: "broken", session: id, why });
    await assert.rejects(markLive(deps, operator, code, { step: "close" }), /not recorded now/);
    const signed = { sha256: "a", actSha256: "b" };
    await assert.rejects(closeForAct(deps, operator, code, signed), { code: "unavailable" });
    const stop = watchSessions(deps);
    await until(async () => (await liveOf(code)).state === "ended");
    await stop();
    assert.equal((await liveOf(code)).outcome, "technical");
    assert.deepEqual(interrupted, [cause]);
    assert.equal(await wasUnrecorded(deps, await liveOf(code)), true);
  }
});

test("a full disk ends the open sessions once, and a low one only warns, on record, until there is room again", async () => {
  const { code } = await begun("low@example.com", "close");
  const { deps, rooms, free, interrupted, joined } = otherNode();
  const session = await abandoned(code, 10);
  await reopen(deps, session);
  const stop = watchSessions(deps);
  joined(session.id);
  const warned = async () => {
    const events = await eventsOf(db, rowMac, await liveOf(code));
    return events.filter(({ name }) => name === "disk_low").length;
  };
  free.bytes = 4e9;
  await until(() => rooms.roomOf(session.id)?.minutesLeft ?? null);
  assert.equal(await warned(), 1);
  await assert.rejects(requireDisk(deps, 1), /4\.0 GB are free, and 5\.0 GB are needed/);
  free.bytes = 3e9;
  await until(() => (rooms.roomOf(session.id)?.minutesLeft ?? 1_000) < 300);
  assert.equal(await warned(), 1);
  free.bytes = 6e9;
  await until(() => rooms.roomOf(session.id)?.minutesLeft === null);
  await requireDisk(deps, 1);
  assert.deepEqual(interrupted, []);
  free.bytes = 4e8;
  await until(async () => (await liveOf(code)).state === "ended");
  await stop();
  assert.deepEqual([(await liveOf(code)).outcome, interrupted], ["technical", ["disk_full"]]);
});

test("a session that another node records to the same disk takes room there until it ends", async () => {
  const { code } = await begun("shared-disk@example.com", "close");
  const { deps, free } = otherNode();
  const { id } = await liveOf(code);
  // A session of nine people and the notary needs 5.4 GB for two hours. The other node's session has two people, who
  // need 1.1 GB.
  free.bytes = 6e9;
  await requireDisk(deps, 9);
  free.sessions = [id, newUuid()];
  const people = sql`UPDATE live_people SET admitted_at = `;
  const [signer] = await db.query<{ admittedAt: Date }>(
    sql`SELECT admitted_at AS "admittedAt" FROM live_people WHERE session_id = ${id}`,
  );
  for (const admittedAt of [null, signer?.admittedAt ?? null]) {
    await db.query(sql`${people} ${admittedAt} WHERE session_id = ${id}`);
    await assert.rejects(requireDisk(deps, 9), /6\.0 GB are free, and 6\.5 GB are needed/);
  }
  assert.equal((await post(desk(code, "/end"), { outcome: "abandoned" })).status, 303);
  await until(async () => (await liveOf(code)).state === "ended");
  await requireDisk(deps, 9);
});

test("the sessions on a disk are those of all nodes that share its folder", async () => {
  const shared = join(folder.path, "shared", "recordings");
  const [own, other, earlier] = [newUuid(), newUuid(), newUuid()];
  for (const path of [`node.own/${own}`, `node.other/${other}`, earlier, "lost+found"])
    mkdirSync(join(shared, path), { recursive: true });
  const disk = recordingDisk(join(shared, "node.own"), 1);
  assert.deepEqual((await disk.sessions()).toSorted(), [own, other, earlier].toSorted());
  assert.ok((await disk.freeBytes()) > 0);
});

test("a disk that does not answer is unknown, and is asked only once until it answers", async () => {
  const answer = Promise.withResolvers<{ bavail: number; bsize: number }>();
  let reads = 0;
  const disk = recordingDisk("/recordings", 1, () => {
    reads++;
    return answer.promise;
  });
  await Promise.all([1, 2].map(() => assert.rejects(disk.freeBytes(), /does not answer/)));
  const later = disk.freeBytes();
  assert.equal(reads, 1);
  answer.resolve({ bavail: 3, bsize: 4096 });
  assert.equal(await later, 12_288);
  assert.equal(await disk.freeBytes(), 12_288);
  assert.equal(reads, 2);
});

test("a session that the notary signs during the check of the disk is not ended", async () => {
  const { code } = await begun("signs-meanwhile@example.com", "notary_signs");
  const { deps, rooms, joined, interrupted } = otherNode();
  const seen = await abandoned(code, -600, deps.own.id);
  const { id, orderId, openedAt } = seen;
  rooms.add(id, orderId, openedAt, ["notary", "signer-1"], newLease());
  joined(id);
  let looks = 0;
  const freeBytes = async () => {
    looks++;
    await db.transaction((tx) => updateLive(tx, id, sql`state = 'signed'`));
    return 0;
  };
  Object.assign(deps.disk, { freeBytes });
  const stop = watchSessions(deps);
  await until(() => looks > 0);
  await stop();
  await endTechnical(deps, seen);
  assert.deepEqual([(await sheetOf(code))?.outcome, interrupted], [null, []]);
  // Now the caller has read that the session is signed. Nobody completed the session after that, so it ends.
  await endTechnical(deps, await liveOf(code));
  assert.equal((await sheetOf(code))?.outcome, "technical");
});

test("an order does not fail for sessions that could not be recorded, and fails for two other faults", async () => {
  const email = "not-recorded@example.com";
  const code = await orders.place({ email });
  await orders.claim(code, nora.cookie);
  const { deps } = otherNode();
  const ended = async (end: (session: LiveSession) => Promise<void>) => {
    const began = await post(desk(code), { act: "jurat" });
    assert.equal(began.status, 303, await began.text());
    const [row] = await db.query<{ id: string }>(sql`
      SELECT l.id FROM live_sessions l JOIN orders o ON o.id = l.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY l.opened_at DESC LIMIT 1`);
    const session = await findLive(db, row?.id ?? "");
    assert.ok(session);
    await end(session);
    await until(async () => (await findLive(db, session.id))?.state === "ended");
    return orders.statusOf(code);
  };
  const statuses: string[] = [];
  for (const cause of ["disk_full", "disk_full", "failed"] as const)
    statuses.push(await ended((session) => endUnrecorded(deps, session, cause)));
  for (const _ of [1, 2]) statuses.push(await ended((session) => endTechnical(deps, session)));
  assert.deepEqual(statuses, [...Array.from({ length: 4 }, () => "NotarizationPending"), "NotarizationFailed"]);
});

test("a session that can't be opened in a restarted engine is held, and ends when its disk is full or after many tries", async () => {
  for (const cause of ["disk_full", "failed"]) {
    const { code } = await begun(`not-resumed-${cause}@example.com`, "identify");
    let tries = 0;
    const resume = async () => {
      tries++;
      throw new Error("the engine refuses");
    };
    const { deps, rooms, joined, hear, free, interrupted } = otherNode({ resume });
    const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
    const room = rooms.add(id, orderId, openedAt, ["notary", "signer-1"], newLease());
    joined(id);
    hear({ kind: "lost", sessions: [id] });
    const stop = watchSessions(deps);
    await until(async () => tries > 1 && (await liveOf(code)).state === "held");
    assert.deepEqual(interrupted, []);
    if (cause === "disk_full") free.bytes = 0;
    else room.failedResumes = 60;
    await until(async () => (await liveOf(code)).state === "ended");
    await stop();
    assert.deepEqual([(await liveOf(code)).outcome, interrupted], ["technical", [cause]]);
  }
});

test("nobody can sign from the moment at which the engine is lost, and the signer can again when the session is recorded again", async () => {
  const { code } = await begun("lost@example.com", "sign");
  const { deps, rooms, joined, hear } = otherNode();
  const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
  rooms.add(id, orderId, openedAt, ["notary", "signer-1"], newLease());
  joined(id);
  await given(code);
  const maySign = async () => (await signatures(code)).map((turn) => turn.maySign);
  // The periodic watch waits for its check of the disk, so it can't put the session on hold. Only the engine's event
  // `lost` can do that.
  const disk = Promise.withResolvers<number>();
  let looks = 0;
  const freeBytes = () => {
    looks++;
    return disk.promise;
  };
  Object.assign(deps.disk, { freeBytes });
  const stop = watchSessions(deps);
  await until(() => looks > 0);
  assert.deepEqual(await maySign(), [true]);
  hear({ kind: "lost", sessions: [id] });
  await until(async () => (await liveOf(code)).state === "held");
  assert.deepEqual([await maySign(), looks], [[false], 1]);
  disk.resolve(1e12);
  await until(async () => {
    joined(id);
    return (await liveOf(code)).state === "live";
  });
  assert.deepEqual(await maySign(), [true]);
  await stop();
});

test("a signer's turn to sign ends unless its service renews it", async () => {
  const { code } = await begun("lease@example.com", "sign");
  assert.equal((await fetch(at(await given(code, new Date(Date.now() - 1))))).status, 404);
});

test("after a crash the session is held, the document is withdrawn, and the act begins again when people are back", async () => {
  const { code } = await begun("crash@example.com", "sign");
  const pages = await given(code);
  const session = await abandoned(code, 100);
  const { deps, rooms, joined } = otherNode();
  await reopen(deps, session);
  assert.equal((await liveOf(code)).state, "held");
  assert.equal((await fetch(at(pages))).status, 404);
  const stop = watchSessions(deps);
  joined(session.id);
  await until(async () => (await sheetOf(code))?.run === 2);
  await until(async () => (await liveOf(code)).state === "live");
  assert.ok(rooms.roomOf(session.id));
  await stop();
});

type HeldRow = { node: string | null; until: Date };

async function leaseOf(id: string): Promise<HeldRow> {
  const [row] = await db.query<HeldRow>(sql`SELECT node, lease_until AS until FROM live_sessions WHERE id = ${id}`);
  assert.ok(row);
  return row;
}

/** The time at which the open turn of a session's signer ends. */
async function turnEnd(orderId: number): Promise<number> {
  const [row] = await db.query<{ at: Date }>(sql`
    SELECT r.expires_at AS at FROM signer_rooms r JOIN envelope_signers s ON s.id = r.signer_id
      JOIN envelopes e ON e.id = s.envelope_id WHERE e.order_id = ${orderId} AND r.closed_at IS NULL`);
  assert.ok(row);
  return row.at.getTime();
}

test("a node that stops ends the turn, stores the rest of the recording, and only then releases its lease", async () => {
  const { code } = await begun("stops@example.com", "sign");
  const seen: { node: string | null; signatures: object[] }[] = [];
  const { deps, rooms } = otherNode({
    leave: async (id) => void seen.push({ node: (await leaseOf(id)).node, signatures: await signatures(code) }),
  });
  const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
  await given(code);
  rooms.add(id, orderId, openedAt, ["notary"], { until: Date.now() + leaseMs, since: performance.now() });
  const stop = watchSessions(deps);
  await stop();
  assert.deepEqual(seen, [{ node: deps.own.id, signatures: [] }]);
  assert.deepEqual([rooms.roomOf(id), (await leaseOf(id)).node], [undefined, null]);
  await assert.rejects(reopen(deps, await liveOf(code)), /is stopping/);
});

test("a node that stops and can't store the rest of a recording leaves its lease to end", async () => {
  const { code } = await begun("stops-full@example.com", "identify");
  const { deps, rooms } = otherNode({ leave: () => Promise.reject(new Error("the store is full")) });
  const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
  const { until } = await leaseOf(id);
  rooms.add(id, orderId, openedAt, ["notary"], { until: until.getTime(), since: performance.now() });
  await watchSessions(deps, 500)();
  assert.deepEqual(await leaseOf(id), { node: deps.own.id, until });
});

test("a node that stops tries again to store the rest of a recording, and then releases its lease", async () => {
  const { code } = await begun("stops-again@example.com", "identify");
  const holders: (string | null)[] = [];
  const { deps, rooms } = otherNode({
    async leave(id) {
      holders.push((await leaseOf(id)).node);
      if (holders.length < 3) throw new Error("the store is down");
    },
  });
  const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
  rooms.add(id, orderId, openedAt, ["notary"], newLease());
  await watchSessions(deps)();
  assert.deepEqual(holders, [deps.own.id, deps.own.id, deps.own.id]);
  assert.equal((await leaseOf(id)).node, null);
});

test("a node that stops waits only so long for a store that does not answer, and leaves its lease to end", async () => {
  const { code } = await begun("stops-late@example.com", "identify");
  const left: string[] = [];
  const { deps, rooms } = otherNode({
    leave(id) {
      left.push(id);
      return new Promise(() => {});
    },
  });
  const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
  rooms.add(id, orderId, openedAt, ["notary"], { until: Date.now() + leaseMs, since: performance.now() });
  await watchSessions(deps, 500)();
  assert.deepEqual([left, rooms.roomOf(id), (await leaseOf(id)).node], [[id], undefined, deps.own.id]);
});

test("a node that stops hands sessions over while work on another one is slow, whose lease it renews until that is done", async () => {
  const codes = await Promise.all(["slow", "quick"].map((name) => begun(`stops-${name}@example.com`, "identify")));
  const [working, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { deps, rooms } = otherNode({
    async resume() {
      working.resolve();
      await finished.promise;
    },
  });
  const added = async ({ code }: { code: string }) => {
    const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
    return rooms.add(id, orderId, openedAt, ["notary"], newLease());
  };
  const [slow, quick] = await Promise.all(codes.map(added));
  assert.ok(slow && quick);
  slow.broken = "engine";
  const stop = watchSessions(deps);
  await working.promise;
  const stopped = stop();
  await until(async () => (await leaseOf(quick.session)).node === null);
  const before = await leaseOf(slow.session);
  assert.equal(before.node, deps.own.id);
  rooms.setLease(slow, { until: 0, since: performance.now() - 4_000 });
  await until(async () => (await leaseOf(slow.session)).until.getTime() !== before.until.getTime());
  finished.resolve();
  await stopped;
  assert.equal((await leaseOf(slow.session)).node, null);
});

test("of nodes whose clocks differ by ten minutes only the one with the lease has a session", async () => {
  const { code } = await begun("clocks@example.com", "sign");
  const aheadMs = 600_000;
  const [behind, ahead] = [otherNode({ aheadMs: -aheadMs }), otherNode({ aheadMs })];
  const { id } = await abandoned(code, 20);
  await reopen(behind.deps, await liveOf(code));
  const room = behind.rooms.roomOf(id);
  assert.ok(room);
  // The gap has its real length, although the clocks of both nodes are wrong.
  const silentMs = behind.rooms.silences(room).get("signer-1") ?? 0;
  assert.ok(silentMs >= 20_000 && silentMs < aheadMs / 2, `${silentMs} ms`);
  await assert.rejects(reopen(ahead.deps, await liveOf(code)), { code: "unavailable" });
  await assert.rejects(
    db.transaction((tx) => requireHere(ahead.deps, id, tx)),
    { code: "unavailable" },
  );
  await db.transaction((tx) => requireLease(behind.deps, id, tx));
  assert.equal((await leaseOf(id)).node, behind.deps.own.id);
  const turn = await given(code, turnEndOf(room.lease));
  const token = turn.slice("/sign/".length);
  assert.ok(await openRoomOf(db, token, ahead.deps.sheets.desk.clock()), "the turn goes on by the database's clock");
  await db.query(sql`UPDATE live_sessions SET lease_until = now() - interval '1 second' WHERE id = ${id}`);
  await reopen(ahead.deps, await liveOf(code));
  assert.equal((await leaseOf(id)).node, ahead.deps.own.id);
});

test("a session is not opened again by a node whose lease has ended, or that has released it meanwhile", async () => {
  const { code } = await begun("fenced@example.com", "identify");
  let before = async (_: string) => {};
  const { deps, rooms } = otherNode({
    async resume(id, requireHeld) {
      await before(id);
      await db.transaction(requireHeld);
    },
  });
  const open = async () => reopen(deps, await abandoned(code, 20));
  before = (id) => db.transaction((tx) => updateLive(tx, id, sql`node = 'other'`));
  await assert.rejects(open(), { code: "unavailable" });
  const { id } = await liveOf(code);
  assert.deepEqual([rooms.roomOf(id), rooms.leaving.delete(id)], [undefined, true]);
  before = (own) => db.transaction((tx) => updateLive(tx, own, sql`lease_until = now() - interval '1 second'`));
  await assert.rejects(open(), { code: "unavailable" });
  assert.ok(rooms.leaving.delete(id));
  before = async () => {
    const room = rooms.roomOf(id);
    assert.ok(room);
    fence(deps, room);
    rooms.leaving.delete(id);
  };
  await assert.rejects(open(), { code: "unavailable" });
  assert.ok(rooms.leaving.delete(id), "what was opened meanwhile is closed");
  before = async () => {};
  await open();
  assert.ok(rooms.roomOf(id));
});

test("while a node opens a session again, no other node gets the lease", async () => {
  const { code } = await begun("locked@example.com", "identify");
  const { deps } = otherNode();
  const { id } = await abandoned(code, -600, deps.own.id);
  const change = sql`UPDATE live_sessions SET node = 'other' WHERE id = ${id}`;
  await db.transaction(async (tx) => {
    await requireLease(deps, id, tx);
    const other = db.transaction(async (own) => {
      await own.query(sql`SET LOCAL lock_timeout = '50ms'`);
      await own.query(change);
    });
    await assert.rejects(other);
  });
  await db.query(change);
});

test("a signer's turn ends before the media do if the lease is not renewed, also after an answer that comes too late", async () => {
  const { code } = await begun("late-turn@example.com", "sign");
  const { deps, rooms, joined, changes } = otherNode();
  const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
  const lease = { until: Date.now() + leaseMs, since: performance.now() };
  const room = rooms.add(id, orderId, openedAt, ["notary", "signer-1"], lease);
  joined(id);
  for (const person of ["notary", "signer-1"]) room.recorded.add(person);
  await giveTurn(deps, operator, code);
  // The node's media engine stops 1.5 s before the lease ends. The signer's turn must end even earlier.
  assert.ok((await turnEnd(orderId)) < lease.until - 1_500);
  const due = () => ({ ...lease, since: performance.now() - leaseMs / 2 });
  rooms.setLease(room, due());
  await renew(deps, room);
  const end = await turnEnd(orderId);
  assert.ok(end > lease.until - 2_500 && end < (await leaseOf(id)).until.getTime() - 1_500);
  assert.ok(end < room.lease.until - 1_500);

  rooms.setLease(room, due());
  changes.read = async ({ text }) => {
    if (text.includes("UPDATE live_sessions")) fence(deps, room);
  };
  await renew(deps, room);
  assert.equal(await turnEnd(orderId), end);
});

test("a turn that is given while the lease is renewed lasts as long as the new lease", async () => {
  const { code } = await begun("renewed@example.com", "sign");
  const { deps, rooms, joined, changes } = otherNode();
  const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
  const lease = { until: Date.now() + leaseMs, since: performance.now() };
  const room = rooms.add(id, orderId, openedAt, ["notary", "signer-1"], lease);
  joined(id);
  for (const person of ["notary", "signer-1"]) room.recorded.add(person);
  const longer = { until: lease.until + 60_000, since: performance.now() };
  changes.after = async () => rooms.setLease(room, longer);
  await giveTurn(deps, operator, code);
  assert.equal(await turnEnd(orderId), longer.until - 2_500);
});

test("a node whose lease was not renewed in time leaves the session at that time", async () => {
  const { code } = await begun("lapsed@example.com", "identify");
  const left: string[] = [];
  const { deps, rooms } = otherNode({ leave: async (id) => void left.push(id) });
  const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
  const stop = watchSessions(deps);
  const room = rooms.add(id, orderId, openedAt, ["notary"], { until: Date.now() + leaseMs, since: performance.now() });
  rooms.onLapse(room);
  assert.deepEqual([left, rooms.roomOf(id)], [[id], undefined]);
  await stop();
});

test("nothing is put on record at a node that does not record the session, although its row says live", async () => {
  const { code } = await begun("unrecorded@example.com", "sign");
  const { deps, rooms } = otherNode();
  const { id, orderId, openedAt } = await abandoned(code, 100, deps.own.id);
  const now = (await roomEnvelopeOf(db, orderId))?.head.sha256 ?? "";
  const shown = () => reportShownToNotary(deps, operator, code, { sha256: now });
  const tries = [
    shown,
    () => showPage(deps, operator, code, { page: "1" }),
    () => writeAsNotary(deps, operator, code, { text: "Hello" }),
  ];
  const events = async () => (await eventsOf(db, rowMac, await liveOf(code))).length;
  const before = await events();
  for (const attempt of tries) await assert.rejects(attempt(), { code: "unavailable" });
  const room = rooms.add(id, orderId, openedAt, ["notary"], newLease());
  room.broken = "engine";
  for (const attempt of tries) await assert.rejects(attempt(), { code: "unavailable" });
  assert.equal(await events(), before);
  room.broken = null;
  await shown();
  assert.equal(await events(), before + 1);
});

test("a step that its signer finished before a crash is marked, even if nobody has the turn any more", async () => {
  const { code } = await begun("finished@example.com", "read");
  const pages = await given(code);
  const page = await (await fetch(at(pages))).text();
  const value = (name: string) => new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(page)?.[1] ?? "";
  const typed = { version: value("version"), language: value("language"), can_read: "on" };
  assert.equal((await postForm(at(`${pages}/consent`), typed, {})).status, 303);
  const session = await abandoned(code, 20);
  const { deps, joined } = otherNode();
  await reopen(deps, session);
  const stop = watchSessions(deps);
  joined(session.id);
  await until(async () => (await sheetOf(code))?.marks.some(({ name }) => name === "read"));
  await stop();
});

test("the periodic check keeps a signature that the notary made while it ran", async () => {
  const { code } = await begun("judge@example.com", "notary_signs");
  const session = await abandoned(code, 20);
  const { deps, joined, changes } = otherNode();
  await reopen(deps, session);
  let seen = 0;
  changes.before = async () => {
    seen++;
    await db.transaction((tx) => updateLive(tx, session.id, sql`state = 'signed'`));
  };
  const stop = watchSessions(deps);
  joined(session.id);
  await until(() => seen > 0);
  await stop();
  assert.equal((await liveOf(code)).state, "signed");
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

test("a session ends even if each look at it takes longer than the search for ended acts", async () => {
  const { code } = await begun("slow@example.com", "identify");
  const { deps, rooms, ended, changes } = otherNode();
  const { id, orderId, openedAt } = await abandoned(code, -600, deps.own.id);
  rooms.add(id, orderId, openedAt, ["notary"], newLease());
  await endLive(deps, operator, code, { outcome: "abandoned" });
  changes.read = async ({ text, values }) => {
    if (!text.includes("notary_sheets n") && values.includes(id)) await sleep(200);
  };
  const stop = watchSessions(deps);
  await until(async () => (await liveOf(code)).state === "ended");
  await stop();
  assert.deepEqual([ended, rooms.roomOf(id)], [[id], undefined]);
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
  await db.transaction((tx) => updatePerson(tx, person.id, sql`browser_sha256 = ${sha256Of(browser)}`));
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

test("answers of a signer, but of no observer, to the mail with a room's link go to an owner of a firm without a contact address", async () => {
  const own = await newPartner(running.service);
  const [owner, email] = ["owner@rooms.example", "answers@example.com"];
  await newMember(running.service, owner, own.key);
  const theirs = ordersToNotarize(running, own);
  const code = await theirs.place({ email });
  await theirs.claim(code, nora.cookie);
  assert.equal((await post(desk(code), { act: "jurat" })).status, 303);
  const observer = { role: "observer", name: "Olga Ott", email: "observer@rooms.example", language: "en" };
  assert.equal((await post(desk(code, "/invite"), observer)).status, 303);
  for (const [to, answers] of [
    [email, owner],
    [observer.email, undefined],
  ] as const) {
    await roomOf(to);
    const mail = mailsTo(running.service, to).find((each) => each.includes("/notary-room/")) ?? "";
    assert.equal(/^Reply-To: (.*)\r$/m.exec(mail)?.[1], answers, to);
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
