import { principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import type { ColumnCipher } from "../../../platform/column-cipher.ts";
import {
  type DeliveryDeps,
  deliveryFeed,
  type ExchangeDeps,
  oneSubscription,
  readPublicKey,
  type SubscriptionDeps,
} from "../../../webhooks/webhooks.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import type { PageCall } from "../../ui/page/route.ts";
import { dashboardPage } from "../page-shell.ts";
import { submissionFor } from "../submit-once.ts";
import { decidersFor } from "./deciders.ts";
import { type Rest, type WebhookView, webhookBody } from "./detail.ts";

export type WebhookPagesDeps = SubscriptionDeps &
  DeliveryDeps &
  ExchangeDeps & { keyCipher: ColumnCipher; assets: Assets; limits: RateLimits };

type Call = PageCall<{ id: string }>;

/** What is left of a replay, as an address or a form names it; null where it names none. */
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
    oneSubscription(deps, principal, id),
    deliveryFeed(deps, principal, id),
    decidersFor(deps, principal),
    readPublicKey(deps, principal),
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
  return dashboardPage(deps, request, { title: "Webhook", section: "webhooks", body, scripts });
}
