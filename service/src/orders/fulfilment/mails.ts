import { readMailFirm } from "../../firms/partners/partners.ts";
import { lastActor } from "../../kernel/audit/audit.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { verifiedAll } from "../../kernel/platform/database/state-mac.ts";
import { defineMail, type Letter, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName, isPlainTitle } from "../../kernel/platform/mail/plain-name.ts";
import { type MailFirm, nameIn } from "../../kernel/platform/mail/template.ts";
import {
  documentsPath,
  emailChanges,
  type MailMoment,
  type OrderMail,
  orderMailQueue,
  type Titled,
  type TitleOf,
  verifiedOrder,
  verifiedShipmentsOf,
} from "../order/order.ts";
import { paymentState } from "../payments/payments.ts";
import { keepClientMail, type Mailable, mailableColumns, stillHolds, type TakesPayment } from "./client-mails.ts";
import { type MailFacts, type MailGoal, mailWords } from "./mail-words.ts";

type Deps = MailDeps & { titleOf: TitleOf; takesPayment: TakesPayment };

type Row = Omit<MailOrder, "title" | "firm"> &
  Titled &
  Mailable & {
    partnerId: string;
    /** Whether the client was also a signer. Such a client gets the same information in the signer's mail. */
    hasSigned: boolean;
  };

const rowStatement = (orderId: number) => sql`
  SELECT o.code AS "code@order", ${mailableColumns}, o.customer_email AS "customerEmail", o.customer_name AS "customerName",
    o.partner_id AS "partnerId", o.document_name AS "documentName", o.doc_slug AS "docSlug",
    o.total_cents AS "totalCents", o.fax_to AS "faxTo", s.carrier, s.tracking_number AS "trackingNumber",
    (SELECT sum(amount_cents)::int FROM payments
      WHERE order_id = o.id AND refunded_at IS NOT NULL AND currency = 'usd') AS "refundedCents",
    'sealed' = ANY (o.taken_in) AS "takenIn",
    coalesce(${lastActor(sql`o.id`, "Delivered")} LIKE 'provider:%', false) AS "carrierReports",
    EXISTS (SELECT FROM envelopes e JOIN envelope_signers signer ON signer.envelope_id = e.id
      WHERE e.order_id = o.id AND e.outcome = 'Completed' AND signer.signed_at IS NOT NULL
        AND lower(signer.email) = lower(o.customer_email)) AS "hasSigned",
    ${verifiedOrder}, ${verifiedShipmentsOf(sql`o.id`)}, ${verifiedAll(paymentState, sql`p`, sql`FROM payments p WHERE p.order_id = o.id`)}
  FROM orders o
  LEFT JOIN LATERAL (SELECT carrier, tracking_number FROM shipments WHERE order_id = o.id ORDER BY id DESC LIMIT 1) s ON true
  WHERE o.id = ${orderId}`;

/** Mails to an order's client. */
export const orderMail = defineMail({
  queue: orderMailQueue,
  async load({ orderId, moment }: OrderMail, { db, takesPayment }: Deps) {
    const [order] = await db.query<Row>(rowStatement(orderId));
    if (!order || !stillHolds(takesPayment, moment, order)) return null;
    if (moment === "signed" && order.hasSigned) return null;
    return { ...order, firm: await readMailFirm(db, order.partnerId), changes: await emailChanges(db, order.code) };
  },
  write: (order, { moment, at }, { secrets, baseUrl, titleOf }) => ({
    ...letterOf(
      moment,
      at,
      { ...order, title: titleOf(order) },
      {
        page: `${baseUrl}/orders/${order.code}`,
        documents: baseUrl + documentsPath(secrets, order.code, order.changes),
      },
    ),
    environment: order.environment,
  }),
  onSent: (_, about, { db, clock }) => keepClientMail(db, about, clock()),
});

export type MailOrder = Omit<MailFacts, "firm"> & {
  code: string;
  customerEmail: string;
  customerName: string | null;
  /** The title of the order's document; null when unknown. */
  title: string | null;
  firm: MailFirm;
};

type MailLinks = Record<"page" | "documents", string>;

const buttons: Readonly<Record<MailGoal, string>> = {
  page: "See your order",
  payment: "Review and pay",
  documents: "Download your documents",
};

const greetingOf = (customerName: string | null): string =>
  customerName !== null && isPlainName(customerName) ? `Hello ${customerName},` : "Hello,";

/** Writes the mail of a moment. @param at distinguishes several mails of the same moment */
export function letterOf(moment: MailMoment, at: string, order: MailOrder, links: MailLinks): Letter {
  const { subject, lines, goal, facts = [] } = mailWords[moment]({ ...order, firm: nameIn(order.firm, "the firm") });
  const title = order.title !== null && isPlainTitle(order.title) ? order.title : null;
  const all: readonly (readonly [string, string | null])[] = [["Document", title], ...facts];
  return {
    id: `order:${order.code}:${moment}:${at}`,
    to: order.customerEmail,
    isOfFinished: goal === "documents",
    subject: title === null ? subject : `${subject}: ${title}`,
    heading: subject,
    greeting: greetingOf(order.customerName),
    lines,
    facts: all.flatMap(([label, value]) => (value ? [[label, value] as const] : [])),
    link: { label: buttons[goal], url: goal === "documents" ? links.documents : links.page },
    caution: `Anyone who has this link can ${goal === "documents" ? "download the documents" : "see the order"}, so share it with care.`,
    why: `You receive it because ${nameIn(order.firm, "the firm")} placed an order for this email address.`,
    firm: order.firm,
  };
}
