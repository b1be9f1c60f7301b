import type { ShownFirm } from "../../firms/partners/partners.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { maskEmail, maskEmails } from "../../kernel/platform/mail/mask-email.ts";
import type { BillingDocument } from "../../orders/billing/billing.ts";
import { isPayable, type Payer, type PublicOrderRow } from "../../orders/order/order.ts";
import type { Supplement } from "../../orders/payments/payments.ts";
import type { OrderDocument, ProvenDocument, SignerState } from "../../signing/envelopes/envelopes.ts";
import { accentStripe, attribution } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { card, codeText, facts, moneyTable, notice, progressSteps, type Step, statusBadge } from "../ui/components.ts";
import { money, plainTime, shortCode } from "../ui/format.ts";
import { layout } from "../ui/layout.ts";
import { onPaper } from "../ui/on-paper.ts";
import { documentList } from "../ui/orders/document-list.ts";
import { receiptsCard } from "../ui/orders/receipt-list.ts";
import { isSimulated, signerWords } from "../ui/orders/signer-words.ts";
import { clientStatus, statusWords } from "../ui/orders/status-words.ts";
import { orderSteps } from "../ui/orders/steps.ts";
import { type Html, html, render } from "../ui/render.ts";
import type { Words } from "../ui/words/en/en.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import { appointmentWords } from "./appointment-words.ts";

export type OrderView = Omit<
  PublicOrderRow,
  "lines" | "customerName" | "documentName" | "documentNotices" | "docSlug"
> & {
  lines: readonly { type: string; label: string; amountCents: number }[];
  /** True if the hosted checkout of the order can be opened now. */
  payable: boolean;
  /** True if the order waits for its notarization, and notaries offer times or a notary is on duty. */
  offersAppointment: boolean;
  together: PaidTogether;
  /**
   * A further amount that the client owes after the order was paid: for postage, or to replace a payment that a bank
   * reversed. Undefined when the firm pays.
   */
  supplement: Pick<Supplement, "amountCents" | "replacesLoss"> | undefined;
  /**
   * True if a bank took the client's payment back, and nobody has paid the price again. False when the firm pays now,
   * and if a record of the payments was altered.
   */
  isPriceOwed: boolean;
  /** The payer whose bank payment is in process; null for none. Until that payment has ended, nothing is due. */
  inProcess: Payer | null;
  /** A sentence on when the order's documents will be deleted, or were deleted. */
  retention: Html | string | null;
  /** True if the sandbox notarized the order's document, and the order has not moved on since then. */
  isActSimulated: boolean;
  signers: readonly ShownSigner[];
  firm: ShownFirm;
  /** The client's receipts; empty when the firm pays. Null if a record of them was altered in the database. */
  receipts: readonly BillingDocument[] | null;
  /** The title of the order's document; null when unknown. */
  title: string | null;
};

/**
 * `orders`: the orders that one checkout can pay together, including the page's own order. Empty if the price can't be
 * paid now, and for an order without a room. `withheld`: how many of the closing's orders this checkout leaves out.
 */
export type PaidTogether = { orders: readonly { totalCents: number }[]; withheld: number };

/**
 * A signer as the page shows them. Anyone with the order's code can see the page, so the type has no member for an
 * email address. The `name` of a client who gave none is an email address, so the page masks it.
 */
export type ShownSigner = Pick<SignerState, "name" | "status" | "takenIn" | "wantsPaper" | "isSimulated" | "routing">;

/** The documents of an order, shown to anyone with the link to them. `path` is the common prefix of their URLs. */
export type LinkedDocuments = { path: string; list: readonly ProvenDocument[] };

const unpriced = "ManualQuoteRequired";

function quote(order: OrderView, { orderPage, orders, components }: Words): Html {
  const shown = { ...order, lines: order.lines.map((line) => ({ ...line, label: orders.lineLabel(line) })) };
  const isPriced = order.status !== unpriced;
  const table = moneyTable(
    isPriced ? orderPage.quoteCaption : orderPage.unpricedCaption,
    shown,
    isPriced ? components.money.total : orderPage.totalSoFar,
    components.money,
  );
  return card("quote", isPriced ? orderPage.quote : orderPage.unpriced, table);
}

/**
 * The state of each signer. While a live order waits for a signer who was sent a link, also a hint to look for that
 * mail.
 */
function signersPart({ signers, environment, status }: OrderView, words: Words): Html {
  const asked = status === "EsignPending" && signers.some(({ status }) => status === "sent" || status === "viewed");
  return html`<ul class="order-signers">${signers.map((signer) => {
    const { tone, label } = signerWords(signer, words);
    return html`<li>${maskEmails(signer.name)} ${statusBadge(tone, label)}</li>`;
  })}</ul>
${asked && environment === "live" && html`<p>${words.orderPage.signingLink}</p>`}`;
}

const contactOf = ({ contactEmail }: ShownFirm): Html | null =>
  contactEmail === null ? null : html`<a class="breakable" href="mailto:${contactEmail}">${contactEmail}</a>`;

/** Names the order by its document, the firm's reference, or the first digits of its code. */
const nameOf = ({ title, externalReference, code }: OrderView, { orders }: Words): string =>
  title ?? externalReference ?? orders.unnamed(shortCode(code));

function details(order: OrderView, { language, orderPage, components }: Words): Html {
  const labels = orderPage.facts;
  const list = facts([
    [labels.document, order.title],
    [labels.reference, order.externalReference],
    [labels.firm, order.firm.name],
    [labels.questions, contactOf(order.firm)],
    [labels.placed, plainTime(order.createdAt, language)],
    [labels.client, maskEmail(order.customerEmail)],
    [labels.code, codeText(order.code, labels.copyCode, components.copy)],
  ]);
  return card("details", orderPage.details, list);
}

/**
 * The card of the order's documents. On the page that the mailed link opens, this card is at the top, because the
 * reader came for the documents. The valid document is listed first: the notarized one, otherwise the signed one.
 */
function documentsCard(documents: LinkedDocuments, { title, signers }: OrderView, words: Words): Html {
  const places: Partial<Record<OrderDocument["kind"], number>> = { notarized: 0, sealed: 1, original: 3 };
  const placeOf = ({ kind }: OrderDocument) => places[kind] ?? 2;
  const list = [...documents.list].sort((one, other) => placeOf(one) - placeOf(other));
  return card(
    "documents",
    title === null ? words.orderPage.documents : `${words.orderPage.documents}: ${title}`,
    documentList({ ...documents, isSimulated: isSimulated(signers) }, list, words),
  );
}

const parcel = ({ carrier, trackingNumber }: OrderView, { orderPage, components }: Words): Html =>
  facts([
    [orderPage.facts.carrier, carrier],
    [orderPage.facts.tracking, trackingNumber && codeText(trackingNumber, orderPage.facts.tracking, components.copy)],
  ]);

/** Anyone with the order's link may request the documents; the mail is sent only to the client. */
const documentsForm = ({ code, customerEmail, environment }: OrderView, { words, asked }: Reader): Html =>
  html`<div class="documents-form"><form class="no-print" method="post" action="${linkFor({ asked }, `/orders/${code}/documents`)}"><button type="submit">${words.documentsMail.button}</button></form>
<p class="quiet-text no-print">${documentsHint(words, customerEmail, environment)}</p></div>`;

/** Says to whom the link to the documents is mailed; for a test order, that it is mailed to nobody. */
export const documentsHint = ({ documentsMail }: Words, email: string, environment: Environment): string =>
  environment === "test" ? documentsMail.test.text : documentsMail.hint(maskEmail(email));

const payButton = (path: string, label: string, { asked }: Pick<Reader, "asked">, kind = ""): Html =>
  html`<form class="button-form no-print" method="post" action="${linkFor({ asked }, path)}"><button type="submit" class="pay ${kind}">${label}</button></form>`;

/** The label of the button that leads to the checkout. If the order costs nothing, the label offers to begin it. */
export const payLabel = ({ begin, pay }: Pick<Words["orderPage"], "begin" | "pay">, cents: number): string =>
  cents === 0 ? begin : pay(money(cents));

/**
 * The payment buttons. A further amount has one button. A price has a button for this document. If several documents of
 * the client's closing can be paid together, another button pays all of them.
 */
function payPart(order: OrderView, reader: Pick<Reader, "words" | "asked">): Html {
  const { code, together, totalCents, supplement } = order;
  const { orderPage: page } = reader.words;
  if (supplement !== undefined) {
    const amount = money(supplement.amountCents);
    return html`<p>${supplement.replacesLoss ? page.payAgain(amount) : page.supplement(amount)}</p>
${payButton(`/orders/${code}/checkout`, page.pay(amount), reader)}
<p class="quiet-text no-print">${page.payHint}</p>`;
  }
  const { orders, withheld } = together;
  const path = `/orders/${code}/checkout`;
  const total = orders.reduce((sum, each) => sum + each.totalCents, 0);
  const isShared = orders.length > 1;
  return html`${isShared && payButton(`${path}/together`, page.payAll(orders.length, money(total)), reader)}
${payButton(path, isShared ? page.payThis(money(totalCents)) : payLabel(page, totalCents), reader, isShared ? "quiet-button" : "")}
${withheld > 0 && html`<p class="quiet-text no-print">${page.payWithheld(withheld)}</p>`}
<p class="quiet-text no-print">${page.payHint} <a href="#quote">${page.toQuote}</a></p>`;
}

/**
 * The state of the payment step while the client's bank payment is in process, or while the client owes money again.
 * Undefined at all other times, such as before the first payment.
 */
function unpaidStep(
  { isPriceOwed, supplement, inProcess }: OrderView,
  { orders: { steps } }: Words,
): Omit<Step, "label"> | undefined {
  if (inProcess === "client") return { state: "upcoming", note: steps.notes.AwaitingPayment };
  if (isPriceOwed) return { state: "stopped", note: steps.lost };
  return supplement && { state: "upcoming", note: steps.notes.QuoteReady };
}

/**
 * The part of the page that refreshes itself. htmx merges it into the page, so the focus and the scroll position stay.
 */
function live(order: OrderView, { words, asked }: Reader): Html {
  const status = statusWords(clientStatus(order), words, order.signers, order.isActSimulated);
  const { tone, label, headline, summary } = status;
  const { orderPage: page, components } = words;
  const isFirmsTurn = (order.payBy === "firm" || order.inProcess === "firm") && isPayable(order.status);
  const test = order.environment === "test";
  const next = isFirmsTurn ? [page.firmPays] : nextSteps(order, words, status.next);
  return html`<div class="order-main">
${test && notice("attention", words.test.title, isSimulated(order.signers) ? `${words.test.text} ${words.orders.simulated.summary}` : words.test.text)}
<section class="card status-card ${tone}" aria-labelledby="status-title">
<div aria-live="polite">
<p class="eyebrow"><span class="breakable">${nameOf(order, words)}</span> ${statusBadge(tone, label)}</p>
<h1 id="status-title">${isFirmsTurn ? page.firmsTurn : headline}</h1>
<p class="lead">${isFirmsTurn ? page.nothingToPay : summary}</p>
</div>
<h2 id="next-title">${page.next}</h2>
<ul class="next">${next.map((line) => html`<li>${line}</li>`)}</ul>
${order.payable && payPart(order, { words, asked })}
${order.offersAppointment && html`<p><a class="button no-print" href="${linkFor({ asked }, `/orders/${order.code}/appointment`)}">${appointmentWords[words.language].title}</a></p>`}
${order.status === "Completed" && order.documentsDeletedAt === null && documentsForm(order, { words, asked })}
${order.carrier !== null && parcel(order, words)}
</section>
${card("progress", page.progress, progressSteps(orderSteps({ ...order, status: clientStatus(order) }, words, unpaidStep(order, words)), components.steps))}
${order.signers.length > 0 && card("signers", page.signers, signersPart(order, words))}
</div>
<div class="order-side">
${order.payBy === "client" && quote(order, words)}
${receiptsCard(`/orders/${order.code}/receipts`, [order.receipts], words)}
${details(order, words)}
${order.retention && html`<p class="quiet-text"><strong>${page.retention}</strong> ${order.retention}</p>`}
</div>`;
}

/** The client's next steps. @param usual the next steps that usually follow the order's status */
function nextSteps(order: OrderView, { orderPage, test }: Words, usual: readonly string[]): readonly string[] {
  const { inProcess, status, payable, documentsDeletedAt } = order;
  if (inProcess === "client") return orderPage.bankPayment;
  if (order.environment !== "test") return usual;
  if (isPayable(status) && !payable && documentsDeletedAt === null) return [test.pay];
  return status === "Completed" ? usual.slice(0, 1) : usual;
}

/** The HTML that htmx requests every few seconds to refresh the page of an order. */
export const orderFragment = (order: OrderView, reader: Reader): string => render(live(order, reader));

/**
 * The page of an order. Anybody with the code in its URL can see the page, open the checkout, and have mails sent to
 * the client. The code gives no access to the documents.
 */
export function orderPage(
  assets: Pick<Assets, "url">,
  order: OrderView,
  baseUrl: string,
  reader: Reader,
  documents?: LinkedDocuments,
): string {
  const { words } = reader;
  const { orderPage: page } = words;
  return layout(assets, {
    ...clientFrame(words),
    // Link previews show the title, so it names neither people nor documents.
    title: words.orders.unnamed(shortCode(order.code)),
    scripts: ["htmx.js", "copy.js"],
    body: html`<header class="order-head">
${accentStripe(order.firm.branding?.accentColor)}
${attribution(order.firm.name, order.firm.branding, words.preparedBy)}
<p class="quiet-text">${words.aboutUs(order.firm.branding?.brandName ?? order.firm.name)}</p>
</header>
${documents && html`<div class="order-documents-first">${documentsCard(documents, order, words)}</div>`}
<div id="order" class="order" hx-get="${linkFor(reader, `/orders/${order.code}/status`)}" hx-trigger="every 15s" hx-swap="innerMorph">
${live(order, reader)}
</div>
<p class="quiet no-print"><span class="with-script">${words.updates}</span><span class="without-script">${words.reload}</span> ${documents ? page.shareDocuments : page.share}</p>
${onPaper(`${baseUrl}/orders/${order.code}`, { ...words.components.paper, page: page.paper })}`,
  });
}
