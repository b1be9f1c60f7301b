import type { Sql } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { isAltered, type StateMac, verifiedAll } from "../../../kernel/platform/database/state-mac.ts";

/** The columns of issuers and buyers that the MAC covers. A changed name, address or time zone is a new row. */
export const billingPartyState: StateMac = {
  table: sql`billing_parties`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (b) => sql`${b}.id, ${b}.partner_id, ${b}.content, ${b}.created_by, extract(epoch FROM ${b}.created_at)`,
};

/** The time zone until an issuer is stored in the database, and in place of an altered one (`zoneOrDefault`). */
export const defaultZone = "America/New_York";

/**
 * The time zone of the firm's months and of the dates in its statements: an owner's choice, or else the service's.
 * @throws ServiceError `unavailable` when the MAC of a row that names it is invalid
 */
export async function zoneOf(db: Sql, partnerId: string): Promise<string> {
  const newest = (which: Statement) => sql`(SELECT max(id) FROM billing_parties WHERE ${which})`;
  const [own, service] = [newest(sql`partner_id = ${partnerId}`), newest(sql`partner_id IS NULL`)];
  const [found] = await db.query<{ own: string | null; service: string | null }>(sql`
    SELECT (SELECT content ->> 'zone' FROM billing_parties WHERE id = ${own}) AS own,
      (SELECT content ->> 'zone' FROM billing_parties WHERE id = ${service}) AS service,
      ${verifiedAll(billingPartyState, sql`b`, sql`FROM billing_parties b WHERE b.id IN (${own}, ${service})`)}`);
  return found?.own ?? found?.service ?? defaultZone;
}

/**
 * The firm's time zone for work that must not fail, such as booking money. Returns the default zone if the stored one
 * was altered.
 */
export const zoneOrDefault = (db: Sql, partnerId: string): Promise<string> =>
  zoneOf(db, partnerId).catch((error: unknown) => {
    if (!isAltered(error)) throw error;
    return defaultZone;
  });
