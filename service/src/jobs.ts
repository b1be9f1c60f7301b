import { closingSealJobs } from "./closing/closing-passports/closing-passports.ts";
import { deliveryCodeMail, deliveryMail, downloadMail } from "./closing/deliveries/deliveries.ts";
import { certificateStates, closingsMail, closingsOf, roomMail } from "./closing/rooms/rooms.ts";
import { openFaxing } from "./delivery/faxing/faxing.ts";
import { openShipping } from "./delivery/shipping/shipping.ts";
import type { AppDeps, Features } from "./features.ts";
import { createJobs, type Jobs } from "./kernel/platform/jobs/jobs.ts";
import { type Mailer, openMailer } from "./kernel/platform/mail/mail.ts";
import { testClockJobs } from "./kernel/test-clock/test-clock.ts";
import { testClockSweeps } from "./maintenance.ts";
import { statementMail } from "./orders/billing/billing.ts";
import { fillMail } from "./orders/fills/fills.ts";
import {
  dispatchJobs,
  nextSegmentJobs,
  orderMail,
  orderUpdateMail,
  untilMorning,
} from "./orders/fulfilment/fulfilment.ts";
import {
  chargeMail,
  firmPaysJobs,
  methodMail,
  moneyMail,
  paymentJobs,
  reconcileJobs,
  waitingMail,
} from "./orders/payments/payments.ts";
import { partRefundJobs } from "./orders/refunds/refunds.ts";
import { failingMail } from "./outgoing/webhooks/webhooks.ts";
import { envelopeJobs, noticeMail, paperWishes, signingMail } from "./signing/envelopes/envelopes.ts";
import {
  appointmentInvitationMail,
  appointmentJobs,
  appointmentMail,
  bookingMail,
  expiryMail,
  guestMail,
  identityJobs,
  identityMail,
  inPersonMail,
  liveMail,
  queueMail,
  recordingMail,
  recordsMail,
  watchSessions,
} from "./signing/notaries/notaries.ts";
import { backupMetrics } from "./upkeep/backup/backup.ts";
import { taskMetrics } from "./upkeep/console/console.ts";

/** The kinds of mails that no wing lists. */
const mails = [
  orderMail,
  orderUpdateMail,
  signingMail,
  noticeMail,
  roomMail,
  closingsMail,
  deliveryMail,
  deliveryCodeMail,
  downloadMail,
  methodMail,
  chargeMail,
  moneyMail,
  waitingMail,
  statementMail,
  expiryMail,
  appointmentMail,
  recordingMail,
  recordsMail,
  inPersonMail,
  identityMail,
  liveMail,
  queueMail,
  fillMail,
  bookingMail,
  guestMail,
  appointmentInvitationMail,
  failingMail,
];

/**
 * The background work of a node: webhook deliveries and jobs. It ends when `stop` is called, or when a newer release
 * has migrated the database.
 */
type Work = { mailer: Mailer; start: () => Promise<void>; stop: () => Promise<void> };

export function openWork(deps: AppDeps, features: Features): Work {
  const { resources, node, rules } = deps;
  const { config, db, clock, log, secrets, rowMac } = resources;
  const { metrics, workers, schemaWatch } = node;
  const { dispatcher, processor, acceptsPayment, envelopes, paper, providers, receipts, notaries } = features;
  const mailer = openMailer({
    ...config,
    clock,
    onStored: node.onMailStored,
    newestCheckpoint: deps.transparencyLog.newestSeen,
  });
  const ended = metrics.counter("jobs_total", "Jobs that ended, by what became of them.", ["queue", "outcome"]);
  const jobs: Jobs = createJobs({ db, log, onOutcome: (queue, outcome) => ended.inc({ queue, outcome }) });
  paymentJobs(jobs, { db, clock, log, processor });
  firmPaysJobs(jobs, { ...features.checkout, rowMac, log });
  partRefundJobs(jobs, { db, clock, log, processor });
  reconcileJobs(jobs, { db, clock, log, processor });
  nextSegmentJobs(jobs, { db, clock, log }, config.nextServiceWait);
  taskMetrics(metrics, { db, clock });
  backupMetrics(metrics, db);
  envelopeJobs(jobs, envelopes);
  closingSealJobs(jobs, { ...features.closings, log });
  const { baseUrl } = config;
  const { titleOf } = features.documentTexts;
  const clients = { acceptsPayment, closingsOf, untilMorning: untilMorning(resources) };
  const mailDeps = { db, clock, secrets, rowMac, mailer, baseUrl };
  for (const wing of features.wings) wing.jobs?.(jobs, mailDeps);
  const letters = {
    ...mailDeps,
    titleOf,
    closingsOf,
    reads: { certificateStates, paperWishes },
    clients,
  };
  for (const mail of mails) mail.work(jobs, letters);
  const shipping = openShipping(jobs, resources, { workers, pricing: rules.pricing, providers, receipts, fetch });
  const faxing = openFaxing(jobs, { db, clock, log, providers, receipts, paper, telnyx: config.telnyx });
  dispatchJobs(jobs, resources, [...shipping, ...faxing]);
  identityJobs(jobs, providers, notaries.identity);
  appointmentJobs(jobs, notaries.identity);
  receipts.work(jobs);
  testClockJobs(jobs, { db, clock, sweeps: testClockSweeps({ ...resources, retention: rules.retention }, envelopes) });
  let stopped: Promise<void> | undefined;
  let endWatch = async (): Promise<void> => {};
  const endLive = async () => {
    await endWatch();
    notaries.live?.recordings.stop();
  };
  const stop = () => {
    stopped ??= Promise.all([dispatcher.stop(), jobs.stop(), endLive()]).then(() => mailer.close());
    return stopped;
  };
  // Only the background work of an outdated node stops here. The node answers requests for a while longer, because load
  // balancers need time to notice that it is not ready.
  schemaWatch.outdated
    .then(stop)
    .catch((error: unknown) => log.error({ err: error }, "the work of an outdated node did not stop"));
  const start = () => {
    dispatcher.start();
    if (notaries.live) endWatch = watchSessions(notaries.live);
    return jobs.start();
  };
  return { mailer, start, stop };
}
