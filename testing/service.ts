import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createPartner, issueKey } from "../service/src/partners/partners.ts";
import { systemClock } from "../service/src/platform/clock.ts";
import { prepareDatabase } from "./data-template.ts";
import { databaseOfRunning } from "./database.ts";
import { freePort } from "./free-port.ts";
import { endWithTests } from "./reaper.ts";
import { rowMacOf } from "./row-mac.ts";
import { prepareSealKey } from "./seal-keys.ts";

const sources = fileURLToPath(new URL("../service/src/cli/main.ts", import.meta.url));
// A run of all tests names the same command line in fewer files.
const cli = process.env["TEST_CLI"] ?? sources;

export { temporaryFolder } from "./temporary-folder.ts";

type Env = Record<string, string>;

// Of the caller's environment only what programs need: its settings must not leak into a test.
const basics = {
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "/root",
  TSA_URLS: "off",
  OTS_CALENDARS: "off",
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../node_modules/.cache/node-compile", import.meta.url)),
};

const longestStartMs = 120_000;

export type Service = {
  baseUrl: string;
  dataDir: string;
  /** What was printed so far. */
  stdout: () => string;
  stderr: () => string;
  process: ChildProcess;
  /** Runs a verb of the command line on this service's data; the parsed `--json` answer. */
  cli: <T = Record<string, string>>(...args: string[]) => Promise<T>;
  /** SIGTERM, and waits for the end; resolves with the exit code. */
  stop: () => Promise<number | null>;
  /** kill -9: nothing is tidied. */
  kill: () => Promise<void>;
  /** Starts again on the same data. */
  restart: (env?: Env) => Promise<Service>;
};

/** Runs a verb to its end; never throws for an exit code. */
export const runCli = (env: Env, ...args: string[]): Promise<Ended> => runProgram(cli, env, args);

type Ended = { code: number; stdout: string; stderr: string };

async function runProgram(program: string, env: Env, args: string[]): Promise<Ended> {
  const run = promisify(execFile)(process.execPath, [program, ...args], {
    env: { ...basics, ...env },
    maxBuffer: 64 << 20,
  });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
}

/**
 * Starts the real service as a process of its own on a free port, and waits until it answers.
 * A data folder that is empty gets a database and a seal key made beforehand; with `firstStart` the service makes it itself, and is run
 * from its sources, as users start it. `program`: another command line than the repository's.
 */
export async function startService(
  env: Env & { DATA_DIR: string },
  { firstStart = false, program = firstStart ? sources : cli }: { firstStart?: boolean; program?: string } = {},
): Promise<Service> {
  if (!firstStart && env["DATABASE_URL"] === undefined) await prepareDatabase(env.DATA_DIR);
  if (!firstStart && env["SEAL_KEY"] === undefined) prepareSealKey(env.DATA_DIR);
  const port = env["PORT"] ?? String(await freePort());
  const settings = { LOG_LEVEL: "warn", ...env, PORT: port };
  const child = spawn(process.execPath, [program, "serve"], {
    env: { ...basics, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  endWithTests(child);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (data) => {
    stdout += data;
  });
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  const ended = once(child, "exit");
  const baseUrl = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + longestStartMs;
  while (!stdout.includes("listens on")) {
    const end = child.exitCode ?? child.signalCode;
    if (end !== null) throw new Error(`the service ended with ${end}: ${stderr}`);
    if (performance.now() > deadline)
      throw new Error(`the service did not start within ${longestStartMs} ms: ${stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return {
    baseUrl,
    dataDir: env.DATA_DIR,
    stdout: () => stdout,
    stderr: () => stderr,
    process: child,
    async cli<T>(...args: string[]): Promise<T> {
      const { code, stdout: out, stderr: err } = await runProgram(program, settings, [...args, "--json"]);
      if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${err}`);
      return JSON.parse(out) as T;
    },
    async stop() {
      child.kill("SIGTERM");
      const [code] = await ended;
      return code as number | null;
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    restart: (more = {}) => startService({ ...env, ...more, PORT: port }, firstStart ? {} : { program }),
  };
}

/** A partner with a key in one step, as the operator makes them. */
export async function newPartner(service: Service, options: { tier?: string; live?: boolean; name?: string } = {}) {
  const { name = "Acme Title", tier = "trial", live = false } = options;
  const db = databaseOfRunning(service.dataDir);
  try {
    const deps = { db, clock: systemClock, rowMac: await rowMacOf(service.dataDir) };
    const { partnerId } = await createPartner(deps, { name, tier, live });
    const { key, keyId } = await issueKey(deps, partnerId, live ? "live" : "test");
    return { partnerId, key, keyId, headers: { Authorization: `Bearer ${key}` } };
  } finally {
    await db.close();
  }
}
