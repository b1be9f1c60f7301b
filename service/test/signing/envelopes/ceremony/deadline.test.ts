import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { authenticate, changeSigners } from "@signsealship/testing/row-mac";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import {
  remindSigner,
  replaceSigner,
  sweepEnvelopes,
  unlockSigner,
} from "../../../../src/signing/envelopes/envelopes.ts";
import { reissueEnvelope } from "../../../../src/signing/envelopes/lifecycle/by-operator.ts";
import { browser, consentText, openCeremonyService } from "./ceremony-service.ts";

const running = await forTests(openCeremonyService());

let unique = 1;
const people = (...names: string[]) =>
  names.map((name) => ({ name, email: `${name.toLowerCase()}-${unique++}@example.com` }));

/** An order whose signer has consented, the signer's link, and ceremonies with clocks around the order's deadline. */
async function nearDeadline(...names: string[]) {
  const signers = people(...names);
  const code = await running.order(signers);
  const link = await running.linkOf(signers[0]?.email ?? "");
  await running.ceremony.opened(link, browser);
  await running.ceremony.consent(link, consentText, browser);
  const { expiresAt, document } = await running.ceremony.view(link);
  /** @param ms milliseconds after the deadline */
  const clockAt = (ms: number) => () => new Date(expiresAt.getTime() + ms);
  const request = {
    revision: document?.revision ?? 0,
    mark: { kind: "typed", text: "Jane" } as const,
    values: new Map(),
  };
  return { code, link, clockAt, at: (ms: number) => running.openAt(clockAt(ms)), request };
}

const statusOf = async (code: string) =>
  (await running.client.ok<{ status: string }>("GET", `/api/partner/orders/${code}`)).status;

test("lets a signer sign a millisecond before the deadline", async () => {
  const { link, at, request } = await nearDeadline("Jane");
  assert.equal((await at(-1).view(link)).state, "ready");
  assert.deepEqual(await at(-1).sign(link, request, browser), { outcome: "signed", completed: true });
});

test("does nothing for a signer at the deadline, before the sweep has ended the envelope", async () => {
  const { code, link, at, request } = await nearDeadline("Jane", "John");
  const late = at(0);
  assert.equal((await late.view(link)).state, "expired");
  const expired = { code: "conflict", message: /has expired/ };
  await assert.rejects(late.document(link), expired);
  await assert.rejects(late.text(link), expired);
  await assert.rejects(late.sign(link, request, browser), expired);
  await assert.rejects(late.consent(link, { ...consentText, version: "5" }, browser), expired);
  await assert.rejects(late.decline(link, { kind: "declined", reason: "" }, browser), expired);
  await assert.rejects(late.propose(link, { name: "Max", email: "max@example.com" }, browser), expired);
  await assert.rejects(late.sendCode(link, browser), expired);
  await assert.rejects(late.identify(link, "123456", browser), expired);
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  await assert.rejects(late.prepare(link, { ...request, publicKey: spki }, browser), expired);
  assert.equal(await statusOf(code), "EsignPending");
});

test("refuses an act that was prepared before the deadline and is completed at the deadline", async () => {
  const { code, link, at, request } = await nearDeadline("Jane");
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = publicKey.export({ type: "spki", format: "der" });
  const act = await at(-1000).prepare(link, { ...request, publicKey: spki }, browser);
  assert.ok(act.outcome === "prepared");
  const signature = sign("sha256", act.signedAttrs, { key: privateKey, dsaEncoding: "ieee-p1363" });
  await assert.rejects(at(0).complete(link, signature), { code: "conflict", message: /has expired/ });
  assert.equal(await statusOf(code), "EsignPending");
  assert.deepEqual(await at(-1).complete(link, signature), { outcome: "signed", completed: true });
});

test("refuses an act that began before the deadline and ended after it", async () => {
  const { link, clockAt, request } = await nearDeadline("Jane");
  let asked = 0;
  // The first four readings of the clock are just before the deadline, and all later ones are after it.
  const late = running.openAt(() => clockAt(asked++ < 4 ? -1 : 0)());
  await assert.rejects(late.sign(link, request, browser), { code: "conflict", message: /has expired/ });
  assert.equal((await running.ceremony.view(link)).signedAt, null);
});

test("changes no signer at the deadline, and sends nobody a new link", async () => {
  const { code, clockAt } = await nearDeadline("Jane", "John");
  const [row] = await running.db.query<{ partnerId: string }>(sql`
    SELECT partner_id AS "partnerId" FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  const owner = { partnerId: row?.partnerId ?? "", environment: "test" } as const;
  const request = { owner, orderCode: code, n: 2, actor: "test" };
  const late = { ...running.deps, clock: clockAt(0) };
  const expired = { code: "conflict", message: /has (?:just )?expired/ };
  const replacing = { ...running.replacing, envelopes: late };
  await assert.rejects(replaceSigner(replacing, request, { name: "Max", email: "max@example.com" }), expired);
  await assert.rejects(remindSigner(late, request), expired);
  await assert.rejects(unlockSigner(late, request), expired);
  await assert.rejects(reissueEnvelope(late, code), expired);
  const inTime = { ...replacing, envelopes: { ...late, clock: clockAt(-1) } };
  await replaceSigner(inTime, request, { name: "Max", email: "max@example.com" });
});

test("seals at the deadline a document that everybody signed before it", async () => {
  const { code, link, clockAt, at } = await nearDeadline("Jane");
  await changeSigners(
    running.db,
    sql`signed_at = now()`,
    sql`envelope_id = (
      SELECT e.id FROM envelopes e JOIN orders o ON o.id = e.order_id WHERE ${isSealed(sql`o.code`, "order", code)})`,
  );
  assert.equal((await at(0).view(link)).state, "signed");
  await sweepEnvelopes({ ...running.deps, clock: clockAt(0) });
  assert.equal(await statusOf(code), "EsignPending", "the sweep expires nothing that waits for its seal");
});

test("expires one envelope at its deadline and leaves others open", async () => {
  const [{ code, link, clockAt }, other] = [await nearDeadline("Jane"), await running.order(people("Zoe"))];
  await running.db.query(sql`
    UPDATE envelopes SET expires_at = expires_at + interval '1 day' WHERE order_id = (
      SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", other)})`);
  await authenticate(running, "envelopes");
  await sweepEnvelopes({ ...running.deps, clock: clockAt(0) });
  assert.deepEqual([await statusOf(code), await statusOf(other)], ["EsignExpired", "EsignPending"]);
  assert.equal((await running.ceremony.view(link)).state, "expired");
});
