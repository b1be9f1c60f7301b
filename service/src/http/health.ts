import type { FastifyInstance } from "fastify";
import type { Metrics } from "../platform/metrics.ts";
import { endsWithin } from "../platform/work/grace.ts";

/** One dependency that `/readyz` asks; rejects when it does not answer. */
export type Probe = { name: string; check: () => Promise<void> };

/** A dependency that answers no sooner is as good as away. */
const probeMs = 2_000;

export type HealthDeps = { version: string; metrics: Metrics; probes: Probe[] };

/** Operators' routes: process up, dependencies answer, measurements, version. */
export function healthRoutes(app: FastifyInstance, { version, metrics, probes }: HealthDeps): void {
  app.get("/healthz", { schema: { hide: true } }, async () => ({ status: "ok" }));
  app.get("/readyz", { schema: { hide: true } }, async (request, reply) => {
    const results = await Promise.all(
      probes.map(async ({ name, check }) => {
        try {
          if (!(await endsWithin(check(), probeMs))) throw new Error(`no answer within ${probeMs} ms`);
          return [name, "ok"] as const;
        } catch (error) {
          request.log.error({ err: error, probe: name }, "not ready");
          return [name, "failed"] as const;
        }
      }),
    );
    const ready = results.every(([, result]) => result === "ok");
    reply.code(ready ? 200 : 503);
    return { status: ready ? "ok" : "failed", checks: Object.fromEntries(results) };
  });
  app.get("/metrics", { schema: { hide: true } }, async (_request, reply) => {
    reply.type(metrics.contentType);
    return metrics.render();
  });
  app.get("/api/version", { schema: { hide: true } }, async () => ({ version, interface: "1.0.0" }));
}
