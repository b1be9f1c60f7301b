import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hosts } from "../testing/hosts/hosts.ts";
import { endWithTests } from "../testing/reaper.ts";

async function start(program: string): Promise<string> {
  const socket = join(mkdtempSync(join(tmpdir(), "host-")), "socket");
  const host = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, socket], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  endWithTests(host);
  const [code] = await Promise.race([once(host.stdout, "data"), once(host, "exit")]);
  if (typeof code === "number") throw new Error(`${program} ended with ${code}`);
  host.stdout.destroy();
  host.unref();
  return socket;
}

/**
 * Starts three processes that many test files share: two that run services (testing/hosts/service-host.ts) and one that
 * runs verbs of the command line (testing/hosts/verb-host.ts).
 */
export async function startHosts(serviceHost: string, verbHost: string): Promise<Hosts> {
  const [verbs = "", ...services] = await Promise.all([verbHost, serviceHost, serviceHost].map(start));
  return { services, verbs };
}
