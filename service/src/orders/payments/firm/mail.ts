import { standingOf } from "../../../firms/members/members.ts";
import { maskCode } from "../../../kernel/platform/ids.ts";
import { defineMail } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { dollars } from "../../dollars.ts";
import { supplementsOf } from "../supplements.ts";
import { fileOf } from "./money-mail.ts";
import { type FirmCharge, type PaymentMethod, selectCharge, selectMethod } from "./store.ts";

export type MethodMoment = "added" | "removed" | "failed";
export type ChargeMoment = "refused" | "failed" | "pending";

/** The queue of mails about the firm's payment method; payload `News<MethodMoment>`. */
export const methodMailQueue = "payment-method-mail";

/** The queue of mails about charges; payload `News<ChargeMoment>`. */
export const chargeMailQueue = "firm-charge-mail";

type News<Moment> = { id: string; moment: Moment; userId: string };

/** Formats a method for people, such as `Visa •••• 4242`. */
export const methodName = ({ kind, brand, last4 }: Pick<PaymentMethod, "kind" | "brand" | "last4">): string => {
  const name = brand ? brand.charAt(0).toUpperCase() + brand.slice(1) : kind === "bank" ? "Bank account" : "Card";
  return last4 === null ? name : `${name} •••• ${last4}`;
};

/** Tells the owners by mail that the firm's payment method changed. So they notice a change that none of them made. */
export const methodMail = defineMail({
  queue: methodMailQueue,
  async load({ id, userId }: News<MethodMoment>, deps) {
    const method = isUuid(id) ? await selectMethod(deps.db, id) : undefined;
    const owner = method && (await standingOf(deps.db, deps, method, `member:${userId}`));
    return method && owner?.role === "owner" && owner.email !== null ? { method, to: owner.email } : null;
  },
  write: ({ method, to }, { id, moment, userId }, { baseUrl }) => ({
    id: `payment-method:${id}:${moment}:${userId}`,
    to,
    environment: method.environment,
    greeting: "Hello,",
    ...methodWords(moment, methodName(method)),
    link: { label: "Open Billing", url: `${baseUrl}/dashboard/billing` },
    caution: "You receive this email because you are an owner of the firm.",
  }),
});

const methodWords = (moment: MethodMoment, name: string) =>
  ({
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
    failed: {
      subject: "Your bank account could not be verified",
      lines: ["The bank account that an owner added could not be verified. Add it again, or add a card."],
    },
  })[moment];

/** Why a charge failed, in words. The keys are the processor's codes and this service's own. */
const reasons: Readonly<Record<string, string>> = {
  authentication_required: "Your bank wants a person to confirm the payment.",
  expired_card: "The card has expired.",
  insufficient_funds: "There was not enough money for it.",
  card_declined: "Your bank declined the card.",
  generic_decline: "Your bank declined the card.",
  left: "The person who placed the order can’t spend for the firm any more.",
  no_limit: "The person who placed the order has not been allowed to spend by an owner.",
  above_order_limit: "The sum is above the limit for one order of the person who placed it.",
  above_month_limit: "The sum is above what is left of this month’s limit of the person who placed it.",
  price_changed: "The price of the order changed.",
  method_removed: "The card or bank account was removed.",
  paid_by_checkout: "Somebody was paying by the checkout.",
  ended: "The payment processor did not confirm it in time, so it was canceled.",
  not_payable: "The order could not be paid at that time.",
};

export const reasonWords = (reason: string | null): string =>
  reasons[reason ?? ""] ?? "The payment did not go through.";

/**
 * Tells the owners and the member who requested the charge about its result. Not sent when the charge has moved on to
 * another state.
 */
export const chargeMail = defineMail({
  queue: chargeMailQueue,
  async load({ id, moment, userId }: News<ChargeMoment>, deps) {
    const charge = isUuid(id) ? await selectCharge(deps.db, id) : undefined;
    if (!charge || !stillHolds(moment, charge)) return null;
    const reader = await standingOf(deps.db, deps, charge, `member:${userId}`);
    if (!reader || reader.email === null) return null;
    const supplement = (await supplementsOf(deps.db, charge.orderId)).find(
      ({ id: each }) => each === charge.supplementId,
    );
    const file = await fileOf(deps.db, charge.orderId);
    return { charge, to: reader.email, isPostage: supplement?.replacesLoss === false, file };
  },
  write: ({ charge, to, isPostage, file }, { id, moment, userId }, { baseUrl }) => ({
    id: `firm-charge:${id}:${moment}:${userId}`,
    to,
    environment: charge.environment,
    greeting: "Hello,",
    ...chargeWords(moment, charge, isPostage),
    facts: [
      ["Order", maskCode(charge.orderCode)] as const,
      ...(file === null ? [] : [["File", file] as const]),
      ["Amount", dollars(charge.amountCents)] as const,
    ],
    link: { label: "Open the order", url: `${baseUrl}/dashboard/orders/${charge.orderCode}` },
    caution: "You receive this email because your firm pays this order.",
  }),
});

const stillHolds = (moment: ChargeMoment, { state }: FirmCharge): boolean =>
  moment === "failed" ? state === "failed" || state === "declined" : state === moment;

function chargeWords(moment: ChargeMoment, { orderCode, amountCents, reason }: FirmCharge, isPostage: boolean) {
  const about = `${dollars(amountCents)}${isPostage ? " of additional postage" : ""} for order ${maskCode(orderCode)}`;
  const pay =
    "On the order’s page an owner can charge again, and anybody of the firm can open the checkout and pay there.";
  const open =
    "On the order’s page open the checkout, where a person can confirm the payment. Charging the card again would fail again.";
  const retry = reason === "authentication_required" ? open : pay;
  const ways = isPostage
    ? `${retry} The parcel waits until then. You can also correct the address back, or ask for a refund.`
    : retry;
  return {
    refused: {
      subject: "An order waits for its payment",
      lines: [`Your firm was not charged ${about}. ${reasonWords(reason)}`, ways],
    },
    failed: {
      subject: "A payment of your firm failed",
      lines: [`The charge of ${about} failed. ${reasonWords(reason)} The order waits.`, ways],
    },
    pending: {
      subject: "A bank payment has started",
      lines: [
        `The bank payment of ${about} has started. Work begins when the money has cleared, which takes up to 4 business days.`,
      ],
    },
  }[moment];
}
