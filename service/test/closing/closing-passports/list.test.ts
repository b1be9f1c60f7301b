import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { closingVersions } from "../../../src/closing/closing-passports/closing-passports.ts";
import type { Principal } from "../../../src/kernel/identity/identity.ts";
import { asMember } from "../rooms/members.ts";
import { openRoomsService } from "../rooms/rooms-service.ts";
import { sealRoom } from "./seal-room.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk");
const other = await running.partner();

const roomNotFound = { code: "not_found", message: "Room not found." };
const list = (principal: Principal, room: string) => closingVersions(running.db, principal, room);

test("a room's versions are listed for its owner, newest first, with the number of the next", async () => {
  const room = await acme.room();
  assert.deepEqual(await list(asMember(acme), room), { versions: [], nextVersion: 1 });
  const first = await sealRoom(acme, room);
  const second = await sealRoom(acme, room);
  assert.deepEqual(await list(asMember(acme), room), {
    versions: [second, first].map(({ version, verifyCode, manifestSha256, createdAt }) => ({
      version,
      verifyCode,
      manifestSha256,
      createdAt: new Date(createdAt),
    })),
    nextVersion: 3,
  });
});

test("a room with twenty versions has no next one", async () => {
  const room = await acme.room();
  for (let version = 1; version <= 20; version++) await sealRoom(acme, room);
  const { versions, nextVersion } = await list(asMember(acme), room);
  assert.deepEqual([versions.length, versions[0]?.version, nextVersion], [20, 20, null]);
});

test("the versions of another firm's room, of the other environment's, and of an unknown room are not found", async () => {
  const room = await acme.room();
  await sealRoom(acme, room);
  await assert.rejects(list(asMember(other), room), roomNotFound);
  await assert.rejects(list(asMember(acme, "live"), room), roomNotFound);
  for (const code of ["f".repeat(40), "", "\0", room.toUpperCase()])
    await assert.rejects(list(asMember(acme), code), roomNotFound);
});
