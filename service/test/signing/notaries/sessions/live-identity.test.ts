import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import { isWaitedFor } from "@signsealship/testing/lock-waits";
import { until } from "@signsealship/testing/until";
import { columnCipher } from "../../../../src/kernel/platform/column-cipher.ts";
import type { Tx } from "../../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import { lockOrder } from "../../../../src/orders/order/order.ts";
import { isProofVoid, proofVoid } from "../../../../src/signing/notaries/identity/results.ts";
import {
  checksOf,
  endCheck,
  endProof,
  type IdentityCheck,
  insertCheck,
  insertProof,
} from "../../../../src/signing/notaries/identity/store.ts";
import { type LiveSession, markLive, reopen, watchSessions } from "../../../../src/signing/notaries/notaries.ts";
import { voidProofs } from "../../../../src/signing/notaries/sessions/hold.ts";
import { lockOpenSheet } from "../../../../src/signing/notaries/sheets/sheet.ts";
import { sheetsOfOrder } from "../../../../src/signing/notaries/sheets/store.ts";
import {
  abandoned,
  at,
  begun,
  by,
  clock,
  db,
  desk,
  liveOf,
  marksUntil,
  nora,
  operator,
  otherNode,
  post,
  rowMac,
  secrets,
  sheetOf,
} from "./session-world.ts";

test("a check that was passed before another browser was admitted is void, and a later one counts, on nodes whose clocks differ", async () => {
  const { code } = await begun("skew@example.com", "sign");
  const session = await liveOf(code);
  const check = checksFor(session);
  const isVoid = async () => {
    const [passed] = await checksOf(db, session.orderId);
    assert.ok(passed);
    return isProofVoid(await sheetsOfOrder({ db, rowMac }, session.orderId), passed);
  };
  const tenMinutes = 600_000;
  await check({ state: "passed", at: new Date(Date.now() + tenMinutes) });
  assert.equal((await post(desk(code, "/release"), { person: "1" })).status, 303);
  assert.equal(await isVoid(), true);
  await check({ state: "passed", at: new Date(Date.now() - tenMinutes) });
  assert.equal(await isVoid(), false);
});

test("events of earlier releases make those checks void that the same signer had passed before", () => {
  const at = new Date();
  const mark = { kind: "event" as const, name: proofVoid, signer: 1, at: at.toISOString(), detail: null };
  const sheets = [{ marks: [{ ...mark, position: 1, by: "system", run: 1, choice: null }] }];
  const isVoid = (person: number, ms: number) =>
    isProofVoid(sheets, { id: newUuid(), person, endedAt: new Date(at.getTime() + ms) });
  assert.deepEqual([isVoid(1, -1), isVoid(1, 1), isVoid(2, -1)], [true, false, false]);
});

/** The form with which the notary records that a credential (here, a passport) identified the signer. */
const byCredential = {
  step: "identify",
  signer: "1",
  principal_1_name: "Jane Doe",
  principal_1_address: "1 Main Street",
  principal_1_basis: "credential",
  principal_1_type: "Passport",
  principal_1_issuer: "United States",
  principal_1_result: "checked",
  principal_1_issued: "2020-01-01",
  principal_1_expires: "2040-01-01",
};

type Checked = { state: IdentityCheck["state"]; at: Date; tried?: string };

/** Writes identity checks of the session's signer. Each replaces the one before. */
function checksFor({ orderId, notaryId }: LiveSession) {
  return async ({ state, at, tried }: Checked): Promise<void> => {
    await db.query(
      sql`DELETE FROM identity_proofs USING identity_checks c WHERE check_id = c.id AND c.order_id = ${orderId}`,
    );
    await db.query(sql`DELETE FROM identity_checks WHERE order_id = ${orderId}`);
    await db.transaction(async (tx) => {
      const id = newUuid();
      const expiresAt = new Date(at.getTime() + 7 * 86_400_000);
      const about = { id, orderId, notaryId, person: 1, needs: ["credential_analysis" as const], quiz: null };
      await insertCheck(tx, { ...about, tokenSha256: hash("sha256", id, "buffer"), askedAt: at, expiresAt });
      if (tried !== undefined) {
        const proof = { id: newUuid(), checkId: id, kind: "credential" as const, attempt: 1 };
        await insertProof(tx, { ...proof, provider: "stripe_identity", begunAt: at });
        const result = { outcome: "inconclusive", isFinal: false, credential: null, names: null, why: tried };
        const content = columnCipher(secrets, "identity_proofs").encrypt(
          Buffer.from(JSON.stringify({ ...result, faces: "not compared" })),
          proof.id,
        );
        await endProof(tx, proof.id, { state: "inconclusive", at, content });
      }
      if (state !== "asked") await endCheck(tx, id, state, at);
    });
  };
}

/**
 * Voids the identity checks of the session's signer. An interruption does the same if the rules of the US state require
 * new checks.
 */
async function voids(code: string, tx?: Tx): Promise<void> {
  const { sheetId } = await liveOf(code);
  const write = async (inner: Tx) => {
    const sheet = await lockOpenSheet(inner, rowMac, sheetId);
    await voidProofs(inner, rowMac, sheet, 1, { ...by, at: clock() });
  };
  await (tx ? write(tx) : db.transaction(write));
}

test("where the state wants identity again after an interruption, a check that was passed before it no longer counts", async () => {
  const { code } = await begun("again@example.com", "identify");
  const check = checksFor(await liveOf(code));
  await check({ state: "passed", at: new Date(Date.now() - 3_600_000) });
  const session = await abandoned(code, 100);
  const { deps, rooms, joined } = otherNode();
  const { desk } = deps.sheets;
  const read = desk.readEligibility;
  Object.assign(desk, {
    readEligibility: async (of: typeof db) => {
      const { rules, ...rest } = await read(of);
      const identity = { value: "identity", asOf: "2026-01-01", source: "made up for tests" };
      const stateRules = (state: string) => {
        const found = rules.of(state);
        return { ...found, online: { ...found.online, restart: identity } };
      };
      return { ...rest, rules: { ...rules, of: stateRules } };
    },
  });
  await reopen(deps, session);
  const stop = watchSessions(deps);
  joined(session.id);
  await until(async () => (await sheetOf(code))?.run === 2);
  await until(async () => (await liveOf(code)).state === "live");
  await marksUntil(code, "identify");
  const room = rooms.roomOf(session.id);
  for (const person of ["notary", "signer-1"]) room?.recorded.add(person);
  const identify = () => {
    joined(session.id);
    return markLive(deps, operator, code, byCredential);
  };
  await assert.rejects(identify(), /passed before an interruption/);
  await check({ state: "passed", at: new Date() });
  await identify();
  assert.equal((await sheetOf(code))?.marks.at(-1)?.name, "identify");
  await stop();
});

test("a check that is open, expired, failed, too old or void is shown to the notary, and the mark that relies on it is refused", async () => {
  const { code } = await begun("unproved@example.com", "identify");
  const session = await liveOf(code);
  const check = checksFor(session);
  const [hour, day] = [3_600_000, 86_400_000];
  const ago = (ms: number) => new Date(Date.now() - ms);
  /** The present text of one of the notary's pages, without HTML tags. */
  const saysOn = async (path: string) =>
    (await (await fetch(at(path), { headers: { cookie: nora.cookie } })).text()).replaceAll(/<[^>]*>/g, " ");
  const says = async (words: RegExp, badge: RegExp) => {
    const inSession = await saysOn(desk(code));
    assert.match(inSession, words);
    assert.match(inSession, badge);
    assert.match(inSession, /“Credential” is not accepted now/);
    assert.match(await saysOn(`/operator/notary/orders/${code}`), badge);
  };
  const cases = [
    { words: /Jane Doe was not asked for an identity check/, badge: /none was asked for|No check was asked for/ },
    {
      checked: { state: "asked", at: ago(hour), tried: "document_expired" },
      words: /has not passed the identity check yet. The last try was inconclusive: document expired\./,
      badge: /Asked/,
    },
    { checked: { state: "asked", at: ago(8 * day) }, words: /expired before it was passed/, badge: /Link expired/ },
    { checked: { state: "expired", at: ago(hour) }, words: /expired before it was passed/, badge: /Link expired/ },
    { checked: { state: "failed", at: ago(hour) }, words: /failed for good/, badge: /Failed/ },
    { checked: { state: "passed", at: ago(25 * hour) }, words: /more than 24 hours ago/, badge: /counts no more/ },
  ] as const;
  for (const { words, badge, ...each } of cases) {
    if ("checked" in each) await check(each.checked);
    await says(words, badge);
  }
  await check({ state: "passed", at: ago(hour) });
  assert.doesNotMatch(await saysOn(desk(code)), /is not accepted now/);
  await voids(code);
  await says(/is void: it was passed before an interruption, or with another browser/, /counts no more/);

  const { deps, rooms, joined } = otherNode();
  await abandoned(code, 10);
  await reopen(deps, session);
  const stop = watchSessions(deps);
  joined(session.id);
  await until(async () => (await liveOf(code)).state === "live");
  for (const person of ["notary", "signer-1"]) rooms.roomOf(session.id)?.recorded.add(person);
  const identify = () => {
    joined(session.id);
    return markLive(deps, operator, code, byCredential);
  };
  await assert.rejects(identify(), /is void/);
  for (const { words, ...each } of cases) {
    if (!("checked" in each)) continue;
    await check(each.checked);
    await assert.rejects(identify(), words);
  }
  assert.equal(
    (await sheetOf(code))?.marks.some(({ name }) => name === "identify"),
    false,
  );

  // While the request that marks the step waits for the order's lock, the identity check is voided. The request detects
  // this.
  await check({ state: "passed", at: new Date() });
  let marking: Promise<void> | undefined;
  await db.transaction(async (tx) => {
    await lockOrder(tx, code);
    marking = identify();
    marking.catch(() => {});
    await until(() => isWaitedFor(tx));
    await voids(code, tx);
  });
  await assert.rejects(marking ?? Promise.resolve(), /is void/);
  await check({ state: "passed", at: new Date() });
  await identify();
  assert.equal((await sheetOf(code))?.marks.at(-1)?.name, "identify");
  await stop();
});

test("a check that became void in one session stays void in the next session", async () => {
  const { code } = await begun("next@example.com", "identify");
  await checksFor(await liveOf(code))({ state: "passed", at: new Date(Date.now() - 60_000) });
  await voids(code);
  assert.equal((await post(desk(code, "/end"), { outcome: "abandoned" })).status, 303);
  await until(async () => (await liveOf(code)).state === "ended");
  const again = await post(desk(code), { act: "jurat" });
  assert.equal(again.status, 303, await again.text());
  const page = await (await fetch(at(desk(code)), { headers: { cookie: nora.cookie } })).text();
  assert.match(page, /is void: it was passed before an interruption/);
});
