import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal } from "@signsealship/testing/inputs/order-form";
import { changeOrder } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { correctOrder } from "../../../src/orders/corrections/corrections.ts";
import { replaceSigner } from "../../../src/signing/envelopes/envelopes.ts";
import { openEnvelope } from "../../../src/signing/envelopes/lifecycle/open.ts";
import { openCeremonyService } from "./ceremony/ceremony-service.ts";

const running = await forTests(openCeremonyService());
const deps = { orders: running.deps, parcels: { whyFixed: async () => null, readdress: async () => {} } };

const waiters = async () =>
  (
    await running.db.query(sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
  ).length;

/**
 * Starts several operations one after the other, each once the previous one waits for the order's lock. Then releases
 * the lock.
 */
async function inTurn(code: string, ...works: (() => Promise<unknown>)[]): Promise<void> {
  const waiting: Promise<unknown>[] = [];
  await running.db.transaction(async (tx) => {
    await tx.query(sql`SELECT FROM orders WHERE ${isSealed(sql`code`, "order", code)} FOR UPDATE`);
    for (const work of works) {
      waiting.push(work());
      await until(async () => (await waiters()) >= waiting.length);
    }
  });
  await Promise.all(waiting);
}

/** An order that waits for signatures and has no envelope yet. */
async function unopened(signer: object) {
  const code = await running.order([signer, { name: "John", email: "john@example.com" }], {}, undefined, {
    pay: false,
  });
  await changeOrder(running.db, code, sql`status = 'EsignPending', envelope_status = 'Sent'`);
  const [order] = await running.db.query<{ id: number; partnerId: string }>(
    sql`SELECT id, partner_id AS "partnerId" FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  assert.ok(order);
  const owner = { partnerId: order.partnerId, environment: "test" } as const;
  const request = { owner, orderCode: code, n: 1, actor: "test" };
  const signerOf = async () => {
    const [row] = await running.db.query<{ name: string; auth: string; language: string }>(sql`
      SELECT s.name, s.auth, s.language FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
      WHERE e.order_id = ${order.id} AND s.n = 1`);
    return row;
  };
  const emailsOf = async () =>
    (
      await running.db.query<{ email: string }>(sql`
        SELECT s.email FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
        WHERE e.order_id = ${order.id} ORDER BY e.attempt, s.n`)
    ).map(({ email }) => email);
  return { code, request, signerOf, emailsOf, open: () => openEnvelope(running.deps, order.id) };
}

const client = { name: "Client", email: minimal.email };

test("asks the person who replaced a signer before the envelope was open, or during its preparation", async () => {
  const mary = { name: "Mary", email: "mary@example.com" };
  const before = await unopened(client);
  await replaceSigner(running.deps, before.request, mary);
  await before.open();
  assert.deepEqual(await before.emailsOf(), [mary.email, "john@example.com"]);
  const during = await unopened(client);
  await inTurn(during.code, () => replaceSigner(running.deps, during.request, mary), during.open);
  assert.deepEqual(await during.emailsOf(), [mary.email, "john@example.com"]);
});

test("asks the client at the address that was corrected before the envelope was open, or during its preparation", async () => {
  const corrected = new Map([["email", "corrected@example.com"]]);
  const before = await unopened(client);
  await correctOrder(deps, before.request, corrected);
  await before.open();
  assert.deepEqual(await before.emailsOf(), ["corrected@example.com", "john@example.com"]);
  const during = await unopened(client);
  await inTurn(during.code, () => correctOrder(deps, during.request, corrected), during.open);
  assert.deepEqual(await during.emailsOf(), ["corrected@example.com", "john@example.com"]);
});

test("keeps the signers of an open envelope when the client’s address is corrected", async () => {
  const { request, emailsOf, open } = await unopened(client);
  await open();
  await correctOrder(deps, request, new Map([["email", "corrected@example.com"]]));
  assert.deepEqual(await emailsOf(), [client.email, "john@example.com"]);
});

test("keeps the access step and the language of a signer who is replaced while the envelope opens", async () => {
  for (const kept of [
    { auth: "mail_code", language: "es" },
    { auth: "mail_code", language: "en" },
    { auth: "link", language: "es" },
  ]) {
    const { code, request, signerOf, open } = await unopened({ name: "Jane", email: "jane@example.com", ...kept });
    const mary = { name: "Mary", email: "mary@example.com" };
    await inTurn(code, open, () => replaceSigner(running.deps, request, mary));
    assert.deepEqual(await signerOf(), { name: "Mary", ...kept });
  }
});

test("asks for the access code of a signer who had one and is replaced while the envelope opens", async () => {
  const jane = { name: "Jane", email: "jane@example.com", auth: "access_code", access_code: "Blue Heron" };
  const { code, request, signerOf, open } = await unopened(jane);
  const mary = { name: "Mary", email: "mary@example.com" };
  await inTurn(code, open);
  await assert.rejects(replaceSigner(running.deps, request, mary), /access_code is required/);
  assert.deepEqual(await signerOf(), { name: "Jane", auth: "access_code", language: "en" });
});

test("keeps the access step of a person who concurrently replaced a signer", async () => {
  const { code, request, signerOf, open } = await unopened({ name: "Jane", email: "jane@example.com" });
  await open();
  const mary = { name: "Mary", email: "mary@example.com", auth: "mail_code", language: "es" };
  await inTurn(
    code,
    () => replaceSigner(running.deps, request, mary),
    () => replaceSigner(running.deps, request, { name: "Max", email: "max@example.com" }),
  );
  assert.deepEqual(await signerOf(), { name: "Max", auth: "mail_code", language: "es" });
});
