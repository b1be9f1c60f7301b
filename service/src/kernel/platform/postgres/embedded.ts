import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { minuteMs } from "../clock.ts";
import { passableMode } from "../data-folder.ts";
import { StartupError } from "../errors.ts";
import { timeLimit } from "../stopwatch.ts";
import { answers, type Connection, closeAccess, connectionOf, openAccess, ownerName, port } from "./access.ts";
import { postgresBinaries } from "./binaries.ts";
import { type ServerIdentity, serverIdentity } from "./identity.ts";
import { isAlive, withLock } from "./lock.ts";

export type EmbeddedPostgres = {
  /** The settings to connect as the service's role, which has only the rights that it needs. */
  connection: Connection;
  /** The settings to connect as the owner of the tables, a superuser, for migrations. */
  owner: Connection;
  /** Ends this process's use of the server. The last process to do so stops the server. */
  release: () => Promise<void>;
};

// The longest path, in bytes, of the folder for the server's socket. A socket's path may have 107 bytes, and the file
// name needs 15 of them.
const maxSocketFolderLength = 90;

type Layout = { folder: string; cluster: string; sockets: string; holders: string; lock: string; log: string };

function layout(dataDir: string): Layout {
  const folder = join(dataDir, "postgres");
  return {
    folder,
    cluster: join(folder, "cluster"),
    sockets: join(folder, "run"),
    holders: join(folder, "holders"),
    lock: join(folder, "lock"),
    log: join(folder, "server.log"),
  };
}

/**
 * Connects to the database server under `dataDir`, and starts it if it doesn't run. The server may already run for the
 * service or for a command, or be left over from a killed process. Several processes may call this at once.
 * @throws StartupError with the reason in one line; or an error of the file system, of `spawn` or of the driver
 */
export async function openEmbeddedPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  const at = layout(dataDir);
  mkdirSync(at.holders, { recursive: true });
  chmodSync(at.holders, 0o700);
  // If the server runs as another user, that user must be able to enter the parent folders. Other users still can't
  // list them.
  chmodSync(at.folder, passableMode());
  return withLock(at.lock, async () => {
    const binaries = await postgresBinaries();
    if (!(await runningServer(at))) {
      const identity = serverIdentity(binaries.postgres, at.folder, at.cluster);
      await initialise(at, identity, binaries.initdb);
      openAccess(at.folder);
      await start(at, identity, binaries.postgres);
    }
    const host = readPidFile(at)?.sockets ?? at.sockets;
    await closeAccess(at.folder, host);
    const holder = join(at.holders, String(process.pid));
    openSync(holder, "w", 0o600);
    return {
      connection: connectionOf(at.folder, host, "service"),
      owner: connectionOf(at.folder, host, "owner"),
      release: () => withLock(at.lock, () => release(at, holder)),
    };
  });
}

/** Changes the owner of `draft`, the folder of a new cluster, to the user that runs the server. */
export async function ownCluster(dataDir: string, draft: string): Promise<void> {
  const at = layout(dataDir);
  chmodSync(at.folder, passableMode());
  const { postgres } = await postgresBinaries();
  serverIdentity(postgres, at.folder, at.cluster).own(draft);
}

type PidFile = { pid: number; sockets: string; status: string };

/** `postmaster.pid`: line 1 is the process id, line 5 the folder of its socket, line 8 its state. */
function readPidFile(at: Layout): PidFile | null {
  try {
    const lines = readFileSync(join(at.cluster, "postmaster.pid"), "utf8").split("\n");
    return { pid: Number(lines[0]), sockets: lines[4] ?? "", status: (lines[7] ?? "").trim() };
  } catch {
    return null;
  }
}

/** True if a database server runs here and responds. Waits for a server that is starting, recovering or stopping. */
async function runningServer(at: Layout): Promise<boolean> {
  const isLate = timeLimit(minuteMs);
  for (let file = readPidFile(at); file && isAlive(file.pid); file = readPidFile(at)) {
    if (file.status === "ready" && (await answers(at.folder, file.sockets))) return true;
    // After a reboot, another program may have the process id in the file. When the server starts, it detects such a
    // stale file itself.
    if (!isPostgres(file.pid)) return false;
    if (isLate()) throw new StartupError(`the database server ${file.pid} does not answer; see ${at.log}`);
    await sleep(50);
  }
  return false;
}

function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim() === "postgres";
  } catch {
    return process.platform !== "linux";
  }
}

async function initialise(at: Layout, identity: ServerIdentity, initdb: string): Promise<void> {
  if (existsSync(join(at.cluster, "PG_VERSION"))) return;
  // The cluster is created under another name and renamed when it is complete, so that an interrupted creation is never
  // mistaken for a complete cluster.
  const making = `${at.cluster}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { mode: 0o700 });
  identity.own(making);
  const args = [
    "-D",
    making,
    "-U",
    ownerName,
    // Passwords are set later, by `closeAccess`.
    "--auth=trust",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
  ];
  const { command, args: wrapped, ...as } = identity.wrap(initdb, args);
  const child = spawn(command, wrapped, { ...as, stdio: ["ignore", "ignore", "pipe"] });
  let complaint = "";
  child.stderr.on("data", (data: Buffer) => {
    complaint += data;
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  if (code !== 0) throw new StartupError(`initdb failed in ${at.folder}: ${lastLine(complaint)}`);
  renameSync(making, at.cluster);
}

async function start(at: Layout, identity: ServerIdentity, postgres: string): Promise<void> {
  const sockets = socketFolder(at);
  identity.own(sockets);
  const settings = {
    listen_addresses: "",
    unix_socket_directories: sockets,
    unix_socket_permissions: "0700",
    max_connections: "200",
    shared_buffers: "256MB",
    jit: "off",
    log_line_prefix: "%m [%p] ",
  };
  const args = [
    "-D",
    at.cluster,
    "-p",
    String(port),
    ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
  ];
  const { command, args: wrapped, ...as } = identity.wrap(postgres, args);
  const log = openSync(at.log, "w", 0o600);
  chmodSync(at.log, 0o600);
  // The server gets a process session of its own. Ctrl-C then reaches only the service, which stops the server cleanly.
  const child = spawn(command, wrapped, { ...as, detached: true, stdio: ["ignore", log, log] });
  let exited: string | undefined;
  child.on("error", (error) => {
    exited = error.message;
  });
  child.on("exit", () => {
    // The log may be gone because somebody deleted its folder. Reading the log must not throw then. The error would end
    // this process, even if it no longer needs the server.
    exited ??= existsSync(at.log) ? lastLine(readFileSync(at.log, "utf8")) : "its folder is gone";
  });
  child.unref();
  const isLate = timeLimit(minuteMs);
  for (
    let file = readPidFile(at);
    file?.status !== "ready" || !(await answers(at.folder, file.sockets));
    file = readPidFile(at)
  ) {
    if (exited !== undefined) throw new StartupError(`the database server did not start: ${exited}`);
    if (isLate()) throw new StartupError(`the database server did not start within 60 s; see ${at.log}`);
    await sleep(10);
  }
}

/**
 * A folder for the server's socket that no other user can enter. Otherwise another user could place a fake server's
 * socket there. If the path of the usual folder is too long for a socket, creates a folder with an unpredictable name
 * in the system's temporary folder.
 * @throws StartupError when something that is not a folder is at the usual path
 */
function socketFolder({ sockets }: Layout): string {
  if (Buffer.byteLength(sockets) > maxSocketFolderLength) return mkdtempSync(join(tmpdir(), "signsealship-"));
  mkdirSync(sockets, { recursive: true, mode: 0o700 });
  if (!lstatSync(sockets).isDirectory()) throw new StartupError(`${sockets} is not a folder: remove it`);
  chmodSync(sockets, 0o700);
  return sockets;
}

const lastLine = (text: string): string => text.trim().split("\n").at(-1) ?? "no reason given";

async function release(at: Layout, holder: string): Promise<void> {
  rmSync(holder, { force: true });
  for (const name of readdirSync(at.holders)) {
    if (isAlive(Number(name))) return;
    rmSync(join(at.holders, name), { force: true });
  }
  await stop(at);
}

/**
 * Tries a fast shutdown (SIGINT), then an immediate one (SIGQUIT), after which the server recovers at its next start.
 */
async function stop(at: Layout): Promise<void> {
  const file = readPidFile(at);
  if (!file || !isAlive(file.pid)) return;
  for (const [signal, waitMs] of [
    ["SIGINT", 2_500],
    ["SIGQUIT", 1_000],
  ] as const) {
    process.kill(file.pid, signal);
    const isLate = timeLimit(waitMs);
    while (!isLate()) {
      if (!isAlive(file.pid)) return forgetSockets(at, file);
      await sleep(10);
    }
  }
}

/** Removes the socket's folder if it was made in the system's temporary folder for this run of the server. */
function forgetSockets(at: Layout, { sockets }: PidFile): void {
  if (sockets !== at.sockets && dirname(sockets) === tmpdir()) rmSync(sockets, { recursive: true, force: true });
}
