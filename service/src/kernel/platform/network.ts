import { isIP, isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An IP address and its prefix length in bits. */
export type Range = [Address, number];

/** Parses an IP address in a plain notation. An IPv4-mapped IPv6 address counts as IPv4. Null for any other text. */
export const parseAddress = (text: string): Address | null => (isIP(text) === 0 ? null : ipaddr.process(text));

/** Parses a range such as `10.0.0.0/8`, or a single address. Null for any other text. */
export function parseRange(text: string): Range | null {
  const [address = ""] = text.split("/", 1);
  if (isIP(address) === 0) return null;
  if (text !== address) return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : null;
  const single = ipaddr.parse(text);
  return [single, single.kind() === "ipv4" ? 32 : 128];
}

export const isInRanges = (address: Address, ranges: Range[]): boolean =>
  ipaddr.subnetMatch(address, { in: ranges }, "out") === "in";

/** The IPv6 network given by the first `groups` 16-bit groups of an address. */
function networkOf({ parts }: ipaddr.IPv6, groups: number): string {
  const first = parts.slice(0, groups).map((group) => group.toString(16));
  return `${first.join(":")}::/${groups * 16}`;
}

/**
 * The text under which rate limits count a client: the whole IPv4 address, or the first 64 bits of an IPv6 address,
 * because a customer usually gets a whole /64. Any text that is not an address stays unchanged.
 */
export function clientNetwork(ip: string): string {
  // Fast path: an IPv4 address has only one plain notation, so it need not be parsed.
  if (isIPv4(ip)) return ip;
  const address = parseAddress(ip);
  if (address === null) return ip;
  return address instanceof ipaddr.IPv4 ? address.toString() : networkOf(address, 4);
}

/**
 * The site (/48) of an IPv6 address; null for any other text. By RFC 6177, one customer may have a whole /48: 65,536
 * networks.
 */
export function clientSite(ip: string): string | null {
  if (isIPv4(ip)) return null;
  const address = parseAddress(ip);
  return address instanceof ipaddr.IPv6 ? networkOf(address, 3) : null;
}

/**
 * The addresses of an `X-Forwarded-For` header, without the ports and brackets that some proxies write. Drops an entry
 * that is not an address, and all entries before it. The request then counts as coming from the proxy that wrote that
 * entry.
 */
export function forwardedAddresses(header: string): string {
  const entries = header.split(",").map(withoutPort);
  return entries.slice(entries.findLastIndex((entry) => isIP(entry) === 0) + 1).join(", ");
}

function withoutPort(entry: string): string {
  const [, bracketed, plain] = /^\s*(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)\s*$/.exec(entry) ?? [];
  return bracketed ?? plain ?? entry.trim();
}

/** True if an address is a loopback address. */
export const isLoopback = (ip: string): boolean => parseAddress(ip)?.range() === "loopback";

/** True if the host of a URL is this machine. */
export const isThisMachine = (host: string): boolean =>
  host === "localhost" || host.endsWith(".localhost") || isLoopback(host.replace(/^\[|\]$/g, ""));

/**
 * The part of a client address that is logged: 24 bits of IPv4, 48 bits of IPv6. This part shows that several requests
 * belong together, but identifies no person.
 */
export function loggedNetwork(ip: string): string | undefined {
  const address = parseAddress(ip);
  if (address === null) return undefined;
  if (address instanceof ipaddr.IPv4) return `${address.octets.slice(0, 3).join(".")}.0/24`;
  return networkOf(address, 3);
}
