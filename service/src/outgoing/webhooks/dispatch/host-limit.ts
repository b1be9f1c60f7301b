import { isIP } from "node:net";
import { type Clock, minuteMs } from "../../../kernel/platform/clock.ts";

const windowMs = minuteMs;

/**
 * How many deliveries a firm may send in a minute from each node. `perHost`: to one host name. `perAddress`: to all
 * host names of one domain, or to one IP address.
 */
export type HostLimits = { perHost: number; perAddress: number };

/** Functions that check whether one more delivery is within the limits. If it is, they count it. */
export type HostLimit = {
  toUrl: (partnerId: string, url: string, limits: HostLimits) => boolean;
  toAddresses: (partnerId: string, addresses: readonly string[], limits: HostLimits) => boolean;
};

/**
 * Counts deliveries on this node in fixed windows of a minute. Without limits, a firm could subscribe with somebody
 * else's URL and flood that server.
 */
export function createHostLimit(clock: Clock): HostLimit {
  let counts = new Map<string, number>();
  let window = 0;
  function within(counted: readonly (readonly [name: string, perMinute: number])[]): boolean {
    const present = Math.floor(clock().getTime() / windowMs);
    if (present !== window) {
      window = present;
      counts = new Map();
    }
    const limited = counted.filter(([, perMinute]) => perMinute !== Number.POSITIVE_INFINITY);
    if (limited.some(([name, perMinute]) => (counts.get(name) ?? 0) >= perMinute)) return false;
    for (const [name] of limited) counts.set(name, (counts.get(name) ?? 0) + 1);
    return true;
  }
  return {
    toUrl(partnerId, url, { perHost, perAddress }) {
      const { hostname } = new URL(url);
      const domain = domainOf(hostname);
      return within([
        [`${partnerId} host ${hostname}`, perHost],
        ...(domain === null ? [] : [[`${partnerId} domain ${domain}`, perAddress] as const]),
      ]);
    },
    toAddresses: (partnerId, addresses, { perAddress }) =>
      within(addresses.map((address) => [`${partnerId} address ${address}`, perAddress])),
  };
}

/**
 * The last two labels of a host name; null for an IP address. All subdomains have the same last two labels, so a firm
 * can't evade the limit by other subdomains. All hosts of a firm below a public suffix such as co.uk share one count
 * too. Counts are never shared between firms.
 */
function domainOf(hostname: string): string | null {
  if (isIP(hostname.replace(/^\[(.*)\]$/, "$1")) !== 0) return null;
  return hostname.replace(/\.$/, "").split(".").slice(-2).join(".");
}
