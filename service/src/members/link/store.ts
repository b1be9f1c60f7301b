import type { Sql, Tx } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";

/** The owners of a firm besides this person. */
export async function selectOtherOwners(tx: Tx, partnerId: string, userId: string): Promise<string[]> {
  const owners = await tx.query<{ id: string }>(
    sql`SELECT user_id AS id FROM members
     WHERE partner_id = ${partnerId} AND role = 'owner' AND user_id <> ${userId} ORDER BY linked_at LIMIT 100`,
  );
  return owners.map(({ id }) => id);
}

/** A member and an owner of the same firm; undefined when they are that no more. */
export async function selectNews(db: Sql, userId: string, ownerId: string) {
  const [found] = await db.query<{ email: string; ownerEmail: string; firmName: string; liveAccess: boolean }>(
    sql`SELECT u.email, ou.email AS "ownerEmail", p.name AS "firmName", m.live_access AS "liveAccess"
     FROM members m JOIN users u ON u.id = m.user_id JOIN partners p ON p.id = m.partner_id
       JOIN members o ON o.partner_id = m.partner_id AND o.role = 'owner' JOIN users ou ON ou.id = o.user_id
     WHERE m.user_id = ${userId} AND o.user_id = ${ownerId}`,
  );
  return found;
}
