import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Session } from "../../../kernel/identity/identity.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { mailOwners } from "../link/mail.ts";
import type { MemberDeps } from "../membership.ts";
import { findMembership, insertMember, lockMembers, updateMember } from "../store.ts";
import * as store from "./store.ts";

export type { Offer } from "./store.ts";

const unusable = () => new ServiceError("not_found", "This invitation cannot be used.");

/**
 * The offer behind an invitation's link, for the signed-in person.
 * @returns null for a person who is signed in with another email address than the invited one
 * @throws ServiceError, always with the same message: the invitation was used, withdrawn or replaced, or it has
 * expired. Also if the inviter has lost the right to grant the offered access
 */
export async function lookAtInvitation(
  { db, clock, rowMac }: MemberDeps,
  session: Session,
  token: string,
): Promise<store.Offer | null> {
  const offer = isCode(token) ? await store.selectOffer(db, rowMac, tokenSha256(token), clock()) : undefined;
  if (!offer) throw unusable();
  return offer.email === session.email ? offer : null;
}

/**
 * Consumes an invitation and makes its person a member. Mails the owners.
 * @throws ServiceError as `lookAtInvitation`, for a person with another email address than the invited one, and for a
 * person who belongs to a firm. In the last two cases the invitation stays usable.
 */
export async function acceptInvitation(deps: MemberDeps, session: Session, token: string): Promise<void> {
  const { db, clock, rowMac } = deps;
  const { userId, email } = session;
  const sha256 = tokenSha256(token);
  const offer = await lookAtInvitation(deps, session, token);
  if (!offer) throw unusable();
  const { partnerId } = offer;
  await db.transaction(async (tx) => {
    const at = clock();
    await lockMembers(tx, partnerId);
    const consumed = await store.consumeInvitation(tx, rowMac, sha256, email, at);
    if (!consumed) throw unusable();
    const { invitationId, role, liveAccess, invitedBy } = consumed;
    if (!(await insertMember(tx, rowMac, { userId, email, partnerId, role, keyId: null, at }))) {
      const own = (await findMembership(tx, rowMac, userId, at))?.partnerId === partnerId;
      throw new ServiceError(
        "conflict",
        own ? "You are a member of this firm already." : "You belong to another firm. Leave it first, under Team.",
      );
    }
    const member = liveAccess && (await findMembership(tx, rowMac, userId, at));
    if (member) await updateMember(tx, rowMac, member, { live: { access: true, liveKeyId: null } }, at);
    const detail = { invitationId, role, liveAccess, invitedBy };
    await tx.query(auditLine({ at, action: "member.joined", actor: `member:${userId}`, partnerId, detail }));
    await mailOwners(tx, { partnerId, userId, at, invited: true });
  });
}
