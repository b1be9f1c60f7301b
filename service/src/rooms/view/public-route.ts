import type { FastifyInstance } from "fastify";
import { errors, ref } from "../../http/openapi.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import type { Sql } from "../../platform/database.ts";
import { json, type RoomPath, roomParams } from "../route-parts.ts";
import { RoomView } from "../schemas.ts";
import { openViewReader } from "./views.ts";

// About a thousand views of full rooms.
const cacheBytes = 32 * 1024 * 1024;

/** `GET /api/rooms/{roomCode}`: for whoever has the code. */
export function publicViewRoute(app: FastifyInstance, { db, limits }: { db: Sql; limits: RateLimits }): void {
  const readView = openViewReader(db, cacheBytes);
  app.get<RoomPath>(
    "/api/rooms/:roomCode",
    {
      onRequest: limits.limit("public-read"),
      schema: {
        tags: ["Rooms"],
        operationId: "viewRoom",
        summary: "See a room by its code",
        security: [],
        params: roomParams,
        response: {
          200: ref(RoomView),
          404: { type: "null", description: "No such room; the body is empty." },
          ...errors({ 429: "Rate limit exceeded. Try again in 42 seconds." }),
        },
      },
    },
    async (request, reply) => {
      const answer = await readView(request.params.roomCode);
      return answer ? reply.type(json).send(answer) : reply.code(404).send();
    },
  );
}
