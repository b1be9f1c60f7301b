import { mailDelayMsIn } from "../../firms/members/members.ts";
import { auditLine, countLines } from "../../kernel/audit/audit.ts";
import { actorOf, type Environment, type Owner, type Principal } from "../../kernel/identity/identity.ts";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import {
  correctionsOf,
  currentEmail,
  documentsDeletedAt,
  fromOrders,
  hasOrderCode,
  isFailureOfFirm,
  isPayable,
  joinOrder,
  type MailMoment,
  mailClient,
  type OrderMail,
  type OrderStatus,
  orderNotFound,
  type Payer,
  verifiedOrder,
  verifiedSigner,
} from "../order/order.ts";
import { type AcceptsPayment, dueCents, isPaidByFirm, zoneOrDefault } from "../payments/payments.ts";
import { signingMark } from "./together.ts";

/**
 * True if the client signed in an envelope that all signers completed. The mail to signers has then already reported
 * the completion to the client. Compares the signer's corrected email address, because a signature keeps the earlier
 * one.
 */
export async function hasClientSigned(
  db: Sql,
  { id, customerEmail }: { id: number; customerEmail: string },
): Promise<boolean> {
  const signers = await db.query<{ name: string; email: string }>(sql`
    SELECT s.name, s.email, ${verifiedSigner} FROM envelopes e JOIN envelope_signers s ON s.envelope_id = e.id
    WHERE e.order_id = ${id} AND e.outcome = 'Completed' AND s.signed_at IS NOT NULL`);
  const corrections = signers.length > 0 ? await correctionsOf(db, id) : [];
  return signers.some((each) => currentEmail(corrections, each).toLowerCase() === customerEmail.toLowerCase());
}

/** The facts that decide whether a mail to the client still applies. */
export type Mailable = {
  environment: Environment;
  status: OrderStatus;
  documentsDeletedAt: Date | null;
  payBy: Payer;
  /** True if the client became the payer in place of the firm, and no payment attempt has failed since. */
  isFailureOfFirm: boolean;
  /** True if the order was paid, and by the firm alone. A refunded payment doesn't count if a later one followed. */
  isPaidByFirm: boolean;
  /** The supplement that is due now: more postage, or a payment that a bank took back; null for none. */
  supplementCents: number | null;
  /** True if `supplementCents` replaces a payment that a bank took back; null when there is no such amount. */
  replacesLoss: boolean | null;
  /**
   * The cents to pay again because a bank took a payment back; null for none. It is also set while more postage is due,
   * which must be paid first.
   */
  lossCents: number | null;
};

const aboutPayments: ReadonlySet<MailMoment> = new Set([
  "payment_received",
  "pay_again",
  "paid_late",
  "refunded_part",
  "payment_returned",
  "refund_failed",
  "refunded",
] as const);

/** The kinds of mails that are about an order's money. These mails name the order's file number. */
export const aboutMoney: ReadonlySet<MailMoment> = new Set([
  ...aboutPayments,
  "quote_ready",
  "payment_failed",
  "supplement_due",
]);

export const mailableColumns = sql`o.environment, o.status, o.pay_by AS "payBy", ${isFailureOfFirm(sql`o.id`)} AS "isFailureOfFirm",
  ${isPaidByFirm(sql`o.id`)} AS "isPaidByFirm", ${documentsDeletedAt(sql`o.id`)}, ${dueCents}`;

/**
 * True if the mail still applies. A client gets no payment request for an order that is paid or can't be paid online. A
 * client gets no mail about money that the firm pays or has paid.
 */
export function stillHolds(acceptsPayment: AcceptsPayment, moment: MailMoment, order: Mailable): boolean {
  if (order.payBy === "firm" && aboutMoney.has(moment)) return false;
  if (order.isPaidByFirm && aboutPayments.has(moment)) return false;
  if (moment === "supplement_due") return acceptsPayment(order.environment) && order.replacesLoss === false;
  if (moment === "pay_again") return acceptsPayment(order.environment) && order.lossCents !== null;
  // Once the whole order is refunded, the mail about that refund also covers a partial refund and a returned payment.
  if (moment === "refunded_part" || moment === "payment_returned")
    return order.status !== "RefundPending" && order.status !== "Refunded";
  if (moment === "quote_ready") return acceptsPayment(order.environment) && isPayable(order.status);
  return moment !== "payment_failed" || (isPayable(order.status) && !order.isFailureOfFirm);
}

/**
 * Returns how many milliseconds to delay a mail that can wait. At night, mail to a firm's client or signer waits until
 * 7 AM in the firm's time zone, because the recipient's zone is unknown. The setting QUIET_HOURS can turn this off.
 */
export type UntilMorning = (partnerId: string) => Promise<number>;

export const untilMorning =
  ({ db, clock, config }: { db: Sql; clock: Clock; config: { quietHours: boolean } }): UntilMorning =>
  async (partnerId) =>
    config.quietHours ? mailDelayMsIn(db, await zoneOrDefault(db, partnerId), clock()) : 0;

/**
 * The kinds of mails that report an act of a carrier, a fax machine, the processor or an operator. They can wait at
 * night. Every other mail answers a person who is acting now, or requests an action that is due now.
 */
const ofOthers: ReadonlySet<MailMoment> = new Set([
  "shipped",
  "ready_for_pickup",
  "delivered",
  "fax_delivered",
  "fax_failed",
  "on_hold",
  "refunded_part",
  "payment_returned",
  "refund_failed",
  "refunded",
] as const);

/**
 * True if a mail may wait until the morning. A test order's mail and a mail that somebody requested never wait. An
 * order that is neither shipped nor faxed is completed by a signature, so the mail about its completion is sent at
 * once.
 */
export const canWait = (
  { moment, isAlone, isWhole }: Pick<OrderMail, "moment" | "isAlone" | "isWhole">,
  { environment, ship, fax }: { environment: Environment; ship: boolean; fax: boolean },
): boolean =>
  environment === "live" &&
  !(isAlone || isWhole) &&
  (ofOthers.has(moment) || (moment === "completed" && (ship || fax)));

/** The mails that a firm may send again, each with the condition under which it is useful. */
const usefulWhile = {
  quote_ready: ({ documentsDeletedAt }: Mailable) => documentsDeletedAt === null,
  supplement_due: ({ documentsDeletedAt }: Mailable) => documentsDeletedAt === null,
  pay_again: ({ documentsDeletedAt }: Mailable) => documentsDeletedAt === null,
  shipped: ({ status }: Mailable) => status === "Shipped",
  completed: ({ status, documentsDeletedAt }: Mailable) => status === "Completed" && documentsDeletedAt === null,
} as const satisfies Partial<Record<MailMoment, (order: Mailable) => boolean>>;

export type SentAgain = keyof typeof usefulWhile;

const isSentAgain = (moment: string): moment is SentAgain => Object.hasOwn(usefulWhile, moment);

/** The mails that a firm may send to the client again in the order's present state. */
export const mailsToSendAgain = (acceptsPayment: AcceptsPayment, order: Mailable): SentAgain[] =>
  Object.keys(usefulWhile)
    .filter(isSentAgain)
    .filter((moment) => usefulWhile[moment](order) && stillHolds(acceptsPayment, moment, order));

/** A mail that was sent to an order's client. */
export type ClientMail = {
  moment: MailMoment;
  sentAt: Date;
  /** True if this mail was the request to sign, which also confirmed the payment. */
  asksToSign: boolean;
};

const maxShown = 100;

/** The latest mails to the order's client, newest first. */
export const clientMails = (db: Sql, orderCode: string, { partnerId, environment }: Owner) =>
  db.query<ClientMail>(sql`
SELECT m.moment, m.sent_at AS "sentAt",
  EXISTS (SELECT FROM client_mail_claims c WHERE c.order_id = m.order_id AND c.moment = m.moment
    AND starts_with(c.mail, ${signingMark})) AS "asksToSign"
FROM client_mails m ${joinOrder(sql`m.order_id`)}
WHERE ${hasOrderCode(orderCode)} AND o.partner_id = ${partnerId} AND o.environment = ${environment}
ORDER BY m.sent_at DESC LIMIT ${maxShown}`);

/** Records a sent mail for each order that it covered. If the job runs twice, each order still has one row. */
export const keepClientMail = (
  db: Sql,
  { moment, at }: Pick<OrderMail, "moment" | "at">,
  orderIds: readonly number[],
  sentAt: Date,
) =>
  db.query(sql`
INSERT INTO client_mails (order_id, moment, caused_at, sent_at)
SELECT id, ${moment}::text, ${at}::timestamptz, ${sentAt}::timestamptz FROM unnest(${orderIds}::bigint[]) id ON CONFLICT DO NOTHING`);

const maxInADay = 5;
const maxAskedForInADay = 3;

/**
 * Queues a mail to the client again.
 * @throws ServiceError for another firm's order, for a mail that no longer applies, and for the order's sixth mail in
 * 24 hours
 */
export async function sendAgain(
  deps: { db: Database; clock: Clock; acceptsPayment: AcceptsPayment },
  principal: Principal,
  { orderCode, moment }: { orderCode: string; moment: string },
): Promise<void> {
  if (!isSentAgain(moment)) throw invalid(`moment must be one of: ${Object.keys(usefulWhile).join(", ")}.`);
  const { partnerId, environment } = principal;
  await mailAgain(deps, sql`o.partner_id = ${partnerId} AND o.environment = ${environment}`, {
    orderCode,
    moment,
    actor: actorOf(principal),
    action: "order.mail_sent_again",
    max: maxInADay,
  });
}

/**
 * Mails the client a link to the documents of a finished order. Anyone who can open the order's page may request this,
 * because the mail goes only to the client's address. The firm's limit of mails does not include such mails.
 * @param asked with `isWhole`, the mail links to the documents of all finished orders of the client's closing
 * @throws ServiceError while the order has no documents to send, and for the order's fourth request in 24 hours
 */
export const mailDocuments = (
  deps: { db: Database; clock: Clock },
  orderCode: string,
  asked = { isWhole: false },
): Promise<void> =>
  mailAgain({ ...deps, acceptsPayment: () => false }, sql`true`, {
    orderCode,
    moment: "completed",
    actor: "client",
    action: "order.documents_asked_for",
    max: maxAskedForInADay,
    ...asked,
  });

type Again = { orderCode: string; moment: SentAgain; actor: string; action: string; max: number; isWhole?: boolean };

async function mailAgain(
  { db, clock, acceptsPayment }: { db: Database; clock: Clock; acceptsPayment: AcceptsPayment },
  isAllowed: Statement,
  { orderCode, moment, actor, action, max, isWhole = false }: Again,
): Promise<void> {
  await db.transaction(async (tx) => {
    const at = clock();
    const [order] = await tx.query<Mailable & { id: number; partnerId: string }>(sql`
SELECT o.id, o.partner_id AS "partnerId", ${mailableColumns}, ${verifiedOrder} ${fromOrders}
WHERE ${hasOrderCode(orderCode)} AND ${isAllowed} FOR NO KEY UPDATE`);
    if (!order) throw orderNotFound();
    if (!mailsToSendAgain(acceptsPayment, order).includes(moment))
      throw new ServiceError(
        "conflict",
        "The order has moved on, and this email would no longer be right. Nothing was sent.",
      );
    // Counts after locking, so that mails sent while this request waited for the lock are included.
    if ((await countLines(tx, order.id, action, new Date(at.getTime() - dayMs))) >= max)
      throw new ServiceError(
        "conflict",
        `At most ${max} emails of an order are sent again in 24 hours. Try again later, or share the link yourself.`,
      );
    await mailClient(tx, order.id, moment, at, isWhole ? { isWhole } : { isAlone: true });
    const { id: orderId, partnerId } = order;
    await tx.query(auditLine({ at, action, actor, partnerId, orderId, detail: { moment } }));
  });
}
