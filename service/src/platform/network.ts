import { isIP, isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address and how many of its first bits count. */
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

/**
 * What limits count a client address as: an IPv4 address itself, of an IPv6 address the first 64 bits, for the holder of such a
 * network has all its addresses. What is no address stays what it is.
 */
export function clientNetwork(ip: string): string {
  // Of these there is one plain notation.
  if (isIPv4(ip)) return ip;
  const address = parseAddress(ip);
  if (address === null) return ip;
  if (address instanceof ipaddr.IPv4) return address.toString();
  const groups = address.parts.slice(0, 4).map((group) => group.toString(16));
  return `${groups.join(":")}::/64`;
}

/** Whether an address is of this machine. */
export const isLoopback = (ip: string): boolean => parseAddress(ip)?.range() === "loopback";

/** What a log says of a client address: 24 bits of an IPv4 address, 48 of an IPv6 one. Enough to see a series, too little for a person. */
export function loggedNetwork(ip: string): string | undefined {
  const address = parseAddress(ip);
  if (address === null) return undefined;
  if (address instanceof ipaddr.IPv4) return `${address.octets.slice(0, 3).join(".")}.0/24`;
  const groups = address.parts.slice(0, 3).map((group) => group.toString(16));
  return `${groups.join(":")}::/48`;
}
