import { type Address, isInRanges, parseAddress, parseRange, type Range } from "../../platform/network.ts";

const rangesOf = (texts: readonly string[]): Range[] => texts.map(parseRange).filter((range) => range !== null);

/** The only public unicast there is yet in IPv6 (RFC 4291, section 2.4); the package takes the rest for it, too. */
const publicV6 = rangesOf(["2000::/3"]);
/** Public by its registry, and a cloud's metadata service by its use. */
const metadataServices = rangesOf(["168.63.129.16/32"]);

/** Whether no registry of special-purpose addresses keeps it from the public internet: private, mapped, tunnels and all. */
const isPublic = (address: Address): boolean =>
  address.range() === "unicast" &&
  (address.kind() === "ipv4" || isInRanges(address, publicV6)) &&
  !isInRanges(address, metadataServices);

/**
 * Decides which addresses deliveries may reach: public ones, and the ranges that the operator allows.
 * @param allow CIDR ranges or single addresses.
 * @returns true for an address that may be reached; anything that is no address may not.
 */
export function addressPolicy(allow: readonly string[]): (address: string) => boolean {
  const allowed = rangesOf(allow);
  return (text) => {
    // What is connected to has no zone. IPv4 in an IPv6 coat counts as the IPv4 address that it reaches.
    const address = text.includes("%") ? null : parseAddress(text);
    return address !== null && (isInRanges(address, allowed) || isPublic(address));
  };
}
