import type { SheetDeps } from "../presence/ipen.ts";
import type { Mark } from "../recordings/manifest.ts";
import { findSheet } from "../sheets/store.ts";
import { notaryName, personName } from "./interruption.ts";
import { eventsOf, findLive, type LiveSession } from "./store.ts";

/** Steps, consents and other events of a session, for the recording's manifest. */
export async function marksOf(
  { sheets: { desk } }: { sheets: Pick<SheetDeps, "desk"> },
  session: LiveSession,
): Promise<Mark[]> {
  const sheet = await findSheet(desk, session.sheetId);
  const now = (await findLive(desk.db, session.id)) ?? session;
  const steps = (sheet?.marks ?? []).map(({ at, name, signer, kind, run }) => ({
    at,
    kind: kind === "step" ? `step ${name}, run ${run}` : name,
    person: signer === null ? notaryName : personName(signer),
  }));
  const events = (await eventsOf(desk.db, desk.rowMac, now)).map(({ at, name, person, detail }) => ({
    at,
    kind: name === "page" ? `page ${(detail as { page: number }).page}` : name,
    person,
    ...((name === "message" || name === "shown" || name === "page") && {
      sha256: (detail as { sha256: string }).sha256,
    }),
  }));
  return [...steps, ...events].toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
}
