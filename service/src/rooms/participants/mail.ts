import { readMailFirm } from "../../partners/partners.ts";
import type { Sql } from "../../platform/database/database.ts";
import type { Jobs } from "../../platform/jobs/jobs.ts";
import { type Mail, type Mailer, mailFor } from "../../platform/mail/mail.ts";
import { isPlainName, isPlainTitle } from "../../platform/mail/plain-name.ts";
import { type MailFirm, mailFrom, nameIn } from "../../platform/mail/template.ts";
import { type RoomMail, roomMailQueue } from "./invite.ts";
import { type Invited, selectInvited } from "./store.ts";

/** Sends rooms' links, as they are at the time of sending; none to who was removed. */
export function roomMailJobs(jobs: Jobs, { db, mailer, baseUrl }: { db: Sql; mailer: Mailer; baseUrl: string }): void {
  jobs.work<RoomMail>(roomMailQueue, async ({ participantId, at }) => {
    const invited = await selectInvited(db, participantId);
    if (!invited) return;
    const mail = invitationMail(invited, await readMailFirm(db, invited.partnerId), baseUrl);
    await mailFor(invited.environment, mailer, { id: `room:${participantId}:${at}`, to: invited.email, ...mail });
  });
}

export function invitationMail(
  { name, roomCode, roomName }: Invited,
  firm: MailFirm,
  baseUrl: string,
): Omit<Mail, "to" | "id"> {
  const by = nameIn(firm, "A firm");
  const heading = "You are invited to a closing room";
  return mailFrom({
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
    why: `You receive it because ${nameIn(firm, "the firm")} gave this email address. If you expect no closing, you can ignore it.`,
    firm,
  });
}
