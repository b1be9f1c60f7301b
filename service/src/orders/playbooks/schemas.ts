import { type Static, Type } from "typebox";
import { nullable, oneOf, text } from "../../kernel/http/schema-parts.ts";

export const PlaybookList = Type.Object(
  {
    playbooks: Type.Array(
      Type.Object({
        key: text("What to call to run it.", "approval_gate"),
        name: text("Its name, for people.", "Approval gate"),
        description: text("What it does, for people."),
        paramSchema: Type.Array(
          Type.Object({
            name: text("The form field.", "kind"),
            type: oneOf(["string", "int", "bool"], "The type of its value."),
            required: Type.Boolean({ description: "Whether it must be sent.", examples: [true] }),
            maxLength: nullable(Type.Integer({ examples: [40] }), "The most characters; null for no limit."),
          }),
          { description: "The arguments, in order." },
        ),
      }),
      { description: "The playbooks that you may run." },
    ),
  },
  { $id: "PlaybookList", description: "The registered playbooks." },
);
export type PlaybookList = Static<typeof PlaybookList>;

export const PlaybookStarted = Type.Object(
  { executionName: text("The execution's opaque name.", "executions/6f9619ff-8b86-4d01-b42d-00cf4fc964ff") },
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
