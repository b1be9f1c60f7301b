import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { claimTask } from "../../../src/kernel/tasks/tasks.ts";
import { openFaxWorld } from "./fax-world.ts";

const world = await forTests(openFaxWorld());
const rounds = Number(process.env["CUTS"] ?? 6);
let last = 1000;
const newNumber = () => `+1718555${++last}`;

async function correct(code: string, to: string) {
  const answer = await fetch(`${world.url()}/api/partner/orders/${code}/corrections`, {
    method: "POST",
    headers: { ...world.headers, "content-type": "application/json" },
    body: JSON.stringify({ fax_to: to }),
  });
  const body = (await answer.json()) as { error?: string };
  return { status: answer.status, error: body.error ?? "" };
}

test("a fax that waits for its carrier goes to the corrected number alone", async () => {
  world.telnyx.fail({ status: 402 }, /^POST \/v2\/faxes$/);
  const { code, faxTo } = await world.order();
  await world.become(code, "FaxPending");
  await until(async () => (await world.attempts(code)).length > 0);
  const other = newNumber();
  await until(async () => (await correct(code, other)).status === 200);
  world.telnyx.mend();
  await world.passTime(code);
  const fax = await until(async () => {
    await world.passTime(code);
    return world.faxesTo(other)[0];
  });
  await world.tell(fax, "delivered");
  await world.become(code, "FaxDelivered");
  assert.deepEqual([world.faxesTo(faxTo).length, world.faxesTo(other).length], [0, 1]);
});

test("a fax that its carrier has keeps its number, and the firm learns why", async () => {
  const { code, faxTo } = await world.order();
  await world.fax(faxTo);
  await world.become(code, "FaxSent");
  const other = newNumber();
  assert.deepEqual(await correct(code, other), { status: 409, error: "The fax is on its way." });
  assert.equal(world.faxesTo(other).length, 0);
});

test("a fax that a person is sending keeps its number", async () => {
  world.telnyx.fail({ status: 402 }, /^POST \/v2\/faxes$/);
  const { code } = await world.order();
  await world.become(code, "FaxPending");
  const task = await until(async () => (await world.tasksOf(code)).find(({ kind }) => kind === "fax_send"));
  // The test doesn't make jobs due here. Otherwise the service would try the fax again and again, and nobody could
  // claim the task.
  await until(() =>
    claimTask({ db: world.db, clock: systemClock }, task.id, "operator:nora").then(
      () => true,
      () => false,
    ),
  );
  assert.deepEqual(await correct(code, newNumber()), {
    status: 409,
    error: "A person is sending the fax now. Ask the operator of this service.",
  });
  world.telnyx.mend();
});

test("a correction that races with the carrier's request wins or is refused: one number gets the fax, never both", async () => {
  for (let round = 0; round < rounds; round++) {
    const other = newNumber();
    const { code, faxTo } = await world.order();
    const corrections: number[] = [];
    await until(async () => {
      const { status } = await correct(code, other);
      corrections.push(status);
      return status === 200 || (await world.statusOf(code)) === "FaxSent";
    });
    const fax = await until(async () => {
      await world.passTime(code);
      return [...world.faxesTo(faxTo), ...world.faxesTo(other)][0];
    });
    await world.tell(fax, "delivered");
    await world.become(code, "FaxDelivered");
    await world.passTime(code);
    const isCorrected = corrections.includes(200);
    assert.deepEqual(
      [world.faxesTo(faxTo).length, world.faxesTo(other).length],
      isCorrected ? [0, 1] : [1, 0],
      `${round}: ${corrections.join()}`,
    );
  }
});
