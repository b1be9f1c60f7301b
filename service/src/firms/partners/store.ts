import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { type Marked, marked } from "../../kernel/platform/database/state-mac.ts";
import { firmState, lockAuthenticFirm, verifiedFirms, vouchForFirm } from "./firm-mac.ts";
import type { Tier } from "./tiers.ts";

/**
 * The public appearance of a firm: the name that clients see, a color like `#1a2b3c`, and the public https URL of the
 * logo.
 */
export type Branding = { brandName: string | null; accentColor: string | null; logoUrl: string | null };

/** `contactEmail` is the email address for clients and signers; null for none. */
export type FirmBranding = Branding & { contactEmail: string | null };

export type Partner = FirmBranding & {
  partnerId: string;
  name: string;
  tier: Tier;
  liveEnabled: boolean;
  createdAt: Date;
};

const branding = sql`brand_name AS "brandName", accent_color AS "accentColor", logo_url AS "logoUrl",
  contact_email AS "contactEmail"`;
const columns = sql`id AS "partnerId", name, tier, live_enabled AS "liveEnabled", ${branding}, created_at AS "createdAt"`;

export type NewPartner = { id: string; name: string; tier: Tier; live: boolean; demo: boolean };

/** Stores a new firm. @returns undefined when it is a demo partner and one already exists */
export async function insertPartner(tx: Tx, partner: NewPartner): Promise<Partner | undefined> {
  const [inserted] = await tx.query<Partner>(
    sql`INSERT INTO partners (id, name, tier, live_enabled, demo)
     VALUES (${partner.id}, ${partner.name}, ${partner.tier}, ${partner.live}, ${partner.demo})
     ON CONFLICT (demo) WHERE demo DO NOTHING RETURNING ${columns}`,
  );
  if (inserted) await vouchForFirm(tx, partner.id);
  return inserted;
}

/** All firms, except rows that were altered outside the service. */
export async function selectPartners(db: Sql): Promise<Partner[]> {
  const rows = await db.query<Partner & Marked>(
    sql`SELECT ${columns}, ${marked(firmState, sql`partners`)} FROM partners ORDER BY created_at, id`,
  );
  return rows.filter(({ isAuthentic }) => isAuthentic).map(({ isAuthentic: _, ...partner }) => partner);
}

export type PartnerChange = {
  tier?: Tier | undefined;
  live?: boolean | undefined;
  brandName?: string | undefined;
  accentColor?: string | undefined;
  logoUrl?: string | undefined;
  contactEmail?: string | undefined;
  passkeyForLive?: boolean | undefined;
};

/**
 * Changes a partner. Fields that `change` doesn't contain keep their values. An empty text clears a field.
 * @returns undefined for an unknown partner
 */
export async function updatePartner(tx: Tx, partnerId: string, change: PartnerChange): Promise<Partner | undefined> {
  if (!(await lockAuthenticFirm(tx, partnerId))) return undefined;
  const [partner] = await tx.query<Partner>(
    sql`UPDATE partners SET tier = coalesce(${change.tier}, tier), live_enabled = coalesce(${change.live}, live_enabled),
       brand_name = nullif(coalesce(${change.brandName}, brand_name), ''),
       accent_color = nullif(coalesce(${change.accentColor}, accent_color), ''),
       logo_url = nullif(coalesce(${change.logoUrl}, logo_url), ''),
       contact_email = nullif(coalesce(${change.contactEmail}, contact_email), ''),
       passkey_for_live = coalesce(${change.passkeyForLive}, passkey_for_live)
     WHERE id = ${partnerId} RETURNING ${columns}`,
  );
  await vouchForFirm(tx, partnerId);
  return partner;
}

export async function selectBranding(db: Sql, partnerId: string): Promise<FirmBranding> {
  const [found] = await db.query<FirmBranding>(
    sql`SELECT ${branding}, ${verifiedFirms} FROM partners WHERE id = ${partnerId}`,
  );
  if (!found) throw new Error("a principal without its partner");
  return found;
}

export async function selectFirm(db: Sql, partnerId: string): Promise<FirmBranding & { name: string }> {
  const [found] = await db.query<FirmBranding & { name: string }>(
    sql`SELECT name, ${branding}, ${verifiedFirms} FROM partners WHERE id = ${partnerId}`,
  );
  if (!found) throw new Error("an order without its partner");
  return found;
}

export async function partnerExists(db: Sql, partnerId: string): Promise<boolean> {
  return (await db.query(sql`SELECT FROM partners WHERE id = ${partnerId}`)).length === 1;
}
