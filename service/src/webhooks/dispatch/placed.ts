import { placeSomeEvents, placesOf } from "../../events/events.ts";
import type { Owner } from "../../identity/identity.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Log } from "../../platform/logs.ts";
import type { Claimed } from "./claim.ts";

/** What may be sent, each with its event's place in its firm's chain, and what waits for its place still. */
export type Placed = { ready: readonly Claimed[]; waiting: readonly Claimed[] };

const isWaiting = ({ isChained, place }: Claimed): boolean => isChained && place === null;

/**
 * Gives events that have no place yet theirs: of each firm a page at a time, and one whose events can't be placed, or just are by
 * another node, holds up no other.
 */
export async function placed({ db, log }: { db: Database; log: Log }, claimed: readonly Claimed[]): Promise<Placed> {
  const unplaced = claimed.filter(isWaiting);
  if (unplaced.length === 0) return { ready: claimed, waiting: [] };
  const owners = new Map<string, Owner>(unplaced.map((each) => [`${each.partnerId} ${each.environment}`, each]));
  for (const { partnerId, environment } of owners.values())
    await placeSomeEvents(db, { partnerId, environment }).catch((error: unknown) =>
      log.error({ err: error, partner: partnerId, environment }, "events could not be given their places"),
    );
  const places = await placesOf(
    db,
    unplaced.map(({ event }) => event),
  );
  const all = claimed.map((each) => (each.place ? each : { ...each, place: places.get(each.event) ?? null }));
  return { ready: all.filter((each) => !isWaiting(each)), waiting: all.filter(isWaiting) };
}
