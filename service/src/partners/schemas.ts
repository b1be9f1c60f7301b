import { type Static, Type } from "typebox";
import { environment, nullable, oneOf, requestId, text, tier, timestamp } from "../http/schema-parts.ts";

export const Me = Type.Object(
  {
    firmName: text("The firm's name.", "Harbor Title Co."),
    tier: tier(),
    liveEnabled: Type.Boolean({ description: "Whether the firm may have live keys.", examples: [false] }),
    environment: environment("The environment of the key or the session."),
    key: nullable(
      Type.Object({
        prefix: text("How the key begins.", "svc_pk_test_"),
        last4: text("How the key ends.", "k3q7"),
        createdAt: timestamp("When the key was issued."),
      }),
      "The key that this request was made with; null with a session.",
    ),
    quotas: Type.Object(
      {
        openRooms: nullable(Type.Integer({ examples: [5] }), "How many rooms may be open; null for unlimited."),
        openRoomsUsed: Type.Integer({ description: "How many rooms are open.", examples: [1] }),
      },
      { description: "What the tier allows, and what is used of it." },
    ),
    role: Type.Optional(oneOf(["owner", "member"], "The signed-in member's role; left out with a key.")),
    linked: Type.Boolean({ description: "Whether the caller belongs to a firm: always true.", examples: [true] }),
    requestId: requestId(),
  },
  { $id: "Me", description: "The calling firm." },
);
export type Me = Static<typeof Me>;
