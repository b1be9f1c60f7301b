const plain = new Intl.NumberFormat("en-US");
const rounded = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 3 });
const oneDecimal = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** A count with all its digits: `1,000,000`. */
export const count = (value: number): string => plain.format(value);

/** A count for a narrow space: all digits up to 9,999, then `12.3K`, `1M`. */
export const shortCount = (value: number): string => (value < 10_000 ? plain : rounded).format(value);

/** A count with its noun: `1 order`, `2 orders`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** The latest `days` days, in words. */
export const lastDays = (days: number): string => (days === 1 ? "the last day" : `the last ${count(days)} days`);

export type TimeUnit = { name: "minute" | "hour" | "day"; hours: number };

/** The unit in which a time of `hours` is easiest to read. */
export function timeUnit(hours: number): TimeUnit {
  if (hours < 1) return { name: "minute", hours: 1 / 60 };
  return hours < 48 ? { name: "hour", hours: 1 } : { name: "day", hours: 24 };
}

/** A time in a unit that fits its length: `12 minutes`, `26.8 hours`, `4.1 days`. */
export function duration(hours: number): string {
  const unit = timeUnit(hours);
  const value = oneDecimal.format(hours / unit.hours);
  if (value === "0") return "under a minute";
  return `${value} ${unit.name}${value === "1" ? "" : "s"}`;
}
