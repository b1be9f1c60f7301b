import type { FastifyInstance } from "fastify";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Log } from "../platform/logs.ts";
import type { Metrics } from "../platform/metrics.ts";
import { takeEvent } from "./processor/events.ts";
import { knownTypes } from "./processor/message.ts";
import type { Processor } from "./processor/processor.ts";

export type WebhookDeps = { db: Database; clock: Clock; log: Log; metrics: Metrics; processor: Processor | null };

const maxEventBytes = 1024 * 1024;

/**
 * Where the processor tells what became of a payment. The signature is over the exact bytes, so nothing parses them before. Every
 * event that is ours to answer is 200, also one that changes nothing; 400 for a bad signature; 5xx is sent again later.
 */
export async function processorWebhook(app: FastifyInstance, deps: WebhookDeps): Promise<void> {
  const { db, clock, log, processor } = deps;
  const counter = deps.metrics.counter(
    "processor_events_total",
    "Events of the payment processor, by what came of them.",
    ["type", "outcome"],
  );
  // In a room of its own: other routes keep their parsers.
  await app.register(async (room) => {
    room.removeAllContentTypeParsers();
    room.addContentTypeParser("*", { parseAs: "buffer", bodyLimit: maxEventBytes }, (_request, body, done) =>
      done(null, body),
    );

    room.post("/api/payments/stripe/webhook", { schema: { hide: true } }, async (request) => {
      if (!processor) throw new ServiceError("payments_not_configured", "Payments are not configured.");
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const signature = request.headers["stripe-signature"];
      const event = await processor
        .verify(body, typeof signature === "string" ? signature : undefined, clock())
        .catch((error: Error) => {
          counter.inc({ type: "other", outcome: "forged" });
          log.warn({ requestId: request.id, reason: error.message }, "an event's signature does not hold");
          throw error;
        });
      const { livemode } = processor;
      const options = { at: clock(), log, actor: "processor", simulated: false, livemode } as const;
      const { outcome } = await db.transaction((tx) => takeEvent(tx, event, options));
      counter.inc({ type: knownTypes.has(event.type) ? event.type : "other", outcome });
      return { received: true };
    });
  });
}
