import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import ICAL from "ical.js";
import type { Tx } from "../../../../src/kernel/platform/database/database.ts";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { openSecretsKey } from "../../../../src/kernel/platform/secrets.ts";
import { lockOrder, transition } from "../../../../src/orders/order/order.ts";
import { icsOf } from "../../../../src/signing/notaries/appointments/ics.ts";
import { offersOf } from "../../../../src/signing/notaries/appointments/offers.ts";
import type { DeskDeps } from "../../../../src/signing/notaries/claims/claims.ts";
import type { WaitingOrder } from "../../../../src/signing/notaries/claims/orders.ts";
import { listWorkingNotaries } from "../../../../src/signing/notaries/commissions/store.ts";
import { addNotary, renewNotaryLinks, sweepAppointments } from "../../../../src/signing/notaries/notaries.ts";
import { instantOf, readHours, slotsOf } from "../../../../src/signing/notaries/schedule/hours.ts";
import { mailsTo, newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { openInsider } from "../../../insiders/insider.ts";
import { certificateFiles } from "../certificate-files.ts";
import { ordersToNotarize } from "../orders-to-notarize.ts";

const running = await forTests(openHarness());
const folder = await forTests(temporaryFolder());
const certificate = certificateFiles(folder.path)("Nora Ames", { key: "p256" }).pem;
const partner = await newPartner(running.service);
const client = "signer@example.com";
const at = (path: string) => running.service.baseUrl + path;

const daily = Object.fromEntries(
  ["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map((day) => [`hours_${day}`, "00:00-23:59"]),
);
const hours = { zone: "America/Chicago", ...daily, meeting_url: "https://meet.example/nora", place: "1 Main Street" };

async function newNotary(name: string, fields: Record<string, string> = hours) {
  const person = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  const commission = {
    commissionName: name,
    state: "OH",
    county: "Franklin",
    commissionNumber: "1",
    status: "active",
    certificate,
    commissionExpires: "2040-01-31",
    ronRegistration: "R",
    ronExpires: "2040-01-31",
  };
  await addNotary({ db: running.db, clock: () => new Date() }, person.id, commission, "operator");
  const post = (path: string, typed: Record<string, string> = {}) =>
    postForm(at(path), typed, { cookie: person.cookie, Accept: "text/html" });
  assert.equal((await post("/operator/notary/hours", fields)).status, 303);
  return {
    ...person,
    post,
    look: async (path: string) => (await fetch(at(path), { headers: { cookie: person.cookie } })).text(),
  };
}

const nora = await newNotary("Nora Ames");

/** A test order that waits for a notary. */
async function waitingOrder(headers = partner.headers, email = client): Promise<string> {
  const body = orderForm({ ...minimal, email, svc_notary: "true", name: "Jane Doe" }, makePdf({ text: "Deed" }));
  const placed = await fetch(at("/api/partner/orders"), { method: "POST", headers, body });
  const { orderCode } = (await placed.json()) as { orderCode: string };
  await fetch(at(`/api/partner/sandbox/orders/${orderCode}/advance`), { method: "POST", headers });
  return orderCode;
}

const linkOf = new Map<string, string>();
const linksTo = (email: string) =>
  mailsTo(running.service, email).flatMap((mail) => /\/appointments\/[0-9a-f]{40}/.exec(mail)?.[0] ?? []);

/** The path of an order's appointment page. The first call for an order requests the mail with this link. */
async function pathOf(code: string, email = client): Promise<string> {
  const known = linkOf.get(code);
  if (known) return known;
  const before = new Set(linksTo(email));
  assert.equal((await postForm(at(`/orders/${code}/appointment`), {})).status, 303);
  const path = await until(() => linksTo(email).find((each) => !before.has(each)));
  linkOf.set(code, path);
  return path;
}

const pageOf = async (code: string) => (await fetch(at(await pathOf(code)))).text();
const slotsIn = (page: string) =>
  [...page.matchAll(/<option value="(\S+ (?:ron|ipen) \S+)"/g)].map(([, slot = ""]) => slot);
const book = async (code: string, slot: string) => postForm(at(await pathOf(code)), { slot });
const cancel = async (code: string) => postForm(at(`${await pathOf(code)}/cancel`), {});

async function statusOf(code: string): Promise<string | undefined> {
  const [order] = await running.db.query<{ status: string }>(
    sql`SELECT status FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  return order?.status;
}

type Session = { id: string; state: string; outcome: string | null; startsAt: Date; sequence: number };
const sessionsOf = (code: string) =>
  running.db.query<Session>(sql`
    SELECT s.id, s.state, s.outcome, s.starts_at AS "startsAt", s.sequence FROM notary_sessions s JOIN orders o ON o.id = s.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY s.booked_at`);

/** The mailed calendar entries of an appointment, parsed by a calendar library. */
function entriesOf(sessionId: string, email = client) {
  return mailsTo(running.service, email).flatMap((mail) => {
    const [, base64 = ""] = /text\/calendar[^\r]*;\s*method=[\s\S]*?base64\r\n\r\n([\s\S]*?)\r\n--/i.exec(mail) ?? [];
    const [, plain = ""] = /(BEGIN:VCALENDAR[\s\S]*?END:VCALENDAR)/.exec(mail) ?? [];
    const text = base64 === "" ? plain : Buffer.from(base64, "base64").toString();
    if (!text.includes(sessionId)) return [];
    const calendar = new ICAL.Component(ICAL.parse(text));
    const event = new ICAL.Event(calendar.getFirstSubcomponent("vevent") ?? undefined);
    const method = String(calendar.getFirstPropertyValue("method"));
    const { uid, sequence, organizer } = event;
    return [{ mail, method, uid, sequence, organizer, startsAt: event.startDate.toJSDate() }];
  });
}

/** Advances the firm's test clock, which makes the firm's appointments begin that much earlier. */
async function advance(headers: { Authorization: string }, seconds: number): Promise<void> {
  const body = JSON.stringify({ advanceSeconds: seconds });
  const moved = await fetch(at("/api/partner/sandbox/clock"), {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body,
  });
  assert.equal(moved.status, 200, await moved.text());
}

test("hours are local through changes of daylight saving, and a time that does not exist is not offered", () => {
  const iso = (time: number | null) => (time === null ? null : new Date(time).toISOString());
  assert.equal(iso(instantOf("America/Chicago", "2026-03-07", "09:00")), "2026-03-07T15:00:00.000Z");
  assert.equal(iso(instantOf("America/Chicago", "2026-03-09", "09:00")), "2026-03-09T14:00:00.000Z");
  assert.equal(instantOf("America/Chicago", "2026-03-08", "02:30"), null);
  assert.equal(iso(instantOf("America/Chicago", "2026-11-01", "01:30")), "2026-11-01T06:30:00.000Z");
  assert.equal(iso(instantOf("Asia/Kathmandu", "2026-06-01", "09:00")), "2026-06-01T03:15:00.000Z");
});

test("appointments take 30 minutes with 10 in between, from an hour ahead, and dates replace the times of the week", () => {
  const read = readHours({
    zone: "America/New_York",
    hours_mon: "09:00-11:00",
    exceptions: "2026-06-08 closed\n2026-06-09 12:00-12:30",
    meeting_url: "https://m.example",
  });
  assert.ok(read.ok);
  const now = new Date("2026-06-01T12:30:00Z");
  const slots = (taken: Date[]) => slotsOf(read.value, taken, now).map((each) => each.toISOString().slice(5, 16));
  assert.deepEqual(slots([]), [
    "06-01T13:40",
    "06-01T14:20",
    "06-09T16:00",
    "06-15T13:00",
    "06-15T13:40",
    "06-15T14:20",
  ]);
  assert.deepEqual(slots([new Date("2026-06-01T13:50:00Z")]), [
    "06-09T16:00",
    "06-15T13:00",
    "06-15T13:40",
    "06-15T14:20",
  ]);
});

test("the faults of hours are named, field by field", () => {
  const read = readHours({
    zone: "Mars/Base",
    hours_mon: "11:00-09:00",
    hours_tue: "09:00-10:00, 09:30-12:00",
    exceptions: "Christmas",
    meeting_url: "http://m.example",
  });
  assert.ok(!read.ok);
  assert.deepEqual(Object.keys(read.faults).toSorted(), [
    "exceptions",
    "hours_mon",
    "hours_tue",
    "meeting_url",
    "zone",
  ]);
});

test("a calendar entry keeps commas, long words and scripts, in lines of at most 75 octets", () => {
  const summary = `Notary; "Ames, Nora" \\ ${"公证人".repeat(30)}`;
  const text = icsOf({
    uid: "1@example.com",
    sequence: 3,
    isCanceled: false,
    summary,
    description: "a\nb",
    location: "1 Main, Austin",
    startsAt: new Date("2026-06-01T13:40:00Z"),
    stampedAt: new Date(),
    organizer: "o@example.com",
    attendee: "a@example.com",
  });
  assert.ok(text.split("\r\n").every((line) => Buffer.byteLength(line) <= 75));
  const event = new ICAL.Event(new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent("vevent") ?? undefined);
  assert.deepEqual([event.summary, event.description, event.location], [summary, "a\nb", "1 Main, Austin"]);
  assert.equal(event.duration.toSeconds(), 1800);
});

test("of two clients who book one time one gets it, and everybody is mailed a calendar entry in local time", async () => {
  const [one, other] = [await waitingOrder(), await waitingOrder()];
  const page = await pageOf(one);
  assert.match(page, /\(America\/Chicago\), \d\d:\d\d UTC · By audio and video/);
  const [slot = ""] = slotsIn(page);
  const answers = await Promise.all([book(one, slot), book(other, slot)]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [303, 409]);
  const [winner, loser] = answers[0]?.status === 303 ? [one, other] : [other, one];
  assert.equal((await sessionsOf(loser)).length, 0);
  const [session] = await sessionsOf(winner);
  assert.ok(session);
  const [entry] = await until(() => (entriesOf(session.id).length > 0 ? entriesOf(session.id) : undefined));
  assert.deepEqual([entry?.method, entry?.sequence, entry?.startsAt], ["REQUEST", 0, session.startsAt]);
  assert.match(entry?.mail ?? "", /America\/Chicago/);
  await until(() => entriesOf(session.id, nora.email).length > 0);
  const day = await nora.look("/operator");
  assert.match(day, new RegExp(`orders/${winner}[\\s\\S]*?<time`));
  assert.match(await nora.look(`/operator/notary/orders/${winner}`), /https:\/\/meet\.example\/nora/);
});

test("a moved appointment replaces the entry, a canceled one removes it, and its time is free again", async () => {
  const code = await waitingOrder();
  const [, , first = "", second = ""] = slotsIn(await pageOf(code)).filter((slot) => slot.includes("ipen"));
  assert.equal((await book(code, first)).status, 303);
  assert.equal((await book(code, second)).status, 303);
  const [session] = await sessionsOf(code);
  assert.equal(session?.sequence, 1);
  assert.match(await pageOf(code), /1 Main Street/);
  await until(() => entriesOf(session?.id ?? "").some(({ sequence }) => sequence === 1));
  assert.equal((await cancel(code)).status, 303);
  assert.equal((await cancel(code)).status, 409);
  const entries = await until(() => {
    const found = entriesOf(session?.id ?? "");
    return found.some(({ method }) => method === "CANCEL") ? found : undefined;
  });
  assert.equal(new Set(entries.map(({ uid }) => uid)).size, 1);
  assert.equal(entries.find(({ method }) => method === "CANCEL")?.sequence, 2);
  assert.ok(slotsIn(await pageOf(code)).includes(second));
});

test("without rooms of its own, offers no time by audio and video of a notary without a link, and no check of a device", async () => {
  const code = await waitingOrder();
  const { meeting_url: _, ...noLink } = hours;
  const [slot = ""] = slotsIn(await pageOf(code)).filter((each) => each.includes(" ron "));
  assert.equal((await nora.post("/operator/notary/hours", noLink)).status, 303);
  const slots = slotsIn(await pageOf(code));
  assert.ok(slots.length > 0 && slots.every((each) => each.includes(" ipen ")));
  assert.equal((await book(code, slot)).status, 409);
  assert.equal((await sessionsOf(code)).length, 0);
  assert.equal((await postForm(at(`${await pathOf(code)}/device/check`), {})).status, 404);
  assert.equal((await nora.post("/operator/notary/hours", hours)).status, 303);
});

test("the page of hours says that nobody can book while it has none", async () => {
  const says = /Nobody can book an appointment with you yet/;
  assert.doesNotMatch(await nora.look("/operator/notary/hours"), says);
  const idle = await newNotary("Ida Idle", { zone: "America/Chicago", exceptions: "2040-12-24 closed" });
  assert.match(await idle.look("/operator/notary/hours"), says);
});

test("a time that is not offered, of another notary, or malformed is refused, and nothing is written", async () => {
  const code = await waitingOrder();
  const [slot = ""] = slotsIn(await pageOf(code));
  const [, mode = "", notary = ""] = slot.split(" ");
  const odd = new Date(Date.parse(slot.split(" ")[0] ?? "") + 60_000).toISOString();
  for (const wrong of [
    "",
    "tomorrow",
    `${odd} ${mode} ${notary}`,
    slot.replace(mode, "ink"),
    slot.replace(notary, "00000000-0000-4000-8000-000000000000"),
  ])
    assert.ok([400, 409].includes((await book(code, wrong)).status), wrong);
  assert.equal((await sessionsOf(code)).length, 0);
  const stranger = "0".repeat(40);
  assert.equal((await postForm(at(`/appointments/${stranger}`), { slot })).status, 404);
  assert.equal((await fetch(at(`/orders/${stranger}/appointment`))).status, 404);
  // Other people also have the order's code, such as readers of its room, so the code gives no access.
  assert.equal((await postForm(at(`/appointments/${code}`), { slot })).status, 404);
  assert.equal((await postForm(at(`/orders/${code}/appointment/cancel`), {})).status, 404);
});

test("people are reminded over time, an appointment is fixed two hours before, and a second failed one fails the order", async () => {
  const own = await newPartner(running.service);
  const email = "reminded@example.com";
  const code = await waitingOrder(own.headers, email);
  await pathOf(code, email);
  const reminders = () => mailsTo(running.service, email).filter((mail) => /Subject: .*is soon/.test(mail)).length;
  const slotAfter = async (ms: number) =>
    slotsIn(await pageOf(code)).find(
      (slot) => Date.parse(slot) > Date.now() + ms || Date.parse(slot.split(" ")[0] ?? "") > Date.now() + ms,
    ) ?? "";
  assert.equal((await book(code, await slotAfter(30 * 3_600_000))).status, 303);
  const startOf = async () => (await sessionsOf(code)).at(-1)?.startsAt.getTime() ?? 0;
  const untilStart = async (before: number) => Math.ceil(((await startOf()) - Date.now()) / 1000) - before;
  for (const [before, count] of [
    [23 * 3600, 1],
    [3000, 2],
    [300, 3],
  ] as const) {
    await advance(own.headers, await untilStart(before));
    await until(() => reminders() === count);
  }
  assert.match(await pageOf(code), /can’t be changed here/);
  assert.equal((await cancel(code)).status, 409);
  const note = (outcome: string) => nora.post(`/operator/notary/orders/${code}/appointment-ended`, { outcome });
  assert.equal((await note("no_show")).status, 409);
  await advance(own.headers, await untilStart(-600));
  assert.equal((await note("no_show")).status, 409);
  await advance(own.headers, 600);
  assert.equal((await note("no_show")).status, 303);
  await until(() => mailsTo(running.service, email).some((mail) => /Subject: .*Choose another time/.test(mail)));
  assert.equal(await statusOf(code), "NotarizationPending");
  assert.equal((await book(code, await slotAfter(3 * 3_600_000))).status, 303);
  await advance(own.headers, await untilStart(-1200));
  assert.equal((await note("no_show")).status, 303);
  assert.equal(await statusOf(code), "NotarizationFailed");
  assert.deepEqual(
    (await sessionsOf(code)).map(({ outcome }) => outcome),
    ["no_show", "no_show"],
  );
});

test("an appointment that failed for technical reasons can be booked again, and the second failure fails the order", async () => {
  const own = await newPartner(running.service);
  const email = "technical@example.com";
  const code = await waitingOrder(own.headers, email);
  await pathOf(code, email);
  const note = () => nora.post(`/operator/notary/orders/${code}/appointment-ended`, { outcome: "technical" });
  for (const status of ["NotarizationPending", "NotarizationFailed"]) {
    assert.equal((await book(code, slotsIn(await pageOf(code)).at(-1) ?? "")).status, 303);
    assert.equal((await note()).status, 409);
    const startsAt = (await sessionsOf(code)).at(-1)?.startsAt.getTime() ?? 0;
    await advance(own.headers, Math.ceil((startsAt - Date.now()) / 1000) + 1);
    assert.equal((await note()).status, 303);
    assert.equal(await statusOf(code), status);
  }
});

const answersTo = (mail: string) => /^Reply-To: (.*)\r$/m.exec(mail)?.[1];

test("answers of signers to mails about an appointment go to an owner of a firm without a contact address", async () => {
  const own = await newPartner(running.service);
  const [owner, email] = ["owner@appointments.example", "answers@example.com"];
  await newMember(running.service, owner, own.key);
  const { place, claim } = ordersToNotarize(running, own);
  const code = await place({ email });
  const link = await pathOf(code, email);
  await claim(code, nora.cookie);
  const meeting = { url: "https://meet.example/10", when: "2040-01-03T15:30" };
  assert.equal((await nora.post(`/operator/notary/orders/${code}/appointment`, meeting)).status, 303);
  for (const part of [link, meeting.url]) {
    const mail = await until(() => mailsTo(running.service, email).find((each) => each.includes(part)));
    assert.equal(answersTo(mail), owner, part);
  }
  // The notary does not get the owner's address, and neither does any calendar.
  const booked = await waitingOrder(own.headers, email);
  await pathOf(booked, email);
  assert.equal((await book(booked, slotsIn(await pageOf(booked)).at(-1) ?? "")).status, 303);
  const id = (await sessionsOf(booked))[0]?.id ?? "";
  for (const [to, answers] of [
    [email, owner],
    [nora.email, undefined],
  ] as const) {
    const { mail, organizer } = await until(() => entriesOf(id, to)[0]);
    assert.equal(answersTo(mail), answers, to);
    assert.match(organizer, /^mailto:no-reply@/);
  }
});

test("after a correction, mails about the notarization go to the corrected address of a person who has signed", async () => {
  const own = await newPartner(running.service);
  const [email, right] = ["signed@wrong.example", "signed@right.example"];
  const signers = JSON.stringify([{ name: "Jane Doe", email }]);
  const { place, signsAtHome, reachesNotary } = ordersToNotarize(running, own);
  const code = await place({ svc_sign: "true", email, signers });
  await signsAtHome(email);
  await reachesNotary(code);
  await running.service.cli("order", "move", code, "NotarizationFailed", "--reason", "Nobody came.");
  const json = { ...own.headers, "Content-Type": "application/json" };
  for (const [path, body] of [
    ["corrections", { email: right }],
    ["send-again", {}],
  ] as const) {
    const wanted = { method: "POST", headers: json, body: JSON.stringify(body) };
    assert.equal((await fetch(at(`/api/partner/orders/${code}/${path}`), wanted)).status, 200, path);
  }
  await pathOf(code, right);
  const [task] = await running.db.query<{ id: number }>(sql`
    SELECT t.id FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND t.kind = 'notarize' AND t.state = 'open'`);
  assert.equal((await nora.post(`/operator/notary/tasks/${task?.id}/claim`)).status, 303);
  const meeting = { url: "https://meet.example/9", when: "2040-01-02T15:30" };
  assert.equal((await nora.post(`/operator/notary/orders/${code}/appointment`, meeting)).status, 303);
  await until(() => mailsTo(running.service, right).some((mail) => mail.includes(meeting.url)));
  assert.deepEqual(linksTo(email), []);
});

test("a correction ends the appointment link that went to the earlier address, mails another one, and leaves the link of a person who shares the right address", async () => {
  const own = await newPartner(running.service);
  const [email, right] = ["booked@wrong.example", "booked@right.example"];
  const signers = [
    { name: "Jane Doe", email },
    { name: "John Doe", email: right },
  ];
  const code = await ordersToNotarize(running, own).place({ email, signers: JSON.stringify(signers) });
  const former = await pathOf(code, email);
  const johns = await until(() => linksTo(right)[0]);
  await running.service.cli("order", "move", code, "NotarizationFailed", "--reason", "Nobody came.");
  const json = { ...own.headers, "Content-Type": "application/json" };
  for (const [path, body] of [
    ["corrections", { email: right }],
    ["send-again", {}],
  ] as const) {
    const wanted = { method: "POST", headers: json, body: JSON.stringify(body) };
    assert.equal((await fetch(at(`/api/partner/orders/${code}/${path}`), wanted)).status, 200, path);
  }
  assert.equal((await fetch(at(former))).status, 404);
  const next = await until(() => linksTo(right).find((each) => each !== johns));
  for (const path of [next, johns]) assert.equal((await fetch(at(path))).status, 200);
});

test("the appointment link of an address that was corrected during a hold is mailed when the hold ends", async () => {
  const { db, rowMac, service } = running;
  const email = "held@corrected.example";
  const code = await waitingOrder(partner.headers, email);
  const former = await pathOf(code, email);
  await service.cli("order", "move", code, "OnHold", "--reason", "A dispute.");
  const migration = readFileSync(new URL("../../../../migrations/0197_mailed_links.sql", import.meta.url), "utf8");
  const isMailedAfterUpgrade = async (tx: Tx) => {
    await tx.query(sql`UPDATE appointment_links SET is_mailed = true`);
    await tx.script(/^UPDATE [^;]*;/m.exec(migration)?.[0] ?? "");
    const [link] = await tx.query<{ isMailed: boolean }>(sql`
      SELECT l.is_mailed AS "isMailed" FROM appointment_links l JOIN orders o ON o.id = l.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)}`);
    return link?.isMailed;
  };
  const secrets = await openSecretsKey(`file:${join(service.dataDir, "keys/secrets")}`);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.equal(await isMailedAfterUpgrade(tx), true, "mailed before the hold");
    const people = { names: new Set(["Jane Doe"]), email };
    await renewNotaryLinks(tx, { desk: { rowMac }, secrets }, order?.id ?? 0, people, new Date());
    assert.equal(await isMailedAfterUpgrade(tx), false);
  });
  const jobsEnd = async () => {
    await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'notary-again'`)).length === 0);
    await until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue LIKE 'appointment-%'`)).length === 0);
  };
  // If the next hold begins before the mail is sent, the service drops the mail. It sends the mail after that hold.
  await db.transaction(async (tx) => {
    for (const on of ["released", "held"] as const) {
      const order = (await lockOrder(tx, code)) ?? assert.fail();
      await transition(tx, order, on, { actor: "test", at: new Date(), log: openLog("silent"), reason: "A dispute." });
      if (on === "released") assert.equal(await isMailedAfterUpgrade(tx), false, "queued when the upgrade began");
    }
  });
  await jobsEnd();
  assert.deepEqual(linksTo(email), [former]);
  await service.cli("order", "move", code, "--release");
  const path = await until(() => linksTo(email).find((each) => each !== former));
  assert.equal((await fetch(at(path))).status, 200);
  // A link that was mailed before the hold is not mailed again.
  await service.cli("order", "move", code, "OnHold", "--reason", "Another dispute.");
  await service.cli("order", "move", code, "--release");
  await jobsEnd();
  assert.equal(linksTo(email).length, 2);
});

test("people who ask for their link again while a time is booked get the appointment, and are not asked to choose", async () => {
  const email = "again@booked.example";
  const code = await waitingOrder(partner.headers, email);
  const path = await pathOf(code, email);
  const [slot = ""] = slotsIn(await (await fetch(at(path))).text()).filter((each) => each.includes(" ron "));
  assert.equal((await postForm(at(path), { slot })).status, 303);
  const [session] = await sessionsOf(code);
  const entries = () => entriesOf(session?.id ?? "", email);
  await until(() => entries().length === 1);
  assert.equal((await postForm(at(`/orders/${code}/appointment`), {})).status, 303);
  await until(() => entries().length === 2);
  const isOpen = sql`queue = 'appointment-invitation-mail'`;
  await until(async () => (await running.db.query(sql`SELECT FROM jobs WHERE ${isOpen}`)).length === 0);
  const choosing = mailsTo(running.service, email).filter((mail) => /Subject: .*Choose a time/.test(mail));
  assert.equal(choosing.length, 1, "before the booking");
});

test("a person with an appointment whose address was corrected during a hold gets the appointment, and is not asked to choose a time", async () => {
  const { db, rowMac, service } = running;
  const email = "held@booked.example";
  const code = await waitingOrder(partner.headers, email);
  const former = await pathOf(code, email);
  const [slot = ""] = slotsIn(await (await fetch(at(former))).text()).filter((each) => each.includes(" ron "));
  assert.equal((await postForm(at(former), { slot })).status, 303);
  const [session] = await sessionsOf(code);
  const entries = () => entriesOf(session?.id ?? "", email);
  await until(() => entries()[0]);
  await service.cli("order", "move", code, "OnHold", "--reason", "A dispute.");
  const secrets = await openSecretsKey(`file:${join(service.dataDir, "keys/secrets")}`);
  await db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    const people = { names: new Set(["Jane Doe"]), email };
    await renewNotaryLinks(tx, { desk: { rowMac }, secrets }, order?.id ?? 0, people, new Date());
  });
  const holdEnds = async () => {
    await service.cli("order", "move", code, "--release");
    const isOpen = sql`queue IN ('notary-again', 'appointment-invitation-mail', 'notary-session-mail')`;
    await until(async () => (await db.query(sql`SELECT FROM jobs WHERE ${isOpen}`)).length === 0);
  };
  await holdEnds();
  const mails = mailsTo(service, email).filter((mail) => /\/appointments\//.test(mail));
  assert.equal(mails.filter((mail) => /Subject: .*Choose a time/.test(mail)).length, 1, "before the booking");
  assert.equal(entries().length, 2);
  assert.ok(entries().some(({ mail }) => !mail.includes(former)));
  await service.cli("order", "move", code, "OnHold", "--reason", "Another dispute.");
  await holdEnds();
  assert.equal(entries().length, 2, "the new link is mailed once");
});

test("times of the day on which a commission begins are offered from the instant at which it begins", async () => {
  const notary = (await listWorkingNotaries(running.db)).find(({ commissionName }) => commissionName === "Nora Ames");
  assert.ok(notary);
  const day = new Date(Date.now() + 7 * 24 * 3_600_000).toISOString().slice(0, 10);
  const clock = () => new Date();
  const rules = { of: () => ({ modes: { value: ["ipen"] } }), classes: new Map(), attribution: null };
  const desk = { clock, readEligibility: async () => ({ rules, notarizationBlocked: () => false }) };
  const order = { docSlug: null, signerState: null } as unknown as WaitingOrder;
  const deps = { desk: desk as unknown as DeskDeps, rooms: null };
  const offers = await offersOf(deps, running.db, order, { ...notary, commissionStarts: day });
  const times = offers.map(({ startsAt }) => startsAt.toISOString()).filter((time) => time.startsWith(day));
  assert.ok(times.length > 0);
  assert.ok(times.every((time) => time >= `${day}T10:00:00.000Z`));
});

test("an appointment whose notary releases the order is canceled, and everybody is mailed", async () => {
  const own = await newPartner(running.service);
  const email = "released@example.com";
  const code = await waitingOrder(own.headers, email);
  await pathOf(code, email);
  assert.equal((await book(code, slotsIn(await pageOf(code)).at(-1) ?? "")).status, 303);
  assert.equal((await nora.post(`/operator/notary/orders/${code}/release`)).status, 303);
  await advance(own.headers, 1);
  await until(() => mailsTo(running.service, email).some((mail) => /Subject: .*is canceled/.test(mail)));
  assert.equal((await sessionsOf(code))[0]?.state, "canceled");
});

test("an appointment stays when the claim of its task was forged in the database", async () => {
  const own = await newPartner(running.service);
  const email = "forged@example.com";
  const code = await waitingOrder(own.headers, email);
  await pathOf(code, email);
  assert.equal((await book(code, slotsIn(await pageOf(code)).at(-1) ?? "")).status, 303);
  const insider = openInsider(running.service.dataDir);
  const isOfOrder = sql`order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`;
  await insider.run(sql`UPDATE tasks SET claimed_by = 'operator:somebody' WHERE ${isOfOrder}`);
  await insider.close();
  const deps = { db: running.db, clock: () => new Date(), rowMac: running.rowMac, log: openLog("silent") };
  await sweepAppointments(deps, new AbortController().signal);
  assert.equal((await sessionsOf(code))[0]?.state, "scheduled");
});

test("an order that is released after its appointment began is canceled, and not recorded as done", async () => {
  const own = await newPartner(running.service);
  const email = "late@example.com";
  const code = await waitingOrder(own.headers, email);
  await pathOf(code, email);
  assert.equal((await book(code, slotsIn(await pageOf(code))[0] ?? "")).status, 303);
  const [session] = await sessionsOf(code);
  await advance(own.headers, Math.ceil(((session?.startsAt.getTime() ?? 0) - Date.now()) / 1000) + 600);
  assert.equal((await nora.post(`/operator/notary/orders/${code}/release`)).status, 303);
  await advance(own.headers, 1);
  await until(async () => (await sessionsOf(code))[0]?.state !== "scheduled");
  assert.deepEqual([(await sessionsOf(code))[0]?.state, (await sessionsOf(code))[0]?.outcome], ["canceled", null]);
});

test("the link is mailed at most five times a day, and the order’s page links to it", async () => {
  const code = await waitingOrder();
  assert.match(await (await fetch(at(`/orders/${code}`))).text(), /orders\/[0-9a-f]{40}\/appointment/);
  for (let n = 0; n < 5; n++) assert.equal((await postForm(at(`/orders/${code}/appointment`), {})).status, 303);
  assert.equal((await postForm(at(`/orders/${code}/appointment`), {})).status, 409);
});

test("hours that were altered in the database offer nothing, and other notaries’ hours stay", async () => {
  const code = await waitingOrder();
  await pathOf(code);
  await running.db.query(sql`UPDATE notary_hours SET meeting_url = 'https://evil.example'`);
  assert.match(await pageOf(code), /No time can be booked here now/);
  await newNotary("Omar Beck");
  assert.ok(slotsIn(await pageOf(code)).length > 0);
});
