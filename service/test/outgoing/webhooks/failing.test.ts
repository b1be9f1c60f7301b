import assert from "node:assert/strict";
import { test as plain } from "node:test";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { runsOf } from "../../../src/outgoing/webhooks/dispatch/failure-runs.ts";
import { mailsTo, newMember } from "../../firms/members/signed-in-member.ts";
import { type Client, type Hook, openWebhooksService, type WebhooksService } from "./webhooks-service.ts";

const { after, before, test } = testsNeeding("openssl");

let running: WebhooksService;
let firm: Client;
let cookie: Record<string, string>;
before(async () => {
  running = await openWebhooksService();
  firm = await running.partner();
  ({ headers: cookie } = await newMember(running.service, "owner@example.com", firm.key));
});
after(() => running.close());

const mails = () => mailsTo(running.service, "owner@example.com").filter((mail) => mail.includes("keeps failing"));
const answered = (path: string, status: number) =>
  running.catcher.answer(path, (_request, response) => void response.writeHead(status).end());

async function sends(hook: Hook, count: number): Promise<void> {
  const before = (await firm.ended(hook, 0)).length;
  for (let n = 0; n < count; n++) await firm.ok("POST", `/api/partner/webhooks/${hook.id}/test`);
  await firm.ended(hook, before + count);
}

async function banner(): Promise<boolean> {
  const page = await fetch(`${running.service.baseUrl}/dashboard/webhooks`, { headers: cookie });
  return (await page.text()).includes("A webhook keeps failing");
}

test("after 20 failures in a row the owners get one mail, and the dashboard shows it until a delivery arrives", async () => {
  answered("/fails", 500);
  const hook = await firm.subscribe("/fails", ["order.created"]);
  await sends(hook, 19);
  assert.deepEqual([mails().length, await banner()], [0, false]);
  await sends(hook, 1);
  const [mail = ""] = await until(() => (mails().length > 0 ? mails() : null));
  assert.match(mail, /The last failure: Answered 500\./);
  assert.ok(mail.includes(`/dashboard/webhooks/${hook.id}`));
  assert.equal(await until(banner), true);
  await sends(hook, 5);
  answered("/fails", 204);
  await sends(hook, 1);
  await until(async () => !(await banner()));
  assert.equal(mails().length, 1);
});

test("five failures are enough when the first is an hour old; a success in between starts again", async () => {
  answered("/slowly", 500);
  const hook = await firm.subscribe("/slowly", ["order.created"]);
  await sends(hook, 4);
  await running.db.query(sql`
    UPDATE webhooks SET failing_since = failing_since - interval '1 hour' WHERE id = ${hook.id}`);
  const count = mails().length;
  await sends(hook, 1);
  await until(() => mails().length === count + 1);
  answered("/slowly", 204);
  await sends(hook, 1);
  answered("/slowly", 500);
  await sends(hook, 4);
  // The failures are counted shortly after the outcome is stored.
  const row = await until(async () => {
    const [found] = await running.db.query<{ failures: number; alerted: boolean }>(sql`
      SELECT failures, alerted_at IS NOT NULL AS alerted FROM webhooks WHERE id = ${hook.id}`);
    return found && found.failures >= 4 ? found : null;
  });
  assert.deepEqual(row, { failures: 4, alerted: false });
});

test("a webhook has at most one mail in 24 hours, and a longer run has its own after that", async () => {
  answered("/flaps", 500);
  const hook = await firm.subscribe("/flaps", ["order.created"]);
  const ofHook = () => mails().filter((mail) => mail.includes(hook.id)).length;
  const failures = async () =>
    (await running.db.query<{ failures: number }>(sql`SELECT failures FROM webhooks WHERE id = ${hook.id}`))[0]
      ?.failures;
  await sends(hook, 20);
  await until(() => ofHook() === 1);
  answered("/flaps", 204);
  await sends(hook, 1);
  answered("/flaps", 500);
  await until(async () => (await failures()) === 0);
  await sends(hook, 20);
  await until(async () => (await failures()) === 20);
  assert.deepEqual([ofHook(), await banner()], [1, true]);
  await running.db.query(sql`UPDATE webhooks SET mailed_at = mailed_at - interval '1 day' WHERE id = ${hook.id}`);
  await sends(hook, 1);
  await until(() => ofHook() === 2);
  await sends(hook, 1);
  await until(async () => (await failures()) === 22);
  assert.equal(ofHook(), 2);
});

plain("of many outcomes those after the last success count, in the order of their ends, and ours do not", () => {
  const ended = (second: number, reason: string | null) => ({
    seq: second,
    webhookId: "a",
    statusCode: null,
    durationMs: 1,
    reason,
    completedAt: new Date(second * 1000),
    exchange: null,
  });
  const run = runsOf([
    ended(4, "timeout"),
    ended(1, "timeout"),
    ended(5, "host_limit"),
    ended(2, null),
    ended(3, "http_status"),
  ]).get("a");
  assert.deepEqual([run?.failures, run?.since, run?.arrived, run?.reason], [2, new Date(3000), true, "timeout"]);
});
