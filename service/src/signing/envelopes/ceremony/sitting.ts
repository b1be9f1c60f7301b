import { namesOfFirmActors } from "../../../firms/members/members.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newCode } from "../../../kernel/platform/ids.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import {
  type Envelope,
  findEnvelope,
  findSigners,
  isOpenToSigners,
  lockEnvelope,
  type Signer,
  whoseTurn,
} from "../records/envelope.ts";
import { endTurn, giveTurn, type Sitting, sittingOfToken } from "../records/sittings.ts";
import { appendToTrail, requireTrailRoom } from "../records/trail.ts";
import { clientDetail } from "./client-detail.ts";
import type { Client } from "./view.ts";

const sessionMs = 30 * 60_000;

/**
 * A sitting (a device that is passed from signer to signer), as the device shows it between two turns. It contains no
 * order code, because that code alone grants access.
 */
export type SittingView = {
  readonly host: string;
  /** The signers who may use the device now. Empty when it is nobody's turn to sign on this device. */
  readonly next: readonly { readonly n: number; readonly name: string; readonly language: Language }[];
};

type Deps = Pick<EnvelopeDeps, "db" | "clock" | "rowMac">;

/**
 * Whether the sitting is open. A sitting ends when its host leaves the firm, because nobody would check the identity of
 * the next signer.
 */
async function isOpen(db: Sql, { hostId, expiresAt }: Sitting, { partnerId }: Envelope, now: Date): Promise<boolean> {
  if (expiresAt.getTime() <= now.getTime()) return false;
  const host = `member:${hostId}`;
  return (await namesOfFirmActors(db, partnerId, [host])).has(host);
}

const nextOf = (envelope: Envelope, signers: readonly Signer[], now: Date): Signer[] =>
  isOpenToSigners(envelope, signers, now) ? whoseTurn(signers).filter(({ issuedAt }) => issuedAt !== null) : [];

/** Returns the sitting of a token. Changes nothing. @returns undefined for a token that is not, or no longer, valid */
export async function viewSitting({ db, clock }: Deps, token: string): Promise<SittingView | undefined> {
  const now = clock();
  const sitting = isCode(token) ? await sittingOfToken(db, token) : undefined;
  const envelope = sitting && (await findEnvelope(db, sitting.envelopeId));
  if (!sitting || !envelope || !(await isOpen(db, sitting, envelope, now))) return undefined;
  const signers = await findSigners(db, envelope.id);
  return {
    host: sitting.host,
    next: nextOf(envelope, signers, now).map(({ n, name, language }) => ({ n, name, language })),
  };
}

/**
 * Begins a signer's turn on the device. The returned token opens the signer's pages; the pages of the previous signer
 * stop working.
 * @throws ServiceError `not_found` for an invalid token, `conflict` for a signer whose turn it is not
 */
export async function beginTurn(
  { db, clock, rowMac }: Deps,
  token: string,
  n: number,
  client: Client,
): Promise<{ session: string }> {
  const seen = isCode(token) ? await sittingOfToken(db, token) : undefined;
  if (!seen) throw new ServiceError("not_found", "This device is no longer given to signers.");
  return db.transaction(async (tx) => {
    const envelope = await lockEnvelope(tx, seen.envelopeId);
    const sitting = await sittingOfToken(tx, token);
    const at = clock();
    if (!envelope || !sitting || !(await isOpen(tx, sitting, envelope, at)))
      throw new ServiceError("not_found", "This device is no longer given to signers.");
    const signer = nextOf(envelope, await findSigners(tx, envelope.id), at).find((each) => each.n === n);
    if (!signer) throw new ServiceError("conflict", "It is not this person’s turn to sign.");
    await requireTrailRoom(tx, envelope.id, signer.n);
    const session = newCode();
    await giveTurn(tx, sitting.id, { signerId: signer.id, session, expiresAt: new Date(at.getTime() + sessionMs) });
    const detail = { client: clientDetail(client), host: sitting.host, signer: signer.n };
    await appendToTrail(tx, rowMac, envelope, "in_person", at, detail);
    return { session };
  });
}

/**
 * Ends the turn when the signer gives back the device: the signer's pages stop working. An invalid token changes
 * nothing.
 */
export async function takeTurn({ db }: Deps, token: string): Promise<void> {
  const seen = isCode(token) ? await sittingOfToken(db, token) : undefined;
  if (!seen) return;
  await db.transaction(async (tx) => {
    // Locks the envelope first, because a signature also locks the envelope before it reads the signer's session.
    await lockEnvelope(tx, seen.envelopeId);
    const sitting = await sittingOfToken(tx, token);
    if (sitting?.signerId) await endTurn(tx, sitting.id);
  });
}
