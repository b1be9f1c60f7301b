import { dayMs } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import { isEmail } from "../../platform/mail/email.ts";
import { countInvited, markInvited } from "./store.ts";

/** The queue of mails with a room's link; payload `RoomMail`. */
export const roomMailQueue = "room-mail";

export type RoomMail = { participantId: string; at: string };

// Of a room in 24 hours; the same address once. Who was removed counts, too.
const mostInvited = 25;

/**
 * Has a participant of a locked room mailed its link, unless there are too many mails.
 * @returns whether it is mailed
 */
export async function invite(
  tx: Tx,
  roomId: string,
  { participantId, email, at }: { participantId: string; email: string; at: Date },
): Promise<boolean> {
  if (!isEmail(email)) return false;
  const { total, again } = await countInvited(tx, roomId, email, new Date(at.getTime() - dayMs));
  if (again || total >= mostInvited) return false;
  await markInvited(tx, participantId, at);
  await enqueue(tx, roomMailQueue, { participantId, at: at.toISOString() } satisfies RoomMail);
  return true;
}
