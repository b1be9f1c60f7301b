import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";

/** The addresses of a host name, at least one. @throws Error with code ENOTFOUND, or that of the name server's failure. */
export type ResolveName = (name: string) => Promise<string[]>;

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
