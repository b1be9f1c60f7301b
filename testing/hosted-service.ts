import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import type { Running } from "./service.ts";

/** What `service-host.ts` says of a service, a line of JSON each. */
export type Said = { stdout: string } | { stderr: string } | { exit: number };

// Settings that are read elsewhere than from the environment which a service is given belong to a whole process.
const ofProcess = /^(TEST_OWN_PROCESS$|NODE_(?!ENV$)|AWS_|LD_|PATH$|HOME$|TZ$|LANG$|TMPDIR$)|^pkcs11:/;

// Two services of one process would be one to the database server that they share.
const folders = new Set<string>();

/** Whether the host may run it, and there is one. */
export const mayBeHosted = (env: Readonly<Record<string, string>>): boolean =>
  process.env["TEST_HOSTS"] !== undefined &&
  !folders.has(env["DATA_DIR"] ?? "") &&
  ![...Object.keys(env), env["SEAL_KEY"] ?? ""].some((each) => ofProcess.test(each));

/** A service in the host's process. */
export function runHosted(env: Readonly<Record<string, string>>): Running {
  const hosts = (process.env["TEST_HOSTS"] ?? "").split(" ");
  // The services of one file of tests are together.
  const socket = connect({ path: hosts[process.pid % hosts.length] ?? "", allowHalfOpen: true });
  const folder = env["DATA_DIR"] ?? "";
  folders.add(folder);
  const output = { stdout: "", stderr: "" };
  let exit: number | null = null;
  createInterface(socket).on("line", (line) => {
    const said = JSON.parse(line) as Said;
    if ("exit" in said) exit = said.exit;
    else if ("stdout" in said) output.stdout += said.stdout;
    else output.stderr += said.stderr;
  });
  socket.write(`${JSON.stringify(env)}\n`);
  const ended = once(socket, "close").then(() => {
    folders.delete(folder);
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
