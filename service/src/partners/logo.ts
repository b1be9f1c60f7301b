import { hash } from "node:crypto";
import type { Sql, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { invalid } from "../platform/errors.ts";
import { auditPartner, type ChangedBy } from "./audit.ts";
import { updatePartner } from "./store.ts";

/** Those before stay for what links to them, as many as these. */
const keptOfFirm = 5;

export const logoPath = "/logos";

/** Makes a picture the firm's logo. @param png at most 256 KiB @throws ServiceError where browsers would not load it */
export async function setLogo(
  tx: Tx,
  { partnerId, png, baseUrl }: { partnerId: string; png: Uint8Array; baseUrl: string },
  by: ChangedBy,
): Promise<void> {
  if (!/^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1)(?=[:/]|$))/.test(baseUrl))
    throw invalid("A logo can be uploaded where this service is reached by https.");
  const sha256 = hash("sha256", png);
  await tx.query(sql`
INSERT INTO firm_logos (partner_id, sha256, png, created_at) VALUES (${partnerId}, ${sha256}, ${Buffer.from(png)}, ${by.at})
ON CONFLICT (partner_id, sha256) DO UPDATE SET created_at = excluded.created_at`);
  await tx.query(sql`
DELETE FROM firm_logos WHERE partner_id = ${partnerId} AND sha256 NOT IN (
  SELECT sha256 FROM firm_logos WHERE partner_id = ${partnerId} ORDER BY created_at DESC LIMIT ${keptOfFirm})`);
  const logoUrl = `${baseUrl}${logoPath}/${sha256}.png`;
  await updatePartner(tx, partnerId, { logoUrl });
  await auditPartner(tx, by, "partner.changed", partnerId, { logoUrl });
}

/** The PNG of a hash in lowercase hex; undefined when no firm has it. */
export async function findLogo(db: Sql, sha256: string): Promise<Buffer | undefined> {
  const [logo] = await db.query<{ png: Buffer }>(sql`SELECT png FROM firm_logos WHERE sha256 = ${sha256} LIMIT 1`);
  return logo?.png;
}

/** The PNG of the logo that a firm shows, where it was uploaded here; null for one that lies elsewhere: what it shows may change. */
export async function firmLogo(db: Sql, partnerId: string): Promise<Buffer | null> {
  const [logo] = await db.query<{ png: Buffer }>(sql`
SELECT png FROM partners JOIN firm_logos ON partner_id = id
WHERE id = ${partnerId} AND right(logo_url, ${logoPath.length + 69}) = ${`${logoPath}/`} || sha256 || '.png'`);
  return logo?.png ?? null;
}
