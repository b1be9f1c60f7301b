import type { FastifyInstance } from "fastify";
import { jsonRoute, type RouteDeps, sendText } from "../../http/route.ts";
import type { Sql } from "../../platform/database/database.ts";
import { roomParams } from "../params.ts";
import { openViewReader } from "./read-view.ts";
import { ActivityItem, OrderCard, RoomView } from "./schemas.ts";

// About a thousand views of full rooms.
const cacheBytes = 32 * 1024 * 1024;

/** `GET /api/rooms/{roomCode}`: for everybody who has the code. */
export function publicViewRoute(app: FastifyInstance, deps: RouteDeps & { db: Sql }): void {
  for (const schema of [OrderCard, ActivityItem]) app.addSchema(schema);
  const readView = openViewReader(deps.db, cacheBytes);
  jsonRoute(app, deps, {
    method: "GET",
    url: "/api/rooms/:roomCode",
    tag: "Rooms",
    operationId: "viewRoom",
    summary: "View a room",
    description:
      "Public: the room code is the credential. Shows the status of every attached order, what happened, and the latest closing passport. Poll it no more than once every few seconds; the room's own page does so every 15.",
    caller: "anybody",
    policy: "public-read",
    params: roomParams,
    answer: RoomView,
    otherAnswers: { 404: { type: "null", description: "No such room; the body is empty." } },
    async handle(request, reply) {
      const answer = await readView(request.params.roomCode);
      return answer ? sendText(reply, answer) : { sent: reply.code(404).send() };
    },
  });
}
