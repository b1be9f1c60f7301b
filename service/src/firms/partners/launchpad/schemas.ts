import { type Static, Type } from "typebox";
import { firm, nullable, requestId, text, timestamp } from "../../../kernel/http/schema-parts.ts";

export const Launchpad = Type.Object(
  {
    partner: firm(),
    readyForLive: Type.Boolean({ description: "All items but `live` are done." }),
    completed: Type.Integer({ minimum: 0, description: "How many items are done.", examples: [2] }),
    total: Type.Integer({ minimum: 0, description: "How many items there are.", examples: [6] }),
    checklist: Type.Array(
      Type.Object({
        key: text("The item's stable name.", "first_test_order"),
        label: text("The item, for people.", "Place a test order"),
        done: Type.Boolean({ description: "Whether it is done.", examples: [true] }),
        action: text("What to do, for people.", "Create an order with a test key."),
        deepLink: text("Where to do it: a path on this service.", "/dashboard/orders/new"),
      }),
      { description: "The steps that are left before live orders, in order." },
    ),
    funnel: Type.Array(
      Type.Object({
        step: text("The step's stable name.", "first_live_order"),
        reached: Type.Boolean({ description: "Whether the firm has reached it.", examples: [true] }),
        at: nullable(timestamp("When it was first reached; null when it was not.")),
      }),
      { description: "How far the firm has come, first step first." },
    ),
    hoursToFirstLiveOrder: nullable(
      Type.Number({ examples: [74.5] }),
      "Hours from joining to the first live order, with two decimals; null before it.",
    ),
    requestId: requestId(),
  },
  { $id: "Launchpad", description: "How far the firm has come on its way to live." },
);
export type Launchpad = Static<typeof Launchpad>;
