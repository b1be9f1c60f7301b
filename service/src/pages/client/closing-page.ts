/**
 * The page of a closing for its client: the amount due for all of the client's documents, their states, and the
 * receipts. The link to the page is mailed only to the client, who needs nothing else to pay.
 */
import type { FastifyInstance } from "fastify";
import type { ClientClosing, ClientOrder } from "../../closing/rooms/rooms.ts";
import type { ShownFirm } from "../../firms/partners/partners.ts";
import { nullIfAltered } from "../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { BillingDocument } from "../../orders/billing/billing.ts";
import type { PublicOrderRow } from "../../orders/order/order.ts";
import { orderNotFound } from "../../orders/order/order.ts";
import { endsDebt } from "../../orders/payments/payments.ts";
import { accentStripe, attribution, logoOf } from "../ui/accent.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { card, codeText, facts, moneyTable, notice, statusBadge } from "../ui/components.ts";
import { dayIn, money } from "../ui/format.ts";
import { layout } from "../ui/layout.ts";
import { leavingPage } from "../ui/leaving-page.ts";
import { onPaper } from "../ui/on-paper.ts";
import { receiptsCard } from "../ui/orders/receipt-list.ts";
import { nameOf, servicesText } from "../ui/orders/room-words.ts";
import { clientStatus, statusWords } from "../ui/orders/status-words.ts";
import { refreshingPolicy } from "../ui/page/policy.ts";
import type { PageAnswer } from "../ui/page/route.ts";
import { type Html, html, render } from "../ui/render.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import { clientRoute, messagePage } from "./client-route.ts";
import { closingWords } from "./closing-words.ts";
import { documentsHint, payLabel } from "./order-page.ts";
import { mailedDocuments, mailWords, type OrderPageDeps, orderOf } from "./order-routes.ts";

type Shown = {
  path: string;
  closing: ClientClosing;
  /** The client's email address, to which links to documents are mailed. */
  email: string;
  environment: "live" | "test";
  firm: ShownFirm;
  /** The orders that one payment would pay now. */
  due: readonly (ClientOrder & { dueCents: number })[];
  /**
   * True if orders of a test closing are due, but the service accepts no test payments. The firm then pays these orders
   * in the sandbox.
   */
  isPaymentSimulated: boolean;
  /**
   * The receipts of each of the client's orders. An order's entry is null if a record of its receipts was altered in
   * the database.
   */
  receipts: readonly (readonly BillingDocument[] | null)[];
  titleOf: (order: ClientOrder) => string | null;
};

export function closingRoutes(app: FastifyInstance, deps: OrderPageDeps): void {
  const { assets, payments, baseUrl } = deps;
  const url = "/orders/:code/closing/:token";

  clientRoute(app, deps, url, async ({ params }, reader) => {
    const shown = await read(deps, params);
    // The order has left its room since the mail was sent. The order's own page still shows the order and its payment.
    if (!shown) return { redirect: linkFor(reader, `/orders/${params.code}`) };
    const logo = logoOf(shown.firm.branding);
    const page = layout(assets, {
      ...clientFrame(reader.words),
      // Link previews show the title, so it names neither people nor the closing.
      title: closingWords[reader.words.language].title,
      scripts: ["htmx.js", "copy.js"],
      body: body(shown, baseUrl, reader),
    });
    return { page, headers: { "Content-Security-Policy": refreshingPolicy(logo ? [logo.origin] : []) } };
  });

  clientRoute(app, deps, `${url}/status`, async ({ params }, reader) =>
    render(live(found(await read(deps, params)), reader)),
  );

  // A new checkout ends the previous one, so a GET must not open a checkout: mail scanners follow links.
  clientRoute(app, deps, `${url}/checkout`, async ({ params }, reader) => {
    await requireToken(deps, params);
    return { redirect: linkFor(reader, pathOf(params)) };
  });
  clientRoute(
    app,
    deps,
    `${url}/checkout`,
    async ({ params, request }, reader): Promise<PageAnswer> => {
      await requireToken(deps, params);
      try {
        return leavingPage(assets, reader, await payments.checkoutTogether(params.code));
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        request.log.warn({ reason: error.message, err: error.cause }, "no checkout for a payer");
        const ownPage = `/orders/${params.code}`;
        const pages: Partial<Record<string, string>> = { not_payable: pathOf(params), not_found: ownPage };
        return { redirect: linkFor(reader, pages[error.code] ?? `${ownPage}/checkout/unavailable`) };
      }
    },
    "POST",
  );

  clientRoute(
    app,
    deps,
    `${url}/documents`,
    async ({ params }, reader) => {
      const finished = finishedIn(found(await read(deps, params)).closing);
      const sent = finished ? await mailedDocuments(deps, finished.code, { isWhole: true }) : "unsent";
      return { redirect: linkFor(reader, `${pathOf(params)}/documents/${sent}`) };
    },
    "POST",
  );
  for (const outcome of ["sent", "unsent"] as const)
    clientRoute(app, deps, `${url}/documents/${outcome}`, async ({ params }, reader) => {
      const { environment } = await requireToken(deps, params);
      const back = { path: pathOf(params), label: closingWords[reader.words.language].title };
      return messagePage(assets, back, reader, mailWords(reader, outcome, environment));
    });

  clientRoute(app, deps, `${url}/receipts/:number`, async ({ params }) =>
    payments.receipts.file(
      found(await read(deps, params)).receipts.flatMap((each) => each ?? []),
      params.number,
    ),
  );
}

/**
 * Reads the closing that a link opens. Undefined if the link's order is in no room.
 * @throws ServiceError `not_found` for an invalid link
 */
async function read(deps: OrderPageDeps, params: Link): Promise<Shown | undefined> {
  const { payments } = deps;
  const order = await requireToken(deps, params);
  const closing = await deps.documents.closingOf(order.code);
  if (!closing) return undefined;
  const own = closing.orders.filter(({ payBy }) => payBy === "client");
  const [firm, receipts] = await Promise.all([
    deps.firmOf(order.partnerId),
    Promise.all(own.map(({ code }) => payments.receipts.of(code).catch(nullIfAltered))),
  ]);
  const canBePaid = payments.acceptsPayment(order.environment);
  const due = own.flatMap((each) => (each.dueCents === null ? [] : [{ ...each, dueCents: each.dueCents }]));
  return {
    path: pathOf(params),
    closing,
    email: order.customerEmail,
    environment: order.environment,
    firm,
    due: canBePaid ? due : [],
    isPaymentSimulated: !canBePaid && order.environment === "test" && due.length > 0,
    receipts,
    titleOf: deps.documents.titleOf,
  };
}

function found(shown: Shown | undefined): Shown {
  if (!shown) throw orderNotFound();
  return shown;
}

type Link = { code: string; token: string };

const pathOf = ({ code, token }: Link): string => `/orders/${code}/closing/${token}`;

/**
 * The order that the link of a closing names.
 * @throws ServiceError; the error is the same for an unknown order and for a token of another order
 */
async function requireToken({ db, documents }: OrderPageDeps, { code, token }: Link): Promise<PublicOrderRow> {
  const order = await orderOf(db, code);
  if (!(await documents.links.isClosingToken(code, token))) throw orderNotFound();
  return order;
}

function body(shown: Shown, baseUrl: string, reader: Reader): Html {
  const { words } = reader;
  const { firm, path } = shown;
  const text = closingWords[words.language];
  return html`<header class="order-head">
${accentStripe(firm.branding?.accentColor)}
${attribution(firm.name, firm.branding, words.preparedBy)}
<p class="quiet-text">${words.aboutUs(firm.branding?.brandName ?? firm.name)}</p>
</header>
<div id="closing" class="order" hx-get="${linkFor(reader, `${path}/status`)}" hx-trigger="every 15s" hx-swap="innerMorph">
${live(shown, reader)}
</div>
<p class="quiet no-print"><span class="with-script">${words.updates}</span><span class="without-script">${words.reload}</span> ${text.share}</p>
${onPaper(baseUrl + path, { ...words.components.paper, page: text.paper })}`;
}

/** The part of the page that refreshes itself. */
function live(shown: Shown, reader: Reader): Html {
  const { closing, environment, firm, receipts, path } = shown;
  const { words } = reader;
  const text = closingWords[words.language];
  return html`<div class="order-main">
${environment === "test" && notice("attention", words.test.title, words.test.text)}
<section class="card status-card" aria-labelledby="closing-title">
<p class="eyebrow"><span>${text.title}</span></p>
<h1 id="closing-title" class="breakable">${closing.name}</h1>
<p class="lead">${text.lead(closing.orders.length, firm.branding?.brandName ?? firm.name)}</p>
<div aria-live="polite">${payPart(shown, reader)}</div>
</section>
${card(
  "documents",
  text.documents,
  html`<ul class="order-signers">${closing.orders.map((order) => {
    const { tone, label, summary } = statusWords(clientStatus(order), words);
    const link = html`<a href="${linkFor(reader, `/orders/${order.code}`)}">${titleIn(shown, order, reader)}</a>`;
    const services = html`<span class="quiet-text">${servicesText(order, words)}</span>`;
    const parcel = order.parcel && parcelFacts(order.parcel, closing.zone, words);
    return html`<li>${link} ${statusBadge(tone, label)}<br>${services}<br>${summary}${parcel}</li>`;
  })}</ul>
${finishedIn(closing) && documentsForm(shown, reader)}`,
)}
</div>
<div class="order-side">
${priceCard(shown, reader)}
${receiptsCard(`${path}/receipts`, receipts, words)}
</div>`;
}

/**
 * Carrier, tracking number and dates. The service only has a carrier's or an operator's word for a delivery, so the
 * page says "Recorded as delivered".
 */
function parcelFacts(parcel: NonNullable<ClientOrder["parcel"]>, zone: string, words: Reader["words"]): Html {
  const { carrier, tracking } = words.orderPage.facts;
  const text = closingWords[words.language];
  const { trackingNumber: number, shippedAt, deliveredAt } = parcel;
  return facts([
    [carrier, parcel.carrier],
    [tracking, number && codeText(number, tracking, words.components.copy)],
    [text.handedOver, dayIn(shippedAt, zone, words.language)],
    [text.delivered, deliveredAt && dayIn(deliveredAt, zone, words.language)],
  ]);
}

/** The first completed order whose documents still exist, so they can be mailed to the client. */
const finishedIn = ({ orders }: ClientClosing): ClientOrder | undefined =>
  orders.find(({ status, documentsDeletedAt }) => status === "Completed" && documentsDeletedAt === null);

/** Anyone with the page's link may ask for the documents, because the mail goes only to the client. */
const documentsForm = ({ path, email, environment }: Shown, reader: Reader): Html =>
  html`<form class="button-form no-print" method="post" action="${linkFor(reader, `${path}/documents`)}"><button type="submit">${reader.words.documentsMail.button}</button></form>
<p class="quiet-text no-print">${documentsHint(reader.words, email, environment)}</p>`;

const titleIn = ({ titleOf }: Shown, order: ClientOrder, { words }: Reader): string =>
  titleOf(order) ?? nameOf({ label: order.label, orderCode: order.code }, words);

/**
 * The orders to pay now and their sum, which the payment button shows too. If nothing can be paid now, shows the prices
 * of all orders that the client pays. Leaves out orders that were canceled or refunded, or whose refund is pending.
 * False if no order is left.
 */
function priceCard(shown: Shown, reader: Reader): Html | false {
  const { closing, due } = shown;
  const { words } = reader;
  const text = closingWords[words.language];
  const priced = closing.orders.filter(({ payBy, status }) => payBy === "client" && !endsDebt.has(status));
  const shownOrders = due.length > 0 ? due : priced;
  if (shownOrders.length === 0) return false;
  const lines = shownOrders.map((order) => ({
    label: titleIn(shown, order, reader),
    amountCents: (due.length > 0 ? order.dueCents : null) ?? order.totalCents,
  }));
  const totalCents = lines.reduce((sum, { amountCents }) => sum + amountCents, 0);
  const table = { lines, subtotalCents: totalCents, discountCents: 0, totalCents };
  return card(
    "price",
    due.length > 0 ? text.due : text.price,
    moneyTable(words.orderPage.quoteCaption, table, text.total, words.components.money),
  );
}

function payPart(shown: Shown, reader: Reader): Html {
  const { due, closing, path } = shown;
  const { orderPage: page, language } = reader.words;
  const text = closingWords[language];
  // Nobody pays for orders that were canceled or refunded, or whose refund is pending.
  if (closing.orders.every(({ status }) => endsDebt.has(status))) return html`<p>${text.nothingDue}</p>`;
  if (closing.orders.every(({ payBy }) => payBy === "firm")) return html`<p>${text.firmPays}</p>`;
  const refused = closing.orders.flatMap((order) =>
    order.refusal === null ? [] : [{ order, refusal: order.refusal }],
  );
  const reasons = refused.map(({ order, refusal }) => {
    const of = { in_process: text.inProcess, disputed: text.disputed, stuck: text.stuck }[refusal];
    return html`<p>${of(titleIn(shown, order, reader))}</p>`;
  });
  if (due.length === 0) {
    if (shown.isPaymentSimulated) return html`<p>${reader.words.test.pay}</p>`;
    if (refused.length === 0) return html`<p>${text.nothingDue}</p>`;
    const isBanksTurn = refused.every(({ refusal }) => refusal === "in_process");
    return html`${isBanksTurn ? page.bankPayment.map((line) => html`<p>${line}</p>`) : reasons}`;
  }
  const cents = due.reduce((sum, { dueCents }) => sum + dueCents, 0);
  const label = due.length === 1 || cents === 0 ? payLabel(page, cents) : page.payAll(due.length, money(cents));
  const supplements = due.flatMap((order) => {
    if (order.dueFor === "price") return [];
    const why = (order.dueFor === "loss" ? page.payAgain : page.supplement)(money(order.dueCents));
    return [html`<p>${titleIn(shown, order, reader)}: ${why}</p>`];
  });
  return html`${reasons}${supplements}${due.length > 1 && html`<p>${text.onePayment}</p>`}
<form class="button-form no-print" method="post" action="${linkFor(reader, `${path}/checkout`)}"><button type="submit" class="pay">${label}</button></form>
<p class="quiet-text no-print">${page.payHint}</p>`;
}
