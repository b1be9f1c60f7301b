import { auditLine } from "../audit/audit.ts";
import type { Role } from "../identity/identity.ts";
import type { Tx } from "../platform/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { isUuid } from "../platform/text.ts";
import type { MemberDeps } from "./membership.ts";
import * as store from "./store.ts";

type Changed = { userId: string; partnerId: string };

/**
 * The operator gives a role, and may leave a firm without an owner: the next person linked becomes one.
 * @throws ServiceError for a person who belongs to no firm, or a role other than owner and member.
 */
export async function setMemberRole(deps: MemberDeps, userId: string, role: string): Promise<Changed & { role: Role }> {
  if (role !== "owner" && role !== "member") throw invalid("ROLE must be owner or member.");
  const changed = await asOperator(deps, userId, "member.role_changed", { role }, (tx) =>
    store.updateRole(tx, userId, role),
  );
  return { ...changed, role };
}

/** The operator removes a person from the firm, even its last owner. @throws ServiceError for a person who belongs to no firm. */
export const dropMember = (deps: MemberDeps, userId: string): Promise<Changed> =>
  asOperator(deps, userId, "member.removed", {}, (tx) => store.deleteMember(tx, userId));

async function asOperator(
  { db, clock }: MemberDeps,
  userId: string,
  action: string,
  detail: object,
  change: (tx: Tx) => Promise<unknown>,
): Promise<Changed> {
  const unknown = () => new ServiceError("not_found", "No such member.");
  return db.transaction(async (tx) => {
    const found = isUuid(userId) ? await store.findMembership(tx, userId) : undefined;
    if (!found) throw unknown();
    const { partnerId } = found;
    await store.lockMembers(tx, partnerId);
    if ((await store.findMembership(tx, userId))?.partnerId !== partnerId) throw unknown();
    await change(tx);
    const line = { at: clock(), action, actor: "operator", partnerId, detail: { userId, ...detail } };
    await tx.query(auditLine(line));
    return { userId, partnerId };
  });
}
