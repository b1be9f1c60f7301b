import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { linkedPrincipalOf, readSession } from "../http/authentication.ts";
import { errors, ref } from "../http/openapi.ts";
import { keyOrSession, type PortalDeps, portalRefusals } from "../http/portal.ts";
import type { Sql } from "../platform/database.ts";
import type { ResolveKeyWithRooms } from "./keys/resolve.ts";
import { countOpenRooms } from "./open-rooms.ts";
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
    role: Type.Optional(
      Type.Union([Type.Literal("owner"), Type.Literal("member")], {
        description: "Of the signed-in member; not with a key.",
      }),
    ),
    linked: Type.Boolean(),
    requestId: Type.String(),
  },
  { $id: "Me", description: "The calling firm; `key` is null with a session, `quotas.openRooms` when unlimited." },
);

export type PartnerRouteDeps = PortalDeps & { db: Sql; resolveKeyWithRooms: ResolveKeyWithRooms };

/** `GET /api/partner/me` (decisions, Partner access and sessions): key and quota by one read. */
export function partnerRoutes(app: FastifyInstance, deps: PartnerRouteDeps): void {
  app.addSchema(Me);
  app.get(
    "/api/partner/me",
    {
      onRequest: [readSession(deps), deps.limits.limit("partner-portal")],
      schema: {
        operationId: "getMe",
        summary: "The calling firm, its key and its quotas",
        tags: ["Partner"],
        security: keyOrSession,
        response: {
          200: ref(Me),
          ...errors(portalRefusals),
        },
      },
    },
    async (request, reply) => {
      const found = await deps.resolveKeyWithRooms(request.headers.authorization);
      const principal = found?.principal ?? linkedPrincipalOf(request);
      request.principal = principal;
      const { firmName, tier, liveEnabled, environment, key, member } = principal;
      const openRoomsUsed = found?.openRooms ?? (await countOpenRooms(deps.db, principal));
      const me = {
        firmName,
        tier,
        liveEnabled,
        environment,
        key: key && { prefix: key.prefix, last4: key.last4, createdAt: key.createdAt.toISOString() },
        quotas: { openRooms: openRoomQuota(tierOf(tier)), openRoomsUsed },
        ...(member && { role: member.role }),
        linked: true,
        requestId: request.id,
      };
      return reply.type("application/json; charset=utf-8").send(JSON.stringify(me));
    },
  );
}
