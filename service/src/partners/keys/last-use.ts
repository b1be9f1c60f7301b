import type { Clock } from "../../platform/clock.ts";
import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";

/** Remembers when keys were last used and writes that down now and then, not with each request. */
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
      await db.query(
        sql`UPDATE partner_keys k SET last_used_at = GREATEST(k.last_used_at, to_timestamp(u.ms / 1000.0))
         FROM unnest(${[...batch.keys()]}::uuid[], ${[...batch.values()]}::float8[]) AS u (id, ms) WHERE k.id = u.id`,
      );
    },
  };
}
