import type { FastifyInstance } from "fastify";
import { invalid, ServiceError } from "../../platform/errors.ts";
import type { Log } from "../../platform/logs.ts";
import type { Metrics } from "../../platform/metrics.ts";
import { isProviderName } from "../names.ts";
import type { Providers } from "../open.ts";

export type ProviderWebhookDeps = { providers: Providers; log: Log; metrics: Metrics };

const maxEventBytes = 1024 * 1024;

/**
 * Where providers tell what became of a parcel, a letter or a fax. The signature is over the exact bytes, so nothing parses them
 * before. A signed event is 200 as soon as it is on record, also one that is known already or means nothing; a job works on it. 400
 * for a bad signature, of which nothing is kept but a count; 404 for a provider without an account.
 */
export async function providerWebhook(
  app: FastifyInstance,
  { providers, log, metrics }: ProviderWebhookDeps,
): Promise<void> {
  const counter = metrics.counter("provider_events_total", "Events of providers that came in.", [
    "provider",
    "outcome",
  ]);
  // In a room of its own: other routes keep their parsers.
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
        if (!isProviderName(provider) || !providers.takesEvents(provider))
          throw new ServiceError("not_found", "No such provider is configured.");
        const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
        const taken = await providers.takeEvent(provider, raw, request.headers);
        counter.inc({ provider, outcome: taken.outcome });
        if (taken.outcome === "forged") {
          log.warn({ requestId: request.id, provider, reason: taken.why }, "an event's signature does not hold");
          throw invalid("The signature does not verify.");
        }
        return { received: true };
      },
    );
  });
}
