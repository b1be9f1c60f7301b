import { dollars } from "../dollars.ts";
import type { MailMoment } from "../order/order.ts";
import { lateNote, type MailFacts, type MailWords, movedOf, type Refund, tryAgain } from "./mail-words.ts";

const isMovedFor = (refund: Refund): boolean => movedOf(refund) !== 0;
const lostOf = (refunds: readonly Refund[]): number => refunds.reduce((sum, { lostCents }) => sum + lostCents, 0);

/** The words of one mail about several documents of a closing. */
type TogetherWords = Omit<MailWords, "facts"> & {
  /** The amount to print next to each document, in cents. */
  amountOf?: (order: Amounts) => number | null;
};

type Amounts = Pick<MailFacts, "totalCents" | "refundedCents" | "lostCents" | "acceptsPayment" | "isSimulated">;
const totalOf = ({ totalCents }: Amounts): number => totalCents;
const isFree = ({ totalCents }: Amounts): boolean => totalCents === 0;
function simulationOf(orders: readonly Amounts[]): string[] {
  const count = orders.filter(({ isSimulated }) => isSimulated).length;
  if (count === 0) return [];
  if (count === orders.length) return ["The sandbox simulated it. Nobody’s signature is in the documents."];
  return [
    `The sandbox simulated ${count} of them, as marked below. Nobody’s signature is in ${count === 1 ? "it" : "those"}.`,
  ];
}
const sumOf = (orders: readonly Amounts[]): string => dollars(orders.reduce((sum, order) => sum + order.totalCents, 0));

/** For each kind of mail that can cover several documents of a closing: the words of that mail. */
export const togetherWords: Readonly<
  Partial<Record<MailMoment, (about: { firm: string; orders: readonly Amounts[] }) => TogetherWords>>
> = {
  quote_ready: ({ firm, orders }) => ({
    subject: "Your quote is ready",
    lines: orders.every(isFree)
      ? [
          `${orders.length} documents from ${firm} are ready. There is nothing to pay for them.`,
          "Look at what was ordered, and begin it on the closing’s page. Work starts then.",
        ]
      : [
          `${orders.length} documents from ${firm} are ready to be paid, with one payment.`,
          "Look at what was ordered, and pay online. Work starts as soon as the payment clears.",
        ],
    ...(orders.every(isFree) ? { goal: "page" } : { amountOf: totalOf, goal: "payment" }),
  }),
  payment_received: ({ firm, orders }) => ({
    subject: orders.every(isFree) ? "Your orders have begun" : "Payment received",
    lines: [
      orders.every(isFree)
        ? `There is nothing to pay for ${orders.length} documents from ${firm}.`
        : `Your payment of ${sumOf(orders)} for ${orders.length} documents from ${firm} has cleared. Thank you.`,
      "Work on them has begun.",
    ],
    amountOf: totalOf,
    goal: "page",
  }),
  payment_failed: ({ firm, orders }) => ({
    subject: "Payment failed",
    lines: [
      `Your payment of ${sumOf(orders)} for ${orders.length} documents from ${firm} did not go through, so they are not paid.`,
      tryAgain(orders.every(({ acceptsPayment }) => acceptsPayment)),
    ],
    amountOf: totalOf,
    goal: orders.every(({ acceptsPayment }) => acceptsPayment) ? "payment" : "page",
  }),
  completed: ({ firm, orders }) => ({
    subject: "Your documents are complete",
    lines: [
      `Everything that was ordered for ${orders.length} documents from ${firm} is done.`,
      ...simulationOf(orders),
      "Keep your copies: they can be checked without us.",
    ],
    goal: "documents",
  }),
  cancelled: ({ firm, orders }) => ({
    subject: "Your orders were canceled",
    lines: [
      `The orders for ${orders.length} documents from ${firm} were canceled before they were paid. There is nothing to pay.`,
      lateNote,
    ],
    goal: "page",
  }),
  refunded: ({ firm, orders }) => ({
    subject: orders.some(isMovedFor) ? "Payment refunded" : "Your orders are closed",
    lines: [
      orders.some(isMovedFor)
        ? `Your payment for ${orders.length} documents from ${firm} was refunded, and their orders are closed.`
        : `The orders for ${orders.length} documents from ${firm} are closed, and you owe nothing for them.`,
      ...(lostOf(orders) > 0
        ? [`Your bank already took ${dollars(lostOf(orders))} back. We send none of that again.`]
        : []),
      ...(orders.some(isMovedFor) ? ["Banks usually take 5 to 10 working days to show it."] : []),
    ],
    amountOf: movedOf,
    goal: "page",
  }),
};
