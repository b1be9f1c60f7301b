import type { Environment, Owner, Principal, ResolveKey, Scope } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { isRevoked } from "../../../kernel/platform/revocations.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { verifiedFirm } from "../firm-mac.ts";
import { bearerKey, keyMembers, keyPrefixes, keySha256, keyTable } from "./format.ts";
import type { LastUse } from "./last-use.ts";

type KeyRow = {
  key_id: string;
  environment: Environment;
  last4: string;
  created_at: Date;
  scopes: Scope[] | null;
  expires_at: Date | null;
  row_mac: Buffer | null;
  partner_id: string;
  name: string;
  tier: string;
  live_enabled: boolean;
};

const findKey = (sha256: Buffer, now: Date, more: Statement) => sql`
  SELECT k.id AS key_id, k.environment, k.last4, k.created_at, k.scopes, k.expires_at, k.row_mac,
    p.id AS partner_id, p.name, p.tier, p.live_enabled, ${verifiedFirm}${more}
  FROM partner_keys k JOIN partners p ON p.id = k.partner_id
  WHERE k.key_sha256 = ${sha256} AND k.revoked_at IS NULL AND (k.environment = 'test' OR p.live_enabled)
    AND NOT ${isRevoked(now, sql`k.id::text`)}`;

/** SQL expression: the number of an owner's open rooms. @param owner SQL columns or values */
export type OpenRooms = (owner: Record<keyof Owner, Statement>) => Statement;

/**
 * The query that checks a bearer key. It is a statement of its own, so that a benchmark can run just the query.
 * `keyForMeStatement` is the same query with two more columns.
 */
export const keyStatement = (sha256: Buffer, now: Date): Statement => findKey(sha256, now, nothing);

/**
 * For `/api/partner/me`: the query that checks a bearer key and also returns the key's name and the number of the
 * firm's open rooms.
 */
export const keyForMeStatement =
  (openRoomsOf: OpenRooms) =>
  (sha256: Buffer, now: Date): Statement => {
    const openRooms = openRoomsOf({ partnerId: sql`p.id`, environment: sql`k.environment` });
    return findKey(sha256, now, sql`, k.name AS key_name, ${openRooms} AS open_rooms`);
  };

const principalFrom = (row: KeyRow): Principal => ({
  partnerId: row.partner_id,
  environment: row.environment,
  firmName: row.name,
  tier: row.tier,
  liveEnabled: row.live_enabled,
  key: {
    id: row.key_id,
    prefix: keyPrefixes[row.environment],
    last4: row.last4,
    createdAt: row.created_at,
    scopes: row.scopes,
    expiresAt: row.expires_at,
  },
  member: null,
});

export type KeyResolverDeps = { db: Sql; clock: Clock; rowMac: RowMac; lastUse: LastUse };

/**
 * Returns a function that finds the principal of a bearer key with one indexed read; null for any key that is not
 * valid.
 */
export function keyResolver(deps: KeyResolverDeps): ResolveKey {
  return (authorization, ip) => find(deps, { authorization, ip }, keyStatement, principalFrom);
}

type ForMe = { openRooms: number; keyName: string | null };

/** The key's name and the number of open rooms, if they were read with the caller's key; otherwise undefined. */
export const detailsOf = (principal: Principal): ForMe | undefined =>
  "openRooms" in principal ? (principal as Principal & ForMe) : undefined;

/** Like `keyResolver`, but the same read also returns the key's name and the number of open rooms. */
export function keyForMeResolver(deps: KeyResolverDeps, openRoomsOf: OpenRooms) {
  const statement = keyForMeStatement(openRoomsOf);
  const asKeyForMe = (row: KeyRow & { key_name: string | null; open_rooms: number }) => ({
    ...principalFrom(row),
    keyName: row.key_name,
    openRooms: row.open_rooms,
  });
  return (authorization: string | undefined, ip?: string): Promise<(Principal & ForMe) | null> =>
    find(deps, { authorization, ip }, statement, asKeyForMe);
}

async function find<Row extends KeyRow, Found>(
  { db, clock, rowMac, lastUse }: KeyResolverDeps,
  { authorization, ip }: { authorization: string | undefined; ip: string | undefined },
  statement: (sha256: Buffer, now: Date) => Statement,
  toFound: (row: Row) => Found,
): Promise<Found | null> {
  const key = bearerKey(authorization);
  if (key === undefined) return null;
  const sha256 = keySha256(key);
  const now = clock();
  const [row] = await db.query<Row>(statement(sha256, now));
  if (!row || (row.expires_at && row.expires_at <= now)) return null;
  if (!rowHolds(rowMac, sha256, row)) return null;
  lastUse.seen(row.key_id, ip);
  return toFound(row);
}

function rowHolds(rowMac: RowMac, sha256: Buffer, row: KeyRow): boolean {
  const { key_id: keyId, partner_id: partnerId, environment, scopes, expires_at: expiresAt } = row;
  const facts = { keyId, partnerId, environment, sha256, scopes, expiresAt };
  return rowMac.holds(keyTable, keyMembers(facts), row.row_mac);
}
