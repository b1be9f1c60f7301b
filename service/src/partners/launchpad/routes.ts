import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../http/route.ts";
import type { Sql } from "../../platform/database.ts";
import { readLaunchpad } from "./launchpad.ts";

const orNull = (schema: ReturnType<typeof Type.String> | ReturnType<typeof Type.Number>) =>
  Type.Union([schema, Type.Null()]);

const Launchpad = Type.Object(
  {
    partner: Type.Object({ id: Type.String({ format: "uuid" }), name: Type.String(), tier: Type.String() }),
    readyForLive: Type.Boolean({ description: "All items but `live` are done." }),
    completed: Type.Integer({ minimum: 0 }),
    total: Type.Integer({ minimum: 0 }),
    checklist: Type.Array(
      Type.Object({
        key: Type.String({ examples: ["first_test_order"] }),
        label: Type.String(),
        done: Type.Boolean(),
        action: Type.String(),
        deepLink: Type.String({ description: "A path on this service." }),
      }),
    ),
    funnel: Type.Array(
      Type.Object({
        step: Type.String({ examples: ["first_live_order"] }),
        reached: Type.Boolean(),
        at: orNull(Type.String({ format: "date-time" })),
      }),
    ),
    hoursToFirstLiveOrder: orNull(Type.Number({ description: "From joining; two decimals." })),
    requestId: Type.String(),
  },
  { $id: "Launchpad", description: "How far the firm has come on its way to live." },
);

export type LaunchpadRouteDeps = RouteDeps & { db: Sql };

/** `GET /api/partner/launchpad` (decisions, Partner access and sessions). */
export function launchpadRoutes(app: FastifyInstance, deps: LaunchpadRouteDeps): void {
  jsonRoute(app, deps, {
    method: "GET",
    url: "/api/partner/launchpad",
    tag: "Partner",
    operationId: "getLaunchpad",
    summary: "What is done and what is left on the way to live",
    caller: "key-or-session",
    policy: "partner-portal",
    answer: Launchpad,
    handle: async (request) => ({ ...(await readLaunchpad(deps.db, principalOf(request))), requestId: request.id }),
  });
}
