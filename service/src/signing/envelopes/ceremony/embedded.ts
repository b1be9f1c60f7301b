import { minuteMs } from "../../../kernel/platform/clock.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newCode } from "../../../kernel/platform/ids.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { type Embed, embedOfSession, embedOfTicket, redeemEmbed } from "../records/embeds.ts";
import { findSigners, lockEnvelope } from "../records/envelope.ts";
import { appendToTrail, requireTrailRoom } from "../records/trail.ts";
import { clientDetail } from "./client-detail.ts";
import type { Client } from "./view.ts";

const sessionMs = 30 * minuteMs;

/** A signing page in a frame: the site that may show it, and whether its URL is still valid. */
export type Frame = {
  readonly origin: string;
  readonly state: "open" | "used" | "expired";
};

const stateOf = (embed: Embed, now: Date): Frame["state"] => {
  if (!embed.isCurrent) return "expired";
  if (embed.sessionExpiresAt !== null) return "used";
  return embed.ticketExpiresAt.getTime() > now.getTime() ? "open" : "expired";
};

/**
 * Finds the frame by the ticket in its URL. Changes nothing.
 * @returns undefined for a ticket that was never issued, or ended more than a day ago
 */
export async function frameOfTicket({ db, clock }: EnvelopeDeps, ticket: string): Promise<Frame | undefined> {
  const embed = isCode(ticket) ? await embedOfTicket(db, ticket) : undefined;
  return embed && { origin: embed.origin, state: stateOf(embed, clock()) };
}

/**
 * Finds the frame whose signing pages have this session token, even after the session has ended. The frame's state is
 * always `expired`, because the URL with the ticket no longer works.
 */
export async function frameOfSession({ db }: EnvelopeDeps, session: string): Promise<Frame | undefined> {
  const embed = isCode(session) ? await embedOfSession(db, session) : undefined;
  return embed && { origin: embed.origin, state: "expired" };
}

/**
 * Exchanges a ticket, once, for the token of a signing page. The token is valid for half an hour. The trail records the
 * browser that opened the page, unless the envelope has ended.
 * @throws ServiceError `conflict` for a ticket that was used or has expired, `not_found` for an unknown one, and as
 * `requireTrailRoom`
 */
export async function redeemTicket(
  { db, clock, rowMac }: EnvelopeDeps,
  ticket: string,
  client: Client,
): Promise<{ session: string }> {
  const seen = isCode(ticket) ? await embedOfTicket(db, ticket) : undefined;
  if (!seen) throw new ServiceError("not_found", "This signing link is not valid.");
  return db.transaction(async (tx) => {
    const envelope = await lockEnvelope(tx, seen.envelopeId);
    const embed = await embedOfTicket(tx, ticket);
    const signer = (await findSigners(tx, seen.envelopeId)).find(({ id }) => id === seen.signerId);
    const at = clock();
    if (!envelope || !embed || !signer || stateOf(embed, at) !== "open")
      throw new ServiceError("conflict", "This address was used, or has expired.");
    const session = newCode();
    const redeemed = await redeemEmbed(tx, embed.id, { session, expiresAt: new Date(at.getTime() + sessionMs) });
    if (!redeemed) throw new ServiceError("conflict", "This address was used, or has expired.");
    if (envelope.endedAt === null) {
      await requireTrailRoom(tx, envelope.id, signer.n);
      const detail = { client: clientDetail(client), origin: embed.origin, signer: signer.n };
      await appendToTrail(tx, rowMac, envelope, "embedded", at, detail);
    }
    return { session };
  });
}
