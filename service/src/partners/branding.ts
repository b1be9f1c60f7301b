import { actorOf, type Principal } from "../identity/identity.ts";
import { requireOwnerNow } from "../members/membership.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Sql } from "../platform/database.ts";
import { invalid } from "../platform/errors.ts";
import { insertAudit } from "./partner-audit.ts";
import { type PartnerChange, selectBranding, updatePartner } from "./store.ts";

export type Branding = { brandName: string | null; accentColor: string | null; logoUrl: string | null };

type BrandingChange = Pick<PartnerChange, "brandName" | "accentColor" | "logoUrl">;

/** An https address with a host name of the public DNS; addresses in numbers and `localhost` are none. */
function isPublicHttps(text: string): boolean {
  const url = text.length <= 2000 ? URL.parse(text) : null;
  if (url?.protocol !== "https:" || url.username || url.password) return false;
  return (
    /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/.test(url.hostname) &&
    !/\.(localhost|local|internal)$/.test(url.hostname)
  );
}

/**
 * Checks the members that are given; an empty text clears one.
 * @throws ServiceError naming the field and its rule.
 */
export function brandingOf({ brandName, accentColor, logoUrl }: BrandingChange): BrandingChange {
  if (brandName && (brandName.length > 200 || /[\p{Cc}\p{Cs}]/u.test(brandName)))
    throw invalid("brand-name must have at most 200 characters and no control characters.");
  if (accentColor && !/^#[0-9a-f]{6}$/i.test(accentColor)) throw invalid("accent must be a colour like #1a2b3c.");
  if (logoUrl && (!isPublicHttps(logoUrl) || /[^\x21-\x7e]/.test(logoUrl)))
    throw invalid("logo must be a public https URL of at most 2000 characters.");
  return { brandName, accentColor: accentColor?.toLowerCase(), logoUrl };
}

export const readBranding = ({ db }: { db: Sql }, { partnerId }: Principal): Promise<Branding> =>
  selectBranding(db, partnerId);

/** Changes the branding of the caller's firm. @throws ServiceError naming the field and its rule, or for who is no owner. */
export async function changeBranding(
  { db, clock }: { db: Database; clock: Clock },
  principal: Principal,
  given: BrandingChange,
): Promise<void> {
  const { partnerId } = principal;
  const change = brandingOf(given);
  await db.transaction(async (tx) => {
    await requireOwnerNow(tx, principal);
    await updatePartner(tx, partnerId, change);
    const line = { at: clock(), action: "partner.changed", actor: actorOf(principal), partnerId, detail: change };
    await insertAudit(tx, line);
  });
}
