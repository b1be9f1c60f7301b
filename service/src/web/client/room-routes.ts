import type { FastifyInstance, FastifyReply, onRequestAsyncHookHandler } from "fastify";
import type { Sql } from "../../platform/database.ts";
import { ServiceError } from "../../platform/errors.ts";
import { roomEnvironment, roomView } from "../../rooms/rooms.ts";
import { logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets.ts";
import { credentialHeaders, htmlType } from "../ui/page-headers.ts";
import { refreshingPolicy } from "../ui/page-policy.ts";
import { type RoomPageView, roomFragment, roomPage } from "./room-page.ts";

type CodeRoute = { Params: { code: string } };

/** `/rooms/{code}`, and the part of it that refreshes. */
export function roomRoutes(
  people: FastifyInstance,
  { db, assets, onRequest }: { db: Sql; assets: Assets; onRequest: onRequestAsyncHookHandler },
): void {
  const options = { onRequest, schema: { hide: true } };

  people.get<CodeRoute>("/rooms/:code", options, async ({ params }, reply) => {
    const room = await find(params.code);
    return send(reply, room, roomPage(assets, room));
  });
  people.get<CodeRoute>("/rooms/:code/status", options, async ({ params }, reply) => {
    const room = await find(params.code);
    return send(reply, room, roomFragment(room));
  });

  async function find(code: string): Promise<RoomPageView> {
    const [room, environment] = await Promise.all([roomView(db, code), roomEnvironment(db, code)]);
    if (!room || !environment) throw new ServiceError("not_found", "Room not found.");
    return { ...room, environment };
  }
}

function send(reply: FastifyReply, { branding }: RoomPageView, page: string): FastifyReply {
  const logo = logoOf(branding);
  const policy = refreshingPolicy(logo ? [logo.origin] : []);
  return reply.type(htmlType).headers(credentialHeaders).header("Content-Security-Policy", policy).send(page);
}
