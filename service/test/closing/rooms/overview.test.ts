import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf } from "@signsealship/testing/inputs/order-form";
import { openClosingsStatement } from "../../../src/closing/rooms/overview.ts";
import { closesToday, openClosings } from "../../../src/closing/rooms/rooms.ts";
import { issueKey } from "../../../src/firms/partners/partners.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { explain } from "../../explain.ts";
import { newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { openRoomsService } from "./rooms-service.ts";

const running = await forTests(openRoomsService());
const { service, db } = running;
const acme = await running.partner("ClosingDesk");
const other = await running.partner("ClosingDesk", "Other Title");
const { key } = await issueKey({ db, clock: systemClock, rowMac: running.rowMac }, acme.partnerId, "test");
const member = { ...(await newMember(service, "dana@acme.example", key)).headers, Accept: "text/html" };

const page = async (path: string) => (await fetch(service.baseUrl + path, { headers: member })).text();
const post = (path: string, fields: Record<string, string>) => postForm(service.baseUrl + path, fields, member);
const dayOf = async (roomCode: string) =>
  (
    await db.query<{ day: string | null }>(
      sql`SELECT closes_on::text AS day FROM rooms WHERE ${isSealed(sql`code`, "room", roomCode)}`,
    )
  )[0]?.day;
const owner = { partnerId: acme.partnerId, environment: "test" } as const;
const noon = (day: string) => () => new Date(`${day}T17:00:00Z`);
const overview = (today: string) => openClosings({ db, clock: noon(today), titleOf: () => null }, owner);

/** A room with this due date, and with orders of these statuses. */
async function closing(name: string, closesOn: string | null, ...statuses: readonly string[]) {
  const room = await acme.room(name);
  if (closesOn !== null) await acme.ok("POST", `/api/rooms/${room}/closes-on`, { closesOn });
  const orders: string[] = [];
  for (const [index, status] of statuses.entries()) {
    const orderCode = await acme.order({ svc_sign: "true" });
    orders.push(orderCode);
    await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode, label: `Paper ${index + 1}` });
    await running.setStatus(orderCode, status);
  }
  return { room, orders };
}

test("a room is created with its closing day, and lists show it; a room without one says nothing of it", async () => {
  const { roomCode, ...created } = await acme.ok<{ roomCode: string; closesOn?: string }>("POST", "/api/rooms", {
    name: "Day",
    closesOn: " 2026-11-30 ",
  });
  assert.equal(created.closesOn, "2026-11-30");
  const plain = await acme.room("No day");
  const { rooms } = await acme.ok<{ rooms: { roomCode: string; closesOn?: string }[] }>("GET", "/api/rooms");
  const shown = new Map(rooms.map((room) => [room.roomCode, room]));
  assert.equal(shown.get(roomCode)?.closesOn, "2026-11-30");
  assert.equal("closesOn" in (shown.get(plain) ?? { closesOn: "" }), false);
  assert.equal("closesOn" in (await running.view(roomCode)), false, "the room's public view has no day");
});

test("sets, changes and removes the day, with an audit line for each change alone", async () => {
  const room = await acme.room();
  for (const closesOn of ["2026-11-30", "2026-11-30", "2027-02-28", null, null]) {
    const answer = await acme.ok("POST", `/api/rooms/${room}/closes-on`, { closesOn });
    assert.deepEqual(answer, { ok: true, closesOn });
    assert.equal(await dayOf(room), closesOn);
  }
  const lines = (await running.audit(room)).map(({ action }) => action);
  assert.deepEqual(lines, ["room.created", ...Array(3).fill("room.closes_on_set")]);
});

test("refuses what is not a day, and a room of another firm", async () => {
  const room = await acme.room();
  for (const closesOn of ["2026-02-30", "30.11.2026", "2026-11-30T00:00:00Z", "1999-01-01", 7, {}])
    for (const [path, body] of [
      ["/api/rooms", { name: "x", closesOn }],
      [`/api/rooms/${room}/closes-on`, { closesOn }],
    ] as const)
      assert.match(await acme.refused(400, "POST", path, body), /^A valid closing day/);
  assert.equal(await other.refused(404, "POST", `/api/rooms/${room}/closes-on`, { closesOn: null }), "Room not found.");
  assert.equal(await dayOf(room), null);
});

test("concurrent changes of the day leave a room that the service accepts", async () => {
  const room = await acme.room();
  const days = Array.from({ length: 8 }, (_, n) => `2026-12-${String(n + 10)}`);
  await Promise.all(days.map((closesOn) => acme.ok("POST", `/api/rooms/${room}/closes-on`, { closesOn })));
  assert.ok(days.includes((await dayOf(room)) ?? ""));
  assert.match(await page(`/dashboard/rooms/${room}`), /Closes on/);
});

test("refuses a room whose day was changed in the database", async () => {
  const { room } = await closing("Altered day", "2026-11-30", "EsignDeclined");
  await db.query(sql`UPDATE rooms SET closes_on = '2026-12-24' WHERE ${isSealed(sql`code`, "room", room)}`);
  await acme.refused(503, "POST", `/api/rooms/${room}/closes-on`, { closesOn: null });
  assert.ok(!(await overview("2026-11-20")).some(({ roomCode }) => roomCode === room));
  await db.query(
    sql`DELETE FROM room_orders WHERE room_id = (SELECT id FROM rooms WHERE ${isSealed(sql`code`, "room", room)})`,
  );
});

test("lists open closings by their day, each with what it waits for and the firm's next step", async () => {
  await db.query(sql`UPDATE rooms SET status = 'closed' WHERE partner_id = ${acme.partnerId}`);
  const late = await closing("Late", "2027-03-01", "Completed", "EsignPending");
  const today = await closing("Today", "2027-01-15", "EsignPending");
  const declined = await closing("Declined", "2027-02-01", "EsignPending", "EsignDeclined");
  const none = await closing("No day", null, "OnHold");
  const overdue = await closing("Overdue", "2027-01-14", "EsignPending");
  const empty = await closing("Empty", "2027-02-02");
  await closing("Done", "2027-01-01", "Completed");
  const paying = await closing("Paying", "2027-02-03", "QuoteReady");
  const found = await overview("2027-01-15");
  assert.deepEqual(
    found.map(({ roomCode }) => roomCode),
    [overdue, today, declined, empty, paying, late, none].map(({ room }) => room),
  );
  const of = ({ room }: { room: string }) => found.find(({ roomCode }) => roomCode === room);
  assert.deepEqual(
    [of(overdue)?.due, of(today)?.due, of(late)?.due, of(none)?.due],
    ["overdue", "today", "later", null],
  );
  assert.deepEqual([of(overdue)?.step, of(today)?.step, of(late)?.step], [{ do: "look" }, { do: "look" }, null]);
  const [, stuck = ""] = declined.orders;
  assert.deepEqual(of(declined)?.step, { do: "fix", orderCode: stuck, status: "EsignDeclined" });
  assert.match(of(declined)?.reason ?? "", /^Paper 2: stuck since .*signing stopped.* 1 more waits\.$/);
  assert.deepEqual(of(empty)?.step, { do: "add" });
  assert.deepEqual(of(paying)?.step, null, "the client pays");
  assert.equal(of(paying)?.reason, "Paper 1: waits for payment.");
  assert.deepEqual([of(late)?.done, of(late)?.orders], [1, 2]);
});

test("counts the firm's own orders alone, of all and of those that are done", async () => {
  const { room } = await closing("Shared", "2027-04-01", "Completed", "EsignPending");
  const orderCode = await other.order();
  await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  await running.setStatus(orderCode, "Completed");
  const found = (await overview("2027-01-15")).find(({ roomCode }) => roomCode === room);
  assert.deepEqual([found?.done, found?.orders], [1, 2]);
  await db.query(sql`UPDATE rooms SET status = 'closed' WHERE ${isSealed(sql`code`, "room", room)}`);
});

test("the list of rooms shows the day, the reason and a button; another firm sees none of it", async () => {
  const shown = await page("/dashboard/rooms");
  assert.match(shown, /Open closings/);
  const rows = shown.slice(shown.indexOf("Open closings"), shown.indexOf("Your rooms, newest first"));
  assert.ok(rows.indexOf("Overdue") < rows.indexOf("Declined") && rows.indexOf("Declined") < rows.indexOf("No day"));
  assert.match(rows, /Put it right<span class="visually-hidden"> in Declined/);
  assert.match(rows, /Add orders<span class="visually-hidden"> in Empty/);
  assert.match(rows, /<time datetime="2027-02-01">Feb 1<\/time>/);
  const foreign = await openClosings(
    { db, clock: noon("2027-01-15"), titleOf: () => null },
    { partnerId: other.partnerId, environment: "test" },
  );
  assert.deepEqual(foreign, []);
});

test("in test, a signed order with another service shows that the next service is to be simulated", async () => {
  const { room } = await closing("Signed", null, "EsignComplete");
  const found = (await overview("2027-01-15")).find(({ roomCode }) => roomCode === room);
  assert.deepEqual(found?.step, { do: "simulate" });
  assert.equal(found?.reason, "Paper 1: signed, and waits for its next step.");
  assert.match(
    await page("/dashboard/rooms"),
    /#sandbox">Simulate what follows<span class="visually-hidden"> in Signed/,
  );
  const shown = await page(`/dashboard/rooms/${room}`);
  assert.match(
    shown,
    /1 document waits to be completed\. In test, the next step does not begin by itself: press “Complete 1 order” under Sandbox/,
  );
  assert.match(shown, /id="sandbox"/);
});

test("a member sets the day on the room's page, and in New closing", async () => {
  const room = await acme.room("By page");
  const path = `/dashboard/rooms/${room}/closes-on`;
  assert.equal((await post(path, { closes_on: "2027-04-01" })).status, 303);
  assert.equal(await dayOf(room), "2027-04-01");
  const refused = await post(path, { closes_on: "2027-04-31" });
  assert.equal(refused.status, 400);
  const text = await refused.text();
  assert.match(text, /A valid closing day/);
  assert.match(text, /2027-04-31/, "what was typed stays");
  assert.equal((await post(path, { closes_on: "" })).status, 303);
  assert.equal(await dayOf(room), null);

  const form = await page("/dashboard/closings/new");
  const body = new FormData();
  body.set("document", new File([new Uint8Array(examplePdf)], "Deed.pdf", { type: "application/pdf" }));
  const uploaded = await fetch(`${service.baseUrl}/dashboard/closings/new/file`, {
    method: "POST",
    headers: { ...member, Accept: "application/json" },
    body,
  });
  const { file } = (await uploaded.json()) as { file: string };
  const fields = {
    submission: /name="submission" value="([^"]*)"/.exec(form)?.[1] ?? "",
    closing_name: "Ortega closing",
    doc1: file,
    doc1_name: "Deed",
    doc1_sign: "on",
    email: "ann@example.com",
    name: "Ann Roe",
    client_signs: "on",
    byod_confirmed: "on",
  };
  const wrong = await post("/dashboard/closings/new", { ...fields, closes_on: "2027-13-01" });
  assert.match(await wrong.text(), /“Closes on” must be a day of this century\./);
  const placed = await post("/dashboard/closings/new", { ...fields, closes_on: "2027-05-02" });
  assert.equal(placed.status, 303, await placed.text());
  assert.equal(
    await dayOf(/rooms\/([0-9a-f]{40})/.exec(placed.headers.get("location") ?? "")?.[1] ?? ""),
    "2027-05-02",
  );
});

test("open closings are found by their index", async () => {
  const nodes = await explain(db, openClosingsStatement(owner), { settings: "SET LOCAL enable_seqscan = off" });
  assert.ok(
    nodes.some((node) => node["Index Name"] === "rooms_by_day"),
    JSON.stringify(nodes),
  );
});

test("a closing is due today for an order of the firm whose room it is, and not for one that another firm attached", async () => {
  const { orders } = await closing("Own", "2028-01-14", "EsignPending", "EsignPending");
  const [own = "", foreign = ""] = orders;
  const isDue = async (code: string, day: string) =>
    (
      await db.query<{ isDue: boolean }>(sql`
        SELECT ${closesToday(sql`o.id`, noon(day)())} AS "isDue" FROM orders o WHERE ${isSealed(sql`o.code`, "order", code)}`)
    )[0]?.isDue;
  const room = await other.room("Of another firm");
  await other.ok("POST", `/api/rooms/${room}/closes-on`, { closesOn: "2028-01-15" });
  await other.ok("POST", `/api/rooms/${room}/orders`, { orderCode: foreign });
  assert.equal(await isDue(foreign, "2028-01-15"), false);
  assert.equal(await isDue(own, "2028-01-14"), true);
  assert.equal(await isDue(own, "2028-01-15"), false);
});

test("asks the firm to pay an order, and not while a payment for it is under way", async () => {
  const { room, orders } = await closing("Firm pays", "2027-06-01", "QuoteReady");
  const [code = ""] = orders;
  await running.setStatus(code, "AwaitingPayment", sql`, pay_by = 'firm'`);
  const shown = async () => (await overview("2027-01-15")).find(({ roomCode }) => roomCode === room);
  assert.deepEqual((await shown())?.step, { do: "pay" });
  await db.query(sql`
    INSERT INTO checkout_sessions (id, order_id, status, amount_cents, currency, created_at, expires_at)
    SELECT gen_random_uuid(), id, 'pending_funds', total_cents, 'usd', now(), now() + interval '1 day' FROM orders
    WHERE ${isSealed(sql`code`, "order", code)}`);
  const { step, reason } = (await shown()) ?? {};
  assert.deepEqual([step, reason], [null, "Paper 1: a payment is under way."]);
});
