import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import type { ColumnCipher } from "../../../platform/column-cipher.ts";
import { ServiceError } from "../../../platform/errors.ts";
import {
  type DeliveryDeps,
  deliveryFeed,
  type ExchangeDeps,
  oneDelivery,
  oneSubscription,
  readPublicKey,
  replayDelivery,
  replayFailed,
  rotateSecret,
  type SubscriptionDeps,
  sendTest,
  unsubscribe,
} from "../../../webhooks/webhooks.ts";
import type { Assets } from "../../ui/assets.ts";
import { done } from "../../ui/flash-messages.ts";
import { type PageCall, pageRoute } from "../../ui/page-route.ts";
import { dashboardPage } from "../page-shell.ts";
import { submissionFor, submitOnce } from "../submit-once.ts";
import { decidersFor } from "./deciders.ts";
import { feedFragment, type WebhookView, webhookBody } from "./detail.ts";
import { secretPage } from "./secret.ts";
import { isPeriod, periods } from "./words.ts";

export type WebhookPagesDeps = SubscriptionDeps &
  DeliveryDeps &
  ExchangeDeps & { keyCipher: ColumnCipher; assets: Assets; limits: RateLimits };

const path = "/dashboard/webhooks";

/** One webhook, with what can be done to it. */
export function webhookDetailPage(forms: FastifyInstance, deps: WebhookPagesDeps): void {
  pageRoute(forms, deps, {
    url: `${path}/:id`,
    handle: async (call) => {
      const { request } = call;
      const body = webhookBody({ ...(await viewOf(call)), ...submissionFor(request) });
      const scripts = ["htmx.js", "copy.js"] as const;
      return dashboardPage(deps, request, { title: "Webhook", section: "webhooks", body, scripts });
    },
  });

  pageRoute(forms, deps, {
    url: `${path}/:id/deliveries`,
    handle: async (call) => {
      const view = await viewOf(call);
      // A part of a page: opened in a browser it redirects to the whole page.
      if (call.request.headers["hx-request"] !== "true") return { redirect: `${path}/${view.webhook.id}` };
      return feedFragment(view);
    },
  });

  webhookForms(forms, deps);

  async function viewOf({ params: { id }, query, request }: PageCall<{ id: string }>): Promise<WebhookView> {
    const principal = principalOf(request);
    const [webhook, { deliveries }, deciders, { publicKey }] = await Promise.all([
      oneSubscription(deps, principal, id),
      deliveryFeed(deps, principal, id),
      decidersFor(deps, principal),
      readPublicKey(deps, principal),
    ]);
    return { webhook, deliveries, deciders, publicKey, showAll: query["all"] === "1" };
  }
}

function webhookForms(forms: FastifyInstance, deps: WebhookPagesDeps): void {
  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/:id/test`,
    handle: async ({ params: { id }, request }) => {
      await sendTest(deps, principalOf(request), id);
      return done(`${path}/${id}#deliveries`, "webhook-tested");
    },
  });

  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/:id/replay-failed`,
    handle: async ({ params: { id }, form: { period = "" }, request }) => {
      const since = new Date(deps.clock().getTime() - periods[isPeriod(period) ? period : "day"].ms);
      const { replayed, left } = await replayFailed(deps, principalOf(request), id, since);
      if (replayed === 0) return done(`${path}/${id}#deliveries`, "nothing-failed");
      return done(`${path}/${id}#deliveries`, left > 0 ? "failed-replayed-partly" : "failed-replayed");
    },
  });

  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/:id/rotate`,
    handle: async ({ params, form, request }) => {
      const principal = principalOf(request);
      const { id, url } = await oneSubscription(deps, principal, params.id);
      const { made } = await submitOnce(deps, request, {
        fields: new Map([...Object.entries(form), ["id", id]]),
        make: () => rotateSecret(deps, principal, id),
        nameOf: () => id,
      });
      if (!made) return done(`${path}/${id}`, "webhook-rotated-before");
      const { secret, previousSecretExpiresAt } = made;
      return secretPage(deps, request, {
        id,
        url,
        secret,
        previousSecretExpiresAt: new Date(previousSecretExpiresAt),
      });
    },
  });

  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/:id/delete`,
    handle: async ({ params: { id }, request }) => {
      await unsubscribe(deps, principalOf(request), id);
      return done(path, "webhook-deleted");
    },
  });

  pageRoute(forms, deps, {
    method: "POST",
    url: `${path}/:id/deliveries/:deliveryId/replay`,
    handle: async ({ params: { id, deliveryId }, request }) => {
      const principal = principalOf(request);
      const { webhookId } = await oneDelivery(deps, principal, deliveryId);
      if (webhookId !== id) throw new ServiceError("not_found", "No such delivery.");
      await replayDelivery(deps, principal, deliveryId);
      return done(`${path}/${id}#deliveries`, "delivery-replayed");
    },
  });
}
