import { type Static, Type } from "typebox";
import { nullable, oneOf } from "../http/schema-parts.ts";

export const PlaybookList = Type.Object(
  {
    playbooks: Type.Array(
      Type.Object({
        key: Type.String({ examples: ["approval_gate"] }),
        name: Type.String(),
        description: Type.String(),
        paramSchema: Type.Array(
          Type.Object({
            name: Type.String(),
            type: oneOf(["string", "int", "bool"]),
            required: Type.Boolean(),
            maxLength: nullable(Type.Integer()),
          }),
        ),
      }),
    ),
  },
  { $id: "PlaybookList" },
);
export type PlaybookList = Static<typeof PlaybookList>;

export const PlaybookStarted = Type.Object(
  { executionName: Type.String({ examples: ["executions/6f9619ff-8b86-4d01-b42d-00cf4fc964ff"] }) },
  { $id: "PlaybookStarted", description: "The execution was created; it may wait for up to 30 days." },
);
export type PlaybookStarted = Static<typeof PlaybookStarted>;

export const PlaybookArguments = Type.Object(
  {},
  {
    $id: "PlaybookArguments",
    additionalProperties: Type.String(),
    description: "The arguments that the playbook's `paramSchema` names; others are refused.",
    examples: [{ kind: "closing", subjectId: "FILE-2207" }],
  },
);
