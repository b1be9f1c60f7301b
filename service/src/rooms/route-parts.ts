import type { onRequestAsyncHookHandler } from "fastify";
import { Type } from "typebox";

export const json = "application/json; charset=utf-8";

export const unauthorized = {
  401: "A valid partner API key is required.",
  429: "Rate limit exceeded. Try again in 42 seconds.",
};
export const quotaReached = "Your trial tier allows 5 open rooms.";

export type RoomPath = { Params: { roomCode: string } };

/** What all partner routes of rooms have in common. */
export type CommonRouteParts = {
  onRequest: onRequestAsyncHookHandler[];
  about: { tags: string[]; security: Record<string, string[]>[] };
};

const roomCode = Type.String({ description: "The room's present code." });

export const roomParams = Type.Object({ roomCode });
export const roomOrderParams = Type.Object({ roomCode, orderCode: Type.String({ description: "The order code." }) });
export const roomParticipantParams = Type.Object({ roomCode, participantId: Type.String() });
