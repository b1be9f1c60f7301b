import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import type { Mailer } from "../platform/mail/mail.ts";
import { plainTitle } from "../platform/mail/plain-name.ts";
import { mailFrom } from "../platform/mail/template.ts";
import { failureText } from "./outbound/failure-text.ts";

export const failingQueue = "webhook-failing-mail";

export type FailingMail = {
  webhookId: string;
  userId: string;
  since: string;
  failures: number;
  reason: string;
  statusCode: number | null;
};

type Told = { email: string; url: string; environment: string; firmName: string };

/** An owner of the webhook's firm, while both are there. */
async function selectTold(db: Sql, { webhookId, userId }: FailingMail): Promise<Told | undefined> {
  const [told] = await db.query<Told>(sql`
SELECT u.email, w.url, w.environment, p.name AS "firmName"
FROM webhooks w JOIN partners p ON p.id = w.partner_id JOIN members m ON m.partner_id = p.id JOIN users u ON u.id = m.user_id
WHERE w.id = ${webhookId} AND w.deleted_at IS NULL AND m.user_id = ${userId} AND m.role = 'owner'`);
  return told;
}

/** Mails owners that a webhook keeps failing; nothing of one that was deleted, or to an owner who left. */
export function failingMailJobs(
  jobs: Jobs,
  { db, mailer, baseUrl }: { db: Sql; mailer: Mailer; baseUrl: string },
): void {
  jobs.work<FailingMail>(failingQueue, async (run) => {
    const told = await selectTold(db, run);
    if (!told) return;
    const { webhookId, userId, since, failures, reason, statusCode } = run;
    const { email, url, environment, firmName } = told;
    const host = new URL(url).host;
    const mail = mailFrom({
      subject: `Your ${environment} webhook to ${host} keeps failing`,
      greeting: "Hello,",
      lines: [
        `The last ${failures} deliveries of ${plainTitle(firmName, "your firm")} to ${host} failed, the first of them on ${since.slice(0, 16).replace("T", " at ")} UTC.`,
        `The last failure: ${failureText(reason, statusCode)}.`,
        "Each event is sent once and is not retried by itself. When your system is back, open the webhook and replay what failed.",
      ],
      link: { label: "Open the webhook", url: `${baseUrl}/dashboard/webhooks/${webhookId}` },
      caution:
        "You receive this email because you are an owner of the firm. We send at most one for a webhook in 24 hours.",
    });
    await mailer.send({ id: `webhook-failing:${webhookId}:${userId}:${since}`, to: email, ...mail });
  });
}
