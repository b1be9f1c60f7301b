import { Type } from "typebox";
import { oneOf, requestId, timestamp } from "../http/schema-parts.ts";
import { warnings } from "../http/warnings.ts";

export const TestClockAdvance = Type.Object(
  {
    advanceSeconds: Type.Optional(
      Type.Integer({ minimum: 1, examples: [1_209_600], description: "By how many seconds. Exclusive with `to`." }),
    ),
    to: Type.Optional(timestamp("The test time to go to, later than the clock's own.", "2026-12-12T09:00:00.000Z")),
  },
  {
    $id: "TestClockAdvance",
    description: "How far the clock goes: by so many seconds, or to a time.",
    examples: [{ advanceSeconds: 1_209_600 }],
  },
);

export const TestClock = Type.Object(
  {
    status: oneOf(["ready", "advancing"], "`advancing`: what came due is happening. Ask again until it is `ready`.", [
      "ready",
    ]),
    testTime: timestamp("What the clock shows. It goes on from there."),
    realTime: timestamp("What new objects, evidence and webhooks are dated with."),
    advancedSeconds: Type.Integer({
      minimum: 0,
      examples: [1_209_600],
      description: "How far the clock is ahead of real time.",
    }),
    requestId: requestId(),
    warnings,
  },
  { $id: "TestClock", description: "The test clock of your firm." },
);
