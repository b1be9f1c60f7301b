// Runs the services of many test files in one process, which loads their code once. tools/test.ts starts it for a run
// of all files. Each connection to its socket is one service: the test sends the settings, receives the output, and
// stops the service by closing the connection.
import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { StartupError } from "../../service/src/kernel/platform/errors.ts";
import { openLog } from "../../service/src/kernel/platform/logs.ts";
import { createWorkerPool } from "../../service/src/kernel/platform/workers/pool.ts";
import { serve } from "../../service/src/main.ts";
import type { Said } from "./hosts.ts";

// All services share one pool of worker threads, so that the threads also load their code only once.
const workers = createWorkerPool({ size: 2, heapMb: 512, processMb: 16_384 });

async function host(socket: Socket): Promise<void> {
  const say = (said: Said) => void socket.write(`${JSON.stringify(said)}\n`);
  const lines = createInterface(socket);
  const stopped = new Promise<string>((resolve) => lines.once("close", () => resolve("the test's end")));
  // Writing to a closed connection fails, which is expected here.
  socket.on("error", () => {});
  const env = JSON.parse(await new Promise<string>((resolve) => lines.once("line", resolve)));
  let exit = 0;
  try {
    await serve(env, {
      print: (stdout) => say({ stdout }),
      openWorkers: () => ({ ...workers, close: async () => {} }),
      openLog: (level) => openLog(level, { write: (stderr) => say({ stderr }) }),
      stopped,
    });
  } catch (error) {
    exit = 1;
    const { message, stack } = error as Error;
    say({ stderr: `signsealship: ${error instanceof StartupError ? message : stack}\n` });
  }
  say({ exit });
  socket.end();
}

// Removes the limit of listeners, because each service adds one for the exit of the process.
process.setMaxListeners(0);
createServer({ allowHalfOpen: true }, (socket) => void host(socket)).listen(process.argv[2], () =>
  process.stdout.write("ready\n"),
);
