export type MonthVolume = { month: string; createdCount: number; completedCount: number };

const abbreviated = new Intl.DateTimeFormat("en-US", { month: "short", timeZone: "UTC" });
const full = new Intl.DateTimeFormat("en-US", { month: "long", year: "numeric", timeZone: "UTC" });

const firstDay = (month: string): Date => new Date(`${month}-01T00:00:00.000Z`);

const next = (month: string): string => {
  const day = firstDay(month);
  return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1)).toISOString().slice(0, 7);
};

/** Every month from the first to the last of `volumes` (`YYYY-MM`, oldest first); those without orders have zeros. */
export function withoutGaps(volumes: readonly MonthVolume[]): MonthVolume[] {
  const known = new Map(volumes.map((volume) => [volume.month, volume]));
  const last = volumes.at(-1)?.month ?? "";
  const filled: MonthVolume[] = [];
  for (let month = volumes[0]?.month; month !== undefined && month <= last; month = next(month))
    filled.push(known.get(month) ?? { month, createdCount: 0, completedCount: 0 });
  return filled;
}

/** `2026-03` as `Mar`. */
export const shortMonth = (month: string): string => abbreviated.format(firstDay(month));

/** `2026-03` as `March 2026`. */
export const longMonth = (month: string): string => full.format(firstDay(month));
