import type { FastifyInstance } from "fastify";
import { principalOf } from "../http/authentication.ts";
import { acceptNoBody } from "../http/bodies.ts";
import { errors, ref } from "../http/openapi.ts";
import { attachOrder, detachOrder } from "./attachments/attachments.ts";
import type { RoomDeps } from "./change.ts";
import { attachFields, participantFields } from "./fields.ts";
import { addParticipant, listParticipants, removeParticipant } from "./participants/participants.ts";
import {
  type CommonRouteParts,
  json,
  type RoomPath,
  roomOrderParams,
  roomParams,
  roomParticipantParams,
  unauthorized,
} from "./route-parts.ts";
import { Attached, Attachment, NewParticipant, ParticipantAdded, ParticipantList, RoomChanged } from "./schemas.ts";

/** What is in a room: its orders and its participants. */
export function contentRoutes(app: FastifyInstance, deps: RoomDeps, { onRequest, about }: CommonRouteParts): void {
  const validatorCompiler = () => () => true;

  app.post<RoomPath>(
    "/api/rooms/:roomCode/orders",
    {
      onRequest,
      validatorCompiler,
      schema: {
        ...about,
        operationId: "attachOrder",
        summary: "Attach an order to a room",
        params: roomParams,
        body: ref(Attachment),
        response: {
          200: ref(Attached),
          ...errors({ 400: "A room holds at most 50 orders.", ...unauthorized, 404: "Order not found." }),
        },
      },
    },
    async (request, reply) => {
      const fields = attachFields(request.body);
      const answer = await attachOrder(deps, principalOf(request), request.params.roomCode, fields);
      return reply.type(json).send(JSON.stringify(answer));
    },
  );

  app.get<RoomPath>(
    "/api/rooms/:roomCode/participants",
    {
      onRequest,
      schema: {
        ...about,
        operationId: "listParticipants",
        summary: "List a room's participants",
        params: roomParams,
        response: { 200: ref(ParticipantList), ...errors({ ...unauthorized, 404: "Room not found." }) },
      },
    },
    async (request, reply) => {
      const answer = await listParticipants(deps, principalOf(request), request.params.roomCode);
      return reply.type(json).send(JSON.stringify({ ...answer, requestId: request.id }));
    },
  );

  app.post<RoomPath>(
    "/api/rooms/:roomCode/participants",
    {
      onRequest,
      validatorCompiler,
      schema: {
        ...about,
        operationId: "addParticipant",
        summary: "Name a participant; it grants no access",
        params: roomParams,
        body: ref(NewParticipant),
        response: {
          200: ref(ParticipantAdded),
          ...errors({ 400: "A room holds at most 25 participants.", ...unauthorized, 404: "Room not found." }),
        },
      },
    },
    async (request, reply) => {
      const fields = participantFields(request.body);
      const answer = await addParticipant(deps, principalOf(request), request.params.roomCode, fields);
      return reply.type(json).send(JSON.stringify(answer));
    },
  );

  app.register(async (scope) => {
    acceptNoBody(scope);

    scope.delete<{ Params: { roomCode: string; orderCode: string } }>(
      "/api/rooms/:roomCode/orders/:orderCode",
      {
        onRequest,
        schema: {
          ...about,
          operationId: "detachOrder",
          summary: "Take an order out of a room",
          params: roomOrderParams,
          response: { 200: ref(RoomChanged), ...errors({ ...unauthorized, 404: "That order is not in this room." }) },
        },
      },
      async (request, reply) => {
        const { roomCode, orderCode } = request.params;
        const answer = await detachOrder(deps, principalOf(request), roomCode, orderCode);
        return reply.type(json).send(JSON.stringify(answer));
      },
    );

    scope.delete<{ Params: { roomCode: string; participantId: string } }>(
      "/api/rooms/:roomCode/participants/:participantId",
      {
        onRequest,
        schema: {
          ...about,
          operationId: "removeParticipant",
          summary: "Take a participant out of a room",
          params: roomParticipantParams,
          response: {
            200: ref(RoomChanged),
            ...errors({ ...unauthorized, 404: "That participant is not in this room." }),
          },
        },
      },
      async (request, reply) => {
        const { roomCode, participantId } = request.params;
        const answer = await removeParticipant(deps, principalOf(request), roomCode, participantId);
        return reply.type(json).send(JSON.stringify(answer));
      },
    );
  });
}
