import type { OrderDocument, SignerState } from "../../envelopes/envelopes.ts";
import type { PublicOrderRow } from "../../orders/orders.ts";
import type { ShownFirm } from "../../partners/partners.ts";
import { maskEmail } from "../../platform/mail/mask-email.ts";
import { accentStripe, attribution } from "../ui/accent.ts";
import type { Assets } from "../ui/assets.ts";
import { card, codeText, facts, moneyTable, notice, progressSteps, statusBadge } from "../ui/components.ts";
import { money, shortCode, time } from "../ui/format.ts";
import { clientNav, layout } from "../ui/layout.ts";
import { onPaper } from "../ui/on-paper.ts";
import { documentList } from "../ui/orders/document-list.ts";
import { signerWords } from "../ui/orders/signer-words.ts";
import { statusWords } from "../ui/orders/status-words.ts";
import { orderSteps } from "../ui/orders/steps.ts";
import { type Html, html, render } from "../ui/render.ts";

/** What an order's page shows of it. */
export type OrderView = Omit<PublicOrderRow, "lines" | "customerName" | "documentName" | "docSlug"> & {
  lines: readonly { type: string; label: string; amountCents: number }[];
  /** Whether a hosted checkout can be had for it now. */
  payable: boolean;
  /** What the retention plan says of its documents. */
  retention: string | null;
  signers: readonly ShownSigner[];
  firm: ShownFirm;
  /** What its document is called; null when nothing says so. */
  title: string | null;
};

/** Whoever has the code may see the page: it names the signers, and nothing that leads to them. */
export type ShownSigner = Pick<SignerState, "name" | "status" | "routing">;

/** The documents of an order, for who has the link to them: `path` is where they are. */
export type LinkedDocuments = { path: string; list: readonly OrderDocument[] };

const unpriced = "ManualQuoteRequired";

function quote(order: OrderView): Html {
  return order.status === unpriced
    ? card("quote", "Quote so far", moneyTable("What is priced so far, in US dollars", order, "Total so far"))
    : card("quote", "Quote", moneyTable("All amounts in US dollars", order));
}

/** Who has signed; who has a link is reminded of it, once one was sent. */
function signersPart({ signers, environment, status }: OrderView): Html {
  const asked = status === "EsignPending" && signers.some(({ status }) => status === "sent" || status === "viewed");
  return html`<ul class="order-signers">${signers.map(
    (signer) =>
      html`<li>${signer.name} ${statusBadge(signerWords[signer.status].tone, signerWords[signer.status].label)}</li>`,
  )}</ul>
${asked && environment === "live" && html`<p>If you are one of them, open the signing link that was emailed to you. It is yours alone.</p>`}`;
}

const contactOf = ({ contactEmail }: ShownFirm): Html | null =>
  contactEmail === null ? null : html`<a class="breakable" href="mailto:${contactEmail}">${contactEmail}</a>`;

/** What the order is called: by its document, the firm's own reference, or the first digits of its code. */
const nameOf = ({ title, externalReference, code }: OrderView): string =>
  title ?? externalReference ?? `Order ${shortCode(code)}`;

/** Everything that changes while one looks at the page; merged into what is shown, so focus and scroll stay. */
function live(order: OrderView): Html {
  const { tone, label, headline, summary, next } = statusWords(order.status);
  const test = order.environment === "test";
  return html`<div class="order-main">
${test && notice("attention", "A test order", "Nothing in it is real: no money moves, and nothing is signed, notarized, or sent.")}
<section class="card status-card ${tone}" aria-labelledby="status-title">
<div aria-live="polite">
<p class="eyebrow"><span class="breakable">${nameOf(order)}</span> ${statusBadge(tone, label)}</p>
<h1 id="status-title">${headline}</h1>
<p class="lead">${summary}</p>
</div>
<h2 id="next-title">What happens next</h2>
<ul class="next">${next.map((line) => html`<li>${line}</li>`)}</ul>
${order.payable && html`<p><a class="pay no-print" role="button" href="/orders/${order.code}/checkout">Pay ${money(order.totalCents)}</a></p>`}
</section>
${card("progress", "Progress", progressSteps(orderSteps(order)))}
${order.signers.length > 0 && card("signers", "Who signs", signersPart(order))}
${order.retention && notice("info", "How long documents are kept", order.retention)}
</div>
<div class="order-side">
${quote(order)}
${card(
  "details",
  "Details",
  facts([
    ["Document", order.title],
    ["Reference", order.externalReference],
    ["Placed by", order.firm.name],
    ["Questions", contactOf(order.firm)],
    ["Placed", time(order.createdAt)],
    ["Client", maskEmail(order.customerEmail)],
    ["Order code", codeText(order.code, "order code")],
  ]),
)}
</div>`;
}

/** The part that refreshes itself. */
export const orderFragment = (order: OrderView): string => render(live(order));

/** The page of an order. Its code in the address is the permission to see it, and no more than that. */
export const orderPage = (
  assets: Pick<Assets, "url">,
  order: OrderView,
  baseUrl: string,
  documents?: LinkedDocuments,
): string =>
  layout(assets, {
    title: `${nameOf(order)} · ${order.firm.name}`,
    credential: true,
    headerNav: clientNav,
    scripts: ["htmx.js", "copy.js"],
    body: html`<header class="order-head">
${accentStripe(order.firm.branding?.accentColor)}
${attribution(order.firm.name, order.firm.branding)}
</header>
<div id="order" class="order" hx-get="/orders/${order.code}/status" hx-trigger="every 15s" hx-swap="innerMorph">
${live(order)}
</div>
${documents && html`<div class="order-main">${card("documents", "Documents", documentList(documents.path, documents.list))}</div>`}
<p class="quiet no-print"><span class="with-script">This page updates every 15 seconds.</span><span class="without-script">Reload this page for the latest status.</span> Anyone with this link can ${documents ? "download the documents" : "see it"}, so share it with care.</p>
${onPaper(`${baseUrl}/orders/${order.code}`, "This order’s page")}`,
  });
