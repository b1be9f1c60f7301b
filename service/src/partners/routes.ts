import type { FastifyInstance } from "fastify";
import { principalOf } from "../http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../http/route.ts";
import type { Principal } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { detailsOf, type keyForMeResolver } from "./keys/resolve.ts";
import { countOpenRooms, openRoomQuota } from "./open-rooms.ts";
import { Me } from "./schemas.ts";
import { tierOf } from "./tiers.ts";

export type PartnerRouteDeps = RouteDeps & { db: Sql; resolveKeyForMe: ReturnType<typeof keyForMeResolver> };

/** `GET /api/partner/me` (decisions, Partner access and sessions): with a key, key and quota by one read. */
export function partnerRoutes(app: FastifyInstance, { db, resolveKeyForMe, ...deps }: PartnerRouteDeps): void {
  jsonRoute(
    app,
    { ...deps, resolveKey: resolveKeyForMe },
    {
      method: "GET",
      scope: "read",
      url: "/api/partner/me",
      tag: "Partner",
      operationId: "getMe",
      summary: "Get your account",
      description: "The firm, the key and the quotas of the caller. A good first call to test a key with.",
      caller: "key-or-session",
      policy: "partner-portal",
      answer: Me,
      handle: async (request) => {
        const principal = principalOf(request);
        const { keyName = null, openRooms: openRoomsUsed = await countOpenRooms(db, principal) } =
          detailsOf(principal) ?? {};
        return { ...meView(principal, keyName, openRoomsUsed), requestId: request.id };
      },
    },
  );
}

const meView = (principal: Principal, keyName: string | null, openRoomsUsed: number): Omit<Me, "requestId"> => {
  const { firmName, tier, liveEnabled, environment, key, member } = principal;
  return {
    firmName,
    tier,
    liveEnabled,
    environment,
    key: key && {
      prefix: key.prefix,
      last4: key.last4,
      createdAt: key.createdAt.toISOString(),
      name: keyName,
      scopes: key.scopes && [...key.scopes],
      expiresAt: key.expiresAt?.toISOString() ?? null,
    },
    quotas: { openRooms: openRoomQuota(tierOf(tier)), openRoomsUsed },
    ...(member && { role: member.role }),
    linked: true,
  };
};
