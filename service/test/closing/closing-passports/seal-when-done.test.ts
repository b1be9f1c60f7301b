import assert from "node:assert/strict";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { makeJobsDue } from "@signsealship/testing/due-jobs";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { examplePdf } from "@signsealship/testing/inputs/order-form";
import { isWaitedFor } from "@signsealship/testing/lock-waits";
import { authenticateRooms } from "@signsealship/testing/row-mac";
import { newPartner, ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { queueSeals, reportSealFailures, type SealWish, switchSeal } from "../../../src/closing/rooms/rooms.ts";
import { issueKey } from "../../../src/firms/partners/partners.ts";
import { systemClock as clock } from "../../../src/kernel/platform/clock.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { closeTasks } from "../../../src/kernel/tasks/tasks.ts";
import { mailOrderUpdates } from "../../../src/orders/fulfilment/fulfilment.ts";
import { mailsTo, newMember, postForm } from "../../firms/members/signed-in-member.ts";

const running = await forTests(openHarness(ownProcess));
const { db } = running;
const { key, partnerId } = await newPartner(running.service, { tier: "ClosingDesk" });
const api = () => newClient(running.service.baseUrl, key);
const email = "agent@harbor-title.com";
const { headers } = await newMember(running.service, email, key);
const at = (path: string) => running.service.baseUrl + path;
const pdf = new Uint8Array(examplePdf);

async function file(): Promise<string> {
  const body = new FormData();
  body.set("document", new File([pdf], "Deed.pdf", { type: "application/pdf" }));
  const answer = await fetch(at("/dashboard/closings/new/file"), {
    method: "POST",
    headers: { ...headers, Accept: "application/json" },
    body,
  });
  return ((await answer.json()) as { file: string }).file;
}

let closings = 0;
/** Places a closing of two documents. */
async function placed(more: Record<string, string> = { seals_when_done: "on" }) {
  closings += 1;
  const page = await (await fetch(at("/dashboard/closings/new"), { headers })).text();
  const form = {
    submission: /name="submission" value="([^"]*)"/.exec(page)?.[1] ?? "",
    closing_name: `Closing ${closings}`,
    doc1: await file(),
    doc1_name: "Deed",
    doc1_sign: "on",
    doc2: await file(),
    doc2_name: "Note",
    doc2_sign: "on",
    email: "ann@example.com",
    name: "Ann Roe",
    client_signs: "on",
    byod_confirmed: "on",
    ...more,
  };
  const answer = await postForm(at("/dashboard/closings/new"), form, { ...headers, Accept: "text/html" });
  assert.equal(answer.status, 303, await answer.clone().text());
  const room = /rooms\/([0-9a-f]{40})/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
  const { orders } = (await (await fetch(at(`/api/rooms/${room}`))).json()) as { orders: { orderCode: string }[] };
  return { room, name: form.closing_name, codes: orders.map(({ orderCode }) => orderCode) };
}

async function finish(code: string): Promise<void> {
  for (let status = ""; status !== "Completed"; )
    ({ status } = await api().post<{ status: string }>(`/api/partner/sandbox/orders/${code}/advance`));
}

const roomPage = async (room: string) => (await fetch(at(`/dashboard/rooms/${room}`), { headers })).text();
const versionsOf = (room: string) =>
  db.query<{ version: number; actor: string }>(sql`
    SELECT c.version, l.actor FROM closing_passports c JOIN rooms r ON r.id = c.room_id
      JOIN audit_log l ON l.room_id = r.id AND l.action = 'room.passport_sealed' AND (l.detail->>'version')::int = c.version
    WHERE ${isSealed(sql`r.code`, "room", room)} ORDER BY c.version`);
const queue = () => queueSeals({ db, clock });
const idle = () =>
  until(
    async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'seal-closing' AND failed_at IS NULL`)).length === 0,
  );
/** Makes the service search for closings that are due, and waits until it has sealed them. */
async function lookForSeals(): Promise<void> {
  await queue();
  await idle();
}

const minute = 60_000;
async function wishOf(room: string): Promise<SealWish | null> {
  const [wish] = await db.query<SealWish>(sql`
    SELECT s.sealed_at AS "sealedAt", s.sealed_version AS "sealedVersion", s.problem,
      CASE WHEN isfinite(s.next_try_at) THEN s.next_try_at END AS "nextTryAt"
    FROM closing_seals s JOIN rooms r ON r.id = s.room_id WHERE ${isSealed(sql`r.code`, "room", room)}`);
  return wish ?? null;
}

const finishAll = async (codes: readonly string[]) => {
  for (const code of codes) await finish(code);
};

/**
 * Locks the table of versions, and runs `ready`, which makes a seal due. Then runs `act` while that seal waits for the
 * lock, and releases the lock. The lock comes first, because the service also searches for due seals on its own.
 */
async function whileBlocked(
  mode: "EXCLUSIVE" | "ACCESS EXCLUSIVE",
  ready: () => Promise<unknown>,
  act: () => Promise<unknown>,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.script(`LOCK TABLE closing_passports IN ${mode} MODE`);
    await ready();
    await queue();
    await until(() => isWaitedFor(tx));
    await act();
  });
  await idle();
}

test("seals a closing once its last document is done, without a click, and once however many nodes look", async () => {
  const { room, codes } = await placed();
  assert.match(await roomPage(room), /seals the certificate by itself once every order has ended\. You need not/);
  await finish(codes[0] ?? "");
  await lookForSeals();
  assert.deepEqual(await versionsOf(room), [], "one document is not done");
  await finish(codes[1] ?? "");
  await Promise.all([queue(), queue(), queue()]);
  await idle();
  assert.deepEqual(await versionsOf(room), [{ version: 1, actor: "system" }]);
  await lookForSeals();
  assert.equal((await versionsOf(room)).length, 1);
  assert.match(await roomPage(room), /Every order has ended\. The service sealed version 1 on <time/);
});

test("the member learns of the seal in the mail about the finished documents", async () => {
  const { room, name, codes } = await placed();
  for (const code of codes) await finish(code);
  await lookForSeals();
  await mailOrderUpdates({ db, clock: () => new Date(Date.now() + 60 * 60_000) });
  const mail = await until(() =>
    mailsTo(running.service, email).find((each) => each.includes(`/dashboard/rooms/${room}#passport`)),
  );
  assert.ok(mail.includes(name));
  assert.match(mail, /The closing certificate is sealed \(version 1\)/);
});

test("seals nothing while a document is stuck, and says which", async () => {
  const { room, codes } = await placed();
  const [deed = "", note = ""] = codes;
  await finish(deed);
  await api().post(`/api/partner/sandbox/orders/${note}/checkout`);
  await running.service.cli("order", "move", note, "OnHold", "--reason", "which county is it");
  await lookForSeals();
  assert.deepEqual(await versionsOf(room), []);
  assert.match(await roomPage(room), /Not sealed: something is stuck[\s\S]*Note: on hold/);
  await mailOrderUpdates({ db, clock: () => new Date(Date.now() + 2 * 60 * 60_000) });
  const mail = await until(() =>
    mailsTo(running.service, email).find((each) => each.includes(`/dashboard/rooms/${room}#passport`)),
  );
  assert.match(mail, /The closing certificate is not sealed: 1 document is stuck/);
  await running.service.cli("order", "move", note, "--release");
  await finish(note);
  await lookForSeals();
  assert.equal((await versionsOf(room)).length, 1);
});

test("a canceled document does not prevent the seal, and a closing without a finished document is not sealed", async () => {
  const { room, codes } = await placed();
  const other = await placed();
  const cancel = (code: string) =>
    postForm(at(`/dashboard/orders/${code}/cancel`), { reason: "not needed" }, { ...headers, Accept: "text/html" });
  assert.equal((await cancel(codes[1] ?? "")).status, 303);
  await finish(codes[0] ?? "");
  for (const code of other.codes) await cancel(code);
  await lookForSeals();
  assert.equal((await versionsOf(room)).length, 1);
  assert.deepEqual(await versionsOf(other.room), []);
  assert.match(await roomPage(room), /Every order has ended \(1 canceled\)\. The service sealed version 1 /);
  assert.match(
    await roomPage(other.room),
    /\(2 canceled\)\. The service seals nothing, because none of them is completed/,
  );
});

test("a version that a person sealed after the last document counts, and an added document makes a further one", async () => {
  const { room, codes } = await placed();
  for (const code of codes) await finish(code);
  await api().post(`/api/rooms/${room}/passport`);
  await lookForSeals();
  assert.equal((await versionsOf(room)).length, 1);
  assert.match(await roomPage(room), /Version 1 already had these documents, so the service sealed no further one\./);
  const third = await placed({});
  await api().post(`/api/rooms/${room}/orders`, { orderCode: third.codes[0] ?? "" });
  await lookForSeals();
  assert.equal((await versionsOf(room)).length, 1, "the added document is not done");
  await finish(third.codes[0] ?? "");
  await lookForSeals();
  assert.deepEqual(
    (await versionsOf(room)).map(({ version, actor }) => [version, actor === "system"]),
    [
      [1, false],
      [2, true],
    ],
  );
});

test("seals nothing by itself where nobody asked for it, and a member switches it on and off", async () => {
  const { room, codes } = await placed({});
  for (const code of codes) await finish(code);
  await lookForSeals();
  assert.deepEqual(await versionsOf(room), []);
  const switchTo = (to: string) =>
    postForm(at(`/dashboard/rooms/${room}/seal-when-done`), { to }, { ...headers, Accept: "text/html" });
  assert.equal((await switchTo("on")).status, 303);
  assert.equal((await switchTo("off")).status, 303);
  await lookForSeals();
  assert.deepEqual(await versionsOf(room), []);
  await switchTo("on");
  await lookForSeals();
  assert.equal((await versionsOf(room)).length, 1);
});

test("a service that is killed while it seals has sealed the closing once afterwards", async () => {
  for (const waitMs of [0, 40, 120, 300]) {
    const { room, codes } = await placed();
    for (const code of codes) await finish(code);
    await queue();
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    await running.service.kill();
    running.service = await running.service.restart();
    await until(async () => {
      await makeJobsDue(db);
      await db.query(sql`UPDATE closing_seals SET next_try_at = NULL WHERE sealed_at IS NULL`);
      await queue();
      return (await versionsOf(room)).length > 0;
    });
    await idle();
    assert.equal((await versionsOf(room)).length, 1);
    assert.match(await roomPage(room), /The service sealed version 1 /);
  }
});

test("a document that was altered stops the seal, and the room's page says so", async () => {
  const { room, codes } = await placed();
  for (const code of codes) await finish(code);
  await db.query(sql`ALTER TABLE documents DISABLE TRIGGER USER`);
  await db.query(sql`
    UPDATE documents SET sha256 = repeat('0', 64) WHERE kind = 'sealed'
      AND order_id = (SELECT id FROM orders o WHERE ${isSealed(sql`o.code`, "order", codes[0] ?? "")})`);
  await db.query(sql`ALTER TABLE documents ENABLE TRIGGER USER`);
  await lookForSeals();
  assert.deepEqual(await versionsOf(room), []);
  await until(async () => /Not sealed: it failed/.test(await roomPage(room)));
  assert.match(await roomPage(room), /The service tries again <time/);
  const nextTry = async () => (await wishOf(room))?.nextTryAt?.getTime() ?? 0;
  const second = await nextTry();
  await queueSeals({ db, clock: () => new Date(second) });
  assert.equal((await nextTry()) - second, 20 * minute);
  const third = await nextTry();
  await queueSeals({ db, clock: () => new Date(third) });
  assert.equal((await nextTry()) - third, 40 * minute);
  await idle();
});

test("a live seal that failed three times is a task for operators, which ends once the seal is made or no longer requested", async () => {
  const { room, name, codes } = await placed();
  await finish(codes[0] ?? "");
  const hasRoom = sql`room_id = (SELECT id FROM rooms WHERE ${isSealed(sql`code`, "room", room)})`;
  const report = () => reportSealFailures({ db, clock });
  const tasks = () =>
    db.query<{ state: string; reason: string }>(
      sql`SELECT state, reason FROM tasks WHERE kind = 'closing_seal' ORDER BY id`,
    );
  const failed = async (tries: number, nextTryAt = sql`now() + interval '1 hour'`) => {
    await db.query(
      sql`UPDATE closing_seals SET problem = 'The store is away.', tries = ${tries}, next_try_at = ${nextTryAt} WHERE ${hasRoom}`,
    );
    await report();
  };
  await failed(3);
  assert.deepEqual(await tasks(), [], "of a test closing");
  await db.query(sql`UPDATE rooms SET environment = 'live' WHERE ${isSealed(sql`code`, "room", room)}`);
  await authenticateRooms(db, isSealed(sql`code`, "room", room));
  await failed(2);
  await failed(3, sql`'infinity'`);
  assert.deepEqual(await tasks(), []);
  await failed(3);
  await failed(4);
  assert.deepEqual(await tasks(), [{ state: "open", reason: `${name} of Acme Title: The store is away.` }]);
  const states = async () => (await tasks()).map(({ state }) => state);
  const personEnds = async () => {
    const [open] = await db.query<{ subject: string }>(sql`SELECT subject FROM tasks WHERE kind = 'closing_seal'`);
    const end = { state: "done", at: clock(), by: "operator:x", outcome: "looked" } as const;
    await db.transaction((tx) => closeTasks(tx, { kinds: ["closing_seal"], subject: open?.subject ?? "" }, end));
  };
  await personEnds();
  await failed(5);
  assert.deepEqual(await states(), ["done"], "a person has settled this failure");
  const firm = { firmName: "Acme Title", tier: "ClosingDesk", liveEnabled: true, key: null, member: { userId: "x" } };
  const switchTo = (isOn: boolean) =>
    switchSeal({ db, clock }, { partnerId, environment: "live", ...firm } as never, room, isOn);
  await switchTo(false);
  await switchTo(true);
  await failed(3);
  assert.deepEqual(await states(), ["done", "open"], "the seal was asked for again, and failed again");
  await switchTo(false);
  await switchTo(true);
  await personEnds();
  await failed(3);
  assert.deepEqual(await states(), ["done", "done", "open"], "the task that a person ended was of an earlier request");
  await switchTo(false);
  assert.deepEqual(await states(), ["done", "done", "done"]);
});

test("a key with the scope seal switches it on and off, and the list of rooms says so", async () => {
  const { roomCode } = await api().post<{ roomCode: string }>("/api/rooms", { name: "By API" });
  const path = `/api/rooms/${roomCode}/seal-when-done`;
  const listed = async () => {
    const { rooms } = await api().ok<{ rooms: { roomCode: string; sealWhenDone?: boolean }[] }>("GET", "/api/rooms");
    return rooms.find((each) => each.roomCode === roomCode);
  };
  assert.ok(!("sealWhenDone" in ((await listed()) ?? {})));
  for (let twice = 0; twice < 2; twice++)
    assert.deepEqual(await api().post(path, { sealWhenDone: true }), { ok: true, sealWhenDone: true });
  assert.equal((await listed())?.sealWhenDone, true);
  const third = await placed({});
  await api().post(`/api/rooms/${roomCode}/orders`, { orderCode: third.codes[0] ?? "" });
  await finish(third.codes[0] ?? "");
  await lookForSeals();
  assert.equal((await versionsOf(roomCode)).length, 1);
  assert.deepEqual(await api().post(path, { sealWhenDone: false }), { ok: true, sealWhenDone: false });
  assert.equal((await listed())?.sealWhenDone, undefined);
  for (const body of [{}, { sealWhenDone: "yes" }, { sealWhenDone: 1 }, { sealWhenDone: null }])
    assert.equal(await api().refused(400, "POST", path, body), "sealWhenDone must be true or false.");
  await api().refused(404, "POST", `/api/rooms/${"0".repeat(40)}/seal-when-done`, { sealWhenDone: true });
  const wanted = { actor: "operator", scopes: ["read", "rooms"], name: "Reports" } as const;
  const narrow = await issueKey({ db, clock, rowMac: running.rowMac }, partnerId, "test", wanted);
  await newClient(running.service.baseUrl, narrow.key).refused(403, "POST", path, { sealWhenDone: true });
  const view = await (await fetch(at(`/api/rooms/${roomCode}`))).text();
  assert.ok(!view.includes("sealWhenDone"), "the public view");
});

test("an order that is added while the service reads the room gets its own version once it has ended", async () => {
  const { room, codes } = await placed();
  const third = await placed({});
  await whileBlocked(
    "ACCESS EXCLUSIVE",
    () => finishAll(codes),
    () => api().post(`/api/rooms/${room}/orders`, { orderCode: third.codes[0] ?? "" }),
  );
  assert.equal((await wishOf(room))?.sealedAt, null);
  await finish(third.codes[0] ?? "");
  await lookForSeals();
  const [last] = await db.query<{ manifest: string }>(sql`
    SELECT c.manifest AS "manifest@manifest" FROM closing_passports c JOIN rooms r ON r.id = c.room_id
    WHERE ${isSealed(sql`r.code`, "room", room)} ORDER BY c.version DESC LIMIT 1`);
  assert.ok(last?.manifest.includes(third.codes[0] ?? "-"));
  assert.notEqual((await wishOf(room))?.sealedAt, null);
});

test("a member who switches the seal off while it is made stops it", async () => {
  const { room, codes } = await placed();
  const switchTo = (to: string) =>
    postForm(at(`/dashboard/rooms/${room}/seal-when-done`), { to }, { ...headers, Accept: "text/html" });
  await whileBlocked(
    "EXCLUSIVE",
    () => finishAll(codes),
    async () => assert.equal((await switchTo("off")).status, 303),
  );
  assert.deepEqual(await versionsOf(room), []);
  // While the service makes the seal, the member turns the automatic seal off and on again. The seal belongs to the
  // earlier request, so it must stop.
  await whileBlocked(
    "EXCLUSIVE",
    () => switchTo("on"),
    async () => {
      await switchTo("off");
      await switchTo("on");
    },
  );
  assert.deepEqual(await versionsOf(room), []);
  await lookForSeals();
  assert.equal((await versionsOf(room)).length, 1);
});

test("a closing with 20 versions is done if the last one has its documents, and otherwise is not tried again", async () => {
  const { room, codes } = await placed({});
  await finishAll(codes);
  for (let version = 1; version <= 20; version++) await api().post(`/api/rooms/${room}/passport`);
  await postForm(at(`/dashboard/rooms/${room}/seal-when-done`), { to: "on" }, { ...headers, Accept: "text/html" });
  await lookForSeals();
  assert.match(await roomPage(room), /Version 20 already had these documents/);
  const third = await placed({});
  await finish(third.codes[0] ?? "");
  await api().post(`/api/rooms/${room}/orders`, { orderCode: third.codes[0] ?? "" });
  await lookForSeals();
  await until(async () => (await wishOf(room))?.problem !== null);
  assert.match(await roomPage(room), /Passport version quota reached[^<]*The service does not try again\./);
  const tries = () => db.query(sql`SELECT tries FROM closing_seals WHERE problem LIKE 'Passport version quota%'`);
  const before = await tries();
  assert.equal(before.length, 1);
  await queueSeals({ db, clock: () => new Date(Date.now() + 30 * 24 * 60 * minute) });
  assert.deepEqual(await tries(), before);
});
