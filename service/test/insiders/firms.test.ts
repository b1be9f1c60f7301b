import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { changeFirm } from "@signsealship/testing/row-mac";
import { issueKey, listPartners, setPartner } from "../../src/firms/partners/partners.ts";
import { systemClock } from "../../src/kernel/platform/clock.ts";
import { type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../src/kernel/platform/database/state-mac.ts";
import { findNotary } from "../../src/signing/notaries/commissions/store.ts";
import { listNotaries, notaryState } from "../../src/signing/notaries/notaries.ts";
import { type Client, openRoomsService } from "../closing/rooms/rooms-service.ts";
import { newOperator } from "../firms/operators/console-people.ts";
import { openInsider } from "./insider.ts";

const running = await forTests(openRoomsService());
const insider = await forTests(openInsider(running.service.dataDir));

const refusal = /^This record is not what the service wrote/;
const refused = { code: "unavailable", message: refusal };

async function isRefused(client: Client, path: string): Promise<void> {
  const { status, body } = await client.call("GET", path);
  assert.equal(status, 503, JSON.stringify(body));
  assert.match(String(body["error"]), refusal);
}

const changes: readonly [string, Statement][] = [
  ["renamed", sql`name = 'First National Title'`],
  ["named otherwise for its clients", sql`brand_name = 'First National Title'`],
  ["marked as having live access", sql`live_enabled = true`],
  ["given another tier", sql`tier = 'ProOffice'`],
  ["freed of the rule that live access needs passkeys", sql`passkey_for_live = false`],
  ["given another address for its clients", sql`contact_email = 'eve@example.com'`],
  ["left without a MAC", sql`row_mac = NULL`],
];
for (const [name, change] of changes)
  test(`keys and rooms of a firm give no access once it was ${name}`, async () => {
    const [firm, other] = [await running.partner("trial"), await running.partner("trial")];
    await changeFirm(running.db, firm.partnerId, sql`passkey_for_live = true`);
    const room = await firm.room();
    await insider.run(sql`UPDATE partners SET ${change} WHERE id = ${firm.partnerId}`);
    await isRefused(firm, "/api/partner/me");
    await isRefused(firm, "/api/partner/orders");
    await isRefused(other, `/api/rooms/${room}`);
    const deps = { ...running, clock: systemClock };
    for (const environment of ["test", "live"] as const)
      await assert.rejects(issueKey(deps, firm.partnerId, environment), refused);
    const listed = await listPartners(running);
    assert.deepEqual(
      [firm, other].map(({ partnerId }) => listed.some((each) => each.partnerId === partnerId)),
      [false, true],
    );
    assert.equal((await other.call("GET", "/api/partner/me")).status, 200);
  });

test("a firm that lost live access does not get it back from its earlier row", async () => {
  const firm = await running.partner("trial");
  const live = await firm.withKey("live");
  const [before] = await insider.run<{ version: number; mac: Buffer }>(
    sql`SELECT state_version AS version, row_mac AS mac FROM partners WHERE id = ${firm.partnerId}`,
  );
  assert.ok(before);
  await setPartner({ ...running, clock: systemClock }, firm.partnerId, { live: false });
  assert.equal((await live.call("GET", "/api/partner/me")).status, 401);
  await insider.run(sql`
    UPDATE partners SET live_enabled = true, state_version = ${before.version}, row_mac = ${before.mac}
    WHERE id = ${firm.partnerId}`);
  await isRefused(live, "/api/partner/me");
  await assert.rejects(insider.run(sql`DELETE FROM partners WHERE id = ${firm.partnerId}`), /append-only/);
});

test("a notary who was inserted into the database, or whose commission or status was altered, does not count", async () => {
  const add = async (name: string) => {
    const { id: userId } = await newOperator(running, { roles: ["notary"], name });
    const [row] = await insider.run<{ id: string }>(sql`
      INSERT INTO notaries (id, operator_id, commission_name, state, county, commission_number, commission_expires,
        status, created_at, updated_at)
      VALUES (gen_random_uuid(), ${userId}, ${name}, 'OH', 'Franklin', '1', '2040-01-31', 'active', now(), now())
      RETURNING id`);
    return row?.id ?? "";
  };
  const planted = await add("Planted Notary");
  await assert.rejects(findNotary(running.db, planted), refused);
  const genuine = await add("Genuine Notary");
  const vouch = () => writeStateMacs(running.db, notaryState, sql`id = ${genuine}`);
  await vouch();
  assert.equal((await findNotary(running.db, genuine))?.commissionName, "Genuine Notary");
  const [before] = await insider.run<{ version: number; mac: Buffer }>(
    sql`SELECT state_version AS version, row_mac AS mac FROM notaries WHERE id = ${genuine}`,
  );
  assert.ok(before);
  await running.db.query(sql`UPDATE notaries SET status = 'suspended' WHERE id = ${genuine}`);
  await vouch();
  const listed = async () => (await listNotaries(running.db)).map(({ id }) => id);
  assert.ok((await listed()).includes(genuine) && !(await listed()).includes(planted));
  for (const change of [
    sql`commission_expires = '2050-01-31'`,
    sql`state = 'TX'`,
    sql`certificate = 'x'`,
    sql`status = 'active', state_version = ${before.version}, row_mac = ${before.mac}`,
  ]) {
    await insider.run(sql`UPDATE notaries SET ${change} WHERE id = ${genuine}`);
    await assert.rejects(findNotary(running.db, genuine), refused, change.text);
  }
  assert.ok(!(await listed()).includes(genuine));
  await assert.rejects(insider.run(sql`DELETE FROM notaries WHERE id = ${genuine}`), /append-only/);
});
