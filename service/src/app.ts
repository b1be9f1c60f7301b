import type { FastifyInstance } from "fastify";
import { logMetrics } from "./evidence/transparency-log/transparency-log.ts";
import type { AppDeps, Features } from "./features.ts";
import { waitingUploadsOf } from "./firms/partners/partners.ts";
import { openWork } from "./jobs.ts";
import { boundConnections } from "./kernel/http/client-address.ts";
import { healthRoutes, refuseWhenOutdated } from "./kernel/http/health.ts";
import { openapi } from "./kernel/http/openapi/openapi.ts";
import { acceptPassedOn } from "./kernel/http/pass-on.ts";
import { openRateLimits, type RateLimits } from "./kernel/http/rate-limits.ts";
import { createServer } from "./kernel/http/server.ts";
import { ignoreMultipart, maxReservedBytes } from "./kernel/http/uploads/multipart.ts";
import { createUploadPlaces } from "./kernel/http/uploads/upload-places.ts";
import { readVersion } from "./kernel/version.ts";
import { webhooksSection } from "./outgoing/webhooks/webhooks.ts";
import { pageDepsOf } from "./pages/page-deps.ts";
import { openAssets, pages, unmatchedPage } from "./pages/pages.ts";
import { serviceGauges, serviceReadiness } from "./upkeep/monitoring.ts";

// Memory for eight of the largest uploads at once: five of firms with live access, and three of other firms. Further
// uploads are queued, and back-pressure pauses their senders.
const uploadSizes = {
  live: { total: 5 * maxReservedBytes, perHolder: 2 * maxReservedBytes },
  trial: { total: 3 * maxReservedBytes, perHolder: maxReservedBytes },
};

/** Creates the HTTP server with all routes. It does not listen yet. */
export async function createApp(deps: AppDeps, features: Features): Promise<FastifyInstance> {
  const { config, log } = deps.resources;
  const limits = await openRateLimits({ enabled: config.rateLimits, redisUrl: config.redisUrl }, (error) =>
    log.warn({ err: error }, "Redis does not answer; this node counts for itself"),
  );
  try {
    return await appWith(limits, deps, features);
  } catch (error) {
    // An open connection to Redis would keep the process running after a failed start.
    await limits.close();
    throw error;
  }
}

async function appWith(limits: RateLimits, deps: AppDeps, features: Features): Promise<FastifyInstance> {
  const { node, rules, sealing, signerAuthorities } = deps;
  const { config, db, clock, log } = deps.resources;
  const { metrics, isDraining } = node;
  const version = readVersion();
  const assets = await openAssets();
  const { baseUrl, trustProxy, connectionsPerAddress: perAddress, metricsToken } = config;
  const app = createServer({ log, metrics, baseUrl, trustProxy, unmatchedPage: unmatchedPage(assets) });
  acceptPassedOn(app, features.signing.notaries.own);
  const refused = metrics.counter("connections_refused_total", "Connections beyond CONNECTIONS_PER_ADDRESS.", []);
  boundConnections(app.server, { perAddress, unbounded: trustProxy, onRefused: () => refused.inc({}) });
  app.addHook("onClose", limits.close);
  refuseWhenOutdated(app, node.schemaWatch.isOutdated);
  const readiness = serviceReadiness(deps);
  const { mailer, ...work } = openWork(deps, features);
  app.addHook("onListen", work.start);
  app.addHook("onClose", work.stop);
  const dependencies = { readiness, limits, mailer, sealing };
  serviceGauges(metrics, { config, db, clock, version, dependencies, signerAuthorities });
  logMetrics(metrics, deps.transparencyLog);
  ignoreMultipart(app);
  await openapi(app, baseUrl, webhooksSection, limits.limit("page"));
  const http = {
    frame: { ...features.firms.callers, limits },
    uploadPlaces: createUploadPlaces({ ...uploadSizes, maxWaitingOf: waitingUploadsOf(rules.tierLimits) }),
  };
  await app.register(async (routes) => {
    healthRoutes(routes, { version, metrics, metricsToken, readiness, isDraining });
    for (const { wing } of Object.values(features)) await wing.routes?.(routes, http);
    const { outbox, workers } = node;
    const parts = { http, assets, readiness, outbox, workers, rules, sealing };
    await pages(routes, pageDepsOf(deps.resources, features, parts));
  });
  await app.ready();
  return app;
}
