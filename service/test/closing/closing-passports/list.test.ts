import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { nextVersionOf } from "../../../src/closing/closing-passports/closing-passports.ts";
import { ownRoom } from "../../../src/closing/rooms/rooms.ts";
import { asMember } from "../rooms/members.ts";
import { openRoomsService } from "../rooms/rooms-service.ts";
import { sealRoom } from "./seal-room.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk");

async function list(code: string) {
  const room = await ownRoom(running, asMember(acme), code);
  return { versions: room.versions, nextVersion: nextVersionOf(room) };
}

test("a room's versions are listed for its owner, newest first, with the number of the next", async () => {
  const room = await acme.room();
  assert.deepEqual(await list(room), { versions: [], nextVersion: 1 });
  const first = await sealRoom(acme, room);
  const second = await sealRoom(acme, room);
  assert.deepEqual(await list(room), {
    versions: [second, first].map(({ version, verifyCode, manifestSha256, createdAt }) => ({
      version,
      verifyCode,
      manifestSha256,
      createdAt,
    })),
    nextVersion: 3,
  });
});

test("a room with twenty versions has no next one", async () => {
  const room = await acme.room();
  for (let version = 1; version <= 20; version++) await sealRoom(acme, room);
  const { versions, nextVersion } = await list(room);
  assert.deepEqual([versions.length, versions[0]?.version, nextVersion], [20, 20, null]);
});
