import type { RefundPreview } from "../../../refunds/refunds.ts";
import { card, facts, notice, pageHead } from "../../ui/components.ts";
import { shortCode } from "../../ui/format.ts";
import { errorSummary, textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { sums, type Typed } from "./words.ts";

/** What a refund would end, and the form that asks for it. */
export const newRefundBody = (preview: RefundPreview, typed?: Typed): Html =>
  html`${pageHead(`Refund order ${shortCode(preview.orderCode)}`, "You ask, and another person approves. All that is held for the order goes back.")}
${errorSummary(typed?.error)}
<div class="panels">
${previewCard(preview)}
${card("ask", "Ask for the refund", formOf(preview, typed))}
</div>`;

/** The order as it stands. */
export const previewCard = ({ orderCode, status, payments, warnings }: RefundPreview): Html =>
  card(
    "order",
    "The order",
    html`${facts([
      ["Order", html`<code class="breakable">${orderCode}</code>`],
      ["Status", status],
      ["Held for it", sums(payments)],
    ])}${warnings.length > 0 && notice("attention", "What was done already", html`${warnings.map((each, index) => html`${index > 0 && html`<br>`}${each}`)}`)}`,
  );

function formOf({ orderCode, refusal, openRequest }: RefundPreview, typed?: Typed): Html {
  if (openRequest !== null)
    return html`<p>A refund of this order was asked for already.</p><p><a href="/operator/refunds/${openRequest}">See the request</a></p>`;
  if (refusal !== null) return html`<p>${refusal}</p>`;
  return html`<form class="form" method="post" action="/operator/refunds">
<input type="hidden" name="order" value="${orderCode}">
${textArea({ name: "reason", label: "Reason", hint: "It is shown to who approves, and stands in the order’s history.", value: typed?.text, required: true, maxLength: 500, rows: 3 })}
<div class="form-actions"><button type="submit">Ask for the refund</button></div>
</form>`;
}
