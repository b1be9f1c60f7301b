/** LiveKit's addresses, which it sends one by one. */
import type { SignalTarget } from "@livekit/protocol";
import type { Signal } from "./signal.ts";

/**
 * LiveKit knows its addresses at once. Only its own STUN requests can take longer, and this process does not wait for
 * them.
 */
const gatherMs = 1_000;

/** @returns a function that resolves with the addresses, once all have come or the wait is over */
export function candidatesOf(signal: Signal, target: SignalTarget): () => Promise<readonly string[]> {
  const found = new Set<string>();
  const { promise: all, resolve } = Promise.withResolvers<void>();
  signal.hear("trickle", (message) => {
    if (message.target !== target) return;
    const { candidate = "" } = JSON.parse(message.candidateInit || "{}") as { candidate?: string };
    // Removes the user fragment, which is valid only for one negotiation. The address is valid for later ones, too.
    if (candidate !== "") found.add(candidate.replace(/ ufrag \S+/, ""));
    if (message.final) resolve();
  });
  let late: Promise<void> | null = null;
  return async () => {
    late ??= new Promise((done) => setTimeout(done, gatherMs).unref());
    await Promise.race([all, late]);
    return [...found];
  };
}
