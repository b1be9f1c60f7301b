import { type Static, Type } from "typebox";
import { requestId, timestamp } from "../../kernel/http/schema-parts.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });
const hours = (description: string) => Type.Number({ minimum: 0, description, examples: [26.75] });

export const Analytics = Type.Object(
  {
    windowDays: Type.Integer({ minimum: 1, maximum: 366, description: "The effective window.", examples: [90] }),
    volumeByMonth: Type.Array(
      Type.Object({
        month: Type.String({ pattern: "^\\d{4}-\\d{2}$", examples: ["2026-03"], description: "UTC." }),
        createdCount: count("Orders created in the month."),
        completedCount: count("Those of them that are `Completed` now."),
      }),
      { description: "Oldest first; months without orders are left out." },
    ),
    funnel: Type.Object(
      {
        created: count("Not paid yet."),
        paid: count("Paid, not begun."),
        inProgress: count("In signing, notarization, shipping or fax."),
        completed: count("Completed."),
        problem: count("Everything else, unknown statuses included."),
      },
      { description: "One bucket per order, by its current status; the five sum to the cohort." },
    ),
    turnaroundHours: Type.Object(
      { median: hours("50th percentile."), p90: hours("90th percentile.") },
      { description: "From the payment to the completion of completed orders; 0 when there is no sample." },
    ),
    serviceMix: Type.Object(
      {
        sign: count("Orders with signing."),
        notarize: count("Orders with notarization."),
        ship: count("Orders with shipping."),
        fax: count("Orders with fax."),
      },
      { description: "Not exclusive." },
    ),
    evidence: Type.Object(
      {
        totalCompleted: count("As `funnel.completed`."),
        sealedDocumentCount: count("Sealed and notarized documents of the cohort."),
        deliveredWithProofCount: count("Delivered shipments of the cohort."),
      },
      { description: "Counts of records, not of orders." },
    ),
    revenueCents: Type.Integer({
      minimum: 0,
      description:
        "What was spent on your orders, by your firm or its clients: the sum of `totalCents` of paid, in-progress and completed ones, in USD cents.",
      examples: [1_284_500],
    }),
    generatedAt: timestamp("When the figures were computed."),
    requestId: requestId(),
  },
  {
    $id: "Analytics",
    description: "The orders created in the window, as they are now, in the environment of the key.",
  },
);

/** The response of the analytics route without its `requestId` (contract, Analytics). */
export type Snapshot = Omit<Static<typeof Analytics>, "requestId">;
