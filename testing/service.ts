import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Outcome } from "../service/src/cli/run-verb.ts";
import { createPartner, issueKey } from "../service/src/firms/partners/partners.ts";
import { systemClock } from "../service/src/kernel/platform/clock.ts";
import { prepareDatabase } from "./data-template.ts";
import { databaseOfRunning } from "./database.ts";
import { freePort } from "./free-port.ts";
import { mayBeHosted, type Running, runHosted, runHostedVerb } from "./hosts/hosts.ts";
import { endWithTests } from "./reaper.ts";
import { rowMacOf } from "./row-mac.ts";
import { prepareSealKey } from "./seal-keys.ts";

const sources = fileURLToPath(new URL("../service/src/cli/main.ts", import.meta.url));
// A run of all tests uses a bundle of the same command-line program.
const cli = process.env["TEST_CLI"] ?? sources;

export { temporaryFolder } from "./temporary-folder.ts";

type Env = Record<string, string>;

// NEXT_SERVICE_WAIT makes live orders pause between two of their services, so that tests can check each status. Without
// QUIET_HOURS mails do not depend on the hour at which a test runs.
const quiet = { TSA_URLS: "off", OTS_CALENDARS: "off", NEXT_SERVICE_WAIT: "300", QUIET_HOURS: "off" };

// Passes only the environment variables that programs need, because other settings of the caller must not affect a
// test.
const basics = {
  ...quiet,
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? "/root",
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../node_modules/.cache/node-compile", import.meta.url)),
};

const maxStartMs = 120_000;

export type Service = {
  baseUrl: string;
  dataDir: string;
  /** The output so far. */
  stdout: () => string;
  stderr: () => string;
  /** Runs a verb of the command line on this service's data. @returns its parsed `--json` output */
  cli: <T = Record<string, string>>(...args: string[]) => Promise<T>;
  /** The service's process. Only for a service that was started with `ownProcess`. */
  process: () => ChildProcess;
  /** kill -9, without cleanup. Only for a service that was started with `ownProcess`. */
  kill: () => Promise<void>;
  /** Stops the service gracefully and waits. @returns the exit code */
  stop: () => Promise<number | null>;
  /** Starts a new service on the same data and port. Stop the old one first. */
  restart: (env?: Env) => Promise<Service>;
};

/** For tests that inspect, signal or kill the service's process. */
export const ownProcess: Env = { TEST_OWN_PROCESS: "yes" };

/**
 * Runs a verb to its end. In a run of all tests, it runs in a shared process unless it needs its own (`runHostedVerb`).
 * Never throws for an exit code.
 */
export const runCli = async (env: Env, ...args: string[]): Promise<Outcome> =>
  (await runHostedVerb({ ...quiet, ...env }, args)) ?? runProgram(cli, env, args);

async function runProgram(program: string, env: Env, args: string[]): Promise<Outcome> {
  const run = promisify(execFile)(process.execPath, [program, ...args], {
    env: { ...basics, ...env },
    maxBuffer: 64 << 20,
  });
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Outcome) => error,
  );
}

function runProcess(program: string, env: Env): Running {
  const child = spawn(process.execPath, [program, "serve"], {
    env: { ...basics, ...env },
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
  return {
    process: child,
    stdout: () => stdout,
    stderr: () => stderr,
    exit: () => child.exitCode ?? child.signalCode,
    ended: once(child, "exit").then(([code]) => code as number | null),
    end: () => void child.kill("SIGTERM"),
  };
}

async function listening({ stdout, stderr, exit }: Running): Promise<void> {
  const deadline = performance.now() + maxStartMs;
  while (!stdout().includes("listens on")) {
    const end = exit();
    if (end !== null) throw new Error(`the service ended with ${end}: ${stderr()}`);
    if (performance.now() > deadline) throw new Error(`the service did not start within ${maxStartMs} ms: ${stderr()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/**
 * Puts a database and a pregenerated seal key into an empty data folder, unless a test wants a real first start. A
 * setting DATABASE_URL or SEAL_KEY replaces the database or the key.
 * @returns the service's settings
 */
async function settingsFor(env: Env & { DATA_DIR: string }, isFirstStart: boolean): Promise<Env & { PORT: string }> {
  if (!isFirstStart && env["DATABASE_URL"] === undefined) await prepareDatabase(env.DATA_DIR);
  if (!isFirstStart && env["SEAL_KEY"] === undefined) prepareSealKey(env.DATA_DIR);
  return { LOG_LEVEL: "warn", ...env, PORT: env["PORT"] ?? String(await freePort()) };
}

/**
 * Starts the real service, on a free port unless PORT is set, and waits until it listens. In a run of all tests it
 * shares a process with others, unless its settings need a process of its own (`mayBeHosted`). With `firstStart` it
 * creates its data itself, and runs from source, as users start it. `program` is the path of the command-line program
 * that starts it.
 */
export async function startService(
  env: Env & { DATA_DIR: string },
  { firstStart = false, program = firstStart ? sources : cli }: { firstStart?: boolean; program?: string } = {},
): Promise<Service> {
  const settings = await settingsFor(env, firstStart);
  const running =
    program === cli && mayBeHosted(settings) ? runHosted({ ...quiet, ...settings }) : runProcess(program, settings);
  await listening(running);
  const ownChild = () => {
    if (running.process === null || (program === cli && env["TEST_OWN_PROCESS"] === undefined))
      throw new Error("a test that needs the service's process starts it with `ownProcess`");
    return running.process;
  };
  return {
    baseUrl: `http://127.0.0.1:${settings.PORT}`,
    dataDir: env.DATA_DIR,
    stdout: running.stdout,
    stderr: running.stderr,
    process: ownChild,
    async cli<T>(...args: string[]): Promise<T> {
      const asJson = [...args, "--json"];
      const ran = program === cli ? runCli(settings, ...asJson) : runProgram(program, settings, asJson);
      const { code, stdout, stderr } = await ran;
      if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    async stop() {
      running.end();
      return running.ended;
    },
    async kill() {
      ownChild().kill("SIGKILL");
      await running.ended;
    },
    restart: (more = {}) => startService({ ...env, ...more, PORT: settings.PORT }, firstStart ? {} : { program }),
  };
}

/** Creates a partner with a key in one step, as the operator does. */
export async function newPartner(service: Service, options: { tier?: string; live?: boolean; name?: string } = {}) {
  const { name = "Acme Title", tier = "trial", live = false } = options;
  const db = databaseOfRunning(service.dataDir);
  try {
    const deps = { db, clock: systemClock, rowMac: await rowMacOf(service.dataDir) };
    db.useRowMac(deps.rowMac);
    const { partnerId } = await createPartner(deps, { name, tier, live });
    const { key, keyId } = await issueKey(deps, partnerId, live ? "live" : "test");
    return { partnerId, key, keyId, headers: { Authorization: `Bearer ${key}` } };
  } finally {
    await db.close();
  }
}
