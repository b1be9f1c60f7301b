import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { claimTask } from "../../../src/kernel/tasks/tasks.ts";
import type { Taker } from "../../../src/orders/fulfilment/fulfilment.ts";
import { dispatch } from "../../../src/orders/fulfilment/order-jobs.ts";
import { lockOrder, transition } from "../../../src/orders/order/order.ts";
import { tasksOfOrder } from "../../../src/upkeep/console/console.ts";
import { type OrderFacts, openOrdersDatabase, silent } from "../order/orders-database.ts";

const orders = await forTests(openOrdersDatabase());

const taken: number[] = [];
let answer: Awaited<ReturnType<Taker["accept"]>> = { outcome: "sent by Lob" };
const labels: Taker = {
  kind: "label_print",
  actor: "provider:lob",
  accept: async (_tx, { id }) => {
    taken.push(id);
    return answer;
  },
};

const idOf = async (code: string): Promise<number> => {
  const [row] = await orders.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  return row?.id ?? 0;
};

const move = (code: string, on: "next_segment" | "held" | "released") =>
  orders.db.transaction(async (tx) => {
    const order = await lockOrder(tx, code);
    assert.ok(order);
    await transition(tx, order, on, { actor: "operator", at: new Date(), log: silent, reason: "x" });
  });

/** An order that has just begun to wait for its label. */
async function waiting(more: Partial<OrderFacts> = {}) {
  answer = { outcome: "sent by Lob" };
  const code = await orders.insert("NotarizationComplete", more);
  await move(code, "next_segment");
  return { code, id: await idOf(code) };
}

const run = (id: number) => dispatch({ db: orders.db, clock: systemClock }, [labels], id);
async function claim(id: number, kind: string) {
  const task = (await tasksOfOrder(orders.db, id)).find((each) => each.kind === kind);
  assert.ok(task);
  await claimTask({ db: orders.db, clock: systemClock }, task.id, "operator:p");
}

const jobsOf = async (code: string) => (await orders.look(code)).jobs.filter((queue) => queue === "dispatch").length;
const tasksOf = async (id: number) =>
  (await tasksOfOrder(orders.db, id)).map(({ kind, state, outcome }) => `${kind} ${state} ${outcome}`);

describe("an order that waits for work that a provider can do", () => {
  test("has a job when it is live, and none when it is a test order", async () => {
    const live = await waiting();
    assert.equal(await jobsOf(live.code), 1);
    const simulated = await waiting({ environment: "test" });
    assert.equal(await jobsOf(simulated.code), 0);
    await run(simulated.id);
    assert.ok(!taken.includes(simulated.id), "not even by a job that somebody made");
  });

  test("is claimed once, which closes its task", async () => {
    const { id } = await waiting({ fax: false });
    await Promise.all([run(id), run(id), run(id)]);
    await run(id);
    assert.equal(taken.filter((each) => each === id).length, 1);
    assert.deepEqual(await tasksOf(id), ["label_print done sent by Lob"]);
  });

  test("is left to the person who has claimed its task", async () => {
    const { id } = await waiting({ fax: false });
    await claim(id, "label_print");
    await run(id);
    assert.ok(!taken.includes(id));
    assert.deepEqual(await tasksOf(id), ["label_print claimed null"]);
  });

  test("is claimed even if a person has claimed its fax, which stays the person's", async () => {
    const { id } = await waiting();
    await claim(id, "fax_send");
    await run(id);
    assert.equal(taken.filter((each) => each === id).length, 1);
    assert.deepEqual((await tasksOf(id)).toSorted(), ["fax_send claimed null", "label_print done sent by Lob"]);
  });

  test("is left to the person who has claimed its task, even if its fax is open", async () => {
    const { id } = await waiting();
    await claim(id, "label_print");
    await run(id);
    assert.ok(!taken.includes(id));
    assert.deepEqual((await tasksOf(id)).toSorted(), ["fax_send open null", "label_print claimed null"]);
  });

  test("stays with people when the provider does not claim it, or works while the task stays open", async () => {
    for (const result of [null, "taskStaysOpen"] as const) {
      const { id } = await waiting({ fax: false });
      answer = result;
      await run(id);
      assert.deepEqual(await tasksOf(id), ["label_print open null"]);
    }
  });

  test("is offered again when a hold ends, and not during it", async () => {
    const { code, id } = await waiting();
    await run(id);
    await move(code, "held");
    await run(id);
    assert.equal(taken.filter((each) => each === id).length, 1);
    await move(code, "released");
    assert.equal(await jobsOf(code), 2);
    await run(id);
    assert.deepEqual(
      (await tasksOf(id)).filter((each) => each.startsWith("label_print open")),
      [],
    );
  });
});
