import { countActionsOfKey, linesWhere } from "../../../kernel/audit/audit.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { fromKeys, joinFirm, verifiedFirm } from "../../partners/partners.ts";

/** The member who issued a key; that person may have left the firm since. */
export type Issuer = { email: string };

/** The member who issued a key; null for a key that the operator issued. */
export async function selectIssuer(db: Sql, keyId: string): Promise<Issuer | null> {
  const [issuer] = await db.query<Issuer>(
    sql`SELECT u.email ${fromKeys} JOIN users u ON u.id = k.issued_by WHERE k.id = ${keyId}`,
  );
  return issuer ?? null;
}

/** The person who revoked a key; null for the operator. */
export type Revoker = { email: string | null };

/** The person who first revoked a key of the firm; null for a key that nobody revoked. */
export async function selectRevoker(db: Sql, partnerId: string, keyId: string): Promise<Revoker | null> {
  const lines = linesWhere(sql`partner_id = ${partnerId} AND action = 'key.revoked' AND detail ->> 'keyId' = ${keyId}`);
  const [revoker] = await db.query<Revoker>(sql`
    SELECT u.email FROM ${lines} AS l LEFT JOIN users u ON l.actor = 'member:' || u.id ORDER BY l.id LIMIT 1`);
  return revoker ?? null;
}

/**
 * Counts of records created with a key. `members` counts the present members whom the key linked to the firm or gave
 * live access.
 */
export type CreatedRecords = {
  orders: number;
  rooms: number;
  passports: number;
  roomPassports: number;
  webhooks: number;
  members: number;
};

export async function countCreatedWithKey(db: Sql, keyId: string): Promise<CreatedRecords> {
  const actions = [
    "order.created",
    "room.created",
    "passport.sealed",
    "room.passport_sealed",
    "webhook.created",
  ] as const;
  const counts = await countActionsOfKey(db, keyId, actions);
  const [joined] = await db.query<{ members: number }>(
    sql`SELECT count(*) AS members FROM members WHERE key_id = ${keyId} OR live_key_id = ${keyId}`,
  );
  const of = (action: (typeof actions)[number]) => counts.get(action) ?? 0;
  return {
    orders: of("order.created"),
    rooms: of("room.created"),
    passports: of("passport.sealed"),
    roomPassports: of("room.passport_sealed"),
    webhooks: of("webhook.created"),
    members: joined?.members ?? 0,
  };
}

export async function selectOwners(tx: Tx, partnerId: string): Promise<string[]> {
  const owners = await tx.query<{ id: string }>(
    sql`SELECT user_id AS id FROM members WHERE partner_id = ${partnerId} AND role = 'owner' ORDER BY linked_at LIMIT 100`,
  );
  return owners.map(({ id }) => id);
}

export type KeyMailFacts = {
  ownerEmail: string;
  /** Null for an operator. */
  actorEmail: string | null;
  firmName: string;
  name: string | null;
  environment: "live" | "test";
};

/** The facts about a key for an owner's mail; undefined for a person who is no longer an owner. */
export async function selectKeyMailFacts(db: Sql, wanted: { keyId: string; userId: string | null; ownerId: string }) {
  const [facts] = await db.query<KeyMailFacts>(sql`
    SELECT ou.email AS "ownerEmail", u.email AS "actorEmail", p.name AS "firmName", k.name, k.environment, ${verifiedFirm}
    ${fromKeys} ${joinFirm(sql`k.partner_id`)} LEFT JOIN users u ON u.id = ${wanted.userId}
      JOIN members o ON o.partner_id = p.id AND o.role = 'owner' JOIN users ou ON ou.id = o.user_id
    WHERE k.id = ${wanted.keyId} AND o.user_id = ${wanted.ownerId}`);
  return facts;
}
