import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import { type NewestTexts, newestText } from "../consent/texts.ts";
import { distinctNames, type Naming } from "../lifecycle/distinct-names.ts";
import { type Ending, endIn } from "../lifecycle/end.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { findEnvelopes, findSignersOf, lockEnvelope, titleOf as untitled, updateSigner } from "../records/envelope.ts";
import { citeSession, lockPlace, placesOfSession, placesOfToken, setSessionConsent } from "../records/sessions.ts";
import { appendToTrail, requireTrailRoom } from "../records/trail.ts";
import type { Link } from "./ceremony.ts";
import { clientDetail } from "./client-detail.ts";
import { follow, isSignedElsewhere, type Linked, type Stating, stateOf } from "./links.ts";
import type { Client, SessionDocument, SigningState, SigningView } from "./view.ts";

/** A document of a session, with the facts that decide its state. `n` is its number in the session. */
type Listed = Stating & { n: number };

/**
 * The documents of a session, in order. If a document was sent again, only its newest envelope is listed. The envelope
 * of this request is always listed, even if it is an earlier one.
 */
async function listed(db: Sql, linked: Linked): Promise<Listed[]> {
  const { place, identified, at } = linked;
  if (!place) return [];
  const places = await placesOfSession(db, place.id);
  const ids = places.map(({ envelopeId }) => envelopeId);
  const [envelopes, signers] = [await findEnvelopes(db, ids), await findSignersOf(db, ids)];
  const isNewest = (one: Linked["envelope"]) =>
    envelopes.every((other) => other.orderId !== one.orderId || other.attempt <= one.attempt);
  return places.flatMap(({ n, signerId, envelopeId }) => {
    const envelope = envelopes.find(({ id }) => id === envelopeId);
    const signer = signers.find(({ id }) => id === signerId);
    const those = signers.filter((each) => each.envelopeId === envelopeId);
    const isShown = envelope && signer && (isNewest(envelope) || n === place.n);
    return isShown ? [{ n, envelope, signer, signers: those, identified, at }] : [];
  });
}

/**
 * The documents of the link's session, without titles before the access step, because a stranger may have the link.
 * `session` is null for a link of one document. `nameOf` names documents.
 */
export async function sessionOf(
  db: Sql,
  { titleOf, closingsOf }: Naming,
  linked: Linked,
): Promise<{ session: SigningView["session"]; nameOf: (envelope: Linked["envelope"]) => string }> {
  const { envelope, place, bySession, identified } = linked;
  const titleOfOne = (one: Linked["envelope"]) => titleOf({ ...one, code: one.orderCode }) ?? untitled(one);
  if (!bySession || !place) return { session: null, nameOf: titleOfOne };
  const all = await listed(db, linked);
  const closing = (await closingsOf(db, envelope.orderId)).find(({ id }) => id === place.roomId);
  const nameOf = distinctNames(
    all.map((one) => one.envelope),
    titleOfOne,
    closing,
  );
  const documents = all.map(({ n, ...one }): SessionDocument => {
    const state = stateOf(one);
    const isHeld = one.envelope.orderStatus === "OnHold" && state === "waiting";
    const title = identified ? nameOf(one.envelope) : null;
    const { orderCode } = one.envelope;
    const hasSigned = one.signer.signedAt !== null && !isSignedElsewhere(one);
    return { n, orderCode, title, state: isHeld ? "on_hold" : state, hasSigned };
  });
  return { session: { n: place.n, documents }, nameOf };
}

/**
 * The states of documents, in the order in which a session continues with them: a `ready` document comes first. An
 * order on hold or a declined document never blocks the next document.
 */
const inTurn: readonly SigningState[] = [
  "ready",
  "identify",
  "locked",
  "waiting",
  "signed",
  "completed",
  "declined",
  "expired",
  "voided",
];

/**
 * The number of the document with which a session's person continues.
 * @returns null for a link that is not a session's
 * @throws ServiceError `not_found`
 */
export async function nextOf(db: Sql, link: Link, clock: Clock): Promise<number | null> {
  const [first] = isCode(link.token) ? await placesOfToken(db, link.token) : [];
  if (!first) return null;
  const documents = await listed(db, await follow(db, { ...link, document: first.n }, clock));
  const rank = (one: Listed) => inTurn.indexOf(stateOf(one));
  return documents.sort((one, other) => rank(one) - rank(other) || one.n - other.n)[0]?.n ?? first.n;
}

export type Entering = Pick<EnvelopeDeps, "rowMac"> & { consentTexts: NewestTexts };

/**
 * Records in a document's trail how the person passed the session's access step. Also records the consent to all the
 * session's documents, if the person has given it. Does nothing outside a session, and for a document that is neither
 * ready nor waiting. Must be called before the trail records any other step of this person. The transaction must have
 * locked the envelope.
 */
export async function enterDocument(tx: Tx, deps: Entering, linked: Linked, client: Client): Promise<void> {
  const { envelope, signer, place, at, bySession } = linked;
  if (!place || !["ready", "waiting"].includes(stateOf(linked))) return;
  const identifiedAt = place.identifiedAt ?? place.createdAt;
  if (bySession && place.citedAt?.getTime() !== identifiedAt.getTime()) {
    await requireTrailRoom(tx, envelope.id, signer.n);
    await citeSession(tx, signer.id, identifiedAt);
    await appendToTrail(tx, deps.rowMac, envelope, "session_identified", at, {
      client: clientDetail(client),
      method: signer.auth,
      session: place.id,
      signer: signer.n,
      ...(place.identifiedAt && { identifiedAt: place.identifiedAt.toISOString() }),
    });
  }
  const consent = consentOf(deps, linked);
  if (signer.consent !== null || consent === null) return;
  await updateSigner(tx, signer.id, sql`consent = ${JSON.stringify(consent)}::jsonb`);
  const detail = { client: clientDetail(client), consent, session: place.id, signer: signer.n };
  await appendToTrail(tx, deps.rowMac, envelope, "consented", at, detail);
}

/**
 * Records the consent to the newest consent text. Through a session's link the consent is for all the session's
 * documents, otherwise for this document.
 *
 * Each kind of text needs its own consent. The text for one document does not cover the others of a session. The text
 * for signing in a notary's presence doesn't mention the page's buttons for paper or withdrawal. If this version is
 * already recorded for this document, it is accepted again, whatever its kind.
 * @returns `changed` if the version is neither that of the newest text nor the one already consented to. Nothing is
 * recorded then
 * @throws ServiceError
 */
export async function giveConsent(
  tx: Tx,
  deps: Entering,
  linked: Linked,
  { version, language }: { version: string; language: Language },
  client: Client,
): Promise<{ outcome: "consented" | "changed" }> {
  const { envelope, signer, place, bySession, room, at } = linked;
  const before = consentOf(deps, linked);
  const isRepeated = before?.version === version && before.language === language;
  const text = newestText(deps.consentTexts, { room, session: bySession })(language);
  if (!isRepeated && text.version !== version) return { outcome: "changed" };
  // A session is always locked before its signers, to avoid deadlocks.
  if (place) await lockPlace(tx, signer.id);
  await enterDocument(tx, deps, linked, client);
  if (isRepeated) return { outcome: "consented" };
  await requireTrailRoom(tx, envelope.id, signer.n);
  const consent = { version, language, textSha256: text.sha256, at: at.toISOString() };
  if (bySession && place) await setSessionConsent(tx, place.id, consent);
  await updateSigner(tx, signer.id, sql`consent = ${JSON.stringify(consent)}::jsonb`);
  const session = bySession && place ? { session: place.id } : {};
  const detail = { ...session, consent, signer: signer.n, client: clientDetail(client) };
  await appendToTrail(tx, deps.rowMac, envelope, "consented", at, detail);
  return { outcome: "consented" };
}

/**
 * The consent that applies to this document: the signer's own consent, if there is one. Otherwise the consent of the
 * link's session, if it was given to the current text in the signer's language.
 */
export function consentOf(
  { consentTexts }: { consentTexts: Pick<NewestTexts, "ofClosing"> },
  { signer, place, bySession }: Linked,
) {
  const ofSession = bySession ? (place?.consent ?? null) : null;
  const isCurrent =
    ofSession?.language === signer.language && ofSession.version === consentTexts.ofClosing(signer.language).version;
  return signer.consent ?? (isCurrent ? ofSession : null);
}

/** The documents that the person may still sign, in the order in which they are locked. */
const openOnes = async (db: Sql, linked: Linked): Promise<Listed[]> =>
  (await listed(db, linked))
    .filter((one) => ["ready", "waiting"].includes(stateOf(one)))
    .sort((one, other) => one.envelope.orderId - other.envelope.orderId);

/**
 * Ends, in one transaction, all documents that a session's person has not signed. Signed documents stay valid. A
 * document on hold can't end now, so its consent is withdrawn instead.
 * @throws ServiceError `conflict` if no document ended; the consents are withdrawn even then
 */
export async function endAll(
  deps: Pick<EnvelopeDeps, "db" | "clock" | "log" | "rowMac">,
  link: Link,
  endingOf: (n: number) => Ending,
): Promise<void> {
  const ended = await deps.db.transaction(async (tx) => {
    const seen = await openOnes(tx, await follow(tx, link, deps.clock));
    for (const { envelope } of seen) await lockOrder(tx, envelope.orderCode);
    for (const { envelope } of seen) await lockEnvelope(tx, envelope.id);
    // While this request waited for the locks, another tab may have signed a document, or the link may have been
    // replaced.
    const linked = await follow(tx, link, deps.clock);
    const open = await openOnes(tx, linked);
    const inOrder = open.filter(({ signer }) => seen.some((one) => one.signer.id === signer.id));
    const held: Listed[] = [];
    for (const one of inOrder) if (!(await endIn(tx, deps, one.envelope, endingOf(one.signer.n)))) held.push(one);
    if (linked.place) await setSessionConsent(tx, linked.place.id, null);
    for (const { signer } of held) await updateSigner(tx, signer.id, sql`consent = NULL`, sql`signed_at IS NULL`);
    return inOrder.length - held.length;
  });
  if (ended === 0) throw new ServiceError("conflict", "These documents are not to be signed any more.");
}
