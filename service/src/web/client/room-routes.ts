import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../../http/rate-limits.ts";
import type { Sql } from "../../platform/database/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { RetentionPlan } from "../../retention/retention.ts";
import { roomEnvironment, roomView } from "../../rooms/rooms.ts";
import { logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { refreshingPolicy } from "../ui/page/policy.ts";
import type { PageAnswer } from "../ui/page/route.ts";
import { roomRetention } from "../ui/retention.ts";
import type { Reader } from "../ui/words/reader.ts";
import { clientRoute } from "./client-route.ts";
import { type RoomPageView, roomFragment, roomPage } from "./room-page.ts";

export type RoomPageDeps = { db: Sql; assets: Assets; limits: RateLimits; retention: RetentionPlan; baseUrl: string };

/** `/rooms/{code}`, and the part of it that refreshes. */
export function roomRoutes(app: FastifyInstance, deps: RoomPageDeps): void {
  const { db, assets, baseUrl } = deps;

  clientRoute(app, deps, "/rooms/:code", async ({ params, query }, reader) => {
    const room = await find(params.code, query["activity"] === "all", reader);
    return withPolicy(room, roomPage(assets, room, baseUrl, reader));
  });
  clientRoute(app, deps, "/rooms/:code/status", async ({ params, query }, reader) => {
    const room = await find(params.code, query["activity"] === "all", reader);
    return withPolicy(room, roomFragment(room, reader));
  });

  async function find(code: string, everyStep: boolean, { words }: Reader): Promise<RoomPageView> {
    const [room, environment] = await Promise.all([roomView(db, code), roomEnvironment(db, code)]);
    if (!room || !environment) throw new ServiceError("not_found", "Room not found.");
    return { ...room, environment, retention: roomRetention(deps.retention, environment, words), everyStep };
  }
}

function withPolicy({ branding }: RoomPageView, page: string): PageAnswer {
  const logo = logoOf(branding);
  return { page, headers: { "Content-Security-Policy": refreshingPolicy(logo ? [logo.origin] : []) } };
}
