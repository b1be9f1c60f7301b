import { type Static, Type } from "typebox";
import { nullable } from "../../http/schema-parts.ts";

export const Attachment = Type.Object(
  {
    orderCode: Type.String({ minLength: 24, maxLength: 64, description: "Having it is the authorization." }),
    label: Type.Optional(nullable(Type.String({ maxLength: 200, examples: ["Deed of trust"] }))),
  },
  { $id: "Attachment" },
);

export const Attached = Type.Object(
  { ok: Type.Literal(true), alreadyAttached: Type.Boolean() },
  { $id: "Attached", description: "Attaching again changes nothing." },
);
export type Attached = Static<typeof Attached>;
