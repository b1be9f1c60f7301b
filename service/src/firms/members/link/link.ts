import { auditLine, findLine } from "../../../kernel/audit/audit.ts";
import type { Principal, ResolveKey, Role, Session } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { isRecentPasskey, requireRecentPasskey } from "../../../kernel/platform/recent-proof.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { fromFirms, isKeyActive, verifiedFirm } from "../../partners/partners.ts";
import { giveOwnersLive } from "../by-operator.ts";
import type { MemberDeps } from "../membership.ts";
import { setEnvironment } from "../sessions/store.ts";
import {
  asksForPasskeys,
  countMembers,
  findMembership,
  insertMember,
  lockMembers,
  type MemberFacts,
  updateMember,
} from "../store.ts";
import { mailOwners } from "./mail.ts";
import type { Linked } from "./schemas.ts";

const noKey = () => invalid("apiKey must be a valid partner API key.");

/**
 * Links a signed-in person to the firm of a key (contract, Authentication 6). A new member of a firm without an owner
 * becomes its owner; a person who was already linked keeps their role. The session switches to the key's environment. A
 * test key grants only test access. A live key also grants live access, even to a person who was already linked.
 *
 * If the firm requires passkeys, a live key needs a recent passkey. Without it, a new member gets only test access, and
 * a member without live access is refused.
 * @throws ServiceError for an invalid or restricted key, for a person of another firm, and for a member without live
 * access who lacks the recent passkey
 */
export async function linkMember(
  { db, clock, rowMac, resolveKey }: MemberDeps & { resolveKey: ResolveKey },
  session: Session,
  apiKey: string,
  ip: string,
): Promise<Linked> {
  const principal = await resolveKey(`Bearer ${apiKey}`, ip);
  const { key } = principal ?? {};
  if (!principal || !key) throw noKey();
  // A restricted key can't link, because a member may do more in the dashboard than the key allows.
  if (key.scopes)
    throw new ServiceError("scope_required", "Only a key without restrictions connects a person to its firm.");
  const { partnerId, environment, firmName, tier } = principal;
  const { role } = await db.transaction(async (tx) => {
    await lockMembers(tx, partnerId);
    if (!(await isKeyActive(tx, { id: key.id, partnerId, environment }, clock()))) throw noKey();
    const membership = await join(tx, rowMac, session, { ...principal, keyId: key.id, at: clock() });
    await setEnvironment(tx, session.id, environment);
    return membership;
  });
  return { ok: true, partner: { id: partnerId, name: firmName, tier }, role };
}

type ByKey = Pick<Principal, "partnerId" | "environment"> & { keyId: string; at: Date };

/** Links a person to the firm. The caller must have locked the firm's members. */
async function join(
  tx: Tx,
  rowMac: RowMac,
  { userId, email, proof }: Session,
  { partnerId, environment, keyId, at }: ByKey,
): Promise<MemberFacts> {
  const { owners } = await countMembers(tx, partnerId);
  const first: Role = owners === 0 ? "owner" : "member";
  const isNew = await insertMember(tx, rowMac, { userId, email, partnerId, role: first, keyId, at });
  const membership = await findMembership(tx, rowMac, userId, at);
  if (membership?.partnerId !== partnerId)
    throw new ServiceError("conflict", "This session is linked to another partner.");
  const line = { at, actor: `member:${userId}`, partnerId };
  if (isNew) await tx.query(auditLine({ ...line, action: "member.linked", detail: { role: first, keyId } }));
  const isAsked = environment === "live" && !membership.liveAccess;
  const isRaised = isAsked && (isRecentPasskey(proof, at) || !(await asksForPasskeys(tx, partnerId)));
  if (isAsked && !isRaised && !isNew) requireRecentPasskey(proof, at);
  if (isRaised) {
    await updateMember(tx, rowMac, membership, { live: { access: true, liveKeyId: keyId } }, at);
    const detail = { userId, liveAccess: true, keyId };
    await tx.query(auditLine({ ...line, action: "member.live_access_changed", detail }));
  }
  if (isNew || isRaised) await mailOwners(tx, { partnerId, userId, at });
  return membership;
}

export const hadMembers = async (db: Sql, partnerId: string): Promise<boolean> =>
  (await findLine(db, sql`partner_id = ${partnerId} AND action LIKE 'member.%'`)) !== undefined;

/**
 * The error for a firm that has or had members. A person may have left such a firm, or been removed from it. Their
 * email address alone must not make them its owner again.
 */
export const hadMembersBefore = () =>
  new ServiceError(
    "conflict",
    "This firm has or had members already. Ask an owner to invite you, or connect with one of its keys.",
  );

/**
 * Makes a person the first owner of a firm that never had a member. The person gets live access if the firm has it. The
 * caller must have verified that the firm was created for the person's address.
 * @throws ServiceError for a firm that has or had members, and for a person who belongs to a firm
 */
export async function addFirstOwner(
  { db, clock, rowMac }: MemberDeps,
  { userId, email }: Session,
  partnerId: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockMembers(tx, partnerId);
    const at = clock();
    if (await hadMembers(tx, partnerId)) throw hadMembersBefore();
    if (!(await insertMember(tx, rowMac, { userId, email, partnerId, role: "owner", keyId: null, at })))
      throw new ServiceError("conflict", "You belong to another firm. Leave it first, under Team.");
    const line = { at, actor: `member:${userId}`, partnerId };
    await tx.query(auditLine({ ...line, action: "member.linked", detail: { role: "owner", byAddress: true } }));
    // Live access that an operator granted to the new firm also applies to its first owner.
    const live = await tx.query(sql`SELECT ${verifiedFirm} ${fromFirms} WHERE p.id = ${partnerId} AND p.live_enabled`);
    if (live.length > 0) await giveOwnersLive(tx, rowMac, partnerId, line);
  });
}
