import { hash } from "node:crypto";
import { keyStaysSafe } from "@signsealship/evidence/seal";
import { type Certificate, nameText, parseCertificatesPem } from "@signsealship/evidence/x509";
import type { Environment } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import { type DurableRevocation, storedRevocations } from "../../kernel/platform/revocations.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";

/**
 * The certificates that are stored with a seal: their PEM text, with the seal's own certificate first, and the SHA-256
 * of that text in hex.
 */
export type SealChain = { sha256: string; pem: string };

/** The PEM texts of the certificate chains that new seals get now. Test documents have a chain of their own. */
export type ChainPems = Readonly<Record<Environment, string>>;

export const sealChainOf = (pem: string): SealChain => ({ sha256: hash("sha256", pem), pem });

/**
 * Inserts a chain unless it exists. Chains are never deleted, so that older seals still have their certificates after a
 * change of keys.
 */
export const sealChainRow = (rowMac: RowMac, { sha256, pem }: SealChain, at: Date): Statement => {
  const unretired = { firstUsedAt: at, retiredAt: null, reason: null };
  const mac = rowMac.of("seal_chains", chainMembers({ sha256, pem, ...unretired }));
  return sql`INSERT INTO seal_chains (sha256, pem, first_used_at, row_mac) VALUES (${sha256}, ${pem}, ${at}, ${mac})
    ON CONFLICT DO NOTHING`;
};

/** Records a chain as one of this service's chains. */
export const recordChain = (
  { db, rowMac, clock }: { db: Sql; rowMac: RowMac; clock: Clock },
  chainPem: string,
): Promise<unknown> => db.query(sealChainRow(rowMac, sealChainOf(chainPem), clock()));

type ChainRow = SealChain & { firstUsedAt: Date; retiredAt: Date | null; reason: string | null };

/**
 * The members of a chain's MAC. Until the chain is retired, they leave out the retirement, so that rows from releases
 * without retirements keep valid MACs.
 */
export const chainMembers = ({ sha256, pem, firstUsedAt, retiredAt, reason }: ChainRow): Members =>
  retiredAt === null ? { sha256, pem, firstUsedAt } : { sha256, pem, firstUsedAt, retiredAt, reason };

const chainColumns = sql`sha256, pem, first_used_at AS "firstUsedAt", retired_at AS "retiredAt",
  retirement_reason AS reason`;

const chainRows: MacTable<ChainRow> = {
  table: sql`seal_chains`,
  key: sql`sha256`,
  mac: sql`row_mac`,
  rows: sql`SELECT sha256 AS key, ${chainColumns}, row_mac AS mac FROM seal_chains`,
  members: chainMembers,
};

export const protectedTables = [chainRows];

export type ChainsDeps = { db: Sql; rowMac: RowMac; log: Log };

/** A stored chain, with the seal's own certificate and its fingerprint: the SHA-256 of its DER. */
export type RecordedChain = ChainRow & { certificate: Certificate; fingerprint: string };

/**
 * The chains of past and present seals, oldest first. Logs and leaves out a chain whose MAC is not valid.
 *
 * A chain's retirement is the latest one with a valid MAC in the table `revocations`. So nobody can undo a retirement
 * by restoring an older copy of the chain's row. A retirement with an invalid MAC replaces a less strict one, and
 * counts if the chain has no other. Otherwise an insider, who could remove a MAC but not the row, could undo the
 * retirement.
 */
export async function recordedChains({ db, rowMac, log }: ChainsDeps): Promise<RecordedChain[]> {
  const rows = await db.query<ChainRow & { mac: Buffer | null }>(
    sql`SELECT ${chainColumns}, row_mac AS mac FROM seal_chains ORDER BY first_used_at, sha256`,
  );
  const retirements = await retirementsBySubject(db, rowMac);
  return rows.flatMap(({ mac, ...row }) => {
    if (rowMac.holds("seal_chains", chainMembers(row), mac)) {
      const leaf = leafOf(row.pem);
      const retired = retirements.get(leaf.fingerprint);
      return [{ ...row, ...leaf, ...(retired && { retiredAt: retired.effectiveAt, reason: retired.reason }) }];
    }
    log.error({ sha256: row.sha256 }, "a chain of seal certificates is not what was written: not trusted");
    return [];
  });
}

/** The SHA-256 of each chain whose row doesn't mark the chain as retired. */
export async function unretiredChains(db: Sql): Promise<string[]> {
  const rows = await db.query<{ sha256: string }>(sql`SELECT sha256 FROM seal_chains WHERE retired_at IS NULL`);
  return rows.map(({ sha256 }) => sha256);
}

/**
 * SQL expression: JOINs the chain of a seal.
 * @param sha256 an expression with the chain's hash
 */
export const joinChain = (sha256: Statement): Statement => sql`JOIN seal_chains ON seal_chains.sha256 = ${sha256}`;

/**
 * SQL expression: LEFT JOINs the chain of a seal only if the chain is retired, so that its columns are null otherwise.
 */
export const leftJoinRetiredChain = (sha256: Statement): Statement =>
  sql`LEFT ${joinChain(sha256)} AND retired_at IS NOT NULL`;

/** The PEM text in a chain's row, without a check of the row's MAC; undefined for an unknown chain. */
export async function selectChainPem(db: Sql, sha256: string): Promise<string | undefined> {
  const [chain] = await db.query<{ pem: string }>(sql`SELECT pem FROM seal_chains WHERE sha256 = ${sha256}`);
  return chain?.pem;
}

async function retirementsBySubject(db: Sql, rowMac: RowMac): Promise<Map<string, DurableRevocation>> {
  const rows = await storedRevocations(db, rowMac, "seal");
  const counting = new Map<string, DurableRevocation>();
  for (const row of rows.filter(({ isAuthentic }) => isAuthentic)) counting.set(row.subject, row);
  for (const row of rows.filter(({ isAuthentic }) => !isAuthentic)) {
    const other = counting.get(row.subject);
    if (!other || isStricter(row, other)) counting.set(row.subject, row);
  }
  return counting;
}

function isStricter(one: DurableRevocation, other: DurableRevocation): boolean {
  const [safe, otherSafe] = [keyStaysSafe(one.reason ?? ""), keyStaysSafe(other.reason ?? "")];
  return safe === otherSafe ? one.effectiveAt < other.effectiveAt : otherSafe;
}

/**
 * The seal's own certificate in a chain.
 * @throws Error for text without a certificate
 */
export function leafOf(pem: string): { certificate: Certificate; fingerprint: string } {
  const [certificate] = parseCertificatesPem(pem);
  if (!certificate) throw new Error("a chain without a certificate");
  return { certificate, fingerprint: fingerprintOf(certificate) };
}

/** SHA-256 of a certificate in DER, hex. */
export const fingerprintOf = ({ der }: Certificate): string => hash("sha256", der);

/** The issuer of a document that the service makes: the service's URL, and its seal's certificate. */
export type Issuer = {
  url: string;
  /** The subject of the certificate. */
  certificate: string;
  /** SHA-256 of the certificate's DER, in hex. */
  fingerprint: string;
};

/**
 * Returns the issuer for the service's own documents.
 * @param chainPem PEM of the certificates that this process seals with. They change only at a restart, so a document
 * always names the certificate that seals it.
 */
export function issuerOf(
  { chainPem, baseUrl }: { chainPem: ChainPems; baseUrl: string },
  environment: Environment,
): Issuer {
  const { certificate, fingerprint } = leafOf(chainPem[environment]);
  return { url: baseUrl, certificate: nameText(certificate.subject), fingerprint };
}
