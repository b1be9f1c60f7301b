import { envelopeQueue, type TitleOf } from "../orders/orders.ts";
import type { Jobs } from "../platform/jobs/jobs.ts";
import type { Mailer } from "../platform/mail/mail.ts";
import type { EnvelopeDeps } from "./lifecycle/deps.ts";
import { followOrder } from "./lifecycle/follow.ts";
import { signingMailJobs } from "./mails/mails.ts";

/** What envelopes do beside the requests: they follow their orders, and write to their signers. */
export function envelopeJobs(jobs: Jobs, deps: EnvelopeDeps & { mailer: Mailer; titleOf: TitleOf }): void {
  // Two at once: a document of 35 MiB takes several times its size while it is prepared.
  jobs.work<{ orderId: number }>(envelopeQueue, ({ orderId }) => followOrder(deps, orderId), { concurrency: 2 });
  signingMailJobs(jobs, deps);
}
