import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { needs } from "@signsealship/testing/tools/tools";
import { fingerprintOf } from "../../../src/evidence/seals/seals.ts";
import { type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { systemRandom } from "../../../src/kernel/platform/random.ts";
import { issueCrls, recordCertificate, revokeAfterAct } from "../../../src/signing/envelopes/revocation.ts";
import { makeSignerAuthority } from "../../../src/signing/envelopes/signer-authority.ts";
import { memoryKey, memoryRoot } from "../../evidence/seals/signers.ts";
import { openInsider } from "../../insiders/insider.ts";
import { openCeremonyService, signBy } from "./ceremony/ceremony-service.ts";

const folder = mkdtempSync(join(tmpdir(), "revocation-"));
const running = await forTests(openCeremonyService());
after(() => rmSync(folder, { recursive: true, force: true }));

const stopping = new AbortController().signal;
const minutes = 60_000;
const days = 24 * 60 * minutes;
const start = Date.now();

/**
 * A separate authority, with functions that record and revoke its certificates. `issueAt` issues its CRLs with a clock
 * that shows `ms` milliseconds after `start`.
 */
async function authorityAlone() {
  const made = { key: memoryKey("p-256"), host: "seal.example", serialNumber: Buffer.alloc(16, 9), at: start };
  const authority = await makeSignerAuthority(await memoryRoot(start), made);
  const { db, rowMac } = running;
  const deps = { db, rowMac, log: openLog("silent"), random: systemRandom, baseUrl: running.service.baseUrl };
  const signerAuthorities = { live: authority, test: authority };
  return {
    record: (at = new Date(start)) => recordCertificate(deps, authority, at),
    revoke: (serial: Uint8Array, at: Date, stampedAt: Date | null) =>
      revokeAfterAct({ tx: db, rowMac }, serial, at, stampedAt),
    issueAt: (ms: number) => issueCrls({ ...deps, signerAuthorities, clock: () => new Date(start + ms) }, stopping),
    id: fingerprintOf(authority.chain[0]).slice(0, 32),
  };
}

/** The CRL at a URL, as openssl reads it. */
async function listAt(url: string) {
  const answer = await fetch(url);
  assert.equal(answer.status, 200, url);
  assert.equal(answer.headers.get("content-type"), "application/pkix-crl");
  const path = join(folder, "list.crl");
  writeFileSync(path, Buffer.from(await answer.arrayBuffer()));
  const { stdout } = spawnSync("openssl", ["crl", "-inform", "DER", "-in", path, "-noout", "-text"], {
    encoding: "utf8",
  });
  const number = Number(/X509v3 CRL Number: \n\s+(\d+)/.exec(stdout)?.[1]);
  const entries = [...stdout.matchAll(/Serial Number: ([0-9A-F]+)\n\s+Revocation Date: (.*)\n/g)];
  const revoked = new Map(entries.map(([, serial = "", at = ""]) => [serial.toLowerCase(), Date.parse(at)]));
  return {
    number,
    revoked,
    next: Date.parse(/Next Update: (.*)\n/.exec(stdout)?.[1] ?? ""),
    place: /URI:(\S+)/.exec(stdout)?.[1],
  };
}

const hex = (serial: Uint8Array) => Buffer.from(serial).toString("hex");
const wholeSecond = (ms: number) => Math.floor(ms / 1000) * 1000;

test(
  "lists a certificate minutes after its act's time stamp, and an unused one half an hour after it was issued",
  needs("openssl"),
  async () => {
    const { record, revoke, issueAt } = await authorityAlone();
    const [used, unused, unstamped] = [await record(), await record(), await record()];
    const stampedAt = new Date(start + 3 * minutes);
    await revoke(used.serialNumber, new Date(start + 2 * minutes), stampedAt);
    await revoke(unstamped.serialNumber, new Date(start + 2 * minutes), null);
    await issueAt(7 * minutes);
    const first = await listAt(used.crl);
    assert.deepEqual([first.number, first.revoked.size, first.place], [1, 0, used.crl]);
    await issueAt(9 * minutes);
    const second = await listAt(used.crl);
    assert.deepEqual([...second.revoked], [[hex(used.serialNumber), wholeSecond(start + 8 * minutes)]]);
    assert.equal(second.number, 2);
    await issueAt(31 * minutes);
    const third = await listAt(unused.crl);
    assert.equal(third.revoked.get(hex(unused.serialNumber)), wholeSecond(start + 30 * minutes));
    assert.equal(third.revoked.has(hex(unstamped.serialNumber)), false);
    await issueAt(365 * days);
    assert.equal((await listAt(unstamped.crl)).revoked.size, 2);
  },
);

test("issues a list again a week later and not earlier, valid for five weeks", needs("openssl"), async () => {
  const { record, issueAt } = await authorityAlone();
  const { crl } = await record();
  await issueAt(0);
  await issueAt(29 * minutes);
  assert.equal((await listAt(crl)).number, 1);
  await issueAt(31 * minutes);
  await issueAt(6 * days);
  assert.equal((await listAt(crl)).number, 2);
  await issueAt(8 * days);
  const { number, next } = await listAt(crl);
  assert.equal(number, 3);
  assert.equal(next, wholeSecond(start + 43 * days));
});

test("keeps listed certificates, even if the clock goes back", needs("openssl"), async () => {
  const { record, revoke, issueAt } = await authorityAlone();
  const [unused, used] = [await record(), await record()];
  await issueAt(31 * minutes);
  assert.ok((await listAt(unused.crl)).revoked.has(hex(unused.serialNumber)));
  const later = await record();
  await revoke(later.serialNumber, new Date(start), new Date(start));
  await issueAt(10 * minutes);
  const { number, revoked } = await listAt(unused.crl);
  assert.equal(number, 2);
  const listed = [unused, used, later].map(({ serialNumber }) => hex(serialNumber));
  assert.deepEqual([...revoked.keys()], listed);
});

test("issues one list, however many nodes do so concurrently", needs("openssl"), async () => {
  const { record, issueAt } = await authorityAlone();
  const { crl, serialNumber } = await record();
  await Promise.all(Array.from({ length: 5 }, () => issueAt(31 * minutes)));
  const { number, revoked } = await listAt(crl);
  assert.deepEqual([number, [...revoked.keys()]], [1, [hex(serialNumber)]]);
});

test("puts a thousand certificates into a list, and the next into another", needs("openssl"), async () => {
  const { record, issueAt, id } = await authorityAlone();
  const first = await record();
  const serials = Array.from({ length: 999 }, (_, n) => `40${(n + 1).toString(16).padStart(30, "0")}`);
  const macs = serials.map((serial) =>
    running.rowMac.of("signer_certificates", { authority: id, serial, revokedAt: new Date(start), version: 1 }),
  );
  await running.db.query(sql`
    INSERT INTO signer_certificates (authority, serial, issued_at, revoked_at, row_mac)
    SELECT ${id}, decode(serial, 'hex'), now(), ${new Date(start)}, mac
    FROM unnest(${serials}::text[], ${macs}::bytea[]) AS made (serial, mac)`);
  const last = await record();
  await issueAt(31 * minutes);
  const sizes = [(await listAt(first.crl)).revoked.size, (await listAt(last.crl)).revoked.size] as const;
  assert.notEqual(first.crl, last.crl);
  assert.equal(sizes[0] + sizes[1], 1001);
  assert.ok(sizes.every((size) => size <= 1000));
});

test("answers 404 for an unknown list", async () => {
  const { id } = await authorityAlone();
  for (const path of [
    `${id}/0.crl`,
    `${id}/0`,
    "x/0.crl",
    `${id}/-1.crl`,
    `${id}/99999999999.crl`,
    `${id}/0.crl.crl`,
  ]) {
    assert.equal((await fetch(`${running.service.baseUrl}/seal/crl/${path}`)).status, 404, path);
  }
});

test("never lists the certificate of an act without a time stamp, below the authority of tests", async () => {
  const email = "ceo@first-national.example";
  const before = await running.db.query(sql`SELECT FROM signer_certificates`);
  await running.order([{ name: "Angela Chief, First National Bank", email }]);
  await signBy(running.ceremony, await running.linkOf(email), "Angela");
  const rows = await running.db.query<{ authority: string; revokedAt: Date | null }>(sql`
    SELECT authority, revoked_at AS "revokedAt" FROM signer_certificates ORDER BY number OFFSET ${before.length}`);
  const authority = fingerprintOf(running.signerAuthorities.test.chain[0]).slice(0, 32);
  assert.deepEqual(rows, [{ authority, revokedAt: null }]);
});

/** A database connection with the service's own role, but without the key for row MACs. */
const insider = await forTests(openInsider(running.service.dataDir));

test(
  "signs no revocation that only the database requests, and lists the certificate again once its row is right",
  needs("openssl"),
  async () => {
    const { record, revoke, issueAt } = await authorityAlone();
    const { serialNumber, crl } = await record();
    const { serialNumber: other } = await record();
    await revoke(serialNumber, new Date(start), new Date(start));
    const is = sql`serial = ${Buffer.from(serialNumber)}`;
    const yearBefore = new Date(start - 365 * days);
    for (const attack of [
      sql`UPDATE signer_certificates SET revoked_at = ${yearBefore} WHERE ${is}`,
      sql`INSERT INTO signer_certificates (authority, serial, issued_at, revoked_at)
      SELECT authority, ${Buffer.alloc(16, 0x41)}, issued_at, ${yearBefore} FROM signer_certificates WHERE ${is}`,
      sql`INSERT INTO signer_certificates (authority, serial, issued_at, revoked_at, state_version, row_mac)
      SELECT authority, ${Buffer.alloc(16, 0x42)}, issued_at, revoked_at, state_version, row_mac
      FROM signer_certificates WHERE serial = ${Buffer.from(other)}`,
    ])
      await insider.run(attack);
    await issueAt(31 * minutes);
    assert.deepEqual([...(await listAt(crl)).revoked.keys()], [hex(other)]);
    // The service does not write the act's revocation over a forged row.
    await revoke(serialNumber, new Date(start), new Date(start));
    await issueAt(62 * minutes);
    assert.deepEqual([...(await listAt(crl)).revoked.keys()], [hex(other)]);
    await mend(
      sql`DELETE FROM signer_certificates WHERE row_mac IS NULL OR serial = ${Buffer.alloc(16, 0x42)} OR ${is}`,
    );
  },
);

test(
  "keeps a listed certificate listed: a list with an altered one is not reissued, and none is removed",
  needs("openssl"),
  async () => {
    const { record, issueAt } = await authorityAlone();
    const { serialNumber, crl } = await record();
    await issueAt(31 * minutes);
    const first = await listAt(crl);
    const is = sql`serial = ${Buffer.from(serialNumber)}`;
    for (const refused of [
      sql`DELETE FROM signer_certificates WHERE ${is}`,
      sql`UPDATE signer_certificates SET number = DEFAULT WHERE ${is}`,
      sql`UPDATE signer_certificates SET serial = ${Buffer.alloc(16, 0x43)} WHERE ${is}`,
      sql`DELETE FROM signer_crls`,
      sql`UPDATE signer_crls SET number = 0`,
    ])
      await assert.rejects(insider.run(refused), /append-only|permission denied/, refused.text);
    await insider.run(sql`UPDATE signer_certificates SET row_mac = NULL WHERE ${is}`);
    await issueAt(40 * days);
    assert.deepEqual(await listAt(crl), first);
    await mend(sql`DELETE FROM signer_certificates WHERE ${is}`);
  },
);

test("serves no list that was altered or set back", async () => {
  const { record, issueAt, id } = await authorityAlone();
  const { crl } = await record();
  await issueAt(31 * minutes);
  const [row] = await running.db.query<{ der: Buffer; mac: Buffer }>(
    sql`SELECT der, row_mac AS mac FROM signer_crls WHERE authority = ${id}`,
  );
  await issueAt(10 * days);
  assert.equal((await fetch(crl)).status, 200);
  await insider.run(sql`UPDATE signer_crls SET der = ${row?.der}, row_mac = ${row?.mac} WHERE authority = ${id}`);
  assert.equal((await fetch(crl)).status, 503);
  // The next CRL that the service issues replaces the forged row.
  await issueAt(20 * days);
  assert.equal((await fetch(crl)).status, 200);
});

/** Runs statements as the owner of the tables, with their triggers disabled. */
const mend = (statement: Statement) =>
  running.db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    await tx.query(statement);
  });
