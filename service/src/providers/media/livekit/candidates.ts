/** Collects LiveKit's addresses (ICE candidates), which arrive one by one. */
import type { SignalTarget } from "@livekit/protocol";
import type { Signal } from "./signal.ts";

/**
 * The longest wait for addresses. LiveKit sends its local addresses at once. Only its STUN requests can take longer,
 * and their results are not needed.
 */
const gatherMs = 1_000;

/**
 * Collects LiveKit's addresses for one connection.
 * @returns a function that resolves with the addresses, once all have arrived or the time is over
 */
export function candidatesOf(signal: Signal, target: SignalTarget): () => Promise<readonly string[]> {
  const found = new Set<string>();
  const { promise: all, resolve } = Promise.withResolvers<void>();
  signal.hear("trickle", (message) => {
    if (message.target !== target) return;
    const { candidate = "" } = JSON.parse(message.candidateInit || "{}") as { candidate?: string };
    // The user fragment is removed, because it is valid for one negotiation only. The address is used in later
    // negotiations as well.
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
