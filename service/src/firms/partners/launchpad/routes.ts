import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../../kernel/http/route.ts";
import type { ReadLaunchpad } from "./launchpad.ts";
import { Launchpad } from "./schemas.ts";

export type LaunchpadRouteDeps = RouteDeps & { readLaunchpad: ReadLaunchpad };

/** `GET /api/partner/launchpad` (decisions, Partner access and sessions). */
export function launchpadRoutes(app: FastifyInstance, deps: LaunchpadRouteDeps): void {
  jsonRoute(app, deps, {
    method: "GET",
    scope: "read",
    url: "/api/partner/launchpad",
    tag: "Partner",
    operationId: "getLaunchpad",
    summary: "Get the go-live checklist",
    description: "What your firm has done and what is left before live orders.",
    caller: "key-or-session",
    policy: "partner-portal",
    answer: Launchpad,
    handle: async (request) => ({ ...(await deps.readLaunchpad(principalOf(request))), requestId: request.id }),
  });
}
