import type { Taker } from "../../fulfilment/fulfilment.ts";
import type { Jobs } from "../../platform/jobs/jobs.ts";
import type { Receipts } from "../../receipts/receipts.ts";
import { buyLabel } from "./buy.ts";
import type { LabelDeps } from "./deps.ts";
import { fileJobs } from "./file.ts";
import { followEvent, pickupJobs } from "./follow.ts";
import { prepareJobs } from "./prepare.ts";
import { deliveryReceipt } from "./receipt.ts";
import { refundLabel } from "./refund.ts";
import { labelTaker } from "./take.ts";
import { labelJobs } from "./work.ts";

/** Sets the acts, the handler of events and the jobs of labels. @returns who buys them */
export function openLabels(jobs: Jobs, deps: LabelDeps & { receipts: Receipts }): Taker {
  const { providers, receipts } = deps;
  providers.defineAct(buyLabel(deps));
  providers.defineAct(refundLabel(deps));
  providers.onEvent("easypost", followEvent(deps));
  receipts.register("delivery_receipt", deliveryReceipt(providers));
  prepareJobs(jobs, deps);
  fileJobs(jobs, deps);
  pickupJobs(jobs, deps);
  labelJobs(jobs, deps);
  return labelTaker(deps);
}
