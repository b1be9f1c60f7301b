import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { createPartner } from "../../../src/firms/partners/partners.ts";
import { type EventRow, eventRow } from "../../../src/kernel/events/events.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";

const at = new Date("2026-03-04T05:06:07.089Z");
const nobody = "00000000-0000-4000-8000-000000000000";

const db = await forTests(newDatabase());
const { partnerId } = await createPartner({ db, clock: systemClock }, { name: "Acme", tier: "trial", live: false });

const eventOf = (eventId: string): EventRow => ({
  at,
  topic: "order.created",
  eventId,
  partnerId,
  environment: "test",
  subject: "s",
});

const countOf = async (eventId: string) => (await db.query(sql`SELECT FROM events WHERE event_id = ${eventId}`)).length;

describe("an event", () => {
  test("is written with its values, and without a room when none was given", async () => {
    await db.query(eventRow(eventOf("alone")));
    const [row] = await db.query<Record<string, unknown>>(sql`SELECT * FROM events WHERE event_id = 'alone'`);
    const { id: _id, row_mac: _mac, ...event } = row ?? {};
    assert.deepEqual(event, {
      occurred_at: at,
      topic: "order.created",
      event_id: "alone",
      partner_id: partnerId,
      environment: "test",
      subject: "s",
      room_id: null,
      channel: null,
      order_id: null,
    });
  });

  test("as part of a change is written for each changed row, and only then", async () => {
    const changeOf = (id: string) => sql`
      WITH changed AS (UPDATE partners SET name = name WHERE id = ${id} RETURNING *)
      ${eventRow(eventOf("part"), sql`changed`)} RETURNING subject`;
    assert.deepEqual(await db.query(changeOf(nobody)), []);
    assert.deepEqual(await db.query(changeOf(partnerId)), [{ subject: "s" }]);
    assert.equal(await countOf("part"), 1);
  });

  test("is rolled back with its transaction", async () => {
    const failing = db.transaction(async (tx) => {
      await tx.query(eventRow(eventOf("undone")));
      throw new Error("after the event");
    });
    await assert.rejects(failing, /after the event/);
    assert.equal(await countOf("undone"), 0);
  });

  test("needs an existing partner and one of the two environments", async () => {
    await assert.rejects(db.query(eventRow({ ...eventOf("foreign"), partnerId: nobody })));
    await assert.rejects(db.query(eventRow({ ...eventOf("elsewhere"), environment: "staging" as "test" })));
  });

  test("can be neither changed nor deleted", async () => {
    await db.query(eventRow(eventOf("kept")));
    for (const change of [
      sql`UPDATE events SET subject = 'x' WHERE event_id = 'kept'`,
      sql`DELETE FROM events WHERE event_id = 'kept'`,
      sql`TRUNCATE events CASCADE`,
    ])
      await assert.rejects(db.query(change), /events is append-only/);
    assert.equal(await countOf("kept"), 1);
  });

  test("becomes a delivery for the webhooks with its topic, and for no other", async () => {
    for (const [id, topics] of [
      ["00000000-0000-4000-8000-000000000001", ["order.created"]],
      ["00000000-0000-4000-8000-000000000002", ["payment.cleared"]],
    ] as const)
      await db.query(sql`INSERT INTO webhooks (id, partner_id, environment, url, topics, created_at)
        VALUES (${id}, ${partnerId}, 'test', ${`https://hooks.example/${id}`}, ${topics}, ${at})`);
    await db.query(eventRow(eventOf("wanted")));
    const deliveries = await db.query<{ webhook_id: string }>(
      sql`SELECT d.webhook_id FROM webhook_deliveries d JOIN events e ON e.id = d.event WHERE e.event_id = 'wanted'`,
    );
    assert.deepEqual(deliveries, [{ webhook_id: "00000000-0000-4000-8000-000000000001" }]);
  });
});
