/** Stores the parts of recordings that killed processes left on the disk. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import { backoffMs } from "../../../kernel/platform/work/backoff.ts";
import { looksAt, quietFiles, sessionsIn, spoolFolders } from "./folders.ts";
import { inOrder, type Queues } from "./parts.ts";

type Recovery = {
  /** The folder to which this node writes. */
  spoolDir: string;
  log: Log;
  signal: AbortSignal;
  /** True if a node holds a valid lease on the session. */
  isLeased: (session: string) => Promise<boolean>;
  /**
   * Runs work for a session, and keeps the session from being opened at this node meanwhile. Skips the work if the
   * session is already open here.
   */
  whileClosed: (session: string, work: () => Promise<void>) => Promise<void>;
  store: (session: string, files: readonly string[]) => Promise<void>;
};

/**
 * Stores the leftover parts of recordings. This node's own parts are stored at once, because they can't be stored after
 * another node has continued the recording.
 *
 * The parts that other nodes wrote must wait while any node holds the session's lease. The holder may still be writing
 * to them.
 */
export async function recoverParts(recovery: Recovery): Promise<void> {
  const { spoolDir, signal, isLeased, whileClosed, store } = recovery;
  const [, ...others] = await spoolFolders(spoolDir);
  // Two queues, `own` and `others`. Each has only one part at a time in memory.
  const queues: Queues = new Map();
  const own = async (session: string) => {
    await whileClosed(session, async () => {
      const files = await quietFiles([join(spoolDir, session)], signal);
      await inOrder(queues, "own", () => store(session, files));
    });
    return true;
  };
  const other = (dir: string) => (session: string) =>
    inOrder(queues, "others", async () => {
      for await (const { files, isQuiet } of looksAt([join(dir, session)], signal)) {
        // A node with the lease may be writing to one of these files, so they are not stored yet. A node that gets the
        // lease later writes to a new file.
        if (await isLeased(session)) return false;
        if (isQuiet) await store(session, files);
      }
      return true;
    });
  const each = async (dir: string, work: (session: string) => Promise<boolean>) => {
    await Promise.all((await sessionsIn(dir)).map((session) => untilStored(recovery, session, () => work(session))));
  };
  await Promise.all([each(spoolDir, own), ...others.map((dir) => each(dir, other(dir)))]);
}

const retryMs = 3_000;
const maxRetryMs = 5 * minuteMs;

/** Retries work until it returns true, with a longer pause after each failure. */
async function untilStored({ signal, log }: Recovery, session: string, work: () => Promise<boolean>): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    try {
      if (await work()) return;
      failures = 0;
    } catch (error) {
      // The process is stopping, which is not an error. The next process that starts with this disk stores the parts.
      if (signal.aborted) return;
      failures++;
      log.error({ err: error, session }, "the rest of a recording was not stored; the service will try again");
    }
    const ms = failures === 0 ? retryMs : retryMs + backoffMs(failures, maxRetryMs);
    await sleep(ms, undefined, { ref: false, signal }).catch(() => {});
  }
}
