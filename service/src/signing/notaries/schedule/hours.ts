import { dayMs, isTimeZone, minuteMs } from "../../../kernel/platform/clock.ts";
import { type FormReader, formReader, isDay, type Read, type Typed } from "../form-reader.ts";

/** A time window of a day: two local times, such as `09:00` and `12:30`. */
type Window = readonly [from: string, to: string];

/** When and where a notary is available for an electronic act. */
export type NotaryHours = {
  /** The IANA name of the time zone. */
  zone: string;
  /** The time windows of each day of the week, starting on Sunday. */
  weekly: readonly (readonly Window[])[];
  /** The time windows of single days, by `YYYY-MM-DD`. They replace that weekday's windows. */
  exceptions: Readonly<Record<string, readonly Window[]>>;
  /**
   * The web address of the notary's own tool for audio and video; null when the notary has none. It is used only for
   * acts that can't be done in a room of this service.
   */
  meetingUrl: string | null;
  /** The address for appointments in person. Null when the notary offers none. */
  place: string | null;
};

export const slotMinutes = 30;
/** The pause between two appointments. */
const pauseMinutes = 10;
export const stepMs = (slotMinutes + pauseMinutes) * minuteMs;
const daysAhead = 14;
/** An appointment must be booked at least this long before it begins. */
const leadMs = 60 * minuteMs;

const dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/**
 * The possible start times of appointments in the next days. The appointment and the pause after it must not overlap
 * with an appointment that starts at a time in `booked`.
 */
export function slotsOf(hours: NotaryHours, booked: readonly Date[], now: Date): Date[] {
  const earliest = now.getTime() + leadMs;
  const today = localDay(hours.zone, now);
  const days = Array.from({ length: daysAhead + 1 }, (_, n) =>
    new Date(Date.parse(`${today}T00:00:00Z`) + n * dayMs).toISOString().slice(0, 10),
  );
  return days
    .flatMap((day) => windowsOf(hours, day).flatMap((window) => beginningsIn(hours.zone, day, window)))
    .filter((at) => at >= earliest && booked.every((each) => Math.abs(each.getTime() - at) >= stepMs))
    .map((at) => new Date(at));
}

const windowsOf = ({ weekly, exceptions }: NotaryHours, day: string): readonly Window[] =>
  exceptions[day] ?? weekly[new Date(`${day}T00:00:00Z`).getUTCDay()] ?? [];

function beginningsIn(zone: string, day: string, [from, to]: Window): number[] {
  const [begin, end] = [instantOf(zone, day, from), instantOf(zone, day, to)];
  // A local time does not exist if daylight saving time skips it on this day. The whole time window is then left out.
  if (begin === null || end === null) return [];
  const found: number[] = [];
  for (let at = begin; at + slotMinutes * minuteMs <= end; at += stepMs) found.push(at);
  return found;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** Cached by zone, because creating a formatter is slow. */
function clockOf(zone: string): Intl.DateTimeFormat {
  const cached = clocks.get(zone);
  if (cached) return cached;
  const parts = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" } as const;
  const created = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", ...parts });
  clocks.set(zone, created);
  return created;
}

/**
 * Converts an instant to the clock time in a zone. The result is in epoch milliseconds: read as UTC, it shows that
 * clock time.
 */
function wallClock(zone: string, at: number): number {
  const parts = clockOf(zone).formatToParts(at);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? "";
  return Date.parse(`${part("year")}-${part("month")}-${part("day")}T${part("hour")}:${part("minute")}:00Z`);
}

const localDay = (zone: string, at: Date): string => new Date(wallClock(zone, at.getTime())).toISOString().slice(0, 10);

/**
 * The instant of a local time, in epoch milliseconds. Returns the first instant for a local time that occurs twice, and
 * null for one that does not exist.
 */
export function instantOf(zone: string, day: string, time: string): number | null {
  const wanted = Date.parse(`${day}T${time}:00Z`);
  const candidates = [-1, 1].map((side) => {
    const near = wanted + side * dayMs;
    return wanted - (wallClock(zone, near) - near);
  });
  return candidates.filter((at) => wallClock(zone, at) === wanted).toSorted((one, other) => one - other)[0] ?? null;
}

/** Reads the form of a notary's hours. The result names every wrong field with its rule. */
export function readHours(typed: Typed): Read<NotaryHours> {
  const read = formReader(typed);
  const zone = read.required("zone", { max: 60 });
  if (zone !== "" && !isZone(zone)) read.fault("zone", "must be a zone like America/Chicago");
  const weekly = dayNames.map((name) => windowsIn(read, `hours_${name.toLowerCase()}`, typed) ?? []);
  const meetingUrl = read.optional("meeting_url", { max: 1000 });
  if (meetingUrl !== null && !isMeeting(meetingUrl))
    read.fault("meeting_url", "must be an https address without a name or password in it");
  return read.done({
    zone,
    weekly,
    exceptions: exceptionsIn(read),
    meetingUrl,
    place: read.optional("place", { max: 300 }),
  });
}

const isZone = (zone: string): boolean => /^[A-Za-z]+\/[\w+/-]+$/.test(zone) && isTimeZone(zone);

function isMeeting(url: string): boolean {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  return parsed?.protocol === "https:" && parsed.username === "" && parsed.password === "";
}

const windowRule = "must be times like 09:00-12:00, 13:00-17:00, in order, each of at least 30 minutes";

function windowsIn(read: FormReader, name: string, typed: Typed): Window[] | null {
  const windows = parseWindows((typed[name] ?? "").trim());
  if (windows === null) read.fault(name, windowRule);
  return windows;
}

/**
 * Parses the time windows of a day. Null for a malformed text, for windows that overlap or are out of order, for a
 * window that is too short, and for more than six windows.
 */
function parseWindows(text: string): Window[] | null {
  if (text === "" || text === "closed") return [];
  const windows = text.split(",").map((part): Window | null => {
    const [, from = "", to = ""] =
      /^\s*([01]\d:[0-5]\d|2[0-3]:[0-5]\d)\s*-\s*([01]\d:[0-5]\d|2[0-3]:[0-5]\d)\s*$/.exec(part) ?? [];
    return minutes(to) - minutes(from) >= slotMinutes ? [from, to] : null;
  });
  const whole = windows.filter((window) => window !== null);
  const isInOrder = whole.every(([from], index) => index === 0 || from >= (whole[index - 1]?.[1] ?? ""));
  return whole.length === windows.length && isInOrder && whole.length <= 6 ? whole : null;
}

const minutes = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

function exceptionsIn(read: FormReader): NotaryHours["exceptions"] {
  const lines = (read.optional("exceptions", { max: 4000, lines: true }) ?? "")
    .split("\n")
    .flatMap((line) => line.trim() || []);
  const days = lines.map((line) => {
    const [, day = "", rest = ""] = /^(\S+)\s+(.+)$/.exec(line) ?? [];
    const windows = parseWindows(rest.trim());
    if (!isDay(day) || rest === "" || windows === null)
      read.fault("exceptions", "must have lines like “2026-12-24 closed” or “2026-12-26 10:00-12:00”");
    return [day, windows ?? []] as const;
  });
  if (lines.length > 100) read.fault("exceptions", "must have at most 100 lines");
  return Object.fromEntries(days);
}

const windowsText = (windows: readonly Window[]): string => windows.map((window) => window.join("-")).join(", ");

/** The values with which the form shows existing hours. */
export const typedHours = (hours: NotaryHours | null): Record<string, string> => ({
  zone: hours?.zone ?? "America/New_York",
  ...Object.fromEntries(
    dayNames.map((name, n) => [`hours_${name.toLowerCase()}`, windowsText(hours?.weekly[n] ?? [])]),
  ),
  exceptions: Object.entries(hours?.exceptions ?? {})
    .toSorted()
    .map(([day, windows]) => `${day} ${windows.length === 0 ? "closed" : windowsText(windows)}`)
    .join("\n"),
  meeting_url: hours?.meetingUrl ?? "",
  place: hours?.place ?? "",
});

export const hoursDays = dayNames.map((name) => ({ name: `hours_${name.toLowerCase()}`, label: name }));
