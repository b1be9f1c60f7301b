import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal } from "@signsealship/testing/inputs/order-form";
import { changeOrder } from "@signsealship/testing/row-mac";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { type CorrectDeps, correctOrder } from "../../../src/orders/corrections/corrections.ts";
import { moveSigners, replaceSigner } from "../../../src/signing/envelopes/envelopes.ts";
import { openEnvelope } from "../../../src/signing/envelopes/lifecycle/open.ts";
import { browser, consentText, openCeremonyService } from "./ceremony/ceremony-service.ts";

const running = await forTests(openCeremonyService());
const deps: CorrectDeps = {
  orders: running.deps,
  parcels: { whyFixed: async () => null, readdress: async () => {} },
  closingsOf: async () => [],
  moveInRooms: async () => ({ isMoved: false, isUnmailed: false }),
  moveSigners: (...of) => moveSigners(running.deps, ...of),
  renewNotaryLinks: async () => {},
};

const waiters = async () =>
  (
    await running.db.query(sql`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
  ).length;

/**
 * Holds the order's lock, and starts each operation once the previous one waits for that lock. Then releases the lock.
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
  await replaceSigner(running.replacing, before.request, mary);
  await before.open();
  assert.deepEqual(await before.emailsOf(), [mary.email, "john@example.com"]);
  const during = await unopened(client);
  await inTurn(during.code, () => replaceSigner(running.replacing, during.request, mary), during.open);
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

test("moves the client’s signer in an open envelope to the corrected address, and no other signer", async () => {
  const { request, emailsOf, open } = await unopened(client);
  await open();
  await correctOrder(deps, request, new Map([["email", "corrected@example.com"]]));
  assert.deepEqual(await emailsOf(), ["corrected@example.com", "john@example.com"]);
});

test("a signature and a correction of its address at the same time: the first one counts, and the second one knows of it", async () => {
  const { ceremony, db } = running;
  for (const isSignedFirst of [true, false]) {
    const email = `grace.${isSignedFirst}@typo.example`;
    const { code, request, emailsOf, open } = await unopened({ name: "Grace", email });
    await changeOrder(db, code, sql`customer_email = ${email}`);
    await open();
    const link = await running.linkOf(email);
    await ceremony.consent(link, consentText, browser);
    const { document } = await ceremony.view(link);
    const act = {
      revision: document?.revision ?? 0,
      mark: { kind: "typed", text: "Grace" },
      values: new Map(),
    } as const;
    const sign = () => ceremony.sign(link, act, browser).then(({ outcome }) => outcome, String);
    const correct = () => correctOrder(deps, request, new Map([["email", "grace@example.com"]]));
    let outcome: string | undefined;
    const signing = async () => {
      outcome = await sign();
    };
    await (isSignedFirst ? inTurn(code, signing, correct) : inTurn(code, correct, signing));
    const [correction] = await db.query<{ after: object }>(sql`
      SELECT c.after FROM order_corrections c JOIN orders o ON o.id = c.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)}`);
    const [signer] = await emailsOf();
    if (isSignedFirst) {
      assert.deepEqual([outcome, signer], ["signed", email]);
      assert.deepEqual(correction?.after, { email: "grace@example.com", signed: ["Grace"], moved: [] });
    } else {
      assert.match(outcome ?? "", /This signing link is not valid/);
      assert.equal(signer, "grace@example.com");
      assert.deepEqual(correction?.after, { email: "grace@example.com", moved: ["Grace"] });
    }
  }
});

test("keeps the access step and the language of a signer who is replaced while the envelope opens", async () => {
  for (const kept of [
    { auth: "mail_code", language: "es" },
    { auth: "mail_code", language: "en" },
    { auth: "link", language: "es" },
  ]) {
    const { code, request, signerOf, open } = await unopened({ name: "Jane", email: "jane@example.com", ...kept });
    const mary = { name: "Mary", email: "mary@example.com" };
    await inTurn(code, open, () => replaceSigner(running.replacing, request, mary));
    assert.deepEqual(await signerOf(), { name: "Mary", ...kept });
  }
});

test("asks for the access code of a signer who had one and is replaced while the envelope opens", async () => {
  const jane = { name: "Jane", email: "jane@example.com", auth: "access_code", access_code: "Blue Heron" };
  const { code, request, signerOf, open } = await unopened(jane);
  const mary = { name: "Mary", email: "mary@example.com" };
  await inTurn(code, open);
  await assert.rejects(replaceSigner(running.replacing, request, mary), /access_code is required/);
  assert.deepEqual(await signerOf(), { name: "Jane", auth: "access_code", language: "en" });
});

test("keeps the access step of a person who concurrently replaced a signer", async () => {
  const { code, request, signerOf, open } = await unopened({ name: "Jane", email: "jane@example.com" });
  await open();
  const mary = { name: "Mary", email: "mary@example.com", auth: "mail_code", language: "es" };
  await inTurn(
    code,
    () => replaceSigner(running.replacing, request, mary),
    () => replaceSigner(running.replacing, request, { name: "Max", email: "max@example.com" }),
  );
  assert.deepEqual(await signerOf(), { name: "Max", auth: "mail_code", language: "es" });
});
