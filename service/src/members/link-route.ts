import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { type Callers, readSession, requireSession, sessionOf } from "../http/authentication.ts";
import { errors, ref } from "../http/openapi.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import { invalid } from "../platform/errors.ts";
import { linkMember, type MemberDeps } from "./membership.ts";

const LinkRequest = Type.Object(
  { apiKey: Type.String({ description: "A valid key of the firm." }) },
  { $id: "LinkRequest" },
);

const Linked = Type.Object(
  {
    ok: Type.Literal(true),
    partner: Type.Object({ id: Type.String({ format: "uuid" }), name: Type.String(), tier: Type.String() }),
    role: Type.Union([Type.Literal("owner"), Type.Literal("member")]),
  },
  { $id: "Linked", description: "The first who is linked becomes `owner`, later ones `member`." },
);

/** `POST /api/partner/link` (contract, Authentication 6; decisions, Partner access and sessions). */
export function linkRoute(app: FastifyInstance, deps: MemberDeps & Callers & { limits: RateLimits }): void {
  app.addSchema(LinkRequest);
  app.addSchema(Linked);
  app.post(
    "/api/partner/link",
    {
      onRequest: [readSession(deps), deps.limits.limit("partner-portal"), requireSession(deps)],
      // Described here, checked with a message of its own.
      validatorCompiler: () => () => true,
      schema: {
        operationId: "linkPartner",
        summary: "Link the signed-in person to a firm, by a key of the firm",
        tags: ["Partner"],
        security: [{ session: [] }],
        body: ref(LinkRequest),
        response: {
          200: ref(Linked),
          ...errors({
            400: "apiKey must be a valid partner API key.",
            401: "Sign in to continue.",
            403: "This request came from another site.",
            409: "This session is linked to another partner.",
            429: "Rate limit exceeded. Try again in 42 seconds.",
          }),
        },
      },
    },
    async (request, reply) => {
      const { apiKey } = (request.body ?? {}) as { apiKey?: unknown };
      if (typeof apiKey !== "string" || apiKey === "") throw invalid("apiKey is required.");
      const linked = await linkMember(deps, sessionOf(request), apiKey.trim());
      return reply.type("application/json; charset=utf-8").send(JSON.stringify({ ok: true, ...linked }));
    },
  );
}
