import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, reusedKey, sendStored } from "../http/idempotency-key.ts";
import { jsonRoute, optionalText, type RouteDeps } from "../http/route.ts";
import { fingerprintOf, onceRecorded, type RecordAnswer, requestKey } from "../platform/idempotency.ts";
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
    scope: "rooms",
    url: "/api/rooms",
    operationId: "createRoom",
    summary: "Create a room",
    description:
      "A room bundles the orders of one transaction under one link. How many rooms may be open at a time depends on your tier.",
    headers: idempotencyHeader,
    body: NewRoom,
    answer: CreatedRoom,
    refusals: { 400: "A room name (1-200 chars) is required.", ...reusedKey },
    async handle(request, reply) {
      const fields = newRoomFields(request.body);
      const fingerprint = fingerprintOf(new Map([["room", JSON.stringify(fields)]]), null);
      const key = requestKey(principalOf(request), "POST /api/rooms", idempotencyKeyOf(request), fingerprint);
      const work = (record: RecordAnswer) => createRoom(deps, principalOf(request), fields, record);
      return sendStored(reply, await onceRecorded(deps, key, { status: 200, work }));
    },
  });
  jsonRoute(app, deps, {
    ...common,
    method: "GET",
    scope: "read",
    url: "/api/rooms",
    operationId: "listRooms",
    summary: "List rooms",
    description: "Your rooms, newest first, a page at a time.",
    query: Type.Object({
      limit: optionalText("How many to answer: 1 to 1000, default 1000. Values outside are clamped.", "100"),
      cursor: optionalText("`nextCursor` of the previous page."),
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
  const frame = { ...common, method: "POST", scope: "rooms", params: roomParams, bodyIs: "none" } as const;
  jsonRoute(app, deps, {
    ...frame,
    url: "/api/rooms/:roomCode/rotate",
    operationId: "rotateRoom",
    summary: "Replace a room's code",
    description: "The remedy for a leaked link: the room gets a new code, and the old one stops working at once.",
    answer: RotatedRoom,
    refusals: unknownRoom,
    handle: (request) => rotateRoom(deps, principalOf(request), request.params.roomCode),
  });
  jsonRoute(app, deps, {
    ...frame,
    url: "/api/rooms/:roomCode/close",
    operationId: "closeRoom",
    summary: "Close a room",
    description: "A closed room no longer counts against your quota, keeps its public view, and takes no new orders.",
    answer: RoomStatus,
    refusals: unknownRoom,
    handle: (request) => closeRoom(deps, principalOf(request), request.params.roomCode),
  });
  jsonRoute(app, deps, {
    ...frame,
    url: "/api/rooms/:roomCode/reopen",
    operationId: "reopenRoom",
    summary: "Reopen a room",
    description: "The room takes orders again, and counts against your quota again.",
    answer: RoomStatus,
    refusals: { ...quotaReached, ...unknownRoom },
    handle: (request) => reopenRoom(deps, principalOf(request), request.params.roomCode),
  });
}
