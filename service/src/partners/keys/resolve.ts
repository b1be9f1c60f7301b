import { hash } from "node:crypto";
import type { Environment, Principal, ResolveKey } from "../../identity/identity.ts";
import type { Sql } from "../../platform/database.ts";
import { newSecret } from "../../platform/ids.ts";
import type { LastUse } from "./last-use.ts";

const prefixes = { live: "svc_pk_", test: "svc_pk_test_" } as const;
const bearer = /^Bearer +(svc_pk_(?:test_)?[a-z2-7]{52})$/i;

export const keySha256 = (key: string): Buffer => hash("sha256", key, "buffer");

/** A new key of 256 random bits (contract, Authentication 1); whoever calls shows it once and keeps the hash. */
export const newKey = (environment: Environment): string => prefixes[environment] + newSecret();

type KeyRow = {
  key_id: string;
  environment: Environment;
  last4: string;
  created_at: Date;
  partner_id: string;
  name: string;
  tier: string;
  live_enabled: boolean;
};

const keyOf = (more: string) => `
  SELECT k.id AS key_id, k.environment, k.last4, k.created_at, p.id AS partner_id, p.name, p.tier, p.live_enabled ${more}
  FROM partner_keys k JOIN partners p ON p.id = k.partner_id
  WHERE k.key_sha256 = $1 AND k.revoked_at IS NULL AND (k.environment = 'test' OR p.live_enabled)`;

const findKey = keyOf("");
const findKeyWithRooms = keyOf(`, (SELECT count(*) FROM rooms
    WHERE partner_id = p.id AND environment = k.environment AND status = 'open') AS open_rooms`);

/** The bearer check's one read; apart from its running, so that a bench can run it bare. */
export const keyStatement = (key: string) => ({ text: findKey, values: [keySha256(key)] });

/** The same read with the firm's open rooms counted, for `/api/partner/me`. */
export const keyWithRoomsStatement = (key: string) => ({ text: findKeyWithRooms, values: [keySha256(key)] });

const bearerKey = (authorization: string | undefined): string | undefined => bearer.exec(authorization ?? "")?.[1];

const principalFrom = (row: KeyRow): Principal => ({
  partnerId: row.partner_id,
  environment: row.environment,
  firmName: row.name,
  tier: row.tier,
  liveEnabled: row.live_enabled,
  key: { id: row.key_id, prefix: prefixes[row.environment], last4: row.last4, createdAt: row.created_at },
  member: null,
});

/** Resolves bearer keys by one indexed read each; all causes of failure give null. */
export function keyResolver(db: Sql, lastUse: LastUse): ResolveKey {
  return async (authorization) => {
    const key = bearerKey(authorization);
    if (key === undefined) return null;
    const { text, values } = keyStatement(key);
    const [row] = await db.rows<KeyRow>(text, values);
    if (!row) return null;
    lastUse.seen(row.key_id);
    return principalFrom(row);
  };
}

export type ResolveKeyWithRooms = (
  authorization: string | undefined,
) => Promise<{ principal: Principal; openRooms: number } | null>;

/** Like `keyResolver`, with the count of open rooms in the same read. */
export function keyWithRoomsResolver(db: Sql, lastUse: LastUse): ResolveKeyWithRooms {
  return async (authorization) => {
    const key = bearerKey(authorization);
    if (key === undefined) return null;
    const { text, values } = keyWithRoomsStatement(key);
    const [row] = await db.rows<KeyRow & { open_rooms: number }>(text, values);
    if (!row) return null;
    lastUse.seen(row.key_id);
    return { principal: principalFrom(row), openRooms: row.open_rooms };
  };
}
