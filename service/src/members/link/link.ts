import { auditLine } from "../../audit/audit.ts";
import type { ResolveKey, Role, Session } from "../../identity/identity.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import type { MemberDeps } from "../membership.ts";
import { setEnvironment } from "../sessions/store.ts";
import { countMembers, findMembership, insertMember, lockMembers } from "../store.ts";
import type { Linked } from "./schemas.ts";

/**
 * Links a signed-in person to the firm of a key (contract, Authentication 6): the first one becomes its owner. The session goes on
 * in the key's environment. Linking again to the same firm changes nothing.
 * @throws ServiceError for a key that is none, or a person who belongs to another firm.
 */
export async function linkMember(
  { db, clock, resolveKey }: MemberDeps & { resolveKey: ResolveKey },
  session: Session,
  apiKey: string,
): Promise<Linked> {
  const principal = await resolveKey(`Bearer ${apiKey}`);
  if (!principal) throw invalid("apiKey must be a valid partner API key.");
  const { partnerId, environment, firmName, tier, key } = principal;
  const { userId } = session;
  const role = await db.transaction(async (tx) => {
    await lockMembers(tx, partnerId);
    const at = clock();
    const { owners } = await countMembers(tx, partnerId);
    const first: Role = owners === 0 ? "owner" : "member";
    const isNew = await insertMember(tx, { userId, partnerId, role: first, keyId: key?.id ?? null, at });
    const membership = await findMembership(tx, userId);
    if (membership?.partnerId !== partnerId)
      throw new ServiceError("conflict", "This session is linked to another partner.");
    await setEnvironment(tx, session.id, environment);
    const actor = `member:${userId}`;
    const detail = { role: first, keyId: key?.id };
    if (isNew) await tx.query(auditLine({ at, action: "member.linked", actor, partnerId, detail }));
    return membership.role;
  });
  return { ok: true, partner: { id: partnerId, name: firmName, tier }, role };
}
