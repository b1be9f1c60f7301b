import type { Clock } from "../../platform/clock.ts";

const windowMs = 60_000;

/**
 * Counts deliveries of one firm to one host in fixed windows of a minute, on this node: whoever subscribes URLs that are not his
 * makes us no flood.
 * @returns whether one more is within the limit; it counts then
 */
export function createHostLimit(clock: Clock): (partnerId: string, url: string, perMinute: number) => boolean {
  let counts = new Map<string, number>();
  let window = 0;
  return (partnerId, url, perMinute) => {
    if (perMinute === Number.POSITIVE_INFINITY) return true;
    const present = Math.floor(clock().getTime() / windowMs);
    if (present !== window) {
      window = present;
      counts = new Map();
    }
    const key = `${partnerId} ${new URL(url).hostname}`;
    const count = (counts.get(key) ?? 0) + 1;
    if (count > perMinute) return false;
    counts.set(key, count);
    return true;
  };
}
