import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { newPartner, ownProcess, runCli } from "@signsealship/testing/service";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { sweepExecutions } from "../../../src/orders/playbooks/playbooks.ts";
import { callback, type Execution, openPlaybooksService, start, subject } from "./playbooks-service.ts";

const running = await forTests(openPlaybooksService(ownProcess));
const acme = await newPartner(running.service);

const now = ({ executionName }: Execution) => running.find(executionName);
const ended = { error: "This execution has ended." };

describe("a callback", () => {
  test("with a decision ends the wait with it, once, and returns the subject", async () => {
    const execution = await start(running, acme.headers);
    const first = await callback(running.service, execution, { decision: "approved", more: 1 });
    const { executionName } = execution;
    assert.deepEqual([first.status, first.body], [200, { executionName, outcome: "approved", ...subject }]);
    const again = await callback(running.service, execution, { decision: "rejected" });
    assert.deepEqual([again.status, again.body], [409, ended]);
    const seen = await now(execution);
    assert.deepEqual([seen?.state, seen?.outcome], ["Completed", "approved"]);
  });

  test("without a decision ends it as unspecified", async () => {
    for (const body of [{}, { Decision: "approved" }, { decision: null }, undefined])
      assert.equal(
        (await callback(running.service, await start(running, acme.headers), body)).body["outcome"],
        "unspecified",
      );
  });

  test("accepts numbers and booleans as their text", async () => {
    for (const [decision, outcome] of [
      [0, "0"],
      [false, "false"],
      ["x".repeat(200), "x".repeat(200)],
    ] as const)
      assert.equal(
        (await callback(running.service, await start(running, acme.headers), { decision })).body["outcome"],
        outcome,
      );
  });

  test("that is malformed is refused, and the execution keeps waiting", async () => {
    const execution = await start(running, acme.headers);
    for (const decision of ["", "x".repeat(201), "a\u0000", {}, ["approved"]])
      assert.equal((await callback(running.service, execution, { decision })).status, 400, JSON.stringify(decision));
    for (const body of ["{", "[]", '"approved"', "1"])
      assert.equal((await callback(running.service, execution, body)).status, 400, body);
    const form = await callback(running.service, execution, "decision=approved", "application/x-www-form-urlencoded");
    assert.equal(form.status, 415);
    assert.equal((await now(execution))?.state, "Waiting");
  });

  test("with an unknown token gets a 404; the execution's name is not a token", async () => {
    const { executionName } = await start(running, acme.headers);
    for (const token of ["0".repeat(40), executionName.split("/")[1] ?? "", "x", "%00"])
      assert.deepEqual(
        await callback(running.service, { callbackUrl: `http://x/internal/playbooks/${token}` } as Execution, {}),
        { status: 404, body: { error: "Not found." } },
      );
  });

  test("does not appear in stored or logged data", async () => {
    const execution = await start(running, acme.headers);
    const token = execution.callbackUrl.split("/").at(-1) ?? "";
    assert.match(token, /^[0-9a-f]{40}$/);
    await callback(running.service, execution, {});
    for (const table of [sql`playbook_executions`, sql`audit_log`]) {
      const rows = await running.db.query<{ text: string }>(sql`SELECT t::text AS text FROM ${table} t`);
      assert.ok(rows.length > 0 && rows.every(({ text }) => !text.includes(token)));
    }
    assert.ok(!running.service.stderr().includes(token));
  });
});

describe("the operator", () => {
  test("sees waiting executions and decides by name; the decision is in the audit log", async () => {
    const execution = await start(running, acme.headers);
    const { executionName } = execution;
    const list = async (...more: string[]) =>
      (await running.service.cli<{ executions: Execution[] }>("playbook", "list", "--limit", "1000", ...more))
        .executions;
    const shown = (await list()).find((each) => each.executionName === executionName);
    assert.deepEqual([shown?.state, shown?.kind], ["Waiting", "closing"]);
    assert.equal(new URL(shown?.callbackUrl ?? "").pathname, new URL(execution.callbackUrl).pathname);
    const answer = await running.service.cli("playbook", "decide", executionName, "approved");
    assert.deepEqual(answer, { executionName, outcome: "approved", ...subject });
    assert.ok(!(await list()).some((each) => each.executionName === executionName));
    assert.equal((await list("--all")).find((each) => each.executionName === executionName)?.outcome, "approved");
    assert.equal((await callback(running.service, execution, { decision: "rejected" })).status, 409);
    const [line] = await running.db.query<{ actor: string; detail: object }>(sql`
      SELECT actor, detail FROM audit_log WHERE action = 'playbook.decided' ORDER BY id DESC LIMIT 1`);
    assert.deepEqual(line, { actor: "operator", detail: { executionName, outcome: "approved" } });
  });

  test("is refused for an ended or unknown execution, an empty decision and a wrong limit", async () => {
    const env = { DATA_DIR: running.service.dataDir };
    const { executionName } = await start(running, acme.headers);
    await running.service.cli("playbook", "decide", executionName, "approved");
    for (const [code, message, ...args] of [
      [1, "This execution has ended.", "playbook", "decide", executionName, "approved"],
      [1, "No such execution in ", "playbook", "decide", "executions/nope", "approved"],
      [1, "No such execution in ", "playbook", "decide", "00000000-0000-4000-8000-000000000000", "approved"],
      [1, "decision must be a text of 1 to 200 characters.", "playbook", "decide", executionName, ""],
      [2, "--limit must be a number from 1 to 10000", "playbook", "list", "--limit", "0"],
    ] as const) {
      const ran = await runCli(env, ...args);
      assert.equal(ran.code, code);
      assert.ok(ran.stderr.includes(message), ran.stderr);
    }
  });
});

test("of many concurrent decisions on two nodes, one counts", async () => {
  const second = await running.second();
  try {
    for (let round = 0; round < 3; round++) {
      const execution = await start(running, acme.headers);
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, n) =>
          callback(n % 2 === 0 ? running.service : second, execution, { decision: `by ${n}` }),
        ),
      );
      const taken = answers.filter(({ status }) => status === 200);
      assert.equal(taken.length, 1);
      assert.ok(answers.every(({ status }) => status === 200 || status === 409));
      assert.equal((await now(execution))?.outcome, taken[0]?.body["outcome"]);
      const lines = await running.db.query(sql`
        SELECT FROM audit_log WHERE detail->>'executionName' = ${execution.executionName}
          AND action <> 'playbook.run'`);
      assert.equal(lines.length, 1);
    }
  } finally {
    await second.stop();
  }
});

describe("expiry", () => {
  const day = 86_400_000;

  test("ends executions that waited 30 days, to the instant, and no others", async () => {
    const execution = await start(running, acme.headers);
    const expiresAt = Date.parse(execution.expiresAt);
    await sweepExecutions(running.db, new Date(expiresAt - 1));
    assert.equal((await now(execution))?.state, "Waiting");
    await sweepExecutions(running.db, new Date(expiresAt));
    assert.equal((await now(execution))?.outcome, "expired");
    assert.deepEqual((await callback(running.service, execution, { decision: "late" })).body, ended);
    assert.equal((await now(execution))?.outcome, "expired");
  });

  test("a decision after the expiry is refused, whether or not the sweep has run", async () => {
    const execution = await start(running, acme.headers);
    await running.db.query(sql`
      UPDATE playbook_executions SET expires_at = now() - interval '1 s'
      WHERE id = ${execution.executionName.split("/")[1]}`);
    assert.equal((await callback(running.service, execution, { decision: "late" })).status, 409);
    assert.equal(await sweepExecutions(running.db, new Date()), 1);
  });

  test("10,000 waiting executions are ended by one sweep, each once however many nodes sweep during decisions", async () => {
    await sweepExecutions(running.db, new Date(Date.now() + 60 * day));
    await running.db.query(sql`
      INSERT INTO playbook_executions (id, partner_id, environment, playbook, arguments, callback_sha256, started_at,
        expires_at)
      SELECT gen_random_uuid(), ${acme.partnerId}, 'test', 'approval_gate', '{"kind": "k", "subjectId": "s"}',
        sha256(n::text::bytea), now(), now() + interval '30 days' FROM generate_series(1, 10000) n`);
    const [waiting] = await running.db.query<{ n: number }>(sql`
      SELECT count(*) AS n FROM playbook_executions WHERE outcome IS NULL`);
    assert.equal(waiting?.n, 10_000);
    const extra = await start(running, acme.headers);
    const later = new Date(Date.now() + 31 * day);
    const [decided, ...swept] = await Promise.all([
      callback(running.service, extra, { decision: "approved" }),
      ...Array.from({ length: 4 }, () => sweepExecutions(running.db, later)),
    ]);
    const total = swept.reduce((sum, each) => sum + each, 0);
    assert.equal(total, decided?.status === 200 ? 10_000 : 10_001);
    const [row] = await running.db.query<{ left: number; lines: number }>(sql`
      SELECT (SELECT count(*) FROM playbook_executions WHERE outcome IS NULL) AS left,
        (SELECT count(*) - count(DISTINCT detail->>'executionName') FROM audit_log
          WHERE action = 'playbook.expired') AS lines`);
    assert.deepEqual(row, { left: 0, lines: 0 });
  });
});

test("a wait survives a killed service: its callback stays valid and ends it after the start", async () => {
  const execution = await start(running, acme.headers);
  await running.service.kill();
  running.service = await running.service.restart();
  const { status, body } = await callback(running.service, execution, { decision: "approved" });
  assert.deepEqual([status, body["outcome"]], [200, "approved"]);
});
