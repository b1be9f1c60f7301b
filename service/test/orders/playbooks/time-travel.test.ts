import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, runCli } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { makeOperatorLink } from "../../../src/firms/members/sign-in/sign-in.ts";
import { readConfig } from "../../../src/kernel/config/config.ts";
import { clockAhead } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openSecretsKey } from "../../../src/kernel/platform/secrets.ts";
import { cookieIn, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { callback, type Execution, openPlaybooksService, start } from "./playbooks-service.ts";

const day = 86_400;
const beyond = 30 * day + 60;

const running = await forTests(openPlaybooksService());
const acme = await newPartner(running.service);

/** Restarts the service with its clock this many seconds ahead. */
async function travel(seconds: number): Promise<void> {
  await running.service.stop();
  running.service = await running.service.restart({ NODE_ENV: "test", TIME_TRAVEL: String(seconds) });
}

const found = ({ executionName }: Execution) => running.find(executionName);
const decide = (execution: Execution) => callback(running.service, execution, { decision: "approved" });
const ended = { error: "This execution has ended." };

describe("a service whose clock runs ahead", () => {
  test("accepts a decision on the 29th day, and has expired those over 30 days old when it is started", async () => {
    const [early, late] = [await start(running, acme.headers), await start(running, acme.headers)];
    await travel(29 * day);
    assert.equal((await decide(early)).status, 200);
    const young = await start(running, acme.headers);
    assert.ok(Date.parse(young.startedAt) - Date.parse(early.startedAt) >= 29 * day * 1000);

    await travel(beyond);
    await until(async () => (await found(late))?.state === "Completed");
    assert.deepEqual([(await found(early))?.outcome, (await found(late))?.outcome], ["approved", "expired"]);
    const refused = await decide(late);
    assert.deepEqual([refused.status, refused.body], [409, ended]);
    assert.equal((await decide(young)).status, 200);
    const lines = await running.db.query(sql`SELECT FROM audit_log WHERE action = 'playbook.expired'`);
    assert.equal(lines.length, 1);
  });

  test("agrees with a command on the same clock about expired executions", async () => {
    const { executionName } = await start(running, acme.headers);
    const decideAfter = (days: number) =>
      runCli(
        { DATA_DIR: running.service.dataDir, NODE_ENV: "test", TIME_TRAVEL: String(beyond + days * day) },
        "playbook",
        "decide",
        executionName,
        "approved",
      );
    const late = await decideAfter(31);
    assert.deepEqual([late.code, late.stderr], [1, "signsealship: This execution has ended.\n"]);
    assert.equal((await decideAfter(29)).code, 0);
  });

  test("ends links, sessions and idempotency keys in time, and not earlier", async () => {
    const order = (key: string) =>
      fetch(`${running.service.baseUrl}/api/partner/orders`, {
        method: "POST",
        headers: { ...acme.headers, "Idempotency-Key": key },
        body: orderForm(minimal),
      });
    assert.equal((await order("key-of-today")).status, 201);
    assert.equal((await order("key-of-today")).headers.get("idempotent-replayed"), "true");
    const member = await newMember(running.service, "dana@harbor-title.com", acme.key);
    const operator = async (cookie: string) =>
      (await fetch(`${running.service.baseUrl}/operator`, { headers: { cookie } })).status;
    const secrets = await openSecretsKey(`file:${running.service.dataDir}/keys/secrets`);
    const link = async () => (await makeOperatorLink({ ...running, clock: clockAhead(beyond), secrets })).path;
    const session = cookieIn(await postForm(running.service.baseUrl + (await link()), {}), "__Host-operator");
    const expired = await link();

    await travel(beyond + 15 * 60 + 1);
    assert.equal((await postForm(running.service.baseUrl + expired, {})).status, 404);
    assert.equal(await operator(session), 200);
    assert.equal((await order("key-of-today")).headers.get("idempotent-replayed"), "true");
    await travel(beyond + day + 1);
    assert.equal(await operator(session), 401);
    assert.equal((await order("key-of-today")).headers.get("idempotent-replayed"), null);
    const me = async () =>
      (await fetch(`${running.service.baseUrl}/api/partner/me`, { headers: member.headers })).status;
    assert.equal(await me(), 200);
    await travel(beyond + 14 * day + 1);
    assert.equal(await me(), 401);
  });
});

test("outside of tests the start fails with a line that says so", async () => {
  for (const [more, message] of [
    [
      { TIME_TRAVEL: "60" },
      /^signsealship: TIME_TRAVEL must be unset: it is for tests, which run with NODE_ENV=test\n$/,
    ],
    [{ TIME_TRAVEL: "-1", NODE_ENV: "test" }, /^signsealship: TIME_TRAVEL must be a whole number of seconds .*\n$/],
  ] as [Record<string, string>, RegExp][]) {
    const { code, stderr } = await runCli({ DATA_DIR: running.service.dataDir, ...more }, "serve");
    assert.deepEqual([code, message.test(stderr)], [1, true], stderr);
  }
});

test("the setting is a whole number, and unset by default", () => {
  const secondsOf = (env: Record<string, string>) => readConfig(env, "/", "/").timeTravelSeconds;
  assert.deepEqual(
    [secondsOf({}), secondsOf({ TIME_TRAVEL: "" }), secondsOf({ NODE_ENV: "test", TIME_TRAVEL: "61" })],
    [0, 0, 61],
  );
  for (const TIME_TRAVEL of ["1.5", "1e3", "x", "-0", "9999999999", " 1"])
    assert.throws(() => secondsOf({ NODE_ENV: "test", TIME_TRAVEL }), /TIME_TRAVEL must be a whole number/);
  for (const env of [{}, { NODE_ENV: "production" }, { NODE_ENV: "Test" }])
    assert.throws(() => secondsOf({ ...env, TIME_TRAVEL: "0" }), /TIME_TRAVEL must be unset/);
});
