import type { Environment } from "../identity/identity.ts";
import { documentsPath, type MailMoment, orderMailQueue } from "../orders/orders.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import type { Mailer } from "../platform/mail/mail.ts";
import type { SecretBytes } from "../platform/secrets.ts";
import { type MailOrder, mailOf } from "./mail-templates.ts";

type MailJob = { orderId: number; moment: MailMoment };

const mailOrderStatement = (orderId: number) => sql`
  SELECT o.code, o.environment, o.customer_email AS "customerEmail", o.customer_name AS "customerName",
    o.total_cents AS "totalCents", coalesce(p.brand_name, p.name) AS "partnerName", p.contact_email AS "replyTo", s.carrier,
    s.tracking_number AS "trackingNumber"
  FROM orders o JOIN partners p ON p.id = o.partner_id
  LEFT JOIN LATERAL (SELECT carrier, tracking_number FROM shipments WHERE order_id = o.id ORDER BY id DESC LIMIT 1) s ON true
  WHERE o.id = ${orderId}`;

/** Mails to an order's client, written from the records at the time of sending. */
export function orderMailJobs(
  jobs: Jobs,
  deps: { db: Sql; mailer: Mailer; secrets: SecretBytes; baseUrl: string },
): void {
  const { db, mailer, secrets, baseUrl } = deps;
  jobs.work<MailJob>(orderMailQueue, async ({ orderId, moment }) => {
    const [order] = await db.query<MailOrder & { environment: Environment }>(mailOrderStatement(orderId));
    if (!order) return;
    const mail = mailOf(moment, order, {
      page: `${baseUrl}/orders/${order.code}`,
      documents: baseUrl + documentsPath(secrets, order.code),
    });
    // The client of a test order may be anybody: nothing is sent to them.
    if (order.environment === "test") await mailer.keep({ ...mail, subject: `TEST: ${mail.subject}` });
    else await mailer.send(mail);
  });
}
