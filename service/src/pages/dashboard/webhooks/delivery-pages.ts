import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { deliveryPage, listSubscriptions, oneDelivery, readExchange } from "../../../outgoing/webhooks/webhooks.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { dashboardPage } from "../page-shell.ts";
import { submissionFor } from "../submit-once.ts";
import { type DeliveriesQuery, deliveriesBody, deliveryBody } from "./deliveries.ts";
import type { WebhookPagesDeps } from "./show-webhook.ts";
import { isPeriod, periods } from "./words.ts";

const path = "/dashboard/webhooks/deliveries";

/** The list of all deliveries with its filters, and one delivery with what was sent and answered. */
export function deliveryPages(forms: FastifyInstance, deps: WebhookPagesDeps): void {
  pageRoute(forms, deps.frame, {
    url: path,
    handle: async (call) => {
      const query = queryOf(call);
      const principal = principalOf(call.request);
      const { period, ...filter } = query;
      const since = isPeriod(period)
        ? new Date(deps.webhooks.deliveries.clock().getTime() - periods[period].ms).toISOString()
        : "";
      const [webhooks, page] = await Promise.all([
        listSubscriptions(deps.webhooks.subscriptions, principal),
        deliveryPage(deps.webhooks.deliveries, principal, { ...filter, since, limit: "50" }),
      ]);
      const body = deliveriesBody({ query, webhooks, page });
      return dashboardPage(deps.frame, call.request, { title: "Deliveries", section: "webhooks", body });
    },
  });
  pageRoute(forms, deps.frame, {
    url: `${path}/:deliveryId`,
    handle: async ({ params: { deliveryId }, request }) => {
      const principal = principalOf(request);
      const [delivery, exchange] = await Promise.all([
        oneDelivery(deps.webhooks.deliveries, principal, deliveryId),
        readExchange(deps.webhooks.exchanges, principal, deliveryId),
      ]);
      const body = deliveryBody(delivery, exchange, submissionFor(request).submission);
      return dashboardPage(deps.frame, request, { title: "Delivery", section: "webhooks", body, scripts: ["copy.js"] });
    },
  });
}

const queryOf = ({ query }: PageCall): DeliveriesQuery => {
  const { webhook = "", topic = "", status = "", period = "", cursor = "" } = query;
  return { webhook, topic, status, period, cursor };
};
