import type { FastifyInstance } from "fastify";
import type { DeliveryDeps } from "../../../closing/deliveries/deliveries.ts";
import { latestOpenRooms, roomsOfOrder } from "../../../closing/rooms/rooms.ts";
import { type MemberDeps, namesOfFirmActors } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { maySeeBilling } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { type BillingDeps, documentsOfOrder } from "../../../orders/billing/billing.ts";
import { type ReplaceDeps, readCorrected } from "../../../orders/corrections/corrections.ts";
import {
  clientMails,
  type MoveDeps,
  mailsToSendAgain,
  milestones,
  orderHistory,
  type SandboxDeps,
} from "../../../orders/fulfilment/fulfilment.ts";
import {
  type FirmNotes,
  isPayable,
  type NoticesOf,
  type OrderDeps,
  type PublicOrderRow,
  type TitleOf,
} from "../../../orders/order/order.ts";
import {
  type AcceptsPayment,
  type CheckoutDeps,
  dueLossOf,
  dueOf,
  extraPaymentsOf,
  isPaymentInProcess,
  openLossesOfOrder,
  type Supplement,
  unpaidLossOf,
  wasPaidByFirm,
} from "../../../orders/payments/payments.ts";
import {
  copyLinksOf,
  documentsElsewhere,
  type EnvelopeDeps,
  provenDocuments,
  type ReplaceInRooms,
  readSigning,
  signerPlaces,
} from "../../../signing/envelopes/envelopes.ts";
import { inPersonOf } from "../../../signing/notaries/notaries.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { orderRetention } from "../../ui/retention.ts";
import { done } from "../flash-messages.ts";
import { type DashboardFrame, dashboardPage } from "../page-shell.ts";
import { doOnce, submissionFor } from "../submit-once.ts";
import { attachTitled } from "./attach.ts";
import { cancelForm } from "./cancel-form.ts";
import { copyLinkForm } from "./copy-links.ts";
import { type OrderDetailView, orderDetailBody } from "./detail.ts";
import { orderDocumentPages } from "./document-pages.ts";
import { firmPaysForms, readFirmPays } from "./firm-pays.ts";
import { inPersonForms } from "./in-person.ts";
import { mailForm } from "./mails.ts";
import { noteForm } from "./notes.ts";
import { ownOrder } from "./own-order.ts";
import { putRightForms } from "./put-right.ts";
import { roomCodeOf, roomsToChooseFrom } from "./rooms.ts";
import { sandboxForms } from "./sandbox-forms.ts";
import { signerForms } from "./signer-forms.ts";
import { sittingForm } from "./sitting.ts";
import { orderName, refusalWords } from "./words.ts";

/** The features that the page of an order reads. */
export type OrderPageDeps = {
  frame: DashboardFrame;
  orders: OrderDeps;
  envelopes: EnvelopeDeps;
  corrections: ReplaceDeps;
  firmNotes: FirmNotes;
  titleOf: TitleOf;
  noticesOf: NoticesOf;
  acceptsPayment: AcceptsPayment;
};

/**
 * The features that the page's forms use in addition to `OrderPageDeps`, and the features that serve the files to which
 * the page links.
 */
export type OrderFormDeps = {
  moves: MoveDeps;
  sandbox: SandboxDeps;
  checkout: CheckoutDeps;
  members: MemberDeps;
  billing: BillingDeps;
  deliveries: DeliveryDeps;
  replaceInRooms: ReplaceInRooms;
};

type OrderCall = PageCall<{ code: string }>;
type Problem = Pick<OrderDetailView, "error" | "typed" | "refusedSigner">;

/** Adds the page of one order, with the forms to act on it. */
export function orderDetailPage(
  app: FastifyInstance,
  forms: FastifyInstance,
  deps: OrderPageDeps,
  { moves, sandbox, checkout, members, billing, deliveries, replaceInRooms }: OrderFormDeps,
): void {
  const { frame, envelopes, titleOf } = deps;
  const [{ limits }, { db, clock }] = [frame, deps.orders];
  const show = (call: OrderCall, problem?: Problem) => showOrder(deps, call, problem);
  const form = {
    method: "POST",
    policy: "partner-write",
    refused: (call: OrderCall, error: string) => show(call, { error: refusalWords(error).text, typed: call.form }),
  } as const;

  pageRoute(forms, frame, { url: "/dashboard/orders/:code", handle: (call) => show(call) });

  closingRoute(forms, frame, db);
  sandboxForms(forms, { ...sandbox, limits }, form);
  copyLinkForm(forms, { limits, envelopes }, form.refused);
  signerForms(forms, { db, clock, limits, envelopes, replaceInRooms, closingsOf: deps.corrections.closingsOf }, show);
  sittingForm(
    forms,
    {
      limits,
      baseUrl: frame.baseUrl,
      envelopes,
      path: "/dashboard/orders",
      anchor: "signers-title",
      ordersOf: async (_, code) => [code],
    },
    form,
  );
  cancelForm(
    forms,
    { ...moves, limits },
    {
      ownOrder: ({ params, request }) => ownOrder(db, request, params.code),
      refused: (call, error) => show(call, { error }),
    },
  );

  putRightForms(app, forms, { db, clock, limits, corrections: deps.corrections, frame }, form);
  firmPaysForms(forms, { members, checkout, limits, assets: frame.assets }, form);
  noteForm(forms, { db, clock, limits, firmNotes: deps.firmNotes }, form);
  inPersonForms(forms, { db, clock, limits }, form);
  mailForm(forms, { db, clock, limits, acceptsPayment: deps.acceptsPayment }, form);
  orderDocumentPages(forms, { frame, db, titleOf, envelopes, billing, deliveries });

  attachForm(forms, deps, form);
}

async function showOrder(
  deps: OrderPageDeps,
  { params, query, request }: OrderCall,
  problem: Problem = {},
): Promise<string> {
  const { frame, orders, envelopes } = deps;
  const { db } = orders;
  const principal = principalOf(request);
  const order = await ownOrder(db, request, params.code);
  const bills = maySeeBilling(principal)
    ? {
        receipts: await documentsOfOrder(db, order.code, principal).catch(nullIfAltered),
        lostCents: await unpaidLossOf(db, order.code).catch(nullIfAltered),
        losses: await openLossesOfOrder(db, order.code).catch(nullIfAltered),
        extraPayments: await extraPaymentsOf(db, order.code).catch(nullIfAltered),
      }
    : { receipts: [], lostCents: 0, losses: [], extraPayments: [] };
  const [signing, documents, rooms, openRooms, history, notes, mails, inPerson, corrected] = await Promise.all([
    readSigning(envelopes, order.code, principal),
    provenDocuments(envelopes, order.code, principal),
    roomsOfOrder(db, order.code, principal),
    latestOpenRooms(db, principal, roomsToChooseFrom),
    orderHistory(db, order.code),
    deps.firmNotes.of(order.code, principal),
    clientMails(db, order.code, principal),
    inPersonOf(db, order.code, principal),
    readCorrected(deps.corrections, order.code, principal),
  ]);
  const decidedBy = inPerson?.request.decidedBy ?? "";
  const actors = [...history.history.map(({ actor }) => actor), ...notes.map(({ author }) => author), decidedBy];
  const view = { order, title: deps.titleOf(order) };
  const due = dueOf(order.status, corrected.supplements);
  const hasCheckout = deps.acceptsPayment(order.environment);
  const { submission } = submissionFor(request, problem.refusedSigner?.typed ?? problem.typed);
  const body = orderDetailBody({
    ...view,
    submission,
    corrected,
    history,
    notes,
    mails,
    documents,
    ...bills,
    rooms,
    openRooms,
    sendable: mailsToSendAgain(deps.acceptsPayment, {
      ...order,
      // If the record of the payments can't be verified, no mail about payments is offered.
      isPaidByFirm: (await wasPaidByFirm(db, order.code).catch(nullIfAltered)) ?? true,
      supplementCents: due?.amountCents ?? null,
      replacesLoss: due?.replacesLoss ?? null,
      lossCents: dueLossOf(order.status, corrected.supplements)?.amountCents ?? null,
    }),
    names: await namesOfFirmActors(db, principal.partnerId, actors),
    clientUrl: `${frame.baseUrl}/orders/${order.code}`,
    firmPays: await readFirmPays(db, order, orders.clock()),
    dueCents: due?.amountCents ?? order.totalCents,
    hasCheckout,
    payable: (hasCheckout || order.environment === "test") && (await isToBePaid(db, order, due)),
    retention: orderRetention(frame.retention, order),
    signers: signing.signers,
    elsewhere: await documentsElsewhere(db, deps.corrections.closingsOf, {
      orderCode: order.code,
      owner: principal,
      signers: signing.signers.filter(({ signedAt }) => signedAt === null && waitsForSigners(order.status)),
    }),
    places: await signerPlaces(envelopes, signing),
    copyLinks: await copyLinksOf(db, order.code, principal),
    notices: deps.noticesOf(order),
    textCodes: orders.offer.texts !== null,
    inPerson: inPerson?.request ?? null,
    technologyFeeCents: inPerson?.technologyFeeCents ?? 0,
    fired: firedIn(query["fired"]),
    ...problem,
  });
  return dashboardPage(frame, request, { title: orderName(view), section: "orders", body, scripts: ["copy.js"] });
}

/** True if the page has the form that replaces a signer. */
const waitsForSigners = (status: string): boolean => ["EsignPending", "EsignDeclined", "EsignExpired"].includes(status);

/**
 * Redirects from an order to the latest room that contains it, or to Billing if no room contains it. Mails about a
 * payment for several orders link here.
 */
function closingRoute(forms: FastifyInstance, frame: DashboardFrame, db: Sql): void {
  pageRoute(forms, frame, {
    url: "/dashboard/orders/:code/closing",
    handle: async ({ params: { code }, request }) => {
      const rooms = isCode(code) ? await roomsOfOrder(db, code, principalOf(request)) : [];
      const latest = rooms.at(-1);
      return { redirect: latest ? `/dashboard/rooms/${latest.code}` : "/dashboard/billing#charges" };
    },
  });
}

type OrderForm = {
  method: "POST";
  policy: "partner-write";
  refused: (call: OrderCall, error: string) => Promise<string>;
};

/** Adds the form that attaches the order to one of the firm's rooms. */
function attachForm(forms: FastifyInstance, { frame, orders, titleOf }: OrderPageDeps, form: OrderForm): void {
  const { db, clock } = orders;
  pageRoute(forms, frame, {
    ...form,
    url: "/dashboard/orders/:code/attach",
    handle: doOnce(orders, async ({ params, form: typed, request }) => {
      const { code } = await ownOrder(db, request, params.code);
      const order = { orderCode: code, label: typed["label"] };
      const { alreadyAttached } = await attachTitled(
        { db, clock, titleOf },
        principalOf(request),
        roomCodeOf(typed),
        order,
      );
      return done(`/dashboard/orders/${code}`, alreadyAttached ? "room-order-there" : "room-order-attached");
    }),
  });
}

/** True if a payment is due for the order, none is in progress, and its documents were not deleted. */
const isToBePaid = async (
  db: Sql,
  { code, status, documentsDeletedAt }: PublicOrderRow,
  due: Supplement | undefined,
): Promise<boolean> =>
  (isPayable(status) || due !== undefined) && documentsDeletedAt === null && !(await isPaymentInProcess(db, code));

/**
 * The webhook topics that the last sandbox step fired, from the URL. Null if the URL has no list, or the list has an
 * unknown topic.
 */
function firedIn(fired: string | undefined): OrderDetailView["fired"] {
  if (fired === undefined) return null;
  const named = fired.split(",").filter((name) => name !== "");
  const firedMilestones = milestones.filter((name) => named.includes(name));
  return firedMilestones.length === named.length ? firedMilestones : null;
}
