import { auditLine } from "../audit/audit.ts";
import type { Role } from "../identity/identity.ts";
import type { Clock } from "../platform/clock.ts";
import type { Sql, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { endAnySessions, isOpen } from "./sessions/store.ts";
import { deleteMember } from "./store.ts";

export type MemberOfKey = { userId: string; email: string; role: Role; linkedAt: Date; sessions: number };

/** The members whom a key linked, or who have live access by it, with how many sessions each has. */
export const membersOfKey = ({ db, clock }: { db: Sql; clock: Clock }, keyId: string) =>
  db.query<MemberOfKey>(
    sql`SELECT m.user_id AS "userId", u.email, m.role, m.linked_at AS "linkedAt",
       (SELECT count(*) FROM sessions s WHERE s.user_id = m.user_id AND ${isOpen(clock())}) AS sessions
     FROM members m JOIN users u ON u.id = m.user_id
     WHERE m.key_id = ${keyId} OR m.live_key_id = ${keyId} ORDER BY m.linked_at, m.user_id`,
  );

/** Takes them out of the firm and signs them out everywhere; under the firm's lock. */
export async function endMembersOfKey(
  { db: tx, clock }: { db: Tx; clock: Clock },
  partnerId: string,
  members: readonly MemberOfKey[],
): Promise<void> {
  for (const { userId, email } of members) {
    const at = clock();
    await endAnySessions(tx, { email }, at);
    await deleteMember(tx, userId, at);
    await tx.query(auditLine({ at, action: "member.removed", actor: "operator", partnerId, detail: { userId } }));
  }
}
