import type { Jobs } from "../../kernel/platform/jobs/jobs.ts";
import { envelopeQueue } from "../../orders/order/order.ts";
import { sweepPreparedActs } from "./ceremony/prepared-acts.ts";
import { sweepTexts } from "./ceremony/text-code.ts";
import { sweepDue } from "./lifecycle/due.ts";
import { followOrder } from "./lifecycle/follow.ts";
import type { EnvelopeDeps } from "./records/deps.ts";
import { sweepEmbeds } from "./records/embeds.ts";
import { sweepSittings } from "./records/sittings.ts";

/** Envelopes follow their orders. */
export function envelopeJobs(jobs: Jobs, deps: EnvelopeDeps): void {
  // Two at once: a document of 35 MiB takes several times its size while it is prepared.
  jobs.work<{ orderId: number }>(envelopeQueue, ({ orderId }) => followOrder(deps, orderId), { concurrency: 2 });
}

/**
 * Deletes what the ceremony holds only for a while, then ends and reminds what is due. Several nodes may run it at once.
 * @returns whether more may be due
 */
export async function sweepEnvelopes(deps: EnvelopeDeps, stopping?: AbortSignal): Promise<boolean> {
  const now = deps.clock();
  await sweepPreparedActs(deps.db, now);
  await sweepTexts(deps.db, now);
  await sweepEmbeds(deps.db, now);
  await sweepSittings(deps.db, now);
  return sweepDue(deps, stopping);
}
