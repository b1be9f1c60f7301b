import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { principalOf } from "../../../http/authentication.ts";
import { ServiceError } from "../../../platform/errors.ts";
import {
  type DeliveryDeps,
  deliveryFeed,
  listSubscriptions,
  oneDelivery,
  oneSubscription,
  replayDelivery,
  rotateSecret,
  type SubscriptionDeps,
  sendTest,
  subscribe,
  topicsField,
  unsubscribe,
  urlField,
} from "../../../webhooks/webhooks.ts";
import type { Assets } from "../../ui/assets.ts";
import { formBody } from "../../ui/forms/fields.ts";
import { formHeaders, htmlType } from "../../ui/page-headers.ts";
import { attempt, done, sendPage } from "../page-shell.ts";
import { creating, requireSameEnvironment, submitOnce } from "../submit-once.ts";
import { chosenTopics, type WebhooksView, webhooksBody } from "./body.ts";
import { feedFragment, webhookBody } from "./one.ts";
import { type NewSecret, secretBody } from "./secret.ts";

export type WebhookPagesDeps = SubscriptionDeps & DeliveryDeps & { assets: Assets };

type WebhookPath = { Params: { id: string } };
type WebhookLook = WebhookPath & { Querystring: { all?: unknown } };
type DeliveryPath = { Params: { id: string; deliveryId: string } };

const path = "/dashboard/webhooks";
const hidden = { schema: { hide: true } };
const section = "webhooks";

/** The firm's webhooks and what became of their deliveries. */
export function webhookPages(forms: FastifyInstance, deps: WebhookPagesDeps): void {
  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    problem: Pick<WebhooksView, "error" | "typed"> = {},
  ) {
    const webhooks = await listSubscriptions(deps, principalOf(request));
    const body = webhooksBody({ ...creating(request, problem.typed), webhooks, ...problem });
    return sendPage(deps, request, reply, { title: "Webhooks", section, body });
  }

  /** Once, in the answer of what made it: no page leads to it, and no cache keeps it. */
  const showSecret = (request: FastifyRequest, reply: FastifyReply, secret: NewSecret) =>
    sendPage(deps, request, reply, {
      title: "Signing secret",
      section,
      body: secretBody(secret),
      scripts: ["copy.js"],
    });

  async function viewOf(request: FastifyRequest<WebhookLook>) {
    const principal = principalOf(request);
    const { id } = request.params;
    const [webhook, { deliveries }] = await Promise.all([
      oneSubscription(deps, principal, id),
      deliveryFeed(deps, principal, id),
    ]);
    return { webhook, deliveries, showAll: request.query.all === "1" };
  }

  forms.get(path, hidden, (request, reply) => show(request, reply));

  forms.post(path, hidden, (request, reply) => {
    const typed = formBody(request.body);
    return attempt(
      reply,
      async () => {
        requireSameEnvironment(request, typed["environment"]);
        const body = { url: typed["url"], topics: chosenTopics(typed) };
        const { made } = await submitOnce(deps, request, {
          fields: new Map(Object.entries(typed)),
          make: () => subscribe(deps, principalOf(request), urlField(body), topicsField(body)),
          nameOf: ({ id }) => id,
        });
        if (!made) return done(reply, path, "webhook-there");
        return showSecret(request, reply, { ...made, previousSecretExpiresAt: null });
      },
      // Of the boxes of this form none is unknown: they are refused when none is ticked.
      (error) => show(request, reply, { error: error.replace(/^topics must.*$/, "Choose at least one topic."), typed }),
    );
  });

  forms.get<WebhookLook>(`${path}/:id`, hidden, async (request, reply) => {
    const body = webhookBody({ ...(await viewOf(request)), ...creating(request) });
    return sendPage(deps, request, reply, { title: "Webhook", section, body, scripts: ["htmx.js", "copy.js"] });
  });

  forms.get<WebhookLook>(`${path}/:id/deliveries`, hidden, async (request, reply) => {
    const view = await viewOf(request);
    reply.headers(formHeaders);
    // Not a page: whoever opens this address by hand gets the one that it is a part of.
    if (request.headers["hx-request"] !== "true") return reply.redirect(`${path}/${view.webhook.id}`, 303);
    return reply.type(htmlType).send(feedFragment(view));
  });

  forms.post<WebhookPath>(`${path}/:id/test`, hidden, async (request, reply) => {
    await sendTest(deps, principalOf(request), request.params.id);
    return done(reply, `${path}/${request.params.id}#deliveries`, "webhook-tested");
  });

  forms.post<WebhookPath>(`${path}/:id/rotate`, hidden, async (request, reply) => {
    const principal = principalOf(request);
    const { id, url } = await oneSubscription(deps, principal, request.params.id);
    const { made } = await submitOnce(deps, request, {
      fields: new Map([...Object.entries(formBody(request.body)), ["id", id]]),
      make: () => rotateSecret(deps, principal, id),
      nameOf: () => id,
    });
    if (!made) return done(reply, `${path}/${id}`, "webhook-rotated-before");
    const { secret, previousSecretExpiresAt } = made;
    return showSecret(request, reply, { id, url, secret, previousSecretExpiresAt: new Date(previousSecretExpiresAt) });
  });

  forms.post<WebhookPath>(`${path}/:id/delete`, hidden, async (request, reply) => {
    await unsubscribe(deps, principalOf(request), request.params.id);
    return done(reply, path, "webhook-deleted");
  });

  forms.post<DeliveryPath>(`${path}/:id/deliveries/:deliveryId/replay`, hidden, async (request, reply) => {
    const { id, deliveryId } = request.params;
    const principal = principalOf(request);
    const { webhookId } = await oneDelivery(deps, principal, deliveryId);
    if (webhookId !== id) throw new ServiceError("not_found", "No such delivery.");
    await replayDelivery(deps, principal, deliveryId);
    return done(reply, `${path}/${id}#deliveries`, "delivery-replayed");
  });
}
