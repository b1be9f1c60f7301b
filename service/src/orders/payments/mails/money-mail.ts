import { findActiveActor, ownersWhoSee } from "../../../firms/members/members.ts";
import { readOrigins } from "../../../kernel/audit/audit.ts";
import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { maskCode } from "../../../kernel/platform/ids.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainTitle } from "../../../kernel/platform/mail/plain-name.ts";
import { dollars } from "../../dollars.ts";
import { fromOrders, isPayable, type OrderStatus, type Payer, verifiedOrder } from "../../order/order.ts";
import { isPaidByFirm, paymentPayer } from "../checkout/payers.ts";
import { restOfOrder } from "../records/documents.ts";
import { dueOf, supplementsOf } from "../records/supplements.ts";
import { type MoneyMoment, wordsOf } from "./money-words.ts";

type Payload = {
  orderId: number;
  moment: MoneyMoment;
  /** The amount that the mail states, in cents; null when the bank stated none. */
  cents: number | null;
  /** The object that the mail is about, such as a refund. It distinguishes several mails of the same kind. */
  about: string;
  /** The id of an owner, or `placer` for the member who placed the order. */
  to: string;
  /** For `refunded`: true if the service holds no money of the order's payments any more. */
  isWhole?: boolean;
  /**
   * For `won`: true if the service has to pay money back, because the order was refunded before the bank's decision.
   * For `settled`: true if it has to return what the firm paid outside the processor.
   */
  isOwed?: boolean;
  /**
   * For `lost`, `loss_paid` and `loss_payment_reversed`: true if a part of the price is unpaid now. False if nothing is
   * unpaid, for example because another payment paid the order.
   */
  isDue?: boolean;
  /** How the money was paid, in words, if it was paid outside the processor. */
  how?: string;
  /** For `loss_payment_reversed`: the operator's reason. */
  why?: string;
};

type Row = Owner & {
  id: number;
  code: string;
  status: OrderStatus;
  reference: string | null;
  /** The payer of the payment that the mail is about. */
  paidBy: Payer;
  payBy: Payer;
};

/** Tells a firm's owners, and the member who placed the order, what happened to the money of an order. */
export const moneyMail = defineMail({
  queue: "firm-money-mail",
  isVouched: true,
  async load({ orderId, moment, about, to }: Payload, deps) {
    const order = await rowOf(deps.db, orderId, about);
    // The firm gets no mail about a client's unneeded payment, or about a price that the client is to pay.
    if (!order || (order.paidBy === "client" && (moment === "unneeded" || moment === "priced"))) return null;
    if (moment === "priced" && !isPayable(order.status)) return null;
    if (moment === "postage" && !(await isPostageDue(deps.db, order, about))) return null;
    const actor = to === "placer" ? await placerOf(deps, order) : `member:${to}`;
    const reader = actor === null ? undefined : await findActiveActor(deps.db, deps, order, actor);
    return reader && reader.email !== null ? { order, email: reader.email } : null;
  },
  write: ({ order, email }, { moment, cents, about, to, how, why, isWhole, isOwed, isDue }, { baseUrl }) => {
    const name = `order ${maskCode(order.code)}`;
    const file = plainFile(order);
    return {
      id: `firm-money:${order.id}:${moment}:${about}:${to}`,
      to: email,
      environment: order.environment,
      greeting: "Hello,",
      ...wordsOf(moment, {
        name: file === null ? name : `${name} (file ${file})`,
        cents,
        status: order.status,
        isWhole: isWhole === true,
        isOwed: isOwed === true,
        isDue: isDue !== false,
        isClients: order.paidBy === "client",
        isChargeable: order.payBy === "firm",
        how: how ?? "",
        why: why ?? "",
      }),
      facts: [
        ["Order", maskCode(order.code)] as const,
        ...(file === null ? [] : [["File", file] as const]),
        ...(cents === null ? [] : [["Amount", dollars(cents)] as const]),
      ],
      link: { label: "Open the order", url: `${baseUrl}/dashboard/orders/${order.code}` },
      caution: "You receive this email because you are an owner of the firm, or placed the order.",
    };
  },
});

/** True if the firm has to pay the supplement that the mail is about. */
async function isPostageDue(db: Sql, { id, status, payBy }: Row, about: string): Promise<boolean> {
  const due = dueOf(status, await supplementsOf(db, id));
  return payBy === "firm" && due !== undefined && about.split(":")[1] === String(due.id);
}

const plainFile = ({ reference }: Pick<Row, "reference">): string | null =>
  reference !== null && isPlainTitle(reference) ? reference : null;

/** The order's file number, if a mail may show it. @throws ServiceError `unavailable` for an altered order */
export async function fileOf(db: Sql, orderId: number): Promise<string | null> {
  const order = await rowOf(db, orderId);
  return order ? plainFile(order) : null;
}

/**
 * Reads an order, and the payer of the payment that the mail is about.
 * @param about identifies one payment of the order by its checkout session, payment or refund. If none matches, the
 * payer is the firm if it made all payments, or else the order's payer.
 */
async function rowOf(db: Sql, orderId: number, about = ""): Promise<Row | undefined> {
  const [order] = await db.query<Row>(sql`
    SELECT o.id, o.code AS "code@order", o.status, o.partner_id AS "partnerId", o.environment,
      coalesce((SELECT ${paymentPayer} FROM payments p WHERE p.order_id = o.id AND (p.session_id = ${about}
          OR p.payment_intent = split_part(${about}, ':', 1)
          OR EXISTS (SELECT FROM billing_documents d WHERE d.payment_id = p.id AND d.refund IN (${about}, ${`reversed:${about}`}))) ORDER BY p.id DESC LIMIT 1),
        CASE WHEN ${isPaidByFirm(sql`o.id`)} THEN 'firm' ELSE o.pay_by END) AS "paidBy",
      o.pay_by AS "payBy", o.external_reference AS reference, ${verifiedOrder} ${fromOrders} WHERE o.id = ${orderId}`);
  return order;
}

/**
 * The member who placed the order; null for an order that a key placed. Null also for a member who is an owner, because
 * owners are mailed anyway.
 */
async function placerOf({ db, clock, rowMac }: MailDeps, order: Row): Promise<string | null> {
  const placer = (await readOrigins(db, rowMac, [order.id])).get(order.id)?.placedBy ?? null;
  if (placer === null || !placer.startsWith("member:")) return null;
  return (await findActiveActor(db, { clock, rowMac }, order, placer))?.role === "owner" ? null : placer;
}

/** Queues the mails about an event that concerns the money of an order. */
export async function tellFirm(
  tx: Tx,
  { id: orderId, ...owner }: { id: number; partnerId: string; environment: Environment },
  event: Pick<Payload, "moment" | "cents" | "about" | "isOwed" | "isDue" | "how" | "why">,
): Promise<void> {
  const isWhole = event.moment === "refunded" && (await restOfOrder(tx, orderId)) === 0;
  for (const to of [...(await ownersWhoSee(tx, owner)), "placer"])
    await moneyMail.enqueue(tx, { orderId, to, isWhole, ...event });
}

/**
 * Queues the mails about a supplement for postage that the firm has to pay. `late` repeats them for a supplement that
 * is still unpaid after days.
 */
export const tellOfPostage = (
  tx: Tx,
  order: { id: number; partnerId: string; environment: Environment },
  { id, amountCents }: { id: number; amountCents: number },
  which: "new" | "late" = "new",
): Promise<void> => tellFirm(tx, order, { moment: "postage", cents: amountCents, about: `${which}:${id}` });
