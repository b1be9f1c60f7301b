import { isIP, isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address and the number of its significant first bits. */
export type Range = [Address, number];

/** An address in one of its plain notations; IPv4 mapped into IPv6 counts as the IPv4 address. Null for any other text. */
export const parseAddress = (text: string): Address | null => (isIP(text) === 0 ? null : ipaddr.process(text));

/** A range such as `10.0.0.0/8`, or a single address. Null for any other text. */
export function parseRange(text: string): Range | null {
  const [address = ""] = text.split("/", 1);
  if (isIP(address) === 0) return null;
  if (text !== address) return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : null;
  const single = ipaddr.parse(text);
  return [single, single.kind() === "ipv4" ? 32 : 128];
}

export const isInRanges = (address: Address, ranges: Range[]): boolean =>
  ipaddr.subnetMatch(address, { in: ranges }, "out") === "in";

/** The IPv6 network of the first `groups` groups of 16 bits of an address. */
function networkOf({ parts }: ipaddr.IPv6, groups: number): string {
  const first = parts.slice(0, groups).map((group) => group.toString(16));
  return `${first.join(":")}::/${groups * 16}`;
}

/**
 * The key of a client address in limits: an IPv4 address itself, or the first 64 bits of an IPv6 address, because one
 * holder has all addresses of such a network. Any other text stays unchanged.
 */
export function clientNetwork(ip: string): string {
  // IPv4 has a single plain notation.
  if (isIPv4(ip)) return ip;
  const address = parseAddress(ip);
  if (address === null) return ip;
  return address instanceof ipaddr.IPv4 ? address.toString() : networkOf(address, 4);
}

/**
 * The site of an IPv6 address, null for any other text. RFC 6177 gives a site up to a /48: 65,536 networks, one
 * holder.
 */
export function clientSite(ip: string): string | null {
  if (isIPv4(ip)) return null;
  const address = parseAddress(ip);
  return address instanceof ipaddr.IPv6 ? networkOf(address, 3) : null;
}

/**
 * The trustworthy addresses of an `X-Forwarded-For`; some proxies write ports and brackets. The list ends at an entry
 * that is not an address, so that the request counts as that of the proxy which wrote it.
 */
export function forwardedAddresses(header: string): string {
  const entries = header.split(",").map(withoutPort);
  return entries.slice(entries.findLastIndex((entry) => isIP(entry) === 0) + 1).join(", ");
}

function withoutPort(entry: string): string {
  const [, bracketed, plain] = /^\s*(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)\s*$/.exec(entry) ?? [];
  return bracketed ?? plain ?? entry.trim();
}

/** Whether an address belongs to this machine. */
export const isLoopback = (ip: string): boolean => parseAddress(ip)?.range() === "loopback";

/**
 * The logged part of a client address: 24 bits of IPv4, 48 of IPv6. Enough to see a series, too little to identify a
 * person.
 */
export function loggedNetwork(ip: string): string | undefined {
  const address = parseAddress(ip);
  if (address === null) return undefined;
  if (address instanceof ipaddr.IPv4) return `${address.octets.slice(0, 3).join(".")}.0/24`;
  return networkOf(address, 3);
}
