import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { verifyClosing } from "@signsealship/evidence/seal";
import { startHttpDouble } from "@signsealship/testing/doubles/http-double";
import { forTests } from "@signsealship/testing/for-tests";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { ownProcess, startService } from "@signsealship/testing/service";
import { needs } from "@signsealship/testing/tools/tools";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openRoomsService } from "../rooms/rooms-service.ts";
import { detached, download, sealRoom, type Version, verify } from "./seal-room.ts";

const quota = "Passport version quota reached (20 versions per room).";

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk");

type StoredVersion = { version: number; code: string; events: number; audits: number };

async function stored(room: string): Promise<StoredVersion[]> {
  const events = await running.db.query<{ id: string }>(sql`
    SELECT event_id AS "id@event" FROM events JOIN rooms r ON r.id = room_id WHERE ${isSealed(sql`r.code`, "room", room)}`);
  const versions = await running.db.query<Omit<StoredVersion, "events">>(sql`
    SELECT version, verify_code AS "code@closing",
      (SELECT count(*) FROM audit_log a WHERE a.room_id = r.id AND (a.detail->>'version')::int = version) AS audits
    FROM closing_passports c JOIN rooms r ON r.id = c.room_id
    WHERE ${isSealed(sql`r.code`, "room", room)} ORDER BY version`);
  return versions.map((version) => ({
    ...version,
    events: events.filter(({ id }) => id === `room.passport_sealed:${room}:${version.code}`).length,
  }));
}

/**
 * Asserts that every version exists once, with its event and audit line, and that manifests, links and seals verify.
 */
async function requireWholeChain(room: string, baseUrl: string): Promise<string[]> {
  const rows = await stored(room);
  assert.deepEqual(
    rows.map(({ version, events, audits }) => [version, events, audits]),
    rows.map((_, index) => [index + 1, 1, 1]),
  );
  const versions = [];
  for (const { code, version } of rows) {
    const { manifestSha256, sealedSha256, chainOk } = await verify(baseUrl, code);
    assert.equal(chainOk, true);
    versions.push({ version, manifestSha256, sealedSha256, certificate: await download(baseUrl, code) });
  }
  const trust = { sealAnchors: [], tsaAnchors: [] };
  const { claims, verdict } = await verifyClosing({
    versions,
    roomCode: room,
    trust,
    at: Date.now(),
    crypto: createNodeCrypto(),
  });
  assert.deepEqual(
    claims.filter(({ state }) => state === "fails"),
    [],
  );
  assert.equal(verdict, "intact");
  return rows.map(({ code }) => code);
}

test("64 concurrent seals on two nodes give versions 1 to 20 without a gap, 44 clear refusals and a valid chain", async () => {
  const second = await startService({ DATA_DIR: running.service.dataDir, RATE_LIMITS: "off" });
  try {
    const room = await acme.room();
    await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: await acme.order() });
    const nodes = [acme, acme.at(second)];
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, n) => (nodes[n % 2] ?? acme).call("POST", `/api/rooms/${room}/passport`)),
    );
    const good = answers.filter(({ status }) => status === 200).map(({ body }) => body as unknown as Version);
    const refused = answers.filter(({ status }) => status !== 200);
    assert.deepEqual(
      good.map(({ version }) => version).sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, n) => n + 1),
    );
    assert.deepEqual(new Set(refused.map(({ status, body }) => `${status} ${body.error}`)), new Set([`400 ${quota}`]));
    assert.equal(refused.length, 44);
    const codes = await requireWholeChain(room, second.baseUrl);
    assert.deepEqual(new Set(codes), new Set(good.map(({ verifyCode }) => verifyCode)));
  } finally {
    await second.stop();
  }
});

test("rooms are sealed concurrently while other requests are served", async () => {
  const rooms = await Promise.all(Array.from({ length: 12 }, () => acme.room()));
  const seals = rooms.flatMap((room) => [room, room]).map((room) => sealRoom(acme, room));
  await Promise.all(Array.from({ length: 40 }, () => acme.ok("GET", "/api/rooms")));
  await Promise.all(seals);
  for (const room of rooms) assert.equal((await stored(room)).length, 2);
});

test("while a seal waits for a time stamp, the room's orders change and are attached, and the snapshot stays the same", async () => {
  const gate = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const authority = await startHttpDouble(async (_request, _body, response) => {
    asked.resolve();
    await gate.promise;
    response.writeHead(500).end();
  });
  const slow = await startService({ DATA_DIR: running.service.dataDir, RATE_LIMITS: "off", TSA_URLS: authority.url });
  try {
    const room = await acme.room();
    const first = await acme.order();
    await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: first });
    const sealing = sealRoom(acme.at(slow), room);
    await asked.promise;
    await running.setStatus(first, "Paid");
    await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: await acme.order() });
    assert.equal((await running.view(room)).orders.length, 2);
    assert.equal((await stored(room)).length, 0);
    gate.resolve();
    const { manifest } = await verify(slow.baseUrl, (await sealing).verifyCode);
    assert.deepEqual(
      manifest.documents.map(({ orderCode, statusAtSnapshot }) => [orderCode, statusAtSnapshot.value]),
      [[first, "QuoteReady"]],
    );
  } finally {
    gate.resolve();
    await slow.stop();
    await authority.close();
  }
});

test("kill -9 during 64 seals: acknowledged versions exist, the chain has no gap, and the rest can be sealed", async () => {
  const room = await acme.room();
  await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: await acme.order() });
  const acknowledged: Version[] = [];
  let victim = await startService({ DATA_DIR: running.service.dataDir, RATE_LIMITS: "off", ...ownProcess });
  for (const until of [4, 12].slice(-repeats(2, 1))) {
    const node = acme.at(victim);
    let killing: Promise<void> | undefined;
    const attempts = Array.from({ length: 64 }, async () => {
      const answer = await node.call("POST", `/api/rooms/${room}/passport`).catch(() => undefined);
      if (answer?.status === 200) acknowledged.push(answer.body as unknown as Version);
      if (acknowledged.length >= until) killing ??= victim.kill();
    });
    await Promise.all(attempts);
    await killing;
    victim = await victim.restart();
  }
  try {
    const codes = new Set(await requireWholeChain(room, running.service.baseUrl));
    assert.ok(acknowledged.length >= 12);
    for (const { verifyCode } of acknowledged) assert.ok(codes.has(verifyCode));
    // The killed node's lock ended with its connection. So the other node continues at once, up to the limit of 20
    // versions.
    for (let version = codes.size + 1; version <= 20; version++) {
      assert.equal((await sealRoom(acme, room)).version, version);
    }
    assert.equal(await acme.refused(400, "POST", `/api/rooms/${room}/passport`), quota);
    await requireWholeChain(room, running.service.baseUrl);
  } finally {
    await victim.stop();
  }
});

test(
  "the manifest in a certificate is the stored one, even when many are drawn concurrently",
  needs("poppler"),
  async () => {
    const names = Array.from({ length: 8 }, (_, n) => `${randomUUID()} 売買 ${n} عقد`);
    const rooms = await Promise.all(names.map((name) => acme.room(name)));
    const versions = await Promise.all(rooms.map((room) => sealRoom(acme, room)));
    for (const [index, { verifyCode }] of versions.entries()) {
      const manifest = JSON.parse(detached(await download(running.service.baseUrl, verifyCode)).toString()) as {
        passport: { roomName: string };
      };
      assert.equal(manifest.passport.roomName, names[index]);
    }
  },
);
