import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { authenticateRooms } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { inviteParticipant, moveParticipant, removeParticipant } from "../../../src/closing/rooms/rooms.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { asMember } from "./members.ts";
import { openRoomsService, unknownCode } from "./rooms-service.ts";

let now = new Date("2026-03-02T10:00:00Z");
const hour = 3_600_000;

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk");
const other = await running.partner("ClosingDesk", "Other Title");

const invite = (
  room: string,
  email: string,
  { by = acme, environment = "test" as "test" | "live", name = "Jane Roe" } = {},
) =>
  inviteParticipant({ db: running.db, clock: () => now }, asMember(by, environment), room, {
    name,
    email,
    role: "buyer",
  });

const mailsTo = (email: string): string[] => {
  const outbox = join(running.service.dataDir, "outbox");
  return (existsSync(outbox) ? readdirSync(outbox) : [])
    .filter((name) => name.endsWith(".eml"))
    .map((name) => readFileSync(join(outbox, name), "utf8"))
    .filter((mail) => mail.includes(`To: ${email}`));
};
const invitedTo = (room: string) =>
  running.db.query(sql`
    SELECT p.email FROM room_participants p JOIN rooms r ON r.id = p.room_id
    WHERE ${isSealed(sql`r.code`, "room", room)} AND p.invited_at IS NOT NULL`);

test("an invited person is mailed the room's link, on behalf of the firm; mails of test rooms are stored", async () => {
  const room = await acme.room("12 Elm Street");
  assert.deepEqual(await invite(room, "jane@example.com"), { alreadyPresent: false, invited: true });
  const mail = await until(() => mailsTo("jane@example.com")[0]);
  assert.match(mail, /^Subject: TEST: \[Acme Title\] You are invited to a closing room: 12\s+Elm\s+Street\r$/m);
  assert.match(mail, new RegExp(`^http://localhost:\\d+/rooms/${room}\r$`, "m"));
  assert.match(mail, /^From: .*Acme Title via SignSealShip/m);
  assert.deepEqual(
    (await running.audit(room)).map(({ action }) => action),
    ["room.created", "room.participant_added", "room.participant_invited"],
  );
  const live = await (await acme.withKey("live")).room("Oak Lane");
  await invite(live, "lena@example.com", { environment: "live" });
  assert.match(await until(() => mailsTo("lena@example.com")[0]), /^Subject: \[Acme Title\] You are invited/m);
});

test("the same person is mailed once in 24 hours, also after leaving, and again a day later", async () => {
  const room = await acme.room();
  const email = "again@example.com";
  assert.deepEqual(await invite(room, email), { alreadyPresent: false, invited: true });
  assert.deepEqual(await invite(room, email), { alreadyPresent: true, invited: false });
  const { participants } = await acme.ok<{ participants: { participantId: string }[] }>(
    "GET",
    `/api/rooms/${room}/participants`,
  );
  const [{ participantId } = { participantId: "" }] = participants;
  await removeParticipant({ db: running.db, clock: () => now }, asMember(acme), room, participantId);
  now = new Date(now.getTime() + 23 * hour);
  assert.deepEqual(await invite(room, email), { alreadyPresent: false, invited: false });
  now = new Date(now.getTime() + 2 * hour);
  assert.deepEqual(await invite(room, email), { alreadyPresent: true, invited: true });
});

test("a room mails 25 people in 24 hours; removed participants still count", async () => {
  const room = await acme.room();
  for (let n = 0; n < 25; n++) {
    assert.ok((await invite(room, `n${n}@example.com`)).invited);
    await running.db.query(sql`UPDATE room_participants SET removed_at = ${now} WHERE email = ${`n${n}@example.com`}`);
    await authenticateRooms(running.db, isSealed(sql`code`, "room", room));
  }
  assert.deepEqual(await invite(room, "one-more@example.com"), { alreadyPresent: false, invited: false });
  now = new Date(now.getTime() + 25 * hour);
  assert.deepEqual(await invite(room, "one-more@example.com"), { alreadyPresent: true, invited: true });
});

/** Corrects a participant's email address. */
const correct = (room: string, from: string, to: string, name: string | null = null) =>
  running.db.transaction(async (tx) => {
    const [found] = await tx.query<{ id: string }>(sql`
      SELECT id FROM rooms WHERE ${isSealed(sql`code`, "room", room)} FOR NO KEY UPDATE`);
    const of = { id: found?.id ?? "", partnerId: acme.partnerId };
    return moveParticipant(tx, of, { from, to, name }, { actor: "member:test", at: now });
  });
/** Corrects a participant's email address. @returns true if a participant had the earlier address */
const move = async (...of: Parameters<typeof correct>) => (await correct(...of)).isMoved;
const invitations = async (room: string) =>
  (await running.audit(room)).filter(({ action }) => action === "room.participant_invited").length;

test("each address of a corrected participant counts toward the 25 of a day, and gets the link once in 24 hours", async () => {
  const room = await acme.room();
  assert.ok((await invite(room, "m0@example.com")).invited);
  for (let n = 1; n <= 25; n++) assert.ok(await move(room, `m${n - 1}@example.com`, `m${n}@example.com`));
  assert.equal(await invitations(room), 25);
  const [back, wrong] = ["mia@example.com", "mia@wrong.example"];
  const other = await acme.room();
  await invite(other, back);
  for (const [from, to] of [
    [back, wrong],
    [wrong, back],
    [back, "mia@right.example"],
  ] as const)
    assert.ok(await move(other, from, to));
  assert.equal(await invitations(other), 3, "the first address has the link already");
});

test("a corrected participant who gets no link, because the room has mailed 25 that day, is reported", async () => {
  const room = await acme.room();
  for (let n = 0; n < 25; n++) await invite(room, `p${n}@wrong.example`);
  assert.deepEqual(await correct(room, "p0@wrong.example", "p0@example.com"), { isMoved: true, isUnmailed: true });
  assert.deepEqual(await correct(room, "p0@example.com", "p0@wrong.example"), { isMoved: true, isUnmailed: false });
});

test("an address that is corrected to one on the room's list leaves the list, and only one link is mailed", async () => {
  const room = await acme.room();
  const listed = async () =>
    (await acme.ok<{ participants: { email: string }[] }>("GET", `/api/rooms/${room}/participants`)).participants.map(
      ({ email }) => email,
    );
  await acme.ok("POST", `/api/rooms/${room}/participants`, { name: "Jane Roe", email: "ida@right.example" });
  await invite(room, "ida@wrong.example");
  assert.ok(await move(room, "ida@wrong.example", "Ida@right.example"));
  assert.deepEqual(await listed(), ["ida@right.example"]);
  assert.equal(await invitations(room), 2, "the person had no link under the right address");
  await invite(room, "ida@wrong.example");
  assert.ok(await move(room, "ida@wrong.example", "ida@right.example"));
  assert.deepEqual([await listed(), await invitations(room)], [["ida@right.example"], 2]);
});

test("a correction finds a participant by the rule of signers, whatever the database's locale", async () => {
  const room = await acme.room();
  await invite(room, "emile@wrong.example", { name: "ÉMILE ΣΟΦΟΣ" });
  assert.equal(await move(room, "emile@wrong.example", "emile@example.com", "Ann Roe"), false);
  assert.ok(await move(room, "Emile@wrong.example", "emile@example.com", "Émile Σοφος"));
});

test("no mail is sent by the API, for another firm's room, or to an impossible address", async () => {
  const room = await acme.room();
  await acme.ok("POST", `/api/rooms/${room}/participants`, { name: "Al", email: "al@example.com" });
  await assert.rejects(invite(room, "eve@example.com", { by: other }), { code: "not_found" });
  await assert.rejects(invite(unknownCode, "eve@example.com"), { code: "not_found" });
  assert.equal((await invite(room, `${"x".repeat(70)}@example.com`)).invited, false);
  assert.deepEqual(await invitedTo(room), []);
});

test("a name that looks like an address is not sent", async () => {
  const room = await acme.room("pay at evil.example");
  await invite(room, "odd@example.com", { name: "see www.evil" });
  const mail = await until(() => mailsTo("odd@example.com")[0]);
  assert.match(mail, /^Hello,\r$/m);
  assert.doesNotMatch(mail, /evil/);
});
