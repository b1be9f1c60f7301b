import { Worker } from "node:worker_threads";
import type { Context } from "../context.ts";
import { failedOn, type Report } from "../files/report.ts";
import type { Unit } from "./units.ts";
import { verifyUnit } from "./verify-unit.ts";
import { workerContextOf } from "./worker-context.ts";

/** Fewer units than this are verified without workers, because starting workers takes longer than verifying them. */
const worthWorkers = 24;

/**
 * Verifies units of a folder. If there are many, uses `workers` threads. Each thread verifies one unit at a time, so
 * memory does not grow with the number of units.
 *
 * `done` is called after each unit; units end in any order. If a worker dies, its unit fails and a new worker
 * continues.
 */
export async function verifyUnits(
  units: readonly Unit[],
  context: Context,
  workers: number,
  done: (index: number, report: Report | null) => void,
): Promise<void> {
  if (units.length < worthWorkers || workers < 2) {
    for (const [index, unit] of units.entries()) done(index, await verifyUnit(unit, context));
    return;
  }
  const workerData = workerContextOf(context);
  const start = () => new Worker(new URL("./worker.ts", import.meta.url), { workerData });
  const threads: (Worker | null)[] = Array.from({ length: workers }, start);
  let next = 0;
  try {
    await Promise.all(
      [...threads.keys()].map(async (slot) => {
        for (let index = next++; index < units.length; index = next++) {
          const thread = threads[slot] ?? start();
          threads[slot] = thread;
          const report = await ask(thread, units[index]).catch((error: unknown) => {
            threads[slot] = null;
            return failedOn(error);
          });
          done(index, report);
        }
      }),
    );
  } finally {
    await Promise.all(threads.map((thread) => thread?.terminate()));
  }
}

function ask(thread: Worker, unit: Unit | undefined): Promise<Report | null> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      thread.off("message", onMessage).off("error", onError).off("exit", onExit);
      act();
    };
    const onMessage = (report: Report | null) => settle(() => resolve(report));
    const onError = (error: unknown) => settle(() => reject(error));
    const onExit = () => settle(() => reject(new Error("a worker ended")));
    thread.on("message", onMessage).on("error", onError).on("exit", onExit);
    thread.postMessage(unit);
  });
}
