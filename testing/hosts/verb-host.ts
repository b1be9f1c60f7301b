// Runs verbs of the command line for many test files in one process, one after another. tools/test.ts starts it for a run of all
// files. A connection to its socket is one verb.
import { createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { failureOf, runVerb } from "../../service/src/cli/run-verb.ts";
import type { VerbAnswer, VerbCall } from "./hosts.ts";

async function answer({ env, args }: VerbCall): Promise<VerbAnswer> {
  // Verbs read their settings there.
  process.env = env;
  try {
    const { json, exitCode = 0 } = await runVerb(args);
    return { code: exitCode, stdout: JSON.stringify(json ?? null), stderr: "" };
  } catch (error) {
    const { message, exitCode } = failureOf(error);
    return { code: exitCode, stdout: "", stderr: `signsealship: ${message}\n` };
  }
}

let last: Promise<unknown> = Promise.resolve();

function serve(socket: Socket): void {
  socket.on("error", () => {});
  last = Promise.all([text(socket), last]).then(async ([call]) => {
    socket.end(JSON.stringify(await answer(JSON.parse(call))));
  });
}

process.setMaxListeners(0);
createServer({ allowHalfOpen: true }, serve).listen(process.argv[2], () => process.stdout.write("ready\n"));
