// The code of a worker thread: imports the modules of tasks on demand and runs one task at a time.
import { parentPort } from "node:worker_threads";
import type { Answered, Asked } from "./messages.ts";
import type { Run } from "./task.ts";

const port = parentPort;
port?.on("message", async ({ module, memory, length, input }: Asked) => {
  const answer = (answered: Answered) => port.postMessage(answered, [memory]);
  try {
    const { run } = (await import(module)) as { run: Run<unknown, unknown> };
    answer({ memory, output: await run(Buffer.from(memory, 0, length), input) });
  } catch (error) {
    answer({ memory, error: error instanceof Error ? error : new Error(String(error)) });
  }
});
