import { type Static, Type } from "typebox";
import { nullable, requestId, timestamp } from "../../http/schema-parts.ts";

export const Launchpad = Type.Object(
  {
    partner: Type.Object({ id: Type.String({ format: "uuid" }), name: Type.String(), tier: Type.String() }),
    readyForLive: Type.Boolean({ description: "All items but `live` are done." }),
    completed: Type.Integer({ minimum: 0 }),
    total: Type.Integer({ minimum: 0 }),
    checklist: Type.Array(
      Type.Object({
        key: Type.String({ examples: ["first_test_order"] }),
        label: Type.String(),
        done: Type.Boolean(),
        action: Type.String(),
        deepLink: Type.String({ description: "A path on this service." }),
      }),
    ),
    funnel: Type.Array(
      Type.Object({
        step: Type.String({ examples: ["first_live_order"] }),
        reached: Type.Boolean(),
        at: nullable(timestamp()),
      }),
    ),
    hoursToFirstLiveOrder: nullable(Type.Number({ description: "From joining; two decimals." })),
    requestId: requestId(),
  },
  { $id: "Launchpad", description: "How far the firm has come on its way to live." },
);
export type Launchpad = Static<typeof Launchpad>;
