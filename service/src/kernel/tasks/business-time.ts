import { dayMs, minuteMs } from "../platform/clock.ts";

/**
 * The most days over which business hours are counted. A calendar with too few business hours in this time is refused
 * as a configuration error.
 */
const maxDays = 370;

/** The opening hours of a business, in minutes after midnight in the time zone. */
export type BusinessCalendar = {
  /** The IANA name of the time zone. */
  zone: string;
  /** The days of the week on which the business is open; 0 is Sunday. */
  days: ReadonlySet<number>;
  opens: number;
  closes: number;
  /** The days off, as `YYYY-MM-DD`. */
  holidays: ReadonlySet<string>;
};

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const cached = formats.get(zone);
  if (cached) return cached;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, format);
  return format;
}

/** The local time in the zone at an instant: the milliseconds that the same date and time would have in UTC. */
function wallClock(instant: number, zone: string): number {
  const part: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(instant)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((instant % 1000) + 1000) % 1000);
}

/**
 * The instant of a local time in the zone. When daylight saving ends, a local time occurs twice. Then the result is the
 * earlier instant west of Greenwich, and the later one east of it.
 * @param wall the local time in the form that `wallClock` returns
 */
function instantOf(wall: number, zone: string): number {
  const guess = wall - (wallClock(wall, zone) - wall);
  return guess - (wallClock(guess, zone) - wall);
}

const isBusinessDay = (midnight: number, { days, holidays }: BusinessCalendar): boolean =>
  days.has(new Date(midnight).getUTCDay()) && !holidays.has(new Date(midnight).toISOString().slice(0, 10));

/**
 * Adds business hours to a time.
 * @throws RangeError for a calendar that has fewer than `hours` business hours within `maxDays`
 */
export function addBusinessHours(from: Date, hours: number, calendar: BusinessCalendar): Date {
  const { zone, opens, closes } = calendar;
  const wall = wallClock(from.getTime(), zone);
  let midnight = Math.floor(wall / dayMs) * dayMs;
  let start = Math.max(wall - midnight, opens * minuteMs);
  let left = hours * 60 * minuteMs;
  for (let day = 0; day < maxDays; day++) {
    const open = isBusinessDay(midnight, calendar) ? Math.max(closes * minuteMs - start, 0) : 0;
    if (open > 0 && left <= open) return new Date(instantOf(midnight + start + left, zone));
    left -= open;
    midnight += dayMs;
    start = opens * minuteMs;
  }
  throw new RangeError(`the calendar has fewer than ${hours} business hours in ${maxDays} days`);
}

/** The day (`YYYY-MM-DD`) of an instant in the zone. */
export const dayIn = (at: Date, zone: string): string =>
  new Date(wallClock(at.getTime(), zone)).toISOString().slice(0, 10);

/**
 * Noon of a day (`YYYY-MM-DD`) in the zone. For a US zone, it is the same day everywhere in the United States at that
 * instant.
 */
export const noonIn = (day: string, zone: string): Date => new Date(instantOf(Date.parse(`${day}T12:00:00Z`), zone));

/**
 * The day (`YYYY-MM-DD`) of an instant, if that day's business hours have begun; null before they begin, and on a day
 * off.
 */
export function openedDay(at: Date, calendar: BusinessCalendar): string | null {
  const wall = wallClock(at.getTime(), calendar.zone);
  const midnight = Math.floor(wall / dayMs) * dayMs;
  const isOpened = isBusinessDay(midnight, calendar) && wall - midnight >= calendar.opens * minuteMs;
  return isOpened ? new Date(midnight).toISOString().slice(0, 10) : null;
}
