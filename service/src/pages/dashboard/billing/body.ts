import type { Principal } from "../../../kernel/identity/identity.ts";
import { isPayable } from "../../../orders/order/order.ts";
import {
  accountChange,
  type ChargeState,
  expiryOf,
  type FirmCharge,
  isOverdueCharge,
  listedPayments,
  methodName,
  type PaymentMethod,
  type PaymentOfFirm,
  reasonWords,
  type Spender,
  sumOfCharges,
  testMethods,
} from "../../../orders/payments/payments.ts";
import { card, emptyState, facts, notice, pageHead } from "../../ui/components.ts";
import { dayIn, money, shortCode } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, field, radios } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

export const billingPath = "/dashboard/billing";

export type BillingView = {
  principal: Principal;
  /** Whether this installation takes payments in the member's current environment (live or test). */
  isPaidHere: boolean;
  methods: readonly PaymentMethod[];
  spenders: readonly Spender[];
  /** The cents that each spender has spent this month. */
  used: ReadonlyMap<string, number>;
  payments: readonly PaymentOfFirm[];
  now: Date;
  /** The time zone of the dates on this page, and of the months for which spending limits count. */
  zone: string;
  error?: string;
  typed?: FormValues;
  /** Whether the processor's page has just sent an owner back here. */
  hasReturned?: boolean;
};

const isOwner = ({ principal }: BillingView): boolean => principal.member?.role === "owner";

export function billingBody(view: BillingView): Html {
  return html`${pageHead("Billing", "How your firm pays for orders that it pays itself.")}
${errorSummary(view.error)}
${view.hasReturned && !isJustAdded(view) && notice("info", "Your bank and the payment processor are being asked", html`The card or bank account is shown here once the processor confirms it. <a href="${billingPath}?setup=returned">Look again</a>`)}
<div class="panels">
${card("method", "Card or bank account", methodPart(view))}
${card("limits", "Who may spend", limitsPart(view))}
${card("charges", "Payments of your firm", chargesPart(view))}
</div>`;
}

const isChargeable = ({ environment, method }: PaymentMethod): boolean =>
  environment === "live" || method?.startsWith("sandbox:") === true;

const unusableWords = (method: PaymentMethod): string => {
  if (!isChargeable(method)) return unknownToSandbox;
  return method.endedBy === accountChange ? endedByChange : endedByBank;
};

const endedByChange =
  "The operator of this service now uses another account of the payment processor, which doesn’t have it. Add it again, or add another one. Until then, orders that your firm pays wait until somebody opens their checkout.";

const endedByBank =
  "Your bank returned a payment, or ended the permission to debit the account. Add a card or another bank account. To use this account again, ask your bank to allow debits first, and then add it again. Until then, orders that your firm pays wait until somebody opens their checkout.";

// Earlier releases stored methods of the payment processor's test mode.
const unknownToSandbox =
  "It is from the payment processor’s test mode, which the test environment no longer uses. Choose a test card or a test bank account of the sandbox. Until then, orders that your firm pays wait until somebody opens their checkout.";

/** Whether a method that was added within the last hour is active. */
const isJustAdded = ({ methods, now }: BillingView): boolean =>
  methods.some(({ state, addedAt }) => state === "active" && now.getTime() - addedAt.getTime() < 3_600_000);

function methodPart(view: BillingView): Html {
  const { methods, isPaidHere } = view;
  if (!isPaidHere) return html`<p>Payments are not configured for this environment.</p>`;
  const active = methods.find(({ state }) => state === "active");
  const waiting = methods.find(({ state }) => state === "verifying");
  const failed = !active && methods[0]?.state === "failed";
  const unusable = active ? undefined : methods.find(({ state }) => state === "unusable");
  return html`<div class="card-parts">${
    active
      ? html`${facts([
          ["Pays", methodName(active)],
          [
            "Kind",
            active.kind === "bank"
              ? "Bank account: work starts when the money has cleared, up to 4 business days."
              : "Card",
          ],
          ["Valid until", active.cardExpires],
          ["Added", dayIn(active.addedAt, view.zone)],
        ])}${expiryPart(active, view.now)}${isOwner(view) && removal(active)}`
      : unusable
        ? html`${notice("stopped", `${methodName(unusable)} can’t be charged any more`, unusableWords(unusable))}${isOwner(view) && removal(unusable)}`
        : html`<p>${failed ? "The last bank account could not be verified." : "Nothing is on file. Orders that your firm pays wait until somebody opens their checkout."}</p>`
  }
${waiting && html`<p>Waiting for your bank: ${methodName({ ...waiting, kind: waiting.kind ?? "bank" })}. Follow the processor’s email to verify the account.</p>${isOwner(view) && removal(waiting)}`}
${
  isOwner(view)
    ? html`${buttonForm(`${billingPath}/method`, active ? "Replace it by another card or bank account" : "Add a card or bank account", { kind: active ? "quiet-button" : "" })}
<p class="form-note">${
        view.principal.environment === "test"
          ? "You choose a test card or a test bank account. Nothing real is charged, and no payment processor is involved. The test clock lets its debits settle and its disputes end."
          : "You enter it on the page of our payment processor; we never see its number. All owners are emailed."
      }</p>`
    : html`<p class="form-note">Only owners of the firm can change this.</p>`
}</div>`;
}

/** Warns of a card that expires at the end of this month, or has expired. */
function expiryPart(method: PaymentMethod, now: Date): Html | null {
  const expiry = expiryOf(method, now);
  if (expiry === null) return null;
  const isOver = expiry === "expired";
  const advice = isOver
    ? "Replace it"
    : "If your bank has renewed it, its new date is shown here once the payment processor learns of it. Otherwise replace it";
  return notice(
    "attention",
    `${methodName(method)} ${isOver ? "has expired" : "expires at the end of this month"}`,
    `${advice}: charges of an expired card fail, and orders that your firm pays wait.`,
  );
}

/** The sandbox's page, in place of the processor's page where an owner enters a card or a bank account. */
export const testMethodBody = (id: string, error?: string): Html =>
  html`${pageHead("Choose a test card or a test bank account", "In the live environment, this is the page of our payment processor. Here, nothing real is charged.")}
${errorSummary(error)}
<form class="form" method="post" action="${billingPath}/test-method/${id}">
${radios({
  ...{ name: "method", label: "Card or bank account", required: true, value: "card" },
  options: Object.entries(testMethods).map(([value, method]) => ({
    value,
    label: `${methodName(method)}: ${method.words}`,
  })),
})}
<div class="form-actions"><button type="submit">Put it on file</button> <a href="${billingPath}">Cancel</a></div>
</form>`;

const removal = (method: PaymentMethod): Html =>
  askFirst({
    label: "Remove",
    about: methodName(method),
    text: "Nothing more is charged to it. A payment that is under way goes on. Orders that your firm pays wait until somebody opens their checkout.",
    confirm: "Remove now",
    action: `${billingPath}/methods/${method.id}/remove`,
  });

/** A cap as the value of a field, such as `1200.00`; empty when no cap is set. */
const typedAmount = (cents: number): string => (cents === 0 ? "" : (cents / 100).toFixed(2));

function limitsPart(view: BillingView): Html {
  const lead = html`<p>Owners may spend without a limit. Everybody else, and each API key, may spend when an owner sets limits here. A month is that of your firm’s statements, in the time zone ${view.zone}. What would exceed a limit waits for an owner.</p>`;
  const limited = view.spenders.filter((each) => !each.isOwner);
  if (limited.length === 0)
    return html`${lead}${emptyState("Nobody else", "Your firm has no other members, and no API keys here.")}<p><a href="/dashboard/team">Invite colleagues</a>, and come back to set what they may spend.</p>`;
  if (!isOwner(view))
    return html`${lead}${facts(limited.map((each) => [each.name, limitText(view, each)] as const))}<p class="quiet">Only owners of the firm can change this.</p>`;
  return html`<div class="card-parts">${lead}${limited.map((each, index) => limitForm(view, each, `limit${index + 1}`))}</div>`;
}

const limitText = ({ used }: BillingView, { spender, orderCents, monthCents }: Spender): string =>
  orderCents === 0 || monthCents === 0
    ? "May not spend"
    : `${money(orderCents)} for an order, ${money(monthCents)} in a month. Used this month: ${money(used.get(spender) ?? 0)}`;

const limitLabels = { perOrder: "Dollars for one order", perMonth: "Dollars in a month" } as const;

/** A refusal with the labels of the form in place of the names of its fields. */
export const limitRefusal = (message: string): string =>
  Object.entries(limitLabels).reduce((text, [name, label]) => text.replaceAll(name, `“${label}”`), message);

function limitForm(view: BillingView, each: Spender, form: string): Html {
  const { typed } = view;
  const { spender, name, orderCents, monthCents } = each;
  const mine = typed?.["spender"] === spender ? typed : undefined;
  const amount = (field_: keyof typeof limitLabels, cents: number) =>
    field({
      ...{ form, name: field_, label: limitLabels[field_], maxLength: 12, inputMode: "decimal", autocomplete: "off" },
      value: mine?.[field_] ?? typedAmount(cents),
    });
  return html`<form class="form" method="post" action="${billingPath}/limits"><h3 class="breakable">${name}</h3>
<p class="form-note">${limitText(view, each)}${monthCents > 0 && monthCents < orderCents && html` The month’s limit is the lower one, so one order may cost at most ${money(monthCents)}.`}</p>${hiddenFields({ spender })}
${amount("perOrder", orderCents)}
${amount("perMonth", monthCents)}
<div class="form-actions"><button type="submit" class="quiet-button">Save<span class="visually-hidden"> the limits of ${name}</span></button></div>
</form>`;
}

const stateWords: Readonly<Record<ChargeState, string>> = {
  asked: "Being sent",
  answered: "Being processed",
  pending: "Being processed by the bank",
  declined: "Failed",
  failed: "Failed",
  refused: "Not charged",
  succeeded: "Paid",
};

/** The state of a charge in words; for an unpaid charge, with the reason. */
export const chargeText = (charge: Pick<FirmCharge, "state" | "reason" | "askedBy">): string =>
  hasStopped(charge) ? `${stateWords[charge.state]}. ${reasonWords(charge)}` : stateWords[charge.state];

const hasStopped = ({ state }: Pick<FirmCharge, "state">): boolean => ["declined", "failed", "refused"].includes(state);

/** Whether the payment is the latest of its orders, and the firm still has to pay all of them. */
const isUnpaid = ({ payments }: BillingView, charges: PaymentOfFirm): boolean =>
  charges.every(
    (charge) =>
      hasStopped(charge) &&
      isPayable(charge.orderStatus) &&
      charge.payBy === "firm" &&
      payments.flat().find(({ orderId }) => orderId === charge.orderId) === charge,
  );

/** Reasons that a person must clear up first. Until then, another charge would be refused, too. */
const needsPerson: ReadonlySet<string | null> = new Set(["paid_by_checkout", "not_payable", "order_altered"]);

/** Offers to charge a stopped payment again. Nothing does that by itself, not even after a limit was raised. */
function chargeAgain(view: BillingView, charges: PaymentOfFirm): Html | false {
  const [first] = charges;
  const method = view.methods.find(({ state }) => state === "active");
  if (!first || !method || !isUnpaid(view, charges) || needsPerson.has(first.reason)) return false;
  // The bank wants to ask a person, so it would refuse another charge of the same method, too.
  if (first.reason === "authentication_required" && first.methodId === method.id) return false;
  return first.groupId === null
    ? buttonForm(
        `/dashboard/orders/${first.orderCode}/charge`,
        `Charge ${money(first.totalCents)} to ${methodName(method)}`,
        {
          about: `for order ${shortCode(first.orderCode)}`,
          fields: { total_cents: String(first.totalCents) },
          kind: "quiet-button",
        },
      )
    : html`<p><a href="/dashboard/orders/${first.orderCode}/closing">Open the closing to charge again</a></p>`;
}

/** The state of a payment, and what became of its money since. */
function paymentText({ now }: BillingView, charges: PaymentOfFirm): string {
  const sum = (of: "lostCents" | "creditedCents") => charges.reduce((cents, each) => cents + each[of], 0);
  const [lost, credited] = [sum("lostCents"), sum("creditedCents")];
  const [first] = charges;
  const later = [
    first && isOverdueCharge(first, now) && "There has been no answer for too long.",
    charges.some(({ isDisputed }) => isDisputed) && "A bank asks for it back.",
    lost > 0 && `The bank took ${money(lost)} back.`,
    credited > 0 && `${money(credited)} was credited.`,
  ].filter((each) => typeof each === "string");
  return [first ? `${chargeText(first)}${later.length > 0 ? "." : ""}` : "", ...later].join(" ");
}

/** An owner ends a payment that got stuck, so that its orders can be paid another way. */
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

const chargesPart = (view: BillingView): Html =>
  view.payments.length === 0
    ? emptyState("No payments yet", "Orders that your firm pays by the card or bank account are listed here.")
    : html`${records(
        "Payments of your firm",
        [
          ...[{ label: "Orders" }, { label: "File number" }, { label: "Sum", number: true }],
          ...[{ label: "State" }, { label: "Asked" }],
        ],
        view.payments.slice(0, listedPayments).flatMap((charges) => {
          const [first] = charges;
          if (!first) return [];
          const references = new Set(charges.flatMap(({ reference }) => reference ?? []));
          return [
            [
              html`${charges.map((each, index) => html`${index > 0 && ", "}${orderLink(each)}`)}`,
              references.size === 0 ? "None" : [...references].join(", "),
              money(sumOfCharges(charges)),
              html`${paymentText(view, charges)}${ending(view, first, charges.length)}${chargeAgain(view, charges)}`,
              dayIn(first.askedAt, view.zone),
            ],
          ];
        }),
      )}${view.principal.environment === "test" && html`<p class="quiet">These dates are real time. Those of receipts and statements follow the test clock.</p>`}${view.payments.length > listedPayments && html`<p class="quiet">Only the newest ${listedPayments} payments and those that are under way are shown. <a href="/dashboard/statements">Statements</a> have all that were paid, by month.</p>`}`;

const orderLink = ({ orderCode, supplementId }: FirmCharge): Html =>
  html`<a class="keep" href="/dashboard/orders/${orderCode}">${shortCode(orderCode)}</a>${supplementId !== null && ", more postage"}`;
