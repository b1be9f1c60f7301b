import { type Static, Type } from "typebox";
import { readCheckedYaml } from "../platform/checked-yaml.ts";
import { dayMs } from "../platform/clock.ts";

const days = Type.Union([Type.Integer({ minimum: 7, maximum: 36_500 }), Type.Literal("none")]);

const Plan = Type.Object(
  {
    test: Type.Object(
      { orderDocuments: days, proofPassports: days, closingPassports: days },
      { additionalProperties: false },
    ),
    live: Type.Object(
      { finishedOrders: days, refundedOrders: days, unpaidOrders: days, proofPassports: days, closingPassports: days },
      { additionalProperties: false },
    ),
    webhookDeliveries: days,
    providerRecords: Type.Optional(days),
  },
  { additionalProperties: false },
);

/** How many days what is kept, from `service/data/retention.yaml` or RETENTION. */
export type RetentionPlan = Static<typeof Plan>;

/** How long what providers were asked and told is kept where the plan does not say: plans of before knew of none. */
const usualProviderRecords: Days = 400;

export const providerRecordsOf = ({ providerRecords = usualProviderRecords }: RetentionPlan): Days => providerRecords;

/** Days, or `none`: it is kept. */
export type Days = number | "none";

/** @throws StartupError naming the first entry that breaks a rule */
export const readRetention = (path: string): RetentionPlan => readCheckedYaml("RETENTION", path, Plan);

/** What is older than this instant is due; null when it is kept. */
export const dueBefore = (kept: Days, now: Date): Date | null =>
  kept === "none" ? null : new Date(now.getTime() - kept * dayMs);
