import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { maskCodes } from "../../../src/kernel/platform/logs.ts";

const logs = fileURLToPath(new URL("../../../src/kernel/platform/logs.ts", import.meta.url));

const opening = `const { openLog } = await import(${JSON.stringify(logs)});
  const log = openLog("info");`;

/** Runs a script that can use `log`. @returns its exit code, and the lines on its standard error. */
function run(script: string) {
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", opening + script], {
    encoding: "utf8",
  });
  return { status, lines: stderr.split("\n").filter((line) => line.startsWith("{")) };
}

describe("the log on standard error", () => {
  test("contains no complete code or email address of an error", () => {
    const message = `to dora@example.com of order ${"0a".repeat(20)}`;
    const { lines } = run(`log.warn({ err: new Error(${JSON.stringify(message)}) }, "failed");`);
    assert.match(lines[0] ?? "", /to d\*\*\*@example\.com of order 0a0a0a…/);
    for (const secret of ["dora", "0a".repeat(20)]) assert.equal(lines[0]?.includes(secret), false);
  });

  const many = `for (let n = 0; n < 500; n++) log.info({ n }, "line");`;
  const ends = [
    ["by itself", "", 0],
    ["by an exit", "process.exit(3);", 3],
    ["by an exception", "throw new Error('gone');", 1],
  ] as const;
  for (const [how, end, code] of ends)
    test(`has every line when the process ends ${how}`, () => {
      const { status, lines } = run(many + end);
      assert.equal(status, code);
      const numbers = lines.map((line) => (JSON.parse(line) as { n: number }).n);
      // At exit, the last lines may be written before an earlier batch is finished.
      if (end !== "") numbers.sort((a, b) => a - b);
      assert.deepEqual(
        numbers,
        Array.from({ length: 500 }, (_, n) => n),
      );
    });

  test("is written while the process runs", async () => {
    const script = `${opening} log.info("first"); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const [chunk] = (await once(child.stderr, "data")) as [Buffer];
    assert.match(chunk.toString(), /"msg":"first"/);
    child.kill("SIGKILL");
    await once(child, "exit");
  });

  test("is complete even if its reader had stopped reading for a while", async () => {
    const script = `${opening} for (let n = 0; n < 5000; n++) log.info({ n }, "line");
      setTimeout(() => log.info("last"), 150); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    await setTimeout(600);
    let text = "";
    for await (const chunk of child.stderr.setEncoding("utf8")) {
      text += chunk;
      if (text.includes('"msg":"last"')) child.kill("SIGKILL");
    }
    assert.equal(text.match(/"msg":"line"/g)?.length, 5000);
  });

  test("makes no system call while nobody writes to it", () => {
    const { lines } = run(`
      const { createHook } = await import("node:async_hooks");
      const { setTimeout } = await import("node:timers/promises");
      log.info("first");
      await setTimeout(300);
      const asked = new Set();
      createHook({ init: (_id, type) => asked.add(type) }).enable();
      await setTimeout(300);
      log.info({ asked: [...asked] }, "second");`);
    assert.equal(JSON.parse(lines[1] ?? "{}").asked.includes("FSREQCALLBACK"), false);
  });

  test("contains the time in UTC, and only the message of an error", () => {
    const { lines } = run(
      `const before = Date.now(); log.error({ err: Object.assign(new Error("no", { cause: new Error("why") }), { client: { password: "p" } }) }, "failed");
       const after = Date.now(); log.info({ before, after }, "times");`,
    );
    const [failed = "", times = ""] = lines;
    const { time, level, err, msg } = JSON.parse(failed) as {
      time: string;
      level: number;
      msg: string;
      err: { message: string; cause: { message: string } };
    };
    const { before, after } = JSON.parse(times) as { before: number; after: number };
    assert.equal(new Date(time).toISOString(), time);
    assert.ok(before <= Date.parse(time) && Date.parse(time) <= after);
    assert.deepEqual([level, msg, err.message, err.cause.message], [50, "failed", "no", "why"]);
    assert.equal(failed.includes("password"), false);
  });
});

describe("masking", () => {
  test("shows six characters of each kind of code, and nothing of keys and secrets", () => {
    const hex = "0123456789abcdef01234567";
    const verify = "abcdefghijklmnopqrstuvwxyz";
    assert.equal(maskCodes(`/orders/${hex}/x`), "/orders/012345…/x");
    assert.equal(maskCodes(`/verify/${verify}`), "/verify/abcdef…");
    assert.equal(
      maskCodes(`key svc_pk_test_${"a".repeat(52)} and svc_whsec_${"b".repeat(52)}`),
      "key svc_*** and svc_***",
    );
    assert.equal(maskCodes("/svc_pk_ab"), "/svc_***");
    for (const kept of ["/api/partner/orders", `/x/${hex.slice(1)}`, `/x/${verify}a`, "/svc_/svc_other"])
      assert.equal(maskCodes(kept), kept);
  });

  test("finds in a short text the same codes as in a long one", () => {
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom("svc_pk_a", "svc_whsec_7", "svc_", "0".repeat(23), "z".repeat(22)),
    );
    const padding = ` ${"-".repeat(24)}`;
    fc.assert(
      fc.property(fc.array(word, { maxLength: 3 }), (words) => {
        const text = words.join("/").slice(0, 23);
        assert.equal(maskCodes(text) + padding, maskCodes(text + padding));
      }),
    );
  });
});
