import { placeEvents, placesOf } from "../../events/events.ts";
import type { Owner } from "../../identity/identity.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Claimed } from "./claim.ts";

/** What was claimed, each with its event's place in its firm's chain: given now where it has none yet. */
export async function placed(db: Database, claimed: readonly Claimed[]): Promise<readonly Claimed[]> {
  const waiting = claimed.filter(({ isChained, place }) => isChained && place === null);
  if (waiting.length === 0) return claimed;
  const owners = new Map<string, Owner>(waiting.map((each) => [`${each.partnerId} ${each.environment}`, each]));
  for (const owner of owners.values()) await placeEvents(db, owner);
  const places = await placesOf(
    db,
    waiting.map(({ event }) => event),
  );
  return claimed.map((each) => (each.place ? each : { ...each, place: places.get(each.event) ?? null }));
}
