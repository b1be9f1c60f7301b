/** The hours of the day in which a member gets mails that are not urgent. */
import type { Principal } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";

const easternTime = "America/New_York";

/** The time zones that a member can choose, with their names. */
export const mailZones: ReadonlyMap<string, string> = new Map([
  [easternTime, "Eastern Time"],
  ["America/Chicago", "Central Time"],
  ["America/Denver", "Mountain Time"],
  ["America/Phoenix", "Arizona"],
  ["America/Los_Angeles", "Pacific Time"],
  ["America/Anchorage", "Alaska"],
  ["Pacific/Honolulu", "Hawaii"],
  ["America/Puerto_Rico", "Puerto Rico"],
  ["Pacific/Guam", "Guam"],
]);

/** The choice of a person who wants mails at any hour. */
export const anyHour = "any";

/** The zone that the person chose, or `anyHour`; Eastern Time without a choice. */
export async function mailHoursOf(db: Sql, userId: string): Promise<string> {
  const [own] = await db.query<{ zone: string | null }>(
    sql`SELECT time_zone AS zone FROM mail_hours WHERE user_id = ${userId}`,
  );
  return own ? (own.zone ?? anyHour) : easternTime;
}

/**
 * Sets the zone in whose daytime the member gets mails, or `anyHour`.
 * @throws ServiceError for an unknown zone, and for a caller who is not a member
 */
export async function setMailHours(
  { db, clock }: { db: Sql; clock: Clock },
  { member }: Principal,
  zone: string,
): Promise<void> {
  if (zone !== anyHour && !mailZones.has(zone)) throw invalid("Choose a time zone from the list.");
  if (!member) throw new ServiceError("conflict", "Only a member of the firm gets mails about its orders.");
  await db.query(sql`
    INSERT INTO mail_hours (user_id, time_zone, set_at) VALUES (${member.userId}, ${zone === anyHour ? null : zone}, ${clock()})
    ON CONFLICT (user_id) DO UPDATE SET time_zone = excluded.time_zone, set_at = excluded.set_at`);
}

/** The delay of a mail in a time zone: none from 7 AM to 9 PM, else until the next 7 AM. */
const delayIn = (zone: Statement, now: Date): Statement => sql`(
  SELECT CASE WHEN extract(hour FROM l.wall) BETWEEN 7 AND 20 THEN interval '0'
    ELSE (date_trunc('day', l.wall + interval '3 hours') + interval '7 hours') AT TIME ZONE ${zone} - ${now}::timestamptz END
  FROM (SELECT ${now}::timestamptz AT TIME ZONE ${zone} AS wall) l)`;

/**
 * The delay of a mail to the person: `delayIn` for the person's zone, or none for a person who wants mails at any hour.
 * @param userId the SQL of a user's id as text; an unknown id counts as a person who has not chosen a zone
 */
export const mailDelay = (userId: Statement, now: Date): Statement => sql`(
  SELECT CASE WHEN z.is_any THEN interval '0' ELSE ${delayIn(sql`z.zone`, now)} END
  FROM (
    SELECT coalesce(h.time_zone, ${easternTime}::text) AS zone, h.user_id IS NOT NULL AND h.time_zone IS NULL AS is_any
    FROM (SELECT 1) one LEFT JOIN mail_hours h ON h.user_id::text = ${userId}) z)`;

/** SQL condition: true if a mail to the person is delayed now. @param userId as in `mailDelay` */
export const isQuietFor = (userId: Statement, now: Date): Statement => sql`${mailDelay(userId, now)} > interval '0'`;

export const mailDelayMs = (db: Sql, userId: string, now: Date): Promise<number> =>
  millisecondsOf(db, mailDelay(sql`${userId}::text`, now));

/** The delay of a mail in a time zone, in milliseconds. PostgreSQL must know the zone. */
export const mailDelayMsIn = (db: Sql, zone: string, now: Date): Promise<number> =>
  millisecondsOf(db, delayIn(sql`${zone}::text`, now));

async function millisecondsOf(db: Sql, delay: Statement): Promise<number> {
  const [row] = await db.query<{ ms: number }>(sql`SELECT (extract(epoch FROM ${delay}) * 1000)::float8 AS ms`);
  return Math.ceil(row?.ms ?? 0);
}
