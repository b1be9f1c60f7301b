import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import type { Clock } from "../../../kernel/platform/clock.ts";
import { type Address, isInRanges, parseAddress, parseRange, type Range } from "../../../kernel/platform/network.ts";

/**
 * The IP addresses of a host name, at least one.
 * @throws Error with code ENOTFOUND, or the name server's failure code
 */
export type ResolveName = (name: string) => Promise<string[]>;

// At most this many IP addresses of a host name are used. A DNS response can contain thousands, and the service would
// try and count each of them.
const maxAddresses = 16;
const rememberedMs = 1_000;
const maxNames = 10_000;

/**
 * Caches each result for a second. So the host limits count the same addresses to which the delivery then connects,
 * even if a hostile name server returns different addresses each time.
 */
export function rememberingNames(resolveName: ResolveName, clock: Clock): ResolveName {
  const names = new Map<string, { answer: Promise<string[]>; until: number }>();
  return (name) => {
    const now = clock().getTime();
    const remembered = names.get(name);
    if (remembered && now < remembered.until) return remembered.answer;
    if (names.size >= maxNames) names.clear();
    const answer = resolveName(name).then((found) => found.slice(0, maxAddresses));
    const entry = { answer, until: Number.POSITIVE_INFINITY };
    names.set(name, entry);
    const expire = () => {
      entry.until = clock().getTime() + rememberedMs;
    };
    answer.then(expire, expire);
    return answer;
  };
}

const hostsFile = "/etc/hosts";

async function fromHostsFile(name: string): Promise<string[]> {
  const text = await readFile(hostsFile, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = (line.split("#", 1)[0] ?? "").trim().split(/\s+/);
    return names.includes(name) ? [address] : [];
  });
}

/**
 * Resolves names from /etc/hosts, and others with Node's own DNS client (c-ares). The system's resolver (getaddrinfo)
 * blocks one of the process's few libuv threads for each name. So a hostile name server could block all of them.
 * @param servers name servers, `ADDRESS:PORT`, instead of the system's
 */
export function openResolver(servers: readonly string[] | null = null): ResolveName {
  const resolver = new Resolver({ timeout: 2_500, tries: 2 });
  if (servers !== null) resolver.setServers(servers);
  return async (name) => {
    // localhost must never be sent to a name server (RFC 6761, section 6.3).
    if (name === "localhost" || name.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const written = await fromHostsFile(name);
    if (written.length > 0) return written;
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [v4, v6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (found.length === 0)
      throw v4.status === "rejected" ? v4.reason : Object.assign(new Error("no address"), { code: "ENOTFOUND" });
    return found;
  };
}

const rangesOf = (texts: readonly string[]): Range[] => texts.map(parseRange).filter((range) => range !== null);

/**
 * The only IPv6 range of public unicast addresses so far (RFC 4291, section 2.4). The address library, in contrast,
 * counts unassigned ranges as public too.
 */
const publicV6 = rangesOf(["2000::/3"]);
/** The address of Azure's metadata service, which must not be reached although it is in a public range. */
const metadataServices = rangesOf(["168.63.129.16/32"]);

/**
 * True if an address is public: not in a private or other special-purpose range, and not a mapped or tunneled address.
 */
const isPublic = (address: Address): boolean =>
  address.range() === "unicast" &&
  (address.kind() === "ipv4" || isInRanges(address, publicV6)) &&
  !isInRanges(address, metadataServices);

/**
 * Creates the rule for the addresses that deliveries may reach: public ones, and those that the operator allows.
 * @param allow CIDR ranges or single addresses
 * @returns a function that is true for an allowed address; false for any other text
 */
export function addressPolicy(allow: readonly string[]): (address: string) => boolean {
  const allowed = rangesOf(allow);
  return (text) => {
    // Refuses an address with a zone (`%`), because the address of a connection never has a zone. Treats an IPv4-mapped
    // IPv6 address as its IPv4 address.
    const address = text.includes("%") ? null : parseAddress(text);
    return address !== null && (isInRanges(address, allowed) || isPublic(address));
  };
}
