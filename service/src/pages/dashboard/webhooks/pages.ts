import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { listSubscriptions, subscribe, topicsField, urlField } from "../../../outgoing/webhooks/webhooks.ts";
import { done } from "../../ui/flash-messages.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { dashboardPage } from "../page-shell.ts";
import { requireSameEnvironment, submissionFor, submitOnce } from "../submit-once.ts";
import { decidersFor } from "./deciders.ts";
import { deliveryPages } from "./delivery-pages.ts";
import { webhookDetailPage } from "./detail-page.ts";
import { chosenTopics, type WebhooksView, webhooksBody } from "./list.ts";
import { secretPage } from "./secret.ts";
import type { WebhookPagesDeps } from "./show-webhook.ts";

const path = "/dashboard/webhooks";

/** The list of the firm's webhooks, the form for a new one, and each webhook's own page. */
export function webhookPages(forms: FastifyInstance, deps: WebhookPagesDeps): void {
  pageRoute(forms, deps.frame, { url: path, handle: ({ request }) => show(request) });

  pageRoute(forms, deps.frame, {
    method: "POST",
    url: path,
    handle: async ({ form, request }) => {
      requireSameEnvironment(request, form["environment"]);
      const body = { url: form["url"], topics: chosenTopics(form) };
      const { made } = await submitOnce(deps.webhooks.subscriptions, request, {
        fields: new Map(Object.entries(form)),
        make: () => subscribe(deps.webhooks.subscriptions, principalOf(request), urlField(body), topicsField(body)),
        nameOf: ({ id }) => id,
      });
      if (!made) return done(path, "webhook-there");
      return secretPage(deps.frame, request, { ...made, previousSecretExpiresAt: null });
    },
    // Of the boxes of this form none is unknown: they are refused when none is ticked.
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
