/** The forms that enter a firm's checks and wires for a reversed payment in the books, and undo such an entry. */
import { type LossToBook, lossPaymentWays, wayText } from "../../../orders/payments/payments.ts";
import { day, money, time } from "../../ui/format.ts";
import { field, select } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { type Typed, undoForm } from "./move-forms.ts";

/** Returns the name of the form for a lost payment. The page uses this name to show a rejected form again. */
export const lossForm = (payment: string | number): string => `loss-${payment}`;
export const undoLossForm = (booking: string | number): string => `undo-loss-${booking}`;

type Look = { path: string; mayBook: boolean; typed: Typed | undefined };

const lossTitle = html`<h3>Money received for a lost payment</h3>`;

/** True if the firm still owes money for a lost payment, or ever had a check or wire booked for one. False for null. */
export const hasLossForms = (losses: readonly LossToBook[] | null): boolean =>
  losses?.some(({ openCents, bookings }) => openCents > 0 || bookings.length > 0) ?? false;

/**
 * The lost payments of an order, with the firm's payments for them, its debt, and the forms.
 * @param losses null if a row about them was altered
 */
export function lossPart(losses: readonly LossToBook[] | null, look: Look): Html | false {
  if (losses === null)
    return html`${lossTitle}<p>A record of this money was altered in the database, so it can’t be shown or booked.</p>`;
  return hasLossForms(losses) && html`${lossTitle}${losses.map((loss) => onePart(loss, look))}`;
}

function onePart(loss: LossToBook, look: Look): Html | false {
  const { lostCents, openCents, paidAt, bookings } = loss;
  if (openCents === 0 && bookings.length === 0) return false;
  const list =
    bookings.length > 0 && html`<ul class="plain-list">${bookings.map((booking) => bookingItem(booking, look))}</ul>`;
  const lost =
    lostCents > 0
      ? `The bank took ${money(lostCents)} of it back.`
      : "The bank returned what it had taken, or a refund settled it.";
  const owed =
    openCents > 0 ? html`<strong>The firm still owes ${money(openCents)}.</strong>` : "The firm owes nothing for it.";
  return html`<div class="room-part"><p>Payment of ${time(paidAt)}. ${lost} ${owed}</p>${list}${openCents > 0 && look.mayBook && bookPart(loss, look)}</div>`;
}

function bookingItem(
  { id, cents, reversedAt, reason, receivedOn, ...by }: LossToBook["bookings"][number],
  look: Look,
): Html {
  const payment = `${money(cents)} ${wayText(by)}`;
  const state =
    reversedAt === null
      ? look.mayBook && undoPart(id, payment, look)
      : html`; reversed ${time(new Date(reversedAt))}: ${reason}`;
  return html`<li>${payment}, received ${day(new Date(receivedOn))}${state}</li>`;
}

function bookPart({ id, openCents, openInAll, openOrders }: LossToBook, { path, typed }: Look): Html {
  const form = lossForm(id);
  const own = typed?.move === form ? typed : undefined;
  const { amount = (openInAll / 100).toFixed(2), how = "", reference = "", received = "" } = own?.values ?? {};
  const hint =
    openOrders > 1
      ? `At most ${money(openInAll)}, which is owed for the ${openOrders} orders of this payment. What exceeds the ${money(openCents)} of this order is booked for the others.`
      : `At most ${money(openInAll)}.`;
  return html`<details class="ask"${own && html` open`}><summary>Book a payment of the firm</summary><form class="form" method="post" action="${path}/lost-payments/${id}">
${field({ form, name: "amount", label: "Amount in dollars", required: true, inputMode: "decimal", maxLength: 12, hint, value: amount, error: own?.error })}
${select({ form, name: "how", label: "How it came", required: true, value: how, options: [{ value: "", label: "Choose" }, ...Object.entries(lossPaymentWays).map(([value, words]) => ({ value, label: `Received ${words}` }))] })}
${field({ form, name: "reference", label: "Number of the check, or the bank’s reference", required: true, maxLength: 40, hint: "The firm reads it on its statement.", value: reference })}
${field({ form, name: "received", label: "Day on which it arrived", required: true, type: "date", value: received })}
<div class="form-actions"><button type="submit" class="quiet-button">Book it</button></div></form></details>`;
}

const undoPart = (booking: number, what: string, { path, typed }: Look): Html =>
  undoForm(
    {
      form: undoLossForm(booking),
      action: `${path}/loss-payments/${booking}/undo`,
      summary: `Reverse “${what}”`,
      label: "Why it does not count",
      hint: "The check bounced, the money went back to the firm, or the entry is wrong. A reversing line follows on the statement, and the firm gets a mail with this reason.",
    },
    typed,
  );
