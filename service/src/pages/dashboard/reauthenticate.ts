import type { FastifyRequest } from "fastify";
import { type Callers, linkedPrincipalOf, readSession } from "../../kernel/http/authentication.ts";

/**
 * Authenticates a request again after a slow upload, during which its session may have ended or lost its firm. @throws
 * ServiceError as the dashboard's hooks do
 */
export function reauthenticate(deps: Pick<Callers, "resolveSession">) {
  const read = readSession(deps);
  return async (request: FastifyRequest): Promise<void> => {
    await read(request);
    request.principal = linkedPrincipalOf(request);
  };
}
