import type { FastifyRequest, onRequestAsyncHookHandler } from "fastify";
import type { Scope } from "../identity/identity.ts";
import {
  type Callers,
  readSession,
  requireKey,
  requireKeyOrSession,
  requireSession,
  scopeMissing,
} from "./authentication.ts";
import { HttpError } from "./errors/http-error.ts";
import type { Policy, RateLimits } from "./rate-limits.ts";

/** The dependencies that authenticate callers and rate-limit their requests. */
export type CallerDeps = Callers & { limits: RateLimits };

/** The callers that may use a route (contract, Authentication), and the scope that a restricted key needs for it. */
export type Access =
  | { caller: "key" | "key-or-session"; scope: Scope }
  | { caller: "session" | "anybody"; scope?: undefined };

export type Caller = Access["caller"];

const tooMany = { 429: "Rate limit exceeded. Try again in 42 seconds." };
const notLinked = "This session is not linked to a partner. Link with a partner API key first.";

/**
 * For each kind of caller, the refusals that all of its routes share: the status and an example of the message, for
 * /openapi.json.
 */
const commonRefusals: Readonly<Record<Caller, Record<number, string>>> = {
  key: { 401: "A valid partner API key is required.", ...tooMany },
  "key-or-session": { 401: "Sign in to continue.", 403: notLinked, ...tooMany },
  session: { 401: "Sign in to continue.", 403: "This request came from another site.", ...tooMany },
  anybody: tooMany,
};

/**
 * The security entry for /openapi.json. A key's scope is given as its required role (OpenAPI 3.1, Security Requirement
 * Object).
 */
export function securityOf({ caller, scope }: Access): Record<string, string[]>[] {
  switch (caller) {
    case "key":
      return [{ partnerKey: [scope] }];
    case "key-or-session":
      return [{ partnerKey: [scope] }, { session: [] }];
    case "session":
      return [{ session: [] }];
    case "anybody":
      return [];
  }
}

/** The refusals that all routes for one kind of caller share: a sentence for each HTTP status. */
export function commonRefusalsOf({ caller, scope }: Access): Record<number, string> {
  return { ...(caller === "key" && { 403: scopeMissing(scope) }), ...commonRefusals[caller] };
}

/** Combines several hooks into one, because the framework creates extra promises for each hook that it runs. */
export const inTurn = (hooks: readonly onRequestAsyncHookHandler[]): onRequestAsyncHookHandler =>
  async function (request, reply) {
    for (const hook of hooks) {
      await hook.call(this, request, reply);
      if (reply.sent) return;
    }
  };

/**
 * The hooks that identify the caller and count the request. The policy `partner-write` counts by key, or by firm for a
 * session. So it counts after authentication. The other policies count before a key is checked. `partner-portal` counts
 * by session, if there is one; all others count by network.
 */
export function callerHooks(deps: CallerDeps, caller: Caller, policy: Policy): onRequestAsyncHookHandler[] {
  const session = caller === "session" || caller === "key-or-session" ? [readSession(deps)] : [];
  const credential = credentialHooks(deps, caller);
  const count = deps.limits.limit(policy);
  return policy === "partner-write" ? [...session, ...credential, count] : [...session, count, ...credential];
}

function credentialHooks(deps: CallerDeps, caller: Caller): onRequestAsyncHookHandler[] {
  switch (caller) {
    case "key":
      return [countingBadKeys(deps, requireKey(deps.resolveKey))];
    case "key-or-session":
      return [countingBadKeys(deps, requireKeyOrSession(deps))];
    case "session":
      return [requireSession(deps)];
    case "anybody":
      return [];
  }
}

/**
 * Wraps authentication: counts each request with a refused key against the caller's network. Other requests are neither
 * counted nor limited here. So a valid key still works after other keys were refused, or after a database outage.
 */
function countingBadKeys(
  { limits }: CallerDeps,
  authenticate: (request: FastifyRequest) => Promise<void>,
): onRequestAsyncHookHandler {
  const count = limits.limit("bad-key");
  return async (request, reply) => {
    try {
      await authenticate(request);
    } catch (error) {
      // The authentication hooks refuse a credential with an HttpError. Any other error means that the credential could
      // not be checked, so it is not counted.
      if (error instanceof HttpError && request.headers.authorization !== undefined) await count(request, reply);
      throw error;
    }
  };
}
