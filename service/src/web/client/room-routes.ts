import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../../http/rate-limits.ts";
import type { Sql } from "../../platform/database/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { RetentionPlan } from "../../retention/retention.ts";
import { roomEnvironment, roomView } from "../../rooms/rooms.ts";
import { logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets.ts";
import { credentialHeaders } from "../ui/page-headers.ts";
import { refreshingPolicy } from "../ui/page-policy.ts";
import { type PageAnswer, pageRoute } from "../ui/page-route.ts";
import { roomRetention } from "../ui/retention.ts";
import { type RoomPageView, roomFragment, roomPage } from "./room-page.ts";

export type RoomPageDeps = { db: Sql; assets: Assets; limits: RateLimits; retention: RetentionPlan; baseUrl: string };

/** `/rooms/{code}`, and the part of it that refreshes. */
export function roomRoutes(app: FastifyInstance, deps: RoomPageDeps): void {
  const { db, assets, baseUrl } = deps;
  const frame = { policy: "page", headers: credentialHeaders } as const;

  pageRoute(app, deps, {
    ...frame,
    url: "/rooms/:code",
    handle: async ({ params, query }) => {
      const room = await find(params.code, query["activity"] === "all");
      return withPolicy(room, roomPage(assets, room, baseUrl));
    },
  });
  pageRoute(app, deps, {
    ...frame,
    url: "/rooms/:code/status",
    handle: async ({ params, query }) => {
      const room = await find(params.code, query["activity"] === "all");
      return withPolicy(room, roomFragment(room));
    },
  });

  async function find(code: string, everyStep: boolean): Promise<RoomPageView> {
    const [room, environment] = await Promise.all([roomView(db, code), roomEnvironment(db, code)]);
    if (!room || !environment) throw new ServiceError("not_found", "Room not found.");
    return { ...room, environment, retention: roomRetention(deps.retention, environment), everyStep };
  }
}

function withPolicy({ branding }: RoomPageView, page: string): PageAnswer {
  const logo = logoOf(branding);
  return { page, headers: { "Content-Security-Policy": refreshingPolicy(logo ? [logo.origin] : []) } };
}
