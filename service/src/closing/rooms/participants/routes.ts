import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../../kernel/http/route.ts";
import type { RoomDeps } from "../begin-change.ts";
import { participantFields } from "../fields.ts";
import { roomParams, roomParticipantParams } from "../params.ts";
import { RoomChanged } from "../schemas.ts";
import { addParticipant, listParticipants, removeParticipant } from "./participants.ts";
import { NewParticipant, ParticipantAdded, ParticipantList } from "./schemas.ts";

/**
 * Adds the routes for a room's participants (the people named in it). These routes are an addition to the API contract.
 */
export function participantRoutes(app: FastifyInstance, deps: RoomDeps & RouteDeps): void {
  const common = { tag: "Rooms", caller: "key", policy: "partner-write" } as const;
  jsonRoute(app, deps, {
    ...common,
    method: "GET",
    scope: "read",
    url: "/api/rooms/:roomCode/participants",
    operationId: "listParticipants",
    summary: "List participants",
    description: "The people named in the room, in the order in which they were added.",
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
    scope: "rooms",
    url: "/api/rooms/:roomCode/participants",
    operationId: "addParticipant",
    summary: "Add a participant",
    description: "Names a person in the room. It grants no access and sends nothing: the room's link does.",
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
    scope: "rooms",
    url: "/api/rooms/:roomCode/participants/:participantId",
    operationId: "removeParticipant",
    summary: "Remove a participant",
    description: "The person is no longer shown in the room.",
    params: roomParticipantParams,
    bodyIs: "none",
    answer: RoomChanged,
    refusals: { 404: "That participant is not in this room." },
    handle: (request) =>
      removeParticipant(deps, principalOf(request), request.params.roomCode, request.params.participantId),
  });
}
