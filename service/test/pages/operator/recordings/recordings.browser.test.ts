import assert from "node:assert/strict";
import { after, assertGoodLooks, type Browser, before, startBrowser, test } from "@signsealship/testing/browser";
import { freePort } from "@signsealship/testing/free-port";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { fakeDevices } from "@signsealship/testing/media";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { addNotary } from "../../../../src/signing/notaries/notaries.ts";
import { postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { recordSession } from "../../../signing/notaries/recordings/recorded-session.ts";

type Person = Awaited<ReturnType<typeof newOperator>>;

let running: Harness;
let browser: Browser;
let partner: Awaited<ReturnType<typeof newPartner>>;
let [nora, other, auditor, agent] = [] as unknown as [Person, Person, Person, Person];
let recording = "";
let code = "";
let markSeconds = 0;

before(async () => {
  const port = String(await freePort());
  [running, browser] = await Promise.all([
    openHarness({ PORT: port, BASE_URL: `http://127.0.0.1:${port}` }),
    startBrowser(fakeDevices),
  ]);
  partner = await newPartner(running.service);
  const operator = (role: "notary" | "auditor" | "agent") =>
    newOperator(running, { roles: [role], environment: "test", passkey: false });
  [nora, other, auditor, agent] = [
    await operator("notary"),
    await operator("notary"),
    await operator("auditor"),
    await operator("agent"),
  ];
  const commission = {
    commissionName: "Nora Ames",
    state: "TX",
    county: "Travis",
    commissionNumber: "1",
    status: "active",
    commissionExpires: "2040-01-31",
  };
  const notaryId = await addNotary({ db: running.db, clock: () => new Date() }, nora.id, commission, "operator");
  await addNotary({ db: running.db, clock: () => new Date() }, other.id, commission, "operator");
  await record(notaryId);
});
after(async () => {
  await browser.close();
  await running.close();
});

const at = (path: string) => running.service.baseUrl + path;
const pages = "/operator/notary/recordings";

/** Places an order, and records its session. */
async function record(notaryId: string): Promise<void> {
  const body = orderForm({ ...minimal, svc_notary: "true" }, makePdf({ text: "Deed" }));
  const placed = await fetch(at("/api/partner/orders"), { method: "POST", headers: partner.headers, body });
  code = ((await placed.json()) as { orderCode: string }).orderCode;
  const [order] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM orders o WHERE ${isSealed(sql`o.code`, "order", code)}`,
  );
  const recorded = await recordSession(running, browser, { notaryId, orderId: order?.id ?? null });
  recording = recorded.id;
  markSeconds = recorded.markSeconds;
}

const lines = async (action: string, actor: string) =>
  running.db.query<{ detail: { reason?: string; range?: string } }>(
    sql`SELECT detail FROM audit_log WHERE action = ${action} AND actor = ${`operator:${actor}`} ORDER BY id`,
  );

test("an auditor states a reason, plays the takes together, and jumps to a mark", async () => {
  const opened = await browser.open(at(pages), { width: 1280, cookie: auditor.cookie });
  const { page, troubles } = opened;
  await assertGoodLooks(opened);
  await page.locator("#recordings a").first().click();
  assert.equal(await page.locator("video").count(), 0);
  await assertGoodLooks(opened);
  await page.getByLabel("Why you look at it").fill("A complaint of the client");
  await page.getByRole("button", { name: "Open for an hour" }).click();
  const video = page.locator("video");
  await until(() => video.evaluate((element) => (element as HTMLVideoElement).readyState >= 2));
  assert.equal(await page.locator("audio").count(), 1);
  await assertGoodLooks(opened);
  await page.getByRole("button", { name: /notary signs, Nora Ames/ }).click();
  const time = () => video.evaluate((element) => (element as HTMLVideoElement).currentTime);
  await until(() =>
    video.evaluate((element) => {
      const { currentTime, seeking, readyState } = element as HTMLVideoElement;
      return currentTime > 1 && !seeking && readyState >= 2;
    }),
  );
  const shown = await time();
  assert.ok(Math.abs(shown - markSeconds) < 1, `${shown} is near ${markSeconds}`);
  await page.getByRole("button", { name: "Play together" }).focus();
  await page.keyboard.press("Enter");
  await until(async () => (await time()) > shown + 0.3);
  await page.getByRole("button", { name: "Pause" }).click();
  assert.deepEqual(troubles, []);
  const played = await lines("recording.played", auditor.id);
  assert.ok(played.length > 1 && played.every(({ detail }) => detail.range?.startsWith("bytes=")));
  assert.deepEqual(
    (await lines("recording.opened", auditor.id)).map(({ detail }) => detail.reason),
    ["A complaint of the client"],
  );
  await opened.close();
});

const newline = "\n";

const eventsOf = async (topics: string) => {
  const answer = await fetch(at(`/api/partner/events?topics=${topics}`), { headers: partner.headers });
  const { events } = (await answer.json()) as { events: { type: string; id: string; payload: { data: object } }[] };
  return events.map(({ id, payload }) => ({ id, data: payload.data as Record<string, string> }));
};

test("the firm is notified when a recording starts and ends, with its hash and nobody's name", async () => {
  const [started, completed, ...more] = await eventsOf("recording.started,recording.completed,recording.interrupted");
  assert.deepEqual(more, []);
  assert.equal(started?.id, `recording.started:${code}:1`);
  assert.deepEqual(Object.keys(started?.data ?? {}).sort(), [
    "environment",
    "occurredAtUtc",
    "orderCode",
    "startedAtUtc",
  ]);
  assert.equal(completed?.id, `recording.completed:${code}:1`);
  const [row] = await running.db.query<{ sha256: string }>(
    sql`SELECT manifest_sha256 AS sha256 FROM recordings WHERE id = ${recording}`,
  );
  const { recordingSha256, startedAtUtc = "", endedAtUtc = "", orderCode, environment } = completed?.data ?? {};
  assert.deepEqual([recordingSha256, orderCode, environment], [row?.sha256, code, "test"]);
  assert.ok(Date.parse(endedAtUtc) > Date.parse(startedAtUtc));
  assert.doesNotMatch(JSON.stringify([started, completed]), /Nora|Sam/);
});

test("the export is a zip that names its recording, and requires a reason", async () => {
  const headers = { cookie: nora.cookie, Origin: running.service.baseUrl, Accept: "text/html" };
  const refused = await postForm(at(`${pages}/${recording}/export`), { reason: " " }, headers);
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /reason must say why/);
  const made = await postForm(at(`${pages}/${recording}/export`), { reason: "My own copy" }, headers);
  const zip = await fetch(at(made.headers.get("location") ?? ""), { headers });
  assert.equal(zip.headers.get("content-type"), "application/zip");
  const bytes = Buffer.from(await zip.arrayBuffer());
  assert.equal(bytes.readUInt32LE(0), 0x04034b50);
  assert.ok(bytes.includes(`"recording":"${recording}"`));
  const logged = await running.db.query<{ action: string; isOfOrder: boolean }>(sql`
    SELECT action, order_id = (SELECT order_id FROM recordings WHERE id = ${recording}) AS "isOfOrder" FROM audit_log
    WHERE action IN ('recording.exported', 'recording_export.downloaded') ORDER BY id`);
  assert.deepEqual(logged, [
    { action: "recording.exported", isOfOrder: true },
    { action: "recording_export.downloaded", isOfOrder: true },
  ]);
});

test("everything is exported by its notary, and by an auditor who chose the notary", async () => {
  const headers = (person: Person) => ({ cookie: person.cookie, Origin: running.service.baseUrl, Accept: "text/html" });
  const everything = (person: Person, fields: Record<string, string>) =>
    postForm(at(`${pages}/export`), { reason: "The commission ends", ...fields }, headers(person));
  const [row] = await running.db.query<{ notary: string }>(
    sql`SELECT notary_id AS notary FROM recordings WHERE id = ${recording}`,
  );
  const notary = row?.notary ?? "";
  const opened = await browser.open(at(pages), { width: 375, cookie: nora.cookie });
  await opened.page.getByRole("heading", { name: "Everything" }).waitFor();
  await opened.page.getByRole("heading", { name: "Your exports" }).waitFor();
  await assertGoodLooks(opened);
  await opened.close();
  const has = async (person: Person, fields: Record<string, string> = {}) => {
    const made = await everything(person, fields);
    assert.equal(made.status, 303, await made.text());
    const zip = await fetch(at(made.headers.get("location") ?? ""), { headers: headers(person) });
    assert.equal(zip.headers.get("content-type"), "application/zip");
    return Buffer.from(await zip.arrayBuffer()).includes(`recordings/${recording}/takes/`);
  };
  assert.equal(await has(nora), true);
  assert.equal(await has(auditor, { notary }), true);
  // A notary can export only the notary's own records, whatever the form contains.
  assert.equal(await has(other, { notary }), false);
  const refused = await everything(nora, { reason: "" });
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /reason must say why/);
  assert.equal((await everything(auditor, {})).status, 400);
  assert.equal((await everything(auditor, { notary: recording })).status, 404);
  assert.equal((await everything(agent, { notary })).status, 403);
  const list = async (query = "") => (await fetch(at(pages + query), { headers: headers(auditor) })).text();
  assert.match(await list(`?notary=${notary}`), /Of Nora Ames\./);
  assert.doesNotMatch(await list(), /Export everything/);
});

test("the check of stored recordings names the part and the chunk that were altered", async () => {
  const headers = { cookie: nora.cookie, Origin: running.service.baseUrl };
  const check = async () => (await postForm(at(`${pages}/${recording}/check`), {}, headers)).text();
  assert.match(await check(), /It is what was recorded/);
  const lines = sql`SELECT id, lines FROM recording_parts WHERE recording_id = ${recording} ORDER BY first_seq LIMIT 1`;
  const [part] = await running.db.query<{ id: string; lines: string }>(lines);
  const put = (text: string) =>
    running.db.query(sql`UPDATE recording_parts SET lines = ${text} WHERE id = ${part?.id ?? ""}`);
  const [first = "", second = "", ...rest] = (part?.lines ?? "").split(newline);
  await put([second, first, ...rest].join(newline));
  assert.match(await check(), /Part 1 \(lines 1 to \d+\) is not what the service wrote\..*Line 1 does not follow/s);
  await put([first, ...rest].join(newline));
  assert.match(await check(), /Line 2 does not follow the one before/);
  await put(part?.lines ?? "");
  assert.match(await check(), /It is what was recorded/);
});

test("a recording is available to its notary and to people who may read all records; a client's link, another notary and a clerk get nothing", async () => {
  const status = async (path: string, cookie = "") =>
    (await fetch(at(path), { headers: { cookie }, redirect: "manual" })).status;
  assert.equal(await status(`${pages}/${recording}`, nora.cookie), 200);
  assert.equal(await status(`${pages}/${recording}`, other.cookie), 404);
  assert.equal(await status(`${pages}/${recording}`, agent.cookie), 403);
  const unlisted = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  assert.equal(await status(`${pages}/${recording}`, unlisted.cookie), 404, "a notary without a record");
  assert.equal(await status(`${pages}/${recording}`), 401);
  assert.equal(await status(`${pages}/${recording}/takes/1000000.webm`, other.cookie), 404);
  assert.equal(await status(`${pages}/${recording}/takes/1000000.webm`, nora.cookie), 409);
  assert.equal(await status(`${pages}/${recording}/takes/7.webm`, auditor.cookie), 404);
  for (const path of [`/orders/${code}/recordings/${recording}`, `/recordings/${recording}`])
    assert.equal(await status(path), 404);
  const list = async (cookie: string, query = "") =>
    (await (await fetch(at(pages + query), { headers: { cookie } })).text()).includes(recording);
  assert.deepEqual(await Promise.all([nora, other, auditor].map(({ cookie }) => list(cookie))), [true, false, true]);
  assert.equal(await list(auditor.cookie, `?order=${code}`), true);
  assert.equal(await list(auditor.cookie, "?order=x"), false);
});

test("a hold prevents the deletion that the firm's test clock makes due, and its end allows it", async () => {
  const headers = { cookie: nora.cookie, Origin: running.service.baseUrl };
  const act = async (verb: string) =>
    (await postForm(at(`${pages}/${recording}/${verb}`), { reason: "Case 12" }, headers)).status;
  const deletedAt = async () =>
    (
      await running.db.query<{ at: Date | null }>(sql`SELECT deleted_at AS at FROM recordings WHERE id = ${recording}`)
    )[0]?.at;
  const clock = at("/api/partner/sandbox/clock");
  const advance = async (days: number) => {
    const body = JSON.stringify({ advanceSeconds: days * 86_400 });
    const asked = { ...partner.headers, "Content-Type": "application/json" };
    assert.equal((await fetch(clock, { method: "POST", headers: asked, body })).status, 200);
    await until(async () => {
      const state = (await (await fetch(clock, { headers: partner.headers })).json()) as { status: string };
      return state.status === "ready";
    });
  };
  assert.equal(await act("hold"), 303);
  await advance(5 * 365);
  assert.equal((await fetch(clock, { method: "DELETE", headers: partner.headers })).status, 200);
  await advance(30);
  assert.equal(await deletedAt(), null);
  assert.equal(await act("release"), 303);
  await advance(1);
  assert.ok(await deletedAt());
  const [deleted] = await eventsOf("recording.deleted");
  assert.equal(deleted?.data["reason"], "retention");
  const page = await (await fetch(at(`${pages}/${recording}`), { headers: { cookie: nora.cookie } })).text();
  assert.match(page, /Deleted/);
  assert.doesNotMatch(page, /Open for an hour/);
});
