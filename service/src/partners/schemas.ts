import { type Static, Type } from "typebox";
import { environment, nullable, oneOf, requestId, timestamp } from "../http/schema-parts.ts";

export const Me = Type.Object(
  {
    firmName: Type.String(),
    tier: Type.String(),
    liveEnabled: Type.Boolean(),
    environment: environment(),
    key: nullable(Type.Object({ prefix: Type.String(), last4: Type.String(), createdAt: timestamp() })),
    quotas: Type.Object({ openRooms: nullable(Type.Integer()), openRoomsUsed: Type.Integer() }),
    role: Type.Optional(oneOf(["owner", "member"], "Of the signed-in member; not with a key.")),
    linked: Type.Boolean(),
    requestId: requestId(),
  },
  { $id: "Me", description: "The calling firm; `key` is null with a session, `quotas.openRooms` when unlimited." },
);
export type Me = Static<typeof Me>;
