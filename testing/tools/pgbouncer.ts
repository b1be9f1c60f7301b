import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Connection } from "../../service/src/kernel/platform/postgres/access.ts";
import { startSeverableProxy } from "../doubles/severable-proxy.ts";
import { freePort } from "../free-port.ts";
import { endWithTests } from "../reaper.ts";
import { until } from "../until.ts";

const folder = fileURLToPath(new URL("../../node_modules/.cache/pgbouncer", import.meta.url));
const program = join(folder, "pgbouncer");

/** The Debian release whose source is built: PgBouncer before 1.21 does not support prepared statements. */
const suite = "trixie";

const apt = (...args: string[]): string =>
  execFileSync("apt-get", args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** Builds PgBouncer from Debian's source package, downloaded from the Debian mirror that this machine uses. */
function buildPgBouncer(): void {
  mkdirSync(folder, { recursive: true });
  const targets = apt("indextargets", "--format", "$(REPO_URI)", "Identifier: Packages", "Origin: Debian").split("\n");
  const uri = targets.find((each) => !each.includes("security"));
  for (const each of ["parts", "lists/partial", "cache/archives/partial"])
    mkdirSync(join(folder, each), { recursive: true });
  const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
  writeFileSync(
    join(folder, "parts/source.sources"),
    `Types: deb-src\nURIs: ${uri}\nSuites: ${suite}\nComponents: main\nSigned-By: ${keyring}\n`,
  );
  const places = {
    "Dir::Etc::sourcelist": "/dev/null",
    "Dir::Etc::sourceparts": join(folder, "parts"),
    "Dir::State::lists": join(folder, "lists"),
    "Dir::Cache": join(folder, "cache"),
  };
  const options = Object.entries(places).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  apt(...options, "update", "-qq");
  apt(...options, "source", "-qq", "--download-only", "pgbouncer");
  const archive = readdirSync(folder).find((name) => /^pgbouncer_.*\.orig\.tar\.gz$/.test(name)) ?? "";
  const source = join(folder, "source");
  mkdirSync(source, { recursive: true });
  execFileSync("tar", ["-xf", archive, "-C", source, "--strip-components=1"], { cwd: folder });
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: source, stdio: ["ignore", "ignore", "pipe"] });
  run("./configure", "--without-cares", "--without-systemd", "--without-pam");
  run("make", "pgbouncer");
  run("cp", "pgbouncer", program);
  for (const each of ["parts", "lists", "cache", "source"]) rmSync(join(folder, each), { recursive: true });
}

/** A PostgreSQL connection pooler. */
export const pgbouncer = { isHere: () => existsSync(program), build: buildPgBouncer };

export type PgBouncer = { url: string; stop: () => Promise<void> };

/** A pooler in front of a local server, in transaction mode. @param settings lines of its configuration */
export async function startPgBouncer(server: Connection, settings: Record<string, string>): Promise<PgBouncer> {
  const port = await freePort();
  const own = mkdtempSync(join(tmpdir(), "pgbouncer-"));
  chmodSync(own, 0o755);
  const { user, password, database } = server;
  // PgBouncer refuses to run as root, so in place of root it runs as `nobody`. That user can't reach the server's
  // socket, so PgBouncer connects through a proxy.
  const asNobody = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const proxy = await startSeverableProxy(join(server.host, `.s.PGSQL.${server.port}`));
  const all = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    // Accepts every client. All clients use the server with the role and password of the configuration's database line.
    auth_type: "any",
    pool_mode: "transaction",
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const line = `${database} = host=127.0.0.1 port=${proxy.port} dbname=${database} user=${user} password=${password}`;
  writeFileSync(join(own, "pgbouncer.ini"), `[databases]\n${line}\n[pgbouncer]\n${lines.join("\n")}\n`);
  const child = spawn(program, [...asNobody, join(own, "pgbouncer.ini")], { stdio: "ignore" });
  endWithTests(child);
  const ended = once(child, "exit");
  await until(async () => {
    const socket = connect(port, "127.0.0.1");
    const answered = await once(socket, "connect").catch(() => null);
    socket.destroy();
    return answered;
  });
  return {
    url: `postgres://any@127.0.0.1:${port}/${database}`,
    async stop() {
      child.kill("SIGQUIT");
      await ended;
      await proxy.sever();
      rmSync(own, { recursive: true });
    },
  };
}
