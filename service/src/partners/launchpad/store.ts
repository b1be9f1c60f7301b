import type { Environment } from "../../identity/identity.ts";
import type { Sql } from "../../platform/database/database.ts";
import { nothing, type Statement, sql } from "../../platform/database/sql.ts";

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
const inEnvironment: Readonly<Record<Environment, Statement>> = {
  test: sql`partner_id = p.id AND environment = 'test'`,
  live: sql`partner_id = p.id AND environment = 'live'`,
};
const first = (table: Statement, environment: Environment, more = nothing) =>
  sql`(SELECT min(created_at) FROM ${table} WHERE ${inEnvironment[environment]}${more})`;
const firstOfBoth = (table: Statement, more = nothing) =>
  sql`least(${first(table, "test", more)}, ${first(table, "live", more)})`;
const firstCompleted = (environment: Environment) =>
  sql`(SELECT updated_at FROM orders WHERE ${inEnvironment[environment]} AND status = 'Completed'
    ORDER BY created_at, id LIMIT 1)`;
const firstClosing = sql`(SELECT c.created_at FROM rooms r JOIN closing_passports c ON c.room_id = r.id AND c.version = 1
    WHERE r.partner_id = p.id ORDER BY c.created_at LIMIT 1)`;

const facts = sql`p.created_at AS "joinedAt", p.live_enabled AS "liveEnabled",
  ${first(sql`orders`, "test")} AS "testOrderAt", ${firstCompleted("test")} AS "testCompletedAt",
  ${firstOfBoth(sql`rooms`)} AS "roomAt", coalesce(${firstOfBoth(sql`passports`)}, ${firstClosing}) AS "passportAt",
  ${firstOfBoth(sql`webhooks`, sql` AND deleted_at IS NULL`)} AS "webhookAt",
  ${first(sql`partner_keys`, "live")} AS "liveKeyAt",
  ${first(sql`orders`, "live")} AS "liveOrderAt", ${firstCompleted("live")} AS "liveCompletedAt"`;

export async function selectFacts(db: Sql, partnerId: string): Promise<Facts> {
  const [found] = await db.query<Facts>(sql`SELECT ${facts} FROM partners p WHERE p.id = ${partnerId}`);
  if (!found) throw new Error("a principal without its partner");
  return found;
}
