/** The words of the mails to a firm about the money of an order. */
import { dollars } from "../../dollars.ts";
import type { OrderStatus } from "../../order/order.ts";

/** The events that the mails report. */
export type MoneyMoment =
  /** A person priced the order, and the firm has to agree to the price. */
  | "priced"
  /** The firm has to pay more postage for a corrected address. */
  | "postage"
  /** A bank demands a payment back. */
  | "disputed"
  /** The bank finally took the payment back. */
  | "lost"
  /** The order can be paid again. */
  | "pay_again"
  /** The order was paid again. */
  | "paid_again"
  /** The service keeps the payment. */
  | "won"
  /** The order was refunded after the bank took its payment back. */
  | "settled"
  /** Money was refunded to the payer. */
  | "refunded"
  /** The money of a refund came back to the service. */
  | "refund_failed"
  /** An operator paid the money of a failed refund outside the processor. */
  | "paid_back"
  /** The payment of `paid_back` was booked wrongly. */
  | "paid_back_undone"
  /** The firm's payment outside the processor, for a payment that a bank took back, arrived. */
  | "loss_paid"
  /** The booking of the payment of `loss_paid` was reversed. */
  | "loss_payment_reversed"
  /** The firm paid for an order that needed no payment. */
  | "unneeded"
  /** The firm's bank payment at the checkout failed. */
  | "debit_failed";

type About = {
  name: string;
  cents: number | null;
  status: OrderStatus;
  isWhole: boolean;
  isOwed: boolean;
  isDue: boolean;
  /** True if the client made the payment, and not the firm. */
  isClients: boolean;
  /** True if the firm is the order's payer, so that its card or bank account may be charged. */
  isChargeable: boolean;
  how: string;
  /** The operator's reason for a reversal. */
  why: string;
};

/** Explains whether the order continues after a refund. Empty for an order that is completed or on hold. */
function afterRefund({ status, isWhole }: About): string[] {
  if (status === "Refunded" || status === "Cancelled") return ["The order is closed."];
  if (status === "Completed" || status === "OnHold") return [];
  return [isWhole || status === "RefundPending" ? "The order is being closed." : "The order continues."];
}

/** The words of each mail. docs/mails.md has the same table, so change both. */
export const wordsOf = (moment: MoneyMoment, about: About) =>
  ({ ...wordsOfDisputes(about), ...wordsOfLossPayments(about), ...wordsOfOthers(about) })[moment];

type Words = { subject: string; lines: string[] };

const sumOf = ({ cents }: About): string => (cents === null ? "money" : dollars(cents));

function wordsOfDisputes(about: About) {
  const { name, status, isOwed, isDue, isClients, isChargeable } = about;
  const sum = sumOf(about);
  const isRefunded = status === "Refunded";
  const hold = status === "OnHold" ? ["Work on the order is on hold."] : [];
  return {
    disputed: {
      subject: "A bank asks for a payment back",
      lines: [
        `A payer disputed a payment at the bank, or a bank debit came back. The bank asks for ${sum} that was paid for ${name}.`,
        ...hold,
        "The bank decides within weeks, and we write to you again then. No part of the order can be refunded until then.",
        "If the dispute is a mistake, have the payer withdraw it at the bank. If not, answer this email with proof that the order was wanted.",
      ],
    },
    lost: {
      subject: "A bank took a payment back",
      lines: [
        isClients
          ? `The bank decided for the payer, and took ${sum} back for good. It had been paid for ${name}.`
          : `A payment of your firm came back: the bank took ${sum} back for good. It had been paid for ${name}.`,
        ...hold,
        isRefunded
          ? "The order was refunded, so your firm owes nothing for it. You do not need to do anything."
          : !isDue
            ? "The order is paid by another payment, so your firm owes nothing for it. You do not need to do anything."
            : "Your firm owes the price of the order. The page Statements names the amount. The operator decides whether the order can be paid again online, and we write to you then. Answer this email to ask for it, to pay by check or wire, or to ask that the order be refunded.",
      ],
    },
    pay_again: {
      subject: "An order can be paid again",
      lines: [
        `The bank took back ${sum} that was paid for ${name}. That amount can be paid again now.`,
        isClients
          ? "We mailed the client the link. Anyone in your firm can also open the checkout on the order’s page."
          : !isChargeable
            ? "The payment was your firm’s, so the client is not asked for it. On the order’s page open the checkout."
            : "Nothing is charged automatically. On the order’s page charge your card or bank account, or open the checkout.",
        ...hold,
      ],
    },
    paid_again: {
      subject: "An order was paid again",
      lines: [
        `${sum} was paid again for ${name}. Your firm owes nothing more for it.`,
        ...(status === "OnHold" ? ["The order is still on hold. An operator decides when work continues."] : []),
      ],
    },
    won: {
      subject: "A bank left a payment with us",
      lines: [
        `The bank decided about ${sum} that was paid for ${name}: the payment counts.`,
        isOwed
          ? "The order was refunded meanwhile. An operator pays the money back in another way."
          : "Your firm owes nothing more for it.",
        status === "OnHold"
          ? "The order is still on hold. An operator decides when work continues; answer this email if it is urgent."
          : "You do not need to do anything.",
      ],
    },
    settled: {
      subject: "An order is closed after its payment was taken back",
      lines: [
        `The bank took back ${sum} that was paid for ${name}. The order is refunded now, and your firm no longer owes that amount.`,
        isOwed
          ? "A credit note under Statements says so. What your firm paid for it by check or wire goes back to your firm: an operator has a task to return it."
          : "A credit note under Statements says so. No other money moves, and you do not need to do anything.",
      ],
    },
  } satisfies Partial<Record<MoneyMoment, Words>>;
}

function wordsOfLossPayments(about: About) {
  const { name, isDue, how, why } = about;
  const sum = sumOf(about);
  return {
    loss_paid: {
      subject: "A payment of your firm arrived",
      lines: [
        `${sum} from your firm arrived ${how}, for ${name}, whose payment a bank had taken back.`,
        isDue
          ? "A part of the price is still owed. The order’s page and the page Statements name the amount."
          : "Your firm owes nothing more for the order. You do not need to do anything.",
      ],
    },
    loss_payment_reversed: {
      subject: "A payment of your firm was booked wrongly, or was returned",
      lines: [
        `We wrote that ${sum} from your firm arrived ${how}, for ${name}. An operator reversed that entry. The reason: ${why}`,
        isDue
          ? "The amount is owed again. The order’s page and the page Statements name it. If the reason is wrong, answer this email."
          : "Your firm owes nothing for the order. If the reason is wrong, answer this email.",
      ],
    },
  } satisfies Partial<Record<MoneyMoment, Words>>;
}

function wordsOfOthers(about: About) {
  const { name, status, isWhole, isClients, isChargeable, how } = about;
  const payer = isClients ? "the client" : "your firm";
  const sum = sumOf(about);
  return {
    priced: {
      subject: "An order has its price, and waits for your firm",
      lines: [
        `A person has priced ${name}: ${sum}. Your firm was not charged, and nothing is charged automatically.`,
        "On the order’s page charge your card or bank account, choose another way to pay, or cancel the order, which costs nothing. Work begins once it is paid.",
      ],
    },
    postage: {
      subject: "Postage to a corrected address costs more: your firm can pay it",
      lines: [
        `Postage to the corrected address of ${name} costs ${sum} more. Your firm was not charged, and nothing is charged automatically. The parcel waits.`,
        "On the order’s page charge your card or bank account, or open the checkout. You can also correct the address back, or ask for a refund.",
      ],
    },
    refunded: {
      subject:
        status === "Refunded" || isWhole
          ? "An order of your firm was refunded"
          : `A payment of ${payer} was refunded in part`,
      lines: [
        `${sum} of what ${payer} paid for ${name} was refunded.`,
        ...afterRefund(about),
        "Banks usually take 5 to 10 working days to show it. The credit note is under Statements. You do not need to do anything.",
      ],
    },
    refund_failed: {
      subject: `A refund to ${payer} failed`,
      lines: [
        `The refund of ${sum} for ${name} ${isClients ? "to the client " : ""}failed, and the money is back with the operator.`,
        `An operator pays it back in another way. Answer this email with ${isClients ? "a way to reach the client about it" : "the account that it should go to"}.`,
      ],
    },
    paid_back: {
      subject: `A refund to ${payer} was paid back`,
      lines: [
        `The refund of ${sum} for ${name} had failed. An operator paid it back ${how}.`,
        "The credit note is under Statements. You do not need to do anything.",
      ],
    },
    paid_back_undone: {
      subject: `A refund to ${payer} was booked wrongly`,
      lines: [
        `We wrote that ${sum} of what ${payer} paid for ${name} was paid back ${how}. That was booked wrongly: an operator finds out whether the money went back, and pays it back if not.`,
        "The reversal of the credit note is under Statements. You do not need to do anything.",
      ],
    },
    debit_failed: {
      subject: "A bank payment of your firm failed",
      lines: [
        `The debit of ${sum} by which your firm was paying for ${name} failed, so that amount is unpaid. The client was not told of it.`,
        isChargeable
          ? "On the order’s page charge your card or bank account, or open the checkout again."
          : "The client can still pay by their link. To pay in their place, open the checkout on the order’s page again.",
      ],
    },
    unneeded: {
      subject: "A payment of your firm is being returned",
      lines: [
        `${sum} from your firm arrived for ${name}, which needed no payment any more. The payment was already under way.`,
        "An operator has a task to return the money, and we write to you again when it goes back. You do not need to do anything.",
      ],
    },
  } satisfies Partial<Record<MoneyMoment, Words>>;
}
