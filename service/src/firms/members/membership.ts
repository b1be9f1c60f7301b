import { auditLine } from "../audit/audit.ts";
import { actorOf, type Principal } from "../identity/identity.ts";
import { type BrandingChange, setBranding, setLogo, setPasskeyForLive } from "../partners/partners.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Sql, Tx } from "../platform/database/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { requireProof, requireRecentPasskey } from "../platform/recent-proof.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { isUuid } from "../platform/text.ts";
import * as store from "./store.ts";

export type { Member } from "./store.ts";

export type MemberDeps = { db: Database; clock: Clock; rowMac: RowMac };

/** The people of a firm. */
export const listMembers = ({ db }: { db: Sql }, partnerId: string) => store.selectMembers(db, partnerId);

/**
 * Locks the firm's members and reads the caller's own membership again: roles may have changed since the request began.
 * @throws ServiceError when the caller is no owner of the firm any more.
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

export const liveAccessRequired = () =>
  new ServiceError("owner_required", "Only an owner of the firm with live access may do this.");

/**
 * Changes the branding of the caller's firm, which live rooms show as test rooms do.
 * @throws ServiceError naming the field and its rule, or for a caller who is no owner, or has no live access to a firm that is live.
 */
export const changeBranding = (deps: MemberDeps, principal: Principal, change: BrandingChange): Promise<void> =>
  asBrandOwner(deps, principal, (tx, at) =>
    setBranding(tx, principal.partnerId, change, { at, actor: actorOf(principal) }),
  );

/**
 * Makes a picture the firm's logo, under the same rules.
 * @param logo `draw` gives a PNG of at most 256 KiB: that takes a third of a second, so the caller's role is checked first
 */
export async function changeLogo(
  deps: MemberDeps,
  principal: Principal,
  { draw, baseUrl }: { draw: () => Promise<Uint8Array>; baseUrl: string },
): Promise<void> {
  await asBrandOwner(deps, principal, async () => {});
  const logo = { partnerId: principal.partnerId, png: await draw(), baseUrl };
  await asBrandOwner(deps, principal, (tx, at) => setLogo(tx, logo, { at, actor: actorOf(principal) }));
}

const asBrandOwner = (deps: MemberDeps, principal: Principal, change: (tx: Tx, at: Date) => Promise<void>) =>
  deps.db.transaction(async (tx) => {
    const own = await requireOwnerNow(tx, deps, principal);
    if (principal.liveEnabled && !own.liveAccess) throw liveAccessRequired();
    await change(tx, deps.clock());
  });

/**
 * Says whether members must have shown a passkey before they change what is live. Who says so shows one, so that nobody is shut out.
 * @throws ServiceError for a word other than on and off, and a caller who is no owner with live access, or has shown none.
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
 * Removes a person from the firm: the sessions stay, but are linked to nothing. Owners may remove anybody, members only themselves.
 * @throws ServiceError for a person who is no member, a caller who may not, and for the last owner while there are others.
 */
export async function removeMember(deps: MemberDeps, principal: Principal, userId: string): Promise<void> {
  await changeMember(deps, principal, userId, "removal", async (tx, { role }) => {
    const { members, owners } = await store.countMembers(tx, principal.partnerId);
    if (role === "owner" && owners === 1 && members > 1) throw lastOwner();
    await store.deleteMember(tx, userId, deps.clock());
    return { action: "member.removed", detail: { userId } };
  });
}

/** @throws ServiceError for a person who is no member, another role, a caller who may not, and for the last owner. */
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
 * An owner who has live access gives it to a member, or takes it away.
 * @throws ServiceError for a person who is no member, a word other than on and off, and a caller who may not.
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

const lastOwner = () => new ServiceError("conflict", "The firm needs an owner: make somebody else an owner first.");

async function changeMember(
  deps: MemberDeps,
  principal: Principal,
  userId: string,
  kind: "removal" | "role" | "live access",
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
    // An owner of test alone decides over nobody who works in live.
    if (owner && !owner.liveAccess && (membership.liveAccess || kind === "live access")) throw liveAccessRequired();
    requireProof(principal, clock(), kind === "live access" ? "live" : "test");
    const { action, detail } = await change(tx, membership);
    await tx.query(auditLine({ at: clock(), action, actor: actorOf(principal), partnerId, detail }));
  });
}
