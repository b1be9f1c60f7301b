import type { FastifyInstance } from "fastify";
import { principalOf } from "../../http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../http/route.ts";
import type { RoomDeps } from "../change.ts";
import { participantFields } from "../fields.ts";
import { roomParams, roomParticipantParams } from "../params.ts";
import { RoomChanged } from "../schemas.ts";
import { addParticipant, listParticipants, removeParticipant } from "./participants.ts";
import { NewParticipant, ParticipantAdded, ParticipantList } from "./schemas.ts";

/** People named in a room (an addition to the contract). */
export function participantRoutes(app: FastifyInstance, deps: RoomDeps & RouteDeps): void {
  const common = { tag: "Rooms", caller: "key", policy: "partner-write" } as const;
  jsonRoute(app, deps, {
    ...common,
    method: "GET",
    url: "/api/rooms/:roomCode/participants",
    operationId: "listParticipants",
    summary: "List a room's participants",
    params: roomParams,
    answer: ParticipantList,
    refusals: { 404: "Room not found." },
    handle: async (request) => ({
      participants: await listParticipants(deps, principalOf(request), request.params.roomCode),
      requestId: request.id,
    }),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    url: "/api/rooms/:roomCode/participants",
    operationId: "addParticipant",
    summary: "Name a participant; it grants no access",
    params: roomParams,
    body: NewParticipant,
    answer: ParticipantAdded,
    refusals: { 400: "A room holds at most 25 participants.", 404: "Room not found." },
    handle: (request) =>
      addParticipant(deps, principalOf(request), request.params.roomCode, participantFields(request.body)),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "DELETE",
    url: "/api/rooms/:roomCode/participants/:participantId",
    operationId: "removeParticipant",
    summary: "Take a participant out of a room",
    params: roomParticipantParams,
    bodyIs: "none",
    answer: RoomChanged,
    refusals: { 404: "That participant is not in this room." },
    handle: (request) =>
      removeParticipant(deps, principalOf(request), request.params.roomCode, request.params.participantId),
  });
}
