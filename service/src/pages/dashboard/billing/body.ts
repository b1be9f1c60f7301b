import { hourMs } from "../../../kernel/platform/clock.ts";
import {
  accountChange,
  expiryOf,
  leftText,
  methodName,
  type PaymentMethod,
  type Spender,
  testMethods,
} from "../../../orders/payments/payments.ts";
import { card, emptyState, facts, notice, pageHead } from "../../ui/components.ts";
import { dayIn, money } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, field, radios } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { alteredNotice, hasLosses, lossesPart } from "./losses-part.ts";
import { chargesPart } from "./payments-part.ts";
import { type BillingView, billingPath, isOwner } from "./view.ts";
import { waitingPart } from "./waiting-part.ts";

export function billingBody(view: BillingView): Html {
  return html`${pageHead("Billing", "How your firm pays for orders that it pays itself.")}
${errorSummary(view.error)}
${view.isZoneAltered && alteredNotice("The time zone of your firm can’t be read", `Times on this page are those of ${view.zone}.`)}
${
  view.hasReturned &&
  !isJustAdded(view) &&
  notice(
    "info",
    "Your bank and the payment processor are being asked",
    html`The card or bank account is shown here once the processor confirms it. <a href="${billingPath}?setup=returned">Look again</a>`,
  )
}
${view.left && notice("attention", view.left.length === 1 ? "One order was not charged" : `${view.left.length} orders were not charged`, `${leftText(view.left)} The charges of the others are being sent.`)}
<div class="panels">
${view.waiting.count > 0 && card("waiting", "Orders that wait for your firm’s payment", waitingPart(view))}
${hasLosses(view.losses) && card("losses", "Payments that banks took back", lossesPart(view.losses, view.zone))}
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

// The warning about a payment method that an earlier release stored. That method was created in the payment processor's
// test mode.
const unknownToSandbox =
  "It is from the payment processor’s test mode, which the test environment no longer uses. Choose a test card or a test bank account of the sandbox. Until then, orders that your firm pays wait until somebody opens their checkout.";

/** True if the firm has an active payment method that was added within the last hour. */
const isJustAdded = ({ methods, now }: BillingView): boolean =>
  (methods ?? []).some(({ state, addedAt }) => state === "active" && now.getTime() - addedAt.getTime() < hourMs);

function methodPart(view: BillingView): Html {
  const { methods, isPaidHere } = view;
  if (!isPaidHere) return html`<p>Payments are not configured for this environment.</p>`;
  if (methods === null)
    return alteredNotice(
      "Your firm’s card or bank account can’t be shown",
      "Until then, the card or bank account is not charged. Each order can be paid on its own page.",
    );
  const active = methods.find(({ state }) => state === "active");
  const waiting = methods.find(({ state }) => state === "verifying");
  return html`<div class="card-parts">${active ? activePart(view, active) : withoutActive(view, methods)}
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

function activePart(view: BillingView, active: PaymentMethod): Html {
  const kind =
    active.kind === "bank" ? "Bank account: work starts when the money has cleared, up to 4 business days." : "Card";
  return html`${facts([
    ["Pays", methodName(active)],
    ["Kind", kind],
    ["Valid until", active.cardExpires],
    ["Added", dayIn(active.addedAt, view.zone)],
  ])}${expiryPart(active, view.now)}${isOwner(view) && removal(active)}`;
}

/** Says why no method is charged. */
function withoutActive(view: BillingView, methods: readonly PaymentMethod[]): Html {
  const unusable = methods.find(({ state }) => state === "unusable");
  if (unusable)
    return html`${notice("stopped", `${methodName(unusable)} can’t be charged any more`, unusableWords(unusable))}${isOwner(view) && removal(unusable)}`;
  const failed = methods[0]?.state === "failed";
  return html`<p>${failed ? "The last bank account could not be verified." : "Nothing is on file. Orders that your firm pays wait until somebody opens their checkout."}</p>`;
}

/** Warns that a payment card expires at the end of this month, or has expired. */
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
  name: "method",
  label: "Card or bank account",
  required: true,
  value: "card",
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

/** A spending limit as the text of an input, such as `1200.00`. Empty for 0, which means that nothing may be spent. */
const typedAmount = (cents: number): string => (cents === 0 ? "" : (cents / 100).toFixed(2));

function limitsPart(view: BillingView): Html {
  const lead = html`<p>Owners may spend without a limit. Everybody else, and each API key, may spend when an owner sets limits here. A month is that of your firm’s statements, in the time zone ${view.zone}. What would exceed a limit waits for an owner.</p>`;
  const limited = view.spenders.filter((each) => !each.isOwner);
  if (limited.length === 0)
    return html`${lead}${emptyState("Nobody else", "Your firm has no other members, and no API keys here.")}<p><a href="/dashboard/team">Invite colleagues</a>, and come back to set what they may spend.</p>`;
  if (!isOwner(view))
    return html`${lead}${facts(limited.map((each) => [each.name, limitText(view, each)] as const))}<p class="quiet">Only owners of the firm can change this.</p>`;
  return html`<div class="card-parts">${lead}${limited.map((each, index) =>
    // Altered limits have no form: they are shown only.
    each.isAltered ? facts([[each.name, limitText(view, each)]]) : limitForm(view, each, `limit${index + 1}`),
  )}</div>`;
}

function limitText({ used }: BillingView, { spender, orderCents, monthCents, isAltered }: Spender): string {
  if (isAltered)
    return "The record of these limits was altered in the database, so nothing can be spent until the operator of this service has restored it";
  if (orderCents === 0 || monthCents === 0) return "May not spend";
  const cents = used.get(spender);
  const usedText =
    cents === null
      ? "What is used this month can’t be read, so nothing can be spent until the operator of this service has restored the record"
      : `Used this month: ${money(cents ?? 0)}`;
  return `${money(orderCents)} for an order, ${money(monthCents)} in a month. ${usedText}`;
}

const limitLabels = { perOrder: "Dollars for one order", perMonth: "Dollars in a month" } as const;

/** Replaces the names of the form's fields in an error message by their labels. */
export const limitRefusal = (message: string): string =>
  Object.entries(limitLabels).reduce((text, [name, label]) => text.replaceAll(name, `“${label}”`), message);

function limitForm(view: BillingView, each: Spender, form: string): Html {
  const { typed } = view;
  const { spender, name, orderCents, monthCents } = each;
  const mine = typed?.["spender"] === spender ? typed : undefined;
  const amount = (field_: keyof typeof limitLabels, cents: number) =>
    field({
      form,
      name: field_,
      label: limitLabels[field_],
      maxLength: 12,
      inputMode: "decimal",
      autocomplete: "off",
      value: mine?.[field_] ?? typedAmount(cents),
    });
  return html`<form class="form" method="post" action="${billingPath}/limits"><h3 class="breakable">${name}</h3>
<p class="form-note">${limitText(view, each)}${monthCents > 0 && monthCents < orderCents && html` The month’s limit is the lower one, so one order may cost at most ${money(monthCents)}.`}</p>${hiddenFields({ spender })}
${amount("perOrder", orderCents)}
${amount("perMonth", monthCents)}
<div class="form-actions"><button type="submit" class="quiet-button">Save<span class="visually-hidden"> the limits of ${name}</span></button></div>
</form>`;
}
