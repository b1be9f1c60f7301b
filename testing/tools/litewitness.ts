import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { freePort } from "../free-port.ts";
import { endWithTests } from "../reaper.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { until } from "../until.ts";

const folder = fileURLToPath(new URL("../../node_modules/.cache/litewitness", import.meta.url));
const program = join(folder, "litewitness");

/** Builds the program from Go modules; Go's own database has their checksums. */
function buildLitewitness(): void {
  mkdirSync(folder, { recursive: true });
  const env = { ...process.env, GOBIN: folder };
  execFileSync("go", ["install", "filippo.io/torchwood/cmd/litewitness@v0.6.1"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
}

/** torchwood's witness for transparency logs, a program that shares no code with ours. */
export const litewitness = { isHere: () => existsSync(program), build: buildLitewitness };

export type Litewitness = { url: string; key: string; stop: () => Promise<void> };

/**
 * Starts the witness for one log, with a separate SSH agent that holds its key.
 * @param log origin and key (NAME+ID+BASE64) of the log
 */
export async function startLitewitness(name: string, log: { origin: string; key: string }): Promise<Litewitness> {
  const place = temporaryFolder();
  const at = (file: string) => join(place.path, file);
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at("key")]);
  const agent = spawn("ssh-agent", ["-D", "-a", at("agent")], { stdio: "ignore" });
  endWithTests(agent);
  await until(async () => existsSync(at("agent")));
  execFileSync("ssh-add", ["-q", at("key")], { env: { ...process.env, SSH_AUTH_SOCK: at("agent") }, stdio: "pipe" });
  const [, fingerprint = ""] = execFileSync("ssh-keygen", ["-lf", at("key.pub")], { encoding: "utf8" }).split(" ");
  const listen = `127.0.0.1:${await freePort()}`;
  const args = ["-name", name, "-db", at("db"), "-ssh-agent", at("agent"), "-listen", listen, "-key", fingerprint];
  const witness = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  endWithTests(witness);
  let said = "";
  witness.stderr.on("data", (chunk) => {
    said += chunk;
  });
  await until(async () => /msg=listening/.test(said));
  const database = new DatabaseSync(at("db"));
  const emptyRoot = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
  database.prepare("INSERT INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)").run(log.origin, emptyRoot);
  database.prepare("INSERT INTO key (origin, key) VALUES (?, ?)").run(log.origin, log.key);
  database.close();
  return {
    url: `http://${listen}`,
    key: /vkey=(\S+)/.exec(said)?.[1] ?? "",
    async stop() {
      const ended = [witness, agent].map((child) => new Promise((resolve) => child.once("exit", resolve)));
      witness.kill();
      agent.kill();
      await Promise.all(ended);
      place.remove();
    },
  };
}
