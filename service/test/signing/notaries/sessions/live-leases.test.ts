import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { roomEnvelopeOf } from "../../../../src/signing/envelopes/envelopes.ts";
import { openRoomOf } from "../../../../src/signing/envelopes/records/rooms.ts";
import { endLive, reopen, watchSessions } from "../../../../src/signing/notaries/notaries.ts";
import { giveTurn } from "../../../../src/signing/notaries/sessions/act.ts";
import { fence, renew } from "../../../../src/signing/notaries/sessions/holding.ts";
import { leaseMs, requireHere, requireLease, turnEndOf } from "../../../../src/signing/notaries/sessions/lease.ts";
import { writeAsNotary } from "../../../../src/signing/notaries/sessions/messages.ts";
import { showPage } from "../../../../src/signing/notaries/sessions/pages.ts";
import { reportShownToNotary } from "../../../../src/signing/notaries/sessions/shown.ts";
import { eventsOf, updateLive } from "../../../../src/signing/notaries/sessions/store.ts";
import { postForm } from "../../../firms/members/signed-in-member.ts";
import {
  abandoned,
  at,
  begun,
  db,
  given,
  liveOf,
  newLease,
  operator,
  otherNode,
  rowMac,
  sheetOf,
  signatures,
} from "./session-world.ts";

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
