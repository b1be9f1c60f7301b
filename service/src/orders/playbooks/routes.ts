import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../http/authentication.ts";
import { HttpError } from "../http/errors/http-error.ts";
import { json, jsonRoute, type RouteDeps } from "../http/route.ts";
import { formFields } from "../http/text-forms.ts";
import { ServiceError } from "../platform/errors.ts";
import { decideByCallback } from "./decide.ts";
import { registryView } from "./registry.ts";
import { type PlaybookDeps, recordRefusedRun, runPlaybook } from "./run.ts";
import { PlaybookArguments, PlaybookList, PlaybookStarted } from "./schemas.ts";

/** Who may run playbooks: nobody, everybody, or the partners of these ids. */
export type PlaybooksEnabled = "off" | "on" | readonly string[];

export type PlaybookRouteDeps = PlaybookDeps & RouteDeps & { enabled: PlaybooksEnabled };

/** Playbooks (contract, Playbooks), and the callback that ends a wait. */
export function playbookRoutes(app: FastifyInstance, deps: PlaybookRouteDeps): void {
  const common = { tag: "Playbooks", caller: "key-or-session", guard: requireEnabled(deps.enabled) } as const;
  jsonRoute(app, deps, {
    ...common,
    method: "GET",
    scope: "read",
    url: "/api/partner/playbooks",
    operationId: "listPlaybooks",
    summary: "List playbooks",
    description: "The automations that you may run. Limited release: 404 unless it is enabled for your account.",
    policy: "partner-portal",
    answer: PlaybookList,
    refusals: { 404: "Not found." },
    handle: async () => registryView(),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "orders",
    url: "/api/partner/playbooks/:key/run",
    operationId: "runPlaybook",
    summary: "Run a playbook",
    description:
      "Starts an execution. Arguments are form fields, not JSON. Each successful call starts another execution, so don't retry blindly. Limited release: 404 unless it is enabled for your account.",
    policy: "partner-write",
    params: Type.Object({
      key: Type.String({ description: "The playbook's key, case-sensitive.", examples: ["approval_gate"] }),
    }),
    body: PlaybookArguments,
    bodyIs: "form",
    answer: PlaybookStarted,
    refusals: { 400: "Missing required argument 'kind'.", 404: "Unknown playbook." },
    onRefusal: (request, error) => recordRefusal(deps, request, error),
    handle: (request) => runPlaybook(deps, principalOf(request), request.params.key, () => formFields(request)),
  });
  callbackRoute(app, deps);
}

const requireEnabled = (enabled: PlaybooksEnabled) => async (request: FastifyRequest) => {
  const { partnerId } = principalOf(request);
  if (enabled === "on" || (enabled !== "off" && enabled.includes(partnerId))) return;
  throw new ServiceError("not_found", "Not found.");
};

/** Each authenticated attempt is on the audit log, however it was refused; not what the rate limit holds off. */
async function recordRefusal(
  deps: PlaybookDeps,
  request: FastifyRequest<{ Params: { key: string } }>,
  error: Error,
): Promise<void> {
  const isLimited = error instanceof HttpError && error.code === "rate_limited";
  if (!request.principal || isLimited) return;
  await recordRefusedRun(deps, request.principal, request.params.key).catch((err: Error) =>
    request.log.error({ requestId: request.id, err }, "an attempt to run a playbook is missing in the audit log"),
  );
}

function callbackRoute(app: FastifyInstance, deps: PlaybookRouteDeps): void {
  app.post<{ Params: { token: string } }>(
    "/internal/playbooks/:token",
    { onRequest: deps.limits.limit("public-read"), schema: { hide: true } },
    async ({ params, body }, reply) =>
      reply.type(json).send(JSON.stringify(await decideByCallback(deps, params.token, body))),
  );
}
