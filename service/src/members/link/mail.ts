import type { Sql, Tx } from "../../platform/database/database.ts";
import { enqueue, type Jobs } from "../../platform/jobs/jobs.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { plainTitle } from "../../platform/mail/plain-name.ts";
import { mailFrom } from "../../platform/mail/template.ts";
import { selectNews, selectOtherOwners } from "./store.ts";

/** The queue of mails to a firm's owners about somebody who connected. */
const memberMailQueue = "member-mail";

type News = { userId: string; ownerId: string; at: string; invited?: boolean };

/** Has every other owner of the firm mailed that a person connected, accepted an invitation, or got live access by a key. */
export async function mailOwners(
  tx: Tx,
  { partnerId, userId, at, invited = false }: { partnerId: string; userId: string; at: Date; invited?: boolean },
): Promise<void> {
  for (const ownerId of await selectOtherOwners(tx, partnerId, userId)) {
    const news: News = { userId, ownerId, at: at.toISOString(), invited };
    await enqueue(tx, memberMailQueue, news);
  }
}

/** Sends them; nothing about a person, or to an owner, who left the firm in the meantime. */
export function memberMailJobs(
  jobs: Jobs,
  { db, mailer, baseUrl }: { db: Sql; mailer: Mailer; baseUrl: string },
): void {
  jobs.work<News>(memberMailQueue, async ({ userId, ownerId, at, invited = false }) => {
    const news = await selectNews(db, userId, ownerId);
    if (!news) return;
    const { email, ownerEmail, firmName, liveAccess } = news;
    const mail = mailFrom({
      subject: subjectOf(invited, liveAccess),
      greeting: "Hello,",
      lines: [
        `${email} ${howJoined(plainTitle(firmName, "your firm"), invited, liveAccess)}`,
        "If you do not know this person, remove them on the team’s page, and revoke the firm’s keys that they may know.",
      ],
      link: { label: "See the members", url: `${baseUrl}/dashboard/team` },
      caution: "You receive this email because you are an owner of the firm.",
    });
    await mailer.send({ id: `member:${ownerId}:${userId}:${at}`, to: ownerEmail, ...mail });
  });
}

function subjectOf(invited: boolean, liveAccess: boolean): string {
  if (invited) return "Your invitation was accepted";
  return liveAccess ? "A member connected with a live key" : "A new member connected";
}

function howJoined(firmName: string, invited: boolean, liveAccess: boolean): string {
  const what = liveAccess
    ? "this member sees and changes live orders."
    : "this member works in test alone, unless an owner gives live access.";
  if (invited) return `accepted an invitation to ${firmName}: ${what}`;
  return `connected to ${firmName} with a ${liveAccess ? "live" : "test"} key: ${what}`;
}
