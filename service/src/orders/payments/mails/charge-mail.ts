import { findActiveActor } from "../../../firms/members/members.ts";
import { maskCode } from "../../../kernel/platform/ids.ts";
import { defineMail } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { dollars } from "../../dollars.ts";
import { chargesOfPayment, type FirmCharge, type SpendingRefusal, sumOfCharges } from "../records/charges.ts";
import { accountChange, expiryOf, type PaymentMethod, selectMethod } from "../records/methods.ts";
import { supplementsOf } from "../records/supplements.ts";
import { fileOf } from "./money-mail.ts";

export type MethodMoment = "added" | "removed" | "failed" | "unusable" | "expiring";
export type ChargeMoment = "refused" | "failed" | "pending" | "overdue";

/** The queue of mails about the firm's payment method; payload `MomentMail<MethodMoment>`. */
export const methodMailQueue = "payment-method-mail";

/** The queue of mails about charges; payload `MomentMail<ChargeMoment>`. */
export const chargeMailQueue = "firm-charge-mail";

type MomentMail<Moment> = { id: string; moment: Moment; userId: string };

/** Formats a method for people, such as `Visa •••• 4242`. */
export const methodName = ({ kind, brand, last4 }: Pick<PaymentMethod, "kind" | "brand" | "last4">): string => {
  const name = brand ? brand.charAt(0).toUpperCase() + brand.slice(1) : kind === "bank" ? "Bank account" : "Card";
  return last4 === null ? name : `${name} •••• ${last4}`;
};

/**
 * Mails an owner that the firm's payment method changed, can't be used or expires. So owners notice a change that none
 * of them made.
 */
export const methodMail = defineMail({
  queue: methodMailQueue,
  async load({ id, moment, userId }: MomentMail<MethodMoment>, deps) {
    const method = isUuid(id) ? await selectMethod(deps.db, id) : undefined;
    // The mail about an expiring card is not sent if the card was renewed or replaced since the mail was queued.
    if (moment === "expiring" && (method?.state !== "active" || expiryOf(method, deps.clock()) === null)) return null;
    const owner = method && (await findActiveActor(deps.db, deps, method, `member:${userId}`));
    return method && owner?.role === "owner" && owner.email !== null ? { method, to: owner.email } : null;
  },
  write: ({ method, to }, { id, moment, userId }, { baseUrl }) => ({
    id: `payment-method:${id}:${moment}:${moment === "expiring" ? `${method.cardExpires}:` : ""}${userId}`,
    to,
    environment: method.environment,
    greeting: "Hello,",
    ...methodWords(moment, method),
    link: { label: "Open Billing", url: `${baseUrl}/dashboard/billing` },
    caution: "You receive this email because you are an owner of the firm.",
  }),
});

function methodWords(moment: MethodMoment, method: PaymentMethod) {
  const name = methodName(method);
  return {
    added: {
      subject: "Your firm pays by another method now",
      lines: [
        `${name} was added. Orders that your firm pays are charged to it, within the limits that owners set.`,
        "If none of you did this, remove it under Billing, and tell the operator by answering this email.",
      ],
    },
    removed: {
      subject: "Your firm’s payment method was removed",
      lines: [`${name} was removed. No new order is charged to it. A payment that is already under way still goes on.`],
    },
    unusable:
      method.endedBy === accountChange
        ? {
            subject: "Add your firm’s card or bank account again",
            lines: [
              `The operator of this service now uses another account of the payment processor, which doesn’t have ${name}. Nothing is charged to it any more.`,
              "Add it again under Billing, or add another one. Until then, orders that your firm pays wait until somebody opens their checkout.",
            ],
          }
        : {
            subject: "Your bank account is not charged any more",
            lines: [
              `Your bank returned a payment from ${name}, or ended the permission to debit it. Nothing is charged to it any more.`,
              "Add a card or another bank account under Billing. Until then, orders that your firm pays wait until somebody opens their checkout.",
              "To use the same account again, ask your bank to allow debits first, and then add the account again.",
            ],
          },
    expiring: {
      subject: `Your firm’s card is valid until ${method.cardExpires}`,
      lines: [
        `${name} expires at the end of that month. If your bank has renewed it, the payment processor may learn of it by itself, and Billing then shows the new date.`,
        "Otherwise add another card or a bank account under Billing. Charges of an expired card fail, and orders that your firm pays wait.",
      ],
    },
    failed: {
      subject: "Your bank account could not be verified",
      lines: ["The bank account that an owner added could not be verified. Add it again, or add a card."],
    },
  }[moment];
}

/** The reason why a charge failed, in words. The keys are the processor's codes and this service's own. */
const reasons: Readonly<Record<string, string>> = {
  authentication_required: "Your bank wants a person to confirm the payment.",
  expired_card: "The card has expired.",
  insufficient_funds: "There was not enough money for it.",
  card_declined: "Your bank declined the card.",
  generic_decline: "Your bank declined the card.",
  price_changed: "The price of an order changed.",
  method_unusable: "The card or bank account can’t be charged any more.",
  account_closed: "The bank account is closed.",
  no_account: "The bank knows no such account.",
  debit_not_authorized: "The bank says that the debit was not allowed.",
  payment_intent_mandate_invalid: "The permission to debit the bank account has ended.",
  payment_method_bank_account_blocked: "The bank account is blocked for debits.",
  no_method: "Your firm had no card or bank account that could be charged.",
  method_changed: "Your firm pays by another card or bank account now than the one that was named.",
  not_agreed: "Nobody agreed to a charge when it was placed.",
  method_removed: "The card or bank account was removed.",
  paid_by_checkout: "Somebody was paying by the checkout.",
  ended: "The payment processor did not confirm it in time, so it was canceled.",
  not_payable: "An order could not be paid at that time.",
  order_altered: "The operator has to check one of the orders first.",
};

/**
 * For each reason why a member or an API key may not spend: the sentence in the mail. `spender` is `member who asked
 * for` or `API key that asked for`.
 */
const limitReasons: Readonly<Record<SpendingRefusal, (spender: string) => string>> = {
  left: (spender) => `The ${spender} the payment can’t spend for the firm any more.`,
  no_limit: (spender) => `An owner has not allowed the ${spender} the payment to spend.`,
  above_order_limit: (spender) => `The sum is above the limit for one order of the ${spender} it.`,
  above_month_limit: (spender) => `The sum is above what is left of this month’s limit of the ${spender} it.`,
};

export function reasonWords({ reason, askedBy }: Pick<FirmCharge, "reason" | "askedBy">): string {
  const limit = (limitReasons as Readonly<Record<string, (spender: string) => string>>)[reason ?? ""];
  if (limit) return limit(askedBy.startsWith("key:") ? "API key that asked for" : "member who asked for");
  return reasons[reason ?? ""] ?? "The payment did not go through.";
}

/**
 * Tells the owners, and the member who requested a payment, its result: one mail about all of its orders. Not sent when
 * the payment's state has changed since the mail was queued.
 */
export const chargeMail = defineMail({
  queue: chargeMailQueue,
  async load({ id, moment, userId }: MomentMail<ChargeMoment>, deps) {
    const charges = isUuid(id) ? await chargesOfPayment(deps.db, id) : [];
    const [charge] = charges;
    if (!charge || !stillHolds(moment, charge)) return null;
    const reader = await findActiveActor(deps.db, deps, charge, `member:${userId}`);
    if (!reader || reader.email === null) return null;
    const supplement = (await supplementsOf(deps.db, charge.orderId)).find(
      ({ id: each }) => each === charge.supplementId,
    );
    const files = new Set<string>();
    for (const { orderId } of charges) files.add((await fileOf(deps.db, orderId)) ?? "");
    files.delete("");
    const isPostage = charges.length === 1 && supplement?.replacesLoss === false;
    return { charge, charges, to: reader.email, isPostage, files: [...files] };
  },
  write: ({ charge, charges, to, isPostage, files }, { id, moment, userId }, { baseUrl }) => ({
    id: `firm-charge:${id}:${moment}:${userId}`,
    to,
    environment: charge.environment,
    greeting: "Hello,",
    ...chargeWords(moment, { charge, charges, isPostage }),
    facts: [
      ...charges.map(
        (each) => [charges.length === 1 ? "Order" : "One of the orders", orderFact(each, charges)] as const,
      ),
      ...(files.length === 0 ? [] : [[files.length === 1 ? "File" : "Files", files.join(", ")] as const]),
      ["Amount", dollars(sumOfCharges(charges))] as const,
    ],
    link:
      charges.length === 1
        ? { label: "Open the order", url: `${baseUrl}/dashboard/orders/${charge.orderCode}` }
        : // The page of the closing is found by one of its orders, because this wing does not know rooms.
          { label: "Open the closing", url: `${baseUrl}/dashboard/orders/${charge.orderCode}/closing` },
    caution: `You receive this email because your firm pays ${charges.length === 1 ? "this order" : "these orders"}.`,
  }),
});

const orderFact = ({ orderCode, amountCents }: FirmCharge, { length }: readonly FirmCharge[]): string =>
  length === 1 ? maskCode(orderCode) : `${maskCode(orderCode)}, ${dollars(amountCents)}`;

const stillHolds = (moment: ChargeMoment, { state }: FirmCharge): boolean =>
  moment === "failed"
    ? state === "failed" || state === "declined"
    : state === (moment === "overdue" ? "pending" : moment);

/** The ways to pay after a charge was refused or failed. */
function waysOn(charge: FirmCharge, isOne: boolean): string {
  const page = isOne ? "order" : "closing";
  // The client can pay the price of an order instead of the firm, but not additional postage or a loss.
  const byClient =
    charge.supplementId === null
      ? ` Or let ${isOne ? "the client" : "the clients"} pay instead: the ${page}’s page has a button for it.`
      : "";
  return `${waysToPay(charge, isOne)}${byClient}`;
}

function waysToPay({ reason, environment }: FirmCharge, isOne: boolean): string {
  const needsPerson = reason === "authentication_required";
  if (environment === "test") {
    const page = isOne ? "order" : "closing";
    const sandbox = `On the ${page}’s page anybody of the firm can pay ${isOne ? "it" : "all of them"} in the sandbox.`;
    return needsPerson
      ? `${sandbox} Charging the card again would fail again.`
      : `${sandbox} An owner can charge again there.`;
  }
  if (isOne)
    return needsPerson
      ? "On the order’s page open the checkout, where a person can confirm the payment. Charging the card again would fail again."
      : "On the order’s page an owner can charge again, and anybody of the firm can open the checkout and pay there.";
  return needsPerson
    ? "On the closing’s page open the checkout of all these orders, where a person can confirm the payment. Charging the card again would fail again."
    : "On the closing’s page an owner can charge all of them again, and anybody of the firm can open one checkout for all of them. Each order can also be paid on its own page.";
}

type About = { charge: FirmCharge; charges: readonly FirmCharge[]; isPostage: boolean };

function chargeWords(moment: ChargeMoment, { charge, charges, isPostage }: About) {
  const { orderCode } = charge;
  const isOne = charges.length === 1;
  const what = isOne ? `order ${maskCode(orderCode)}` : `${charges.length} orders`;
  const about = `${dollars(sumOfCharges(charges))}${isPostage ? " of additional postage" : ""} for ${what}`;
  const retry = waysOn(charge, isOne);
  const ways = isPostage
    ? `${retry} The parcel waits until then. You can also correct the address back, or ask for a refund.`
    : retry;
  return {
    refused: {
      subject: isOne ? "An order waits for its payment" : `${charges.length} orders wait for their payment`,
      lines: [`Your firm was not charged ${about}. ${reasonWords(charge)}`, ways],
    },
    failed: {
      subject: "A payment of your firm failed",
      lines: [
        `The charge of ${about} failed. ${reasonWords(charge)} ${isOne ? "The order waits." : "All of them wait."}`,
        ways,
      ],
    },
    pending: {
      subject: "A bank payment has started",
      lines: [
        `The bank payment of ${about} has started. Work begins when the money has cleared, which takes up to 4 business days.`,
      ],
    },
    overdue: {
      subject: "Your bank has not answered about a payment",
      lines: [
        `The bank payment of ${about} has had no answer for ten days. ${isOne ? "The order waits" : "The orders wait"} for it.`,
        `Ask your bank about it. An owner can end the payment under Billing, so that ${isOne ? "the order" : "each of them"} can be paid another way.`,
      ],
    },
  }[moment];
}
