import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createWorkerPool, largeTaskBytes } from "../../../../src/kernel/platform/workers/pool.ts";
import { type Task, TaskKilled, tooCostly } from "../../../../src/kernel/platform/workers/task.ts";
import type { OddInput, OddOutput } from "./odd-task.ts";

const odd: Task<OddInput, OddOutput> = {
  name: "odd",
  module: import.meta.resolve("./odd-task.ts"),
  limitMs: 60_000,
};
const killedTasks: string[] = [];
const pool = createWorkerPool({
  size: 1,
  heapMb: 64,
  processMb: 2_048,
  onKilled: (task, why) => killedTasks.push(`${task} ${why}`),
});
after(pool.close);

const echo = (text: string, holder = "a") => pool.run(odd, { holder, bytes: Buffer.from(text), input: { do: "echo" } });
const killed = (why: string) => (error: unknown) => error instanceof TaskKilled && error.why === why;

test("a task runs in another thread, which is used again", async () => {
  const first = await echo("first");
  const second = await echo("and second");
  assert.notEqual(first.thread, 0);
  assert.deepEqual(second, { thread: first.thread, text: "and second" });
});

test("a shorter task does not see the bytes of an earlier one", async () => {
  await echo("a long text");
  assert.equal((await echo("short")).text, "short");
  assert.equal((await pool.run(odd, { holder: "a", input: { do: "echo" } })).text, "");
});

test("the input stays unchanged, and belongs to the caller", async () => {
  const bytes = Buffer.alloc(3 * 1024 * 1024, "x");
  const { text } = await pool.run(odd, { holder: "a", bytes, input: { do: "echo" } });
  assert.equal(text.length, bytes.length);
  assert.equal(bytes.toString(), text);
});

test("the caller gets a task's error, and the thread stays", async () => {
  const { thread } = await echo("before");
  await assert.rejects(pool.run(odd, { holder: "a", input: { do: "throw" } }), /as the task says/);
  assert.equal((await echo("after")).thread, thread);
});

for (const [what, input, limitMs] of [
  ["time", { do: "loop" }, 100],
  ["time", { do: "wait", ms: 60_000 }, 100],
  ["memory", { do: "hoard" }, 60_000],
  ["memory", { do: "hoard outside the heap" }, 60_000],
  ["crash", { do: "exit" }, 60_000],
] as const) {
  test(`a task that does ${JSON.stringify(input)} is killed for its ${what}, and another thread replaces it`, async () => {
    const { thread } = await echo("before");
    killedTasks.length = 0;
    const error = await pool.run({ ...odd, limitMs }, { holder: "a", input }).catch((reason: unknown) => reason);
    assert.ok(killed(what)(error), String(error));
    assert.equal(tooCostly(error), what !== "crash");
    const replaced = await echo("after");
    assert.deepEqual([replaced.text, replaced.thread === thread], ["after", false]);
    assert.deepEqual(killedTasks, [`odd ${what}`]);
  });
}

test("a task that waits longer than its processor time, and uses little of it, may end normally", async () => {
  const call = { holder: "a", input: { do: "wait", ms: 250 } as const };
  assert.equal((await pool.run({ ...odd, limitMs: 150 }, call)).text, "");
});

test("an idle thread that ended is replaced", async () => {
  await pool.run(odd, { holder: "a", input: { do: "exit later" } });
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal((await echo("still here")).text, "still here");
});

test("input that cannot be copied is refused, and the next task runs", async () => {
  const input = { do: "echo", with: () => {} } as OddInput;
  await assert.rejects(pool.run(odd, { holder: "a", input }), { name: "DataCloneError" });
  assert.equal((await echo("next")).text, "next");
});

test("firms take turns, however much one of them sends", async () => {
  const order: string[] = [];
  const sent = ["a1", "a2", "a3", "a4", "b1", "c1", "b2"].map((name) =>
    echo(name, name[0]).then(({ text }) => order.push(text)),
  );
  await Promise.all(sent);
  assert.deepEqual(order, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

test("a firm gets at most all threads but one", async () => {
  const two = createWorkerPool({ size: 2, heapMb: 64, processMb: 2_048 });
  const long = () => two.run(odd, { holder: "a", input: { do: "wait", ms: 60_000 } }).catch((error) => error);
  const ofA = [long(), long()];
  assert.equal((await two.run(odd, { holder: "b", input: { do: "echo" } })).text, "");
  await two.close();
  for (const error of await Promise.all(ofA)) assert.ok(killed("closed")(error));
});

test("closing ends running tasks and refuses waiting ones, at once", async () => {
  const closing = createWorkerPool({ size: 1, heapMb: 64, processMb: 2_048 });
  const running = closing.run(odd, { holder: "a", input: { do: "loop" } });
  const waiting = closing.run(odd, { holder: "a", input: { do: "echo" } });
  const ended = Promise.allSettled([running, waiting]);
  const begun = performance.now();
  await closing.close();
  assert.ok(performance.now() - begun < 5_000);
  for (const outcome of await ended) assert.ok(outcome.status === "rejected" && killed("closed")(outcome.reason));
  await assert.rejects(closing.run(odd, { holder: "a", input: { do: "echo" } }), killed("closed"));
});

test("tasks on large documents run one at a time, and do not delay small ones", async () => {
  const two = createWorkerPool({ size: 3, heapMb: 512, processMb: 2_048 });
  const large = Buffer.alloc(largeTaskBytes + 1);
  const ended: string[] = [];
  const run = (name: string, bytes: Buffer, ms: number) =>
    two.run(odd, { holder: name, bytes, input: { do: "wait", ms } }).then(({ thread }) => {
      ended.push(name);
      return thread;
    });
  const threads = await Promise.all([
    run("large", large, 300),
    run("second", large, 1),
    run("small", Buffer.alloc(9), 1),
  ]);
  assert.deepEqual(
    ended.filter((name) => name !== "small"),
    ["large", "second"],
  );
  assert.ok(ended.indexOf("small") < ended.indexOf("second"));
  assert.notEqual(threads[2], threads[0]);
  await two.close();
});

test("a task with much memory is killed when the whole process has too much, and one with little is not", async () => {
  const full = createWorkerPool({ size: 1, heapMb: 4_096, processMb: 1 });
  assert.equal((await full.run(odd, { holder: "a", input: { do: "wait", ms: 300 } })).text, "");
  await assert.rejects(full.run(odd, { holder: "a", input: { do: "hoard outside the heap" } }), killed("memory"));
  await full.close();
});
