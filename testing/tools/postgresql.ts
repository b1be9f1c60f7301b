import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chownSync, globSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../free-port.ts";
import { endWithTests } from "../reaper.ts";
import { until } from "../until.ts";

/** The path of a program from Debian's newest PostgreSQL server. */
export const postgresProgram = (name: string): string | undefined =>
  globSync(`/usr/lib/postgresql/*/bin/${name}`).toSorted().at(-1);

const programs = (): string => join(postgresProgram("postgres") ?? "", "..");

// If this process runs as root, PostgreSQL runs as the user `postgres`, because it refuses to run as root.
function identity(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

const run = (program: string, ...args: string[]): string =>
  execFileSync(join(programs(), program), args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], ...identity() });

export type PostgresServer = {
  readonly port: number;
  readonly folder: string;
  /** The connection string of the superuser. */
  readonly url: string;
  readonly start: () => Promise<void>;
  /** Simulates a power failure of the server's machine. */
  readonly kill: () => Promise<void>;
  /** Runs a statement. @returns its single value, or "" for a statement without a result */
  readonly psql: (statement: string) => string;
};

function serverIn(folder: string, port: number): PostgresServer {
  let child: ChildProcess | undefined;
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const answers = () => {
    try {
      return run("psql", "-qAt", url, "-c", "SELECT 1") !== "";
    } catch {
      return false;
    }
  };
  return {
    port,
    folder,
    url,
    async start() {
      const args = ["-D", folder, "-p", String(port)];
      child = spawn(join(programs(), "postgres"), args, { stdio: "ignore", ...identity() });
      endWithTests(child);
      await until(answers);
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      // SIGQUIT is an immediate shutdown: there is no checkpoint, and the server's processes stop answering.
      child.kill("SIGQUIT");
      await ended;
    },
    psql: (statement) => run("psql", "-qAt", url, "-c", statement).trim(),
  };
}

export type PostgresPair = {
  primary: PostgresServer;
  standby: PostgresServer;
  path: string;
  stop: () => Promise<void>;
};

/** Starts a PostgreSQL server with a synchronous standby. The result also has the folder of the programs, for PATH. */
export async function startPostgresPair(under: string): Promise<PostgresPair> {
  const { uid, gid } = identity();
  mkdirSync(under, { recursive: true });
  if (uid !== undefined && gid !== undefined) chownSync(under, uid, gid);
  const primary = serverIn(join(under, "primary"), await freePort());
  const standby = serverIn(join(under, "standby"), await freePort());
  run("initdb", "-D", primary.folder, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync");
  const settings = [
    "listen_addresses = '127.0.0.1'",
    "unix_socket_directories = ''",
    // Test data need not survive a power failure of this machine.
    "fsync = off",
    "max_wal_senders = 4",
  ];
  appendFileSync(join(primary.folder, "postgresql.conf"), `${settings.join("\n")}\n`);
  await primary.start();
  primary.psql("CREATE ROLE signsealship_owner LOGIN");
  primary.psql("CREATE DATABASE signsealship OWNER signsealship_owner");
  run("pg_basebackup", "-D", standby.folder, "-d", primary.url, "-R", "-X", "stream", "-c", "fast", "--no-sync");
  await standby.start();
  primary.psql("ALTER SYSTEM SET synchronous_standby_names = '*'");
  primary.psql("SELECT pg_reload_conf()");
  await until(() => primary.psql("SELECT sync_state FROM pg_stat_replication") === "sync");
  return {
    primary,
    standby,
    path: programs(),
    async stop() {
      await primary.kill();
      await standby.kill();
    },
  };
}
