import type { Environment } from "../identity/identity.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Sql, Tx } from "../platform/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { newUuid } from "../platform/ids.ts";
import { brandingOf } from "./branding.ts";
import { keySha256, newKey } from "./keys/resolve.ts";
import { insertAudit } from "./partner-audit.ts";
import * as store from "./store.ts";
import { isTier, type Tier, tiers } from "./tiers.ts";

export type { KeyMetadata, Partner, PartnerChange } from "./store.ts";

export type PartnerDeps = { db: Database; clock: Clock };
export type IssuedKey = { keyId: string; key: string; environment: Environment };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function requireUuid(field: string, text: string): string {
  if (!uuid.test(text)) throw invalid(`${field} must be a UUID.`);
  return text;
}

function requireTier(text: string): Tier {
  if (!isTier(text)) throw invalid(`tier must be one of ${tiers.join(", ")}.`);
  return text;
}

const audit = (tx: Tx, at: Date, action: string, partnerId: string, detail: object) =>
  insertAudit(tx, { at, action, actor: "operator", partnerId, detail });

/** @throws ServiceError when the name is not 1-200 characters or the tier is unknown. */
export async function createPartner({ db, clock }: PartnerDeps, input: { name: string; tier: string; live: boolean }) {
  const name = input.name.trim();
  if (name.length < 1 || name.length > 200) throw invalid("name must have 1 to 200 characters.");
  const tier = requireTier(input.tier);
  return db.transaction(async (tx) => {
    const [partner] = await store.insertPartner(tx, { id: newUuid(), name, tier, live: input.live, demo: false });
    if (!partner) throw new Error("a partner was not inserted");
    await audit(tx, clock(), "partner.created", partner.partnerId, { tier, live: input.live });
    return partner;
  });
}

export const listPartners = ({ db }: PartnerDeps) => store.selectPartners(db);

export type PartnerSettings = Omit<store.PartnerChange, "tier"> & { tier?: string | undefined };

/** @throws ServiceError for an unknown partner or a value out of its rule. */
export async function setPartner({ db, clock }: PartnerDeps, partnerId: string, settings: PartnerSettings) {
  requireUuid("PARTNER_ID", partnerId);
  const branding = brandingOf(settings);
  const tier = settings.tier === undefined ? undefined : requireTier(settings.tier);
  const change = { ...settings, ...branding, tier };
  return db.transaction(async (tx) => {
    const [partner] = await store.updatePartner(tx, partnerId, change);
    if (!partner) throw new ServiceError("not_found", "No such partner.");
    await audit(tx, clock(), "partner.changed", partnerId, change);
    return partner;
  });
}

/**
 * Issues a key; its text is in the answer and nowhere else. A live key enables live for the firm: the operator decided so.
 * @throws ServiceError for an unknown partner.
 */
export async function issueKey(
  { db, clock }: PartnerDeps,
  partnerId: string,
  environment: Environment,
): Promise<IssuedKey> {
  requireUuid("PARTNER_ID", partnerId);
  return db.transaction(async (tx) => {
    const [partner] = await store.updatePartner(tx, partnerId, environment === "live" ? { live: true } : {});
    if (!partner) throw new ServiceError("not_found", "No such partner.");
    return issueKeyOf(tx, clock, partnerId, environment);
  });
}

async function issueKeyOf(tx: Tx, clock: Clock, partnerId: string, environment: Environment): Promise<IssuedKey> {
  const key = newKey(environment);
  const keyId = newUuid();
  await store.insertKey(tx, { id: keyId, partnerId, environment, sha256: keySha256(key), last4: key.slice(-4) });
  await audit(tx, clock(), "key.issued", partnerId, { keyId, environment });
  return { keyId, key, environment };
}

/** @throws ServiceError for an id that is none, or an unknown partner. */
export async function requirePartner({ db }: { db: Sql }, partnerId: string): Promise<void> {
  if (!(await store.partnerExists(db, requireUuid("PARTNER_ID", partnerId))))
    throw new ServiceError("not_found", "No such partner.");
}

/** @throws ServiceError for an unknown partner. */
export async function listKeys(deps: { db: Sql }, partnerId: string) {
  await requirePartner(deps, partnerId);
  return store.selectKeys(deps.db, partnerId);
}

/** Takes effect with the next request, on every node. @throws ServiceError for an unknown key. */
export async function revokeKey({ db, clock }: PartnerDeps, keyId: string) {
  requireUuid("KEY_ID", keyId);
  return db.transaction(async (tx) => {
    const [key] = await store.revokeKey(tx, keyId, clock());
    if (!key) throw new ServiceError("not_found", "No such key.");
    await tx.rows(
      `INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail)
       SELECT $1, 'key.revoked', 'operator', partner_id, $3 FROM partner_keys WHERE id = $2`,
      [clock(), keyId, { keyId }],
    );
    return key;
  });
}

/** Makes the demo partner with a test key on the first run; null on every later one. */
export async function createDemoPartner({ db, clock }: PartnerDeps): Promise<IssuedKey | null> {
  return db.transaction(async (tx) => {
    const [partner] = await store.insertPartner(tx, {
      id: newUuid(),
      name: "Demo Title Co.",
      tier: "trial",
      live: false,
      demo: true,
    });
    return partner ? issueKeyOf(tx, clock, partner.partnerId, "test") : null;
  });
}
