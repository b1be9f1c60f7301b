import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { get } from "node:http";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { makeJobsDue } from "@signsealship/testing/due-jobs";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { isWaitedFor } from "@signsealship/testing/lock-waits";
import { newPartner, ownProcess } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { mailsTo, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { settled } from "../../upkeep/own-log/findings.ts";

const running = await forTests(openHarness(ownProcess));
const { db } = running;
const { key } = await newPartner(running.service, { tier: "ClosingDesk" });
const { post } = newClient(running.service.baseUrl, key);
const agent = (await newMember(running.service, "agent@acme.example", key)).headers;
const at = (path: string) => running.service.baseUrl + path;
const restart = async () => {
  running.service = await running.service.restart();
};

/** A room with `count` orders of one client; each document has this many bytes. */
async function closing(email: string, count: number, bytes: number) {
  const { roomCode } = await post<{ roomCode: string }>("/api/rooms", { name: "Elm closing" });
  const codes: string[] = [];
  for (let n = 0; n < count; n++) {
    const fields = { ...minimal, svc_sign: "true", name: "Dana Whitfield", email };
    const signers = JSON.stringify([{ name: "Sam Signer", email: "sam@example.com" }]);
    const document = makePdf({ bytes, text: `Deed ${email} ${n}` });
    const { orderCode } = await post<{ orderCode: string }>(
      "/api/partner/orders",
      orderForm({ ...fields, signers }, document),
    );
    await post(`/api/rooms/${roomCode}/orders`, { orderCode });
    codes.push(orderCode);
  }
  return { roomCode, codes };
}

const finish = async (code: string) => {
  for (let status = ""; status !== "Completed"; )
    ({ status } = await post<{ status: string }>(`/api/partner/sandbox/orders/${code}/advance`));
};

const links = (email: string) =>
  mailsTo(running.service, email).flatMap((mail) => /\/deliveries\/[0-9a-f-]{36}\/[0-9a-f]{40}/.exec(mail)?.[0] ?? []);
const download = async (path: string) => {
  const answer = await fetch(at(path), { method: "POST" });
  assert.equal(answer.status, 200);
  return new Uint8Array(await answer.arrayBuffer());
};

test("a service that is killed while it sends a zip sends the same bytes afterwards, by the same link", async () => {
  const { roomCode, codes } = await closing("zip@example.com", 2, 4 * 1024 * 1024);
  for (const code of codes) await finish(code);
  const typed = { name: "Lee Lender", email: "lee@lender.example", days: "14", submission: "zip" };
  const chosen = Object.fromEntries(codes.map((code) => [`send-${code}`, "on"]));
  const page = at(`/dashboard/rooms/${roomCode}/deliveries`);
  assert.equal((await postForm(page, { ...typed, ...chosen }, { ...agent, Accept: "text/html" })).status, 303);
  const path = await until(() => links("lee@lender.example")[0]);
  // Waits until the log has every seal, so that the zip gets a log proof of each file.
  await settled(db);
  const whole = await download(path);
  assert.ok(whole.length > 8 * 1024 * 1024);
  const part = await new Promise<number>((resolve, reject) => {
    const request = get(at(path), { method: "POST" }, (response) => {
      response.once("data", (chunk: Buffer) => {
        response.pause();
        // The receiver reads no further, so most of the zip is unsent when the process ends.
        response.once("error", () => resolve(chunk.length));
        response.once("close", () => resolve(chunk.length));
        void running.service.kill().then(() => response.resume());
      });
    });
    request.once("error", reject);
  });
  assert.ok(part < whole.length);
  await restart();
  const again = await download(path);
  assert.equal(hash("sha256", again), hash("sha256", whole));
  const [delivery] = await db.query<{ files: number; uses: number }>(sql`
    SELECT jsonb_array_length(d.files) AS files, (SELECT count(*)::int FROM closing_delivery_uses u WHERE u.delivery_id = d.id) AS uses
    FROM closing_deliveries d WHERE d.recipient_email = 'lee@lender.example'`);
  assert.ok(delivery && delivery.files >= 2);
  assert.ok(delivery.uses >= 1, "a download that began is on record");
});

/** Kills the service while a write to the table waits, so that only this write is lost. */
async function killAtWrite(table: Statement, begin: () => Promise<unknown>): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(sql`LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE`);
    await begin();
    await until(() => isWaitedFor(tx));
    await running.service.kill();
  });
  await restart();
  await makeJobsDue(db, "order-mail");
}

for (const [point, table] of [
  ["before it has claimed the documents of the mail", sql`client_mail_claims`],
  ["after it has sent the mail, before that is on record", sql`client_mails`],
] as const)
  test(`a service that is killed ${point} mails the client once about all documents`, async () => {
    const email = `${point.replaceAll(/\W+/g, "-")}@example.com`;
    const { codes } = await closing(email, 3, 1000);
    await killAtWrite(table, async () => {
      for (const code of codes) await post(`/api/partner/sandbox/orders/${code}/checkout`);
    });
    const sent = () =>
      db.query<{ orderId: number }>(sql`
        SELECT m.order_id AS "orderId" FROM client_mails m JOIN orders o ON o.id = m.order_id
        WHERE o.customer_email = ${email} AND m.moment = 'payment_received'`);
    await until(async () => (await sent()).length === codes.length || undefined);
    await until(async () => {
      const jobs = await db.query(sql`
        SELECT FROM jobs j JOIN orders o ON o.id = (j.payload->>'orderId')::bigint WHERE j.queue = 'order-mail' AND o.customer_email = ${email}`);
      return jobs.length === 0 || undefined;
    });
    const told = mailsTo(running.service, email).filter((mail) => /^Subject: .*Payment received/m.test(mail));
    assert.equal(told.length, 1);
    assert.match(told[0] ?? "", /3 documents/);
    assert.equal((await sent()).length, codes.length, "each order lists it once");
  });
