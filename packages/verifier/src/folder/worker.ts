import { parentPort, workerData } from "node:worker_threads";
import type { Unit } from "./units.ts";
import { verifyUnit } from "./verify-unit.ts";
import { contextFrom, type WorkerContext } from "./worker-context.ts";

// The channel to the main thread. The worker handles one unit at a time, so that it has only one file in memory.
const port = parentPort;
if (port !== null) {
  const context = contextFrom(workerData as WorkerContext);
  port.on("message", async (unit: Unit) => {
    port.postMessage(await verifyUnit(unit, context));
  });
}
