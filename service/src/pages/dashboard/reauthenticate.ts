import type { FastifyRequest } from "fastify";
import { type Callers, linkedPrincipalOf, readSession } from "../../kernel/http/authentication.ts";

/**
 * Returns a function that authenticates a request again after a slow upload. During the upload, the session may have
 * ended, or the person may have lost access to the firm.
 * @throws ServiceError in the same cases as the dashboard's hooks
 */
export function reauthenticate(deps: Pick<Callers, "resolveSession">) {
  const read = readSession(deps);
  return async (request: FastifyRequest): Promise<void> => {
    await read(request);
    request.principal = linkedPrincipalOf(request);
  };
}
