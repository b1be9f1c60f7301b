import { businessDay } from "../../../kernel/tasks/tasks.ts";
import { type OrderState, targetOf } from "../../../orders/order/order.ts";
import type { ConsoleMove } from "../../../upkeep/console/console.ts";
import { checkbox, field, select, textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";

/** The values of a form. After an error: the typed values and the error. Otherwise: default values. */
export type Typed = { move: string; values: Readonly<Record<string, string>>; error: string | undefined };

type Undo = { form: string; action: string; summary: string; label: string; hint: string };

/** The form that reverses an entry in the books about money, with a reason. */
export function undoForm({ form, action, summary, label, hint }: Undo, typed: Typed | undefined): Html {
  const own = typed?.move === form ? typed : undefined;
  return html`<details class="ask"${own && html` open`}><summary>${summary}</summary>
<form class="form" method="post" action="${action}">
${field({ form, name: "reason", label, required: true, maxLength: 500, hint, value: own?.values["reason"], error: own?.error })}
<div class="form-actions"><button type="submit" class="quiet-button">Reverse the booking</button></div>
</form></details>`;
}

type MoveWords = {
  label: string;
  /** The effect of the form, in words. */
  text: string;
  fields?: readonly ("reason" | "note" | "basis" | "arrived" | "tracking" | "adjustment")[];
  danger?: boolean;
};

/** The possible sources of the information that something was delivered. */
const bases = ["The carrier’s page says that it was delivered.", "The recipient confirmed that it arrived."] as const;

/** The label of the field for the date of arrival. The field's error messages begin with this label. */
const arrivalLabel = "Date of arrival";
const trackingLabel = "Tracking number";

const inClosing = "In a closing of several documents no email is sent: the client’s page shows it.";

const words: Readonly<Record<ConsoleMove, MoveWords>> = {
  priced: {
    label: "Send the quote",
    text: "The total becomes the client’s quote. Add a line where the price book has none.",
    fields: ["adjustment"],
  },
  released: {
    label: "Release the order",
    text: "It continues in the status that it had before the hold.",
    fields: ["note"],
  },
  sign_reissued: {
    label: "Send to the signers again",
    text: "A new envelope is opened. Signatures of the last one are not carried over.",
  },
  notarization_reopened: {
    label: "Reopen the notarization",
    text: "A notary can take the order again.",
    fields: ["note"],
  },
  next_segment: {
    label: "Begin the next service",
    text: "A live order does so by itself, unless its firm asks for a pause.",
  },
  shipped: {
    label: "Record the hand-over",
    text: `The client is emailed the carrier, and the tracking number where there is one. ${inClosing}`,
    fields: ["tracking"],
  },
  delivered: {
    label: "Record the delivery",
    text: `The firm’s webhooks are notified. The client is emailed that you recorded it. ${inClosing}`,
    fields: ["basis", "arrived"],
  },
  shipping_retried: { label: "Ship again", text: "A new label or packet is to be prepared.", fields: ["note"] },
  fax_sent: {
    label: "Record that the fax was sent",
    text: "Its result is not on record yet.",
    fields: ["note"],
  },
  fax_delivered: {
    label: "Record the fax’s delivery",
    text: `The client is emailed that you recorded it. ${inClosing}`,
    fields: ["note"],
  },
  fax_retried: { label: "Send the fax again", text: "The fax is to be sent once more.", fields: ["note"] },
  shipping_failed: {
    label: "Shipping failed",
    text: "The order waits until it is shipped again.",
    fields: ["reason"],
    danger: true,
  },
  fax_failed: {
    label: "Fax failed",
    text: "The order waits until it is faxed again.",
    fields: ["reason"],
    danger: true,
  },
  held: {
    label: "Put on hold",
    text: "Nothing more happens to the order until it is released.",
    fields: ["reason"],
    danger: true,
  },
  cancelled: {
    label: "Cancel the order",
    text: "It was not paid, and can no longer be. This is final.",
    fields: ["reason"],
    danger: true,
  },
};

/**
 * The label and the text of a move. A move to the next service has other words if no service follows, because the move
 * then completes the order.
 */
const wordsOf = (move: ConsoleMove, order: OrderState): MoveWords =>
  move === "next_segment" && targetOf(order, move) === "Completed" ? completing : words[move];

const completing: MoveWords = {
  label: "Complete the order",
  text: "All its services are done. A live order does so by itself, unless its firm asks for a pause.",
};

export const labelOf = (move: ConsoleMove, order: OrderState): string => wordsOf(move, order).label;

/** True if a move stops the order. */
export const isDangerous = (move: ConsoleMove): boolean => words[move].danger ?? false;

/** The form of the console that makes a move of the order, with this move's inputs. @param now for default values */
export function moveForm(
  path: string,
  move: ConsoleMove,
  order: OrderState,
  typed: Typed | undefined,
  now: Date,
): Html {
  const { label, text, fields = [], danger = false } = wordsOf(move, order);
  const values = typed?.move === move ? typed.values : {};
  const error = typed?.move === move ? typed.error : undefined;
  const isAboutArrival = error?.startsWith(arrivalLabel) ?? false;
  const isAboutNumber = error?.startsWith(trackingLabel) ?? false;
  const inputs: Readonly<Record<(typeof fields)[number], () => Html>> = {
    reason: () =>
      textArea({
        form: move,
        name: "reason",
        label: "Reason",
        required: true,
        rows: 2,
        maxLength: 500,
        value: values["reason"],
        error,
      }),
    note: () => field({ form: move, name: "reason", label: "Note", maxLength: 500, value: values["reason"], error }),
    basis: () =>
      select({
        form: move,
        name: "reason",
        label: "How it is known",
        required: true,
        value: values["reason"],
        error: isAboutArrival ? undefined : error,
        options: bases.map((each) => ({ value: each, label: each })),
      }),
    arrived: () =>
      field({
        form: move,
        name: "arrived_on",
        type: "date",
        label: arrivalLabel,
        required: true,
        hint: "The day on which it arrived. Not before the hand-over, and not after today.",
        value: values["arrived_on"] ?? businessDay(now),
        error: isAboutArrival ? error : undefined,
      }),
    tracking: () =>
      html`${field({ form: move, name: "carrier", label: "Carrier", required: true, maxLength: 80, value: values["carrier"], error: isAboutNumber ? undefined : error })}
${field({ form: move, name: "tracking", label: trackingLabel, maxLength: 80, value: values["tracking"], error: isAboutNumber ? error : undefined, autocomplete: "off" })}
${checkbox({ form: move, name: "untracked", label: "This mail has no tracking number", checked: values["untracked"] === "on" })}`,
    adjustment: () =>
      html`${field({ form: move, name: "amount", label: "Amount to add, US dollars", maxLength: 12, value: values["amount"], error, hint: "For example 45.00, or -10.00 for a discount." })}
${field({ form: move, name: "label", label: "What it is for", maxLength: 120, value: values["label"] })}
${checkbox({ form: move, name: "nothing", label: "Nothing is to be added: the total above is the whole price", checked: values["nothing"] === "on" })}`,
  };
  return html`<form class="form" method="post" action="${path}/moves/${move}"><p>${text}</p>
${fields.map((each) => inputs[each]())}
<div class="form-actions"><button type="submit" class="${danger ? "danger-button" : ""}">${label}</button></div></form>`;
}
