import { hash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ServiceError } from "../platform/errors.ts";
import type { Metrics } from "../platform/metrics.ts";
import { isFromOwnMachine } from "./own-machine.ts";
import type { ReadReadiness } from "./readiness.ts";

export type HealthDeps = {
  version: string;
  metrics: Metrics;
  /** The token that lets other machines read the metrics; null when only the local machine may read them. */
  metricsToken: string | null;
  readiness: ReadReadiness;
  /** True once the node is about to stop. Load balancers then send it no more requests. */
  isDraining: () => boolean;
};

/** Routes for operators: liveness, readiness, metrics and version. */
export function healthRoutes(
  app: FastifyInstance,
  { version, metrics, metricsToken, readiness, isDraining }: HealthDeps,
): void {
  app.get("/healthz", { schema: { hide: true } }, async () => ({ status: "ok" }));
  app.get("/readyz", { schema: { hide: true } }, async (_request, reply) => {
    const { status, checks } = await readiness();
    const isReady = status !== "failed" && !isDraining();
    reply.code(isReady ? 200 : 503);
    return { status: isDraining() ? "draining" : status, checks };
  });
  app.get("/metrics", { schema: { hide: true } }, async (request, reply) => {
    if (!maySeeMetrics(request, metricsToken)) throw new ServiceError("not_found", "Not found.");
    reply.type(metrics.contentType);
    return metrics.render();
  });
  app.get("/api/version", { schema: { hide: true } }, async () => ({ version, interface: "1.0.0" }));
}

/** The routes that a node of an older release still serves after a newer release has migrated the database. */
const alwaysServed: ReadonlySet<string> = new Set(["/healthz", "/metrics"]);

/**
 * Refuses all requests except those of `alwaysServed` with a 503 once a newer release has migrated the database. Even
 * reads are refused, because they could be wrong: newer releases can write rows that this release doesn't understand.
 * Load balancers see that the node is not ready.
 */
export function refuseWhenOutdated(app: FastifyInstance, isOutdated: () => boolean): void {
  app.addHook("onRequest", async (request, reply) => {
    const { url } = request.routeOptions;
    if (!isOutdated() || alwaysServed.has(url ?? "")) return;
    if (url !== "/readyz")
      throw new ServiceError("unavailable", "The service is being upgraded. Try again in a moment.");
    reply.code(503);
    return reply.send({
      status: "failed",
      reason: "the database is of a newer release",
      checks: { schema: "failed" },
    });
  });
}

/**
 * Metrics reveal business volumes. Only a scraper on this machine (not through a proxy) or a holder of METRICS_TOKEN
 * may read them.
 */
function maySeeMetrics(request: FastifyRequest, token: string | null): boolean {
  const sent = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
  if (token !== null && sent !== undefined && timingSafeEqual(sha256(sent), sha256(token))) return true;
  return isFromOwnMachine(request);
}

const sha256 = (text: string): Buffer => hash("sha256", text, "buffer");
