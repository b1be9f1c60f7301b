import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import type { Clock } from "../../platform/clock.ts";

/** The addresses of a host name, at least one. @throws Error with code ENOTFOUND, or that of the name server's failure. */
export type ResolveName = (name: string) => Promise<string[]>;

// Answers can have thousands, each of which would be tried and counted.
const mostAddresses = 16;
const rememberedMs = 1_000;
const mostNames = 10_000;

/**
 * Keeps each answer for a second, so that the addresses a delivery is counted for are those that its connection is opened to, though
 * a hostile name server answers differently each time.
 */
export function rememberingNames(resolveName: ResolveName, clock: Clock): ResolveName {
  const names = new Map<string, { answer: Promise<string[]>; until: number }>();
  return (name) => {
    const now = clock().getTime();
    const remembered = names.get(name);
    if (remembered && now < remembered.until) return remembered.answer;
    if (names.size >= mostNames) names.clear();
    const answer = resolveName(name).then((found) => found.slice(0, mostAddresses));
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
 * Resolves names without the system's blocking resolver: that one has a handful of threads for the whole process, and a
 * hostile name server would hold them.
 */
export function openResolver(): ResolveName {
  const resolver = new Resolver({ timeout: 2_500, tries: 2 });
  return async (name) => {
    // RFC 6761, section 6.3: these never go to a name server.
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
