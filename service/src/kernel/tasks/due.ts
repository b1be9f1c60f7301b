import { fileURLToPath } from "node:url";
import { type Static, Type } from "typebox";
import { readCheckedYaml } from "../platform/checked-yaml.ts";
import { isTimeZone } from "../platform/clock.ts";
import { StartupError } from "../platform/errors.ts";
import { addBusinessHours, type BusinessCalendar, dayIn, noonIn, openedDay } from "./business-time.ts";
import { type TaskKind, taskKinds } from "./kinds.ts";

const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;
const timeOfDay = Type.String({ pattern: "^([01][0-9]|2[0-4]):[0-5][0-9]$" });
const File = Type.Object(
  {
    calendar: Type.Object(
      {
        zone: Type.String(),
        days: Type.Array(Type.Union(weekdays.map((day) => Type.Literal(day))), { minItems: 1 }),
        opens: timeOfDay,
        closes: timeOfDay,
        holidays: Type.Array(Type.String({ pattern: "^[0-9]{4}-[01][0-9]-[0-3][0-9]$" })),
      },
      { additionalProperties: false },
    ),
    hours: Type.Object(
      Object.fromEntries(
        Object.keys(taskKinds).map((kind) => [kind, Type.Number({ exclusiveMinimum: 0, maximum: 1000 })]),
      ),
      { additionalProperties: false },
    ),
    on_the_way: Type.Record(Type.String(), Type.Number({ minimum: 0, maximum: 1000 })),
  },
  { additionalProperties: false },
);

export type TaskTimes = {
  calendar: BusinessCalendar;
  hours: Readonly<Record<string, number>>;
  /**
   * The transit times of parcels, in business hours. Each key is a part of the name of a carrier's service, in lower
   * case.
   */
  onTheWay: Readonly<Record<string, number>>;
};

const shipped = fileURLToPath(new URL("../../../data/task-times.yaml", import.meta.url));

const minutesOf = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

/**
 * Reads the business hours, and the time limit of each kind of task, from a YAML file.
 * @throws StartupError naming the first entry that breaks a rule
 */
export function readTaskTimes(path = shipped): TaskTimes {
  const { calendar, hours, on_the_way: onTheWay }: Static<typeof File> = readCheckedYaml("task times", path, File);
  const { zone, days, holidays } = calendar;
  const [opens, closes] = [minutesOf(calendar.opens), minutesOf(calendar.closes)];
  if (closes <= opens) throw new StartupError(`task times ${path}: calendar.closes must be after calendar.opens`);
  if (!isTimeZone(zone)) throw new StartupError(`task times ${path}: calendar.zone is not a time zone`);
  const numbers = new Set(days.map((day) => weekdays.indexOf(day as (typeof weekdays)[number])));
  const times = { calendar: { zone, days: numbers, opens, closes, holidays: new Set(holidays) }, hours, onTheWay };
  requireEnoughHours(path, times);
  return times;
}

/**
 * Refuses a time limit for which the calendar has too few business hours (`addBusinessHours`). Counts from the first
 * holiday, so that all holidays fall into the period.
 */
function requireEnoughHours(path: string, { calendar, hours, onTheWay }: TaskTimes): void {
  const [first = "2026-01-01"] = [...calendar.holidays].toSorted();
  const inAll = [
    ...Object.entries(hours).map(([kind, max]) => [`hours.${kind}`, max] as const),
    ...Object.entries(onTheWay).map(([words, max]) => [`on_the_way.${words}`, max + hoursMore] as const),
  ];
  for (const [entry, max] of inAll) {
    try {
      addBusinessHours(new Date(`${first}T00:00:00Z`), max, calendar);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new StartupError(`task times ${path}: ${entry} is too long: ${error.message}`);
    }
  }
}

let times: TaskTimes | undefined;

/**
 * Two business days of 8 hours: the delay that a parcel may have, and the time until a question without an answer is
 * asked again.
 */
const hoursMore = 16;

/** The day (`YYYY-MM-DD`) of an instant, if it is a business day whose business hours have begun; null otherwise. */
export function businessMorning(at: Date): string | null {
  times ??= readTaskTimes();
  return openedDay(at, times.calendar);
}

/** The day (`YYYY-MM-DD`) of an instant, in the time zone of the business hours. */
export function businessDay(at: Date): string {
  times ??= readTaskTimes();
  return dayIn(at, times.calendar.zone);
}

/** Noon of a day (`YYYY-MM-DD`), in the time zone of the business hours. */
export function businessNoon(day: string): Date {
  times ??= readTaskTimes();
  return noonIn(day, times.calendar.zone);
}

/** The due time of a task that is opened at this instant. For a rush order, the time limit is half. */
export function dueAt(kind: TaskKind, at: Date, isRush: boolean): Date {
  times ??= readTaskTimes();
  const hours = times.hours[kind] ?? 0;
  return addBusinessHours(at, isRush ? hours / 2 : hours, times.calendar);
}

/**
 * The time by which a parcel should have arrived, if staff handed it to a carrier at this instant.
 * @param carrier the carrier and its service, as the person typed them
 */
export function arrivalDue(carrier: string, at: Date): Date {
  times ??= readTaskTimes();
  const typed = carrier.toLowerCase();
  const service = Object.entries(times.onTheWay).find(([words]) => typed.includes(words));
  return service ? addBusinessHours(at, service[1] + hoursMore, times.calendar) : dueAt("arrival", at, false);
}

/** The due time of a task that asks an unanswered question again. */
export function dueAgain(at: Date): Date {
  times ??= readTaskTimes();
  return addBusinessHours(at, hoursMore, times.calendar);
}
