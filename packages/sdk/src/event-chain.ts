/**
 * A point in the chain of a firm's events in one environment. `position` is an event's number in the chain. `head` is a
 * hash over the position, type and id of this event and all events before it, in hex.
 */
export type Place = { position: number; head: string };

/**
 * The members of an event from which the chain is computed. `GET /api/partner/events` returns all of them. In a
 * delivery, `type` and `id` are in the body, and the place is in the header `Service-Chain`.
 */
export type ChainedEvent = Place & { type: string; id: string };

/**
 * The first break in a chain. `gap`: a position is missing. `head`: the event's head is not the hash over this event
 * and the events before it.
 */
export type ChainFault = { reason: "gap" | "head"; position: number };

/** The place before a firm's first event, where a check of the whole chain starts. */
export const chainStart: Place = { position: 0, head: "0".repeat(64) };

const encoder = new TextEncoder();

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

const hexOf = (bytes: ArrayBuffer): string =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Parses the `Service-Chain` header of a delivery; null when it is missing or not `n=<number>; head=<hex>`. */
export function parseChain(header: string | null | undefined): Place | null {
  const [, n, head] = /^n=([1-9]\d{0,14}); head=([0-9a-f]{64})(?:;.*)?$/.exec(header ?? "") ?? [];
  return n === undefined || head === undefined ? null : { position: Number(n), head };
}

/** The next head: SHA-256 over the 32 bytes of the previous head, then `{position}\n{type}\n{id}\n` in UTF-8. */
export async function chainHead(before: Place, { type, id }: Pick<ChainedEvent, "type" | "id">): Promise<string> {
  const [head, entry] = [bytesOf(before.head), encoder.encode(`${before.position + 1}\n${type}\n${id}\n`)];
  const bytes = new Uint8Array(head.length + entry.length);
  bytes.set(head);
  bytes.set(entry, head.length);
  return hexOf(await crypto.subtle.digest("SHA-256", bytes));
}

/**
 * Checks that events follow one another without a gap, and that no position, type or id in the chain was changed.
 * Payloads are not covered.
 * @param events in the order of their positions
 * @param before the place of the last event that you have checked; omit it if the list starts with the firm's first
 * event
 * @returns the last place, which you store for the next call, and the fault, or null
 */
export async function checkChain(
  events: readonly ChainedEvent[],
  before: Place = chainStart,
): Promise<{ last: Place; fault: ChainFault | null }> {
  let last = before;
  for (const { position, head, type, id } of events) {
    if (position !== last.position + 1) return { last, fault: { reason: "gap", position: last.position + 1 } };
    if ((await chainHead(last, { type, id })) !== head) return { last, fault: { reason: "head", position } };
    last = { position, head };
  }
  return { last, fault: null };
}
