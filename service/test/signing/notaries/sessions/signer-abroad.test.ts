import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { temporaryFolder } from "@signsealship/testing/service";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { liveSettings } from "./live-rules.ts";
import { liveWorld } from "./live-world.ts";

const folder = await forTests(temporaryFolder());
const running = await forTests(openHarness(liveSettings(folder.path, { signerAbroad: "true" })));
const world = await liveWorld(running, folder.path);

test("a signer abroad is admitted where the state allows it without conditions, and the session records where they are", async () => {
  const where = { city: "Paris", region: "Île-de-France", country: "FR" };
  const session = await world.begin("paris@example.com", where);
  const people = await running.db.query<{ place: string; where: unknown; isAdmitted: boolean }>(sql`
    SELECT place, consent -> 'where' AS "where", admitted_at IS NOT NULL AS "isAdmitted"
    FROM live_people WHERE session_id = ${session.id}`);
  assert.deepEqual(people, [{ place: "Paris, Île-de-France, France", where, isAdmitted: true }]);
  await world.end(session);
});
