import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database.ts";
import type { Tier } from "./tiers.ts";

export type Partner = {
  partnerId: string;
  name: string;
  tier: Tier;
  liveEnabled: boolean;
  brandName: string | null;
  accentColor: string | null;
  logoUrl: string | null;
  createdAt: Date;
};

export type KeyMetadata = {
  keyId: string;
  environment: Environment;
  last4: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
};

const partnerColumns = `id AS "partnerId", name, tier, live_enabled AS "liveEnabled", brand_name AS "brandName",
  accent_color AS "accentColor", logo_url AS "logoUrl", created_at AS "createdAt"`;

const keyColumns = `id AS "keyId", environment, last4, created_at AS "createdAt", last_used_at AS "lastUsedAt",
  revoked_at AS "revokedAt"`;

export async function insertPartner(
  sql: Sql,
  partner: { id: string; name: string; tier: Tier; live: boolean; demo: boolean },
) {
  return sql.rows<Partner>(
    `INSERT INTO partners (id, name, tier, live_enabled, demo) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (demo) WHERE demo DO NOTHING RETURNING ${partnerColumns}`,
    [partner.id, partner.name, partner.tier, partner.live, partner.demo],
  );
}

export const selectPartners = (sql: Sql) =>
  sql.rows<Partner>(`SELECT ${partnerColumns} FROM partners ORDER BY created_at, id`);

export type PartnerChange = {
  tier?: Tier | undefined;
  live?: boolean | undefined;
  brandName?: string | undefined;
  accentColor?: string | undefined;
  logoUrl?: string | undefined;
};

/** Fields that are not given stay; an empty text clears the field. */
export function updatePartner(sql: Sql, partnerId: string, change: PartnerChange) {
  return sql.rows<Partner>(
    `UPDATE partners SET tier = coalesce($2, tier), live_enabled = coalesce($3, live_enabled),
       brand_name = nullif(coalesce($4, brand_name), ''), accent_color = nullif(coalesce($5, accent_color), ''),
       logo_url = nullif(coalesce($6, logo_url), '')
     WHERE id = $1 RETURNING ${partnerColumns}`,
    [partnerId, change.tier, change.live, change.brandName, change.accentColor, change.logoUrl],
  );
}

export async function selectBranding(sql: Sql, partnerId: string) {
  const [found] = await sql.rows<Pick<Partner, "brandName" | "accentColor" | "logoUrl">>(
    `SELECT brand_name AS "brandName", accent_color AS "accentColor", logo_url AS "logoUrl" FROM partners WHERE id = $1`,
    [partnerId],
  );
  if (!found) throw new Error("a principal without its partner");
  return found;
}

export async function insertKey(
  sql: Sql,
  key: { id: string; partnerId: string; environment: Environment; sha256: Buffer; last4: string },
): Promise<void> {
  await sql.rows(
    "INSERT INTO partner_keys (id, partner_id, environment, key_sha256, last4) VALUES ($1, $2, $3, $4, $5)",
    [key.id, key.partnerId, key.environment, key.sha256, key.last4],
  );
}

export const selectKeys = (sql: Sql, partnerId: string) =>
  sql.rows<KeyMetadata>(`SELECT ${keyColumns} FROM partner_keys WHERE partner_id = $1 ORDER BY created_at, id`, [
    partnerId,
  ]);

/** A key that was revoked before keeps its first instant. */
export const revokeKey = (sql: Sql, keyId: string, at: Date) =>
  sql.rows<KeyMetadata>(
    `UPDATE partner_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1 RETURNING ${keyColumns}`,
    [keyId, at],
  );

export async function partnerExists(sql: Sql, partnerId: string): Promise<boolean> {
  return (await sql.rows("SELECT 1 FROM partners WHERE id = $1", [partnerId])).length === 1;
}
