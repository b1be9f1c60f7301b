import type { FastifyInstance, FastifyReply } from "fastify";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { publishedTile } from "./published.ts";
import { logs, selectNewestCheckpoint } from "./store.ts";

export type LogRouteDeps = { db: Sql; limits: RateLimits };

/** The logs as C2SP tlog-tiles has them: `/log/{live|test}/checkpoint` and tiles. Anybody may read and mirror them. */
export function logRoutes(app: FastifyInstance, { db, limits }: LogRouteDeps): void {
  for (const log of logs) {
    const schema = { hide: true };
    const onRequest = limits.limit("log");
    app.get(`/log/${log}/checkpoint`, { schema, onRequest }, async (_request, reply) => {
      const newest = await selectNewestCheckpoint(db, log);
      if (!newest) throw notFound();
      return forAll(reply, "max-age=1").type("text/plain; charset=utf-8").send(newest.note);
    });
    app.get<{ Params: { "*": string } }>(`/log/${log}/tile/*`, { schema, onRequest }, async (request, reply) => {
      const bytes = await publishedTile(db, log, `tile/${request.params["*"]}`);
      if (!bytes) throw notFound();
      // A partial tile never changes, too: the service serves each of its widths for ever.
      return forAll(reply, "public, max-age=31536000, immutable").type("application/octet-stream").send(bytes);
    });
  }
}

const notFound = (): ServiceError => new ServiceError("not_found", "The log has no such tile or checkpoint.");

const forAll = (reply: FastifyReply, caching: string): FastifyReply =>
  reply.headers({ "Cache-Control": caching, "Access-Control-Allow-Origin": "*" });
