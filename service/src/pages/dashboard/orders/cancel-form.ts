import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import { actorOf } from "../../../kernel/identity/identity.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { type MoveDeps, moveOrder } from "../../../orders/fulfilment/fulfilment.ts";
import { type PublicOrderRow, targetOf } from "../../../orders/order/order.ts";
import { field } from "../../ui/forms/fields.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";

type CancelCall = PageCall<{ code: string }>;

/**
 * True if the order's status permits a cancellation, because the order is unpaid. A payment in progress can still
 * prevent the cancellation.
 */
export const isCancelable = (order: PublicOrderRow): boolean => targetOf(order, "cancelled") !== null;

/** The form that cancels an order; it asks for confirmation and for the reason. */
export const cancelPart = (code: string): Html =>
  html`<details class="question"><summary>Cancel this order</summary>
<form class="form" method="post" action="/dashboard/orders/${code}/cancel">
<p>Nothing was paid, so nothing is refunded. The client’s page says that the order was canceled, and it can’t be paid any more.</p>
${field({ form: "cancel", name: "reason", label: "Reason", required: true, maxLength: 500, hint: "Kept in the order’s activity." })}
<div class="form-actions"><button type="submit" class="danger-button">Cancel the order</button></div>
</form></details>`;

/** Adds the form with which a firm cancels an order that nobody has paid. */
export function cancelForm(
  forms: FastifyInstance,
  deps: MoveDeps & { limits: RateLimits },
  {
    ownOrder,
    refused,
  }: {
    ownOrder: (call: CancelCall) => Promise<PublicOrderRow>;
    refused: (call: CancelCall, error: string) => Promise<string>;
  },
): void {
  pageRoute(forms, deps, {
    method: "POST",
    policy: "partner-write",
    url: "/dashboard/orders/:code/cancel",
    refused,
    async handle(call) {
      const { code } = await ownOrder(call);
      const reason = call.form["reason"]?.trim() ?? "";
      if (reason === "" || reason.length > 500) throw invalid("Reason must have 1 to 500 characters.");
      const actor = actorOf(principalOf(call.request));
      await moveOrder(deps, { code, to: "Cancelled", actor, document: null, facts: { reason } });
      return done(`/dashboard/orders/${code}`, "order-cancelled");
    },
  });
}
