import type { FastifyRequest } from "fastify";
import type { Principal, ResolveKey, ResolveSession, Scope, Session } from "../identity/identity.ts";
import { ServiceError } from "../platform/errors.ts";
import { clientAddress } from "./client-address.ts";
import { HttpError } from "./errors/http-error.ts";

/** What session-or-key routes need to know their caller. `ownOrigin` is the origin of the service's public address. */
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

/** Hook that comes before the limits which count by session. */
export function readSession({ resolveSession }: Pick<Callers, "resolveSession">) {
  return async (request: FastifyRequest): Promise<void> => {
    const { cookie, "hx-request": refreshing } = request.headers;
    if (cookie !== undefined) request.session = await resolveSession(cookie, refreshing !== "true");
  };
}

/** Hook that needs a session which `readSession` has found; a write must come from one of our own pages. */
export function requireSession({ ownOrigin }: Pick<Callers, "ownOrigin">) {
  return async (request: FastifyRequest): Promise<void> => {
    sessionOf(request);
    refuseCrossSite(request, ownOrigin);
  };
}

/** Hook of session-or-key routes, after `readSession` (contract, Authentication 6): the key first, then the session. */
export function requireKeyOrSession({ resolveKey, ownOrigin }: Pick<Callers, "resolveKey" | "ownOrigin">) {
  return async (request: FastifyRequest): Promise<void> => {
    request.principal = await resolveKey(request.headers.authorization, clientAddress(request));
    if (request.principal) return;
    const principal = linkedPrincipalOf(request);
    refuseCrossSite(request, ownOrigin);
    request.principal = principal;
  };
}

/** Hook that comes last: a key that is restricted must have the route's scope. Members of a firm are not bound by scopes. */
export function requireScope(scope: Scope) {
  return async ({ principal }: FastifyRequest): Promise<void> => {
    const scopes = principal?.key?.scopes;
    if (scopes && !scopes.includes(scope)) throw new ServiceError("scope_required", scopeMissing(scope));
  };
}

export const scopeMissing = (scope: Scope): string => `This key does not have the scope ${scope}.`;

/** The session that a hook has found. @throws HttpError when there is none. */
export function sessionOf({ session }: FastifyRequest): Session {
  if (!session) throw new HttpError("sign_in_required", "Sign in to continue.");
  return session;
}

/** The firm of the session (contract, Endpoints, Analytics: 401 and 403). @throws HttpError when there is none. */
export function linkedPrincipalOf(request: FastifyRequest): Principal {
  const { principal } = sessionOf(request);
  if (principal) return principal;
  const message = "This session is not linked to a partner. Link with a partner API key first.";
  throw new HttpError("not_linked", message);
}

/**
 * A browser names the origin of each write. It must be that of the public address, or the host that was asked by a scheme that is
 * no worse; a client that sends none is no browser, and no site can make it act.
 * @throws HttpError for a write from another site.
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

/** The principal that a hook above has found. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error("route without an authentication hook");
  return request.principal;
}
