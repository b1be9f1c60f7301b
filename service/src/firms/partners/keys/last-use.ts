import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { loggedNetwork } from "../../../kernel/platform/network.ts";

/**
 * Remembers when and from which network each key was last used. Writes these uses to the database periodically, not
 * with each request.
 */
export type LastUse = {
  seen: (keyId: string, ip: string | undefined) => void;
  /** Writes the uses since the last call, in one statement. */
  flush: () => Promise<void>;
};

export function trackLastUse(db: Sql, clock: Clock): LastUse {
  let seen = new Map<string, { ms: number; ip: string | undefined }>();
  return {
    seen: (keyId, ip) => seen.set(keyId, { ms: clock().getTime(), ip }),
    async flush() {
      if (seen.size === 0) return;
      const batch = seen;
      seen = new Map();
      const uses = [...batch.values()];
      const networks = uses.map(({ ip = "" }) => loggedNetwork(ip) ?? null);
      // Replaces only an earlier time of last use, because another node may have written a later one.
      await db.query(
        sql`UPDATE partner_keys k SET last_used_at = to_timestamp(u.ms / 1000.0), last_used_from = coalesce(u.network, k.last_used_from)
         FROM unnest(${[...batch.keys()]}::uuid[], ${uses.map(({ ms }) => ms)}::float8[], ${networks}::text[])
           AS u (id, ms, network)
         WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < to_timestamp(u.ms / 1000.0))`,
      );
    },
  };
}
