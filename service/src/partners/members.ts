import { actorOf, type Principal, type ResolveKey, type Role, type Session } from "../http/authentication.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import * as store from "./members-store.ts";
import { insertAudit } from "./partner-audit.ts";
import { setEnvironment } from "./sessions-store.ts";

export type { Member } from "./members-store.ts";

export type MemberDeps = { db: Database; clock: Clock };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Links a signed-in person to the firm of a key (contract, Authentication 6): the first one becomes its owner. The session goes on
 * in the key's environment. Linking again to the same firm changes nothing.
 * @throws ServiceError for a key that is none, or a person who belongs to another firm.
 */
export async function linkMember(
  { db, clock, resolveKey }: MemberDeps & { resolveKey: ResolveKey },
  session: Session,
  apiKey: string,
): Promise<{ partner: { id: string; name: string; tier: string }; role: Role }> {
  const principal = await resolveKey(`Bearer ${apiKey}`);
  if (!principal) throw invalid("apiKey must be a valid partner API key.");
  const { partnerId, environment, firmName, tier } = principal;
  const { userId } = session;
  const role = await db.transaction(async (tx) => {
    await store.lockMembers(tx, partnerId);
    const at = clock();
    const { owners } = await store.countMembers(tx, partnerId);
    const first: Role = owners === 0 ? "owner" : "member";
    const isNew = await store.insertMember(tx, { userId, partnerId, role: first, at });
    const membership = await store.findMembership(tx, userId);
    if (membership?.partnerId !== partnerId)
      throw new ServiceError("conflict", "This session is linked to another partner.");
    await setEnvironment(tx, session.id, environment);
    const actor = `member:${userId}`;
    if (isNew) await insertAudit(tx, { at, action: "member.linked", actor, partnerId, detail: { role: first } });
    return membership.role;
  });
  return { partner: { id: partnerId, name: firmName, tier }, role };
}

/** The people of the caller's firm. */
export const listMembers = ({ db }: MemberDeps, { partnerId }: Principal) => store.selectMembers(db, partnerId);

/** @throws ServiceError when the caller is no owner. */
export function requireOwner({ member }: Principal): void {
  if (member?.role !== "owner") throw new ServiceError("owner_required", "Only an owner of the firm may do this.");
}

/**
 * Takes a person out of the firm: the sessions stay, but are linked to nothing. Owners may remove anybody, everybody themselves.
 * @throws ServiceError for a stranger, for who may not, and for the last owner while there are others.
 */
export async function removeMember(deps: MemberDeps, principal: Principal, userId: string): Promise<void> {
  if (principal.member?.userId !== userId) requireOwner(principal);
  await changeMember(deps, principal, userId, async (tx, role) => {
    const { members, owners } = await store.countMembers(tx, principal.partnerId);
    if (role === "owner" && owners === 1 && members > 1) throw lastOwner();
    await store.deleteMember(tx, userId);
    return { action: "member.removed", detail: { userId } };
  });
}

/** @throws ServiceError for a stranger, another word than owner or member, who may not, and for the last owner. */
export async function changeRole(deps: MemberDeps, principal: Principal, userId: string, to: string): Promise<void> {
  requireOwner(principal);
  if (to !== "owner" && to !== "member") throw invalid("role must be owner or member.");
  await changeMember(deps, principal, userId, async (tx, role) => {
    const { owners } = await store.countMembers(tx, principal.partnerId);
    if (role === "owner" && to === "member" && owners === 1) throw lastOwner();
    await store.updateRole(tx, userId, to);
    return { action: "member.role_changed", detail: { userId, role: to } };
  });
}

const lastOwner = () => new ServiceError("conflict", "The firm needs an owner: make somebody else an owner first.");

async function changeMember(
  { db, clock }: MemberDeps,
  principal: Principal,
  userId: string,
  change: (tx: Tx, role: Role) => Promise<{ action: string; detail: object }>,
): Promise<void> {
  const { partnerId } = principal;
  await db.transaction(async (tx) => {
    await store.lockMembers(tx, partnerId);
    const membership = uuid.test(userId) ? await store.findMembership(tx, userId) : undefined;
    if (membership?.partnerId !== partnerId) throw new ServiceError("not_found", "No such member.");
    const { action, detail } = await change(tx, membership.role);
    await insertAudit(tx, { at: clock(), action, actor: actorOf(principal), partnerId, detail });
  });
}
