// The processes of a run of all tests that other test processes hand work to, so that its code is loaded once.
import type { ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { Outcome } from "../../service/src/cli/run-verb.ts";

type Env = Readonly<Record<string, string>>;

/** What `service-host.ts` says of a service, a line of JSON each. */
export type Said = { stdout: string } | { stderr: string } | { exit: number };

/** What `verb-host.ts` is asked for; its answer is the verb's outcome. */
export type VerbCall = { env: Record<string, string>; args: string[] };

/** A service that is starting, running or ended. */
export type Running = {
  /** What was printed so far. */
  stdout: () => string;
  stderr: () => string;
  /** How it ended; null while it runs. */
  exit: () => number | NodeJS.Signals | null;
  ended: Promise<number | null>;
  end: () => void;
  /** Null where it is in a process with others. */
  process: ChildProcess | null;
};

/** The hosts' sockets, as tools/test.ts hands them to test processes. */
export type Hosts = { services: string[]; verbs: string };

const hosts = JSON.parse(process.env["TEST_HOSTS"] ?? "null") as Hosts | null;

// Settings that are read elsewhere than from the environment which a service is given belong to a whole process.
const ofProcess = /^(TEST_OWN_PROCESS$|NODE_(?!ENV$)|AWS_|LD_|PATH$|HOME$|TZ$|LANG$|TMPDIR$)|^pkcs11:/;
const bindsProcess = (env: Env) => [...Object.keys(env), env["SEAL_KEY"] ?? ""].some((each) => ofProcess.test(each));

// Two services of one process would be one to the database server that they share.
const folders = new Set<string>();

/** Whether a host may run the service, and there is one. */
export const mayBeHosted = (env: Env): boolean =>
  hosts !== null && !folders.has(env["DATA_DIR"] ?? "") && !bindsProcess(env);

function connected(path: string, first: object): Socket {
  const socket = connect({ path, allowHalfOpen: true });
  socket.write(`${JSON.stringify(first)}\n`);
  return socket;
}

/** A service in a host's process. */
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
    // A host that ended said nothing more.
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

/** A service that is not to start. */
async function endedService(env: Env): Promise<Outcome> {
  const { ended, stdout, stderr } = runHosted(env);
  const code = (await ended) ?? 1;
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Runs a verb in the host of verbs, or of services; null where it needs a process of its own, or there is no host. */
export async function runHostedVerb(env: Env, args: string[]): Promise<Outcome | null> {
  if (args[0] === "serve" && mayBeHosted(env)) return endedService(env);
  // These print while they run.
  const prints = ["serve", "listen", "verify"].includes(args[0] ?? "");
  if (hosts === null || bindsProcess(env) || prints) return null;
  // What it logs is nobody's.
  const call: VerbCall = { env: { ...env, LOG_LEVEL: "silent", PATH: process.env["PATH"] ?? "" }, args };
  const socket = connected(hosts.verbs, call);
  socket.end();
  return JSON.parse(await text(socket)) as Outcome;
}
