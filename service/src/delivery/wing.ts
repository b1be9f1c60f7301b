import type { Sealing } from "../evidence/seals/seals.ts";
import type { Fetch } from "../kernel/platform/bounds/bounded-request.ts";
import { hourMs } from "../kernel/platform/clock.ts";
import { withLongStatements } from "../kernel/platform/database/database.ts";
import type { PeriodicTask } from "../kernel/platform/work/periodic.ts";
import type { Workers } from "../kernel/platform/workers/task.ts";
import type { Resources } from "../kernel/resources.ts";
import { dueBefore, providerRecordsOf, type RetentionPlan } from "../kernel/retention/retention.ts";
import type { Wing } from "../kernel/wing.ts";
import { dispatchJobs } from "../orders/fulfilment/fulfilment.ts";
import type { VersionedPricing } from "../orders/pricing/pricing.ts";
import type { OrderPorts } from "../orders/wing.ts";
import { type Providers, sweepProviderRecords } from "../providers/providers.ts";
import { openFaxing, sweepFaxNumbers } from "./faxing/faxing.ts";
import type { PaperDeps } from "./paper/paper.ts";
import { openReceipts } from "./receipts/receipts.ts";
import { labelRates, openParcels, openShipping, requireNoLetter, sweepLabels } from "./shipping/shipping.ts";

type Parts = {
  workers: Workers;
  sealDocument: Sealing["sealDocument"];
  rules: { pricing: VersionedPricing; retention: RetentionPlan };
  providers: Providers;
  fetch: Fetch;
};

/** The functions of delivery that orders use. */
export const deliveryPorts = ({ clock, log, random }: Resources, providers: Providers): OrderPorts["delivery"] => ({
  askCarriers: labelRates({ providers, log, random }),
  parcels: openParcels({ providers, clock }),
  requireNoLetter,
});

/** Opens the sheets that go with an order's document, and the work of the carriers and of the fax provider. */
export function openDeliveryWing(resources: Resources, parts: Parts) {
  const { config, db, clock, log, blobs, rowMac } = resources;
  const { workers, sealDocument, rules, providers, fetch } = parts;
  const receipts = openReceipts({ ...resources, workers, sealDocument, providers });
  const paper: PaperDeps = { db, clock, log, blobs, rowMac, workers, baseUrl: config.baseUrl };
  const wing: Wing = {
    jobs(jobs) {
      const shipping = openShipping(jobs, resources, { workers, pricing: rules.pricing, providers, receipts, fetch });
      const faxing = openFaxing(jobs, { db, clock, log, providers, receipts, paper, telnyx: config.telnyx });
      dispatchJobs(jobs, resources, [...shipping, ...faxing]);
      receipts.work(jobs);
    },
    tasks: tasksOf(resources, rules.retention),
  };
  return { paper, wing };
}

export type Delivery = ReturnType<typeof openDeliveryWing>;

const tasksOf = ({ db, clock }: Resources, retention: RetentionPlan): PeriodicTask[] => [
  {
    name: "old records of providers",
    everyMs: hourMs,
    async work(stopping) {
      const before = dueBefore(providerRecordsOf(retention), clock());
      if (!before) return;
      await sweepProviderRecords(withLongStatements(db), before, stopping);
      await sweepLabels(db, before, stopping);
      await sweepFaxNumbers(db, before, stopping);
    },
  },
];
