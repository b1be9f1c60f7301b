import { principalOf } from "../../../kernel/http/authentication.ts";
import {
  deliveryFeed,
  oneSubscription,
  readPublicKey,
  type WebhooksDeps,
} from "../../../outgoing/webhooks/webhooks.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import type { PageCall } from "../../ui/page/route.ts";
import { type DashboardFrame, dashboardPage } from "../page-shell.ts";
import { submissionFor } from "../submit-once.ts";
import { decidersFor } from "./deciders.ts";
import { type Rest, type WebhookView, webhookBody } from "./detail.ts";

export type WebhookPagesDeps = { frame: DashboardFrame; webhooks: WebhooksDeps };

type Call = PageCall<{ id: string }>;

/**
 * The period whose failed deliveries a replay left out, from the parameters of the URL or the form. Null when they
 * contain none.
 */
export function restOf({ since = "", until = "" }: FormValues): Rest | null {
  const isTime = (text: string) => !Number.isNaN(Date.parse(text));
  return isTime(since) && isTime(until) ? { since, until } : null;
}

export async function viewOf(
  deps: WebhookPagesDeps,
  { params: { id }, query, form, request }: Call,
  more: Pick<WebhookView, "rest" | "error"> = { rest: restOf(query) },
): Promise<WebhookView> {
  const principal = principalOf(request);
  const [webhook, { deliveries }, deciders, key] = await Promise.all([
    oneSubscription(deps.webhooks.subscriptions, principal, id),
    deliveryFeed(deps.webhooks.deliveries, principal, id),
    decidersFor(deps.webhooks.subscriptions, principal),
    readPublicKey(deps.webhooks.publicKeys, principal),
  ]);
  const publicKey = key?.publicKey ?? null;
  const { submission } = submissionFor(request, form);
  return { submission, webhook, deliveries, deciders, publicKey, showAll: query["all"] === "1", ...more };
}

/** The page of one webhook. */
export async function showWebhook(
  deps: WebhookPagesDeps,
  call: Call,
  more?: Pick<WebhookView, "rest" | "error">,
): Promise<string> {
  const { request } = call;
  const body = webhookBody(await viewOf(deps, call, more));
  const scripts = ["htmx.js", "copy.js"] as const;
  return dashboardPage(deps.frame, request, { title: "Webhook", section: "webhooks", body, scripts });
}
