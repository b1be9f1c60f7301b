import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { type FailingWebhook, failingWebhooks } from "../../../outgoing/webhooks/webhooks.ts";
import { notice } from "../../ui/components.ts";
import { plainTime } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";

const found = new WeakMap<FastifyRequest, readonly FailingWebhook[]>();

/** Looks up failing webhooks before a dashboard page is rendered. */
export function noteFailing(linked: FastifyInstance, deps: { db: Sql }): void {
  linked.addHook("preHandler", async (request) => {
    found.set(request, await failingWebhooks(deps, principalOf(request)));
  });
}

/**
 * The warning about webhooks with failing deliveries. Every dashboard page of a member shows it until a delivery
 * succeeds or the webhook is deleted.
 */
export function failingBanner(request: FastifyRequest): Html | "" {
  const failing = found.get(request) ?? [];
  if (failing.length === 0) return "";
  const links = failing.map(
    ({ id, url, since }) =>
      html`<a class="breakable" href="/dashboard/webhooks/${id}">${url}</a> since ${plainTime(since)}. `,
  );
  return notice("attention", "A webhook keeps failing", html`${links}Its events are not sent again by themselves.`);
}
