import type { Sql, Tx } from "../../platform/database/database.ts";
import { enqueue, type Jobs } from "../../platform/jobs/jobs.ts";
import type { Mailer } from "../../platform/mail/mail.ts";
import { mailFrom } from "../../platform/mail/template.ts";
import { selectNews, selectOtherOwners } from "./store.ts";

/** The queue of mails to a firm's owners about somebody who connected. */
const memberMailQueue = "member-mail";

type News = { userId: string; ownerId: string; at: string };

/** Has every other owner of the firm mailed that a person connected, or got live access by a key. */
export async function mailOwners(
  tx: Tx,
  { partnerId, userId, at }: { partnerId: string; userId: string; at: Date },
): Promise<void> {
  for (const ownerId of await selectOtherOwners(tx, partnerId, userId)) {
    const news: News = { userId, ownerId, at: at.toISOString() };
    await enqueue(tx, memberMailQueue, news);
  }
}

/** Sends them; nothing about a person, or to an owner, who left the firm in the meantime. */
export function memberMailJobs(
  jobs: Jobs,
  { db, mailer, baseUrl }: { db: Sql; mailer: Mailer; baseUrl: string },
): void {
  jobs.work<News>(memberMailQueue, async ({ userId, ownerId, at }) => {
    const news = await selectNews(db, userId, ownerId);
    if (!news) return;
    const { email, ownerEmail, firmName, liveAccess } = news;
    const mail = mailFrom({
      subject: liveAccess ? "A member connected with a live key" : "A new member connected",
      greeting: "Hello,",
      lines: [
        `${email} connected to ${firmName} with ${liveAccess ? "a live key: this member sees and changes live orders." : "a test key: this member works in test alone, unless an owner gives live access."}`,
        "If you do not know this person, remove them in the settings, and have the operator of this service revoke the firm’s keys that they may know.",
      ],
      link: { label: "See the members", url: `${baseUrl}/dashboard/settings` },
      caution: "You receive this email because you are an owner of the firm.",
    });
    await mailer.send({ id: `member:${ownerId}:${userId}:${at}`, to: ownerEmail, ...mail });
  });
}
