import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, maySeeBilling, type Owner, type Principal, type Role } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { requireProof, requireRecentPasskey } from "../../kernel/platform/recent-proof.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import {
  type BrandingChange,
  isKeyActive,
  setBranding,
  setLogo,
  setPasskeyForLive,
  setServicePause,
} from "../partners/partners.ts";
import * as store from "./store.ts";

export type { Member } from "./store.ts";

export type MemberDeps = { db: Database; clock: Clock; rowMac: RowMac };

export const listMembers = ({ db }: { db: Sql }, partnerId: string) => store.selectMembers(db, partnerId);

/**
 * Locks the firm's members and reads the caller's membership again, because roles may have changed since the request
 * began.
 * @throws ServiceError when the caller is no longer an owner of the firm
 */
export async function requireOwnerNow(
  tx: Tx,
  { rowMac, clock }: Pick<MemberDeps, "rowMac" | "clock">,
  { partnerId, member }: Principal,
): Promise<store.Membership> {
  await store.lockMembers(tx, partnerId);
  const own = member && (await store.findMembership(tx, rowMac, member.userId, clock()));
  if (own?.partnerId !== partnerId || own.role !== "owner")
    throw new ServiceError("owner_required", "Only an owner of the firm may do this.");
  return own;
}

/** A firm's member or key that acted, according to the audit log. `since`: when the member joined. */
export type ActiveActor = { role: Role | "key"; email: string | null; since: Date | null };

/**
 * The present rights of an actor that the audit log names: a member or a key of the firm. Undefined for a former
 * member, and for a member without access to the environment. Undefined also for an ended key, and for a key of another
 * firm or environment.
 */
export async function findActiveActor(
  db: Sql,
  { rowMac, clock }: Pick<MemberDeps, "rowMac" | "clock">,
  { partnerId, environment }: Owner,
  actor: string,
): Promise<ActiveActor | undefined> {
  const [kind, id = ""] = actor.split(":");
  if (!isUuid(id)) return undefined;
  if (kind === "key") {
    const isActive = await isKeyActive(db, { id, partnerId, environment }, clock());
    return isActive ? { role: "key", email: null, since: null } : undefined;
  }
  const found = kind === "member" ? await store.findMembership(db, rowMac, id, clock()) : undefined;
  if (found?.partnerId !== partnerId || (environment === "live" && !found.liveAccess)) return undefined;
  const joined = (await listMembers({ db }, partnerId)).find(({ userId }) => userId === id);
  return joined && { role: found.role, email: found.email, since: joined.linkedAt };
}

/**
 * Refuses everybody except an owner of the firm who may work in the caller's environment and has a recent proof.
 * @throws ServiceError
 */
export async function requireOwnerOfMoney(
  tx: Tx,
  deps: Pick<MemberDeps, "rowMac" | "clock">,
  principal: Principal,
): Promise<void> {
  const own = await requireOwnerNow(tx, deps, principal);
  if (principal.environment === "live" && !own.liveAccess) throw liveAccessRequired();
  requireProof(principal, deps.clock());
}

export const liveAccessRequired = () =>
  new ServiceError("owner_required", "Only an owner of the firm with live access may do this.");

/**
 * Changes the branding of the caller's firm. The firm's live and test rooms show it.
 * @throws ServiceError naming the field and its rule, and for a caller who is not an owner. If the firm has live
 * access, also for an owner without live access
 */
export const changeBranding = (deps: MemberDeps, principal: Principal, change: BrandingChange): Promise<void> =>
  asBrandOwner(deps, principal, (tx, at) =>
    setBranding(tx, principal.partnerId, change, { at, actor: actorOf(principal) }),
  );

/**
 * Sets the firm's logo, under the same rules as the branding.
 * @param draw returns a PNG of at most 256 KiB. Drawing needs a third of a second, so the caller's role is
 * checked first.
 */
export async function changeLogo(
  deps: MemberDeps,
  principal: Principal,
  { draw, baseUrl }: { draw: () => Promise<Uint8Array>; baseUrl: string },
): Promise<void> {
  await requireBrandOwner(deps, principal);
  const logo = { partnerId: principal.partnerId, png: await draw(), baseUrl };
  await asBrandOwner(deps, principal, (tx, at) => setLogo(tx, logo, { at, actor: actorOf(principal) }));
}

/**
 * Requires an owner who may change the firm's branding.
 * @throws ServiceError for a caller who is not an owner. If the firm has live access, also for an owner without live
 * access
 */
export const requireBrandOwner = (deps: MemberDeps, principal: Principal): Promise<void> =>
  asBrandOwner(deps, principal, async () => {});

/** The pauses between two services that a firm can choose, in minutes; 0 means the service's own setting. */
export const servicePauses = [0, 5, 30, 120, 1440] as const;

/**
 * Sets the pause between two services of the firm's live orders, under the same rules as the branding.
 * @throws ServiceError for another number of minutes
 */
export async function changeServicePause(deps: MemberDeps, principal: Principal, typed: string): Promise<void> {
  const minutes = servicePauses.find((each) => String(each) === typed);
  if (minutes === undefined) throw invalid(`minutes must be one of ${servicePauses.join(", ")}.`);
  const { partnerId } = principal;
  await asBrandOwner(deps, principal, (tx, at) =>
    setServicePause(tx, partnerId, minutes === 0 ? null : minutes, { at, actor: actorOf(principal) }),
  );
}

const asBrandOwner = (deps: MemberDeps, principal: Principal, change: (tx: Tx, at: Date) => Promise<void>) =>
  deps.db.transaction(async (tx) => {
    const own = await requireOwnerNow(tx, deps, principal);
    if (principal.liveEnabled && !own.liveAccess) throw liveAccessRequired();
    await change(tx, deps.clock());
  });

/**
 * Sets whether members need a passkey to change live data. The caller needs a recently used passkey too, so that the
 * rule can't lock everybody out.
 * @throws ServiceError for a word other than on and off. Also for a caller without the owner's role, live access or a
 * recent passkey
 */
export async function changePasskeyForLive(deps: MemberDeps, principal: Principal, to: string): Promise<void> {
  if (to !== "on" && to !== "off") throw invalid("passkey must be on or off.");
  await deps.db.transaction(async (tx) => {
    const own = await requireOwnerNow(tx, deps, principal);
    if (!own.liveAccess) throw liveAccessRequired();
    const at = deps.clock();
    if (principal.member) requireRecentPasskey(principal.member.proof, at);
    await setPasskeyForLive(tx, principal.partnerId, to === "on", { at, actor: actorOf(principal) });
  });
}

/**
 * Removes a person from the firm. The person's sessions continue without a firm. Owners may remove anybody, members
 * only themselves. Only an owner with live access may remove another person who has it.
 * @throws ServiceError for a person who is not a member, and for the last owner while other members remain. Also for a
 * caller without the right or a recent proof
 */
export async function removeMember(deps: MemberDeps, principal: Principal, userId: string): Promise<void> {
  await changeMember(deps, principal, userId, "removal", async (tx, { role }) => {
    const { members, owners } = await store.countMembers(tx, principal.partnerId);
    if (role === "owner" && owners === 1 && members > 1) throw lastOwner();
    await store.deleteMember(tx, userId, deps.clock());
    return { action: "member.removed", detail: { userId } };
  });
}

/**
 * Makes a person an owner or a member.
 * @throws ServiceError for a person who is not a member, an unknown role, and a last owner who would become a member.
 * Also for a caller without the right or a recent proof
 */
export async function changeRole(deps: MemberDeps, principal: Principal, userId: string, to: string): Promise<void> {
  if (to !== "owner" && to !== "member") throw invalid("role must be owner or member.");
  await changeMember(deps, principal, userId, "role", async (tx, membership) => {
    const { role } = membership;
    const { owners } = await store.countMembers(tx, principal.partnerId);
    if (role === "owner" && to === "member" && owners === 1) throw lastOwner();
    await store.updateMember(tx, deps.rowMac, membership, { role: to }, deps.clock());
    return { action: "member.role_changed", detail: { userId, role: to } };
  });
}

/**
 * Lets an owner with live access grant live access to a member, or revoke it.
 * @throws ServiceError for a person who is not a member, and a word other than on and off. Also for a caller without
 * the right or a recent proof
 */
export async function changeLiveAccess(
  deps: MemberDeps,
  principal: Principal,
  userId: string,
  to: string,
): Promise<void> {
  if (to !== "on" && to !== "off") throw invalid("live must be on or off.");
  const liveAccess = to === "on";
  await changeMember(deps, principal, userId, "live access", async (tx, membership) => {
    const live = { access: liveAccess, liveKeyId: null };
    await store.updateMember(tx, deps.rowMac, membership, { live }, deps.clock());
    return { action: "member.live_access_changed", detail: { userId, liveAccess } };
  });
}

/**
 * Lets an owner grant a member the right to see billing, or revoke it. Owners always see billing.
 * @throws ServiceError for a person who is not a member, and a word other than on and off. Also for a caller without
 * the right or a recent proof
 */
export async function changeBillingView(
  deps: MemberDeps,
  principal: Principal,
  userId: string,
  to: string,
): Promise<void> {
  if (to !== "on" && to !== "off") throw invalid("billing must be on or off.");
  const seesBilling = to === "on";
  await changeMember(deps, principal, userId, "billing", async (tx, membership) => {
    await store.updateMember(tx, deps.rowMac, membership, { seesBilling }, deps.clock());
    return { action: "member.billing_changed", detail: { userId, seesBilling } };
  });
}

/**
 * Requires a caller who may see the firm's billing, and returns its principal.
 * @throws ServiceError for a member without the right to see billing
 */
export function requireBilling(principal: Principal): Principal {
  if (!maySeeBilling(principal))
    throw new ServiceError("owner_required", "An owner of your firm has not let you see billing. Ask an owner.");
  return principal;
}

const lastOwner = () => new ServiceError("conflict", "The firm needs an owner: make somebody else an owner first.");

async function changeMember(
  deps: MemberDeps,
  principal: Principal,
  userId: string,
  kind: "removal" | "role" | "live access" | "billing",
  change: (tx: Tx, membership: store.MemberFacts) => Promise<{ action: string; detail: object }>,
): Promise<void> {
  const { db, clock, rowMac } = deps;
  const { partnerId } = principal;
  await db.transaction(async (tx) => {
    const isLeaving = principal.member?.userId === userId && kind === "removal";
    if (isLeaving) await store.lockMembers(tx, partnerId);
    const owner = isLeaving ? null : await requireOwnerNow(tx, deps, principal);
    const membership = isUuid(userId) ? await store.findMembership(tx, rowMac, userId, clock()) : undefined;
    if (membership?.partnerId !== partnerId) throw new ServiceError("not_found", "No such member.");
    // An owner without live access can't change members who have it, and can't grant it.
    if (owner && !owner.liveAccess && (membership.liveAccess || kind === "live access")) throw liveAccessRequired();
    requireProof(principal, clock(), kind === "live access" ? "live" : "test");
    const { action, detail } = await change(tx, membership);
    await tx.query(auditLine({ at: clock(), action, actor: actorOf(principal), partnerId, detail }));
  });
}
