import type { Principal } from "../identity/identity.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { invalid } from "../platform/errors.ts";
import { isEmail } from "../platform/mail/email.ts";
import type { MailFirm } from "../platform/mail/template.ts";
import { isPlainText } from "../platform/text.ts";
import { auditPartner, type ChangedBy } from "./audit.ts";
import {
  type Branding,
  type FirmBranding,
  type PartnerChange,
  selectBranding,
  selectFirm,
  updatePartner,
} from "./store.ts";

export type { Branding, FirmBranding } from "./store.ts";

/** The fields that change; an empty text clears one. */
export type BrandingChange = Pick<PartnerChange, "brandName" | "accentColor" | "logoUrl" | "contactEmail">;

/** An https address with a host name of the public DNS; addresses in numbers and `localhost` are none. */
function isPublicHttps(text: string): boolean {
  const url = text.length <= 2000 ? URL.parse(text) : null;
  if (url?.protocol !== "https:" || url.username || url.password) return false;
  return (
    /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(url.hostname) &&
    !/\.(localhost|local|internal)$/.test(url.hostname)
  );
}

/** @throws ServiceError naming the field and its rule. */
export function checkedBranding({ brandName, accentColor, logoUrl, contactEmail }: BrandingChange): BrandingChange {
  if (brandName && (brandName.length > 200 || !isPlainText(brandName)))
    throw invalid("brand-name must have at most 200 characters and no control characters.");
  if (accentColor && !/^#[0-9a-f]{6}$/i.test(accentColor)) throw invalid("accent must be a color like #1a2b3c.");
  if (logoUrl && (!isPublicHttps(logoUrl) || /[^\x21-\x7e]/.test(logoUrl)))
    throw invalid("logo must be a public https URL of at most 2000 characters.");
  if (contactEmail && !(isEmail(contactEmail) && isPlainText(contactEmail)))
    throw invalid("contact-email must be a mail address.");
  return { brandName, accentColor: accentColor?.toLowerCase(), logoUrl, contactEmail };
}

export const readBranding = ({ db }: { db: Sql }, { partnerId }: Pick<Principal, "partnerId">): Promise<FirmBranding> =>
  selectBranding(db, partnerId);

/** A firm as its clients know it. */
export type ShownFirm = { name: string; branding: Branding | null; contactEmail: string | null };

/** @param partnerId of a firm that there is */
export async function readShownFirm(db: Sql, partnerId: string): Promise<ShownFirm> {
  const { name, contactEmail, ...branding } = await selectFirm(db, partnerId);
  return { name: branding.brandName ?? name, branding: shownBranding(branding), contactEmail };
}

/** A firm as mails for it show it. @param partnerId of a firm that there is */
export async function readMailFirm(db: Sql, partnerId: string): Promise<MailFirm> {
  const { name, branding, contactEmail } = await readShownFirm(db, partnerId);
  return { name, contactEmail, accentColor: branding?.accentColor ?? null, logoUrl: branding?.logoUrl ?? null };
}

/** Changes the branding of a firm inside a transaction. @throws ServiceError naming the field and its rule. */
export async function setBranding(tx: Tx, partnerId: string, given: BrandingChange, by: ChangedBy): Promise<void> {
  const change = checkedBranding(given);
  await updatePartner(tx, partnerId, change);
  await auditPartner(tx, by, "partner.changed", partnerId, change);
}

/** The branding to show; null when the firm has set none. */
export const shownBranding = ({ brandName, accentColor, logoUrl }: Branding): Branding | null =>
  brandName || accentColor || logoUrl ? { brandName, accentColor, logoUrl } : null;
