import type { FastifyInstance } from "fastify";
import { healthRoutes } from "./http/health.ts";
import { createMetrics } from "./http/metrics.ts";
import { acceptMultipart, maxUploadBytes } from "./http/multipart.ts";
import { openapi } from "./http/openapi.ts";
import { openRateLimits } from "./http/rate-limits.ts";
import { createServer } from "./http/server.ts";
import { createUploadMemory } from "./http/upload-memory.ts";
import { orderRoutes } from "./orders/orders.ts";
import { keyResolver } from "./partners/keys.ts";
import type { LastUse } from "./partners/last-use.ts";
import { partnerRoutes } from "./partners/routes.ts";
import type { VersionedPricing } from "./pricing/open-pricing.ts";
import type { Resources } from "./resources.ts";
import { pages } from "./web/pages.ts";

// Eight of the largest uploads at once; more wait their turn with the sender held back.
const uploadMemoryBytes = 8 * maxUploadBytes;

export type AppDeps = Resources & { version: string; lastUse: LastUse; pricing: VersionedPricing };

/** Wires everything into one server; listens nowhere yet. */
export async function createApp(deps: AppDeps): Promise<FastifyInstance> {
  const { config, log, db, blobs } = deps;
  const metrics = createMetrics();
  const limits = openRateLimits({ enabled: config.rateLimits, redisUrl: config.redisUrl }, (error) =>
    log.warn({ err: error }, "Redis does not answer; this node counts for itself"),
  );
  const app = createServer({ log, metrics, baseUrl: config.baseUrl, trustProxy: config.trustProxy });
  app.addHook("onClose", limits.close);
  await acceptMultipart(app);
  await openapi(app, config.baseUrl);
  const resolveKey = keyResolver(db, deps.lastUse);
  const probes = [
    { name: "database", check: async () => void (await db.rows("SELECT 1")) },
    { name: "blobs", check: blobs.probe },
  ];
  await app.register(async (routes) => {
    healthRoutes(routes, { version: deps.version, metrics, probes });
    partnerRoutes(routes, { resolveKey, limits });
    orderRoutes(routes, { ...deps, resolveKey, limits, uploadMemory: createUploadMemory(uploadMemoryBytes) });
    await pages(routes, { ...deps, limits });
  });
  await app.ready();
  return app;
}
