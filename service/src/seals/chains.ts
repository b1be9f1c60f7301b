import { createHash } from "node:crypto";
import type { Sql } from "../platform/database.ts";
import { type Statement, sql } from "../platform/sql.ts";

/** The certificates of a seal as they are kept beside it: PEM, the seal's own first, and the text's SHA-256 in hex. */
export type SealChain = { sha256: string; pem: string };

export const sealChainOf = (pem: string): SealChain => ({
  sha256: createHash("sha256").update(pem).digest("hex"),
  pem,
});

/** The insert of a chain that may be there already: evidence stays whole when the key changes. */
export const sealChainRow = ({ sha256, pem }: SealChain, at: Date): Statement =>
  sql`INSERT INTO seal_chains (sha256, pem, first_used_at) VALUES (${sha256}, ${pem}, ${at}) ON CONFLICT DO NOTHING`;

/**
 * PEM of the certificates that seals are or were made with: of each chain the first, for to trust an issuer would be to
 * trust everybody it issues to.
 * @param chainPem the chain in use
 */
export async function sealCertificates(db: Sql, chainPem: string): Promise<string> {
  const rows = await db.query<{ pem: string }>(sql`SELECT pem FROM seal_chains ORDER BY first_used_at`);
  const own = [chainPem, ...rows.map(({ pem }) => pem)].map(firstCertificate);
  return [...new Set(own)].join("");
}

const firstCertificate = (pem: string): string =>
  `${/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/.exec(pem)?.[0] ?? ""}\n`;
