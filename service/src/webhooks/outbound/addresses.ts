import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** The only public unicast there is yet in IPv6 (RFC 4291, section 2.4); the package takes the rest for it, too. */
const publicV6: Range[] = [ipaddr.parseCIDR("2000::/3")];
/** Public by its registry, and a cloud's metadata service by its use. */
const metadataServices: Range[] = [ipaddr.parseCIDR("168.63.129.16/32")];

const rangeOf = (text: string): Range => {
  if (text.includes("/")) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
};

const isIn = (address: Address, ranges: Range[]): boolean =>
  ipaddr.subnetMatch(address, { in: ranges }, "out") === "in";

/** Whether no registry of special-purpose addresses keeps it from the public internet: private, mapped, tunnels and all. */
const isPublic = (address: Address): boolean =>
  address.range() === "unicast" &&
  (address.kind() === "ipv4" || isIn(address, publicV6)) &&
  !isIn(address, metadataServices);

/**
 * Decides which addresses deliveries may reach: public ones, and the ranges that the operator allows.
 * @param allow CIDR ranges or single addresses.
 * @returns true for an address that may be reached; anything that is no address may not.
 */
export function addressPolicy(allow: readonly string[]): (address: string) => boolean {
  const allowed = allow.map(rangeOf);
  return (text) => {
    // The package reads other notations, too, and zones; what is connected to has neither.
    if (isIP(text) === 0 || text.includes("%")) return false;
    // IPv4 in an IPv6 coat counts as the IPv4 address that it reaches.
    const address = ipaddr.process(text);
    return isIn(address, allowed) || isPublic(address);
  };
}
