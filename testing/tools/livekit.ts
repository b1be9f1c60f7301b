import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { LivekitMedia } from "../../service/src/kernel/config/media.ts";
import { freePort } from "../free-port.ts";
import { endWithTests } from "../reaper.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { until } from "../until.ts";

const folder = fileURLToPath(new URL("../../node_modules/.cache/livekit", import.meta.url));
const program = join(folder, "server");

/** Builds the server from Go modules; Go's own database has their checksums. Takes two minutes on two cores. */
function buildLivekit(): void {
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder };
  execFileSync("go", ["install", "github.com/livekit/livekit-server/cmd/server@v1.9.11"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
}

export const livekit = { isHere: () => existsSync(program), build: buildLivekit };

type LivekitServer = { settings: LivekitMedia; stop: () => Promise<void> };

/** Starts a LiveKit server for loopback, with one UDP port and one TCP port for all media. */
export async function startLivekit(): Promise<LivekitServer> {
  const place = temporaryFolder();
  const [http, tcp, udp] = [await freePort(), await freePort(), await freePort()];
  const [key, secret] = ["testing", "a secret of these tests, long enough"];
  const config = join(place.path, "livekit.yaml");
  // JSON is YAML, too.
  const settings = {
    port: http,
    bind_addresses: ["127.0.0.1"],
    rtc: {
      tcp_port: tcp,
      udp_port: udp,
      use_external_ip: false,
      node_ip: "127.0.0.1",
      interfaces: { includes: ["lo"] },
      enable_loopback_candidate: true,
    },
    keys: { [key]: secret },
    logging: { level: "error" },
  };
  writeFileSync(config, JSON.stringify(settings));
  const server = spawn(program, ["--config", config], { stdio: "ignore" });
  endWithTests(server);
  const url = `http://127.0.0.1:${http}`;
  await until(() =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    settings: { engine: "livekit", url, key, secret, turn: null },
    async stop() {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGKILL");
      await ended;
      place.remove();
    },
  };
}
