import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf, requireKey } from "../http/authentication.ts";
import { acceptNoBody } from "../http/bodies.ts";
import { errors, ref } from "../http/openapi.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import type { ResolveKey } from "../identity/identity.ts";
import { invalid } from "../platform/errors.ts";
import type { RoomDeps } from "./change.ts";
import { contentRoutes } from "./content-routes.ts";
import { newRoomFields } from "./fields.ts";
import { closeRoom, createRoom, reopenRoom, rotateRoom } from "./lifecycle.ts";
import { type RoomListQuery, roomPage } from "./list.ts";
import { json, quotaReached, type RoomPath, roomParams, unauthorized } from "./route-parts.ts";
import { CreatedRoom, NewRoom, RoomList, RoomStatus, RotatedRoom, roomSchemas } from "./schemas.ts";
import { publicViewRoute } from "./view/public-route.ts";

export type RoomRouteDeps = RoomDeps & { resolveKey: ResolveKey; limits: RateLimits };

/** Closing rooms (contract, Endpoints, Closing rooms; close, reopen and participants are additions to it). */
export function roomRoutes(app: FastifyInstance, deps: RoomRouteDeps): void {
  for (const schema of roomSchemas) app.addSchema(schema);
  const common = {
    onRequest: [requireKey(deps.resolveKey), deps.limits.limit("partner-write")],
    about: { tags: ["Rooms"], security: [{ partnerKey: [] }] },
  };
  publicViewRoute(app, deps);
  contentRoutes(app, deps, common);
  const { onRequest, about } = common;

  app.post(
    "/api/rooms",
    {
      onRequest,
      // Described here, checked with the contract's messages in fields.ts.
      validatorCompiler: () => () => true,
      schema: {
        ...about,
        operationId: "createRoom",
        summary: "Create a closing room",
        body: ref(NewRoom),
        response: {
          200: ref(CreatedRoom),
          ...errors({ 400: "A room name (1-200 chars) is required.", ...unauthorized }),
        },
      },
    },
    async (request, reply) => {
      const room = await createRoom(deps, principalOf(request), newRoomFields(request.body));
      return reply.type(json).send(JSON.stringify(room));
    },
  );

  app.get<{ Querystring: RoomListQuery }>(
    "/api/rooms",
    {
      onRequest,
      attachValidation: true,
      schema: {
        ...about,
        operationId: "listRooms",
        summary: "List your rooms, newest first",
        querystring: Type.Object({
          limit: Type.Optional(Type.String({ description: "1 to 1000, default 1000; values outside are clamped." })),
          cursor: Type.Optional(Type.String({ description: "`nextCursor` of the page before." })),
        }),
        response: {
          200: ref(RoomList),
          ...errors({ 400: "limit must be a whole number from 1 to 1000.", ...unauthorized }),
        },
      },
    },
    async (request, reply) => {
      const repeated = Object.entries(request.query).find(([, value]) => typeof value !== "string");
      if (repeated) throw invalid(`${repeated[0]} must be sent once.`);
      const page = await roomPage(deps.db, principalOf(request), request.query);
      return reply.type(json).send(JSON.stringify({ ...page, requestId: request.id }));
    },
  );

  app.register(async (scope) => {
    acceptNoBody(scope);

    scope.post<RoomPath>(
      "/api/rooms/:roomCode/rotate",
      {
        onRequest,
        schema: {
          ...about,
          operationId: "rotateRoom",
          summary: "Replace a room's code; the old one stops working at once",
          params: roomParams,
          response: { 200: ref(RotatedRoom), ...errors({ ...unauthorized, 404: "Room not found." }) },
        },
      },
      async (request, reply) => {
        const room = await rotateRoom(deps, principalOf(request), request.params.roomCode);
        return reply.type(json).send(JSON.stringify(room));
      },
    );

    scope.post<RoomPath>(
      "/api/rooms/:roomCode/close",
      {
        onRequest,
        schema: {
          ...about,
          operationId: "closeRoom",
          summary: "Close a room: it leaves the quota, keeps its view and takes no new orders",
          params: roomParams,
          response: { 200: ref(RoomStatus), ...errors({ ...unauthorized, 404: "Room not found." }) },
        },
      },
      async (request, reply) => {
        const answer = await closeRoom(deps, principalOf(request), request.params.roomCode);
        return reply.type(json).send(JSON.stringify(answer));
      },
    );

    scope.post<RoomPath>(
      "/api/rooms/:roomCode/reopen",
      {
        onRequest,
        schema: {
          ...about,
          operationId: "reopenRoom",
          summary: "Open a closed room again",
          params: roomParams,
          response: { 200: ref(RoomStatus), ...errors({ 400: quotaReached, ...unauthorized, 404: "Room not found." }) },
        },
      },
      async (request, reply) => {
        const answer = await reopenRoom(deps, principalOf(request), request.params.roomCode);
        return reply.type(json).send(JSON.stringify(answer));
      },
    );
  });
}
