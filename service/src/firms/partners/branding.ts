import { hash } from "node:crypto";
import type { Principal } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { isEmail } from "../../kernel/platform/mail/email.ts";
import type { MailFirm } from "../../kernel/platform/mail/template.ts";
import { isPlainText } from "../../kernel/platform/text.ts";
import { auditPartner, type ChangedBy } from "./audit.ts";
import { verifiedFirm } from "./firm-mac.ts";
import {
  type Branding,
  type FirmBranding,
  type PartnerChange,
  selectBranding,
  selectFirm,
  updatePartner,
} from "./store.ts";

export type { Branding, FirmBranding } from "./store.ts";

/** The fields to change; an empty text clears a field. */
export type BrandingChange = Pick<PartnerChange, "brandName" | "accentColor" | "logoUrl" | "contactEmail">;

/**
 * True for an https URL whose host can be a public name: not an IP address, `localhost`, or a name that ends in
 * `.local` or `.internal`. The name isn't looked up.
 */
function isPublicHttps(text: string): boolean {
  const url = text.length <= 2000 ? URL.parse(text) : null;
  if (url?.protocol !== "https:" || url.username || url.password) return false;
  return (
    /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(url.hostname) &&
    !/\.(localhost|local|internal)$/.test(url.hostname)
  );
}

/** Returns the branding if all its fields are valid. @throws ServiceError naming the field and its rule */
export function checkedBranding({ brandName, accentColor, logoUrl, contactEmail }: BrandingChange): BrandingChange {
  if (brandName && (brandName.length > 200 || !isPlainText(brandName)))
    throw invalid("brand-name must have at most 200 characters and no control characters.");
  if (accentColor && !/^#[0-9a-f]{6}$/i.test(accentColor)) throw invalid("accent must be a color like #1a2b3c.");
  if (logoUrl && (!isPublicHttps(logoUrl) || /[^\x21-\x7e]/.test(logoUrl)))
    throw invalid("logo must be a public https URL of at most 2000 characters.");
  if (contactEmail && !(isEmail(contactEmail) && isPlainText(contactEmail)))
    throw invalid("contact-email must be an email address.");
  return { brandName, accentColor: accentColor?.toLowerCase(), logoUrl, contactEmail };
}

export const readBranding = ({ db }: { db: Sql }, { partnerId }: Pick<Principal, "partnerId">): Promise<FirmBranding> =>
  selectBranding(db, partnerId);

/** A firm as its clients see it. */
export type ShownFirm = { name: string; branding: Branding | null; contactEmail: string | null };

/**
 * Reads a firm as its clients see it.
 * @param partnerId the id of an existing firm
 */
export async function readShownFirm(db: Sql, partnerId: string): Promise<ShownFirm> {
  const { name, contactEmail, ...branding } = await selectFirm(db, partnerId);
  return { name: branding.brandName ?? name, branding: shownBranding(branding), contactEmail };
}

/** A firm as its mails show it. @param partnerId the id of an existing firm */
export async function readMailFirm(db: Sql, partnerId: string): Promise<MailFirm> {
  const { name, branding, contactEmail } = await readShownFirm(db, partnerId);
  return { name, contactEmail, accentColor: branding?.accentColor ?? null, logoUrl: branding?.logoUrl ?? null };
}

/** Changes a firm's branding inside a transaction. @throws ServiceError naming the field and its rule */
export async function setBranding(tx: Tx, partnerId: string, requested: BrandingChange, by: ChangedBy): Promise<void> {
  const change = checkedBranding(requested);
  await updatePartner(tx, partnerId, change);
  await auditPartner(tx, by, "partner.changed", partnerId, change);
}

/** The branding to show; null when the firm has set none. */
export const shownBranding = ({ brandName, accentColor, logoUrl }: Branding): Branding | null =>
  brandName || accentColor || logoUrl ? { brandName, accentColor, logoUrl } : null;

/**
 * The service stores at most this many logos of a firm, the newest ones. Earlier logos are kept because old links refer
 * to them.
 */
const maxLogos = 5;

export const logoPath = "/logos";

/**
 * Sets the firm's logo.
 * @param png at most 256 KiB
 * @throws ServiceError when `baseUrl` is plain http, because browsers would not load the logo; localhost is allowed
 */
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
  SELECT sha256 FROM firm_logos WHERE partner_id = ${partnerId} ORDER BY created_at DESC LIMIT ${maxLogos})`);
  const logoUrl = `${baseUrl}${logoPath}/${sha256}.png`;
  await updatePartner(tx, partnerId, { logoUrl });
  await auditPartner(tx, by, "partner.changed", partnerId, { logoUrl });
}

/**
 * True if the picture has this hash. The table of pictures has no MACs: the hash is in the firm's row, whose MAC covers
 * it.
 */
const isPicture = (png: Buffer, sha256: string): boolean => hash("sha256", png) === sha256;

/** The PNG with a hash in lowercase hex; undefined when no firm has it. */
export async function findLogo(db: Sql, sha256: string): Promise<Buffer | undefined> {
  const [logo] = await db.query<{ png: Buffer }>(sql`SELECT png FROM firm_logos WHERE sha256 = ${sha256} LIMIT 1`);
  return logo && isPicture(logo.png, sha256) ? logo.png : undefined;
}

/** The PNG of the firm's uploaded logo; null for a logo hosted elsewhere, which may change. */
export async function firmLogo(db: Sql, partnerId: string): Promise<Buffer | null> {
  const [logo] = await db.query<{ png: Buffer; sha256: string }>(sql`
SELECT png, sha256, ${verifiedFirm} FROM partners p JOIN firm_logos ON partner_id = p.id
WHERE p.id = ${partnerId} AND right(logo_url, ${logoPath.length + 69}) = ${`${logoPath}/`} || sha256 || '.png'`);
  return logo && isPicture(logo.png, logo.sha256) ? logo.png : null;
}
