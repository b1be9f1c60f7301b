/**
 * The parts of an order's page about money. Also the words that replace the order's status while a payment is in
 * progress.
 */
import type { BillingDocument } from "../../../orders/billing/billing.ts";
import type { Corrected } from "../../../orders/corrections/corrections.ts";
import { isPayable, type PublicOrderRow } from "../../../orders/order/order.ts";
import { dueOf, type ExtraPayment, type OpenLoss } from "../../../orders/payments/payments.ts";
import type { Step } from "../../ui/components.ts";
import { money, moneyIn, plainTime } from "../../ui/format.ts";
import { lostStep, orderSteps } from "../../ui/orders/steps.ts";
import { type Html, html } from "../../ui/render.ts";
import { alteredNotice, bookingTexts } from "../billing/losses-part.ts";
import { type FirmPays, isBeingCharged } from "./firm-pays.ts";

export type OrderMoneyView = {
  order: PublicOrderRow;
  corrected: Corrected;
  /** Empty for a member without permission to see billing. Null if a record of them was altered in the database. */
  receipts: readonly BillingDocument[] | null;
  /**
   * The amount that banks took back and that nobody has paid again. 0 for a member without permission to see billing.
   * Null if a record about it was altered in the database.
   */
  lostCents: number | null;
  /**
   * The payments of which banks took money back. Empty for a member without permission to see billing. Null if a record
   * about one was altered in the database.
   */
  losses: readonly OpenLoss[] | null;
  /**
   * Payments that the order did not need. Empty for a member without permission to see billing. Null if a record of the
   * order's payments was altered in the database.
   */
  extraPayments: readonly ExtraPayment[] | null;
  firmPays: FirmPays;
};

/**
 * True if a canceled order was paid after all. The status "canceled" alone would then be misleading. False for a member
 * without permission to see billing, because `receipts` is empty then.
 */
export const isPaidLate = ({ order, receipts }: OrderMoneyView): boolean =>
  order.status === "Cancelled" && (receipts ?? []).some(({ kind }) => kind === "receipt");

/**
 * Sentences about payments that banks took back: the amount that is still owed, and the checks and wires received
 * instead. Empty without either.
 */
export function bankLoss({ lostCents, losses, corrected }: OrderMoneyView): Html {
  if (lostCents === null || losses === null)
    return alteredNotice("The money that a bank took back from this order’s payment can’t be shown");
  const received = losses.flatMap(bookingTexts);
  const isAsked = corrected.supplements.some(({ state, replacesLoss }) => state === "asked" && replacesLoss);
  const [back, owed] =
    received.length > 0 ? ["money", `${money(lostCents)} of the price is`] : [money(lostCents), "the price is"];
  const again = isAsked ? "It can be paid again here." : "We write to you when it can be paid again.";
  const lost =
    lostCents > 0 &&
    html`<p>The bank took ${back} of this order’s payment back. This is not a refund: ${owed} still owed, and your firm’s statement includes it in the closing balance. ${again}</p>`;
  return html`${lost}${received.length > 0 && html`<p>Received from your firm for a payment that the bank took back: ${received.join("; ")}.${lostCents === 0 && " Nothing more is owed for it."}</p>`}`;
}

/**
 * The order's steps, with an unfinished payment step while money is owed. By the status alone, the payment would look
 * done while postage is due, or after a bank took the money back.
 */
export function stepsWithDebt({ order, corrected, lostCents }: OrderMoneyView): Step[] {
  const due = dueOf(order.status, corrected.supplements);
  const unpaid =
    lostCents !== null && lostCents > 0
      ? lostStep(lostCents)
      : due && ({ state: "upcoming", note: `${money(due.amountCents)} not paid yet` } as const);
  return orderSteps(order, undefined, unpaid);
}

/** Refunds that failed: the money came back to the service, and must be paid out again. */
export function refundsBack({ receipts }: OrderMoneyView): Html | "" {
  const sums = new Map<string, { credited: number; most: number }>();
  for (const { kind, receiptNumber, amountCents, currency } of receipts ?? [])
    if (currency === "usd" && (kind === "credit_note" || kind === "credit_reversal")) {
      const { credited, most } = sums.get(receiptNumber) ?? { credited: 0, most: 0 };
      const now = credited + (kind === "credit_note" ? amountCents : -amountCents);
      sums.set(receiptNumber, { credited: now, most: Math.max(most, now) });
    }
  const cents = [...sums.values()].reduce((sum, { credited, most }) => sum + most - credited, 0);
  return cents > 0
    ? html`<p>A refund of ${money(cents)} came back to the operator of this service, who pays it back in another way. Answer the email about it with where the money should go.</p>`
    : "";
}

/**
 * Payments that the order did not need, such as a second payment of its price. A mail has informed the client who paid.
 */
export const extraPart = ({ extraPayments, order }: OrderMoneyView): Html =>
  extraPayments === null
    ? alteredNotice("This order’s payments can’t be shown")
    : html`${extraPayments.map(({ amountCents, currency, receivedAt, refundedAt, isUndecided }) => {
        const payment = order.status === "Cancelled" ? "payment" : "further payment";
        const outcome = refundedAt
          ? html`All of it was given back ${plainTime(refundedAt)}.`
          : isUndecided && "The operator of this service decides how it goes back.";
        return html`<p>A ${payment} of ${moneyIn(amountCents, currency)} arrived ${plainTime(receivedAt)}, which this order did not need. ${outcome}</p>`;
      })}`;

/** True if the firm's payment of the order's price is in progress, and the order waits to be paid. */
export const isBeingPaid = ({ order, firmPays }: OrderMoneyView): boolean =>
  isPayable(order.status) && isBeingCharged(firmPays) && firmPays?.latest?.supplementId === null;

/**
 * The words shown instead of the order's status while a payment is in progress. The status itself would ask for the
 * payment again.
 */
export const beingPaid = {
  tone: "progress",
  label: "Being paid",
  headline: "Your firm’s payment is being processed",
  summary: "The work begins once the payment is confirmed. There is nothing for you to do.",
} as const;

/** The words shown instead of the order's status when the payment has had no answer for too long. */
export const overduePayment = {
  tone: "attention",
  label: "Payment overdue",
  headline: "Your firm’s payment has had no answer",
  summary: "The order waits for it. An owner can end the payment under Billing, so that it can be paid another way.",
} as const;

const supplementWords = { asked: "is to be paid", paid: "is paid", withdrawn: "is not needed any more" } as const;

/**
 * Sentences about the supplements that corrections caused, whether paid, unpaid or withdrawn. Those that replace a lost
 * payment are left out.
 */
export const supplementsPart = ({ supplements }: Corrected): Html =>
  html`${supplements
    .filter(({ replacesLoss }) => !replacesLoss)
    .map(
      ({ amountCents, label, state }) =>
        html`<p>${money(amountCents)} for ${label} ${supplementWords[state]}.${state === "asked" && " The parcel waits for it."}</p>`,
    )}`;
