import type { FastifyRequest } from "fastify";
import { type Callers, linkedPrincipalOf, readSession } from "../../http/authentication.ts";

/** Authenticates a request again: its session may have ended since, or lost its firm. @throws ServiceError as the dashboard's hooks do. */
export function reauthenticate(deps: Pick<Callers, "resolveSession">) {
  const read = readSession(deps);
  return async (request: FastifyRequest): Promise<void> => {
    await read(request);
    request.principal = linkedPrincipalOf(request);
  };
}
