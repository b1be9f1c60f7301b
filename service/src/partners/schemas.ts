import { type Static, Type } from "typebox";
import { environment, nullable, oneOf, requestId, text, tier, timestamp } from "../http/schema-parts.ts";
import { scopes } from "../identity/identity.ts";

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
        name: nullable(Type.String({ examples: ["Nightly export"] }), "The key's name; null for a key without one."),
        scopes: nullable(
          Type.Array(Type.String({ enum: [...scopes] }), { examples: [["read", "orders"]] }),
          "What the key may do; null for everything.",
        ),
        expiresAt: nullable(timestamp("When the key stops working."), "Null for a key without an end."),
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
