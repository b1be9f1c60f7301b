import { hash } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { clientNetwork, clientSite } from "../platform/network.ts";
import { clientAddress } from "./client-address.ts";
import { HttpError } from "./errors/http-error.ts";

/**
 * The rate limits of the contract (Limits), each in a fixed window. `sign-in`, `page`, `log` and `bad-key` are not in
 * the contract; the service adds them.
 */
export const policies = {
  "partner-write": { points: 60, seconds: 60 },
  "public-read": { points: 30, seconds: 60 },
  "partner-request": { points: 5, seconds: 3600 },
  "public-write": { points: 12, seconds: 60 },
  "partner-portal": { points: 120, seconds: 60 },
  "sign-in": { points: 10, seconds: 900 },
  page: { points: 240, seconds: 60 },
  // A higher limit, because mirrors and monitors download a log tile by tile.
  log: { points: 2400, seconds: 60 },
  // Refused keys are counted by network. The limit is low enough to slow down somebody who guesses keys. It is high
  // enough to let a misconfigured client notice its 401 responses.
  "bad-key": { points: 300, seconds: 60 },
} as const;

export type Policy = keyof typeof policies;

export type RateLimits = {
  /** Hook that counts a request against the caller's limit under the policy. */
  limit: (policy: Policy) => (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** True if Redis responds; null where no Redis is used. */
  redisIsUp: () => Promise<boolean | null>;
  close: () => Promise<void>;
};

/**
 * The caller for whom a policy counts a request (contract, Limits, "Keyed by"). On a partner-write route, a session
 * counts for its firm. `site` is a wider network that contains the caller's, such as an IPv6 /48. The whole site may
 * belong to one customer. `site` is null for an IPv4 address, a session, a key and a firm.
 */
function callerOf(policy: Policy, request: FastifyRequest): { caller: string; site: string | null } {
  const { principal, session } = request;
  if (policy === "partner-portal" && session) return { caller: `session:${session.id}`, site: null };
  if (policy !== "partner-write") {
    const address = clientAddress(request);
    return { caller: `ip:${clientNetwork(address)}`, site: clientSite(address) };
  }
  return { caller: principal?.key ? `key:${principal.key.id}` : `partner:${principal?.partnerId}`, site: null };
}

// A site's limit is this many times the limit of one network. A site (IPv6 /48) has 65,536 networks (/64), which may
// all belong to one customer, or to many.
const networksOfSite = 10;

// Hashed, so that counters in Redis reveal no IP addresses or keys.
const counterName = (caller: string): string => hash("sha256", caller, "base64url").slice(0, 22);

/**
 * Opens the counters: in this process, or in Redis for many nodes. While Redis doesn't respond, each node counts in its
 * own process.
 * @param redisUrl null for counters in this process.
 */
export async function openRateLimits(
  options: { enabled: boolean; redisUrl: string | null },
  onRedisError: (error: Error) => void,
): Promise<RateLimits> {
  if (!options.enabled) return { limit: () => async () => {}, redisIsUp: async () => null, close: async () => {} };
  const redis = options.redisUrl ? await openRedis(options.redisUrl, onRedisError) : null;
  const counterOf = (keyPrefix: string, points: number, duration: number): RateLimiterAbstract => {
    const settings = { keyPrefix, points, duration };
    const memory = new RateLimiterMemory(settings);
    return redis ? new RateLimiterRedis({ ...settings, storeClient: redis, insuranceLimiter: memory }) : memory;
  };
  const counters = new Map<Policy, Counters>();
  for (const [policy, { points, seconds }] of Object.entries(policies))
    counters.set(policy as Policy, {
      caller: counterOf(`limit:${policy}`, points, seconds),
      site: counterOf(`limit:${policy}:site`, points * networksOfSite, seconds),
    });
  return {
    limit(policy) {
      const counter = counters.get(policy);
      if (!counter) throw new Error(`no such policy: ${policy}`);
      return (request, reply) => count(counter, policy, request, reply);
    },
    async redisIsUp() {
      return redis === null
        ? null
        : redis.ping().then(
            () => true,
            () => false,
          );
    },
    async close() {
      redis?.disconnect();
    },
  };
}

type Counters = { caller: RateLimiterAbstract; site: RateLimiterAbstract };

async function openRedis(url: string, onError: (error: Error) => void) {
  const { Redis } = await import("ioredis");
  const redis = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: 500 });
  redis.on("error", onError);
  return redis;
}

async function consume(counter: RateLimiterAbstract, caller: string): Promise<RateLimiterRes> {
  try {
    return await counter.consume(counterName(caller));
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    return refused;
  }
}

/**
 * Counts the request for its caller. If the caller's limit allows the request and the caller has a site, also counts
 * the request for the site.
 * @returns the counter that refuses the request; the caller's counter if none refuses it
 */
async function consumeBoth(counters: Counters, policy: Policy, request: FastifyRequest): Promise<RateLimiterRes> {
  const { caller, site } = callerOf(policy, request);
  const state = await consume(counters.caller, caller);
  if (site === null || state.consumedPoints > policies[policy].points) return state;
  const ofSite = await consume(counters.site, site);
  return ofSite.consumedPoints > policies[policy].points * networksOfSite ? ofSite : state;
}

async function count(counters: Counters, policy: Policy, request: FastifyRequest, reply: FastifyReply) {
  if (request.isPassedOn) return;
  const { points, seconds } = policies[policy];
  const state = await consumeBoth(counters, policy, request);
  const resetSeconds = Math.max(1, Math.ceil(state.msBeforeNext / 1000));
  // The `RateLimit` headers of draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4.
  reply.header("RateLimit-Policy", `"${policy}";q=${points};w=${seconds}`);
  reply.header("RateLimit", `"${policy}";r=${state.remainingPoints};t=${resetSeconds}`);
  if (state.consumedPoints <= points) return;
  reply.header("Retry-After", String(resetSeconds));
  throw new HttpError("rate_limited", `Rate limit exceeded. Try again in ${resetSeconds} seconds.`);
}
