import { type Callers, readSession, requireKeyOrSession } from "./authentication.ts";
import type { RateLimits } from "./rate-limits.ts";

export type PortalDeps = Callers & { limits: RateLimits };

/** Hooks of a session-or-key route that counts as partner-portal (contract, Authentication 6 and Limits). */
export const portalHooks = (deps: PortalDeps) => [
  readSession(deps),
  deps.limits.limit("partner-portal"),
  requireKeyOrSession(deps),
];

/** How such a route is authenticated, for /openapi.json. */
export const keyOrSession: Record<string, string[]>[] = [{ partnerKey: [] }, { session: [] }];

/** The refusals that such routes have in common, for /openapi.json. */
export const portalRefusals = {
  401: "Sign in to continue.",
  403: "This session is not linked to a partner. Link with a partner API key first.",
  429: "Rate limit exceeded. Try again in 42 seconds.",
};
