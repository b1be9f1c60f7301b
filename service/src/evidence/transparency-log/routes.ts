import type { FastifyInstance, FastifyReply, onRequestHookHandler } from "fastify";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { anchorsOf, listedRoots } from "./anchored.ts";
import { rootIntervalMs } from "./hourly-roots.ts";
import { publishedCheckpoint, publishedTile } from "./published.ts";
import { isLogName, type LogName } from "./trees.ts";
import { selectPolicy } from "./witness-store.ts";

export type LogRouteDeps = {
  db: Sql;
  clock: Clock;
  limits: RateLimits;
  /** Returns the published policy of the live log, which lists its witnesses; null for none. */
  policy: () => Promise<string | null>;
  /** The shortest time between two anchored checkpoints of the live log. The last one of an ended log doesn't wait. */
  rootIntervalMs: number;
};

/**
 * Publishes the logs by C2SP tlog-tiles (`/log/{live|test}/checkpoint` and tiles), with the time stamps of checkpoints
 * and the policy of the live log. Anybody may read and mirror them. Logs that have ended stay published. The log after
 * `live` is at `/log/live-2`.
 */
export function logRoutes(app: FastifyInstance, deps: LogRouteDeps): void {
  const { db, clock, limits, policy } = deps;
  const shown = { schema: { hide: true }, onRequest: [uncachedUntilFound, limits.limit("log")] };
  app.get<{ Params: { log: string } }>("/log/:log/checkpoint", shown, async (request, reply) => {
    const checkpoint = await publishedCheckpoint(db, named(request.params), clock());
    if (checkpoint === null) throw notFound();
    return forAll(reply, "max-age=1").type("text/plain; charset=utf-8").send(checkpoint);
  });
  app.get<{ Params: { log: string; "*": string } }>("/log/:log/tile/*", shown, async (request, reply) => {
    const bytes = await publishedTile(db, named(request.params), `tile/${request.params["*"]}`);
    if (!bytes) throw notFound();
    // A partial tile may be cached forever too: a wider version has another path, and the service keeps serving each
    // width.
    return forAll(reply, unchanging).type("application/octet-stream").send(bytes);
  });
  app.get<{ Params: { log: string } }>("/log/:log/anchors", shown, async (request, reply) => {
    const log = named(request.params);
    return forAll(reply, "max-age=60").send(await listedRoots(db, log, rootIntervalMs(log, deps.rootIntervalMs)));
  });
  app.get<{ Params: { log: string; size: string } }>("/log/:log/anchors/:size", shown, async (request, reply) => {
    const { size } = request.params;
    const log = named(request.params);
    const anchors = /^[1-9]\d{0,14}$/.test(size) ? await anchorsOf(db, log, Number(size)) : null;
    if (anchors === null) throw new ServiceError("not_found", "The log has no anchored checkpoint of this size.");
    return forAll(reply, "max-age=60").send(anchors);
  });
  app.get("/log/live/policy", shown, async (_request, reply) => {
    const published = await policy();
    if (published === null) throw new ServiceError("not_found", "The log has no witnesses, and so no policy.");
    return forAll(reply, "max-age=60").type("text/plain; charset=utf-8").send(published);
  });
  app.get<{ Params: { sha256: string } }>("/log/live/policy/:sha256", shown, async (request, reply) => {
    const { sha256 } = request.params;
    const published = /^[0-9a-f]{64}$/.test(sha256) ? await selectPolicy(db, "live", sha256) : null;
    if (published === null) throw new ServiceError("not_found", "The log had no such policy.");
    return forAll(reply, unchanging).type("text/plain; charset=utf-8").send(published);
  });
}

/**
 * Keeps error answers out of shared caches. Anybody could ask for the log's next tile before it is published. If a
 * cache kept that 404, monitors would later report that the log hides the tile.
 */
export const uncachedUntilFound: onRequestHookHandler = (_request, reply, done) => {
  forAll(reply, "no-store");
  done();
};

const unchanging = "public, max-age=31536000, immutable";

function named({ log }: { log: string }): LogName {
  if (!isLogName(log)) throw notFound();
  return log;
}

const notFound = (): ServiceError => new ServiceError("not_found", "The log has no such tile or checkpoint.");

const forAll = (reply: FastifyReply, caching: string): FastifyReply =>
  reply.headers({ "Cache-Control": caching, "Access-Control-Allow-Origin": "*" });
