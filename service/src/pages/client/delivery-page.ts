import type { FastifyInstance } from "fastify";
import type { DeliveryDeps, NamedFile } from "../../closing/deliveries/deliveries.ts";
import { deliveryFile, deliveryZip, openDelivery } from "../../closing/deliveries/deliveries.ts";
import { readShownFirm, type ShownFirm } from "../../firms/partners/partners.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { loggedNetwork } from "../../kernel/platform/network.ts";
import { accentStripe, attribution, logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { card, codeText, facts, notice } from "../ui/components.ts";
import { plainTime } from "../ui/format.ts";
import { layout } from "../ui/layout.ts";
import { refreshingPolicy } from "../ui/page/policy.ts";
import { type Html, html } from "../ui/render.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import { clientRoute } from "./client-route.ts";

type DeliveryPageDeps = { assets: Assets; limits: RateLimits; documents: { deliveries: DeliveryDeps } };

/**
 * Adds the page that shows the documents of a closing to anyone with their link. Opening the page downloads nothing;
 * otherwise programs that follow the links in a mail would appear in the list of downloads.
 */
export function deliveryRoutes(app: FastifyInstance, deps: DeliveryPageDeps): void {
  const { assets, documents } = deps;
  const { deliveries } = documents;
  const path = "/deliveries/:id/:token";

  clientRoute(app, deps, path, async ({ params }, reader) => {
    const opened = await openDelivery(deliveries, params);
    const firm = await readShownFirm(deliveries.db, opened.room.partnerId);
    const logo = logoOf(firm.branding);
    const page = deliveryPage(assets, { ...opened, firm, path: `/deliveries/${params.id}/${params.token}` }, reader);
    return { page, headers: { "Content-Security-Policy": refreshingPolicy(logo ? [logo.origin] : []) } };
  });

  clientRoute(
    app,
    deps,
    path,
    async ({ params, request }) => {
      const { name, file } = await deliveryZip(deliveries, params, loggedNetwork(request.ip) ?? null);
      return { pdf: file, name, type: "application/zip" };
    },
    "POST",
  );

  clientRoute(
    app,
    deps,
    `${path}/:documentId`,
    async ({ params, request }) => {
      const { name, file } = await deliveryFile(deliveries, params, loggedNetwork(request.ip) ?? null);
      return { pdf: file, name };
    },
    "POST",
  );
}

type Opened = Awaited<ReturnType<typeof openDelivery>> & { firm: ShownFirm; path: string };

function deliveryPage(assets: Assets, { delivery, room, files, firm, path }: Opened, reader: Reader): string {
  const { words } = reader;
  const { delivery: said, language, preparedBy, orders } = words;
  const send = (to: string, label: string, about: string, kind: string): Html =>
    html`<form class="button-form" method="post" action="${linkFor(reader, to)}"><button type="submit" class="${kind}">${label}<span class="visually-hidden"> ${about}</span></button></form>`;
  const row = ({ path: name, kind, sha256, deletedAt }: NamedFile): Html => {
    const shown = name.slice(name.lastIndexOf("/") + 1);
    const button = deletedAt
      ? html`${orders.deleted} ${plainTime(deletedAt, language)}`
      : send(`${path}/${kind}-${sha256}`, said.download, shown, "quiet-button");
    return html`<li><span class="breakable">${shown}</span><br><span class="quiet">SHA-256</span> ${codeText(sha256, orders.hashOf(shown), words.components.copy)} ${button}</li>`;
  };
  return layout(assets, {
    ...clientFrame(words),
    title: said.title,
    scripts: ["copy.js"],
    body: html`<header class="order-head">
${accentStripe(firm.branding?.accentColor)}
${attribution(firm.name, firm.branding, preparedBy)}
</header>
${room.environment === "test" && notice("attention", words.orderPage.test.title, words.orderPage.test.text)}
<div class="order-main">
<section class="card status-card done" aria-labelledby="delivery-title">
<p class="eyebrow"><span class="breakable">${room.reference ?? room.name}</span></p>
<h1 id="delivery-title">${said.title}</h1>
<p class="lead">${said.lead(firm.branding?.brandName ?? firm.name)}</p>
${send(path, said.all, "", "")}
</section>
${card("files", said.documents, html`<ul class="order-documents">${files.map(row)}</ul>`)}
${card(
  "about",
  said.about,
  html`${facts([
    [said.closing, html`<span class="breakable">${room.name}</span>`],
    [said.reference, room.reference],
    [said.recipient, html`<span class="breakable">${delivery.recipientName}</span>`],
    [said.until, plainTime(delivery.expiresAt, language)],
  ])}<p>${said.check} <a href="/verify">${words.nav.verify}</a></p><p class="quiet-text">${said.listed}</p>`,
)}
</div>`,
  });
}
