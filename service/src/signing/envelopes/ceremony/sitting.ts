import { namesOfFirmActors } from "../../../firms/members/members.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newCode } from "../../../kernel/platform/ids.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import {
  type Envelope,
  findEnvelopes,
  findSignersOf,
  isOpenToSigners,
  lockEnvelope,
  type Signer,
  signersInTurn,
} from "../records/envelope.ts";
import { personsOf } from "../records/sessions.ts";
import { endTurn, giveTurn, type Sitting, sittingsOfDevice, sittingsOfToken } from "../records/sittings.ts";
import { appendToTrail, requireTrailRoom } from "../records/trail.ts";
import { clientDetail } from "./client-detail.ts";
import type { Client, DeviceDocuments } from "./view.ts";

const sessionMs = 30 * minuteMs;

/**
 * The view that a device shows between two turns of its sittings. A sitting is the signing of one document on a device
 * that is passed from signer to signer. The view contains no order code, because an order code alone grants access.
 */
export type SittingView = {
  readonly host: string;
  /** The signers who may use the device now. Empty when it is nobody's turn to sign on this device. */
  readonly next: readonly {
    /**
     * The sitting (the signing of one document on the device) of the first document that this signer can sign now. `n`
     * is the signer's number in that document's order.
     */
    readonly sitting: string;
    readonly n: number;
    readonly name: string;
    readonly language: Language;
  }[];
};

type Deps = Pick<EnvelopeDeps, "db" | "clock" | "rowMac">;

/**
 * True if the sitting has not expired, and its host (the member who handed out the device) is still in the firm.
 * Without the host, nobody would check the identity of the next signer.
 */
async function isOpen(db: Sql, { hostId, expiresAt }: Sitting, { partnerId }: Envelope, now: Date): Promise<boolean> {
  if (expiresAt.getTime() <= now.getTime()) return false;
  const host = `member:${hostId}`;
  return (await namesOfFirmActors(db, partnerId, [host])).has(host);
}

const nextOf = (envelope: Envelope, signers: readonly Signer[], now: Date): Signer[] =>
  isOpenToSigners(envelope, signers, now) ? signersInTurn(signers).filter(({ issuedAt }) => issuedAt !== null) : [];

type Turn = { sitting: Sitting; envelope: Envelope; signer: Signer };

const noDevice = () => new ServiceError("not_found", "This device is no longer given to signers.");

/** Returns the sittings that are still open, and the turns that can begin in them now. */
async function turnsOf(db: Sql, sittings: readonly Sitting[], now: Date): Promise<{ open: Sitting[]; turns: Turn[] }> {
  const ids = sittings.map(({ envelopeId }) => envelopeId);
  const [envelopes, signers] = [await findEnvelopes(db, ids), await findSignersOf(db, ids)];
  const [open, turns]: [Sitting[], Turn[]] = [[], []];
  for (const sitting of sittings) {
    const envelope = envelopes.find(({ id }) => id === sitting.envelopeId);
    if (!envelope || !(await isOpen(db, sitting, envelope, now))) continue;
    open.push(sitting);
    const own = signers.filter(({ envelopeId }) => envelopeId === envelope.id);
    turns.push(...nextOf(envelope, own, now).map((signer) => ({ sitting, envelope, signer })));
  }
  return { open, turns };
}

/**
 * Returns the view that a device shows between two turns. A person who signs several documents on the device is listed
 * once. Changes nothing.
 * @returns undefined for an invalid token, and when no sitting of the device is open
 */
export async function viewSitting({ db, clock }: Deps, token: string): Promise<SittingView | undefined> {
  const { open, turns } = await turnsOf(db, isCode(token) ? await sittingsOfToken(db, token) : [], clock());
  const [first] = open;
  if (!first) return undefined;
  const ids = turns.map(({ signer }) => signer.id);
  const persons = await personsOf(db, ids);
  const isFirst = ({ signer: { id } }: Turn) => ids.find((other) => persons.get(other) === persons.get(id)) === id;
  return {
    host: first.host,
    next: turns
      .filter(isFirst)
      .map(({ sitting, signer: { n, name, language } }) => ({ sitting: sitting.id, n, name, language })),
  };
}

/**
 * Locks the envelopes of all sittings on a device, and only then reads the sittings. A signature also locks its
 * envelope first, so a signature and this function can't deadlock.
 */
async function lockDevice(db: Sql, tx: Tx, token: string): Promise<Sitting[]> {
  const seen = isCode(token) ? await sittingsOfToken(db, token) : [];
  const envelopes = await findEnvelopes(
    tx,
    seen.map(({ envelopeId }) => envelopeId),
  );
  // Locks by ascending order id, as every transaction that locks several envelopes does, to avoid deadlocks.
  for (const { id } of envelopes.toSorted((one, other) => one.orderId - other.orderId)) await lockEnvelope(tx, id);
  return sittingsOfToken(tx, token);
}

/** Ends the turn of the signer who is using the device. */
async function endTurns(tx: Tx, sittings: readonly Sitting[]): Promise<void> {
  for (const { id, signerId } of sittings) if (signerId !== null) await endTurn(tx, id);
}

/** `continued`: the same person continues with this document, so nobody hands the device over. */
type Chosen = { turn: Turn; continued: boolean };

/** Begins the turn that `choose` finds. The pages of the previous turn stop working. */
const startTurn = (
  { db, clock, rowMac }: Deps,
  token: string,
  client: Client,
  choose: (tx: Tx, turns: readonly Turn[], sittings: readonly Sitting[]) => Promise<Chosen | undefined>,
): Promise<{ session: string }> =>
  db.transaction(async (tx) => {
    const sittings = await lockDevice(db, tx, token);
    const at = clock();
    const { open, turns } = await turnsOf(tx, sittings, at);
    if (open.length === 0) throw noDevice();
    const chosen = await choose(tx, turns, sittings);
    if (!chosen) throw new ServiceError("conflict", "It is not this person’s turn to sign.");
    const { sitting, envelope, signer } = chosen.turn;
    await requireTrailRoom(tx, envelope.id, signer.n);
    const session = newCode();
    await endTurns(tx, sittings);
    await giveTurn(tx, sitting.id, { signerId: signer.id, session, expiresAt: new Date(at.getTime() + sessionMs) });
    const continued = chosen.continued && { continued: true };
    const detail = { client: clientDetail(client), host: sitting.host, signer: signer.n, ...continued };
    await appendToTrail(tx, rowMac, envelope, "in_person", at, detail);
    return { session };
  });

/**
 * Begins a signer's turn on the device. The returned token opens the signer's pages.
 * @param id the sitting of the document that the signer signs; may be omitted if the device has only one
 * @throws ServiceError `not_found` for a token without an open sitting; `conflict` for a signer whose turn it is not;
 * `rate_limited`
 */
export const beginTurn = (deps: Deps, token: string, n: number, client: Client, id?: string) =>
  startTurn(deps, token, client, async (_, turns, sittings) => {
    const turn = turns.find(({ sitting, signer }) => signer.n === n && sitting.id === (id ?? sittings[0]?.id));
    return turn && { turn, continued: false };
  });

/**
 * The person's turns in other documents, in the order in which the device offers them. Documents before the current one
 * come last: the person skipped them, and a skipped document must never block the others.
 */
const turnsAfter = (turns: readonly Turn[], { envelopeId }: Pick<Sitting, "envelopeId">): Turn[] => [
  ...turns.filter(({ envelope }) => envelope.id > envelopeId),
  ...turns.filter(({ envelope }) => envelope.id < envelopeId),
];

/**
 * Begins the next document of the person who is using the device. Each document requires the access step again.
 * @param after the sitting of the document on the person's page, so that a double click doesn't skip a document
 * @throws ServiceError as `beginTurn`, and `conflict` when `after` is not the current sitting or no document is left
 */
export const nextTurn = (deps: Deps, token: string, after: string, client: Client) =>
  startTurn(deps, token, client, async (tx, turns, sittings) => {
    const current = sittings.find(({ id, isCurrent }) => id === after && isCurrent);
    if (!current || current.signerId === null) return undefined;
    const persons = await personsOf(tx, [current.signerId, ...turns.map(({ signer }) => signer.id)]);
    const person = persons.get(current.signerId);
    const turn = turnsAfter(turns, current).find(({ signer }) => persons.get(signer.id) === person);
    return turn && { turn, continued: true };
  });

/**
 * The documents that the signer signs on the device.
 * @returns null without a device, and for a person with only one document on it
 */
export async function documentsOnDevice(
  db: Sql,
  {
    sitting,
    envelope,
    signer,
    at,
  }: { sitting: Pick<Sitting, "id"> | null; envelope: Envelope; signer: Signer; at: Date },
  titleOf: (envelope: Envelope) => string,
): Promise<DeviceDocuments | null> {
  if (!sitting) return null;
  const sittings = await sittingsOfDevice(db, sitting.id);
  if (sittings.length < 2) return null;
  const signers = await findSignersOf(
    db,
    sittings.map(({ envelopeId }) => envelopeId),
  );
  const persons = await personsOf(
    db,
    signers.map(({ id }) => id),
  );
  const isSame = ({ id }: Pick<Signer, "id">) => persons.get(id) === persons.get(signer.id);
  const own = signers.filter(isSame);
  if (own.length < 2) return null;
  const { turns } = await turnsOf(db, sittings, at);
  const next = turnsAfter(turns, { envelopeId: envelope.id }).find((turn) => isSame(turn.signer));
  return {
    sitting: sitting.id,
    n: own.filter(({ envelopeId }) => envelopeId <= envelope.id).length,
    of: own.length,
    signed: own.filter(({ signedAt }) => signedAt !== null).length,
    next: next ? titleOf(next.envelope) : null,
  };
}

/**
 * Ends the turn when the signer returns the device: the signer's pages stop working. An invalid token changes nothing.
 */
export const endTurnOfDevice = ({ db }: Deps, token: string): Promise<void> =>
  db.transaction(async (tx) => endTurns(tx, await lockDevice(db, tx, token)));
