import type { FastifyInstance } from "fastify";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { Metrics } from "../../kernel/platform/metrics.ts";
import { isProviderName } from "../names.ts";
import type { Providers } from "../open.ts";

export type ProviderWebhookDeps = { providers: Providers; log: Log; metrics: Metrics };

const maxEventBytes = 1024 * 1024;

/**
 * Receives providers' events, such as those about parcels, letters and faxes. The signature covers the exact bytes, so
 * no parser runs before it is verified. A signed event gets a 200 once the service has stored it, even if it is
 * repeated or irrelevant; a job applies it later.
 *
 * An event with an invalid signature gets a 400, and is counted and logged, but not stored. A provider without an
 * account or without a secret for events gets a 404.
 */
export async function providerWebhook(
  app: FastifyInstance,
  { providers, log, metrics }: ProviderWebhookDeps,
): Promise<void> {
  const counter = metrics.counter("provider_events_total", "Events of providers that came in.", [
    "provider",
    "outcome",
  ]);
  // The webhook route has its own Fastify scope, so that other routes keep their parsers.
  await app.register(async (room) => {
    room.removeAllContentTypeParsers();
    room.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: maxEventBytes }, (_request, body, done) =>
      done(null, body),
    );

    room.post<{ Params: { provider: string } }>(
      "/api/providers/:provider/webhook",
      { schema: { hide: true } },
      async (request) => {
        const { provider } = request.params;
        if (!isProviderName(provider) || !providers.acceptsEvents(provider))
          throw new ServiceError("not_found", "No such provider is configured.");
        const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const received = await providers.acceptEvent(provider, raw, request.headers);
        counter.inc({ provider, outcome: received.outcome });
        if (received.outcome === "forged") {
          log.warn({ requestId: request.id, provider, reason: received.why }, "an event's signature does not hold");
          throw invalid("The signature does not verify.");
        }
        return { received: true };
      },
    );
  });
}
