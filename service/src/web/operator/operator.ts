import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  type AccessDeps,
  approveRequest,
  declineRequest,
  pendingRequests,
} from "../../access-requests/access-requests.ts";
import { refuseCrossSite } from "../../http/authentication.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import { operatorResolver } from "../../members/members.ts";
import { decideByOperator, findExecution, isExecutionId, overviewOfExecutions } from "../../playbooks/playbooks.ts";
import { attempt, done, said } from "../dashboard/page-shell.ts";
import type { Assets } from "../ui/assets.ts";
import { acceptForms, formBody } from "../ui/forms/fields.ts";
import { formHeaders, htmlType } from "../ui/page-headers.ts";
import type { Problem } from "./executions.ts";
import { guestPage, operatorPage } from "./page.ts";

export type OperatorDeps = AccessDeps & { ownOrigin: string; limits: RateLimits; assets: Assets };

type IdRoute = { Params: { id: string } };
type Shown = { Querystring: { after?: unknown } };

const hidden = { schema: { hide: true } };
const requestsShown = 50;

/**
 * What waits for the operator, and the decisions, by the same front doors as the command line. Every request needs a session of the
 * operator, every write must come from one of our own pages.
 */
export function operatorPages(people: FastifyInstance, deps: OperatorDeps): void {
  const { assets, limits, ownOrigin } = deps;
  const isOperator = operatorResolver(deps);
  const guest = guestPage(assets);

  async function show(request: FastifyRequest, reply: FastifyReply, after: string, problem?: Problem) {
    const [executions, requests] = await Promise.all([
      overviewOfExecutions(deps, after),
      pendingRequests(deps, requestsShown),
    ]);
    const page = operatorPage(assets, { said: said(request), executions, requests, after, problem });
    return reply.type(htmlType).headers(formHeaders).send(page);
  }

  people.register(async (scope) => {
    acceptForms(scope);
    scope.addHook("onRequest", limits.limit("page"));
    scope.addHook("onRequest", async (request, reply) => {
      if (!(await isOperator(request.headers.cookie)))
        return reply.code(401).type(htmlType).headers(formHeaders).send(guest);
      refuseCrossSite(request, ownOrigin);
    });

    scope.get<Shown>("/operator", hidden, (request, reply) => {
      const { after } = request.query;
      return show(request, reply, typeof after === "string" ? after : "");
    });

    scope.post<IdRoute>("/operator/playbooks/:id/decide", hidden, (request, reply) => {
      const { id } = request.params;
      const { decision = "", after = "" } = formBody(request.body);
      return attempt(
        reply,
        async () => {
          await decideByOperator(deps, id, decision.trim());
          return done(reply, pathOf(after), "execution-decided");
        },
        async (message) =>
          show(request, reply, after, { message, decision, id, execution: await findExecution(deps, id) }),
      );
    });

    for (const [verb, decide, word] of [
      ["approve", approveRequest, "request-approved"],
      ["decline", declineRequest, "request-declined"],
    ] as const)
      scope.post<IdRoute>(`/operator/requests/:id/${verb}`, hidden, (request, reply) =>
        attempt(
          reply,
          async () => {
            await decide(deps, request.params.id);
            return done(reply, pathOf(formBody(request.body)["after"]), word);
          },
          (message) => show(request, reply, formBody(request.body)["after"] ?? "", { message }),
        ),
      );
  });
}

/** Back to the page of the list that one was on. */
const pathOf = (after = ""): string => (isExecutionId(after) ? `/operator?after=${after}` : "/operator");
