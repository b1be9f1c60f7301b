import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import { inviteParticipant } from "../../src/closing/rooms/rooms.ts";
import { systemClock } from "../../src/kernel/platform/clock.ts";
import { isSealed, type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { asMember } from "../closing/rooms/members.ts";
import { type Client, openRoomsService } from "../closing/rooms/rooms-service.ts";
import { openInsider } from "./insider.ts";

const running = await forTests(openRoomsService());
const insider = await forTests(openInsider(running.service.dataDir));
const acme = await running.partner("ClosingDesk", "Acme Title");
const mallory = await running.partner("ClosingDesk", "Mallory");

type Room = { code: string; id: string; order: string; participantId: string };

/** A room with an order and a participant. */
async function room(): Promise<Room> {
  const [code, order] = [await acme.room("12 Elm Street"), await acme.order()];
  await acme.ok("POST", `/api/rooms/${code}/orders`, { orderCode: order, label: "Deed" });
  await acme.ok("POST", `/api/rooms/${code}/participants`, { name: "Jane Roe", email: "jane@example.com" });
  const [row] = await running.db.query<{ id: string; participantId: string }>(sql`
    SELECT r.id, p.id AS "participantId" FROM rooms r JOIN room_participants p ON p.room_id = r.id
    WHERE ${isSealed(sql`r.code`, "room", code)}`);
  assert.ok(row);
  return { code, order, ...row };
}

const refusal = /^This record is not what the service wrote/;

async function isClosedToAll({ code, order }: Room, by: readonly Client[] = [acme]): Promise<void> {
  for (const client of by) {
    const rooms = `/api/rooms/${code}`;
    for (const [method, path] of [
      ["GET", rooms],
      ["GET", `${rooms}/participants`],
      ["POST", `${rooms}/passport`],
      ["POST", `${rooms}/rotate`],
      ["POST", `${rooms}/close`],
      ["DELETE", `${rooms}/orders/${order}`],
    ] as const) {
      const answer = await client.call(method, path);
      // The room's own firm gets 503. Another firm gets 404, because it doesn't find the room.
      assert.ok(answer.status === 503 || answer.status === 404, `${method} ${path}: ${JSON.stringify(answer.body)}`);
      if (answer.status === 503) assert.match(String(answer.body["error"]), refusal);
    }
    const { rooms: listed } = await client.ok<{ rooms: { roomCode: string }[] }>("GET", "/api/rooms");
    assert.equal(
      listed.some(({ roomCode }) => roomCode === code),
      false,
    );
  }
  assert.equal((await fetch(`${running.service.baseUrl}/api/rooms/${code}`)).status, 503);
  assert.equal((await fetch(`${running.service.baseUrl}/rooms/${code}`)).status, 503);
}

const attacks: readonly [string, (room: Room) => Statement[] | Promise<Statement[]>][] = [
  ["renamed", ({ id }) => [sql`UPDATE rooms SET name = 'Pay Eve' WHERE id = ${id}`]],
  ["given another reference", ({ id }) => [sql`UPDATE rooms SET reference = 'forged' WHERE id = ${id}`]],
  ["closed", ({ id }) => [sql`UPDATE rooms SET status = 'closed' WHERE id = ${id}`]],
  ["moved to another firm", ({ id }) => [sql`UPDATE rooms SET partner_id = ${mallory.partnerId} WHERE id = ${id}`]],
  ["made one of live", ({ id }) => [sql`UPDATE rooms SET environment = 'live' WHERE id = ${id}`]],
  ["stripped of its MAC", ({ id }) => [sql`UPDATE rooms SET row_mac = NULL WHERE id = ${id}`]],
  [
    "given an order",
    async ({ id }) => [
      sql`INSERT INTO room_orders (room_id, order_id, attached_at)
        SELECT ${id}, id, now() FROM orders WHERE ${isSealed(sql`code`, "order", await acme.order())}`,
    ],
  ],
  ["deprived of its order", ({ id }) => [sql`DELETE FROM room_orders WHERE room_id = ${id}`]],
  ["given another label", ({ id }) => [sql`UPDATE room_orders SET label = 'Forged' WHERE room_id = ${id}`]],
  [
    "given a participant",
    ({ id }) => [
      sql`INSERT INTO room_participants (id, room_id, name, email, role, created_at)
        VALUES (gen_random_uuid(), ${id}, 'Eve', 'eve@example.com', 'buyer', now())`,
    ],
  ],
  [
    "given another address of a participant",
    ({ id }) => [sql`UPDATE room_participants SET email = 'eve@example.com' WHERE room_id = ${id}`],
  ],
  ["deprived of a participant", ({ id }) => [sql`DELETE FROM room_participants WHERE room_id = ${id}`]],
];

for (const [name, attack] of attacks)
  test(`gives no access to a room that was altered in the database, and reports it once: ${name}`, async () => {
    const victim = await room();
    const other = await room();
    assert.equal((await fetch(`${running.service.baseUrl}/api/rooms/${victim.code}`)).status, 200);
    for (const statement of await attack(victim)) await insider.run(statement);
    await isClosedToAll(victim, [acme, mallory]);
    assert.equal((await acme.call("GET", `/api/rooms/${other.code}`)).status, 200);
    const logged = () =>
      `${running.service.stdout()}\n${running.service.stderr()}`
        .split("\n")
        .filter((line) => line.includes("is not vouched for") && line.includes(`id=${victim.id} `));
    await until(() => logged().length > 0);
    assert.equal(logged().length, 1, "once, however often it is read");
  });

test("opens no room by another room's code that was written into its row", async () => {
  const victim = await room();
  const code = await mallory.room("Mine");
  const ofMallory = sql`partner_id = ${mallory.partnerId} AND name = 'Mine'`;
  const [mine] = await insider.run<{ code: string }>(sql`SELECT code FROM rooms WHERE ${ofMallory}`);
  await insider.run(sql`UPDATE rooms SET code = 'c1.gone' WHERE ${ofMallory}`);
  await insider.run(sql`UPDATE rooms SET code = ${mine?.code} WHERE id = ${victim.id}`);
  assert.equal((await fetch(`${running.service.baseUrl}/api/rooms/${code}`)).status, 503);
});

test("gives no access to an earlier state of a room that is restored with its MAC", async () => {
  const victim = await room();
  const columns = sql`code, name, status, order_count, updated_at, state_version, row_mac`;
  const earlier = async () => {
    const [row] = await insider.run<{ row: object }>(sql`
      SELECT to_jsonb(r) AS row FROM rooms r WHERE id = ${victim.id}`);
    return () =>
      insider.run(sql`
        UPDATE rooms SET (${columns}) = (SELECT ${columns} FROM jsonb_populate_record(NULL::rooms, ${row?.row}::jsonb))
        WHERE id = ${victim.id}`);
  };
  const restoreOpen = await earlier();
  await acme.ok("POST", `/api/rooms/${victim.code}/close`);
  await restoreOpen();
  await isClosedToAll(victim);

  const rotated = await room();
  victim.id = rotated.id;
  const restoreCode = await earlier();
  await acme.ok("POST", `/api/rooms/${rotated.code}/rotate`);
  await restoreCode();
  await isClosedToAll(rotated);

  const removed = await room();
  victim.id = removed.id;
  const restoreMac = await earlier();
  await acme.ok("DELETE", `/api/rooms/${removed.code}/participants/${removed.participantId}`);
  await insider.run(sql`UPDATE room_participants SET removed_at = NULL WHERE id = ${removed.participantId}`);
  await restoreMac();
  await isClosedToAll(removed);
});

test("the service's role can't delete a room, give it another id, or disable the triggers that count its versions", async () => {
  const { id } = await room();
  for (const statement of [
    sql`DELETE FROM rooms WHERE id = ${id}`,
    sql`UPDATE rooms SET id = gen_random_uuid() WHERE id = ${id}`,
  ])
    await assert.rejects(insider.run(statement), /append-only/, statement.text);
  for (const statement of [
    sql`ALTER TABLE rooms DISABLE TRIGGER rooms_next_state`,
    sql`DROP TRIGGER room_participants_next_state ON room_participants`,
    sql`TRUNCATE room_participants`,
    sql`CREATE TEMPORARY TABLE rooms (id uuid, state_version int)`,
  ])
    await assert.rejects(insider.run(statement), /permission denied|must be owner/, statement.text);
});

const mailsTo = (email: string): string[] => {
  const outbox = join(running.service.dataDir, "outbox");
  return (existsSync(outbox) ? readdirSync(outbox) : []).filter((name) =>
    readFileSync(join(outbox, name), "utf8").includes(`To: ${email}`),
  );
};

test("mails no room's link to a participant who was inserted into the database", async () => {
  const victim = await room();
  const [planted] = await insider.run<{ id: string }>(sql`
    INSERT INTO room_participants (id, room_id, name, email, role, created_at)
    VALUES (gen_random_uuid(), ${victim.id}, 'Eve', 'eve@planted.example', 'buyer', now()) RETURNING id`);
  const payload = JSON.stringify({ participantId: planted?.id, at: new Date().toISOString() });
  await insider.run(sql`SELECT enqueue_job('room-mail', ${payload}::jsonb, now())`);
  // Queues a genuine mail after the attacker's. Once the genuine one is sent, the service has skipped the attacker's.
  const other = await acme.room();
  await inviteParticipant({ db: running.db, clock: systemClock }, asMember(acme), other, {
    name: "Ann",
    email: "ann@example.com",
    role: "buyer",
  });
  await until(() => mailsTo("ann@example.com").length === 1);
  const waiting = sql`SELECT FROM jobs WHERE queue = 'room-mail'`;
  await until(async () => (await insider.run(waiting)).length === 0);
  assert.deepEqual(mailsTo("eve@planted.example"), []);
});

test("seals no passport of an altered room, and passes no name of it to webhooks", async () => {
  const victim = await room();
  await insider.run(sql`UPDATE rooms SET name = 'Pay Eve' WHERE id = ${victim.id}`);
  const { status } = await acme.call("POST", `/api/rooms/${victim.code}/passport`);
  assert.equal(status, 503);
  const versions = await running.db.query(sql`SELECT FROM closing_passports WHERE room_id = ${victim.id}`);
  assert.equal(versions.length, 0);
  const feed = await acme.ok<object>("GET", "/api/partner/events?limit=100");
  assert.equal(JSON.stringify(feed).includes("Pay Eve"), false);
});
