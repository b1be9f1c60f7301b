// Runs verbs of the command line for many test files in one process, one after another. tools/test.ts starts it for a
// run of all files. A connection to its socket is one verb.
import { createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { type Outcome, runCommand } from "../../service/src/cli/run-verb.ts";
import { command } from "../../service/src/cli/verbs.ts";
import type { VerbCall } from "./hosts.ts";

function run({ env, args }: VerbCall): Promise<Outcome> {
  // Verbs read their settings from the environment.
  process.env = env;
  return runCommand(command, args);
}

let last: Promise<unknown> = Promise.resolve();

function serve(socket: Socket): void {
  socket.on("error", () => {});
  last = Promise.all([text(socket), last]).then(async ([call]) => {
    socket.end(JSON.stringify(await run(JSON.parse(call))));
  });
}

process.setMaxListeners(0);
createServer({ allowHalfOpen: true }, serve).listen(process.argv[2], () => process.stdout.write("ready\n"));
