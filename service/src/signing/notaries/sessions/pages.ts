/** The page of the document that the notary shows in a live session, and the page that each signer reads. */
import type { Operator } from "../../../firms/operators/operators.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { claimedOrder } from "../desk/desk.ts";
import { givenNow } from "../desk/documents.ts";
import type { Typed } from "../form-reader.ts";
import { type RoomLink, requireStep } from "./entry.ts";
import { requireRecorded } from "./holding.ts";
import { notaryName, personName } from "./interruption.ts";
import type { LedPage } from "./page-streams.ts";
import { atLive, type LiveDeps, note } from "./session.ts";
import { hashIn } from "./shown.ts";
import { eventsOf } from "./store.ts";

/** The most pages that the notary shows in a session. Each is an event of the session. */
const mostPages = 300;
const longestDocument = 10_000;

function numberIn(typed: Typed, name: string): number {
  const text = typed[name] ?? "";
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > longestDocument)
    throw invalid(`${name} must be a whole number from 1 to ${longestDocument}.`);
  return number;
}

/**
 * Shows a page to the signers. The notary's browser must have reported that it shows the current document, because pages
 * of another one have other words. Each shown page is on record with the document's hash.
 * @throws ServiceError `conflict` while nothing is recorded, and before the notary has the current document
 */
export async function showPage(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const { desk } = deps.sheets;
  const page = numberIn(typed, "page");
  const claimed = await claimedOrder(desk, operator, code);
  const shown = await atLive(deps, operator, claimed, async (live) => {
    const { tx, session } = live;
    if (session.state !== "live" && session.state !== "held")
      throw new ServiceError("conflict", "Nothing is recorded now.");
    await requireRecorded(deps, session.id, tx);
    const sha256 = await givenNow(tx, session.orderId);
    const events = await eventsOf(tx, desk.rowMac, session);
    const seen = events.findLast(({ name, person }) => name === "shown" && person === notaryName);
    if (!seen || hashIn(seen.detail) !== sha256)
      throw new ServiceError("conflict", "Get the document first: your browser does not show the one of now.");
    const before = events.filter(({ name }) => name === "page");
    if (before.length >= mostPages)
      throw new ServiceError("rate_limited", "Too many pages were shown in this session.");
    await note(deps, live, operator.actor, { name: "page", person: notaryName, detail: { page, sha256 } });
    return { session: session.id, led: { page, sha256 } };
  });
  deps.rooms.lead(shown.session, shown.led);
}

/**
 * Tells the notary which page a signer reads, and whether the signer's page follows the notary's. Not on record: people
 * scroll. @returns the page that the notary shows; null before the first
 */
export async function reportPage(deps: LiveDeps, link: RoomLink, typed: Typed): Promise<LedPage | null> {
  const [page, pages] = [numberIn(typed, "page"), numberIn(typed, "pages")];
  if (page > pages) throw invalid("page must not be after the last one.");
  const { session, person } = await requireStep(deps, link, "room");
  if (person.role !== "signer")
    throw new ServiceError("role_required", "Only a signer’s browser reports the page that it shows.");
  const room = deps.rooms.roomOf(session.id);
  if (!room)
    throw new ServiceError("unavailable", "This server does not have the session now. Try again in some seconds.");
  deps.rooms.tellNotary(session.id, {
    ...{ kind: "reads", person: personName(person.n), page, pages },
    isFollowing: typed["following"] === "yes",
  });
  return room.led;
}
