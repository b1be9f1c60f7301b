/** The subscription tiers, from the smallest to the largest. */
export const tiers = ["trial", "PartnerLink", "ProOffice", "ClosingDesk"] as const;

export type Tier = (typeof tiers)[number];

/** True if the text is exactly the name of a tier; names are case-sensitive. */
export const isTier = (value: unknown): value is Tier => tiers.some((tier) => tier === value);

/** Narrows a name from the database to a tier. @throws Error for another name, which the database's check forbids */
export function tierOf(name: string): Tier {
  if (!isTier(name)) throw new Error(`no such tier: ${name}`);
  return name;
}

// The contract sets these limits. Limits that an installation may change are in tier-limits.ts.
const quotas: Readonly<Record<Tier, number | null>> = { trial: 5, PartnerLink: 5, ProOffice: 25, ClosingDesk: null };

/** The number of rooms that a partner of this tier may have open at once; null for no limit. */
export const openRoomQuota = (tier: Tier): number | null => quotas[tier];
