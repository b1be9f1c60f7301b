import type { EventChannel } from "../../../kernel/events/events.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { isCode, isSecret } from "../../../kernel/platform/text.ts";
import { type Embed, embedOfSession } from "../records/embeds.ts";
import {
  type Envelope,
  findEnvelope,
  findSigners,
  isLocked,
  isOverdue,
  lockEnvelope,
  type Signer,
  signersInTurn,
} from "../records/envelope.ts";
import { openRoomOf, type SignerRoom } from "../records/rooms.ts";
import { placeOfSigner, placesOfToken, type SessionPlace } from "../records/sessions.ts";
import { type Sitting, sittingOfSession } from "../records/sittings.ts";
import type { Link } from "./ceremony.ts";
import type { SigningState } from "./view.ts";

/** The records to which a link leads: the envelope, the link's signer, and all signers. */
export type Linked = {
  envelope: Envelope;
  signer: Signer;
  signers: Signer[];
  /**
   * True if the requesting browser has passed the signer's access step, such as entering a code. Also true if the
   * signer has no such step, and in a notary's presence.
   */
  identified: boolean;
  /** The frame on the firm's page in which the signer signs; null for any other link. */
  embed: Pick<Embed, "id" | "origin"> | null;
  /** The signer's turn on a device that a member of the firm handed out; null for any other link. */
  sitting: Pick<Sitting, "id" | "host"> | null;
  /**
   * The signer's turn in a notary's presence, on the notary's device or by audio and video; null for any other link.
   */
  room: SignerRoom | null;
  /**
   * The signer's position in a session of several documents. Null when the signer is not in a session, and for a link
   * that was not mailed.
   */
  place: SessionPlace | null;
  /**
   * True if the link is that of a session. Such a link opens all documents of the session, even if only one is left.
   */
  bySession: boolean;
  /** The time when the link was read. If the envelope is locked, the time was read after the lock. */
  at: Date;
};

/**
 * Finds the records to which a link leads.
 * @throws ServiceError `not_found` for a link that is malformed, unknown, replaced or ended, always with the same
 * message
 */
export async function follow(db: Sql, link: Link, clock: Clock): Promise<Linked> {
  const found = await findLinked(db, link, clock);
  return recordsOf(db, found, await findEnvelope(db, found.envelopeId), clock);
}

/** Like `follow`, and locks the envelope until the transaction ends. */
export async function followLocked(tx: Tx, link: Link, clock: Clock): Promise<Linked> {
  const envelope = await lockEnvelope(tx, (await findLinked(tx, link, clock)).envelopeId);
  // The signer may have been replaced while this request waited for the lock, so the link is read again.
  return recordsOf(tx, await findLinked(tx, link, clock), envelope, clock);
}

const unknownLink = () => new ServiceError("not_found", "This signing link is not valid.");

async function findLinked(db: Sql, link: Link, clock: Clock) {
  if (!isCode(link.token)) throw unknownLink();
  const session = link.session !== null && isSecret(link.session) ? tokenSha256(link.session) : null;
  const turnOf = (opened: Embed | Sitting, now: Date) => {
    const { envelopeId, signerId, identifiedAt, isCurrent, sessionExpiresAt } = opened;
    const isOpen = isCurrent && (sessionExpiresAt?.getTime() ?? 0) > now.getTime();
    if (!isOpen || signerId === null) throw unknownLink();
    return { envelopeId, id: signerId, hasSession: identifiedAt !== null };
  };
  const isRunning = (browser: Pick<SessionPlace, "sessionSha256" | "sessionExpiresAt">) =>
    session !== null &&
    browser.sessionSha256?.equals(session) === true &&
    (browser.sessionExpiresAt?.getTime() ?? 0) > clock().getTime();
  if (link.document) {
    const place = (await placesOfToken(db, link.token)).find(({ n }) => n === link.document);
    if (!place) throw unknownLink();
    const { envelopeId, signerId: id } = place;
    return { ...ofLink, envelopeId, id, hasSession: isRunning(place), bySession: true };
  }
  const [row] = await db.query<{ envelopeId: number; id: number; hasSession: boolean }>(sql`
    SELECT envelope_id AS "envelopeId", id,
      coalesce(session_sha256 = ${session} AND session_expires_at > ${clock()}, false) AS "hasSession"
    FROM envelope_signers WHERE token_sha256 = ${tokenSha256(link.token)}`);
  if (row) return { ...row, ...ofLink };
  const room = await openRoomOf(db, link.token, clock());
  if (room) return { ...ofLink, envelopeId: room.envelopeId, id: room.signerId, hasSession: true, room };
  const embed = await embedOfSession(db, link.token);
  if (embed) return { ...ofLink, ...turnOf(embed, clock()), embed };
  const sitting = await sittingOfSession(db, link.token);
  if (sitting) return { ...ofLink, ...turnOf(sitting, clock()), sitting };
  throw unknownLink();
}

type Found = Awaited<ReturnType<typeof findLinked>>;

async function recordsOf(db: Sql, found: Found, envelope: Envelope | undefined, clock: Clock): Promise<Linked> {
  const at = clock();
  const signers = await findSigners(db, found.envelopeId);
  const signer = signers.find(({ id }) => id === found.id);
  if (!envelope || !signer) throw unknownLink();
  const identified = signer.auth === "link" || found.hasSession;
  const { embed, sitting, room, bySession } = found;
  // Pages in a frame, on a device or in a notary's presence do not belong to the session. The session's consent was
  // given through its mailed link, so a signer on one of these pages consents to each document separately.
  const place = embed || sitting || room ? null : ((await placeOfSigner(db, signer.id)) ?? null);
  return { envelope, signer, signers, identified, embed, sitting, room, place, bySession, at };
}

/** The channel by which the link's holder opened the signing page. */
export function channelOf({ embed, sitting, room }: Pick<Linked, "embed" | "sitting" | "room">): EventChannel {
  if (embed) return "embedded";
  if (sitting) return "in_person";
  if (room) return room.isRemote ? "by_audio_and_video" : "in_presence";
  return "mail_link";
}

/**
 * For a mailed link to one document: no frame (`embed`), no turn on a device (`sitting`), no notary (`room`), no
 * session.
 */
const ofLink: Pick<Linked, "embed" | "sitting" | "room" | "bySession"> = {
  embed: null,
  sitting: null,
  room: null,
  bySession: false,
};

/** The facts that decide the state of a signing. */
export type Stating = Pick<Linked, "envelope" | "signer" | "signers" | "identified" | "at">;

/** The state of the signing, for this signer. */
export function stateOf({ envelope, signer, signers, identified, at }: Stating): SigningState {
  const { outcome, orderStatus } = envelope;
  if (outcome === "Completed") return identified ? "completed" : "identify";
  if (outcome === "Declined") return "declined";
  if (outcome === "Expired") return "expired";
  const pending = envelope.isInRoom ? ["NotarizationPending"] : ["EsignPending", "OnHold"];
  if (outcome === "Voided" || !pending.includes(orderStatus)) return "voided";
  if (isOverdue(envelope, signers, at)) return "expired";
  // A browser in which the right code was entered is not locked out, so a stranger's wrong codes don't end its session.
  if (!identified) return isLocked(signer, envelope, at) ? "locked" : "identify";
  if (signer.signedAt !== null) return "signed";
  if (orderStatus === "OnHold") return "waiting";
  return signersInTurn(signers).some(({ n }) => n === signer.n) ? "ready" : "waiting";
}

const unfinished: readonly SigningState[] = ["declined", "expired", "voided"];

/**
 * True if the signing ended without all signatures, and the document was then signed elsewhere. The document that an
 * operator took in does not contain the signatures of the discarded round.
 */
export const isSignedElsewhere = (stating: Stating): boolean =>
  stating.envelope.isTakenIn && unfinished.includes(stateOf(stating));

const refusals: Readonly<Record<Exclude<SigningState, "ready">, string>> = {
  identify: "Enter your code first.",
  locked:
    "Too many wrong codes were entered. Try again tomorrow, or ask the firm that sent the document for a new link.",
  waiting: "It is not your turn to sign yet.",
  signed: "You have signed this document already.",
  completed: "Everybody has signed this document already.",
  declined: "The signing of this document was declined.",
  expired: "The time to sign this document has expired.",
  voided: "This document is not to be signed any more.",
};

/**
 * Requires that the notary allows this signature now. A link outside a notary's presence always passes.
 * @throws ServiceError `conflict` when the notary must complete a step before this signature
 */
export function requireMaySign({ room }: Pick<Linked, "room">): void {
  if (!room || room.maySign) return;
  const next = room.isRemote ? "Or the session is on hold: somebody’s line is down." : "Hand the device back.";
  throw new ServiceError("conflict", `The notary’s step comes before your signature. ${next}`);
}

/**
 * Refuses a request that a signer in a notary's presence must make to the notary in person.
 * @throws ServiceError `conflict`
 */
export function refuseInRoom({ room }: Pick<Linked, "room">): void {
  if (room) throw new ServiceError("conflict", "Tell the notary who is with you.");
}

/**
 * Requires the signing to be in one of these states.
 * @throws ServiceError `conflict` saying why this can't be done now
 */
export function requireState(linked: Linked, ...states: readonly SigningState[]): void {
  const state = stateOf(linked);
  if (states.includes(state)) return;
  throw new ServiceError("conflict", state === "ready" ? "This is not asked for." : refusals[state]);
}
