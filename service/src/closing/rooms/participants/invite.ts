import { readAnsweringFirm } from "../../../firms/members/members.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { isEmail } from "../../../kernel/platform/mail/email.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName, isPlainTitle } from "../../../kernel/platform/mail/plain-name.ts";
import { type MailFirm, type MailTemplate, nameIn } from "../../../kernel/platform/mail/template.ts";
import { countInvited, type Invited, markInvited, selectInvited } from "./store.ts";

/** The queue of mails with a room's link; payload `RoomMail`. */
const roomMailQueue = "room-mail";

export type RoomMail = { participantId: string; at: string };

// A room mails its link to at most this many email addresses in 24 hours. The addresses of removed participants count,
// too, and so do addresses that were corrected since.
const maxInvited = 25;

/**
 * Counts the email addresses that got the room's link in the last 24 hours. `since`: the time 24 hours before `at`.
 * `lastAt`: when `email` last got the link since then; null if it did not.
 */
export async function invitedTo(tx: Tx, roomId: string, { email, at }: { email: string; at: Date }) {
  const since = new Date(at.getTime() - dayMs);
  return { since, ...(await countInvited(tx, roomId, email, since)) };
}

/**
 * Mails the room's link to a participant. Mails nothing in three cases: the address can't get mail, it got the link in
 * the last 24 hours, or the room has reached its daily limit. The caller must have locked the room.
 * @returns whether the link is mailed
 */
export async function invite(
  tx: Tx,
  roomId: string,
  { participantId, email, at }: { participantId: string; email: string; at: Date },
): Promise<boolean> {
  if (!isEmail(email)) return false;
  const { total, lastAt } = await invitedTo(tx, roomId, { email, at });
  if (lastAt !== null || total >= maxInvited) return false;
  await markInvited(tx, roomId, participantId, at);
  await enqueue(tx, roomMailQueue, { participantId, at: at.toISOString() } satisfies RoomMail);
  return true;
}

/** Mails the link that the room has at the time of sending. Skips removed participants. */
export const roomMail = defineMail({
  queue: roomMailQueue,
  async load({ participantId }: RoomMail, deps: MailDeps) {
    const invited = await selectInvited(deps.db, participantId);
    return invited && { invited, firm: await readAnsweringFirm(deps, invited) };
  },
  write: ({ invited, firm }, { participantId, at }, { baseUrl }) => ({
    id: `room:${participantId}:${at}`,
    to: invited.email,
    environment: invited.environment,
    ...invitationTemplate(invited, firm, baseUrl),
  }),
});

export function invitationTemplate(
  { name, roomCode, roomName }: Invited,
  firm: MailFirm,
  baseUrl: string,
): MailTemplate {
  const by = nameIn(firm, "A firm");
  const heading = "You are invited to a closing room";
  return {
    subject: isPlainTitle(roomName) ? `${heading}: ${roomName}` : heading,
    heading,
    greeting: isPlainName(name) ? `Hello ${name},` : "Hello,",
    lines: [
      `${by} named you as a participant of a closing.`,
      "Its room shows where each order stands. You need no account.",
    ],
    facts: isPlainTitle(roomName) ? [["Room", roomName]] : [],
    link: { label: "Open the room", url: `${baseUrl}/rooms/${roomCode}` },
    caution: "Anyone who has this link can see the room, so share it with care.",
    why: `You receive it because ${nameIn(firm, "the firm")} gave this email address. If you do not expect a closing, you can ignore it.`,
    firm,
  };
}
