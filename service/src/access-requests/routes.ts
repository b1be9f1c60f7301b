import type { FastifyInstance } from "fastify";
import { jsonRoute, type RouteDeps } from "../http/route.ts";
import { accessRequestFields, requiredMessage } from "./fields.ts";
import type { RequestAccess } from "./open-access.ts";
import { PartnerRequest, PartnerRequestAnswer, requestMessages } from "./schemas.ts";

/** `POST /api/partner/request` (contract, Endpoints, Access requests). */
export function accessRoutes(app: FastifyInstance, deps: RouteDeps & { requestAccess: RequestAccess }): void {
  jsonRoute(app, deps, {
    method: "POST",
    url: "/api/partner/request",
    tag: "Partner",
    operationId: "requestAccess",
    summary: "Request partner access",
    description: "People find the same as a form at `/request-access`.",
    caller: "anybody",
    policy: "partner-request",
    body: PartnerRequest,
    answer: PartnerRequestAnswer,
    refusals: { 400: requiredMessage },
    async handle(request) {
      const status = await deps.requestAccess(accessRequestFields(request.body), request.ip);
      return { status, message: requestMessages[status] };
    },
  });
}
