import { emailOf, joinMembers } from "../../firms/members/members.ts";
import { joinFirm, verifiedFirm } from "../../firms/partners/partners.ts";
import type { Owner } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { zonedText } from "../../kernel/platform/languages.ts";
import { defineMail, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { plainTitle } from "../../kernel/platform/mail/plain-name.ts";
import { zoneOrDefault } from "../../orders/payments/payments.ts";
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

type Recipient = { email: string; url: string; environment: string; firmName: string; partnerId: string };

/**
 * The webhook, and the owner who gets the mail. Undefined when the webhook was deleted, or the person is no longer an
 * owner of the firm.
 */
async function selectRecipient(db: Sql, { webhookId, userId }: FailingMail): Promise<Recipient | undefined> {
  const [recipient] = await db.query<Recipient>(sql`
SELECT ${emailOf(sql`m.user_id`)} AS email, w.url, w.environment, p.name AS "firmName", p.id AS "partnerId", ${verifiedFirm}
FROM webhooks w ${joinFirm(sql`w.partner_id`)} ${joinMembers(sql`p.id`)}
WHERE w.id = ${webhookId} AND w.deleted_at IS NULL AND m.user_id = ${userId} AND m.role = 'owner'`);
  return recipient;
}

/**
 * Tells owners by mail that a webhook keeps failing. The mail is not sent for a deleted webhook, or to a person who is
 * no longer an owner.
 */
export const failingMail = defineMail({
  queue: failingQueue,
  async load(run: FailingMail, { db }: MailDeps) {
    const recipient = await selectRecipient(db, run);
    return recipient && { ...recipient, zone: await zoneOrDefault(db, recipient.partnerId) };
  },
  write(
    { email, url, environment, firmName, zone },
    { webhookId, userId, since, failures, reason, statusCode },
    { baseUrl },
  ) {
    const host = new URL(url).host;
    return {
      id: `webhook-failing:${webhookId}:${userId}:${since}`,
      to: email,
      subject: `Your ${environment} webhook to ${host} keeps failing`,
      greeting: "Hello,",
      lines: [
        `The last ${failures} deliveries of ${plainTitle(firmName, "your firm")} to ${host} failed, the first of them on ${zonedText(new Date(since), zone)}.`,
        `The last failure: ${failureText(reason, statusCode)}.`,
        "Each event is sent once and is not retried by itself. When your system is back, open the webhook and replay what failed.",
      ],
      link: { label: "Open the webhook", url: `${baseUrl}/dashboard/webhooks/${webhookId}` },
      caution:
        "You receive this email because you are an owner of the firm. We send at most one for a webhook in 24 hours.",
    };
  },
});

export type FailingWebhook = { id: string; url: string; since: Date };

/**
 * Up to ten of the owner's webhooks that keep failing, the longest-failing first. A webhook is listed once its failures
 * suffice for a mail, until its next successful delivery.
 */
export const failingWebhooks = ({ db }: { db: Sql }, { partnerId, environment }: Owner): Promise<FailingWebhook[]> =>
  db.query<FailingWebhook>(sql`
SELECT id, url, failing_since AS since FROM webhooks
WHERE partner_id = ${partnerId} AND environment = ${environment} AND alerted_at IS NOT NULL AND deleted_at IS NULL
ORDER BY failing_since LIMIT 10`);
