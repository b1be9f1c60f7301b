/**
 * The heartbeat between the service and the engine's process. With it, each detects that the other is unresponsive, for
 * example because a signal stopped it.
 */

import type { ChildProcess } from "node:child_process";
import { stopwatch } from "../../kernel/platform/stopwatch.ts";

/** A heartbeat, or the answer to one. */
export type Beat = { readonly beat: true };
export const isBeat = (message: object): message is Beat => "beat" in message;

const everyMs = 1_000;
/** After this many unanswered heartbeats, the engine's process counts as unresponsive. */
const maxUnanswered = 6;
/**
 * The engine's process ends itself after this time without a heartbeat. An unresponsive service does not renew its
 * leases. So another node may claim the service's sessions after these 5 seconds
 * (`signing/notaries/sessions/lease.ts`). It may claim them some seconds earlier if the service's last renewals had
 * already failed.
 */
const maxSilentMs = 5_000;

/**
 * Sends heartbeats to the engine's process, and counts the unanswered ones instead of the time. If the service itself
 * was slow, it first reads the answers that have arrived, and then sends the next heartbeat.
 */
export function beatFor(own: Pick<ChildProcess, "send">, onHang: () => void) {
  let unanswered = 0;
  let timer: NodeJS.Timeout | undefined;
  const end = () => clearInterval(timer);
  const beat = () => {
    if (unanswered >= maxUnanswered) {
      end();
      return onHang();
    }
    unanswered++;
    own.send({ beat: true } satisfies Beat, () => {});
  };
  return {
    begin: () => {
      timer = setInterval(beat, everyMs).unref();
    },
    answered: () => {
      unanswered = 0;
    },
    end,
  };
}

/**
 * Monitors heartbeats, in the engine's process. After a pause of the whole process, packets may be read before timers
 * run. So `check` must be called before anything is forwarded or recorded.
 * @param onSilence ends the process
 */
export function expectBeats(onSilence: () => void): { heard: () => void; check: () => void; end: () => void } {
  let msSilent = stopwatch();
  let isOver = false;
  const check = () => {
    if (!isOver && msSilent() > maxSilentMs) onSilence();
  };
  setInterval(check, everyMs).unref();
  return {
    // A heartbeat after the time limit still ends the process, because another node may have claimed the sessions.
    heard() {
      check();
      msSilent = stopwatch();
    },
    check,
    /** Stops monitoring. Call this when the service has ended and this process still writes what it has received. */
    end() {
      isOver = true;
    },
  };
}
