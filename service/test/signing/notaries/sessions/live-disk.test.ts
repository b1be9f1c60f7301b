import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import {
  closeForAct,
  type LiveSession,
  markLive,
  reopen,
  wasUnrecorded,
  watchSessions,
} from "../../../../src/signing/notaries/notaries.ts";
import { recordingDisk } from "../../../../src/signing/notaries/recordings/disk.ts";
import { requireDisk } from "../../../../src/signing/notaries/sessions/disk-room.ts";
import { endTechnical } from "../../../../src/signing/notaries/sessions/end.ts";
import { eventsOf, findLive, updateLive } from "../../../../src/signing/notaries/sessions/store.ts";
import { endUnrecorded } from "../../../../src/signing/notaries/sessions/unrecorded.ts";
import {
  abandoned,
  begun,
  clock,
  db,
  desk,
  folder,
  given,
  liveOf,
  newLease,
  nora,
  operator,
  orders,
  otherNode,
  post,
  rowMac,
  sheetOf,
  signatures,
} from "./session-world.ts";

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
  // Now the caller has read that the session is signed. Nobody completed the session after that read, so the session
  // ends.
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
