import { type Static, Type } from "typebox";
import { nullable, ok, orderCodeExample } from "../../../kernel/http/schema-parts.ts";

export const Attachment = Type.Object(
  {
    orderCode: Type.String({
      minLength: 24,
      maxLength: 64,
      description: "The order's code. Having it is the authorization.",
      examples: [orderCodeExample],
    }),
    label: Type.Optional(
      nullable(
        Type.String({ maxLength: 200, examples: ["Deed of trust"] }),
        "What the room calls the document, at most 200 characters.",
      ),
    ),
  },
  { $id: "Attachment", description: "An order to attach." },
);

export const Attached = Type.Object(
  { ok: ok(), alreadyAttached: Type.Boolean({ description: "Whether it was attached before.", examples: [false] }) },
  { $id: "Attached", description: "Attaching again changes nothing." },
);
export type Attached = Static<typeof Attached>;
