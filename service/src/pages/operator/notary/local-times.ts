/**
 * Notaries type and read local times in the time zone of their office hours. Without office hours, the times are in
 * UTC. The desk, its API and the journal use UTC.
 */
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { findHours, instantOf, type Typed } from "../../../signing/notaries/notaries.ts";

export const utc = "UTC";

export const zoneOf = async (db: Sql, notaryId: string): Promise<string> =>
  (await findHours(db, notaryId))?.zone ?? utc;

const localMinute = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})$/;

function isOnCalendar(day: string, time: string): boolean {
  const at = new Date(`${day}T${time}:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(`${day}T${time}`);
}

/**
 * The form's values, with the times in the fields `names` converted to UTC for the desk. A time that ends with `Z` is
 * UTC already. A text in another format is passed on unchanged, and the desk rejects it.
 * @throws ServiceError for a local time that is skipped by the change to daylight saving time
 */
export function inUtc(typed: Typed, names: readonly string[], zone: string): Typed {
  if (zone === utc) return typed;
  const changed = names.flatMap((name) => {
    const [, day, time] = localMinute.exec((typed[name] ?? "").trim()) ?? [];
    if (day === undefined || time === undefined || !isOnCalendar(day, time)) return [];
    const at = instantOf(zone, day, time);
    if (at === null) throw invalid(`${name} must be a time that exists in ${zone}.`);
    return [[name, new Date(at).toISOString()] as const];
  });
  return { ...typed, ...Object.fromEntries(changed) };
}

/** An instant in the format that the notary types: `2026-01-31T14:05`. */
export function localText(at: Date, zone: string): string {
  // The Swedish time format is YYYY-MM-DD HH:MM.
  const local = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "short", timeZone: zone });
  return local.format(at).replace(" ", "T");
}

/** Stored values, with the times in the fields `names` converted from UTC to the notary's zone. */
export function inLocal(values: Typed, names: readonly string[], zone: string): Typed {
  const changed = names.flatMap((name) => {
    const [whole] = localMinute.exec(values[name] ?? "") ?? [];
    return whole === undefined ? [] : [[name, localText(new Date(`${whole}:00Z`), zone)] as const];
  });
  return { ...values, ...Object.fromEntries(changed) };
}

export const actTimes = ["started_at", "ended_at"] as const;
