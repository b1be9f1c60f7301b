import type { FastifyInstance } from "fastify";
import type { Sealing } from "../evidence/seals/seals.ts";
import type { RequireStorage } from "../firms/partners/partners.ts";
import type { Environment, Principal } from "../kernel/identity/identity.ts";
import type { DocumentNames } from "../kernel/platform/document-name.ts";
import type { Jobs } from "../kernel/platform/jobs/jobs.ts";
import type { MailDeps } from "../kernel/platform/mail/mail-jobs.ts";
import type { Metrics } from "../kernel/platform/metrics.ts";
import type { Workers } from "../kernel/platform/workers/task.ts";
import type { Resources } from "../kernel/resources.ts";
import type { HttpDeps, Wing } from "../kernel/wing.ts";
import { analyticsReader, analyticsRoutes } from "./analytics/analytics.ts";
import { billingRoutes, statementMail } from "./billing/billing.ts";
import { bulkRoutes, rowCipher } from "./bulk/bulk.ts";
import { correctionRoutes, type ReplaceDeps } from "./corrections/corrections.ts";
import { fillCiphers, fillMail, fillRoutes } from "./fills/fills.ts";
import {
  type MoveDeps,
  nextSegmentJobs,
  type OrderMailDeps,
  type OrderUpdateMailDeps,
  orderMail,
  orderUpdateMail,
  sandboxRoutes,
  untilMorning,
} from "./fulfilment/fulfilment.ts";
import {
  type Notarization,
  type NotarySupply,
  type NoticesOf,
  type OrderDeps,
  openFirmNotes,
  openOriginals,
  orderRoutes,
  storedNotices,
  type TitleOf,
  type TrySigning,
  type WithTemplate,
} from "./order/order.ts";
import { type ClosesToday, ordersTasks } from "./orders-tasks.ts";
import {
  acceptsPayment,
  type CheckoutDeps,
  chargeMail,
  chargeOfOrder,
  checkoutOfNewOrder,
  checkoutRoute,
  firmPaysJobs,
  methodMail,
  moneyMail,
  type Processor,
  paymentJobs,
  processorWebhook,
  reconcileJobs,
  sandboxPayment,
  waitingMail,
} from "./payments/payments.ts";
import { createCallbacks, playbookRoutes } from "./playbooks/playbooks.ts";
import type { AskCarriers, VersionedPricing } from "./pricing/pricing.ts";
import { proposalRoutes } from "./proposals/proposals.ts";
import { partRefundJobs } from "./refunds/refunds.ts";
import { expandForm, templateOfFill, templateRoutes } from "./templates/templates.ts";

/** The functions of higher wings that orders use. They are passed in, because a wing imports only lower wings. */
export type OrderPorts = {
  signing: Pick<ReplaceDeps, "endRound" | "moveSigners" | "renewNotaryLinks"> & {
    trySigning: TrySigning;
    texts: OrderDeps["offer"]["texts"];
    notarySupply: NotarySupply;
    notarizationOf: (code: string) => Promise<Notarization>;
    paperWishes: OrderUpdateMailDeps["reads"]["paperWishes"];
  };
  closing: Pick<ReplaceDeps, "moveInRooms"> & {
    closingsOf: OrderMailDeps["clients"]["closingsOf"];
    closesToday: ClosesToday;
    certificateStates: OrderUpdateMailDeps["reads"]["certificateStates"];
  };
  delivery: Pick<ReplaceDeps, "parcels"> & {
    askCarriers: AskCarriers | null;
    requireNoLetter: NonNullable<MoveDeps["requireByHand"]>;
  };
};

type Parts = {
  node: { metrics: Metrics; workers: Workers; processor: Processor | null };
  pricing: VersionedPricing;
  names: DocumentNames;
  texts: { titleOf: TitleOf; noticesOf: NoticesOf };
  sealDocument: Sealing["sealDocument"];
  requireStorage: RequireStorage;
  ports: OrderPorts;
};

const mails = [orderMail, orderUpdateMail, methodMail, chargeMail, moneyMail, waitingMail, statementMail, fillMail];

/** Opens the features with which people and programs place, change and pay orders. */
export function openOrdersWing(resources: Resources, parts: Parts) {
  const { processor } = parts.node;
  const orders = openOrders(resources, parts);
  const wing: Wing = {
    routes: (app, http) => addRoutes(app, http, resources, parts, orders),
    jobs: (jobs, mailDeps) => addJobs(jobs, mailDeps, resources, parts, orders),
    tasks: ordersTasks(resources, { processor, closesToday: parts.ports.closing.closesToday }),
  };
  return { ...orders, wing };
}

export type Orders = ReturnType<typeof openOrders>;

function openOrders(resources: Resources, parts: Parts) {
  const { processor } = parts.node;
  const { titleOf, noticesOf } = parts.texts;
  const { db, clock } = resources;
  const checkout: CheckoutDeps = { db, clock, processor, notarySupply: parts.ports.signing.notarySupply };
  const placing = openPlacing(resources, parts, checkout);
  return {
    checkout,
    acceptsPayment: (environment: Environment) => acceptsPayment(processor, environment),
    placing,
    work: openOrderWork(resources, parts, placing.orders),
    documentTexts: { titleOf, noticesOf, readNotices: storedNotices(db, noticesOf) },
    readAnalytics: analyticsReader(resources),
  };
}

/** Opens the features that place orders. */
function openPlacing(resources: Resources, parts: Parts, checkout: CheckoutDeps) {
  const { config, db, clock, log, secrets, rowMac, blobs } = resources;
  const { workers, processor } = parts.node;
  const { pricing, names, requireStorage, ports } = parts;
  const { trySigning, texts, notarySupply } = ports.signing;
  const offer = {
    pricing,
    askCarriers: ports.delivery.askCarriers,
    notaries: notarySupply,
    texts,
    checkoutUrlOf: processor && checkoutOfNewOrder(checkout, log),
    acceptsPayment: (environment: Environment) => acceptsPayment(processor, environment),
  };
  const originals = openOriginals(workers, requireStorage, trySigning);
  const orders = { db, clock, log, rowMac, blobs, names, originals, offer };
  const templates = { db, clock, rowMac, blobs, workers, pricing, requireStorage, trySigning };
  const withTemplate: WithTemplate = (principal, sent) => expandForm({ ...templates, log }, principal, sent);
  return {
    orders,
    templates,
    withTemplate,
    templateOfFill: (owner: Principal, token: string) => templateOfFill({ ...templates, log }, owner, token),
    bulk: { orders, withTemplate, cipher: rowCipher(secrets) },
    fills: { templates, log, secrets, ciphers: fillCiphers(secrets), baseUrl: config.baseUrl },
  };
}

/** Opens the features that process placed orders. */
function openOrderWork(resources: Resources, { node, texts, sealDocument, ports }: Parts, orders: OrderDeps) {
  const { db, clock, log, secrets, rowMac, blobs } = resources;
  const { endRound, moveSigners, renewNotaryLinks } = ports.signing;
  const { closingsOf, moveInRooms } = ports.closing;
  const { parcels, requireNoLetter } = ports.delivery;
  const store = { db, clock, log, rowMac, blobs };
  const openSealer = async () => ({ sealDocument, close: async () => {} });
  return {
    sandbox: { ...store, sealDocument, sandboxPayment },
    moves: { ...store, openSealer, requireByHand: requireNoLetter },
    corrections: { orders, endRound, moveSigners, renewNotaryLinks, closingsOf, moveInRooms, parcels },
    billing: { db, clock, workers: node.workers, titleOf: texts.titleOf },
    firmNotes: openFirmNotes({ db, clock, secrets, log }),
  };
}

async function addRoutes(
  app: FastifyInstance,
  { frame, uploadPlaces }: HttpDeps,
  { config, db, clock, log, secrets }: Resources,
  { node: { metrics, processor, workers }, ports }: Parts,
  { checkout, placing, work, readAnalytics }: Orders,
): Promise<void> {
  const { orders, withTemplate, templateOfFill } = placing;
  const { baseUrl } = config;
  analyticsRoutes(app, { ...frame, readAnalytics });
  const playbooks = { db, clock, log, callbacks: createCallbacks(secrets) };
  playbookRoutes(app, { frame, playbooks, enabled: config.playbooks });
  orderRoutes(app, {
    frame,
    orders,
    uploadPlaces,
    withTemplate,
    templateOfFill,
    notarizationOf: ports.signing.notarizationOf,
    chargeOf: (code) => chargeOfOrder(db, code),
  });
  correctionRoutes(app, { frame, corrections: work.corrections, uploadPlaces });
  bulkRoutes(app, { frame, bulk: placing.bulk, uploadPlaces });
  fillRoutes(app, { frame, fills: placing.fills });
  templateRoutes(app, { frame, templates: placing.templates, uploadPlaces });
  proposalRoutes(app, { frame, workers, uploadPlaces });
  checkoutRoute(app, { ...frame, ...checkout });
  billingRoutes(app, { frame, ...work.billing });
  await processorWebhook(app, { db, clock, log, metrics, processor });
  sandboxRoutes(app, { frame, sandbox: work.sandbox, baseUrl });
}

function addJobs(
  jobs: Jobs,
  mailDeps: MailDeps,
  resources: Resources,
  { node: { processor }, texts: { titleOf }, ports }: Parts,
  { checkout, acceptsPayment }: Orders,
): void {
  const { config, db, clock, log, rowMac } = resources;
  const money = { db, clock, log, processor };
  paymentJobs(jobs, money);
  firmPaysJobs(jobs, { ...checkout, rowMac, log });
  partRefundJobs(jobs, money);
  reconcileJobs(jobs, money);
  nextSegmentJobs(jobs, { db, clock, log }, config.nextServiceWait);
  const { closingsOf, certificateStates } = ports.closing;
  const letters = {
    ...mailDeps,
    titleOf,
    reads: { certificateStates, paperWishes: ports.signing.paperWishes },
    clients: { acceptsPayment, closingsOf, untilMorning: untilMorning(resources) },
  };
  for (const mail of mails) mail.work(jobs, letters);
}
