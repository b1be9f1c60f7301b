import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { HttpError } from "../../kernel/http/errors/http-error.ts";
import { json, jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { formFields } from "../../kernel/http/text-forms.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { decideByCallback, type PlaybookDeps, recordRefusedRun, runPlaybook } from "./executions.ts";
import { registryView } from "./registry.ts";
import { PlaybookArguments, PlaybookList, PlaybookStarted } from "./schemas.ts";

/** The partners that may run playbooks: none, all, or these ids. */
type PlaybooksEnabled = "off" | "on" | readonly string[];

export type PlaybookRouteDeps = { frame: RouteDeps; playbooks: PlaybookDeps; enabled: PlaybooksEnabled };

/** Routes of playbooks (contract, Playbooks), with the callback that ends an execution's wait. */
export function playbookRoutes(app: FastifyInstance, deps: PlaybookRouteDeps): void {
  const common = { tag: "Playbooks", caller: "key-or-session", guard: requireEnabled(deps.enabled) } as const;
  jsonRoute(app, deps.frame, {
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
  jsonRoute(app, deps.frame, {
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
    onRefusal: (request, error) => recordRefusal(deps.playbooks, request, error),
    handle: (request) =>
      runPlaybook(deps.playbooks, principalOf(request), request.params.key, () => formFields(request)),
  });
  callbackRoute(app, deps);
}

const requireEnabled = (enabled: PlaybooksEnabled) => async (request: FastifyRequest) => {
  const { partnerId } = principalOf(request);
  if (enabled === "on" || (enabled !== "off" && enabled.includes(partnerId))) return;
  throw new ServiceError("not_found", "Not found.");
};

/**
 * Writes a refused attempt to the audit log, provided that the caller was authenticated. Attempts that the rate limit
 * stops are not written.
 */
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
    { onRequest: deps.frame.limits.limit("public-read"), schema: { hide: true } },
    async ({ params, body }, reply) =>
      reply.type(json).send(JSON.stringify(await decideByCallback(deps.playbooks, params.token, body))),
  );
}
