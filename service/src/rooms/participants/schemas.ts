import { type Static, Type } from "typebox";
import { nullable, requestId, timestamp, uuid } from "../../http/schema-parts.ts";

export const NewParticipant = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    email: Type.String({ maxLength: 320, description: "Kept in lowercase; one email is in a room once." }),
    role: Type.Optional(nullable(Type.String({ maxLength: 40, default: "client" }))),
  },
  { $id: "NewParticipant" },
);

export const ParticipantAdded = Type.Object(
  { ok: Type.Literal(true), alreadyPresent: Type.Boolean() },
  { $id: "ParticipantAdded" },
);
export type ParticipantAdded = Static<typeof ParticipantAdded>;

export const ParticipantList = Type.Object(
  {
    participants: Type.Array(
      Type.Object({
        participantId: uuid(),
        name: Type.String(),
        email: Type.String(),
        role: Type.String(),
        createdAt: timestamp(),
      }),
    ),
    requestId: requestId(),
  },
  { $id: "ParticipantList", description: "Those present, in the order in which they came." },
);
export type ParticipantList = Static<typeof ParticipantList>;
export type Participant = ParticipantList["participants"][number];
