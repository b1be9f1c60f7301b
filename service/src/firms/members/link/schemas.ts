import { type Static, Type } from "typebox";
import { firm, ok, oneOf, text } from "../../../kernel/http/schema-parts.ts";

export const LinkRequest = Type.Object(
  { apiKey: text("A valid key of the firm. Having it is the authorization.", `svc_pk_test_${"k4s7".repeat(13)}`) },
  { $id: "LinkRequest", description: "The firm to link to, by one of its keys." },
);

export const Linked = Type.Object(
  {
    ok: ok(),
    partner: firm(),
    role: oneOf(["owner", "member"], "The first person linked becomes `owner`, later ones `member`."),
  },
  { $id: "Linked", description: "The session is linked to the firm." },
);
export type Linked = Static<typeof Linked>;
