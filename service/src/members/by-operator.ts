import { auditLine } from "../audit/audit.ts";
import type { Role } from "../identity/identity.ts";
import type { Tx } from "../platform/database/database.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { isUuid } from "../platform/text.ts";
import type { MemberDeps } from "./membership.ts";
import * as store from "./store.ts";

type Changed = { userId: string; partnerId: string };
type Setting = { role?: Role; liveAccess?: boolean };

/**
 * The operator gives a role or live access, and may leave a firm without an owner: the next person linked becomes one.
 * @throws ServiceError for a person who belongs to no firm, or a role other than owner and member.
 */
export async function setMember(
  deps: MemberDeps,
  userId: string,
  { role, live }: { role?: string | undefined; live?: boolean | undefined },
): Promise<Changed & Setting> {
  const change: Setting = {
    ...(role !== undefined && { role: requireRole(role) }),
    ...(live !== undefined && { liveAccess: live }),
  };
  const changed = await asOperator(deps, userId, "member.changed", change, (tx, before) =>
    store.updateMember(
      tx,
      deps.rowMac,
      before,
      {
        ...(change.role && { role: change.role }),
        ...(live !== undefined && { live: { access: live, liveKeyId: null } }),
      },
      deps.clock(),
    ),
  );
  return { ...changed, ...change };
}
function requireRole(text: string): Role {
  if (text !== "owner" && text !== "member") throw invalid("ROLE must be owner or member.");
  return text;
}

/** The operator removes a person from the firm, even its last owner. @throws ServiceError for a person who belongs to no firm. */
export const dropMember = (deps: MemberDeps, userId: string): Promise<Changed> =>
  asOperator(deps, userId, "member.removed", {}, (tx) => store.deleteMember(tx, userId, deps.clock()));

async function asOperator(
  { db, clock, rowMac }: MemberDeps,
  userId: string,
  action: string,
  detail: object,
  change: (tx: Tx, before: store.MemberFacts) => Promise<unknown>,
): Promise<Changed> {
  const unknown = () => new ServiceError("not_found", "No such member.");
  return db.transaction(async (tx) => {
    const found = isUuid(userId) ? await store.findMembership(tx, rowMac, userId, clock()) : undefined;
    if (!found) throw unknown();
    const { partnerId } = found;
    await store.lockMembers(tx, partnerId);
    const locked = await store.findMembership(tx, rowMac, userId, clock());
    if (locked?.partnerId !== partnerId) throw unknown();
    await change(tx, locked);
    const line = { at: clock(), action, actor: "operator", partnerId, detail: { userId, ...detail } };
    await tx.query(auditLine(line));
    return { userId, partnerId };
  });
}
