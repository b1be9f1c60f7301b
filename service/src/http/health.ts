import type { FastifyInstance } from "fastify";
import type { Metrics } from "../platform/metrics.ts";
import { openReadiness, type Probe } from "./readiness.ts";

export type HealthDeps = { version: string; metrics: Metrics; probes: Probe[] };

/** Operators' routes: process up, dependencies answer, measurements, version. */
export function healthRoutes(app: FastifyInstance, { version, metrics, probes }: HealthDeps): void {
  const readiness = openReadiness(probes, (probe, error) => app.log.error({ err: error, probe }, "not ready"));
  app.get("/healthz", { schema: { hide: true } }, async () => ({ status: "ok" }));
  app.get("/readyz", { schema: { hide: true } }, async (_request, reply) => {
    const { ready, checks } = await readiness();
    reply.code(ready ? 200 : 503);
    return { status: ready ? "ok" : "failed", checks };
  });
  app.get("/metrics", { schema: { hide: true } }, async (_request, reply) => {
    reply.type(metrics.contentType);
    return metrics.render();
  });
  app.get("/api/version", { schema: { hide: true } }, async () => ({ version, interface: "1.0.0" }));
}
