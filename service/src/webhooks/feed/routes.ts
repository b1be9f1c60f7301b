import type { FastifyInstance, FastifyReply } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../http/authentication.ts";
import { jsonRoute, optionalText, type RouteDeps } from "../../http/route.ts";
import { type FeedDeps, readFeed } from "./feed.ts";
import { EventFeed } from "./schemas.ts";
import { createWaiters } from "./waiters.ts";

const common = { tag: "Webhooks", caller: "key-or-session", policy: "partner-portal", scope: "read" } as const;

const query = Type.Object({
  cursor: optionalText("`cursor` of the answer before; `latest` for what comes from now on; left out: from the first."),
  limit: optionalText("1 to 100, default 50; values outside are clamped."),
  topics: optionalText("Topics, separated by commas; left out: all."),
  wait: optionalText("Seconds to wait for an event when there is none, at most 25; default 0."),
});

/** What webhooks tell, without one: for a laptop, and to fill in what a receiver missed. */
export function feedRoutes(app: FastifyInstance, deps: Omit<FeedDeps, "waiters"> & RouteDeps): void {
  const waiters = createWaiters();
  app.addHook("preClose", async () => waiters.stop());
  jsonRoute(app, deps, {
    ...common,
    method: "GET",
    url: "/api/partner/events",
    operationId: "listEvents",
    summary: "List events",
    description:
      "Your events with their payloads, oldest first; no webhook is needed. Every event of your firm in the key's environment has a place in one chain, from 1 without a gap: the `n` of a delivery's " +
      "`Service-Chain` is `position` here. Pass the `cursor` of each answer to the next call and nothing is missed. `payload` is " +
      "built from today's records, as a replay is; it is null when the record is gone.",
    query,
    answer: EventFeed,
    refusals: { 400: "cursor is not one that this list has given." },
    async handle(request, reply) {
      const feed = await readFeed({ ...deps, waiters }, principalOf(request), request.query, closed(reply));
      return { ...feed, requestId: request.id };
    },
  });
}

/** Aborts when the caller hangs up. */
function closed(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once("close", () => controller.abort());
  return controller.signal;
}
