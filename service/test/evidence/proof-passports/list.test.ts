import assert from "node:assert/strict";
import { test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { listPassports } from "../../../src/evidence/proof-passports/proof-passports.ts";
import {
  insertPassport,
  type NewPassport,
  type PassportFacts,
  passportListStatement,
} from "../../../src/evidence/proof-passports/store.ts";
import { actorOf, type Environment, type Principal } from "../../../src/kernel/identity/identity.ts";
import type { Blobs } from "../../../src/kernel/platform/blobs/blobs.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openDocumentNames } from "../../../src/kernel/platform/document-name.ts";
import { newUuid, newVerifyCode } from "../../../src/kernel/platform/ids.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { openRowMac } from "../../../src/kernel/platform/row-mac.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";
import { recentProof } from "../../firms/members/recent-proof.ts";

const rowMac = openRowMac(secretBytes(Buffer.alloc(32, 7)));

const db = await forTests(newDatabase());
// No blob store is needed, because a list opens no blobs.
const [log, secrets] = [openLog("silent"), secretBytes(Buffer.alloc(32, 7))];
const deps = { db, rowMac, names: openDocumentNames({ secrets, log }), log, blobs: {} as Blobs };

async function firm(environment: Environment = "live"): Promise<Principal> {
  const partnerId = newUuid();
  await db.query(sql`INSERT INTO partners (id, name, tier) VALUES (${partnerId}, 'Acme Title', 'trial')`);
  const proof = recentProof();
  const member = {
    userId: newUuid(),
    email: "dana@example.com",
    role: "owner" as const,
    liveAccess: true,
    seesBilling: false,
    proof,
  };
  return { partnerId, environment, firmName: "Acme Title", tier: "trial", liveEnabled: true, key: null, member };
}

const second = (n: number) => new Date(Date.UTC(2026, 2, 4, 5, 6, n));

/** Records a passport as a seal would. @returns its id */
async function record(of: Principal, createdAt: Date, more: Partial<NewPassport> = {}): Promise<string> {
  const facts: PassportFacts = {
    id: newUuid(),
    verifyCode: newVerifyCode(),
    partnerId: of.partnerId,
    environment: of.environment,
    docSha256: "a".repeat(64),
    sealedSha256: "b".repeat(64),
    createdAt,
  };
  const chain = { sha256: "c".repeat(64), pem: "pem" };
  const bare = { name: null, blobKey: null, bytes: 0, chain, timeStamp: null, anchor: null };
  await insertPassport(deps, { ...facts, ...bare, ...more }, actorOf(of));
  return more.id ?? facts.id;
}

const ids = async (of: Principal, query = {}) =>
  (await listPassports(deps, of, query)).passports.map(({ passportId }) => passportId);

test("a firm sees its own passports of one environment, newest first, with the known times", async () => {
  const acme = await firm();
  const anchor = {
    proof: Buffer.from("ots"),
    calendar: "https://calendar",
    submittedAt: second(1),
    nextUpgradeAt: second(9),
  };
  const bare = await record(acme, second(1));
  const id = newUuid();
  const full = await record(acme, second(2), {
    id,
    name: deps.names.seal("Deed of trust", id),
    blobKey: "key",
    timeStamp: { token: Buffer.from("tst"), authority: "https://tsa", genTime: second(3) },
    anchor,
  });
  await record(await firm(), second(3));
  await record({ ...acme, environment: "test" }, second(4));
  const { passports, nextCursor } = await listPassports(deps, acme, {});
  assert.equal(nextCursor, null);
  assert.deepEqual(
    passports.map(({ verifyCode: _, docSha256: __, ...rest }) => rest),
    [
      {
        passportId: full,
        name: "Deed of trust",
        sealedAt: second(2),
        documentKept: true,
        timeStampedAt: second(3),
        anchorStatus: "pending",
      },
      {
        passportId: bare,
        name: null,
        sealedAt: second(1),
        documentKept: false,
        timeStampedAt: null,
        anchorStatus: null,
      },
    ],
  );
  assert.match(passports[0]?.verifyCode ?? "", /^[a-z2-7]{26}$/);
  assert.deepEqual(await ids(await firm()), []);
});

test("pages follow one another without gaps or repetitions, even if many were sealed at one instant", async () => {
  const acme = await firm();
  const made: string[] = [];
  for (let n = 0; n < 25; n++) made.push(await record(acme, second(Math.floor(n / 10))));
  const seen: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Awaited<ReturnType<typeof listPassports>> = await listPassports(deps, acme, { limit: "10", cursor });
    seen.push(...page.passports.map(({ passportId }) => passportId));
    cursor = page.nextCursor;
  }
  assert.deepEqual([...seen].sort(), [...made].sort());
  assert.deepEqual(new Set(seen.slice(0, 5)), new Set(made.slice(20)));
  assert.equal((await ids(acme)).length, 20);
  assert.equal((await ids(acme, { limit: "0" })).length, 1);
  assert.equal((await ids(acme, { limit: "1000" })).length, 25);
});

test("refuses a limit that is not a number, and a cursor of another firm, another environment or nobody", async () => {
  const acme = await firm();
  await record(acme, second(1));
  const foreign = [
    await record(await firm(), second(1)),
    await record({ ...acme, environment: "test" }, second(1)),
    newUuid(),
    "x",
    "\0",
    "\ud800",
    "x".repeat(60_000),
  ];
  for (const cursor of foreign)
    await assert.rejects(listPassports(deps, acme, { cursor }), /^ServiceError: cursor must be one that this list has/);
  for (const limit of ["ten", "1.5", "\0"])
    await assert.rejects(listPassports(deps, acme, { limit }), /^ServiceError: limit must be a whole number/);
});

test("a passport whose row was altered is left out", async () => {
  const acme = await firm();
  const altered = await record(acme, second(1));
  const whole = await record(acme, second(2));
  await db.query(sql`UPDATE passports SET doc_sha256 = ${"f".repeat(64)} WHERE id = ${altered}`);
  assert.deepEqual(await ids(acme), [whole]);
});

test("a page is read from its index and stops when it is full", async () => {
  const acme = await firm();
  const last = await record(acme, second(1));
  for (const after of [null, last]) {
    const statement = passportListStatement(acme, 21, after);
    const plan = await db.transaction(async (tx) => {
      await tx.script("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off");
      const lines = await tx.query<{ "QUERY PLAN": string }>(sql`EXPLAIN ${statement}`);
      return lines.map((line) => line["QUERY PLAN"]).join("\n");
    });
    assert.match(plan, /Index Scan using passports_of_partner/);
    assert.match(plan, /Presorted Key: passports.created_at/);
    assert.equal(plan.includes("(created_at <= "), after !== null);
    assert.doesNotMatch(plan, /Seq Scan/);
  }
});
