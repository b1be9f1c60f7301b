/**
 * The document that each person's browser shows in a live session, identified by the hash that the browser computes.
 */

import type { Operator } from "../../../firms/operators/operators.ts";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { roomEnvelopeOf } from "../../envelopes/envelopes.ts";
import { claimedOrder } from "../claims/claims.ts";
import { currentSha256, documentToNotarize } from "../claims/documents.ts";
import { orderOfId } from "../claims/orders.ts";
import type { Typed } from "../form-reader.ts";
import { atLink, type Entered, type RoomLink, requireStep } from "./entry.ts";
import { requireRecorded } from "./holding.ts";
import { notaryName, personName } from "./interruption.ts";
import { notHere } from "./lease.ts";
import { atLive, type LiveDeps, type LockedLive, note } from "./session.ts";
import { eventsOf, type LivePerson, type LiveSession } from "./store.ts";

/**
 * The most events about shown documents for one person in a session. The limit is generous: the document gets a
 * revision for each signer, and pages may be opened again.
 */
const maxShown = 100;

/**
 * For each person, the hash of the document that the person's browser last reported. The keys are the people's names
 * within the session.
 */
export async function shownIn(
  { sheets: { desk } }: Pick<LiveDeps, "sheets">,
  session: LiveSession,
): Promise<ReadonlyMap<string, string>> {
  const events = await eventsOf(desk.db, desk.rowMac, session);
  return new Map(
    events.flatMap(({ name, person, detail }) => (name === "shown" && person ? [[person, hashIn(detail)]] : [])),
  );
}

export const hashIn = (detail: unknown): string => (detail as { sha256: string }).sha256;

function readHash(typed: Typed): string {
  const sha256 = typed["sha256"] ?? "";
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw invalid("sha256 must be a SHA-256 in lowercase hex, 64 characters.");
  return sha256;
}

type Showing = Pick<LockedLive, "tx" | "session" | "at">;

/**
 * Records which document a person's browser shows, even if the document is outdated.
 * @returns true if the document is the current one
 * @throws ServiceError `conflict` unless the session is live or on hold, `unavailable` as `requireRecorded`,
 * `rate_limited` after too many records of the person
 */
async function write(deps: LiveDeps, live: Showing, person: string, sha256: string): Promise<boolean> {
  const { desk } = deps.sheets;
  const { tx, session } = live;
  if (session.state !== "live" && session.state !== "held")
    throw new ServiceError("conflict", "Nothing is recorded now.");
  await requireRecorded(deps, session.id, tx);
  const isCurrent = (await currentSha256(tx, session.orderId)) === sha256;
  const own = (await eventsOf(tx, desk.rowMac, session)).filter(
    (event) => event.name === "shown" && event.person === person,
  );
  const last = own.at(-1);
  if (last && hashIn(last.detail) === sha256) return isCurrent;
  if (own.length >= maxShown) throw new ServiceError("rate_limited", "This document was opened too often.");
  await note(deps, live, person, { name: "shown", person, detail: { sha256, isCurrent } });
  return isCurrent;
}

const another = () =>
  new ServiceError("conflict", "Your browser shows another document than the one of this session. Reload the page.");

/**
 * Requires that the person is a signer or a witness of the signing, because only their pages show the document. A
 * credible witness only vouches for a signer. A hash that another person reported would be a false mark in the
 * manifest.
 * @throws ServiceError `role_required` for other people
 */
export function requireDocumentPage(person: Pick<LivePerson, "role">): void {
  if (!hasDocumentPage(person))
    throw new ServiceError("role_required", "Only the page of a signer or of a witness of the act shows the document.");
}

/** True if a person's page shows the document. */
export const hasDocumentPage = ({ role }: Pick<LivePerson, "role">): boolean => role === "signer" || role === "witness";

/** True if the person is a signer who has signed the open act's document in the session. */
export async function hasSignedHere(
  { sheets: { desk } }: Pick<LiveDeps, "sheets">,
  { session: { orderId }, person: { n, role }, step }: Entered,
): Promise<boolean> {
  if (step !== "room" || role !== "signer") return false;
  const envelope = await roomEnvelopeOf(desk.db, orderId);
  return envelope?.signers.find((each) => each.n === n)?.signedAt != null;
}

const isRecorded = ({ rooms }: Pick<LiveDeps, "rooms">, { id, state }: LiveSession): boolean =>
  (state === "live" || state === "held") && rooms.roomOf(id)?.broken === null;

/**
 * Hex SHA-256 of the document that a person's page shows now. Null for a person whose page shows none, and while
 * nothing is recorded.
 */
export async function documentFor(deps: LiveDeps, { session, person, step }: Entered): Promise<string | null> {
  if (step !== "room" || !hasDocumentPage(person) || !isRecorded(deps, session)) return null;
  return (await currentSha256(deps.sheets.desk.db, session.orderId)) ?? null;
}

/**
 * Requires that a person may open the document now.
 * @throws ServiceError `conflict` for a person who is not in the session, `role_required` as `requireDocumentPage`, and
 * `unavailable` while nothing is recorded
 */
export async function requireOpenDocument(deps: LiveDeps, link: RoomLink): Promise<LiveSession> {
  const { session, person } = await requireStep(deps, link, "room");
  requireDocumentPage(person);
  if (!isRecorded(deps, session)) throw notHere();
  return session;
}

/**
 * Opens the current document for a person in the session.
 * @throws ServiceError as `requireOpenDocument`
 */
export async function openForPerson(deps: LiveDeps, link: RoomLink): Promise<{ sha256: string; file: StoredFile }> {
  const { desk } = deps.sheets;
  const session = await requireOpenDocument(deps, link);
  const order = await orderOfId(desk, session.orderId);
  if (!order) throw new ServiceError("conflict", "The order does not wait for a notary any more.");
  return documentToNotarize(desk, order);
}

/**
 * Records the document that the browser of a signer or witness shows.
 * @throws ServiceError `role_required` as `requireDocumentPage`, `conflict` for an outdated document, which is recorded
 * nevertheless; otherwise as `write`
 */
export async function reportShown(deps: LiveDeps, link: RoomLink, typed: Typed): Promise<void> {
  const sha256 = readHash(typed);
  const seen = await atLink(deps, link, ["room"], async (entered) => {
    const { session, person } = entered;
    requireDocumentPage(person);
    return { session: session.id, isCurrent: await write(deps, entered, personName(person.n), sha256) };
  });
  deps.rooms.tell(seen.session, { kind: "changed" });
  if (!seen.isCurrent) throw another();
}

/**
 * Records the document that the notary's browser shows.
 * @throws as `reportShown`, except `role_required`
 */
export async function reportShownToNotary(
  deps: LiveDeps,
  operator: Operator,
  code: string,
  typed: Typed,
): Promise<void> {
  const sha256 = readHash(typed);
  const claimed = await claimedOrder(deps.sheets.desk, operator, code);
  const seen = await atLive(deps, operator, claimed, async (live) => ({
    session: live.session.id,
    isCurrent: await write(deps, live, notaryName, sha256),
  }));
  deps.rooms.tell(seen.session, { kind: "changed" });
  if (!seen.isCurrent) throw another();
}
