import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { environment, nullable, oneOf, requestId, text, tier, timestamp } from "../../kernel/http/schema-parts.ts";
import { type Owner, type Principal, scopes } from "../../kernel/identity/identity.ts";
import { detailsOf, type keyForMeResolver } from "./keys/resolve.ts";
import { openRoomQuota, tierOf } from "./tiers.ts";

export type PartnerRouteDeps = RouteDeps & {
  resolveKeyForMe: ReturnType<typeof keyForMeResolver>;
  countOpenRooms: (owner: Owner) => Promise<number>;
};

/**
 * `GET /api/partner/me` (decisions, Partner access and sessions). For a caller with a key, one read returns both the
 * key and the quota.
 */
export function partnerRoutes(
  app: FastifyInstance,
  { resolveKeyForMe, countOpenRooms, ...deps }: PartnerRouteDeps,
): void {
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
        const { keyName = null, openRooms: openRoomsUsed = await countOpenRooms(principal) } =
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

const Me = Type.Object(
  {
    firmName: text("The firm's name.", "Harbor Title Co."),
    tier: tier(),
    liveEnabled: Type.Boolean({ description: "Whether the firm may have live keys.", examples: [false] }),
    environment: environment("The environment of the key or the session."),
    key: nullable(
      Type.Object({
        prefix: text("How the key begins.", "svc_pk_test_"),
        last4: text("How the key ends.", "k3q7"),
        createdAt: timestamp("When the key was issued."),
        name: nullable(Type.String({ examples: ["Nightly export"] }), "The key's name; null for a key without one."),
        scopes: nullable(
          Type.Array(Type.String({ enum: [...scopes] }), { examples: [["read", "orders"]] }),
          "What the key may do; null for everything.",
        ),
        expiresAt: nullable(timestamp("When the key stops working."), "Null for a key without an end."),
      }),
      "The key that this request was made with; null with a session.",
    ),
    quotas: Type.Object(
      {
        openRooms: nullable(Type.Integer({ examples: [5] }), "How many rooms may be open; null for unlimited."),
        openRoomsUsed: Type.Integer({ description: "How many rooms are open.", examples: [1] }),
      },
      { description: "What the tier allows, and what is used of it." },
    ),
    role: Type.Optional(oneOf(["owner", "member"], "The signed-in member's role; left out with a key.")),
    linked: Type.Boolean({ description: "Whether the caller belongs to a firm: always true.", examples: [true] }),
    requestId: requestId(),
  },
  { $id: "Me", description: "The calling firm." },
);
type Me = Static<typeof Me>;
