import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { principalOf, readSession, requireKeyOrSession } from "../http/authentication.ts";
import { errors, ref } from "../http/openapi.ts";
import { keyOrSession, type PortalDeps, portalHooks, portalRefusals } from "../http/portal.ts";
import { wireError } from "../http/wire-errors.ts";
import { ServiceError } from "../platform/errors.ts";
import { decideByCallback, type PlaybookDeps, recordRefusedRun, runPlaybook } from "./executions.ts";
import { acceptForms, formFields } from "./form.ts";
import { registryView } from "./registry.ts";
import { PlaybookArguments, PlaybookList, PlaybookStarted } from "./schemas.ts";

/** Who may run playbooks: nobody, everybody, or the partners of these ids. */
export type PlaybooksEnabled = "off" | "on" | readonly string[];

export type PlaybookRouteDeps = PlaybookDeps & PortalDeps & { enabled: PlaybooksEnabled };

const json = "application/json; charset=utf-8";
const about = { tags: ["Playbooks"], security: keyOrSession };

type RunPath = { Params: { key: string } };

/** Playbooks (contract, Playbooks), and the callback that ends a wait. */
export function playbookRoutes(app: FastifyInstance, deps: PlaybookRouteDeps): void {
  const { enabled, limits } = deps;
  for (const schema of [PlaybookList, PlaybookStarted, PlaybookArguments]) app.addSchema(schema);

  async function requireEnabled(request: FastifyRequest): Promise<void> {
    const { partnerId } = principalOf(request);
    if (enabled === "on" || (enabled !== "off" && enabled.includes(partnerId))) return;
    throw new ServiceError("not_found", "Not found.");
  }

  app.get(
    "/api/partner/playbooks",
    {
      onRequest: [...portalHooks(deps), requireEnabled],
      schema: {
        ...about,
        operationId: "listPlaybooks",
        summary: "The playbooks that you may run; 404 unless enabled for your account",
        response: { 200: ref(PlaybookList), ...errors({ ...portalRefusals, 404: "Not found." }) },
      },
    },
    async (_request, reply) => reply.type(json).send(JSON.stringify(registryView())),
  );

  app.register(async (scope) => {
    acceptForms(scope);
    scope.post<RunPath>(
      "/api/partner/playbooks/:key/run",
      {
        onRequest: [readSession(deps), requireKeyOrSession(deps), limits.limit("partner-write"), requireEnabled],
        // Described here, checked against the registry with messages that name the field.
        validatorCompiler: () => () => true,
        // Whatever refuses an authenticated attempt, it is on the log; but not what the rate limit holds off.
        errorHandler: async (error, request, reply) => {
          const { key } = request.params as RunPath["Params"];
          const limited = error instanceof ServiceError && error.code === "rate_limited";
          if (request.principal && !limited)
            await recordRefusedRun(deps, request.principal, key).catch(logged(request));
          return wireError(error, request, reply);
        },
        schema: {
          ...about,
          operationId: "runPlaybook",
          summary: "Start an execution of a playbook; 404 unless enabled for your account",
          consumes: ["application/x-www-form-urlencoded", "multipart/form-data"],
          params: Type.Object({ key: Type.String({ description: "Case-sensitive." }) }),
          body: ref(PlaybookArguments),
          response: {
            200: ref(PlaybookStarted),
            ...errors({ 400: "Missing required argument 'kind'.", ...portalRefusals, 404: "Unknown playbook." }),
          },
        },
      },
      async (request, reply) => {
        const started = await runPlaybook(deps, principalOf(request), request.params.key, () => formFields(request));
        return reply.type(json).send(JSON.stringify(started));
      },
    );
  });

  app.post<{ Params: { token: string } }>(
    "/internal/playbooks/:token",
    { onRequest: limits.limit("public-read"), schema: { hide: true } },
    async (request, reply) => {
      const answer = await decideByCallback(deps, request.params.token, request.body);
      return reply.type(json).send(JSON.stringify(answer));
    },
  );
}

const logged = (request: FastifyRequest) => (error: Error) =>
  request.log.error({ requestId: request.id, err: error }, "a run of a playbook is missing on the log");
