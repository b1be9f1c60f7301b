import { type OrderHistory, sandboxMoves } from "../../../orders/fulfilment/fulfilment.ts";
import {
  type NoticesOf,
  noticeMessage,
  type PublicOrderRow,
  senderTextNames,
  senderTexts,
  serviceFlags,
} from "../../../orders/order/order.ts";
import type { Topic } from "../../../outgoing/webhooks/webhooks.ts";
import type { CopyLink, ProvenDocument, SignerState } from "../../../signing/envelopes/envelopes.ts";
import {
  card,
  codeText,
  facts,
  moneyTable,
  notice,
  pageHead,
  progressSteps,
  statusBadge,
} from "../../ui/components.ts";
import { money, plainTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary } from "../../ui/forms/fields.ts";
import { documentList } from "../../ui/orders/document-list.ts";
import { receiptsCard } from "../../ui/orders/receipt-list.ts";
import { isSimulated } from "../../ui/orders/signer-words.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { type Html, html } from "../../ui/render.ts";
import { testClockDates } from "../test-clock.ts";
import { topicWords } from "../webhooks/words.ts";
import { activityPart } from "./activity.ts";
import { cancelPart, isCancelable } from "./cancel-form.ts";
import { copyLinksPart } from "./copy-links.ts";
import { firmPaysPart, isBeingCharged } from "./firm-pays.ts";
import { type InPersonView, inPersonPart } from "./in-person.ts";
import { clientPaysPart, type MailsView, mailsPart } from "./mails.ts";
import {
  bankLoss,
  beingPaid,
  extraPart,
  isBeingPaid,
  isPaidLate,
  type OrderMoneyView,
  overduePayment,
  refundsBack,
  stepsWithDebt,
  supplementsPart,
} from "./money.ts";
import { anotherPath } from "./new/another.ts";
import { type NotesView, notesPart } from "./notes.ts";
import {
  addressLine,
  againButton,
  canBePutRight,
  missingPart,
  moversOf,
  type PutRightView,
  paperPart,
  putRightPart,
  refundPart,
} from "./put-right.ts";
import { type OrderRoomsView, roomPart } from "./rooms.ts";
import { discardQuestion } from "./sandbox-forms.ts";
import { type RefusedSigner, type SignersView, signersPart } from "./signers.ts";
import { envelopeLabel, orderName, senderTextWords, signingEnds, simulatedLabel } from "./words.ts";

export type OrderDetailView = OrderRoomsView &
  PutRightView &
  MailsView &
  InPersonView &
  NotesView &
  OrderMoneyView & {
    /** The title of the order's document; null when unknown. */
    title: string | null;
    history: OrderHistory;
    /** The absolute URL of the page on which the client sees the order. */
    clientUrl: string;
    /** True if the order can be paid now. If it is a test order, the page also offers to pay it in the sandbox. */
    payable: boolean;
    /** True if orders of this environment are paid by a hosted checkout. */
    hasCheckout: boolean;
    /** The sum of a due supplement (postage, or a payment that a bank took back), otherwise the order's total. */
    dueCents: number;
    /** A sentence on when the order's documents will be deleted, or were deleted. */
    retention: Html | string | null;
    /** The webhook topics that the last sandbox step fired. Null when the page was not opened by such a step. */
    fired: readonly Topic[] | null;
    error?: string;
    signers: readonly SignerState[];
    places: SignersView["places"];
    /** The links with which the signers read the finished documents. */
    copyLinks: readonly CopyLink[];
    elsewhere: SignersView["elsewhere"];
    /** Notices about parts of the document that people may overlook, found when the order was placed. */
    notices: ReturnType<NoticesOf>;
    documents: readonly ProvenDocument[];
    refusedSigner?: RefusedSigner;
    /** True if this installation sends text messages. */
    textCodes: boolean;
  };

/** True if the order's final document exists and was not deleted. */
const isFinished = ({ order, documents }: OrderDetailView): boolean => {
  const kind = order.notarize ? "notarized" : order.sign ? "sealed" : "original";
  return documents.some((each) => each.kind === kind && each.deletedAt === null);
};

/** An order as its firm sees it. */
export function orderDetailBody(view: OrderDetailView): Html {
  const { order, clientUrl, fired, error } = view;
  const parts = partsOf(view);
  const templateLink =
    order.sign &&
    order.documentsDeletedAt === null &&
    html`<a href="/dashboard/templates/new?order=${order.code}">Make a template of it</a>`;
  const links = html`<p class="room-links"><a href="/dashboard/orders">All orders</a><a href="${anotherPath(order.code)}">Place another for this client</a>${templateLink}</p>`;
  return html`${pageHead(orderName(view), clientLine(order), links)}
${errorSummary(error)}
${fired && firedNotice(fired)}
<nav class="room-links page-parts" aria-label="On this page">${parts.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}</nav>
<div class="order">
<div class="order-main">
${statusCard(view)}
${parts.map(({ id, title, body }) => card(id, title, body))}
</div>
<div class="order-side">
${card("quote", "Quote", moneyTable("All amounts in US dollars", order, order.status === "ManualQuoteRequired" ? "Total so far" : "Total"))}
${receiptsCard(`/dashboard/orders/${order.code}/receipts`, [view.receipts], null, order.environment === "test" && testClockDates)}
${card(
  "details",
  "Details",
  facts([
    ["Client", order.customerName],
    ["Email", order.customerEmail],
    ...senderTextNames.map((name) => [senderTextWords[name].label, order[senderTexts[name].member]] as const),
    ["Services", serviceFlags(order) || "None"],
    [
      "Template",
      order.template &&
        html`<a href="/dashboard/templates/${order.template.templateId}/versions/${order.template.version}">Version ${order.template.version}</a>`,
    ],
    ["Signing status", isSimulated(view.signers) ? simulatedLabel : envelopeLabel(order.envelopeStatus)],
    ["Ship to", addressLine(view.corrected.shipTo)],
    ["Fax", order.faxTo],
    ["Placed", plainTime(order.createdAt)],
    ["Documents", view.retention],
    ["Order code", codeText(order.code, "order code")],
    ["Link for the client", codeText(clientUrl, "link for the client")],
  ]),
)}
${isCancelable(order) && !isBeingCharged(view.firmPays) && cancelPart(order.code)}
${refundPart(view)}
</div>
</div>`;
}

type Part = { id: string; title: string; body: Html };

/** The cards of the page below the order's status, and the link to each within the page. */
function partsOf(view: OrderDetailView): Part[] {
  const { order, signers, notices, documents, history } = view;
  const part = (id: string, title: string, body: Html): Part => ({ id, title, body });
  const all: (Part | false | null)[] = [
    canBePutRight(view.corrected) &&
      part(
        "put-right",
        statusWords(order.status).tone === "attention" ? "Put it right" : "Correct the order",
        putRightPart(view),
      ),
    view.inPerson && part("in-person", "The notary asks", inPersonPart(view)),
    order.environment === "test" && part("sandbox", "Sandbox", sandbox(view)),
    part("progress", "Progress", progressSteps(stepsWithDebt(view))),
    signers.length > 0 &&
      part(
        "signers",
        "Signers",
        signersPart({
          submission: view.submission,
          orderCode: order.code,
          signers,
          places: view.places,
          elsewhere: view.elsewhere,
          open: order.status === "EsignPending",
          isOnHold: order.statusBeforeHold === "EsignPending",
          isNextRound: isDeclined(order),
          textCodes: view.textCodes,
          refused: view.refusedSigner,
        }),
      ),
    view.copyLinks.length > 0 && part("copy-links", "Links to the copies", copyLinksPart(order.code, view.copyLinks)),
    notices.length > 0 &&
      part(
        "document-notices",
        "What signers are told of the document",
        html`<ul>${notices.map((one) => html`<li>${noticeMessage(one)}</li>`)}</ul>`,
      ),
    part(
      "documents",
      "Documents",
      html`${isFinished(view) && html`<p><a href="/dashboard/orders/${order.code}/zip" download>Download everything (zip)</a></p>`}
${documentList({ path: `/dashboard/orders/${order.code}/documents`, hasView: true, isSimulated: isSimulated(signers) }, documents)}`,
    ),
    history.shipments.length + history.faxes.length > 0 && part("tracking", "Tracking", trackingPart(history)),
    part("notes", "Notes", notesPart(view)),
    part("mails", "Emails to the client", mailsPart(view)),
    part("activity", "Activity", activityPart(history, view.names, signers, view.corrected.corrections)),
    part("rooms", "Rooms", roomPart(view)),
  ];
  return all.filter((each) => each !== false && each !== null);
}

const clientLine = ({ customerName, customerEmail, externalReference }: PublicOrderRow): string =>
  [customerName ?? customerEmail, externalReference].filter((each) => each !== null).join(" · ");

const isDeclined = ({ status }: PublicOrderRow): boolean => status === "EsignDeclined" || status === "EsignExpired";

/** The typed reason for the order's status; null without one, and for a status that needs no attention. */
function reasonOf({ order, history }: OrderDetailView): string | null {
  const last = history.history.findLast(({ action }) => action === "order.transition");
  const { reason } = (last?.detail ?? {}) as { reason?: unknown };
  return statusWords(order.status).tone === "attention" && typeof reason === "string" ? reason : null;
}

function statusCard(view: OrderDetailView): Html {
  const { order, payable, hasCheckout, dueCents, firmPays } = view;
  const paying = firmPays?.isOverdue ? overduePayment : beingPaid;
  const isActSimulated = view.documents.some((each) => each.isSimulated);
  const { tone, label, headline, summary } = isBeingPaid(view)
    ? paying
    : statusWords(order.status, undefined, view.signers, isActSimulated);
  return html`<section class="card status-card ${tone}" aria-labelledby="status-title">
<p>${statusBadge(tone, label)}</p>
<h2 id="status-title" class="headline">${headline}</h2>
<p class="lead">${isPaidLate(view) ? "A payment arrived after it was canceled. What went back is among the receipts; your firm’s statement has the rest." : summary}</p>
${sendingPart(view)}
${bankLoss(view)}
${refundsBack(view)}
${extraPart(view)}
${reasonOf(view) !== null && html`<p>The reason: <q class="breakable">${reasonOf(view)}</q></p>`}
${paperPart(view, view.signers)}${againButton(view)}
${missingPart(view)}
${order.manualQuoteReason !== null && html`<p>${order.manualQuoteReason} A person arranges it and sets the price, or tells you that it can’t be done.</p>`}
<div class="form-actions"><a class="button quiet-button" href="/orders/${order.code}">Open the client’s page</a></div>
${supplementsPart(view.corrected)}
${firmPaysPart({ ...order, dueCents }, firmPays, { payable, hasCheckout })}
${payable && order.payBy === "client" && clientPaysPart(view)}
${payable && hasCheckout && buttonForm(`/dashboard/orders/${order.code}/checkout`, `Open the checkout for ${money(dueCents)}`, { fields: { pay_by: order.payBy }, kind: "quiet-button" })}
</section>`;
}

/** A sentence that says that the document is sent out for signature when the order is paid. */
const sendingPart = ({ order, payable, signers }: OrderDetailView): Html | false =>
  payable &&
  order.sign &&
  signers.every(({ issuedAt }) => issuedAt === null) &&
  html`<p>Paying sends it out for signature: each signer gets the link to sign by email.</p>`;

const firedNotice = (topics: readonly Topic[]): Html =>
  topics.length === 0
    ? html`<div class="said-events" role="status">${notice("info", "No event was sent", "This step does not notify your webhooks.")}</div>`
    : html`<div class="said-events" role="status">${notice("info", topics.map((topic) => topicWords[topic]).join(" "), "Your systems are being told, where a webhook of yours subscribes to it.")}</div>`;

function sandbox(view: OrderDetailView): Html {
  const [{ submission, firmPays }, { code, status }] = [view, view.order];
  const signers: readonly SignerState[] = view.signers;
  const path = `/dashboard/orders/${code}/sandbox`;
  const moves = sandboxMoves(status);
  const pay = (outcome: string, label: string, kind = "quiet-button") =>
    buttonForm(`${path}/checkout`, label, { fields: { outcome, submission }, kind });
  if (moves === "pay" && isBeingCharged(firmPays))
    return html`<p>A payment by your firm is under way. The test clock brings its end nearer.</p>`;
  if (moves === "pay")
    return html`<p>Choose what happens to the payment. No money moves; everything else works as it would for a real order.</p>
<div class="button-row">${pay("success", "Pay", "")}${pay("decline", "Decline the payment")}${pay("cancel", "Cancel the checkout")}${pay("delayed", "Pay with a delay")}</div>`;
  const isPartlySigned = status === "EsignPending" && signers.some(({ signedAt }) => signedAt !== null);
  if (moves === "advance" && isPartlySigned)
    return html`<p>Simulate the next part of the work.${signingEnds}</p>
${discardQuestion("Advance to the next milestone", `${path}/advance`, { submission })}${discardQuestion("Complete the order", `${path}/complete`, { submission })}`;
  if (moves === "advance")
    return html`<p>Simulate the next part of the work. Your webhooks are notified as they would be for a real order.${status === "EsignPending" && signingEnds}</p>
<div class="button-row">${buttonForm(`${path}/advance`, "Advance to the next milestone", { fields: { submission } })}${buttonForm(`${path}/complete`, "Complete the order", { fields: { submission }, kind: "quiet-button" })}</div>`;
  return html`<p>${stands[status] ?? `The sandbox cannot move the order from here. ${moversOf(view)}`}</p>`;
}

const stands: Readonly<Record<string, string>> = {
  Completed: "The order is complete. There is nothing left to simulate.",
  ManualQuoteRequired:
    "This order needs a manual quote first. The operator of this service prices it, even for test orders.",
  Cancelled: "The order was canceled. There is nothing left to simulate.",
  Refunded: "The order was refunded. There is nothing left to simulate.",
};

const at = (text: string | null): Html | null => (text === null ? null : plainTime(new Date(text)));

/** The order's shipments and faxes, with their tracking. */
const trackingPart = ({ shipments, faxes }: Pick<OrderHistory, "shipments" | "faxes">): Html =>
  html`${shipments.map(({ carrier, trackingNumber, shippedAt, deliveredAt }) =>
    facts([
      ["Carrier", carrier],
      ["Tracking number", trackingNumber && codeText(trackingNumber, "tracking number")],
      ["Shipped", at(shippedAt)],
      ["Delivered", at(deliveredAt)],
    ]),
  )}${faxes.map(({ faxTo, status, sentAt, deliveredAt }) =>
    facts([
      ["Faxed to", faxTo],
      ["Sent", at(sentAt)],
      ["Failed", status === "Failed" ? "Correct the number, or wait for the operator of this service" : null],
      ["Received", at(deliveredAt)],
    ]),
  )}`;
