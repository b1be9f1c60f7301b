import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { errors, ref } from "../http/openapi.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import { ServiceError } from "../platform/errors.ts";
import type { ResolveKeyWithRooms } from "./keys.ts";
import { openRoomQuota, tierOf } from "./tiers.ts";

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

const Me = Type.Object(
  {
    firmName: Type.String(),
    tier: Type.String(),
    liveEnabled: Type.Boolean(),
    environment: Type.Union([Type.Literal("live"), Type.Literal("test")]),
    key: nullable(
      Type.Object({ prefix: Type.String(), last4: Type.String(), createdAt: Type.String({ format: "date-time" }) }),
    ),
    quotas: Type.Object({ openRooms: nullable(Type.Integer()), openRoomsUsed: Type.Integer() }),
    linked: Type.Boolean(),
    requestId: Type.String(),
  },
  { $id: "Me", description: "The calling firm; `quotas.openRooms` is null when unlimited." },
);

export type PartnerRouteDeps = { resolveKeyWithRooms: ResolveKeyWithRooms; limits: RateLimits };

/** `GET /api/partner/me` (decisions, Partner access and sessions): key and quota by one read. */
export function partnerRoutes(app: FastifyInstance, { resolveKeyWithRooms, limits }: PartnerRouteDeps): void {
  app.addSchema(Me);
  app.get(
    "/api/partner/me",
    {
      onRequest: limits.limit("partner-portal"),
      schema: {
        operationId: "getMe",
        summary: "The calling firm, its key and its quotas",
        tags: ["Partner"],
        security: [{ partnerKey: [] }],
        response: {
          200: ref(Me),
          ...errors({ 401: "Sign in to continue.", 429: "Rate limit exceeded. Try again in 42 seconds." }),
        },
      },
    },
    async (request, reply) => {
      const found = await resolveKeyWithRooms(request.headers.authorization);
      if (!found) throw new ServiceError("sign_in_required", "Sign in to continue.");
      request.principal = found.principal;
      const { firmName, tier, liveEnabled, environment, key } = found.principal;
      const me = {
        firmName,
        tier,
        liveEnabled,
        environment,
        key: key && { prefix: key.prefix, last4: key.last4, createdAt: key.createdAt.toISOString() },
        quotas: { openRooms: openRoomQuota(tierOf(tier)), openRoomsUsed: found.openRooms },
        linked: true,
        requestId: request.id,
      };
      return reply.type("application/json; charset=utf-8").send(JSON.stringify(me));
    },
  );
}
