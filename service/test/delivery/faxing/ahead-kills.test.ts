import assert from "node:assert/strict";
import { test } from "node:test";
import { makeJobsDue } from "@signsealship/testing/due-jobs";
import { forTests } from "@signsealship/testing/for-tests";
import { shipping } from "@signsealship/testing/inputs/order-form";
import { ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openFaxWorld } from "./fax-world.ts";

const world = await forTests(openFaxWorld(ownProcess));
const { db, telnyx } = world;
let last = 100;

/** A paid order with a parcel and a fax. The fax may be sent while the order's status still follows the parcel. */
async function toShip() {
  const faxTo = `+1646555${++last}0`;
  return { code: await world.paidOrder({ ...shipping, fax_to: faxTo }), faxTo };
}

const faxStates = async (code: string) =>
  (
    await db.query<{ status: string }>(sql`
      SELECT f.status FROM faxes f JOIN orders o ON o.id = f.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY f.id`)
  ).map(({ status }) => status);

/** Kills the service with SIGKILL, restarts it, and expires the leases of the killed process. */
async function killAndRestart(): Promise<void> {
  const { harness } = world;
  await harness.service.kill();
  // The killed node's last statement may still run and cause a deadlock. `db.transaction` then tries again.
  await db.transaction((tx) =>
    tx.query(sql`UPDATE provider_calls SET begun_at = begun_at - interval '10 minutes' WHERE state = 'begun'`),
  );
  await makeJobsDue(db);
  harness.service = await harness.service.restart();
}

/** Ships the parcel and simulates its delivery. Waits until the order's status follows the fax. @returns that status */
async function follow(code: string): Promise<string> {
  const { cli } = world.harness.service;
  await cli("order", "move", code, "Shipped", "--carrier", "UPS", "--tracking", "1Z");
  await cli("order", "move", code, "Delivered");
  return until(async () => {
    await world.hurry("next-segment");
    const status = await world.statusOf(code);
    return status === "FaxDelivered" || status === "Completed" ? status : null;
  });
}

for (const [where, failure, begins] of [
  ["after the fax was queued, while the provider had not taken it", "hang", () => telnyx.requests.some(isFaxTo(last))],
  [
    "after the provider took the fax, before that was recorded",
    "cut",
    () => world.faxesTo(numberOf(last)).length === 1,
  ],
  ["after the fax was recorded ahead of its status", null, () => world.faxesTo(numberOf(last)).length === 1],
] as const)
  test(`kill -9 ${where}: one fax arrives, and the statuses follow it`, async () => {
    if (failure) telnyx.fail(failure, /^POST \/v2\/faxes$/);
    const { code, faxTo } = await toShip();
    await until(begins);
    if (!failure) await until(async () => (await faxStates(code))[0] === "Sent");
    await killAndRestart();
    telnyx.mend();
    await until(async () => {
      await world.passTime(code);
      return (await faxStates(code))[0] === "Sent";
    });
    const [fax, ...others] = world.faxesTo(faxTo);
    assert.ok(fax);
    assert.deepEqual(others, [], "no second fax");
    await world.tell(fax, "delivered");
    await until(async () => (await faxStates(code)).join() === "Delivered");
    assert.equal(await world.statusOf(code), "ShippingPending");
    await follow(code);
    assert.deepEqual([await faxStates(code), world.faxesTo(faxTo).length], [["Delivered"], 1]);
  });

function numberOf(n: number): string {
  return `+1646555${n}0`;
}

function isFaxTo(n: number) {
  return ({ method, path, params }: (typeof telnyx.requests)[number]) =>
    method === "POST" && path === "/v2/faxes" && params["to"] === numberOf(n);
}
