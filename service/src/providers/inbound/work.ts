import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import type { ProviderName } from "../names.ts";
import type { SealedJson } from "../sealed-json.ts";
import { type EventOutcome, endEvent, eventQueue, findEvent, type StoredEvent } from "./store.ts";

/** Applies an event in a transaction of its own; safe to repeat. */
export type EventHandler = (event: StoredEvent) => Promise<EventOutcome>;

export type EventDeps = {
  db: Database;
  clock: Clock;
  sealed: SealedJson;
  handlersOf: (provider: ProviderName) => readonly EventHandler[];
  /** Counts what became of an event. */
  count?: (provider: ProviderName, outcome: EventOutcome) => void;
};

/** An event may come before what it is about is on record: it is tried again so long after the first time. */
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
  // Jobs are due by the database's clock, which no test moves.
  if (pause !== undefined) return enqueue(db, eventQueue, { eventRow, tries: tries + 1 }, new Date(Date.now() + pause));
  await endEvent(db, eventRow, outcome, clock());
  count?.(event.provider, outcome);
}

/** By the first handler that the event means something to; else it is unknown where one says so. */
async function handledBy(handlers: readonly EventHandler[], event: StoredEvent): Promise<EventOutcome> {
  let outcome: EventOutcome = "irrelevant";
  for (const handle of handlers) {
    const said = await handle(event);
    if (said === "applied" || said === "known") return said;
    if (said === "unknown") outcome = said;
  }
  return outcome;
}
