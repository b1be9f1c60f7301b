import { hash } from "node:crypto";
import type { Certificate as X509Certificate } from "@signsealship/evidence/x509";
import { type Authority, fingerprintOf, serialNumberOf, writeCrl } from "../../evidence/seals/seals.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { type Clock, dayMs, minuteMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { MacOfRow } from "../../kernel/platform/database/state-mac.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { MacRow, MacTable } from "../../kernel/platform/protected-data.ts";
import type { Random } from "../../kernel/platform/random.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import type { SignerAuthorities } from "./open-signer-authority.ts";
import { issueSignerCertificate } from "./signer-authority.ts";

/** The number of certificates that share one revocation list. A full list then has less than 60 KB. */
const listSize = 1_000;
/**
 * How long after its issue the certificate of an unfinished act is revoked. A prepared act expires after ten minutes,
 * and its time stamp takes some time.
 */
const unusedKeyMs = 30 * minuteMs;
/**
 * How long after an act's time stamp its certificate is revoked. The clocks of time-stamping authorities differ, and a
 * time stamp later than the revocation would invalidate the signature.
 */
const afterActMs = 5 * minuteMs;
const listDays = 35;
/**
 * A revocation list is reissued after this many days. It is then still valid for four weeks, so an outage of the
 * service doesn't invalidate signatures.
 */
const renewDays = 7;

/** A certificate that is about to be issued: its serial number, and the URL where its revocation will be published. */
export type CertificateEntry = { readonly serialNumber: Uint8Array; readonly crl: string };

type Certificate = { authority: string; serial: string; revokedAt: Date | null; version: number; listed: boolean };

const certificateTable = "signer_certificates";

/**
 * The members that the MAC of a certificate's row covers. A database trigger only allows a higher `version`, so that
 * nobody can restore an earlier row together with its valid MAC.
 */
const certificateMembers = ({ authority, serial, revokedAt, version }: Omit<Certificate, "listed">) => ({
  authority,
  serial,
  revokedAt,
  version,
});

const certificates = sql`SELECT number AS key, authority, encode(serial, 'hex') AS serial, revoked_at AS "revokedAt",
  state_version AS version, listed, row_mac AS mac FROM signer_certificates`;

type List = { authority: string; list: number; number: number; der: string | null };

const listTable = "signer_crls";

const listMembers = ({ authority, list, number, der }: List) => ({ authority, list, number, der });

const set = "certificates of signers";

/** The MACs ensure that database access alone is not enough to have a false revocation list signed or served. */
export const protectedTables: readonly [MacTable<Certificate>, MacTable<List>] = [
  {
    table: sql`signer_certificates`,
    key: sql`number`,
    mac: sql`row_mac`,
    backfill: { set },
    rows: certificates,
    members: certificateMembers,
  },
  {
    table: sql`signer_crls`,
    key: sql`(authority || ' ' || list)`,
    mac: sql`row_mac`,
    backfill: { set },
    rows: sql`SELECT authority || ' ' || list AS key, authority, list, number, encode(sha256(der), 'hex') AS der,
      row_mac AS mac FROM signer_crls`,
    // A row without a signed list has no MAC, because nothing is served from it.
    members: (row) => (row.der === null ? null : listMembers(row)),
  },
];

/** The authority's identifier in URLs and rows. */
const authorityId = ({ chain }: Authority): string => fingerprintOf(chain[0]).slice(0, 32);

/**
 * Records a certificate before it is issued, so that every certificate can be put on a revocation list.
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
  const serial = Buffer.from(serialNumber).toString("hex");
  const mac = new MacOfRow(certificateTable, certificateMembers({ authority: id, serial, revokedAt, version: 1 }));
  const rows = await db.query<{ list: number }>(sql`
    WITH certificate AS (
      INSERT INTO signer_certificates (authority, serial, issued_at, revoked_at, row_mac)
      VALUES (${id}, ${Buffer.from(serialNumber)}, ${at}, ${revokedAt}, ${mac})
      RETURNING (number / ${listSize})::int AS list
    ), new_list AS (
      INSERT INTO signer_crls (authority, list) SELECT ${id}, list FROM certificate ON CONFLICT DO NOTHING
    )
    SELECT list FROM certificate`);
  return { serialNumber, crl: crlUrl(baseUrl, id, rows[0]?.list ?? 0) };
}

/** Issues the certificate of the key that signs an act. */
export type SignerCertificates = {
  issue: (
    envelope: { readonly environment: Environment; readonly verifyCode: string },
    /** `publicKey` is the SubjectPublicKeyInfo of a P-256 key, DER. */
    signer: { readonly name: string; readonly publicKey: Uint8Array; readonly at: Date },
  ) => Promise<readonly [X509Certificate, ...X509Certificate[]]>;
};

export const signerCertificates = (
  deps: { db: Sql; random: Random; baseUrl: string },
  authorities: SignerAuthorities,
): SignerCertificates => ({
  async issue({ environment, verifyCode }, { name, publicKey, at }) {
    const authority = authorities[environment];
    const entry = await recordCertificate(deps, authority, at);
    const statement = `${deps.baseUrl}/v/envelope/${verifyCode}`;
    return issueSignerCertificate(authority, { ...entry, name, environment, publicKey, statement, at: at.getTime() });
  },
});

const crlUrl = (baseUrl: string, authority: string, list: number): string =>
  `${baseUrl}/seal/crl/${authority}/${list}.crl`;

/**
 * Schedules the revocation of an act's certificate for some minutes after the act's time stamp, in the transaction that
 * writes the act. Without a time stamp the certificate is not revoked: nothing would prove that the act is older than
 * the revocation, so readers would reject the signature.
 * @param stampedAt the time of the time stamp, or null
 */
export async function revokeAfterAct(
  { tx, rowMac }: { tx: Sql; rowMac: RowMac },
  serialNumber: Uint8Array,
  at: Date,
  stampedAt: Date | null,
): Promise<void> {
  const latest = stampedAt && new Date(Math.max(at.getTime(), stampedAt.getTime()) + afterActMs);
  const [row] = await tx.query<MacRow<Certificate>>(
    sql`${certificates} WHERE serial = ${Buffer.from(serialNumber)} AND NOT listed FOR NO KEY UPDATE`,
  );
  // A row whose MAC is invalid is left unchanged, because a new MAC would authenticate the forged values.
  if (!row || !holds(rowMac, row)) return;
  const version = row.version + (row.revokedAt?.getTime() === latest?.getTime() ? 0 : 1);
  const mac = new MacOfRow(certificateTable, certificateMembers({ ...row, revokedAt: latest, version }));
  await tx.query(
    sql`UPDATE signer_certificates SET revoked_at = ${latest}, row_mac = ${mac} WHERE number = ${row.key}`,
  );
}

const holds = (rowMac: RowMac, row: MacRow<Certificate>): boolean =>
  rowMac.holds(certificateTable, certificateMembers(row), row.mac);

type IssueDeps = {
  db: Database;
  clock: Clock;
  log: Log;
  rowMac: RowMac;
  baseUrl: string;
  signerAuthorities: SignerAuthorities;
};

/**
 * Issues revocation lists that are missing, that lack a revoked certificate, or that are a week old. Several nodes may
 * run it at once, because each list is locked while it is issued.
 */
export async function issueCrls(deps: IssueDeps, stopping: AbortSignal): Promise<void> {
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

const weekBefore = (now: Date): Date => new Date(now.getTime() - renewDays * dayMs);

/** Finds revocation lists that are a week old, and lists that lack a certificate although it is revoked by now. */
const isDue = (authority: string, now: Date): Statement => sql`
  SELECT (number / ${listSize})::int AS list FROM signer_certificates
  WHERE authority = ${authority} AND NOT listed AND revoked_at <= ${now}
  UNION
  SELECT list FROM signer_crls
  WHERE authority = ${authority} AND this_update < ${weekBefore(now)}`;

async function issueCrl(
  { db, clock, log, rowMac, baseUrl }: IssueDeps,
  authority: Authority,
  list: number,
): Promise<void> {
  const id = authorityId(authority);
  await db.transaction(async (tx) => {
    const [before] = await tx.query<{ number: number; thisUpdate: Date | null }>(sql`
      SELECT number, CASE WHEN isfinite(this_update) THEN this_update END AS "thisUpdate" FROM signer_crls
      WHERE authority = ${id} AND list = ${list} FOR NO KEY UPDATE`);
    const now = clock();
    const rows = await tx.query<MacRow<Certificate>>(sql`${certificates}
      WHERE authority = ${id} AND number >= ${list * listSize} AND number < ${(list + 1) * listSize}
        AND revoked_at IS NOT NULL AND (listed OR revoked_at <= ${now}) ORDER BY number`);
    const added = rows.filter((row) => !row.listed && holds(rowMac, row));
    const isOld = !before?.thisUpdate || before.thisUpdate < weekBefore(now);
    // Nothing is left to do if another node issued the list while this node waited for the lock.
    if (!before || (added.length === 0 && !isOld)) return;
    // A listed certificate stays on the list, even if the clock was set back since.
    const listed = rows.filter((row) => row.listed);
    if (!listed.every((row) => holds(rowMac, row)))
      return log.error({ list }, "a revocation list is not renewed: its certificates were altered in the database");
    await tx.query(
      sql`UPDATE signer_certificates SET listed = true WHERE number = ANY (${added.map(({ key }) => key)}::bigint[])`,
    );
    const number = before.number + 1;
    const nextUpdate = new Date(now.getTime() + listDays * dayMs);
    const revoked = [...listed, ...added].map(({ serial, revokedAt }) => ({
      serialNumber: Buffer.from(serial, "hex"),
      at: revokedAt?.getTime() ?? 0,
    }));
    const place = crlUrl(baseUrl, id, list);
    const der = Buffer.from(
      await writeCrl(authority, {
        place,
        revoked,
        number,
        thisUpdate: now.getTime(),
        nextUpdate: nextUpdate.getTime(),
      }),
    );
    const mac = new MacOfRow(listTable, listMembers({ authority: id, list, number, der: hash("sha256", der) }));
    await tx.query(sql`UPDATE signer_crls SET number = ${number}, this_update = ${now}, der = ${der}, row_mac = ${mac}
      WHERE authority = ${id} AND list = ${list}`);
  });
}

/**
 * The latest issued list, DER; null when there is none.
 * @throws ServiceError `unavailable` for a list whose MAC is invalid
 */
export async function readCrl(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  authority: string,
  list: string,
): Promise<Buffer | null> {
  if (!/^[0-9a-f]{32}$/.test(authority) || !/^(?:0|[1-9]\d{0,8})$/.test(list)) return null;
  const [row] = await db.query<{ number: number; der: Buffer; mac: Buffer | null }>(sql`
    SELECT number, der, row_mac AS mac FROM signer_crls
    WHERE authority = ${authority} AND list = ${Number(list)} AND der IS NOT NULL`);
  if (!row) return null;
  const { number, der, mac } = row;
  rowMac.verify(listTable, listMembers({ authority, list: Number(list), number, der: hash("sha256", der) }), mac);
  return der;
}
