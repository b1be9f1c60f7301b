/** The page that the notary asks the signers to open in a live session, and the page that each person reads. */
import { isDeepStrictEqual } from "node:util";
import type { Operator } from "../../../firms/operators/operators.ts";
import { countPagesIn } from "../../../kernel/pdf/pages/count-pages.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import { type Claimed, claimedOrder } from "../claims/claims.ts";
import { currentSha256, withDocument } from "../claims/documents.ts";
import type { Typed } from "../form-reader.ts";
import { type RoomLink, requireStep } from "./entry.ts";
import { requireRecorded } from "./holding.ts";
import { notaryName, personName } from "./interruption.ts";
import { notHere } from "./lease.ts";
import type { LedPage } from "./page-streams.ts";
import type { Room } from "./rooms.ts";
import { atLive, type LiveDeps, note } from "./session.ts";
import { hashIn, requireDocumentPage } from "./shown.ts";
import { eventsOf } from "./store.ts";

/** The most times that the notary may ask for another page in a session. Each request is stored as an event. */
const maxPages = 300;
const maxDocumentPages = 10_000;

function numberIn(typed: Typed, name: string): number {
  const number = wholeNumberIn(typed[name], 1, maxDocumentPages);
  if (number === undefined) throw invalid(`${name} must be a whole number from 1 to ${maxDocumentPages}.`);
  return number;
}

/** A document, and the number of its pages. The number is null when the pages can't be counted. */
type Counted = { readonly sha256: string; readonly pages: number | null };

/**
 * The latest document of each room, with its number of pages. It is cached, because counting pages reads the whole
 * document.
 */
const countedIn = new WeakMap<Room, Counted>();

/**
 * Counts the pages of the order's current document.
 * @returns null while this node does not record the session
 */
async function counted({ sheets, rooms }: LiveDeps, { order }: Claimed): Promise<Counted | null> {
  const room = rooms.rooms().find(({ orderId }) => orderId === order.orderId);
  if (!room || room.broken !== null) return null;
  const before = countedIn.get(room);
  if (before && before.sha256 === (await currentSha256(sheets.desk.db, order.orderId))) return before;
  const now = await withDocument(sheets.desk, order, async ({ sha256, bytes }) => ({
    sha256,
    pages: await countPagesIn(sheets.workers, order.partnerId, bytes),
  }));
  countedIn.set(room, now);
  return now;
}

/**
 * Asks the signers to open a page. The notary's browser must have reported that it shows the current document, because
 * page numbers differ between documents. The recording's events name the page and the document's hash.
 * @throws ServiceError `conflict` unless the session is live or on hold, and before the notary has the current
 * document; `unavailable` as `requireRecorded`; `validation` for a page that the document does not have; `rate_limited`
 * after too many requests
 */
export async function showPage(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const { desk } = deps.sheets;
  const page = numberIn(typed, "page");
  const claimed = await claimedOrder(desk, operator, code);
  const document = await counted(deps, claimed);
  const shown = await atLive(deps, operator, claimed, async (live) => {
    const { tx, session } = live;
    if (session.state !== "live" && session.state !== "held")
      throw new ServiceError("conflict", "Nothing is recorded now.");
    await requireRecorded(deps, session.id, tx);
    const sha256 = await currentSha256(tx, session.orderId);
    const events = await eventsOf(tx, desk.rowMac, session);
    const seen = events.findLast(({ name, person }) => name === "shown" && person === notaryName);
    if (!seen || hashIn(seen.detail) !== sha256 || document?.sha256 !== sha256)
      throw new ServiceError("conflict", "Load the document first: your browser does not show the current one.");
    if (document.pages !== null && page > document.pages)
      throw invalid(`page must be at most ${document.pages}, the document’s last page.`);
    const led = { page, sha256 };
    const before = events.filter(({ name }) => name === "page");
    if (isDeepStrictEqual(before.at(-1)?.detail, led)) return { session: session.id, led };
    if (before.length >= maxPages)
      throw new ServiceError("rate_limited", "You have asked for other pages too often in this session.");
    await note(deps, live, operator.actor, { name: "page", person: notaryName, detail: led });
    return { session: session.id, led };
  });
  deps.rooms.lead(shown.session, shown.led);
}

/**
 * Notifies the notary which page a signer or witness reads. Not recorded, because people scroll often.
 * @returns the page that the notary shows; null before the notary has shown one
 */
export async function reportPage(deps: LiveDeps, link: RoomLink, typed: Typed): Promise<LedPage | null> {
  const [page, pages] = [numberIn(typed, "page"), numberIn(typed, "pages")];
  if (page > pages) throw invalid("page must not be after the last one.");
  const { session, person } = await requireStep(deps, link, "room");
  requireDocumentPage(person);
  const room = deps.rooms.roomOf(session.id);
  if (!room) throw notHere();
  deps.rooms.tellNotary(session.id, {
    kind: "reads",
    person: personName(person.n),
    page,
    pages,
    isFollowing: typed["following"] === "yes",
  });
  return room.led;
}
