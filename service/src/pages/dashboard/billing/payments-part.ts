/**
 * The list of a firm's payments by card or bank account, as Billing shows it. It includes pending and failed payments.
 */
import { isPayable } from "../../../orders/order/order.ts";
import {
  type ChargeState,
  type FirmCharge,
  isOverdueCharge,
  listedPayments,
  methodName,
  type PaymentOfFirm,
  reasonWords,
  sumOfCharges,
} from "../../../orders/payments/payments.ts";
import { emptyState, notice } from "../../ui/components.ts";
import { minuteIn, money, shortCode } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { bookingTexts } from "./losses-part.ts";
import { type BillingView, billingPath, isOwner } from "./view.ts";

const stateWords: Readonly<Record<ChargeState, string>> = {
  asked: "Being sent",
  answered: "Being processed",
  pending: "Being processed by the bank",
  declined: "Failed",
  failed: "Failed",
  refused: "Not charged",
  succeeded: "Paid",
};

/** The state of a charge in words. For a declined, failed or refused charge, adds the reason. */
export const chargeText = (charge: Pick<FirmCharge, "state" | "reason" | "askedBy">): string =>
  hasStopped(charge) ? `${stateWords[charge.state]}. ${reasonWords(charge)}` : stateWords[charge.state];

const hasStopped = ({ state }: Pick<FirmCharge, "state">): boolean => ["declined", "failed", "refused"].includes(state);

/**
 * True if the payment was declined, failed or refused, and the firm still has to pay every order in it. False if any of
 * these orders had a later payment.
 */
const isUnpaid = ({ payments }: BillingView, charges: PaymentOfFirm): boolean =>
  charges.every(
    (charge) =>
      hasStopped(charge) &&
      isPayable(charge.orderStatus) &&
      charge.payBy === "firm" &&
      payments.flat().find(({ orderId }) => orderId === charge.orderId) === charge,
  );

/**
 * The reasons for a declined, failed or refused payment that a person must resolve first. Until then, charging again
 * would fail as well.
 */
const needsPerson: ReadonlySet<string | null> = new Set(["paid_by_checkout", "not_payable", "order_altered"]);

/**
 * Offers to charge a stopped payment again. The service never does this by itself, not even after a limit was raised.
 */
function chargeAgain(view: BillingView, charges: PaymentOfFirm): Html | false {
  const [first] = charges;
  const method = view.methods?.find(({ state }) => state === "active");
  if (!first || !method || !isUnpaid(view, charges) || needsPerson.has(first.reason)) return false;
  // The bank requires that the card holder confirms the payment. Charging the same card again from here would be
  // declined as well.
  if (first.reason === "authentication_required" && first.methodId === method.id) return false;
  return first.groupId === null
    ? buttonForm(
        `/dashboard/orders/${first.orderCode}/charge`,
        `Charge ${money(first.totalCents)} to ${methodName(method)}`,
        {
          about: `for order ${shortCode(first.orderCode)}`,
          fields: { total_cents: String(first.totalCents), charged_method: method.id },
          kind: "quiet-button",
        },
      )
    : html`<p><a href="/dashboard/orders/${first.orderCode}/closing">Open the closing to charge again</a></p>`;
}

/** Sentences about the checks and wires that the firm sent after a bank had reversed these charges. */
const receivedTexts = ({ losses }: BillingView, charges: PaymentOfFirm): string[] =>
  (losses ?? [])
    .filter((loss) =>
      charges.some(
        ({ orderId, paymentIntent }) =>
          orderId === loss.orderId && paymentIntent !== null && paymentIntent === loss.paymentIntent,
      ),
    )
    .flatMap(bookingTexts)
    .map((text) => `Received for it: ${text}.`);

/** The state of a payment in words, and what has happened to the money since, such as a refund. */
function paymentText(view: BillingView, charges: PaymentOfFirm): string {
  const { now } = view;
  const sum = (of: "lostCents" | "creditedCents") => charges.reduce((cents, each) => cents + each[of], 0);
  const [lost, credited] = [sum("lostCents"), sum("creditedCents")];
  const [first] = charges;
  const isStopped = charges.every(hasStopped);
  const isPaidSince = charges.every((each) => each.isPaidSince);
  const later = [
    isStopped && isPaidSince && "It was paid later.",
    isStopped && !isPaidSince && charges.every(({ payBy }) => payBy === "client") && "The client pays it now.",
    first && isOverdueCharge(first, now) && "There has been no answer for too long.",
    charges.some(({ isDisputed }) => isDisputed) && "A bank asks for it back.",
    lost > 0 && `The bank took ${money(lost)} back.`,
    ...receivedTexts(view, charges),
    credited > 0 && `${money(credited)} was credited.`,
  ].filter((each) => typeof each === "string");
  return [first ? `${chargeText(first)}${later.length > 0 && !isStopped ? "." : ""}` : "", ...later].join(" ");
}

/** The form by which an owner ends a stuck payment, so that its orders can be paid another way. */
const ending = (view: BillingView, { id, orderCode, ...charge }: FirmCharge, orders: number): Html | false =>
  isOwner(view) &&
  isOverdueCharge(charge, view.now) &&
  askFirst({
    label: "End it",
    about: orders === 1 ? `for order ${shortCode(orderCode)}` : `for ${orders} orders`,
    text: `The payment processor cancels it first. Money that has arrived is not given back: ${orders === 1 ? "its order goes" : "its orders go"} on.`,
    confirm: "End it now",
    action: `${billingPath}/charges/${id}/end`,
  });

export const chargesPart = (view: BillingView): Html =>
  view.payments.length === 0
    ? emptyState("No payments yet", "Orders that your firm pays by the card or bank account are listed here.")
    : html`${view.payments.some(isAltered) && alteredPayment}${chargeTable(view)}${view.principal.environment === "test" && realTime}${elsewhere}${view.payments.length > listedPayments && onlyNewest}`;

const alteredPayment = notice(
  "stopped",
  "The record of a payment was altered",
  "A record was altered in the database. The payment’s sum and state are left out of this list. Contact the operator of this service, who has to restore the record.",
);

const realTime = html`<p class="quiet">These dates are real time. Those of receipts and statements follow the test clock.</p>`;

const elsewhere = html`<p class="quiet">Payments at a checkout are not listed here. <a href="/dashboard/statements">Statements</a> have them.</p>`;

const onlyNewest = html`<p class="quiet">Only the newest ${listedPayments} payments and those that are under way are shown. <a href="/dashboard/statements">Statements</a> have all that were paid, by month.</p>`;

const chargeTable = (view: BillingView): Html =>
  records(
    "Payments of your firm",
    [
      { label: "Orders" },
      { label: "File number" },
      { label: "Sum", number: true },
      { label: "State" },
      { label: "Asked" },
    ],
    view.payments.slice(0, listedPayments).flatMap((charges) => {
      const [first] = charges;
      if (!first) return [];
      if (isAltered(charges)) return [alteredRow(charges)];
      const references = new Set(charges.flatMap(({ reference }) => reference ?? []));
      return [
        [
          orderLinks(charges),
          references.size === 0 ? "None" : [...references].join(", "),
          html`${money(sumOfCharges(charges))}${first.method && html`<br><span class="second-line">${methodName(first.method)}</span>`}`,
          html`${paymentText(view, charges)}${ending(view, first, charges.length)}${chargeAgain(view, charges)}`,
          html`${minuteIn(first.askedAt, view.zone)}<br><span class="second-line breakable">${spenderName(view, first)}</span>`,
        ],
      ];
    }),
  );

const isAltered = (charges: PaymentOfFirm): boolean => charges.some(({ isAuthentic }) => !isAuthentic);

/**
 * The row of a payment with an altered record. The record may name another firm's order, whose code is secret. So only
 * the firm's own orders are named.
 */
function alteredRow(charges: PaymentOfFirm): (Html | string)[] {
  const own = charges.filter(({ isOwnOrder }) => isOwnOrder).map((each) => ({ ...each, replacesLoss: null }));
  const state = "Not readable: a record was altered. Contact the operator of this service.";
  return [own.length === 0 ? "Unknown" : orderLinks(own), "Not shown", "Not shown", state, "Not shown"];
}

/** The name of the member or the key that requested the charge. */
const spenderName = ({ spenders }: BillingView, { askedBy }: FirmCharge): string =>
  spenders.find(({ spender }) => spender === askedBy)?.name ??
  (askedBy.startsWith("key:") ? "A former API key" : "A former member");

const orderLinks = (charges: PaymentOfFirm): Html =>
  html`${charges.map((each, index) => html`${index > 0 && ", "}${orderLink(each)}`)}`;

const orderLink = ({ orderCode, replacesLoss }: PaymentOfFirm[number]): Html =>
  html`<a class="keep" href="/dashboard/orders/${orderCode}">${shortCode(orderCode)}</a>${replacesLoss !== null && (replacesLoss ? ", paid again" : ", more postage")}`;
