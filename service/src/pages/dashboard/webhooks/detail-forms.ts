import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import {
  makePublicKey,
  oneDelivery,
  oneSubscription,
  replayDelivery,
  replayFailed,
  rotateSecret,
  sendTest,
  unsubscribe,
} from "../../../outgoing/webhooks/webhooks.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { done } from "../flash-messages.ts";
import { doOnce, submitOnce } from "../submit-once.ts";
import { secretPage } from "./secret.ts";
import { restOf, showWebhook, type WebhookPagesDeps } from "./show-webhook.ts";
import { isPeriod, periods } from "./words.ts";

const path = "/dashboard/webhooks";

/** The actions on one webhook. */
export function webhookForms(forms: FastifyInstance, deps: WebhookPagesDeps): void {
  pageRoute(forms, deps.frame, {
    method: "POST",
    url: `${path}/:id/public-key`,
    handle: async ({ params: { id }, request }) => {
      const principal = principalOf(request);
      await oneSubscription(deps.webhooks.subscriptions, principal, id);
      await makePublicKey(deps.webhooks.publicKeys, principal);
      return done(`${path}/${id}#public-key`, "webhook-key-made");
    },
  });

  pageRoute(forms, deps.frame, {
    method: "POST",
    url: `${path}/:id/rotate`,
    handle: async ({ params, form, request }) => {
      const principal = principalOf(request);
      const { id, url } = await oneSubscription(deps.webhooks.subscriptions, principal, params.id);
      const { created } = await submitOnce(deps.webhooks.subscriptions, request, {
        fields: new Map([...Object.entries(form), ["id", id]]),
        make: () => rotateSecret(deps.webhooks.subscriptions, principal, id),
        nameOf: () => id,
      });
      if (!created) return done(`${path}/${id}`, "webhook-rotated-before");
      const { secret, previousSecretExpiresAt } = created;
      return secretPage(deps.frame, request, {
        id,
        url,
        secret,
        previousSecretExpiresAt: new Date(previousSecretExpiresAt),
      });
    },
  });

  pageRoute(forms, deps.frame, {
    method: "POST",
    url: `${path}/:id/delete`,
    handle: async ({ params: { id }, request }) => {
      await unsubscribe(deps.webhooks.subscriptions, principalOf(request), id);
      return done(path, "webhook-deleted");
    },
  });

  deliveryForms(forms, deps);
}

/**
 * Adds three forms: one sends a test event, one sends the failed deliveries of a period again, and one sends a single
 * delivery again.
 */
function deliveryForms(forms: FastifyInstance, deps: WebhookPagesDeps): void {
  pageRoute(forms, deps.frame, {
    method: "POST",
    url: `${path}/:id/test`,
    handle: doOnce(deps.webhooks.subscriptions, async ({ params: { id }, request }) => {
      await sendTest(deps.webhooks.deliveries, principalOf(request), id);
      return done(`${path}/${id}#deliveries`, "webhook-tested");
    }),
  });

  pageRoute(forms, deps.frame, {
    method: "POST",
    url: `${path}/:id/replay-failed`,
    handle: doOnce(deps.webhooks.subscriptions, async ({ params: { id }, form, request }) => {
      const since = form["since"] ?? sinceOf(form["period"] ?? "").toISOString();
      const { replayed, left, until } = await replayFailed(deps.webhooks.deliveries, principalOf(request), id, {
        ...form,
        since,
      });
      if (left > 0)
        return done(`${path}/${id}?${new URLSearchParams({ since, until })}#failed`, "failed-replayed-partly");
      return done(`${path}/${id}#deliveries`, replayed === 0 ? "nothing-failed" : "failed-replayed");
    }),
    refused: (call, error) => showWebhook(deps, call, { rest: restOf(call.form), error }),
  });

  pageRoute(forms, deps.frame, {
    method: "POST",
    url: `${path}/:id/deliveries/:deliveryId/replay`,
    handle: doOnce(deps.webhooks.subscriptions, async ({ params: { id, deliveryId }, request }) => {
      const principal = principalOf(request);
      const { webhookId } = await oneDelivery(deps.webhooks.deliveries, principal, deliveryId);
      if (webhookId !== id) throw new ServiceError("not_found", "No such delivery.");
      await replayDelivery(deps.webhooks.deliveries, principal, deliveryId);
      return done(`${path}/${id}#deliveries`, "delivery-replayed");
    }),
  });

  function sinceOf(period: string): Date {
    return new Date(deps.webhooks.deliveries.clock().getTime() - periods[isPeriod(period) ? period : "day"].ms);
  }
}
