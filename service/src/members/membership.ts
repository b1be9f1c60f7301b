import { actorOf, type Principal, type ResolveKey, type Role, type Session } from "../identity/identity.ts";
import { insertAudit } from "../partners/partner-audit.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database, Sql, Tx } from "../platform/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { setEnvironment } from "./sessions/store.ts";
import * as store from "./store.ts";

export type { Member } from "./store.ts";

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
  const { partnerId, environment, firmName, tier, key } = principal;
  const { userId } = session;
  const role = await db.transaction(async (tx) => {
    await store.lockMembers(tx, partnerId);
    const at = clock();
    const { owners } = await store.countMembers(tx, partnerId);
    const first: Role = owners === 0 ? "owner" : "member";
    const isNew = await store.insertMember(tx, { userId, partnerId, role: first, keyId: key?.id ?? null, at });
    const membership = await store.findMembership(tx, userId);
    if (membership?.partnerId !== partnerId)
      throw new ServiceError("conflict", "This session is linked to another partner.");
    await setEnvironment(tx, session.id, environment);
    const actor = `member:${userId}`;
    const detail = { role: first, keyId: key?.id };
    if (isNew) await insertAudit(tx, { at, action: "member.linked", actor, partnerId, detail });
    return membership.role;
  });
  return { partner: { id: partnerId, name: firmName, tier }, role };
}

/** The people of a firm. */
export const listMembers = ({ db }: { db: Sql }, partnerId: string) => store.selectMembers(db, partnerId);

/**
 * Locks the firm's members and reads the caller's own membership again: roles may have changed since the request began.
 * @throws ServiceError when the caller is no owner of the firm any more.
 */
export async function requireOwnerNow(tx: Tx, { partnerId, member }: Principal): Promise<void> {
  await store.lockMembers(tx, partnerId);
  const own = member && (await store.findMembership(tx, member.userId));
  if (own?.partnerId !== partnerId || own.role !== "owner")
    throw new ServiceError("owner_required", "Only an owner of the firm may do this.");
}

/**
 * Takes a person out of the firm: the sessions stay, but are linked to nothing. Owners may remove anybody, everybody themselves.
 * @throws ServiceError for a stranger, for who may not, and for the last owner while there are others.
 */
export async function removeMember(deps: MemberDeps, principal: Principal, userId: string): Promise<void> {
  await changeMember(deps, principal, userId, "removal", async (tx, role) => {
    const { members, owners } = await store.countMembers(tx, principal.partnerId);
    if (role === "owner" && owners === 1 && members > 1) throw lastOwner();
    await store.deleteMember(tx, userId);
    return { action: "member.removed", detail: { userId } };
  });
}

/** @throws ServiceError for a stranger, another word than owner or member, who may not, and for the last owner. */
export async function changeRole(deps: MemberDeps, principal: Principal, userId: string, to: string): Promise<void> {
  if (to !== "owner" && to !== "member") throw invalid("role must be owner or member.");
  await changeMember(deps, principal, userId, "role", async (tx, role) => {
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
  kind: "removal" | "role",
  change: (tx: Tx, role: Role) => Promise<{ action: string; detail: object }>,
): Promise<void> {
  const { partnerId } = principal;
  await db.transaction(async (tx) => {
    const isLeaving = principal.member?.userId === userId && kind === "removal";
    await (isLeaving ? store.lockMembers(tx, partnerId) : requireOwnerNow(tx, principal));
    const membership = uuid.test(userId) ? await store.findMembership(tx, userId) : undefined;
    if (membership?.partnerId !== partnerId) throw new ServiceError("not_found", "No such member.");
    const { action, detail } = await change(tx, membership.role);
    await insertAudit(tx, { at: clock(), action, actor: actorOf(principal), partnerId, detail });
  });
}

type ByOperator = { userId: string; partnerId: string };

/**
 * The operator gives a role, and may leave a firm without an owner: the next who is linked becomes one.
 * @throws ServiceError for who is no member of any firm, or another word than owner or member.
 */
export async function setMemberRole(
  deps: MemberDeps,
  userId: string,
  role: string,
): Promise<ByOperator & { role: Role }> {
  if (role !== "owner" && role !== "member") throw invalid("ROLE must be owner or member.");
  const done = await asOperator(deps, userId, "member.role_changed", { role }, (tx) =>
    store.updateRole(tx, userId, role),
  );
  return { ...done, role };
}

/** The operator takes a person out of the firm, be it its last owner. @throws ServiceError for who is no member of any firm. */
export const dropMember = (deps: MemberDeps, userId: string): Promise<ByOperator> =>
  asOperator(deps, userId, "member.removed", {}, (tx) => store.deleteMember(tx, userId));

async function asOperator(
  { db, clock }: MemberDeps,
  userId: string,
  action: string,
  detail: object,
  change: (tx: Tx) => Promise<unknown>,
): Promise<ByOperator> {
  const none = () => new ServiceError("not_found", "No such member.");
  return db.transaction(async (tx) => {
    const found = uuid.test(userId) ? await store.findMembership(tx, userId) : undefined;
    if (!found) throw none();
    const { partnerId } = found;
    await store.lockMembers(tx, partnerId);
    if ((await store.findMembership(tx, userId))?.partnerId !== partnerId) throw none();
    await change(tx);
    const line = { at: clock(), action, actor: "operator", partnerId, detail: { userId, ...detail } };
    await insertAudit(tx, line);
    return { userId, partnerId };
  });
}
