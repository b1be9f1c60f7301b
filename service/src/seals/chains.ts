import { createHash } from "node:crypto";
import type { Sql } from "../platform/database.ts";
import type { Log } from "../platform/logs.ts";
import type { Members, RowMac } from "../platform/row-mac.ts";
import { type Statement, sql } from "../platform/sql.ts";

/** The certificates of a seal as they are kept beside it: PEM, the seal's own first, and the text's SHA-256 in hex. */
export type SealChain = { sha256: string; pem: string };

export const sealChainOf = (pem: string): SealChain => ({
  sha256: createHash("sha256").update(pem).digest("hex"),
  pem,
});

/** The insert of a chain that may be there already: evidence stays whole when the key changes. */
export const sealChainRow = (rowMac: RowMac, { sha256, pem }: SealChain, at: Date): Statement => {
  const mac = rowMac.of("seal_chains", chainMembers({ sha256, pem, firstUsedAt: at }));
  return sql`INSERT INTO seal_chains (sha256, pem, first_used_at, row_mac) VALUES (${sha256}, ${pem}, ${at}, ${mac})
    ON CONFLICT DO NOTHING`;
};

export type ChainRow = SealChain & { firstUsedAt: Date };

export const chainMembers = ({ sha256, pem, firstUsedAt }: ChainRow): Members => ({ sha256, pem, firstUsedAt });

/**
 * PEM of the certificates that seals are or were made with: of each chain the first, for to trust an issuer would be to
 * trust everybody it issues to. A chain that was not written by this service is reported and left out.
 * @param chainPem the chain in use
 */
export async function sealCertificates(
  { db, rowMac, log }: { db: Sql; rowMac: RowMac; log: Log },
  chainPem: string,
): Promise<string> {
  const rows = await db.query<ChainRow & { mac: Buffer | null }>(sql`
SELECT sha256, pem, first_used_at AS "firstUsedAt", row_mac AS mac FROM seal_chains ORDER BY first_used_at`);
  const own = rows.filter(({ mac, ...row }) => {
    const holds = rowMac.holds("seal_chains", chainMembers(row), mac);
    if (!holds) log.error({ sha256: row.sha256 }, "a chain of seal certificates is not what was written: not trusted");
    return holds;
  });
  return [...new Set([chainPem, ...own.map(({ pem }) => pem)].map(firstCertificate))].join("");
}

const firstCertificate = (pem: string): string =>
  `${/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/.exec(pem)?.[0] ?? ""}\n`;
