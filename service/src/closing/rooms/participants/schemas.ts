import { type Static, Type } from "typebox";
import { nullable, ok, requestId, text, timestamp, uuid } from "../../../kernel/http/schema-parts.ts";

export const NewParticipant = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      description: "The person's name, 1 to 200 characters.",
      examples: ["Maria Silva"],
    }),
    email: Type.String({
      maxLength: 320,
      description: "The person's email address. Kept in lowercase; one address is in a room once.",
      examples: ["maria@example.com"],
    }),
    role: Type.Optional(
      nullable(
        Type.String({ maxLength: 40, default: "client", examples: ["buyer"] }),
        "What the person does here, at most 40 characters. Default `client`.",
      ),
    ),
  },
  { $id: "NewParticipant", description: "A person to name in the room." },
);

export const ParticipantAdded = Type.Object(
  {
    ok: ok(),
    alreadyPresent: Type.Boolean({ description: "Whether the address was in the room before.", examples: [false] }),
  },
  { $id: "ParticipantAdded", description: "The person is named in the room." },
);
export type ParticipantAdded = Static<typeof ParticipantAdded>;

export const ParticipantList = Type.Object(
  {
    participants: Type.Array(
      Type.Object({
        participantId: uuid("The participant's id."),
        name: text("The person's name.", "Maria Silva"),
        email: text("The person's email address, in lowercase.", "maria@example.com"),
        role: text("What the person does here.", "buyer"),
        createdAt: timestamp("When the person was added."),
      }),
      { description: "In the order in which they were added." },
    ),
    requestId: requestId(),
  },
  { $id: "ParticipantList", description: "The people named in a room." },
);
export type ParticipantList = Static<typeof ParticipantList>;
export type Participant = ParticipantList["participants"][number];
