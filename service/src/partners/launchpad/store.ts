import type { Sql } from "../../platform/database.ts";

/** Instants of what a partner did first; null for what it did not do yet. */
export type Facts = {
  joinedAt: Date;
  liveEnabled: boolean;
  testOrderAt: Date | null;
  testCompletedAt: Date | null;
  roomAt: Date | null;
  passportAt: Date | null;
  webhookAt: Date | null;
  liveKeyAt: Date | null;
  liveOrderAt: Date | null;
  liveCompletedAt: Date | null;
};

// One look-up in an index each, whatever the partner's size; the environment is named for that.
const first = (table: string, environment: string, more = "") =>
  `(SELECT min(created_at) FROM ${table} WHERE partner_id = p.id AND environment = '${environment}' ${more})`;
const firstOfBoth = (table: string, more = "") => `least(${first(table, "test", more)}, ${first(table, "live", more)})`;
const firstCompleted = (environment: string) =>
  `(SELECT updated_at FROM orders WHERE partner_id = p.id AND environment = '${environment}' AND status = 'Completed'
    ORDER BY created_at, id LIMIT 1)`;
const firstClosing = `(SELECT c.created_at FROM rooms r JOIN closing_passports c ON c.room_id = r.id AND c.version = 1
    WHERE r.partner_id = p.id ORDER BY c.created_at LIMIT 1)`;

const readFacts = `
SELECT p.created_at AS "joinedAt", p.live_enabled AS "liveEnabled",
  ${first("orders", "test")} AS "testOrderAt", ${firstCompleted("test")} AS "testCompletedAt",
  ${firstOfBoth("rooms")} AS "roomAt", coalesce(${firstOfBoth("passports")}, ${firstClosing}) AS "passportAt",
  ${firstOfBoth("webhooks", "AND deleted_at IS NULL")} AS "webhookAt",
  (SELECT min(created_at) FROM partner_keys WHERE partner_id = p.id AND environment = 'live') AS "liveKeyAt",
  ${first("orders", "live")} AS "liveOrderAt", ${firstCompleted("live")} AS "liveCompletedAt"
FROM partners p WHERE p.id = $1`;

export async function selectFacts(sql: Sql, partnerId: string): Promise<Facts> {
  const [facts] = await sql.rows<Facts>(readFacts, [partnerId]);
  if (!facts) throw new Error("a principal without its partner");
  return facts;
}
