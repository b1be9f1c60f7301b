import type { FastifyInstance } from "fastify";
import { pageRoute } from "../../ui/page/route.ts";
import { webhookForms } from "./detail-forms.ts";
import { feedFragment } from "./feed.ts";
import { showWebhook, viewOf, type WebhookPagesDeps } from "./show-webhook.ts";

const path = "/dashboard/webhooks";

/** One webhook, with what can be done to it. */
export function webhookDetailPage(forms: FastifyInstance, deps: WebhookPagesDeps): void {
  pageRoute(forms, deps.frame, { url: `${path}/:id`, handle: (call) => showWebhook(deps, call) });

  pageRoute(forms, deps.frame, {
    url: `${path}/:id/deliveries`,
    handle: async (call) => {
      const view = await viewOf(deps, call);
      // A part of a page: opened in a browser it redirects to the whole page.
      if (call.request.headers["hx-request"] !== "true") return { redirect: `${path}/${view.webhook.id}` };
      return feedFragment(view);
    },
  });

  webhookForms(forms, deps);
}
