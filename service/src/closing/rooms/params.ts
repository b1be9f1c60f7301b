import { Type } from "typebox";

const roomCode = Type.String({ description: "The room's current code." });

/** Path parameters of a room's routes. */
export const roomParams = Type.Object({ roomCode });
export const roomOrderParams = Type.Object({ roomCode, orderCode: Type.String({ description: "The order code." }) });
export const roomParticipantParams = Type.Object({
  roomCode,
  participantId: Type.String({ description: "The participant's id, from the list." }),
});
