import type { FastifyInstance } from "fastify";
import { sessionOf } from "../../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../../kernel/http/route.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import type { MemberDeps } from "../membership.ts";
import { linkMember } from "./link.ts";
import { Linked, LinkRequest } from "./schemas.ts";

/** `POST /api/partner/link` (contract, Authentication 6; decisions, Partner access and sessions). */
export function linkRoute(app: FastifyInstance, deps: MemberDeps & RouteDeps): void {
  jsonRoute(app, deps, {
    method: "POST",
    url: "/api/partner/link",
    tag: "Partner",
    operationId: "linkPartner",
    summary: "Link a signed-in person to a firm",
    description:
      "Where the firm asks for passkeys, a live key raises a member to live only after a passkey was shown in the session within the last 15 minutes, and is refused with 403 otherwise.",
    caller: "session",
    policy: "partner-portal",
    body: LinkRequest,
    answer: Linked,
    refusals: {
      400: "apiKey must be a valid partner API key.",
      409: "This session is linked to another partner.",
    },
    handle: (request) => linkMember(deps, sessionOf(request), apiKeyOf(request.body), request.ip),
  });
}

function apiKeyOf(body: unknown): string {
  const { apiKey } = (body ?? {}) as { apiKey?: unknown };
  if (typeof apiKey !== "string" || apiKey === "") throw invalid("apiKey is required.");
  return apiKey.trim();
}
