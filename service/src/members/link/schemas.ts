import { type Static, Type } from "typebox";
import { oneOf } from "../../http/schema-parts.ts";

export const LinkRequest = Type.Object(
  { apiKey: Type.String({ description: "A valid key of the firm." }) },
  { $id: "LinkRequest" },
);

export const Linked = Type.Object(
  {
    ok: Type.Literal(true),
    partner: Type.Object({ id: Type.String({ format: "uuid" }), name: Type.String(), tier: Type.String() }),
    role: oneOf(["owner", "member"]),
  },
  { $id: "Linked", description: "The first person linked becomes `owner`, later ones `member`." },
);
export type Linked = Static<typeof Linked>;
