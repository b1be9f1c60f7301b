import type { OrderDocument, SignerState } from "../../envelopes/envelopes.ts";
import type { PublicOrderRow } from "../../orders/orders.ts";
import type { ShownFirm } from "../../partners/partners.ts";
import { maskEmail } from "../../platform/mail/mask-email.ts";
import { accentStripe, attribution } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { card, codeText, facts, moneyTable, notice, progressSteps, statusBadge } from "../ui/components.ts";
import { money, plainTime, shortCode } from "../ui/format.ts";
import { layout } from "../ui/layout.ts";
import { onPaper } from "../ui/on-paper.ts";
import { documentList } from "../ui/orders/document-list.ts";
import { signerWords } from "../ui/orders/signer-words.ts";
import { statusWords } from "../ui/orders/status-words.ts";
import { orderSteps } from "../ui/orders/steps.ts";
import { type Html, html, render } from "../ui/render.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import type { Words } from "../ui/words/words.ts";

/** What an order's page shows of it. */
export type OrderView = Omit<
  PublicOrderRow,
  "lines" | "customerName" | "documentName" | "documentNotices" | "docSlug"
> & {
  lines: readonly { type: string; label: string; amountCents: number }[];
  /** Whether a hosted checkout can be had for it now. */
  payable: boolean;
  /** What the retention plan says of its documents. */
  retention: Html | string | null;
  signers: readonly ShownSigner[];
  firm: ShownFirm;
  /** What its document is called; null when nothing says so. */
  title: string | null;
};

/** Whoever has the code may see the page: it names the signers, and nothing that leads to them. */
export type ShownSigner = Pick<SignerState, "name" | "status" | "takenIn" | "routing">;

/** The documents of an order, for who has the link to them: `path` is where they are. */
export type LinkedDocuments = { path: string; list: readonly OrderDocument[] };

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

/** Who has signed; who has a link is reminded of it, once one was sent. */
function signersPart({ signers, environment, status }: OrderView, words: Words): Html {
  const asked = status === "EsignPending" && signers.some(({ status }) => status === "sent" || status === "viewed");
  return html`<ul class="order-signers">${signers.map((signer) => {
    const { tone, label } = signerWords(signer, words);
    return html`<li>${signer.name} ${statusBadge(tone, label)}</li>`;
  })}</ul>
${asked && environment === "live" && html`<p>${words.orderPage.signingLink}</p>`}`;
}

const contactOf = ({ contactEmail }: ShownFirm): Html | null =>
  contactEmail === null ? null : html`<a class="breakable" href="mailto:${contactEmail}">${contactEmail}</a>`;

/** What the order is called: by its document, the firm's own reference, or the first digits of its code. */
const nameOf = ({ title, externalReference, code }: OrderView, { orders }: Words): string =>
  title ?? externalReference ?? orders.unnamed(shortCode(code));

function details(order: OrderView, { language, orderPage, components }: Words): Html {
  const said = orderPage.facts;
  const list = facts([
    [said.document, order.title],
    [said.reference, order.externalReference],
    [said.firm, order.firm.name],
    [said.questions, contactOf(order.firm)],
    [said.placed, plainTime(order.createdAt, language)],
    [said.client, maskEmail(order.customerEmail)],
    [said.code, codeText(order.code, said.copyCode, components.copy)],
  ]);
  return card("details", orderPage.details, list);
}

/** What somebody comes for who was mailed the link to them; what was signed stands before what it was made from. */
function documentsCard(documents: LinkedDocuments, words: Words): Html {
  const isOriginal = ({ kind }: OrderDocument) => kind === "original";
  const list = [...documents.list].sort((one, other) => Number(isOriginal(one)) - Number(isOriginal(other)));
  return card("documents", words.orderPage.documents, documentList(documents, list, words));
}

const parcel = ({ carrier, trackingNumber }: OrderView, { orderPage, components }: Words): Html =>
  facts([
    [orderPage.facts.carrier, carrier],
    [orderPage.facts.tracking, trackingNumber && codeText(trackingNumber, orderPage.facts.tracking, components.copy)],
  ]);

/** Everything that changes while one looks at the page; merged into what is shown, so focus and scroll stay. */
function live(order: OrderView, { words, asked }: Reader): Html {
  const { tone, label, headline, summary, next } = statusWords(order.status, words);
  const { orderPage: page, components } = words;
  const test = order.environment === "test";
  return html`<div class="order-main">
${test && notice("attention", page.test.title, page.test.text)}
<section class="card status-card ${tone}" aria-labelledby="status-title">
<div aria-live="polite">
<p class="eyebrow"><span class="breakable">${nameOf(order, words)}</span> ${statusBadge(tone, label)}</p>
<h1 id="status-title">${headline}</h1>
<p class="lead">${summary}</p>
</div>
<h2 id="next-title">${page.next}</h2>
<ul class="next">${next.map((line) => html`<li>${line}</li>`)}</ul>
${
  order.payable &&
  html`<p><a class="button pay no-print" href="${linkFor({ asked }, `/orders/${order.code}/checkout`)}">${page.pay(money(order.totalCents))}</a></p>
<p class="quiet-text no-print">${page.payHint} <a href="#quote">${page.toQuote}</a></p>`
}
${order.trackingNumber !== null && parcel(order, words)}
</section>
${card("progress", page.progress, progressSteps(orderSteps(order, words), components.steps))}
${order.signers.length > 0 && card("signers", page.signers, signersPart(order, words))}
</div>
<div class="order-side">
${quote(order, words)}
${details(order, words)}
${order.retention && html`<p class="quiet-text"><strong>${page.retention}</strong> ${order.retention}</p>`}
</div>`;
}

/** The part that refreshes itself. */
export const orderFragment = (order: OrderView, reader: Reader): string => render(live(order, reader));

/** The page of an order. Its code in the address is the permission to see it, and no more than that. */
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
    // Previews of links show it: it names nobody and no document.
    title: words.orders.unnamed(shortCode(order.code)),
    scripts: ["htmx.js", "copy.js"],
    body: html`<header class="order-head">
${accentStripe(order.firm.branding?.accentColor)}
${attribution(order.firm.name, order.firm.branding, words.preparedBy)}
<p class="quiet-text">${words.aboutUs(order.firm.branding?.brandName ?? order.firm.name)}</p>
</header>
${documents && html`<div class="order-documents-first">${documentsCard(documents, words)}</div>`}
<div id="order" class="order" hx-get="${linkFor(reader, `/orders/${order.code}/status`)}" hx-trigger="every 15s" hx-swap="innerMorph">
${live(order, reader)}
</div>
<p class="quiet no-print"><span class="with-script">${words.updates}</span><span class="without-script">${words.reload}</span> ${documents ? page.shareDocuments : page.share}</p>
${onPaper(`${baseUrl}/orders/${order.code}`, { ...words.components.paper, page: page.paper })}`,
  });
}
