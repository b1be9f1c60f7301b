import { hash } from "node:crypto";
import { readWrittenLines } from "../../kernel/audit/audit.ts";
import type { Session } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { addFirstOwner, hadMembers, hadMembersBefore } from "../members/members.ts";

export type JoinDeps = { db: Database; clock: Clock; rowMac: RowMac };

/**
 * The hash of an email address, for the audit line about the address's key. If an attacker later replaces the request's
 * address, the new address doesn't match this hash.
 */
export const addressSha256 = (workEmail: string): string => hash("sha256", workEmail.trim().toLowerCase());

/** The firm to which the signed-in person's address was given access, and that never had a member. */
export type FirmToJoin = { partnerId: string; firmName: string };

/**
 * The firm to which the person's address was given access, by a granted request or by the operator. Null if the firm
 * ever had a member. The mailed sign-in link proves that the person owns the address.
 */
export async function firmToJoin(
  { db, rowMac }: Pick<JoinDeps, "rowMac"> & { db: Sql },
  { email, principal }: Pick<Session, "email" | "principal">,
): Promise<FirmToJoin | null> {
  if (principal) return null;
  const [request] = await db.query<FirmToJoin & { id: string }>(sql`
    SELECT id, partner_id AS "partnerId", firm_name AS "firmName" FROM access_requests
    WHERE lower(work_email) = lower(${email}) AND status = 'issued' AND partner_id IS NOT NULL
    ORDER BY decided_at DESC, id LIMIT 1`);
  if (!request) return null;
  const { id, partnerId, firmName } = request;
  const lines = await readWrittenLines(db, rowMac, sql`partner_id = ${partnerId} AND action = 'access_request.issued'`);
  const isIssued = lines.some(({ detail }) => {
    const { requestId, address } = JSON.parse(detail ?? "{}") as { requestId?: string; address?: string };
    return requestId === id && address === addressSha256(email);
  });
  if (!isIssued || (await hadMembers(db, partnerId))) return null;
  return { partnerId, firmName };
}

/**
 * Makes the person the first owner of the firm of `firmToJoin`, by `addFirstOwner`.
 * @throws ServiceError `conflict` for a member of a firm, and when `firmToJoin` finds no firm
 */
export async function joinOwnFirm(deps: JoinDeps, session: Session): Promise<void> {
  if (session.principal) throw new ServiceError("conflict", "You belong to a firm already.");
  const found = await firmToJoin(deps, session);
  if (!found) throw hadMembersBefore();
  await addFirstOwner(deps, session, found.partnerId);
}
