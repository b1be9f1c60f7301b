import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../http/authentication.ts";
import { jsonRoute, optionalText, type RouteDeps } from "../http/route.ts";
import { attachmentRoutes } from "./attachments/routes.ts";
import type { RoomDeps } from "./change.ts";
import { newRoomFields } from "./fields.ts";
import { closeRoom, createRoom, reopenRoom, rotateRoom } from "./lifecycle.ts";
import { roomPage } from "./list.ts";
import { roomParams } from "./params.ts";
import { participantRoutes } from "./participants/routes.ts";
import { CreatedRoom, NewRoom, RoomList, RoomStatus, RoomSummary, RotatedRoom } from "./schemas.ts";
import { publicViewRoute } from "./view/public-route.ts";

export type RoomRouteDeps = RoomDeps & RouteDeps;

const common = { tag: "Rooms", caller: "key", policy: "partner-write" } as const;
const unknownRoom = { 404: "Room not found." };
const quotaReached = { 400: "Your trial tier allows 5 open rooms." };

/** Closing rooms (contract, Endpoints, Closing rooms; close, reopen and participants are additions to it). */
export function roomRoutes(app: FastifyInstance, deps: RoomRouteDeps): void {
  app.addSchema(RoomSummary);
  publicViewRoute(app, deps);
  createAndListRoutes(app, deps);
  lifecycleRoutes(app, deps);
  attachmentRoutes(app, deps);
  participantRoutes(app, deps);
}

function createAndListRoutes(app: FastifyInstance, deps: RoomRouteDeps): void {
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    url: "/api/rooms",
    operationId: "createRoom",
    summary: "Create a closing room",
    body: NewRoom,
    answer: CreatedRoom,
    refusals: { 400: "A room name (1-200 chars) is required." },
    handle: (request) => createRoom(deps, principalOf(request), newRoomFields(request.body)),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "GET",
    url: "/api/rooms",
    operationId: "listRooms",
    summary: "List your rooms, newest first",
    query: Type.Object({
      limit: optionalText("1 to 1000, default 1000; values outside are clamped."),
      cursor: optionalText("`nextCursor` of the page before."),
    }),
    answer: RoomList,
    refusals: { 400: "limit must be a whole number from 1 to 1000." },
    handle: async (request) => ({
      ...(await roomPage(deps.db, principalOf(request), request.query)),
      requestId: request.id,
    }),
  });
}

function lifecycleRoutes(app: FastifyInstance, deps: RoomRouteDeps): void {
  const frame = { ...common, method: "POST", params: roomParams, bodyIs: "none" } as const;
  jsonRoute(app, deps, {
    ...frame,
    url: "/api/rooms/:roomCode/rotate",
    operationId: "rotateRoom",
    summary: "Replace a room's code; the old one stops working at once",
    answer: RotatedRoom,
    refusals: unknownRoom,
    handle: (request) => rotateRoom(deps, principalOf(request), request.params.roomCode),
  });
  jsonRoute(app, deps, {
    ...frame,
    url: "/api/rooms/:roomCode/close",
    operationId: "closeRoom",
    summary: "Close a room: it leaves the quota, keeps its view and takes no new orders",
    answer: RoomStatus,
    refusals: unknownRoom,
    handle: (request) => closeRoom(deps, principalOf(request), request.params.roomCode),
  });
  jsonRoute(app, deps, {
    ...frame,
    url: "/api/rooms/:roomCode/reopen",
    operationId: "reopenRoom",
    summary: "Open a closed room again",
    answer: RoomStatus,
    refusals: { ...quotaReached, ...unknownRoom },
    handle: (request) => reopenRoom(deps, principalOf(request), request.params.roomCode),
  });
}
