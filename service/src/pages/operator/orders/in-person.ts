import { may, type Operator } from "../../../firms/operators/operators.ts";
import { namesNeeded } from "../../../orders/refunds/refunds.ts";
import type { InPersonRequest } from "../../../signing/notaries/notaries.ts";
import type { OrderRecord } from "../../../upkeep/console/console.ts";
import { statusBadge } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";

/**
 * The firm's agreement to an act on paper instead of the ordered online notarization, and the form that asks the firm
 * to agree.
 */
export function inPersonPart(action: string, inPerson: InPersonRequest | null, reason = ""): Html {
  const asked = (state: InPersonRequest["state"]) => inPerson?.state === state;
  if (asked("agreed"))
    return html`<p>${statusBadge("done", "The firm agreed")} ${inPerson?.decidedAt && time(inPerson.decidedAt)}</p>
<p>An act in person, in ink, counts for this order. A refund of the technology fee was asked for where it is held; another person decides on it.</p>`;
  if (asked("requested"))
    return html`<p>${statusBadge("waiting", "The firm was asked")} ${inPerson && time(inPerson.requestedAt)}</p><p>Until it agrees, an act in person, in ink, does not count for this order.</p>`;
  return html`${asked("declined") && html`<p>${statusBadge("stopped", "The firm declined")} ${inPerson?.decidedAt && time(inPerson.decidedAt)}</p>`}
<p>The firm bought online notarization. An act in person, in ink, is recorded only when the firm has agreed to it.</p>
<form class="form" method="post" action="${action}">
${textArea({ form: "in-person", name: "reason", label: "Why in person", required: true, rows: 2, maxLength: 500, value: reason, hint: "The firm reads it on the page of the order. Its owners are mailed that you ask." })}
<div class="form-actions"><button type="submit" class="secondary">Ask the firm</button></div></form>`;
}

type View = { record: OrderRecord; inPerson: InPersonRequest | null; operator: Operator; reason: string | undefined };

/** The part of an order's page about the firm's agreement to an act on paper; null when there is nothing to show. */
export function inPersonOfOrder({ record: { order, tasks }, inPerson, operator, reason }: View): Html | null {
  const owed = tasks.find(({ kind, state }) => kind === "technology_fee" && (state === "open" || state === "claimed"));
  const waits = order.status === "NotarizationPending" && may(operator, "documents.take_in");
  if (!waits && inPerson?.state !== "agreed") return null;
  const path = `/operator/orders/${order.code}`;
  return html`${inPersonPart(`${path}/in-person`, inPerson, reason)}
${
  owed !== undefined &&
  html`<p>${statusBadge("attention", "The technology fee was not asked back")} Ask again when what stood in the way has ended. If it never can be, give the money back at the processor, and end the task in words.</p>
${may(operator, "refunds.request") && (operator.id === null ? html`<p>${namesNeeded}</p>` : buttonForm(`${path}/technology-fee`, "Ask for the technology fee", { kind: "secondary" }))}`
}`;
}
