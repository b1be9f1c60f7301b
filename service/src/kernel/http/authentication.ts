import type { FastifyRequest } from "fastify";
import type { Principal, ResolveKey, ResolveSession, Scope, Session } from "../identity/identity.ts";
import { ServiceError } from "../platform/errors.ts";
import { clientAddress } from "./client-address.ts";
import { HttpError } from "./errors/http-error.ts";

/** The dependencies of hooks that authenticate callers. `ownOrigin` is the origin of the service's public URL. */
export type Callers = { resolveKey: ResolveKey; resolveSession: ResolveSession; ownOrigin: string };

declare module "fastify" {
  interface FastifyRequest {
    principal: Principal | null;
    session: Session | null;
  }
}

/** Hook of key-only routes (contract, Authentication 2). */
export function requireKey(resolveKey: ResolveKey) {
  return async (request: FastifyRequest): Promise<void> => {
    request.principal = await resolveKey(request.headers.authorization, clientAddress(request));
    if (!request.principal) throw new HttpError("unauthenticated", "A valid partner API key is required.");
  };
}

/**
 * Hook that reads the session of the request's cookie, if there is one. It runs before the rate limits, because some of
 * them count by session.
 */
export function readSession({ resolveSession }: Pick<Callers, "resolveSession">) {
  return async (request: FastifyRequest): Promise<void> => {
    const { cookie, "hx-request": refreshing } = request.headers;
    if (cookie !== undefined) request.session = await resolveSession(cookie, refreshing !== "true");
  };
}

/** Hook that requires the session found by `readSession`. Refuses a write from a page of another site. */
export function requireSession({ ownOrigin }: Pick<Callers, "ownOrigin">) {
  return async (request: FastifyRequest): Promise<void> => {
    sessionOf(request);
    refuseCrossSite(request, ownOrigin);
  };
}

/**
 * Hook of routes for a session or a key (contract, Authentication 6). It runs after `readSession` and uses the key if
 * it is valid, else the session.
 */
export function requireKeyOrSession({ resolveKey, ownOrigin }: Pick<Callers, "resolveKey" | "ownOrigin">) {
  return async (request: FastifyRequest): Promise<void> => {
    request.principal = await resolveKey(request.headers.authorization, clientAddress(request));
    if (request.principal) return;
    const principal = linkedPrincipalOf(request);
    refuseCrossSite(request, ownOrigin);
    request.principal = principal;
  };
}

/**
 * Hook that requires a restricted key to have the route's scope. It runs last. Scopes don't apply to members of a firm.
 */
export function requireScope(scope: Scope) {
  return async ({ principal }: FastifyRequest): Promise<void> => {
    const scopes = principal?.key?.scopes;
    if (scopes && !scopes.includes(scope)) throw new ServiceError("scope_required", scopeMissing(scope));
  };
}

export const scopeMissing = (scope: Scope): string => `This key does not have the scope ${scope}.`;

/** The session found by a hook. @throws HttpError when there is no session */
export function sessionOf({ session }: FastifyRequest): Session {
  if (!session) throw new HttpError("sign_in_required", "Sign in to continue.");
  return session;
}

/**
 * The firm of the session (contract, Endpoints, Analytics: 401 and 403).
 * @throws HttpError when there is no session, or when the session has no firm
 */
export function linkedPrincipalOf(request: FastifyRequest): Principal {
  const { principal } = sessionOf(request);
  if (principal) return principal;
  const message = "This session is not linked to a partner. Link with a partner API key first.";
  throw new HttpError("not_linked", message);
}

/**
 * Refuses a write that a page of another site made the browser send (CSRF).
 *
 * Browsers send the origin of each write. The service's own origin is accepted. An origin with the host of the request
 * is also accepted if it uses https, or if both it and the service's own origin use http. Without an origin,
 * `Sec-Fetch-Site` decides. A client that sends neither header is not a browser, so no site can control it.
 * @throws HttpError for a write from another site
 */
export function refuseCrossSite(request: FastifyRequest, ownOrigin: string): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  const { origin, "sec-fetch-site": site } = request.headers;
  const foreign =
    origin === undefined
      ? site !== undefined && site !== "same-origin" && site !== "none"
      : origin !== ownOrigin && !isHost(origin, request.host, ownOrigin);
  if (foreign) throw new HttpError("cross_site", "This request came from another site.");
}

function isHost(origin: string, host: string, ownOrigin: string): boolean {
  const url = URL.parse(origin);
  const safe = url?.protocol === "https:" || (url?.protocol === "http:" && ownOrigin.startsWith("http:"));
  return safe && url?.host === host;
}

/** The principal found by an authentication hook. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error("route without an authentication hook");
  return request.principal;
}
