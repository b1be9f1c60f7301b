import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import {
  deliveryPage,
  listSubscriptions,
  oneDelivery,
  readExchange,
  subscribe,
  topicsField,
  urlField,
} from "../../../outgoing/webhooks/webhooks.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { done } from "../flash-messages.ts";
import { dashboardPage } from "../page-shell.ts";
import { requireSameEnvironment, submissionFor, submitOnce } from "../submit-once.ts";
import { decidersFor } from "./deciders.ts";
import { type DeliveriesQuery, deliveriesBody, deliveryBody } from "./deliveries.ts";
import { webhookForms } from "./detail-forms.ts";
import { feedFragment } from "./feed.ts";
import { chosenTopics, type WebhooksView, webhooksBody } from "./list.ts";
import { secretPage } from "./secret.ts";
import { showWebhook, viewOf, type WebhookPagesDeps } from "./show-webhook.ts";
import { isPeriod, periods } from "./words.ts";

const path = "/dashboard/webhooks";

/** Adds the list of the firm's webhooks, the form that creates one, and the page of each webhook. */
export function webhookPages(forms: FastifyInstance, deps: WebhookPagesDeps): void {
  pageRoute(forms, deps.frame, { url: path, handle: ({ request }) => show(request) });

  pageRoute(forms, deps.frame, {
    method: "POST",
    url: path,
    handle: async ({ form, request }) => {
      requireSameEnvironment(request, form["environment"]);
      const body = { url: form["url"], topics: chosenTopics(form) };
      const { created } = await submitOnce(deps.webhooks.subscriptions, request, {
        fields: new Map(Object.entries(form)),
        make: () => subscribe(deps.webhooks.subscriptions, principalOf(request), urlField(body), topicsField(body)),
        nameOf: ({ id }) => id,
      });
      if (!created) return done(path, "webhook-there");
      return secretPage(deps.frame, request, { ...created, previousSecretExpiresAt: null });
    },
    // The form offers only existing topics. So an error about `topics` means that no box is ticked.
    refused: ({ form: typed, request }, error) =>
      show(request, { error: error.replace(/^topics must.*$/, "Choose at least one topic."), typed }),
  });

  deliveryPages(forms, deps);
  webhookDetailPage(forms, deps);

  async function show(request: FastifyRequest, problem: Pick<WebhooksView, "error" | "typed"> = {}): Promise<string> {
    const principal = principalOf(request);
    const [webhooks, deciders] = await Promise.all([
      listSubscriptions(deps.webhooks.subscriptions, principal),
      decidersFor(deps.webhooks.subscriptions, principal),
    ]);
    const body = webhooksBody({ ...submissionFor(request, problem.typed), webhooks, deciders, ...problem });
    return dashboardPage(deps.frame, request, { title: "Webhooks", section: "webhooks", body });
  }
}

const deliveriesPath = `${path}/deliveries`;

/** Adds the list of all deliveries with its filters, and the page of one delivery with its request and response. */
function deliveryPages(forms: FastifyInstance, deps: WebhookPagesDeps): void {
  pageRoute(forms, deps.frame, {
    url: deliveriesPath,
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
    url: `${deliveriesPath}/:deliveryId`,
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

/** Adds the page of one webhook, with its actions. */
function webhookDetailPage(forms: FastifyInstance, deps: WebhookPagesDeps): void {
  pageRoute(forms, deps.frame, { url: `${path}/:id`, handle: (call) => showWebhook(deps, call) });

  pageRoute(forms, deps.frame, {
    url: `${path}/:id/deliveries`,
    handle: async (call) => {
      const view = await viewOf(deps, call);
      // This URL returns only a part of the page. A browser that opens it directly is redirected to the whole page.
      if (call.request.headers["hx-request"] !== "true") return { redirect: `${path}/${view.webhook.id}` };
      return feedFragment(view);
    },
  });

  webhookForms(forms, deps);
}
