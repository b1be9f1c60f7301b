import assert from "node:assert/strict";
import { test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { testRowMac as rowMac, writeEvents } from "@signsealship/testing/row-mac";
import { createPartner } from "../../../../src/firms/partners/partners.ts";
import { systemClock } from "../../../../src/kernel/platform/clock.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { claimDue, withChainPosition } from "../../../../src/outgoing/webhooks/dispatch/claim.ts";

const capacity = { total: 100, webhooks: { ids: [], free: [] }, partners: { ids: [], free: [] } };
const log = openLog("silent");

const db = await forTests(newDatabase());

/** A firm with a webhook, and one event with a pending delivery. */
async function firmWithEvent(): Promise<string> {
  const { partnerId } = await createPartner({ db, clock: systemClock }, { name: "Acme", tier: "trial", live: false });
  await db.query(sql`
    INSERT INTO webhooks (id, partner_id, environment, url, topics, created_at)
    VALUES (${newUuid()}, ${partnerId}, 'test', 'https://example.com', '{order.created}', now())`);
  const event = { at: new Date(), topic: "order.created", eventId: partnerId, subject: "x" };
  await writeEvents(db, [{ ...event, partnerId, environment: "test" }]);
  return partnerId;
}

async function claimed() {
  await db.query(sql`UPDATE webhook_deliveries SET leased_until = NULL`);
  return claimDue({ db, rowMac }, 60_000, capacity);
}

const partnersOf = (claims: readonly { partnerId: string }[]) => claims.map(({ partnerId }) => partnerId);

test("a firm whose chain another node has locked, or whose events can't be added, does not delay others", async () => {
  const [held, broken, free] = [await firmWithEvent(), await firmWithEvent(), await firmWithEvent()];
  await db.query(sql`
    CREATE FUNCTION refuse_places() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`);
  await db.transaction((tx) =>
    tx.script(`CREATE TRIGGER refused BEFORE UPDATE ON event_chain FOR EACH ROW WHEN (OLD.partner_id = '${broken}')
      EXECUTE FUNCTION refuse_places()`),
  );
  await db.transaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`event chain ${held} test`}, 0))`);
    const { ready, waiting } = await withChainPosition({ db, rowMac, log }, await claimed());
    assert.deepEqual([partnersOf(ready), partnersOf(waiting)], [[free], [held, broken]]);
    assert.deepEqual(
      ready.map(({ place }) => place?.position),
      [1],
    );
  });
  await db.query(sql`DROP FUNCTION refuse_places() CASCADE`);
  const { ready, waiting } = await withChainPosition({ db, rowMac, log }, await claimed());
  assert.deepEqual([partnersOf(ready), waiting], [[held, broken, free], []]);
});
