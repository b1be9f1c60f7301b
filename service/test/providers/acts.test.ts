import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { authenticateOrders, changeRowsOf } from "@signsealship/testing/row-mac";
import { columnCipher } from "../../src/kernel/platform/column-cipher.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { secretBytes } from "../../src/kernel/platform/secrets.ts";
import { claimTask, openTask, resumeTasks, taskState } from "../../src/kernel/tasks/tasks.ts";
import {
  type Call,
  requireNoActUnderWay,
  resumeStranded,
  sweepProviderRecords,
} from "../../src/providers/providers.ts";
import { callColumn } from "../../src/providers/sealed-json.ts";
import { rotateValues } from "../../src/upkeep/secrets-rotation/values.ts";
import { apiKey, openWorld } from "./act-world.ts";

const cuts = Number(process.env["CUTS"] ?? 6);

const world = await forTests(openWorld());

const madeOf = (reference: string): number => world.things.made.filter((each) => each === reference).length;
const settledOf = (orderId: number): string[] =>
  world.settled.filter((each) => each.startsWith(`${orderId} `)).map((each) => each.split(" ").slice(1).join(" "));

describe("an act", () => {
  test("is performed once, and settled in the transaction of its end", async () => {
    const { providers, run } = world.openNode();
    const { id, orderId, reference } = await world.intend(providers);
    await run(id);
    await run(id);
    assert.equal(madeOf(reference), 1);
    assert.equal(await world.stateOf(id), "done");
    assert.match(settledOf(orderId).join(), /^done thing_\d+$/);
    const [row] = await world.orders.db.query<{ payload: Buffer; request: string; answer: string }>(sql`
      SELECT payload, request_sha256 AS request, answer_sha256 AS answer FROM provider_calls WHERE id = ${id}`);
    assert.ok(!row?.payload.toString("latin1").includes("Jane Roe"), "the payload is encrypted at rest");
    assert.match(`${row?.request} ${row?.answer}`, /^[0-9a-f]{64} [0-9a-f]{64}$/);
  });

  test("is intended once for an order and attempt", async () => {
    const { providers } = world.openNode();
    const { orderId } = await world.intend(providers);
    const again = {
      act: "thing.make",
      provider: "lob",
      orderId,
      attempt: 1,
      payload: {},
      at: world.state.now,
    } as const;
    await world.orders.db.transaction((tx) => providers.intend(tx, again));
    const rows = await world.orders.db.query(sql`SELECT FROM provider_calls WHERE order_id = ${orderId}`);
    assert.equal(rows.length, 1);
  });

  test(`that was cut after it was performed is found, not repeated: ${cuts} times`, async () => {
    for (let n = 0; n < cuts; n++) {
      const { providers, run } = world.openNode();
      const { id, reference, orderId } = await world.intend(providers);
      world.things.fail(true, (["cut", "garbage", { status: 500 }, "redirect"] as const)[n % 4] ?? "cut");
      await run(id);
      assert.equal(await world.stateOf(id), "begun");
      await run(id);
      assert.equal(madeOf(reference), 1, "it is not looked up before its time, and not begun again");
      world.pass(21);
      await run(id);
      assert.equal(await world.stateOf(id), "done");
      assert.equal(madeOf(reference), 1);
      assert.match(settledOf(orderId).join(), /^done thing_\d+$/);
    }
  });

  test("that was cut before it was performed begins again, once that is certain", async () => {
    const { providers, run } = world.openNode();
    const { id, reference } = await world.intend(providers);
    world.things.fail(false, "cut");
    await run(id);
    world.pass(21);
    await run(id);
    assert.equal(await world.stateOf(id), "intended");
    await run(id);
    assert.equal(madeOf(reference), 1);
    assert.equal(await world.stateOf(id), "done");
  });

  test("that hangs ends at its time-out, and is looked up", async () => {
    const { providers, run } = world.openNode(undefined, 50);
    const { id, reference } = await world.intend(providers);
    world.things.fail(true, "hang");
    await run(id);
    world.pass(21);
    await run(id);
    assert.equal(madeOf(reference), 1);
    assert.equal(await world.stateOf(id), "done");
  });

  test("of a killed node is looked up by another", async () => {
    const killed = world.openNode(undefined, 500);
    const { id, reference } = await world.intend(killed.providers);
    world.things.fail(true, "hang");
    const never = killed.run(id);
    while (madeOf(reference) === 0) await new Promise((resolve) => setImmediate(resolve));
    const other = world.openNode();
    await other.run(id);
    assert.equal(await world.stateOf(id), "begun", "it may still be on its way");
    world.pass(21);
    await other.run(id);
    assert.equal(await world.stateOf(id), "done");
    assert.equal(madeOf(reference), 1);
    // The response to the request arrives too late, and changes nothing.
    await never;
    assert.equal(await world.stateOf(id), "done");
  });

  for (const taken of [true, false])
    test(`whose files took too long sends nothing${taken ? ": another node has done it" : ", and begins again"}`, async () => {
      const slow = world.openNode();
      const { id, reference } = await world.intend(slow.providers);
      const ready = Promise.withResolvers<void>();
      const reading = Promise.withResolvers<void>();
      world.state.files = () => {
        reading.resolve();
        return ready.promise;
      };
      const held = slow.run(id);
      await reading.promise;
      world.state.files = async () => {};
      world.pass(21);
      const other = world.openNode();
      if (taken) for (let n = 0; n < 2; n++) await other.run(id);
      assert.equal(madeOf(reference), taken ? 1 : 0);
      ready.resolve();
      await held;
      assert.equal(await world.stateOf(id), taken ? "done" : "intended");
      assert.equal(madeOf(reference), taken ? 1 : 0);
      await other.run(id);
      assert.equal(await world.stateOf(id), "done");
      assert.equal(madeOf(reference), 1);
    });

  test("that fails before its request is tried five times, and has failed with its message", async () => {
    const { providers, run } = world.openNode();
    const { id, orderId, reference } = await world.intend(providers);
    world.state.files = () => Promise.reject(new Error("the file can't be read"));
    for (let n = 0; n < 4; n++) await run(id);
    assert.equal(await world.stateOf(id), "intended");
    await run(id);
    world.state.files = async () => {};
    assert.equal(await world.stateOf(id), "failed");
    assert.deepEqual(settledOf(orderId), ["failed the file can't be read"]);
    assert.equal(madeOf(reference), 0);
  });

  test("that was cut once after its provider was unreachable for long begins again", async () => {
    const { providers, run } = world.openNode();
    const { id, reference } = await world.intend(providers);
    world.things.fail(false, ...Array.from({ length: 8 }, () => ({ status: 402 })), "cut");
    for (let n = 0; n < 8; n++) {
      await run(id);
      world.pass(120);
    }
    await run(id);
    assert.equal(await world.stateOf(id), "begun");
    world.pass(62);
    await run(id);
    assert.equal(await world.stateOf(id), "intended");
    await run(id);
    assert.equal(await world.stateOf(id), "done");
    assert.equal(madeOf(reference), 1);
  });

  test("that was cut five times without effect has failed", async () => {
    const { providers, run } = world.openNode();
    const { id, orderId } = await world.intend(providers);
    for (let n = 0; n < 5; n++) {
      world.things.fail(false, "cut");
      await run(id);
      world.pass(62);
      await run(id);
    }
    assert.equal(await world.stateOf(id), "failed");
    assert.deepEqual(settledOf(orderId), ["failed Lob was asked 5 times and did nothing"]);
  });

  test("that was refused has failed with the provider's words, without the key", async () => {
    const { providers, run } = world.openNode();
    const { id, orderId } = await world.intend(providers);
    world.things.fail(false, { status: 422 });
    await run(id);
    assert.equal(await world.stateOf(id), "failed");
    assert.deepEqual(settledOf(orderId), ["failed no: Bearer ***"]);
    const rows = await world.orders.db.query(sql`SELECT why FROM provider_calls WHERE id = ${id}`);
    assert.ok(!JSON.stringify(rows).includes(apiKey));
  });

  test("is performed once by ten concurrent workers", async () => {
    const nodes = Array.from({ length: 10 }, () => world.openNode());
    const first = nodes[0];
    assert.ok(first);
    const { id, reference } = await world.intend(first.providers);
    await Promise.all(nodes.map(({ run }) => run(id)));
    assert.equal(madeOf(reference), 1);
    assert.equal(await world.stateOf(id), "done");
  });

  test("that is no longer needed is withdrawn before it begins", async () => {
    const { providers, run } = world.openNode();
    const { id, reference, orderId } = await world.intend(providers);
    world.state.wanted = false;
    await run(id);
    world.state.wanted = true;
    assert.equal(await world.stateOf(id), "withdrawn");
    assert.equal(madeOf(reference), 0);
    assert.deepEqual(settledOf(orderId), []);
  });
});

describe("an unreachable provider", () => {
  for (const fault of [
    { status: 401 },
    { status: 402 },
    { status: 403 },
    { status: 429, headers: { "retry-after": "120" } },
  ] as const)
    test(`with ${fault.status} is tried again, and people take over after half an hour`, async () => {
      const { providers, run } = world.openNode();
      const { id, orderId, reference } = await world.intend(providers);
      world.things.fail(false, fault, fault, fault, fault);
      await run(id);
      assert.equal(await world.stateOf(id), "intended");
      const { isPaused } = providers.accounts()[0]?.caller.health() ?? {};
      assert.equal(isPaused, fault.status !== 402, "who is refused once is refused everything");
      assert.deepEqual(await world.tasksOf(orderId), []);
      world.pass(31 * 60);
      await run(id);
      assert.deepEqual(await world.tasksOf(orderId), ["packet_print open"]);
      world.things.fail(false);
      world.pass(121);
      await run(id);
      assert.equal(await world.stateOf(id), "done");
      assert.equal(madeOf(reference), 1);
      assert.deepEqual(await world.tasksOf(orderId), ["packet_print done"]);
    });

  test("is not asked again before the time that it stated", async () => {
    const { providers, run } = world.openNode();
    const { id, reference } = await world.intend(providers);
    world.things.fail(false, { status: 429, headers: { "retry-after": "60" } });
    await run(id);
    world.pass(30);
    await run(id);
    assert.equal(madeOf(reference), 0);
    const [job] = await world.orders.db.query<{ inSeconds: number }>(sql`
      SELECT extract(epoch FROM max(due_at) - now())::int AS "inSeconds" FROM jobs WHERE payload ->> 'intentId' = ${String(id)}`);
    assert.ok((job?.inSeconds ?? 0) >= 29);
    world.pass(31);
    await run(id);
    assert.equal(madeOf(reference), 1);
  });

  test("keeps the hashes of the last request that was sent when the provider's pause holds back the next one", async () => {
    const { providers, run } = world.openNode();
    const [paused, other] = [await world.intend(providers), await world.intend(providers)];
    const hashes = async () => {
      const [row] = await world.orders.db.query<{ request: string | null; answer: string | null }>(sql`
        SELECT request_sha256 AS request, answer_sha256 AS answer FROM provider_calls WHERE id = ${paused.id}`);
      return row;
    };
    world.things.fail(false, { status: 429 });
    await run(paused.id);
    const sent = await hashes();
    assert.match(`${sent?.request} ${sent?.answer}`, /^[0-9a-f]{64} [0-9a-f]{64}$/);
    world.pass(61);
    // While the act prepares its files, the provider refuses another act's request, and demands a wait.
    world.state.files = async () => {
      world.state.files = async () => {};
      world.things.fail(false, { status: 429, headers: { "retry-after": "60" } });
      await run(other.id);
    };
    await run(paused.id);
    assert.equal(await world.stateOf(paused.id), "intended");
    assert.deepEqual(await hashes(), sent);
    world.pass(61);
    await run(paused.id);
    assert.equal(await world.stateOf(paused.id), "done");
  });

  test("that refuses connections has done nothing, and the breaker opens", async () => {
    const { providers, run } = world.openNode(`http://127.0.0.1:${await freePort()}`);
    const { id } = await world.intend(providers);
    for (let n = 0; n < 6; n++) await run(id);
    assert.equal(await world.stateOf(id), "intended");
    assert.equal(providers.accounts()[0]?.caller.health().isPaused, true);
    const elsewhere = world.openNode();
    await elsewhere.run(id);
    assert.equal(await world.stateOf(id), "done");
  });

  test("is asked again by the same node, once the breaker's pause is over", async () => {
    const { providers, run } = world.openNode();
    const { id, reference } = await world.intend(providers);
    world.things.fail(false, ...Array.from({ length: 5 }, () => ({ status: 429 })));
    for (let n = 0; n < 5; n++) await run(id);
    assert.equal(providers.accounts()[0]?.caller.health().isPaused, true);
    await run(id);
    assert.equal(madeOf(reference), 0);
    world.pass(61);
    await run(id);
    assert.equal(madeOf(reference), 1);
    assert.equal(await world.stateOf(id), "done");
  });

  test("is asked again after a request that could not be built", async () => {
    const { providers, run } = world.openNode();
    const { id, reference } = await world.intend(providers);
    world.things.fail(false, { status: 401 });
    await run(id);
    world.pass(61);
    const unreadable = { method: "POST", path: "/things", body: Symbol() as unknown as string } as const;
    await assert.rejects(providers.callOf("lob")(unreadable), TypeError);
    world.pass(61);
    await run(id);
    assert.equal(madeOf(reference), 1);
  });

  test("leaves the work to the person who has claimed it", async () => {
    const { providers, run } = world.openNode(`http://127.0.0.1:${await freePort()}`);
    const { id, orderId, reference } = await world.intend(providers);
    await run(id);
    world.pass(31 * 60);
    await run(id);
    const [task] = await world.orders.db.query<{ id: number }>(sql`SELECT id FROM tasks WHERE order_id = ${orderId}`);
    await claimTask({ db: world.orders.db, clock: () => world.state.now }, task?.id ?? 0, "operator:p");
    const back = world.openNode();
    await back.run(id);
    assert.equal(await world.stateOf(id), "withdrawn");
    assert.equal(madeOf(reference), 0);
    assert.deepEqual(await world.tasksOf(orderId), ["packet_print claimed"]);
  });
});

describe("people and a provider", () => {
  test("never do the same work at once: nobody can claim the task while the act is under way", async () => {
    const { providers, run } = world.openNode(`http://127.0.0.1:${await freePort()}`);
    const { id, orderId } = await world.intend(providers);
    await run(id);
    world.pass(31 * 60);
    await run(id);
    assert.deepEqual(await world.tasksOf(orderId), ["packet_print open"]);
    const back = world.openNode();
    world.things.fail(true, "cut");
    await back.run(id);
    assert.deepEqual(await world.tasksOf(orderId), ["packet_print paused"]);
    const [task] = await world.orders.db.query<{ id: number }>(sql`SELECT id FROM tasks WHERE order_id = ${orderId}`);
    const claim = claimTask({ db: world.orders.db, clock: () => world.state.now }, task?.id ?? 0, "operator:p");
    await assert.rejects(claim, /a provider is doing its work/);
    world.pass(21);
    await back.run(id);
    assert.deepEqual(await world.tasksOf(orderId), ["packet_print done"]);
  });
});

describe("a hold", () => {
  test("that begins while an act is under way ends with one open task", async () => {
    const away = world.openNode(`http://127.0.0.1:${await freePort()}`);
    const { id, orderId } = await world.intend(away.providers);
    await away.run(id);
    world.pass(31 * 60);
    await away.run(id);
    const { db } = world.orders;
    const status = async (to: string) => {
      await db.query(sql`UPDATE orders SET status = ${to} WHERE id = ${orderId}`);
      await authenticateOrders(db, sql`id = ${orderId}`);
    };
    // The hold begins while the next attempt waits for its files.
    world.state.files = async () => {
      assert.deepEqual(await world.tasksOf(orderId), ["packet_print paused"]);
      await status("OnHold");
    };
    world.pass(61);
    await away.run(id);
    world.state.files = async () => {};
    assert.deepEqual(await world.tasksOf(orderId), ["packet_print paused"]);
    await status("ShippingPending");
    await db.transaction((tx) => resumeTasks(tx, orderId));
    assert.deepEqual(await world.tasksOf(orderId), ["packet_print open"]);
  });

  test("ends even if a task of the kind was opened meanwhile", async () => {
    const { providers } = world.openNode();
    const { orderId } = await world.intend(providers);
    const { db } = world.orders;
    const task = { kind: "packet_print", at: world.state.now, environment: "live", orderId } as const;
    for (const leave of ["paused", "paused", "open"]) {
      await db.transaction((tx) => openTask(tx, task));
      await changeRowsOf(db, taskState, sql`order_id = ${orderId} AND state = 'open'`, sql`state = ${leave}`);
    }
    await db.transaction((tx) => resumeTasks(tx, orderId));
    const states = await world.tasksOf(orderId);
    assert.equal(states.filter((each) => each === "packet_print open").length, 1);
  });
});

describe("an act whose job is missing", () => {
  const jobsOf = (id: number) =>
    world.orders.db.query(sql`
      SELECT FROM jobs WHERE queue = 'provider-act-lob' AND payload ->> 'intentId' = ${String(id)} AND failed_at IS NULL`);
  const takeUp = () => resumeStranded({ db: world.orders.db, clock: () => world.state.now });

  test("is resumed, and a person may record its outcome", async () => {
    const { providers, run } = world.openNode();
    const { id, orderId } = await world.intend(providers);
    await takeUp();
    assert.equal((await jobsOf(id)).length, 1, "what has its job is left alone");
    world.state.broken = new Error("the order does not fit");
    await assert.rejects(run(id), /does not fit/);
    await world.orders.db.query(sql`UPDATE jobs SET failed_at = now() WHERE payload ->> 'intentId' = ${String(id)}`);
    await takeUp();
    assert.equal((await jobsOf(id)).length, 1);
    assert.deepEqual(await world.tasksOf(orderId), []);
    world.state.broken = null;
    const which = { orderId, intentId: id };
    await assert.rejects(providers.resolve(which, null, "operator:p"), /known already/);
    world.pass(3_700);
    await takeUp();
    await takeUp();
    assert.deepEqual(await world.tasksOf(orderId), ["provider_unclear open"]);
    await providers.resolve(which, { id: "thing_by_phone", tracking: null }, "operator:p");
    assert.equal(await world.stateOf(id), "done");
    assert.deepEqual(await world.tasksOf(orderId), ["provider_unclear done"]);
  });
});

describe("an act with an unknown outcome", () => {
  async function unclear() {
    const { providers, run } = world.openNode();
    const intent = await world.intend(providers);
    world.things.fail(true, "cut");
    await run(intent.id);
    world.state.found = "unclear";
    for (let n = 0; n < 6; n++) {
      world.pass(16 * 60);
      await run(intent.id);
    }
    world.state.found = true;
    return { ...intent, providers, run };
  }

  test("is a task, and nobody can move the order by hand meanwhile", async () => {
    const { id, orderId } = await unclear();
    assert.equal(await world.stateOf(id), "unknown");
    assert.deepEqual(await world.tasksOf(orderId), ["provider_unclear open"]);
    await assert.rejects(requireNoActUnderWay(world.orders.db, orderId), /Nobody knows yet whether Lob did this/);
    assert.deepEqual(settledOf(orderId), ["unclear the list is late"]);
  });

  test("ends when a person records that it was done", async () => {
    const { id, orderId, providers, reference } = await unclear();
    const which = { orderId, intentId: id };
    await assert.rejects(providers.resolve(which, { id: "", tracking: null }, "operator:p"), /1 to 200 characters/);
    await providers.resolve(which, { id: "thing_by_phone", tracking: null }, "operator:p");
    assert.equal(await world.stateOf(id), "done");
    assert.deepEqual(await world.tasksOf(orderId), ["provider_unclear done"]);
    assert.equal(settledOf(orderId).at(-1), "done thing_by_phone");
    assert.equal(madeOf(reference), 1);
    await requireNoActUnderWay(world.orders.db, orderId);
    await assert.rejects(providers.resolve(which, null, "operator:p"), /known already/);
  });

  test("ends when a person records that it was not done", async () => {
    const { id, orderId, providers } = await unclear();
    await assert.rejects(providers.resolve({ orderId: orderId + 1, intentId: id }, null, "operator:p"), /No such act/);
    await providers.resolve({ orderId, intentId: id }, null, "operator:p");
    assert.equal(await world.stateOf(id), "failed");
    assert.equal(settledOf(orderId).at(-1), "failed A person found that it was not done.");
  });

  test("can only be recorded by the person who has claimed its task", async () => {
    const { id, orderId, providers } = await unclear();
    const claimed = sql`state = 'claimed', claimed_by = 'operator:q', claimed_at = now()`;
    await changeRowsOf(world.orders.db, taskState, sql`order_id = ${orderId}`, claimed);
    await assert.rejects(providers.resolve({ orderId, intentId: id }, null, "operator:p"), /Somebody else/);
  });

  test("ends by itself when a later look-up finds it", async () => {
    const { id, orderId, run, reference } = await unclear();
    world.pass(3_601);
    await run(id);
    assert.equal(await world.stateOf(id), "done");
    assert.deepEqual(await world.tasksOf(orderId), ["provider_unclear done"]);
    assert.equal(madeOf(reference), 1);
  });

  test("ends by an event that shows its outcome", async () => {
    const { id, orderId, providers } = await unclear();
    const which = { act: "thing.make", orderId, attempt: 1 };
    const end = { kind: "done", result: { id: "thing_by_event" } } as const;
    assert.equal(await world.orders.db.transaction((tx) => providers.conclude(tx, which, end)), true);
    assert.equal(await world.orders.db.transaction((tx) => providers.conclude(tx, which, end)), false);
    assert.equal(await world.stateOf(id), "done");
    assert.equal(settledOf(orderId).at(-1), "done thing_by_event");
  });
});

describe("the record of requests to a provider", () => {
  test("is re-encrypted under a new key, and deleted when it is old: its hashes stay", async () => {
    const { db } = world.orders;
    const { providers, run } = world.openNode();
    const { id } = await world.intend(providers);
    world.things.fail(false, { status: 422 });
    await run(id);
    const next = secretBytes(Buffer.alloc(32, 8), [secretBytes(Buffer.alloc(32, 7))]);
    assert.ok((await rotateValues(db, next)) >= 40, "payloads and results, page by page");
    assert.equal(await rotateValues(db, next), 0);
    const keyOnly = columnCipher(secretBytes(Buffer.alloc(32, 8)), callColumn);
    const row = async () => {
      const [found] = await db.query<{ payload: Buffer | null; why: string | null; context: string; hash: string }>(sql`
        SELECT payload, why, act || ':' || order_id || ':' || attempt AS context, request_sha256 AS hash
        FROM provider_calls WHERE id = ${id}`);
      return found ?? assert.fail("there is no such row");
    };
    const before = await row();
    assert.match(keyOnly.decrypt(before.payload ?? Buffer.alloc(0), before.context).toString(), /Jane Roe/);
    await sweepProviderRecords(db, world.state.now);
    assert.ok((await row()).payload, "what ended just now stays");
    world.pass(1);
    await sweepProviderRecords(db, world.state.now);
    const { payload, why, hash } = await row();
    assert.deepEqual([payload, why], [null, null]);
    assert.match(hash, /^[0-9a-f]{64}$/);
  });
});

test("requests that people wait for have their own breaker: other failing requests do not stop them", async () => {
  const { providers } = world.openNode();
  const ask = (call: Call, path: string) => call({ method: "POST", path, body: '{"reference":"x"}' });
  world.things.fail(false, ...Array<"cut">(5).fill("cut"));
  const call = providers.callOf("lob");
  for (let n = 0; n < 5; n++) assert.equal((await ask(call, "/things")).kind, "unknown");
  assert.equal((await ask(call, "/things")).kind, "unavailable");
  assert.equal((await ask(providers.separateCallOf("lob"), "/things")).kind, "answered");
});
