import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { addNotary } from "../../../src/signing/notaries/notaries.ts";
import { mailsTo, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { certificateFiles } from "./certificate-files.ts";
import { liveSettings } from "./live-rules.ts";

const folder = await forTests(temporaryFolder());
const running = await forTests(openHarness(liveSettings(folder.path)));
const certificate = certificateFiles(folder.path)("Nora Ames", { key: "p256" }).pem;
const partner = await newPartner(running.service);
const nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
const commission = {
  ...{
    commissionName: "Nora Ames",
    state: "OH",
    county: "Franklin",
    commissionNumber: "1",
    status: "active",
    certificate,
  },
  ...{ commissionExpires: "2040-01-31", ronRegistration: "R", ronExpires: "2040-01-31" },
};
await addNotary({ db: running.db, clock: () => new Date() }, nora.id, commission, "operator");

const at = (path: string) => running.service.baseUrl + path;
const desk = (code: string, rest = "") => `/operator/notary/orders/${code}/session${rest}`;
const post = (path: string, typed: Record<string, string> = {}) =>
  postForm(at(path), typed, { cookie: nora.cookie, Accept: "application/json" });

/** A session of an order with one signer. @returns the order's code, and the path of the signer's room */
async function opened(email: string): Promise<{ code: string; room: string }> {
  const form = orderForm({ ...minimal, svc_notary: "true", name: "Jane Doe", email }, makePdf({ text: "Deed" }));
  const placed = await fetch(at("/api/partner/orders"), { method: "POST", headers: partner.headers, body: form });
  const { orderCode: code } = (await placed.json()) as { orderCode: string };
  await fetch(at(`/api/partner/sandbox/orders/${code}/advance`), { method: "POST", headers: partner.headers });
  const [task] = await running.db.query<{ id: number }>(sql`
    SELECT t.id FROM tasks t JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", code)} AND t.kind = 'notarize'`);
  assert.equal((await post(`/operator/notary/tasks/${task?.id}/claim`)).status, 303);
  const began = await post(desk(code), { act: "jurat" });
  assert.equal(began.status, 303, await began.text());
  const room = await until(
    () => mailsTo(running.service, email).flatMap((mail) => /\/notary-room\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
  );
  return { code, room };
}

/** One browser at a room's address, with the cookie that it was given. */
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

const agreed = { answer: "agree", place: "Ohio, United States", version: "1", language: "en" };
/** Bytes of media that the service has anywhere. */
function spooled(): string[] {
  const spool = join(running.service.dataDir, "recordings");
  return existsSync(spool) ? readdirSync(spool) : [];
}

test("a link opens its room in the one browser that enters the mailed code, and before the notary lets it in there is neither media nor document", async () => {
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
  // The code is used up, and the room is bound.
  assert.equal((await stranger.send("/enter", { code: "000000" })).status, 409);
  assert.equal((await stranger.send("/code")).status, 409);
  assert.match(await (await stranger.look()).text(), /open in another browser/);
  assert.equal((await signer.send("/media")).status, 409);
  assert.equal((await signer.send("/consent", { ...agreed, place: "" })).status, 400);
  assert.equal((await signer.send("/consent", agreed)).status, 303);
  assert.match(await (await signer.look()).text(), /Waiting room/);
  assert.equal((await post(desk(code, "/admit"), { person: "1" })).status, 409);
  assert.equal((await post(desk(code, "/start"))).status, 303);
  assert.equal((await signer.send("/media")).status, 409);
  assert.equal((await post(desk(code, "/admit"), { person: "2" })).status, 400);
  assert.equal((await post(desk(code, "/admit"), { person: "1" })).status, 303);
  const ticket = (await (await signer.send("/media")).json()) as { ticket: string };
  assert.ok(ticket.ticket);
  // Somebody else's ticket is nobody's.
  assert.equal((await post(desk(code, "/signal"), { ...ticket, kind: "join" })).status, 404);
  assert.equal((await signer.send("/signal", { ...ticket, kind: "jump" })).status, 400);
  const answered = await signer.send("/signal", { ...ticket, kind: "join" });
  assert.equal(answered.status, 200);
  // Nobody sends anything, so nobody is there, and no step that wants people together is marked.
  assert.equal((await post(desk(code, "/mark"), { step: "open" })).status, 409);
  assert.equal((await post(desk(code, "/turn"))).status, 409);

  assert.equal((await post(desk(code, "/end"), { outcome: "technical" })).status, 303);
  await until(async () => /has ended/.test(await (await signer.look()).text()));
  assert.equal((await signer.send("/media")).status, 409);
  assert.equal((await signer.send("/signal", { ...ticket, kind: "join" })).status, 409);
  assert.doesNotMatch(await (await signer.look()).text(), /iframe/);
});

test("who does not agree to the recording is not let in, and nothing of anybody is passed on or written", async () => {
  const email = "two@example.com";
  const { code, room } = await opened(email);
  const signer = await entered(room, email);
  assert.equal((await signer.send("/consent", { ...agreed, answer: "refuse", place: "" })).status, 303);
  assert.match(await (await signer.look()).text(), /did not agree/);
  const start = await post(desk(code, "/start"));
  assert.equal(start.status, 409);
  assert.match(await start.text(), /does not agree to be recorded/);
  assert.equal((await post(desk(code, "/media"))).status, 409);
  assert.deepEqual(spooled(), []);
  const rows = await running.db.query(sql`
    SELECT FROM recordings r JOIN orders o ON o.id = r.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.equal(rows.length, 0);
  // A change of mind counts.
  assert.equal((await signer.send("/consent", agreed)).status, 303);
  assert.equal((await post(desk(code, "/start"))).status, 303);
  assert.equal((await post(desk(code, "/end"), { outcome: "abandoned" })).status, 303);
});

test("five wrong codes end a code, and the notary can let another browser in", async () => {
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

test("an act of a session is not marked by the forms of an act in person", async () => {
  const { code } = await opened("four@example.com");
  const paths = ["mark", "hand-over", "back", "end"].map((verb) => `/operator/notary/orders/${code}/sheet/${verb}`);
  for (const path of paths) assert.equal((await post(path, { step: "open" })).status, 409, path);
  assert.equal((await post(`/operator/notary/orders/${code}/release`)).status, 409);
});

test("a person's row that was altered opens nothing", async () => {
  const email = "five@example.com";
  const { room } = await opened(email);
  await running.db.query(
    sql`UPDATE live_people SET admitted_at = now() WHERE name = 'Jane Doe' AND browser_sha256 IS NULL`,
  );
  assert.equal((await browserAt(room).look()).status, 503);
});
