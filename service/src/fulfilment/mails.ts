import {
  documentsPath,
  type OrderMail,
  orderMailQueue,
  type Titled,
  type TitleOf,
  verifiedOrder,
} from "../orders/orders.ts";
import { readMailFirm } from "../partners/partners.ts";
import type { Clock } from "../platform/clock.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import { type Mailer, mailFor } from "../platform/mail/mail.ts";
import type { SecretBytes } from "../platform/secrets.ts";
import { keepClientMail, type Mailable, mailableColumns, stillHolds, type TakesPayment } from "./client-mails.ts";
import { type MailOrder, mailOf } from "./mail-templates.ts";

export type OrderMailDeps = {
  db: Sql;
  clock: Clock;
  mailer: Mailer;
  secrets: SecretBytes;
  baseUrl: string;
  titleOf: TitleOf;
  takesPayment: TakesPayment;
};

type Row = Omit<MailOrder, "title" | "firm"> &
  Titled &
  Mailable & {
    partnerId: string;
    /** Whether the client signed as well: then a mail with the signer's copy tells the same. */
    hasSigned: boolean;
  };

const rowStatement = (orderId: number) => sql`
  SELECT o.code, ${mailableColumns}, o.customer_email AS "customerEmail", o.customer_name AS "customerName",
    o.partner_id AS "partnerId", o.document_name AS "documentName", o.doc_slug AS "docSlug",
    o.total_cents AS "totalCents", o.fax_to AS "faxTo", s.carrier, s.tracking_number AS "trackingNumber",
    (SELECT sum(amount_cents)::int FROM payments
      WHERE order_id = o.id AND refunded_at IS NOT NULL AND currency = 'usd') AS "refundedCents",
    EXISTS (SELECT FROM documents d WHERE d.order_id = o.id AND d.kind = 'sealed' AND d.origin = 'operator') AS "takenIn",
    EXISTS (SELECT FROM envelopes e JOIN envelope_signers signer ON signer.envelope_id = e.id
      WHERE e.order_id = o.id AND e.outcome = 'Completed' AND signer.signed_at IS NOT NULL
        AND lower(signer.email) = lower(o.customer_email)) AS "hasSigned",
    ${verifiedOrder}
  FROM orders o
  LEFT JOIN LATERAL (SELECT carrier, tracking_number FROM shipments WHERE order_id = o.id ORDER BY id DESC LIMIT 1) s ON true
  WHERE o.id = ${orderId}`;

/** Mails to an order's client, written from the records at the time of sending; what no longer holds then is not sent. */
export function orderMailJobs(jobs: Jobs, deps: OrderMailDeps): void {
  const { db, mailer, secrets, baseUrl, titleOf } = deps;
  jobs.work<OrderMail>(orderMailQueue, async ({ orderId, moment, at }) => {
    const [order] = await db.query<Row>(rowStatement(orderId));
    if (!order || !stillHolds(deps.takesPayment, moment, order)) return;
    if (moment === "signed" && order.hasSigned) return;
    const firm = await readMailFirm(db, order.partnerId);
    const mail = mailOf(
      moment,
      at,
      { ...order, title: titleOf(order), firm },
      {
        page: `${baseUrl}/orders/${order.code}`,
        documents: baseUrl + documentsPath(secrets, order.code),
      },
    );
    await mailFor(order.environment, mailer, mail);
    await keepClientMail(db, { orderId, moment, at }, deps.clock());
  });
}
