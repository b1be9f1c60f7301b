import { type Authority, fingerprintOf, serialNumberOf, writeCrl } from "../../evidence/seals/seals.ts";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import type { Random } from "../../kernel/platform/random.ts";
import type { SignerAuthorities } from "./open-signer-authority.ts";

/** So many certificates share one list: it stays below 60 KB, however many acts there are. */
const listSize = 1_000;
/** A prepared act may be signed for ten minutes, and its time stamp takes a while: later, nothing is signed with the key. */
const unusedKeyMs = 30 * 60_000;
/** Clocks of authorities differ: a time stamp must not look later than the revocation. */
const afterActMs = 5 * 60_000;
const listDays = 35;
/** A list is issued again while it is good for four more weeks, so that an outage of the service turns nothing red. */
const renewDays = 7;

/** A certificate that is about to be issued: its serial number, and where its revocation will be published. */
export type CertificateEntry = { readonly serialNumber: Uint8Array; readonly crl: string };

/** The authority in URLs and rows. */
const authorityId = ({ chain }: Authority): string => fingerprintOf(chain[0]).slice(0, 32);

/**
 * Records a certificate before it is issued: none may exist that no list would ever name.
 * @param at now
 */
export async function recordCertificate(
  { db, random, baseUrl }: { db: Sql; random: Random; baseUrl: string },
  authority: Authority,
  at: Date,
): Promise<CertificateEntry> {
  const serialNumber = serialNumberOf(random.bytes(16));
  const id = authorityId(authority);
  const revokedAt = new Date(at.getTime() + unusedKeyMs);
  const rows = await db.query<{ list: number }>(sql`
    WITH certificate AS (
      INSERT INTO signer_certificates (authority, serial, issued_at, revoked_at)
      VALUES (${id}, ${Buffer.from(serialNumber)}, ${at}, ${revokedAt})
      RETURNING (number / ${listSize})::int AS list
    ), new_list AS (
      INSERT INTO signer_crls (authority, list) SELECT ${id}, list FROM certificate ON CONFLICT DO NOTHING
    )
    SELECT list FROM certificate`);
  return { serialNumber, crl: crlUrl(baseUrl, id, rows[0]?.list ?? 0) };
}

const crlUrl = (baseUrl: string, authority: string, list: number): string =>
  `${baseUrl}/seal/crl/${authority}/${list}.crl`;

/**
 * Sets the revocation of an act's certificate, in the transaction that writes the act: minutes after its time stamp. An act without a
 * time stamp keeps its certificate: nothing would prove that the act was earlier, and every reader that asks would call it revoked.
 * @param stampedAt the time stamp's instant, or null
 */
export async function revokeAfterAct(
  tx: Sql,
  serialNumber: Uint8Array,
  at: Date,
  stampedAt: Date | null,
): Promise<void> {
  const latest = stampedAt && new Date(Math.max(at.getTime(), stampedAt.getTime()) + afterActMs);
  await tx.query(sql`
    UPDATE signer_certificates SET revoked_at = ${latest} WHERE serial = ${Buffer.from(serialNumber)} AND NOT listed`);
}

/**
 * Issues the lists that are missing, that lack a certificate which is revoked by now, or that were issued a week ago. Several nodes may
 * do so at once: each list is locked while one issues it.
 */
export async function issueCrls(
  deps: { db: Database; clock: Clock; baseUrl: string; signerAuthorities: SignerAuthorities },
  stopping: AbortSignal,
): Promise<void> {
  for (const authority of [deps.signerAuthorities.live, deps.signerAuthorities.test]) {
    const due = await deps.db.query<{ list: number }>(
      sql`${isDue(authorityId(authority), deps.clock())} ORDER BY list`,
    );
    for (const { list } of due) {
      if (stopping.aborted) return;
      await issueCrl(deps, authority, list);
    }
  }
}

/** Lists that lack a certificate that is revoked by now, and lists that are a week old. */
const isDue = (authority: string, now: Date): Statement => sql`
  SELECT (number / ${listSize})::int AS list FROM signer_certificates
  WHERE authority = ${authority} AND NOT listed AND revoked_at <= ${now}
  UNION
  SELECT list FROM signer_crls
  WHERE authority = ${authority} AND this_update < ${new Date(now.getTime() - renewDays * dayMs)}`;

async function issueCrl(
  { db, clock, baseUrl }: { db: Database; clock: Clock; baseUrl: string },
  authority: Authority,
  list: number,
): Promise<void> {
  const id = authorityId(authority);
  await db.transaction(async (tx) => {
    const [before] = await tx.query<{ number: number }>(sql`
      SELECT number FROM signer_crls WHERE authority = ${id} AND list = ${list} FOR UPDATE`);
    const now = clock();
    // Another node may have issued it while this one waited for the lock.
    const due = await tx.query(sql`SELECT FROM (${isDue(id, now)}) due WHERE list = ${list}`);
    if (due.length === 0) return;
    const inList = sql`authority = ${id} AND number >= ${list * listSize} AND number < ${(list + 1) * listSize}`;
    await tx.query(sql`
      UPDATE signer_certificates SET listed = true WHERE ${inList} AND revoked_at <= ${now} AND NOT listed`);
    // A certificate that was listed once stays, though a clock went back since.
    const rows = await tx.query<{ serial: Buffer; revokedAt: Date }>(sql`
      SELECT serial, revoked_at AS "revokedAt" FROM signer_certificates WHERE ${inList} AND listed ORDER BY number`);
    const number = (before?.number ?? 0) + 1;
    const nextUpdate = new Date(now.getTime() + listDays * dayMs);
    const der = await writeCrl(authority, {
      place: crlUrl(baseUrl, id, list),
      revoked: rows.map(({ serial, revokedAt }) => ({ serialNumber: serial, at: revokedAt.getTime() })),
      number,
      thisUpdate: now.getTime(),
      nextUpdate: nextUpdate.getTime(),
    });
    await tx.query(sql`UPDATE signer_crls SET number = ${number}, this_update = ${now}, der = ${Buffer.from(der)}
      WHERE authority = ${id} AND list = ${list}`);
  });
}

/** The list as it was issued last, DER; null for one that there is not. */
export async function readCrl(db: Sql, authority: string, list: string): Promise<Buffer | null> {
  if (!/^[0-9a-f]{32}$/.test(authority) || !/^(?:0|[1-9]\d{0,8})$/.test(list)) return null;
  const rows = await db.query<{ der: Buffer | null }>(sql`
    SELECT der FROM signer_crls WHERE authority = ${authority} AND list = ${Number(list)}`);
  return rows[0]?.der ?? null;
}
