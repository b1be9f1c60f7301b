import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import { enqueueAfter } from "../../kernel/platform/jobs/jobs.ts";
import type { ProviderName } from "../names.ts";
import type { SealedJson } from "../sealed-json.ts";
import { type EventOutcome, endEvent, eventQueue, findEvent, type StoredEvent } from "./store.ts";

/** Applies an event in its own transaction. Must be idempotent. */
export type EventHandler = (event: StoredEvent) => Promise<EventOutcome>;

export type EventDeps = {
  db: Database;
  clock: Clock;
  sealed: SealedJson;
  handlersOf: (provider: ProviderName) => readonly EventHandler[];
  count?: (provider: ProviderName, outcome: EventOutcome) => void;
};

/** An event may arrive before its object is stored. These are the delays before the next attempts. */
const unknownPausesMs = [5_000, 30_000, 120_000, 600_000];

export async function workEvent(
  { db, clock, sealed, handlersOf, count }: EventDeps,
  { eventRow, tries = 0 }: { eventRow: number; tries?: number },
): Promise<void> {
  const found = await findEvent(db, sealed, eventRow);
  if (!found || found.isWorked) return;
  const event: StoredEvent = { ...found.event, body: JSON.parse(found.raw.toString()) };
  const outcome = await handledBy(handlersOf(event.provider), event);
  const pause = outcome === "unknown" ? unknownPausesMs[tries] : undefined;
  if (pause !== undefined) return enqueueAfter(db, eventQueue, { eventRow, tries: tries + 1 }, pause);
  await endEvent(db, eventRow, outcome, clock());
  count?.(event.provider, outcome);
}

/**
 * Calls the handlers in turn until one returns `applied` or `known`. If none does, the result is `unknown` if any
 * handler returned that, otherwise `irrelevant`.
 */
async function handledBy(handlers: readonly EventHandler[], event: StoredEvent): Promise<EventOutcome> {
  let outcome: EventOutcome = "irrelevant";
  for (const handle of handlers) {
    const handled = await handle(event);
    if (handled === "applied" || handled === "known") return handled;
    if (handled === "unknown") outcome = handled;
  }
  return outcome;
}
