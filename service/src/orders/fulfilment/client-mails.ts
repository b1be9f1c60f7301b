import { auditLine } from "../audit/audit.ts";
import { actorOf, type Environment, type Owner, type Principal } from "../identity/identity.ts";
import {
  documentsDeletedAt,
  isPayable,
  type MailMoment,
  mailClient,
  type OrderMail,
  verifiedOrder,
} from "../orders/orders.ts";
import { type Clock, dayMs } from "../platform/clock.ts";
import type { Database, Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { invalid, ServiceError } from "../platform/errors.ts";

/** Whether orders of the environment can be paid online. */
export type TakesPayment = (environment: Environment) => boolean;

/** What decides whether a mail still says what is true. */
export type Mailable = { environment: Environment; status: string; documentsDeletedAt: Date | null };

export const mailableColumns = sql`o.environment, o.status, ${documentsDeletedAt(sql`o.id`)}`;

/** Nobody is asked to pay what is paid, or can't be paid here. */
export function stillHolds(takesPayment: TakesPayment, moment: MailMoment, order: Mailable): boolean {
  if (moment === "quote_ready") return takesPayment(order.environment) && isPayable(order.status);
  return moment !== "payment_failed" || isPayable(order.status);
}

/** The mails that a firm may send again, each while it is of use. */
const usefulWhile = {
  quote_ready: ({ documentsDeletedAt }: Mailable) => documentsDeletedAt === null,
  shipped: ({ status }: Mailable) => status === "Shipped",
  completed: ({ status, documentsDeletedAt }: Mailable) => status === "Completed" && documentsDeletedAt === null,
} as const satisfies Partial<Record<MailMoment, (order: Mailable) => boolean>>;

export type SentAgain = keyof typeof usefulWhile;

const isSentAgain = (moment: string): moment is SentAgain => Object.hasOwn(usefulWhile, moment);

/** Which mails to its client a firm may send again, as the order stands. */
export const mailsToSendAgain = (takesPayment: TakesPayment, order: Mailable): SentAgain[] =>
  Object.keys(usefulWhile)
    .filter(isSentAgain)
    .filter((moment) => usefulWhile[moment](order) && stillHolds(takesPayment, moment, order));

/** A mail that went to an order's client. */
export type ClientMail = { moment: MailMoment; sentAt: Date };

const shownMost = 100;

/** The latest mails to the order's client, the last one first. */
export const clientMails = (db: Sql, orderCode: string, { partnerId, environment }: Owner) =>
  db.query<ClientMail>(sql`
SELECT m.moment, m.sent_at AS "sentAt" FROM client_mails m JOIN orders o ON o.id = m.order_id
WHERE o.code = ${orderCode} AND o.partner_id = ${partnerId} AND o.environment = ${environment}
ORDER BY m.sent_at DESC LIMIT ${shownMost}`);

/** After the mail was sent; a job that is done twice leaves one row. */
export const keepClientMail = (db: Sql, { orderId, moment, at }: OrderMail, sentAt: Date) =>
  db.query(sql`
INSERT INTO client_mails (order_id, moment, caused_at, sent_at)
VALUES (${orderId}, ${moment}, ${at}::timestamptz, ${sentAt}) ON CONFLICT DO NOTHING`);

const action = "order.mail_sent_again";
const mostInADay = 5;

/** Has the client mailed once more. @throws ServiceError for another's order, a mail of no use now, and the sixth in 24 hours */
export async function sendAgain(
  { db, clock, takesPayment }: { db: Database; clock: Clock; takesPayment: TakesPayment },
  principal: Principal,
  { orderCode, moment }: { orderCode: string; moment: string },
): Promise<void> {
  if (!isSentAgain(moment)) throw invalid(`moment must be one of: ${Object.keys(usefulWhile).join(", ")}.`);
  const { partnerId, environment } = principal;
  await db.transaction(async (tx) => {
    const at = clock();
    const [order] = await tx.query<Mailable & { id: number }>(sql`
SELECT o.id, ${mailableColumns}, ${verifiedOrder} FROM orders o
WHERE o.code = ${orderCode} AND o.partner_id = ${partnerId} AND o.environment = ${environment} FOR NO KEY UPDATE`);
    if (!order) throw new ServiceError("not_found", "Order not found.");
    if (!mailsToSendAgain(takesPayment, order).includes(moment))
      throw new ServiceError(
        "conflict",
        "The order has moved on, and this email would no longer be right. Nothing was sent.",
      );
    // After the lock: who waited for it counts what was sent meanwhile.
    const [today] = await tx.query<{ sent: number }>(sql`
SELECT count(*)::int AS sent FROM audit_log
WHERE order_id = ${order.id} AND action = ${action} AND occurred_at > ${new Date(at.getTime() - dayMs)}`);
    if ((today?.sent ?? 0) >= mostInADay)
      throw new ServiceError(
        "conflict",
        `At most ${mostInADay} emails of an order are sent again in 24 hours. Try again later, or share the link yourself.`,
      );
    await mailClient(tx, order.id, moment, at);
    const detail = { moment };
    await tx.query(auditLine({ at, action, actor: actorOf(principal), partnerId, orderId: order.id, detail }));
  });
}
