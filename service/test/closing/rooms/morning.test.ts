import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { until } from "@signsealship/testing/until";
import { sendClosings } from "../../../src/closing/rooms/rooms.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { mailsTo, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { openRoomsService } from "./rooms-service.ts";

const running = await forTests(openRoomsService());
const { service, db } = running;
const firm = await running.partner("ClosingDesk", "Acme Title");
await service.cli("partner", "set", firm.partnerId, "--live", "on");
const live = await firm.withKey("live");
const { key } = await service.cli<{ key: string }>("key", "issue", firm.partnerId);

async function person(email: string, keyOfFirm = key) {
  const { headers } = await newMember(service, email, keyOfFirm);
  await postForm(`${service.baseUrl}/dashboard/environment`, { environment: "live" }, headers);
  return {
    async place(reference: string) {
      const body = orderForm({ ...minimal, svc_sign: "true", external_reference: reference });
      const init = { method: "POST", redirect: "manual", headers, body } as const;
      const answer = await fetch(`${service.baseUrl}/dashboard/orders/new`, init);
      assert.equal(answer.status, 303, await answer.clone().text());
      return /orders\/([0-9a-f]{40})/.exec(answer.headers.get("location") ?? "")?.[1] ?? "";
    },
    async leave() {
      const [row] = await db.query<{ id: string }>(sql`SELECT id FROM users WHERE email = ${email}`);
      return postForm(`${service.baseUrl}/dashboard/team/members/${row?.id}/remove`, {}, headers);
    },
    switchOff: () =>
      postForm(`${service.baseUrl}/dashboard/security/mails`, { kind: "closings", mails: "off" }, headers),
    mails: () => mailsTo(service, email).filter((mail) => mail.includes("Subject: Your closings")),
  };
}

const on = (time: string) => sendClosings({ db, clock: () => new Date(time) });
const sent = () =>
  until(async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'closings-mail'`)).length === 0 || undefined);

test("lists a member's open closings on business mornings: who must act, what is due, which orders are stuck", async () => {
  const dana = await person("dana@acme.example");
  const idle = await person("idle@acme.example");
  const room = await live.room("Ortega closing");
  const quiet = await live.room("Nothing of Dana's");
  const [deed, note, foreign] = [await dana.place("1"), await dana.place("2"), await live.order({ svc_sign: "true" })];
  for (const [orderCode, label] of [
    [deed, "Deed"],
    [note, "Note"],
  ])
    await live.ok("POST", `/api/rooms/${room}/orders`, { orderCode, label });
  await live.ok("POST", `/api/rooms/${quiet}/orders`, { orderCode: foreign });
  await running.setStatus(note, "Paid");
  await service.cli("order", "move", note, "OnHold", "--reason", "which county is it");
  await running.setStatus(deed, "Paid");
  await service.cli("order", "move", deed, "EsignPending", "--reason", "begin");
  await until(
    async () =>
      (
        await db.query(
          sql`SELECT FROM envelopes e JOIN orders o ON o.id = e.order_id WHERE ${isSealed(sql`o.code`, "order", deed)}`,
        )
      )[0],
  );
  assert.equal(await on("2026-11-22T15:00:00Z"), 0, "a Sunday");
  assert.equal(await on("2026-11-23T13:00:00Z"), 0, "before opening time");
  assert.deepEqual(
    (await Promise.all([on("2026-11-23T15:00:00Z"), on("2026-11-23T15:00:00Z")])).sort(),
    [0, 2],
    "both members of the firm, once",
  );
  const mail = await until(() => dana.mails()[0]);
  await sent();
  assert.match(mail, /Subject: Your closings: 1 open, 1 with something stuck/);
  assert.match(mail, /Ortega closing: 0 of 2 complete\. Note: stuck since [A-Z][a-z]+ \d+ \(on hold\)\./);
  assert.match(mail, /Deed: .+ must sign by [A-Z][a-z]+ \d+, \d+:\d\d [AP]M E[SD]T\./);
  assert.ok(mail.includes(`/dashboard/rooms/${room}`));
  assert.doesNotMatch(mail, /Nothing of Dana/);
  assert.equal(idle.mails().length, 0, "nothing of theirs is open");

  assert.equal((await dana.switchOff()).status, 303);
  assert.equal(await on("2026-11-24T15:00:00Z"), 1);
  await sent();
  assert.equal(dana.mails().length, 1);
});

test("gives the closings of a member who left to the owner who joined first, and to nobody else", async () => {
  const elm = await running.partner("ClosingDesk", "Elm Title");
  await service.cli("partner", "set", elm.partnerId, "--live", "on");
  const elmKey = (await service.cli<{ key: string }>("key", "issue", elm.partnerId)).key;
  const withKey = await elm.withKey("live");
  const olga = await person("olga@elm.example", elmKey);
  const later = await person("later@elm.example", elmKey);
  const max = await person("max@elm.example", elmKey);
  const room = await withKey.room("Baker closing");
  await withKey.ok("POST", `/api/rooms/${room}/orders`, { orderCode: await max.place("3"), label: "Deed" });
  await on("2026-11-25T15:00:00Z");
  await sent();
  assert.equal(max.mails().length, 1);
  assert.equal(olga.mails().length, 0, "Max has his closings on his own list");

  assert.equal((await max.leave()).status, 303);
  await on("2026-11-27T15:00:00Z");
  await sent();
  assert.match(olga.mails()[0] ?? "", /Baker closing: 0 of 1 complete\. Deed:/);
  assert.equal(olga.mails().length, 1);
  assert.deepEqual([max.mails().length, later.mails().length], [1, 0]);
});
