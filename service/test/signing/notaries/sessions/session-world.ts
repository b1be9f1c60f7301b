import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import type { Tx } from "../../../../src/kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { OwnNode } from "../../../../src/kernel/platform/nodes.ts";
import { openSecretsKey, secretBytes } from "../../../../src/kernel/platform/secrets.ts";
import type { MediaEngine, MediaEvent } from "../../../../src/providers/providers.ts";
import { giveToSigner, roomEnvelopeOf } from "../../../../src/signing/envelopes/envelopes.ts";
import { eligibilityReader } from "../../../../src/signing/notaries/eligibility/changes/in-force.ts";
import { loadNotaryRules } from "../../../../src/signing/notaries/eligibility/rules.ts";
import { addNotary, type LiveDeps, type LiveSession } from "../../../../src/signing/notaries/notaries.ts";
import type { Recordings } from "../../../../src/signing/notaries/recordings/recordings.ts";
import type { RequireHeld } from "../../../../src/signing/notaries/recordings/store.ts";
import { leaseMs } from "../../../../src/signing/notaries/sessions/lease.ts";
import { LiveRooms } from "../../../../src/signing/notaries/sessions/rooms.ts";
import { findLive, updateLive } from "../../../../src/signing/notaries/sessions/store.ts";
import { lockOpenSheet, markStep } from "../../../../src/signing/notaries/sheets/sheet.ts";
import { openTurn } from "../../../../src/signing/notaries/sheets/steps.ts";
import { findSheet } from "../../../../src/signing/notaries/sheets/store.ts";
import { mailsTo, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { certificateFiles } from "../certificate-files.ts";
import { ohioCommission, ordersToNotarize } from "../orders-to-notarize.ts";
import { liveSettings } from "./live-rules.ts";

export const folder = await forTests(temporaryFolder());
const settings = liveSettings(folder.path, {
  credibleWitness: "true",
  interpreter: "false",
  witnesses: "true",
  observers: "true",
});
export const running = await forTests(openHarness(settings));
const certificate = certificateFiles(folder.path)("Nora Ames", { key: "p256" }).pem;
const partner = await newPartner(running.service);
export const nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
export const commission = { ...ohioCommission, certificate };
await addNotary({ db: running.db, clock: () => new Date() }, nora.id, commission, "operator");

export const orders = ordersToNotarize(running, partner);
export const at = (path: string) => running.service.baseUrl + path;
export const desk = (code: string, rest = "") => `/operator/notary/orders/${code}/session${rest}`;
export const post = (path: string, typed: Record<string, string> = {}) =>
  postForm(at(path), typed, { cookie: nora.cookie, Accept: "application/json" });

/** The path of the room to which a mailed link leads. */
export const roomOf = (email: string): Promise<string> =>
  until(
    () => mailsTo(running.service, email).flatMap((mail) => /\/notary-room\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
  );

/** A session of an order with one signer. @returns the order's code, and the path of the signer's room */
export async function opened(email: string): Promise<{ code: string; room: string }> {
  const code = await orders.place({ email });
  await orders.claim(code, nora.cookie);
  const began = await post(desk(code), { act: "jurat" });
  assert.equal(began.status, 303, await began.text());
  return { code, room: await roomOf(email) };
}

/** A browser that sends requests below a room's path, and keeps the room's cookie. */
export function browserAt(room: string) {
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

export async function entered(room: string, email: string) {
  const browser = browserAt(room);
  assert.equal((await browser.send("/code")).status, 303);
  const code = await until(
    () => mailsTo(running.service, email).flatMap((mail) => /Your code is (\d{6})\./.exec(mail)?.[1] ?? [])[0],
  );
  assert.equal((await browser.send("/enter", { code })).status, 303);
  return browser;
}

/** Two paths below the path of a person's room: the page that the room shows in a frame, and the document's PDF. */
export const documentFiles = ["/document", "/document.pdf"];

/** The hash of the document that a person's browser gets. */
export async function hashAt(browser: ReturnType<typeof browserAt>): Promise<string> {
  const answer = await browser.look("/document.pdf");
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get("cache-control") ?? "", /no-store/);
  return hash("sha256", Buffer.from(await answer.arrayBuffer()));
}

export const agreed = {
  answer: "agree",
  own: "on",
  version: "1",
  language: "en",
  city: "Columbus",
  region: "Ohio",
  country: "US",
};
/** The names of all recording files on the service's disk. */
export function spooled(): string[] {
  const files = readdirSync(join(running.service.dataDir, "recordings"), { recursive: true, withFileTypes: true });
  return files.filter((file) => file.isFile()).map(({ name }) => name);
}

export const { db, rowMac } = running;
export const clock = () => new Date();
export const secrets = await openSecretsKey(`file:${join(running.service.dataDir, "keys/secrets")}`);
export const by = { by: "system" };

export async function liveOf(code: string): Promise<LiveSession> {
  const [row] = await db.query<{ id: string }>(sql`
    SELECT l.id FROM live_sessions l JOIN orders o ON o.id = l.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
  const session = await findLive(db, row?.id ?? "");
  assert.ok(session);
  return session;
}

export const sheetOf = async (code: string) => findSheet({ db, rowMac }, (await liveOf(code)).sheetId);

/** A session that has begun and whose signer was admitted, with the steps before `step` marked. */
export async function begun(email: string, step: string) {
  const { code, room } = await opened(email);
  const signer = await entered(room, email);
  assert.equal((await signer.send("/consent", agreed)).status, 303);
  assert.equal((await post(desk(code, "/start"))).status, 303);
  assert.equal((await post(desk(code, "/admit"), { person: "1" })).status, 303);
  await marksUntil(code, step);
  return { code, signer, room };
}

export async function marksUntil(code: string, step: string): Promise<void> {
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
export async function given(code: string, until?: Date): Promise<string> {
  const { orderId } = await liveOf(code);
  const token = await db.transaction(async (tx) => {
    const envelope = await roomEnvelopeOf(tx, orderId);
    const turn = { n: 1, maySign: true, presence: "in a test", actor: "system", at: clock(), ...(until && { until }) };
    return giveToSigner(tx, rowMac, envelope?.id ?? 0, turn);
  });
  return `/sign/${token}`;
}

export const signatures = async (code: string) =>
  db.query<{ maySign: boolean }>(sql`
    SELECT r.may_sign AS "maySign" FROM signer_rooms r JOIN envelope_signers s ON s.id = r.signer_id
      JOIN envelopes e ON e.id = s.envelope_id
    WHERE e.order_id = ${(await liveOf(code)).orderId} AND r.closed_at IS NULL`);

const shipped = loadNotaryRules(settings["NOTARY_RULES"] ?? "");
export const operator = { id: nora.id, actor: `operator:${nora.id}`, environment: "test", roles: ["notary"] } as never;

/**
 * Simulates another node on the same database. Its engine is simulated too, and reports only the events that a test
 * sends. Tests can replace three hooks in the returned `changes`. The hooks `before` and `after` run before and after
 * each transaction, and `read` before each statement outside of transactions. The parameter `before` is the first value
 * of the hook `before`.
 */
export function otherNode({
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
  const disk = { minBytes: 5e9, freeBytes: async () => free.bytes, sessions: async () => free.sessions };
  const rooms = new LiveRooms({ engine, recordings, now: () => clock().getTime() });
  const readEligibility = eligibilityReader({ shipped, clock, notarizationBlocked: () => false });
  const changes = { node: { before, after: async () => {}, read: async (_: Statement) => {} } };
  const node = Object.assign(Object.create(db), {
    async query(statement: Statement) {
      await changes.node.read(statement);
      return db.query(statement);
    },
    async transaction<T>(work: (tx: Tx) => Promise<T>) {
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
        kind: "quality",
        session,
        person,
        at: Date.now(),
        audioPackets: 50,
        videoPackets: 20,
        lost: 0,
        dropped: 0,
        silentMs: 0,
        unseenMs: 0,
        picture: { width: 640, height: 480 },
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

export const newLease = () => ({ until: 0, since: performance.now() });

/** Makes the session look like one whose service was killed this many seconds ago. */
export async function killed(code: string, seconds: number, node = "killed"): Promise<LiveSession> {
  const { id } = await liveOf(code);
  const at = new Date(Date.now() - seconds * 1000 + leaseMs);
  await db.transaction((tx) => updateLive(tx, id, sql`state = 'live', node = ${node}, lease_until = ${at}`));
  return liveOf(code);
}

/**
 * Like `killed`. But first, this test's service loses the lease and notices the loss. Otherwise the service could renew
 * the lease.
 */
export async function abandoned(code: string, seconds: number, node?: string): Promise<LiveSession> {
  await killed(code, -600, "other");
  await until(async () => (await post(desk(code, "/media"))).status === 503);
  return killed(code, seconds, node);
}
