import assert from "node:assert/strict";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { connectionTo } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import ICAL from "ical.js";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { languages } from "../../../../src/kernel/platform/languages.ts";
import { lockOrder, recordCorrection } from "../../../../src/orders/order/order.ts";
import { appointmentWords } from "../../../../src/pages/client/appointment-words.ts";
import { queueWords } from "../../../../src/pages/client/queue-words.ts";
import { liveWords } from "../../../../src/pages/ui/live/words/languages.ts";
import { mailBooking } from "../../../../src/signing/notaries/appointments/mail.ts";
import {
  addNotary,
  bookingWords,
  guestWords,
  listNotaries,
  setNotary,
} from "../../../../src/signing/notaries/notaries.ts";
import { appendEvent, lockLive, unrecorded } from "../../../../src/signing/notaries/sessions/store.ts";
import { mailsTo, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { certificateFiles } from "../certificate-files.ts";
import { liveSettings } from "../sessions/live-rules.ts";

const folder = await forTests(temporaryFolder());
const roles = { credibleWitness: "true", witnesses: "true", observers: "true", interpreter: "false" };
const settings = { ...liveSettings(folder.path, roles), ...ownProcess };
const addressed = async () => {
  const port = String(await freePort());
  return { PORT: port, NODE_URL: `http://127.0.0.1:${port}` };
};
const running = await forTests(openHarness({ ...settings, ...(await addressed()) }));
const certificate = certificateFiles(folder.path)("Nora Ames", { key: "p256" }).pem;
const at = (path: string) => running.service.baseUrl + path;

/** A URL as mails contain it. */
const mailed = (path: string) => at(path).replace("127.0.0.1", "localhost");

const daily = Object.fromEntries(
  ["sun", "mon", "tue", "wed", "thu", "fri", "sat"].map((day) => [`hours_${day}`, "00:00-23:59"]),
);
const hours = { zone: "America/Chicago", ...daily };
const link = "https://meet.example/nora";

const person = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
await addNotary(
  { db: running.db, clock: () => new Date() },
  person.id,
  {
    commissionName: "Nora Ames",
    state: "OH",
    county: "Franklin",
    commissionNumber: "1",
    status: "active",
    commissionExpires: "2040-01-31",
    ronRegistration: "R",
    ronExpires: "2040-01-31",
    certificate,
  },
  "operator",
);
const post = (path: string, typed: Record<string, string>) =>
  postForm(at(`/operator/notary${path}`), typed, { cookie: person.cookie, Accept: "text/html" });
const look = async (path: string) =>
  (await fetch(at(`/operator/notary${path}`), { headers: { cookie: person.cookie } })).text();
const setHours = async (more: Record<string, string> = {}) =>
  assert.equal((await post("/hours", { ...hours, ...more })).status, 303);
await setHours();

/**
 * A test order, of its own firm, that waits for a notary. It has a signer for each email address. Each signer is mailed
 * a link to the appointment page.
 */
async function waitingOrder(emails: readonly string[]) {
  const { headers } = await newPartner(running.service);
  const people = emails.map((email, n) => ({ name: `Person ${"ABCDEFGHI"[n]}`, email }));
  const form = { ...minimal, email: emails[0] ?? "", svc_notary: "true", signers: JSON.stringify(people) };
  const body = orderForm(form, makePdf({ text: "Deed" }));
  const placed = await fetch(at("/api/partner/orders"), { method: "POST", headers, body });
  const { orderCode: code } = (await placed.json()) as { orderCode: string };
  await fetch(at(`/api/partner/sandbox/orders/${code}/advance`), { method: "POST", headers });
  assert.match(await (await fetch(at(`/orders/${code}`))).text(), /orders\/[0-9a-f]{40}\/appointment/);
  assert.equal((await postForm(at(`/orders/${code}/appointment`), {})).status, 303);
  const paths = await Promise.all(
    emails.map((email) =>
      until(
        () =>
          mailsTo(running.service, email).flatMap((mail) => /\/appointments\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
      ),
    ),
  );
  const [path = ""] = paths;
  const show = async () => (await fetch(at(path))).text();
  return {
    code,
    paths,
    path,
    show,
    slots: async () => [...(await show()).matchAll(/<option value="(\S+ (ron|ipen) \S+)"/g)],
    book: (slot: string) => postForm(at(path), { slot }),
    async advance(seconds: number) {
      const moved = await fetch(at("/api/partner/sandbox/clock"), {
        method: "POST",
        headers: { ...headers, "Content-Type": "application/json" },
        body: JSON.stringify({ advanceSeconds: seconds }),
      });
      assert.equal(moved.status, 200, await moved.text());
    },
  };
}

type Order = Awaited<ReturnType<typeof waitingOrder>>;

/** Books a meeting by audio and video, at the first offered time that is at least `hoursAhead` hours away. */
async function bookRoom(order: Order, hoursAhead = 3): Promise<void> {
  const after = Date.now() + hoursAhead * 3_600_000;
  const [, slot = ""] =
    (await order.slots()).find(
      ([, each = "", mode]) => mode === "ron" && Date.parse(each.split(" ")[0] ?? "") > after,
    ) ?? [];
  assert.equal((await order.book(slot)).status, 303);
}

const pointOf = async ({ code }: Order) =>
  (
    await running.db.query<{ point: string | null }>(sql`
      SELECT s.meeting_point AS point FROM notary_sessions s JOIN orders o ON o.id = s.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} AND s.state = 'scheduled'`)
  )[0]?.point;

/** The decoded text of a mail, with its calendar entry. */
function partsOf(mail: string): { text: string; location: string; description: string } {
  const decode = (part: string) => Buffer.from(part, "base64").toString();
  const [, base64 = ""] = /text\/calendar[^\r]*;\s*method=[\s\S]*?base64\r\n\r\n([\s\S]*?)\r\n--/i.exec(mail) ?? [];
  const [, plain = ""] = /(BEGIN:VCALENDAR[\s\S]*?END:VCALENDAR)/.exec(mail) ?? [];
  const calendar = new ICAL.Component(ICAL.parse(base64 === "" ? plain : decode(base64)));
  const { location, description } = new ICAL.Event(calendar.getFirstSubcomponent("vevent") ?? undefined);
  return { text: mail.replaceAll(/=\r\n/g, "").replaceAll("=3D", "="), location, description };
}

const mailWith = (email: string, subject: RegExp) =>
  until(() => mailsTo(running.service, email).find((mail) => subject.test(mail))).then(partsOf);

test("offers times by audio and video to people of a notary without a link, and each person’s place is their own page", async () => {
  const order = await waitingOrder(["anna@example.com", "ben@example.com"]);
  assert.ok((await order.slots()).every(([, , mode]) => mode === "ron"));
  await bookRoom(order);
  assert.equal(await pointOf(order), null);
  for (const [n, email] of ["anna@example.com", "ben@example.com"].entries()) {
    const { text, location, description } = await mailWith(email, /Subject: .*Your appointment with the notary\r/);
    const own = `${mailed(order.paths[n] ?? "")}?lang=en`;
    assert.equal(location, own);
    assert.equal(description, `By audio and video: ${own}`);
    assert.match(text, /In the notary’s room of this service|In the notary=E2=80=99s room of this service/);
    assert.match(text, /Check your camera, microphone and connection beforehand/);
    assert.ok(text.includes(`${own}#device`), "the mail leads to the device check");
  }
  const notary = await mailWith(person.email, /Subject: .*Your appointment with the notary\r/);
  assert.equal(notary.location, `${mailed("/operator/notary")}?lang=en`);
  assert.doesNotMatch(notary.text, /Check your camera|\/appointments\//);
  const page = await order.show();
  assert.match(page, /In the notary’s room\. When the notary opens it/);
  assert.doesNotMatch(page, /The link is in the email/);
  assert.match(await look(`/orders/${order.code}`), /In a room of this service\.[\s\S]*href="#session"/);
  assert.equal((await postForm(at(`${order.path}/cancel`), {})).status, 303);
  const desk = await look(`/orders/${order.code}`);
  assert.match(desk, /By audio and video they meet you in a room of this service\.[\s\S]*href="#session"/);
  assert.match(await look("/hours"), /led into that room, without a link/);
});

test("says where people meet, and offers the check, in each of the eight languages", async () => {
  const order = await waitingOrder(["many@example.com"]);
  await bookRoom(order);
  const seen = new Set<string>();
  for (const language of languages) {
    const page = await (await fetch(at(`${order.path}?lang=${language}`))).text();
    const texts = [
      appointmentWords[language].here,
      queueWords[language].booked,
      liveWords[language].device.start,
      liveWords[language].device.tone,
    ];
    for (const text of texts) assert.ok(page.includes(text), `${language}: ${text}`);
    seen.add([...texts, bookingWords[language].room, bookingWords[language].check].join("\n"));
  }
  assert.equal(seen.size, 8);
});

test("prefers the room to a notary’s link, and keeps the link for an order that can't be done in a room", async () => {
  const here = await waitingOrder(["here@example.com"]);
  // A session has at most seven people besides the notary.
  const many = await waitingOrder(Array.from({ length: 8 }, (_, n) => `person${n}@example.com`));
  assert.deepEqual(await many.slots(), [], "neither a room nor a link");
  const [, slot = ""] = (await here.slots()).at(-1) ?? [];
  assert.equal((await many.book(slot)).status, 409);
  assert.equal(await pointOf(many), undefined);
  await setHours({ meeting_url: link });
  await bookRoom(here);
  assert.equal(await pointOf(here), null);
  await bookRoom(many, 30);
  assert.equal(await pointOf(many), link);
  assert.equal((await mailWith("person3@example.com", /Subject: .*Your appointment with the notary\r/)).location, link);
  assert.match(await many.show(), /The link is in the email/);
  assert.doesNotMatch(await many.show(), /own-device|device-start/);
  assert.equal((await postForm(at(`${many.path}/device/check`), {})).status, 409);
  await setHours();
});

test("reminds people with a link to the device check, and leads into the room once the notary opens it", async () => {
  const email = "reminded@example.com";
  const order = await waitingOrder([email]);
  await bookRoom(order, 30);
  const place = async () => (await fetch(at(`${order.path}/now`))).text();
  assert.match(await place(), /every 60s[\s\S]*The room is not open yet/);
  const [session] = await running.db.query<{ startsAt: Date }>(sql`
    SELECT s.starts_at AS "startsAt" FROM notary_sessions s JOIN orders o ON o.id = s.order_id
    WHERE ${isSealed(sql`o.code`, "order", order.code)}`);
  await order.advance(Math.ceil(((session?.startsAt.getTime() ?? 0) - Date.now()) / 1000) - 300);
  const reminder = await mailWith(email, /Subject: .*is soon/);
  assert.ok(reminder.text.includes(`${mailed(order.path)}?lang=en#device`));
  assert.match(await place(), /every 5s[\s\S]*The room is not open yet/);
  const open = await post(`/orders/${order.code}/session`, { act: "jurat" });
  assert.equal(open.status, 303);
  const page = await order.show();
  assert.match(page, /The notary’s room is open[\s\S]*\/notary-room\/[0-9a-f]{40}/);
  const [, token] = /\/notary-room\/([0-9a-f]{40})/.exec(page) ?? [];
  const inMail = await until(
    () => mailsTo(running.service, email).flatMap((mail) => /\/notary-room\/([0-9a-f]{40})/.exec(mail)?.[1] ?? [])[0],
  );
  assert.equal(token, inMail, "the page leads to the same room as the mail of the session");
  assert.doesNotMatch(page, /device-start/, "the room has its own check");
  assert.equal((await post(`/orders/${order.code}/session/end`, { outcome: "technical" })).status, 303);
});

test("an appointment is not ended while its session is open, and a session that could not be recorded is not a failure of people", async () => {
  const { db, rowMac } = running;
  const order = await waitingOrder(["unrecorded@example.com"]);
  const end = () => post(`/orders/${order.code}/appointment-ended`, { outcome: "technical" });
  const begins = async () => {
    await bookRoom(order);
    const [booked] = await db.query<{ startsAt: Date }>(sql`
      SELECT s.starts_at AS "startsAt" FROM notary_sessions s JOIN orders o ON o.id = s.order_id
      WHERE ${isSealed(sql`o.code`, "order", order.code)} AND s.state = 'scheduled'`);
    await order.advance(Math.ceil(((booked?.startsAt.getTime() ?? 0) - Date.now()) / 1000) + 1);
  };
  const sessions = () =>
    db.query<{ id: string; state: string }>(sql`
      SELECT l.id, l.state FROM live_sessions l JOIN orders o ON o.id = l.order_id
      WHERE ${isSealed(sql`o.code`, "order", order.code)}`);
  await begins();
  assert.equal((await post(`/orders/${order.code}/session`, { act: "jurat" })).status, 303);
  assert.equal((await end()).status, 409);
  const [open] = await sessions();
  await db.transaction(async (tx) => {
    const session = await lockLive(tx, open?.id ?? "");
    assert.ok(session);
    const event = { at: new Date(), name: unrecorded, by: "system", person: null, detail: { cause: "disk_full" } };
    await appendEvent(tx, rowMac, session, event);
  });
  assert.equal((await post(`/orders/${order.code}/session/end`, { outcome: "technical" })).status, 303);
  await until(async () => (await sessions())[0]?.state === "ended");
  for (const status of ["NotarizationPending", "NotarizationFailed"]) {
    await begins();
    assert.equal((await end()).status, 303);
    const [{ status: now } = { status: "" }] = await db.query<{ status: string }>(
      sql`SELECT status FROM orders WHERE ${isSealed(sql`code`, "order", order.code)}`,
    );
    assert.equal(now, status);
  }
});

test("allows camera and device check on the page of an appointment in a room alone, and to its own person", async () => {
  const [order, other] = [await waitingOrder(["own@example.com"]), await waitingOrder(["other@example.com"])];
  const cameraOf = async ({ path }: Order) => (await fetch(at(path))).headers.get("permissions-policy") ?? "";
  const check = (path: string) => postForm(at(`${path}/device/check`), {});
  assert.match(await cameraOf(order), /camera=\(\)/);
  assert.equal((await check(order.path)).status, 409);
  assert.equal((await fetch(at(`${order.path}/device/events`))).status, 409);
  for (const each of [order, other]) await bookRoom(each);
  assert.match(await cameraOf(order), /camera=\(self\), microphone=\(self\)/);
  const begun = await check(order.path);
  assert.equal(begun.status, 200);
  const { ticket } = (await begun.json()) as { ticket: string };
  const signal = (path: string) => postForm(at(`${path}/device/signal`), { ticket, kind: "join" });
  assert.equal((await signal(other.path)).status, 404, "another person's ticket");
  assert.equal((await signal(order.path)).status, 200);
  const stranger = `/appointments/${"0".repeat(40)}`;
  for (const path of [stranger, `/appointments/${order.code}`]) {
    assert.equal((await check(path)).status, 404);
    assert.equal((await fetch(at(`${path}/device/events`))).status, 404);
  }
  assert.equal((await postForm(at(`${order.path}/cancel`), {})).status, 303);
  assert.match(await cameraOf(order), /camera=\(\)/);
  assert.equal((await check(order.path)).status, 409);
  assert.equal((await signal(order.path)).status, 409);
});

test("offers the device check to people who wait in the queue, and to nobody after they left it", async () => {
  const order = await waitingOrder(["waits@example.com"]);
  assert.equal((await post("/now/on", {})).status, 303);
  assert.doesNotMatch(await order.show(), /device-start/);
  assert.equal((await postForm(at(`${order.path}/now`), {})).status, 303);
  assert.match(await order.show(), /number 1 in the queue[\s\S]*device-start/);
  assert.equal((await postForm(at(`${order.path}/device/check`), {})).status, 200);
  assert.equal((await postForm(at(`${order.path}/now/leave`), {})).status, 303);
  assert.doesNotMatch(await order.show(), /device-start/);
  assert.equal((await postForm(at(`${order.path}/device/check`), {})).status, 409);
  assert.equal((await post("/now/off", {})).status, 303);
});

test("a witness has a link of their own: the time, the device check and the room, and no say in the time", async () => {
  const order = await waitingOrder(["signs@example.com"]);
  await bookRoom(order, 30);
  const wanda = { role: "witness", name: "Wanda Watt", email: "wanda@example.com", language: "es" };
  const add = (typed: Record<string, string>) => post(`/orders/${order.code}/guests`, { ...wanda, ...typed });
  for (const [typed, why] of [
    [{ email: "signs@example.com" }, /email must differ from the addresses of the others/],
    [{ name: "person a" }, /name must be of somebody who neither signs/],
    [{ role: "interpreter" }, /role must be one that your state allows/],
    [{ role: "credible_witness" }, /for_signer must be the number/],
    [{ language: "xx" }, /language must be one of/],
  ] as const) {
    const refused = await add(typed);
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), why);
  }
  assert.equal((await add({})).status, 303);
  assert.equal((await add({})).status, 400, "each person once");
  const { location, text } = await mailWith(wanda.email, /Subject: .*Su cita con el notario\r/);
  const path = /\/appointments\/[0-9a-f]{40}/.exec(location)?.[0] ?? "";
  assert.ok(path !== "" && path !== order.path);
  assert.equal(location, `${mailed(path)}?lang=es`);
  assert.ok(text.includes(`${mailed(path)}?lang=es#device`));

  const lookIn = async (language: string) => (await fetch(at(`${path}?lang=${language}`))).text();
  for (const language of languages) {
    const page = await lookIn(language);
    for (const words of [guestWords[language].roles.witness, guestWords[language].change, guestWords[language].title])
      assert.ok(page.includes(words), `${language}: ${words}`);
  }
  assert.equal(new Set(languages.map((language) => JSON.stringify(guestWords[language]))).size, 8);
  const page = await lookIn("en");
  assert.match(page, /device-start/);
  assert.doesNotMatch(page, /name="slot"|\/cancel"/);
  const [, slot = ""] = (await order.slots())[0] ?? [];
  assert.ok(slot);
  for (const rest of ["", "/cancel", "/now", "/now/leave"])
    assert.equal((await postForm(at(path + rest), { slot })).status, 404, rest);
  assert.equal((await postForm(at(`${path}/device/check`), {})).status, 200);

  assert.equal((await post(`/orders/${order.code}/session`, { act: "jurat" })).status, 303);
  const [, room = ""] = /\/notary-room\/([0-9a-f]{40})/.exec(await lookIn("en")) ?? [];
  const [guest] = await running.db.query<{ id: string }>(
    sql`SELECT id FROM appointment_guests WHERE email = ${wanda.email}`,
  );
  const remove = () => post(`/orders/${order.code}/guests/remove`, { guest: guest?.id ?? "" });
  for (const change of [remove, () => add({ name: "Will Watt", email: "will@example.com" })]) {
    const refused = await change();
    assert.equal(refused.status, 409);
    assert.match(await refused.text(), /A session of this order is open, or is being closed/);
  }
  assert.doesNotMatch(await look(`/orders/${order.code}`), /Somebody else at the appointment/);
  const invited = await running.db.query<{ role: string }>(sql`
    SELECT a.detail ->> 'role' AS role FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE ${isSealed(sql`o.code`, "order", order.code)} AND a.action = 'notary.person_invited'`);
  assert.deepEqual(invited, [{ role: "witness" }]);
  const inMail = await until(
    () =>
      mailsTo(running.service, wanda.email).flatMap((mail) => /\/notary-room\/([0-9a-f]{40})/.exec(mail)?.[1] ?? [])[0],
  );
  assert.equal(room, inMail);
  assert.doesNotMatch(await order.show(), new RegExp(room), "each person is led to their own room");
  assert.equal((await post(`/orders/${order.code}/session/end`, { outcome: "technical" })).status, 303);

  await until(async () => (await remove()).status === 303 || undefined);
  assert.equal((await remove()).status, 400);
  await mailWith(wanda.email, /Subject: .*cancel/);
  assert.equal((await fetch(at(path))).status, 404);
  assert.equal((await fetch(at(order.path))).status, 200);
});

test("no session opens with a guest who is the notary by now", async () => {
  const order = await waitingOrder(["alone@example.com"]);
  await bookRoom(order, 30);
  const walt = { role: "witness", name: "Walt Watt", email: "walt@example.com", language: "en" };
  assert.equal((await post(`/orders/${order.code}/guests`, walt)).status, 303);
  const keeping = { db: running.db, clock: () => new Date() };
  const [notary] = await listNotaries(keeping.db);
  const named = (commissionName: string) => setNotary(keeping, notary?.id ?? "", { commissionName }, "operator");
  await named(walt.name);
  const refused = await post(`/orders/${order.code}/session`, { act: "jurat" });
  assert.equal(refused.status, 409);
  assert.match(await refused.text(), /Walt Watt, whom you expect, can’t come: name must be of somebody who neither/);
  await named("Nora Ames");
  assert.equal((await post(`/orders/${order.code}/session`, { act: "jurat" })).status, 303);
  assert.equal((await post(`/orders/${order.code}/session/end`, { outcome: "technical" })).status, 303);
});

test("nobody else is invited with the corrected address of a person who signed under an earlier one", async () => {
  const order = await waitingOrder(["signed@wrong.example"]);
  await bookRoom(order, 30);
  const correct = (from: string, to: string) =>
    running.db.transaction(async (tx) => {
      const locked = await lockOrder(tx, order.code);
      assert.ok(locked);
      const [before, after] = [
        { name: "Person A", email: from },
        { name: "Person A", email: to, signed: ["Person A"] },
      ];
      await recordCorrection(tx, locked, { kind: "signer", before, after, actor: "firm", at: new Date() });
    });
  const [first, second] = ["first@right.example", "second@right.example"];
  const add = (name: string, email: string, path = "guests") =>
    post(`/orders/${order.code}/${path}`, { role: "witness", name, email, language: "en" });
  const taken = /email must differ from the addresses of the others/;
  await correct("signed@wrong.example", first);
  assert.match(await (await add("Wes Watt", first)).text(), taken);
  assert.equal((await add("Wes Watt", second)).status, 303);
  await correct(first, second);
  const begin = () => post(`/orders/${order.code}/session`, { act: "jurat" });
  assert.match(await (await begin()).text(), /Wes Watt, whom you expect, can’t come: email must differ/);
  const [guest] = await running.db.query<{ id: string }>(
    sql`SELECT id FROM appointment_guests WHERE email = ${second} AND removed_at IS NULL`,
  );
  assert.equal((await post(`/orders/${order.code}/guests/remove`, { guest: guest?.id ?? "" })).status, 303);
  assert.equal((await begin()).status, 303);
  assert.match(await (await add("Wes Watt", second, "session/invite")).text(), taken);
  assert.equal((await add("Wes Watt", first, "session/invite")).status, 303);
  assert.equal((await post(`/orders/${order.code}/session/end`, { outcome: "abandoned" })).status, 303);
});

test("mails to guests wait in a queue that earlier releases leave alone", async () => {
  const order = await waitingOrder(["queues@example.com"]);
  await bookRoom(order, 30);
  const gus = { role: "observer", name: "Gus Gray", email: "gus@example.com", language: "en" };
  assert.equal((await post(`/orders/${order.code}/guests`, gus)).status, 303);
  const [session] = await running.db.query<{ id: string; sequence: number }>(sql`
    SELECT s.id, s.sequence FROM notary_sessions s JOIN orders o ON o.id = s.order_id
    WHERE ${isSealed(sql`o.code`, "order", order.code)}`);
  assert.ok(session);
  const queued = await running.db.transaction(async (tx) => {
    await mailBooking(tx, session, "booked", { signers: [{}] });
    return tx.query<{ queue: string; isGuest: boolean }>(sql`
      SELECT DISTINCT queue, payload ? 'guest' AS "isGuest" FROM jobs WHERE payload ->> 'sessionId' = ${session.id}
      ORDER BY queue`);
  });
  assert.deepEqual(queued, [
    { queue: "notary-guest-mail", isGuest: true },
    { queue: "notary-session-mail", isGuest: false },
  ]);
});

test("an observer is told of each change of the appointment, and tests no device", async () => {
  const order = await waitingOrder(["changes@example.com"]);
  await bookRoom(order, 30);
  const olga = { role: "observer", name: "Olga Ott", email: "olga@example.com", language: "en" };
  assert.equal((await post(`/orders/${order.code}/guests`, olga)).status, 303);
  const booked = await mailWith(olga.email, /Subject: .*Your appointment with the notary\r/);
  assert.doesNotMatch(booked.text, /#device|Have the credential/);
  const path = /\/appointments\/[0-9a-f]{40}/.exec(booked.location)?.[0] ?? "";
  assert.doesNotMatch(await (await fetch(at(path))).text(), /device-start/);
  await bookRoom(order, 40);
  await mailWith(olga.email, /Subject: .*was moved\r/);
  assert.equal((await postForm(at(`${order.path}/cancel`), {})).status, 303);
  await mailWith(olga.email, /Subject: .*is canceled\r/);
  assert.match(await (await fetch(at(path))).text(), new RegExp(guestWords.en.none));
  const { id } = (
    await running.db.query<{ id: string }>(sql`
    UPDATE appointment_guests SET email = 'eve@example.com' WHERE email = ${olga.email} RETURNING id`)
  )[0] ?? { id: "" };
  assert.ok(id);
  assert.equal((await fetch(at(path))).status, 503, "a row that was altered opens nothing");
});

test("keeps a device check at the node that has it, when a load balancer sends its requests to another one", async () => {
  const { dataDir } = running.service;
  const { user, password, host, port, database } = connectionTo(dataDir, "owner");
  const otherDir = join(folder.path, "other");
  mkdirSync(otherDir);
  for (const shared of ["keys", "blobs", "outbox"]) {
    mkdirSync(join(dataDir, shared), { recursive: true });
    symlinkSync(join(dataDir, shared), join(otherDir, shared));
  }
  const first = 36_000 + (process.pid % 200) * 20;
  const other = await startService({
    ...settings,
    ...(await addressed()),
    DATA_DIR: otherDir,
    RATE_LIMITS: "off",
    DATABASE_URL: `postgresql://${user}:${password}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
    MEDIA_PORTS: `${first}-${first + 19}`,
  });
  try {
    const order = await waitingOrder(["nodes@example.com"]);
    await bookRoom(order);
    const device = `${order.path}/device`;
    const begun = await postForm(`${other.baseUrl}${device}/check`, {});
    const { ticket, at: query } = (await begun.json()) as { ticket: string; at: string };
    const joinBy = (more: string) => postForm(at(`${device}/signal${more}`), { ticket, kind: "join" });
    assert.equal((await joinBy("")).status, 404, "this node has no such check");
    const last = query.at(-1) === "0" ? "1" : "0";
    assert.equal((await joinBy(query.slice(0, -1) + last)).status, 404, "a forged address leads nowhere");
    const stream = await fetch(at(`${device}/events${query}`));
    assert.match(stream.headers.get("content-type") ?? "", /text\/event-stream/);
    assert.equal((await joinBy(query)).status, 200);
    await stream.body?.cancel();
    const another = await waitingOrder(["nodes2@example.com"]);
    await bookRoom(another);
    const stolen = await postForm(at(`${another.path}/device/signal${query}`), { ticket, kind: "join" });
    assert.equal(stolen.status, 404, "an address is of one link");
  } finally {
    await other.stop();
  }
});
