import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { runCli } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { mailAdmins } from "../../src/firms/operators/operators.ts";
import { type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { mailsTo } from "../firms/members/signed-in-member.ts";
import { newOperator } from "../firms/operators/console-people.ts";
import { openInsider } from "./insider.ts";

const running = await forTests(openHarness());
const insider = await forTests(openInsider(running.service.dataDir));

/** The error of a queue's latest job, after its first attempt. */
const errorOf = (queue: string) =>
  until(async () => {
    const [job] = await running.db.query<{ error: string | null }>(
      sql`SELECT last_error AS error FROM jobs WHERE queue = ${queue} ORDER BY id DESC LIMIT 1`,
    );
    return job?.error;
  });

test("mails no words that were inserted into the database, or altered while they waited", async () => {
  const admin = await newOperator(running, { roles: ["admin"] });
  const words = { userId: admin.id, at: "now", text: "Send your passkey to help@example.com.", own: true };
  const expiry = { email: "victim@example.com", name: "x", what: "commission", expiresOn: "2026-01-01", stage: "soon" };
  for (const [queue, payload] of [
    ["operator-mail", words],
    ["operator-mail", { ...words, mac: "00".repeat(36) }],
    ["notary-expiry-mail", { ...expiry, isOwn: true }],
  ] as const) {
    await insider.run(sql`SELECT enqueue_job(${queue}, ${payload}::jsonb)`);
    assert.match(await errorOf(queue), /not what the service queued/);
    await running.db.query(sql`DELETE FROM jobs WHERE queue = ${queue}`);
  }
  // The service queues this mail twice. The attacker alters the text of the first one, but keeps its MAC; the second
  // one stays unchanged.
  const genuine = { at: new Date(), text: "Ann made Ben an operator." };
  await running.db.transaction(async (tx) => {
    await mailAdmins(tx, genuine);
    await tx.query(
      sql`UPDATE jobs SET payload = payload || ${{ text: words.text }}::jsonb WHERE queue = 'operator-mail'`,
    );
  });
  assert.match(await errorOf("operator-mail"), /not what the service queued/);
  await running.db.query(sql`DELETE FROM jobs WHERE queue = 'operator-mail'`);
  await running.db.transaction((tx) => mailAdmins(tx, genuine));
  const mails = () => mailsTo(running.service, admin.email);
  await until(() => mails().some((mail) => mail.includes(genuine.text)));
  assert.equal(mails().filter((mail) => mail.includes("passkey to help")).length, 0);
  assert.equal(mailsTo(running.service, expiry.email).length, 0);
});

test("decides on no altered request for access, and mails no key to another address", async () => {
  const ask = async (workEmail: string) => {
    const response = await fetch(`${running.service.baseUrl}/api/partner/request`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ firmName: "Elm Title", contactName: "Elsa Elm", workEmail }),
    });
    assert.equal(response.status, 200);
    return running.db.query<{ id: string; status: string }>(
      sql`SELECT id, status FROM access_requests WHERE work_email = ${workEmail}`,
    );
  };
  const [waiting] = await ask("elsa@gmail.com");
  assert.equal(waiting?.status, "pending");
  const approve = () => runCli({ DATA_DIR: running.service.dataDir }, "request", "approve", waiting?.id ?? "");
  const set = (what: Statement) => insider.run(sql`UPDATE access_requests SET ${what} WHERE id = ${waiting?.id}`);
  await set(sql`work_email = 'attacker@example.com'`);
  const refused = await approve();
  assert.deepEqual([refused.code, /not what the service wrote/.test(refused.stderr)], [1, true], refused.stderr);
  await set(sql`work_email = 'elsa@gmail.com'`);
  const approved = await approve();
  assert.equal(approved.code, 0, approved.stderr);
  await until(() => mailsTo(running.service, "elsa@gmail.com").some((mail) => mail.includes("svc_pk_test_")));
  assert.equal(mailsTo(running.service, "attacker@example.com").length, 0);
});
