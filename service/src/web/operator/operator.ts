import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  type AccessDeps,
  approveRequest,
  declineRequest,
  pendingRequests,
} from "../../access-requests/access-requests.ts";
import { refuseCrossSite } from "../../http/authentication.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import { operatorResolver } from "../../members/members.ts";

import { isUuid } from "../../platform/text.ts";
import { decideByOperator, findExecution, overviewOfExecutions } from "../../playbooks/playbooks.ts";

import type { Assets } from "../ui/assets.ts";
import { done, flashOf } from "../ui/flash-messages.ts";
import { acceptForms } from "../ui/forms/form-body.ts";
import { formHeaders, htmlType } from "../ui/page-headers.ts";
import { pageRoute } from "../ui/page-route.ts";
import type { Problem } from "./executions.ts";
import { guestPage, operatorPage } from "./page.ts";

export type OperatorDeps = AccessDeps & { ownOrigin: string; limits: RateLimits; assets: Assets };

const requestsShown = 50;

/**
 * What waits for the operator, and the decisions, by the same front doors as the command line. Every request needs a session of the
 * operator, every write must come from one of our own pages.
 */
export function operatorPages(app: FastifyInstance, deps: OperatorDeps): void {
  const { assets, limits, ownOrigin } = deps;
  const isOperator = operatorResolver(deps);
  const guest = guestPage(assets);

  app.register(async (scope) => {
    acceptForms(scope);
    scope.addHook("onRequest", limits.limit("page"));
    scope.addHook("onRequest", async (request, reply) => {
      if (!(await isOperator(request.headers.cookie)))
        return reply.code(401).type(htmlType).headers(formHeaders).send(guest);
      refuseCrossSite(request, ownOrigin);
    });

    pageRoute(scope, deps, { url: "/operator", handle: ({ query, request }) => show(request, query["after"]) });

    pageRoute(scope, deps, {
      method: "POST",
      url: "/operator/playbooks/:id/decide",
      handle: async ({ params: { id }, form: { decision = "", after } }) => {
        await decideByOperator(deps, id, decision.trim());
        return done(pathOf(after), "execution-decided");
      },
      refused: async ({ params: { id }, form: { decision = "", after }, request }, message) =>
        show(request, after, { message, decision, id, execution: await findExecution(deps, id) }),
    });

    for (const [verb, decide, message] of [
      ["approve", approveRequest, "request-approved"],
      ["decline", declineRequest, "request-declined"],
    ] as const)
      pageRoute(scope, deps, {
        method: "POST",
        url: `/operator/requests/:id/${verb}`,
        handle: async ({ params, form }) => {
          await decide(deps, params.id);
          return done(pathOf(form["after"]), message);
        },
        refused: ({ form, request }, message) => show(request, form["after"], { message }),
      });
  });

  async function show(request: FastifyRequest, after = "", problem?: Problem): Promise<string> {
    const [executions, requests] = await Promise.all([
      overviewOfExecutions(deps, after),
      pendingRequests(deps, requestsShown),
    ]);
    return operatorPage(assets, { flash: flashOf(request), executions, requests, after, problem });
  }
}

/** Back to the page of the list that one was on. */
const pathOf = (after = ""): string => (isUuid(after) ? `/operator?after=${after}` : "/operator");
