import { BlockList, isIP } from "node:net";

// What the IANA registries of special-purpose addresses keep from the public internet, multicast, and the metadata
// address of Azure, which is none of these.
const refusedV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

// Only 2000::/3 is public unicast; inside it, tunnels (Teredo, 6to4), protocol and documentation ranges.
const refusedV6 = ["::/3", "4000::/2", "8000::/1", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", prefix] = range.split("/");
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    list.addSubnet(address, prefix === undefined ? (family === "ipv4" ? 32 : 128) : Number(prefix), family);
  }
  return list;
}

/** IPv4 in an IPv6 coat (`::ffff:127.0.0.1`, `::ffff:7f00:1`) as plain IPv4; anything else as it is. */
function unmapped(address: string): string {
  // The URL parser writes every IPv6 form in its one short way (RFC 5952).
  const short = isIP(address) === 6 ? URL.parse(`http://[${address}]/`)?.hostname : undefined;
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(short ?? "") ?? [];
  if (high === undefined || low === undefined) return address;
  const bytes = [Number.parseInt(high, 16), Number.parseInt(low, 16)].flatMap((pair) => [pair >> 8, pair & 255]);
  return bytes.join(".");
}

/**
 * Decides which addresses deliveries may reach: public ones, and the ranges that the operator allows.
 * @param allow CIDR ranges or single addresses.
 * @returns true for an address that may be reached; anything that is no address may not.
 */
export function addressPolicy(allow: readonly string[]): (address: string) => boolean {
  const refused = { ipv4: listOf(refusedV4), ipv6: listOf(refusedV6) };
  const allowed = listOf(allow);
  return (address) => {
    const plain = unmapped(address);
    const version = plain.includes("%") ? 0 : isIP(plain);
    if (version === 0) return false;
    const family = version === 4 ? "ipv4" : "ipv6";
    return allowed.check(plain, family) || !refused[family].check(plain, family);
  };
}
