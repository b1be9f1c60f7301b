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
    archivedTemplates: Type.Optional(days),
  },
  { additionalProperties: false },
);

/** The retention periods in days, from `service/data/retention.yaml` or RETENTION. */
export type RetentionPlan = Static<typeof Plan>;

/** The retention period for records of providers' requests and events, if the plan has no entry for them. */
const usualProviderRecords: Days = 400;

export const providerRecordsOf = ({ providerRecords = usualProviderRecords }: RetentionPlan): Days => providerRecords;

/** The retention period for the documents of archived templates, if the plan has no entry for them. */
const usualArchivedTemplates: Days = 90;

export const archivedTemplatesOf = ({ archivedTemplates = usualArchivedTemplates }: RetentionPlan): Days =>
  archivedTemplates;

/** A number of days, or `none` to store the data forever. */
export type Days = number | "none";

/**
 * Reads the retention periods from a YAML file.
 * @throws StartupError naming the first entry that breaks a rule
 */
export const readRetention = (path: string): RetentionPlan => readCheckedYaml("RETENTION", path, Plan);

/** The time before which data are due for deletion; null when they are stored forever. */
export const dueBefore = (period: Days, now: Date): Date | null =>
  period === "none" ? null : new Date(now.getTime() - period * dayMs);
