import type { Clock } from "../../platform/clock.ts";
import type { Sql } from "../../platform/database.ts";

/** Remembers when keys were last used and writes that down once in a while, not once a request. */
export type LastUse = {
  seen: (keyId: string) => void;
  /** Writes what was seen since the last call, in one statement. */
  flush: () => Promise<void>;
};

export function trackLastUse(db: Sql, clock: Clock): LastUse {
  let seen = new Map<string, number>();
  return {
    seen: (keyId) => seen.set(keyId, clock().getTime()),
    async flush() {
      if (seen.size === 0) return;
      const batch = seen;
      seen = new Map();
      await db.rows(
        `UPDATE partner_keys k SET last_used_at = GREATEST(k.last_used_at, to_timestamp(u.ms / 1000.0))
         FROM unnest($1::uuid[], $2::float8[]) AS u (id, ms) WHERE k.id = u.id`,
        [[...batch.keys()], [...batch.values()]],
      );
    },
  };
}
