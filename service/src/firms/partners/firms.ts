import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { requireUuid } from "../../kernel/platform/text.ts";
import { auditPartner, type ByOperator, type ChangedBy, type KeyDeps, type PartnerDeps } from "./audit.ts";
import { checkedBranding } from "./branding.ts";
import { addKey, type IssuedKey } from "./keys/issue.ts";
import * as store from "./store.ts";
import { updatePartner } from "./store.ts";
import { isTier, type Tier, tiers } from "./tiers.ts";

export type { Partner } from "./store.ts";

function requireTier(text: string): Tier {
  if (!isTier(text)) throw invalid(`tier must be one of ${tiers.join(", ")}.`);
  return text;
}

async function addPartner(tx: Tx, firm: { name: string; tier: Tier; live: boolean }, by: ChangedBy) {
  const partner = await store.insertPartner(tx, { ...firm, id: newUuid(), demo: false });
  if (!partner) throw new Error("a partner was not inserted");
  const { tier, live } = firm;
  await auditPartner(tx, by, "partner.created", partner.partnerId, { tier, live });
  return partner;
}

/**
 * Adds a firm on behalf of the operator.
 * @param also further work for the same transaction
 * @throws ServiceError when the name is not 1-200 characters or the tier is unknown
 */
export async function createPartner(
  { db, clock }: PartnerDeps,
  input: { name: string; tier: string; live: boolean },
  also?: (tx: Tx, partner: store.Partner) => Promise<void>,
) {
  const name = input.name.trim();
  if (name.length < 1 || name.length > 200) throw invalid("name must have 1 to 200 characters.");
  const tier = requireTier(input.tier);
  return db.transaction(async (tx) => {
    const partner = await addPartner(tx, { name, tier, live: input.live }, { at: clock(), actor: "operator" });
    await also?.(tx, partner);
    return partner;
  });
}

/** Adds a trial firm with a test key, in the caller's transaction. */
export async function addTrialPartner(
  tx: Tx,
  rowMac: RowMac,
  name: string,
  by: ChangedBy,
): Promise<{ partnerId: string; issued: IssuedKey }> {
  const { partnerId } = await addPartner(tx, { name, tier: "trial", live: false }, by);
  return { partnerId, issued: await addKey(tx, rowMac, { partnerId, environment: "test" }, by) };
}

/** Creates the demo partner with a test key on the first run; null on later runs. */
export async function createDemoPartner({ db, clock, rowMac }: KeyDeps): Promise<IssuedKey | null> {
  return db.transaction(async (tx) => {
    const demo = { id: newUuid(), name: "Demo Title Co.", tier: "trial", live: false, demo: true } as const;
    const partner = await store.insertPartner(tx, demo);
    if (!partner) return null;
    const wanted = { partnerId: partner.partnerId, environment: "test" } as const;
    return addKey(tx, rowMac, wanted, { at: clock(), actor: "operator" });
  });
}

export const listPartners = ({ db }: { db: Sql }) => store.selectPartners(db);

export type PartnerSettings = Omit<store.PartnerChange, "tier"> & { tier?: string | undefined };

/**
 * Changes a firm on behalf of the operator.
 * @throws ServiceError for an unknown partner or a value that breaks its rule
 */
export async function setPartner(
  { db, clock }: PartnerDeps,
  partnerId: string,
  settings: PartnerSettings,
  { actor, also }: ByOperator = { actor: "operator" },
) {
  requireUuid("PARTNER_ID", partnerId);
  const tier = settings.tier === undefined ? undefined : requireTier(settings.tier);
  const change = { ...settings, ...checkedBranding(settings), tier };
  return db.transaction(async (tx) => {
    const partner = await store.updatePartner(tx, partnerId, change);
    if (!partner) throw new ServiceError("not_found", "No such partner.");
    await auditPartner(tx, { at: clock(), actor }, "partner.changed", partnerId, change);
    await also?.(tx);
    return partner;
  });
}

/** Gives the firm live access, in the caller's transaction, which must have locked the firm. */
export async function enableLive(tx: Tx, partnerId: string, by: ChangedBy): Promise<void> {
  if (!(await store.updatePartner(tx, partnerId, { live: true })))
    throw new ServiceError("not_found", "No such partner.");
  await auditPartner(tx, by, "partner.changed", partnerId, { live: true });
}

/**
 * Requires that a firm with this id exists.
 * @throws ServiceError for an invalid id, or an unknown partner
 */
export async function requirePartner({ db }: { db: Sql }, partnerId: string): Promise<void> {
  if (!(await store.partnerExists(db, requireUuid("PARTNER_ID", partnerId))))
    throw new ServiceError("not_found", "No such partner.");
}

/** The pause in minutes that a firm has chosen between two services of an order; null when it has not chosen any. */
export async function servicePauseOf(db: Sql, partnerId: string): Promise<number | null> {
  const [pause] = await db.query<{ minutes: number }>(
    sql`SELECT minutes FROM service_pauses WHERE partner_id = ${partnerId}`,
  );
  return pause?.minutes ?? null;
}

/**
 * Sets the pause between two services of the firm's orders, in the caller's transaction.
 * @param minutes null to use the service's own setting
 */
export async function setServicePause(tx: Tx, partnerId: string, minutes: number | null, by: ChangedBy): Promise<void> {
  if (minutes === null) await tx.query(sql`DELETE FROM service_pauses WHERE partner_id = ${partnerId}`);
  else
    await tx.query(sql`
      INSERT INTO service_pauses (partner_id, minutes) VALUES (${partnerId}, ${minutes})
      ON CONFLICT (partner_id) DO UPDATE SET minutes = EXCLUDED.minutes`);
  await auditPartner(tx, by, "partner.changed", partnerId, { servicePauseMinutes: minutes });
}

/** Sets whether members of a firm need a passkey to change live data, in the caller's transaction. */
export async function setPasskeyForLive(
  tx: Tx,
  partnerId: string,
  passkeyForLive: boolean,
  by: ChangedBy,
): Promise<void> {
  await updatePartner(tx, partnerId, { passkeyForLive });
  await auditPartner(tx, by, "partner.changed", partnerId, { passkeyForLive });
}
