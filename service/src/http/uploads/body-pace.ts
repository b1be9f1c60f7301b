import type { IncomingMessage } from "node:http";

/** What a body must keep to while we read it, and while the rest of a refused one is read and discarded. */
export type BodyPace = {
  /** In the first window of this length so many bytes must come, in each that follows twice as many, up to a bound. */
  windowMs: number;
  minBytes: number;
  minBytesAtMost: number;
  /** The longest that is read in all. */
  maxBytes: number;
};

// A place in memory is paid for by pace: who keeps one for minutes has to bring megabytes.
export const bodyPace: BodyPace = {
  windowMs: 30_000,
  minBytes: 64 * 1024,
  minBytesAtMost: 1024 * 1024,
  maxBytes: 64 * 1024 * 1024,
};

const looksPerWindow = 30;

/**
 * Watches a body from now to its end by what its connection has brought.
 * @param ended is called once, when the body is too slow or too long
 * @returns stops watching
 */
export function watchBody(
  message: IncomingMessage,
  { windowMs, minBytes, minBytesAtMost, maxBytes }: BodyPace,
  ended: (fault: "stalled" | "too large") => void,
): () => void {
  const { socket } = message;
  const begun = socket.bytesRead;
  let atWindow = begun;
  let due = minBytes;
  let looks = 0;
  const timer = setInterval(() => {
    const fault = faultNow();
    if (fault || message.complete || message.destroyed) stop();
    if (fault) ended(fault);
  }, windowMs / looksPerWindow).unref();
  const stop = () => clearInterval(timer);
  return stop;

  function faultNow() {
    if (message.complete || message.destroyed) return null;
    // The server has given the request up and said so; a sender that goes on sends for nobody.
    if (!socket.writable) return "stalled";
    const now = socket.bytesRead;
    if (now - begun > maxBytes) return "too large";
    looks += 1;
    if (looks % looksPerWindow !== 0) return null;
    if (now - atWindow < due) return "stalled";
    atWindow = now;
    due = Math.min(2 * due, minBytesAtMost);
    return null;
  }
}
