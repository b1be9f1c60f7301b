import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { principalOf } from "../../http/authentication.ts";
import { ServiceError } from "../../platform/errors.ts";
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
} from "../../webhooks/webhooks.ts";
import type { Assets } from "../assets.ts";
import { formBody } from "../form-parts.ts";
import { formHeaders, htmlType } from "../page-headers.ts";
import { attempt, done, sendPage } from "./kit.ts";
import { chosenTopics, type WebhooksView, webhooksBody } from "./webhooks-body.ts";
import { feedFragment, webhookBody } from "./webhooks-one.ts";
import { type NewSecret, secretBody } from "./webhooks-secret.ts";

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
    const principal = principalOf(request);
    const webhooks = await listSubscriptions(deps, principal);
    const body = webhooksBody({ environment: principal.environment, webhooks, ...problem });
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
        const body = { url: typed["url"], topics: chosenTopics(typed) };
        const webhook = await subscribe(deps, principalOf(request), urlField(body), topicsField(body));
        return showSecret(request, reply, { ...webhook, previousSecretExpiresAt: null });
      },
      // Of the boxes of this form none is unknown: they are refused when none is ticked.
      (error) => show(request, reply, { error: error.replace(/^topics must.*$/, "Choose at least one topic."), typed }),
    );
  });

  forms.get<WebhookLook>(`${path}/:id`, hidden, async (request, reply) => {
    const body = webhookBody(await viewOf(request));
    return sendPage(deps, request, reply, { title: "Webhook", section, body, scripts: ["htmx.js", "copy.js"] });
  });

  forms.get<WebhookLook>(`${path}/:id/deliveries`, hidden, async (request, reply) =>
    reply
      .type(htmlType)
      .headers(formHeaders)
      .send(feedFragment(await viewOf(request))),
  );

  forms.post<WebhookPath>(`${path}/:id/test`, hidden, async (request, reply) => {
    await sendTest(deps, principalOf(request), request.params.id);
    return done(reply, `${path}/${request.params.id}#deliveries`, "webhook-tested");
  });

  forms.post<WebhookPath>(`${path}/:id/rotate`, hidden, async (request, reply) => {
    const principal = principalOf(request);
    const { url } = await oneSubscription(deps, principal, request.params.id);
    const { id, secret, previousSecretExpiresAt } = await rotateSecret(deps, principal, request.params.id);
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
