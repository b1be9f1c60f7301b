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
import type { Policy, RateLimits } from "./rate-limits.ts";

/** Who calls, and how often one may. */
export type CallerDeps = Callers & { limits: RateLimits };

/** Who may call a route (contract, Authentication), and the scope that a restricted key needs for it. */
export type Access =
  | { caller: "key" | "key-or-session"; scope: Scope }
  | { caller: "session" | "anybody"; scope?: undefined };

export type Caller = Access["caller"];

const tooMany = { 429: "Rate limit exceeded. Try again in 42 seconds." };
const notLinked = "This session is not linked to a partner. Link with a partner API key first.";

/** The refusals that all routes of a caller have in common: status and an example of the message, for /openapi.json. */
const commonRefusals: Readonly<Record<Caller, Record<number, string>>> = {
  key: { 401: "A valid partner API key is required.", ...tooMany },
  "key-or-session": { 401: "Sign in to continue.", 403: notLinked, ...tooMany },
  session: { 401: "Sign in to continue.", 403: "This request came from another site.", ...tooMany },
  anybody: tooMany,
};

/** For keys with the scope as the role that is needed (OpenAPI 3.1, Security Requirement Object). */
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

/** The refusals that the routes of a caller have in common, as a sentence for each status. */
export function commonRefusalsOf({ caller, scope }: Access): Record<number, string> {
  return { ...(caller === "key" && { 403: scopeMissing(scope) }), ...commonRefusals[caller] };
}

/** One hook of several: each that the framework runs costs promises of its own. */
export const inTurn = (hooks: readonly onRequestAsyncHookHandler[]): onRequestAsyncHookHandler =>
  async function (request, reply) {
    for (const hook of hooks) {
      await hook.call(this, request, reply);
      if (reply.sent) return;
    }
  };

/**
 * The hooks that find the caller and count the request. `partner-write` counts by firm, so after the caller is known; the others
 * count by session or address, before a credential is looked at.
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

/** Refusals of a key count against the caller's network; a good key is never kept waiting by its neighbors' bad ones. */
function countingBadKeys(
  { limits }: CallerDeps,
  authenticate: (request: FastifyRequest) => Promise<void>,
): onRequestAsyncHookHandler {
  const count = limits.limit("bad-key");
  return async (request, reply) => {
    try {
      await authenticate(request);
    } catch (error) {
      if (request.headers.authorization !== undefined) await count(request, reply);
      throw error;
    }
  };
}
