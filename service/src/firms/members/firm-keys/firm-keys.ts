import { actorOf, type Environment, mayUseLive, type Principal } from "../../../kernel/identity/identity.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { requireProof } from "../../../kernel/platform/recent-proof.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import {
  addKey,
  countActiveKeys,
  countCreatedKeys,
  type IssuedKey,
  issueKey,
  type KeyDeps,
  type KeyLimits,
  type KeyMetadata,
  type KeyOptions,
  type KeyRow,
  keyExpiry,
  keyName,
  keyOverlap,
  keyScopes,
  listKeys,
  lockFirm,
  type RotatedKey,
  revokeKey,
  rotateKey,
  rotateUnderLock,
  selectKey,
} from "../../partners/partners.ts";
import { liveAccessRequired, requireOwnerNow } from "../membership.ts";
import { mailOwnersOfKey } from "./mail.ts";
import {
  type CreatedRecords,
  countCreatedWithKey,
  type Issuer,
  type Revoker,
  selectIssuer,
  selectRevoker,
} from "./store.ts";

export type OwnKeyDeps = KeyDeps & {
  /** The limits of the firm's tier. */
  keyLimitsOf: (tier: string) => KeyLimits;
};

/** An owner's input for a new key, as typed. */
export type WantedKey = {
  name: string;
  environment: string;
  /** The scopes of the key; null for a key without restrictions. */
  scopes: readonly string[] | null;
  /** The expiry of the key: a number of days, a date, or `never`. */
  expires: string;
};

const noKey = () => new ServiceError("not_found", "No such key.");

/** The keys of a member's firm. Live keys are listed only for members with live access. */
export async function listOwnKeys({ db }: { db: Sql }, principal: Principal): Promise<KeyMetadata[]> {
  const keys = await listKeys({ db }, principal.partnerId);
  return mayUseLive(principal) ? keys : keys.filter(({ environment }) => environment === "test");
}

/** A key as owners' pages show it: with its issuer and revoker, and the number of records created with it. */
export type OwnKey = KeyMetadata & { issuer: Issuer | null; revoker: Revoker | null; created: CreatedRecords };

/**
 * A key of the caller's firm, with the persons who issued and revoked it and the objects that were created with it.
 * @throws ServiceError for a caller who is not an owner. Also, always with the same message, for an unknown key and for
 * a key of another firm
 */
export async function findOwnKey(deps: { db: Sql }, principal: Principal, keyId: string): Promise<OwnKey> {
  if (principal.member?.role !== "owner")
    throw new ServiceError("owner_required", "Only an owner of the firm may do this.");
  const key = (await listOwnKeys(deps, principal)).find((each) => each.keyId === keyId);
  if (!key) throw noKey();
  const [issuer, revoker, created] = await Promise.all([
    selectIssuer(deps.db, keyId),
    key.revokedAt && selectRevoker(deps.db, principal.partnerId, keyId),
    countCreatedWithKey(deps.db, keyId),
  ]);
  return { ...key, issuer, revoker, created };
}

/**
 * Issues a key for an owner. The key's text exists only in the result. Mails all owners.
 * @throws ServiceError for an invalid value, too many keys, a live key without live access, and a caller without the
 * right or a recent proof
 */
export async function createOwnKey(deps: OwnKeyDeps, principal: Principal, wanted: WantedKey): Promise<IssuedKey> {
  const { db, clock, rowMac, keyLimitsOf } = deps;
  const { partnerId, member, tier } = principal;
  const at = clock();
  const name = keyName(wanted.name);
  const environment = requireEnvironment(wanted.environment);
  const scopes = wanted.scopes && keyScopes(wanted.scopes);
  const expiresAt = wanted.expires === "never" ? null : keyExpiry(wanted.expires, at);
  return db.transaction(async (tx) => {
    await requireOwnerOf(tx, deps, principal, { environment, at });
    const firm = await lockFirm(tx, partnerId);
    if (environment === "live" && !firm?.liveEnabled) throw invalid("environment live is not enabled for this firm.");
    const limits = keyLimitsOf(tier);
    await requireBelowDailyKeys(tx, partnerId, limits, at);
    await requireFewActive(tx, { partnerId, environment }, limits, at);
    const row = { partnerId, environment, name, scopes, expiresAt, issuedBy: member?.userId ?? null };
    const issued = await addKey(tx, rowMac, row, { at, actor: actorOf(principal) });
    await mailOwnersOfKey(tx, { partnerId, keyId: issued.keyId, userId: member?.userId ?? "", what: "created", at });
    return issued;
  });
}

function requireEnvironment(text: string): Environment {
  if (text !== "live" && text !== "test") throw invalid("environment must be live or test.");
  return text;
}

/**
 * Requires that the caller is an owner now and has the recent proof that the key's environment needs. A live key also
 * requires live access.
 */
async function requireOwnerOf(
  tx: Tx,
  deps: KeyDeps,
  principal: Principal,
  { environment, at }: { environment: Environment; at: Date },
): Promise<void> {
  const own = await requireOwnerNow(tx, deps, principal);
  if (environment === "live" && !own.liveAccess) throw liveAccessRequired();
  requireProof(principal, at, environment);
}

/**
 * Replaces a key of the owner's firm; the old key keeps working during the overlap. Mails all owners.
 * @throws ServiceError as `createOwnKey`, and for a key that is unknown, inactive or already rotated
 */
export async function rotateOwnKey(
  deps: OwnKeyDeps,
  principal: Principal,
  keyId: string,
  hours: string,
): Promise<RotatedKey> {
  const { db, clock, rowMac, keyLimitsOf } = deps;
  const overlap = keyOverlap(hours);
  const at = clock();
  const userId = principal.member?.userId ?? "";
  return db.transaction(async (tx) => {
    const key = await requireOwnKey(tx, deps, principal, { keyId, at });
    await requireBelowDailyKeys(tx, principal.partnerId, keyLimitsOf(principal.tier), at);
    const by = { at, actor: actorOf(principal) };
    const rotated = await rotateUnderLock(tx, rowMac, { key, overlap, issuedBy: userId }, by);
    await mailOwnersOfKey(tx, { partnerId: principal.partnerId, keyId, userId, what: "rotated", at });
    return rotated;
  });
}

/**
 * Revokes a key from the next request on. Mails all owners. Revoking twice changes nothing.
 * @throws ServiceError for an unknown key, and for a caller without the right or a recent proof
 */
export async function revokeOwnKey(deps: KeyDeps, principal: Principal, keyId: string): Promise<void> {
  const { db, clock } = deps;
  const at = clock();
  await db.transaction(async (tx) => {
    const key = await requireOwnKey(tx, deps, principal, { keyId, at });
    if (key.revokedAt) return;
    await revokeKey({ ...deps, db: tx }, keyId, actorOf(principal));
    const userId = principal.member?.userId ?? "";
    await mailOwnersOfKey(tx, { partnerId: principal.partnerId, keyId, userId, what: "revoked", at });
  });
}

async function requireOwnKey(
  tx: Tx,
  deps: KeyDeps,
  principal: Principal,
  { keyId, at }: { keyId: string; at: Date },
): Promise<KeyRow> {
  await requireOwnerNow(tx, deps, principal);
  const key = isUuid(keyId) ? await selectKey(tx, keyId) : undefined;
  // A key of another firm gives the same error as an unknown key. So does a live key, for a caller without live access.
  if (key?.partnerId !== principal.partnerId || (key.environment === "live" && !mayUseLive(principal))) throw noKey();
  await requireOwnerOf(tx, deps, principal, { environment: key.environment, at });
  return key;
}

/**
 * Limits the keys that a firm's owners create in 24 hours. The caller must have locked the firm.
 * @throws ServiceError when they have created the maximum
 */
async function requireBelowDailyKeys(tx: Tx, partnerId: string, { aDay }: KeyLimits, at: Date): Promise<void> {
  if ((await countCreatedKeys(tx, partnerId, new Date(at.getTime() - dayMs))) >= aDay)
    throw new ServiceError(
      "conflict",
      `The owners of a firm of this tier make at most ${aDay} keys in 24 hours, rotations included. Try again tomorrow.`,
    );
}

/**
 * Limits the active keys of a firm in an environment. The caller must have locked the firm.
 * @throws ServiceError when the firm has the maximum
 */
async function requireFewActive(
  tx: Tx,
  { partnerId, environment }: { partnerId: string; environment: Environment },
  { active }: KeyLimits,
  at: Date,
): Promise<void> {
  if ((await countActiveKeys(tx, partnerId, environment, at)) >= active)
    throw new ServiceError(
      "conflict",
      `A firm of this tier has at most ${active} active ${environment} keys. Revoke one that is not used.`,
    );
}

/** Issues a key as `issueKey` does, and mails all owners of the firm. */
export const issueKeyByOperator = (
  deps: KeyDeps,
  partnerId: string,
  environment: Environment,
  { also, ...options }: KeyOptions,
): Promise<IssuedKey> =>
  issueKey(deps, partnerId, environment, {
    ...options,
    async also(tx, issued) {
      await also?.(tx, issued);
      await mailOwnersOfKey(tx, { ...issued, userId: null, what: "created", at: deps.clock() });
    },
  });

/** Rotates a key as `rotateKey` does, and mails all owners of the firm. */
export const rotateKeyByOperator = (deps: KeyDeps, keyId: string, overlap: number): Promise<RotatedKey> =>
  rotateKey(deps, keyId, overlap, (tx, rotated) =>
    mailOwnersOfKey(tx, { ...rotated, userId: null, what: "rotated", at: deps.clock() }),
  );
