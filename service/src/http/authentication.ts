import type { FastifyRequest } from "fastify";
import { ServiceError } from "../platform/errors.ts";

export type Environment = "live" | "test";

/** Who calls: a partner firm, by one of its keys, in that key's environment. */
export type Principal = {
  partnerId: string;
  environment: Environment;
  firmName: string;
  tier: string;
  liveEnabled: boolean;
  /** Null when the caller came by a session. */
  key: { id: string; prefix: string; last4: string; createdAt: Date } | null;
};

/** Finds the principal of a bearer key; null for a missing, malformed, unknown or revoked one, all alike. */
export type ResolveKey = (authorization: string | undefined) => Promise<Principal | null>;

declare module "fastify" {
  interface FastifyRequest {
    principal: Principal | null;
  }
}

/** Hook of key-only routes (contract, Authentication 2). */
export function requireKey(resolveKey: ResolveKey) {
  return async (request: FastifyRequest): Promise<void> => {
    request.principal = await resolveKey(request.headers.authorization);
    if (!request.principal) throw new ServiceError("unauthenticated", "A valid partner API key is required.");
  };
}

/** Hook of session-or-key routes (contract, Authentication 6): the key first. */
export function requireKeyOrSession(resolveKey: ResolveKey) {
  return async (request: FastifyRequest): Promise<void> => {
    request.principal = await resolveKey(request.headers.authorization);
    if (!request.principal) throw new ServiceError("sign_in_required", "Sign in to continue.");
  };
}

/** The principal that a hook above has found. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw new Error("route without an authentication hook");
  return request.principal;
}
