// Host processes of a complete test run. Test processes pass work to them, so that the code is loaded once.
import type { ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { Outcome } from "../../service/src/cli/run-verb.ts";

type Env = Readonly<Record<string, string>>;

/** A message from `service-host.ts`: output of the hosted service, or its exit code. Sent as one line of JSON. */
export type Said = { stdout: string } | { stderr: string } | { exit: number };

/** A request to `verb-host.ts`; the answer is the verb's outcome. */
export type VerbCall = { env: Record<string, string>; args: string[] };

/** A service that is starting, running or stopped. */
export type Running = {
  /** The output so far. */
  stdout: () => string;
  stderr: () => string;
  /** The exit code or signal of the service; null while it runs. */
  exit: () => number | NodeJS.Signals | null;
  ended: Promise<number | null>;
  end: () => void;
  /** The process of the service; null when the service shares a process with others. */
  process: ChildProcess | null;
};

/** The paths of the hosts' sockets. tools/test.ts passes them to test processes. */
export type Hosts = { services: string[]; verbs: string };

const hosts = JSON.parse(process.env["TEST_HOSTS"] ?? "null") as Hosts | null;

// Settings that are read from the process's own environment, so a service with one of them needs its own process.
const ofProcess = /^(TEST_OWN_PROCESS$|NODE_(?!ENV$)|AWS_|LD_|PATH$|HOME$|TZ$|LANG$|TMPDIR$)|^pkcs11:/;
const bindsProcess = (env: Env) => [...Object.keys(env), env["SEAL_KEY"] ?? ""].some((each) => ofProcess.test(each));

// The data folders of the hosted services. Two services on one data folder must not share a process, because their
// database server could not tell them apart.
const folders = new Set<string>();

/** True if a host exists and may run the service. */
export const mayBeHosted = (env: Env): boolean =>
  hosts !== null && !folders.has(env["DATA_DIR"] ?? "") && !bindsProcess(env);

function connected(path: string, first: object): Socket {
  const socket = connect({ path, allowHalfOpen: true });
  socket.write(`${JSON.stringify(first)}\n`);
  return socket;
}

/** A service in a host process. */
export function runHosted(env: Env): Running {
  const services = hosts?.services ?? [];
  const socket = connected(services[randomInt(services.length)] ?? "", env);
  const folder = env["DATA_DIR"] ?? "";
  folders.add(folder);
  const output = { stdout: "", stderr: "" };
  let exit: number | null = null;
  createInterface(socket).on("line", (line) => {
    const said = JSON.parse(line) as Said;
    if ("exit" in said) {
      exit = said.exit;
      socket.end();
    } else if ("stdout" in said) output.stdout += said.stdout;
    else output.stderr += said.stderr;
  });
  const ended = once(socket, "close").then(() => {
    folders.delete(folder);
    // If the host process ended without reporting an exit code, the code is 1.
    exit ??= 1;
    return exit;
  });
  return {
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    exit: () => exit,
    ended,
    end: () => void socket.end(),
    process: null,
  };
}

/** Runs a service that must fail to start, and waits for its end. */
async function endedService(env: Env): Promise<Outcome> {
  const { ended, stdout, stderr } = runHosted(env);
  const code = (await ended) ?? 1;
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Runs a verb in the host of verbs or of services; null if the verb needs its own process, or if there is no host. */
export async function runHostedVerb(env: Env, args: string[]): Promise<Outcome | null> {
  if (args[0] === "serve" && mayBeHosted(env)) return endedService(env);
  // These verbs print while they run. A host returns the output only at the end, so they need their own process.
  const prints = ["serve", "listen", "verify"].includes(args[0] ?? "");
  if (hosts === null || bindsProcess(env) || prints) return null;
  // Nobody reads the log of a hosted verb.
  const call: VerbCall = { env: { ...env, LOG_LEVEL: "silent", PATH: process.env["PATH"] ?? "" }, args };
  const socket = connected(hosts.verbs, call);
  socket.end();
  return JSON.parse(await text(socket)) as Outcome;
}
