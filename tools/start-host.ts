import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endWithTests } from "../testing/reaper.ts";

/** Starts a process for the services of many test files (testing/service-host.ts). @returns the path of its socket */
export async function startHost(program: string): Promise<string> {
  const socket = join(mkdtempSync(join(tmpdir(), "host-")), "socket");
  const host = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, socket], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  endWithTests(host);
  await once(host.stdout, "data");
  host.stdout.destroy();
  host.unref();
  return socket;
}
