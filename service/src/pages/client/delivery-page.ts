import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyInstance } from "fastify";
import type { DeliveryDeps, Link } from "../../closing/deliveries/deliveries.ts";
import {
  deliveryDoor,
  deliveryFile,
  deliveryProof,
  deliveryZip,
  enterDelivery,
  mailDeliveryCode,
  openDelivery,
} from "../../closing/deliveries/deliveries.ts";
import { proofForms } from "../../evidence/transparency-log/transparency-log.ts";
import { readShownFirm, type ShownFirm } from "../../firms/partners/partners.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { isServiceError } from "../../kernel/platform/errors.ts";
import { loggedNetwork } from "../../kernel/platform/network.ts";
import { accentStripe, attribution, logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { card, codeText, facts, notice } from "../ui/components.ts";
import { plainTime } from "../ui/format.ts";
import { buttonForm } from "../ui/forms/button-form.ts";
import { field } from "../ui/forms/fields.ts";
import { layout } from "../ui/layout.ts";
import { proofTypes } from "../ui/orders/document-list.ts";
import { refreshingPolicy } from "../ui/page/policy.ts";
import type { PageCall } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import { clientRoute } from "./client-route.ts";

type DeliveryPageDeps = { assets: Assets; limits: RateLimits; documents: { deliveries: DeliveryDeps } };

/**
 * Adds the page that shows the documents of a closing to anyone with their link. If the link requires a code, the page
 * also requires the code that is mailed to the recipient. Opening the page neither mails nor downloads anything,
 * because mail programs open links by themselves.
 */
export function deliveryRoutes(app: FastifyInstance, deps: DeliveryPageDeps): void {
  const { assets, documents } = deps;
  const { deliveries } = documents;
  const path = "/deliveries/:id/:token";

  codeRoutes(app, deps);
  proofRoutes(app, deps);

  clientRoute(app, deps, path, async (call, reader) => {
    const link = linkOf(call);
    const { params } = call;
    const door = await deliveryDoor(deliveries, link);
    if (!door.isOpen) return doorPage(assets, { ...door, path: pathOf(link), outcome: call.query["code"] }, reader);
    const opened = await openDelivery(deliveries, link);
    const firm = await readShownFirm(deliveries.db, opened.room.partnerId);
    const logo = logoOf(firm.branding);
    const page = deliveryPage(assets, { ...opened, firm, path: `/deliveries/${params.id}/${params.token}` }, reader);
    return { page, headers: { "Content-Security-Policy": refreshingPolicy(logo ? [logo.origin] : []) } };
  });

  clientRoute(
    app,
    deps,
    path,
    async (call, reader) => {
      const link = linkOf(call);
      if (!(await deliveryDoor(deliveries, link)).isOpen) return { redirect: linkFor(reader, pathOf(link)) };
      const { name, file } = await deliveryZip(deliveries, link, loggedNetwork(call.request.ip) ?? null);
      return { pdf: file, name, type: "application/zip" };
    },
    "POST",
  );

  clientRoute(
    app,
    deps,
    `${path}/:documentId`,
    async (call, reader) => {
      const link = { ...call.params, ...linkOf(call) };
      if (!(await deliveryDoor(deliveries, link)).isOpen) return { redirect: linkFor(reader, pathOf(link)) };
      const { name, file } = await deliveryFile(deliveries, link, loggedNetwork(call.request.ip) ?? null);
      return { pdf: file, name };
    },
    "POST",
  );
}

/**
 * The routes of the transparency log's proofs for the documents. A proof reveals nothing of its document, so a GET may
 * open it, and the request is not logged as a download.
 */
function proofRoutes(app: FastifyInstance, deps: DeliveryPageDeps): void {
  const { deliveries } = deps.documents;
  for (const form of proofForms)
    clientRoute(app, deps, `/deliveries/:id/:token/:documentId/${form}`, async (call, reader) => {
      const link = { ...call.params, ...linkOf(call), form };
      if (!(await deliveryDoor(deliveries, link)).isOpen) return { redirect: linkFor(reader, pathOf(link)) };
      const { name, proof } = await deliveryProof(deliveries, link);
      return { pdf: proof, name, type: proofTypes[form] };
    });
}

const cookieName = "delivery";

type LinkCall = PageCall<{ id: string; token: string }>;

/** The link that the request's URL contains, with the session from this browser's cookie. */
function linkOf({ params: { id, token }, request }: LinkCall): Link {
  const cookies = parseCookie(request.headers.cookie ?? "");
  return { id, token, session: cookies[cookieName]?.slice(0, 100) ?? null };
}

const pathOf = ({ id, token }: Link): string => `/deliveries/${id}/${token}`;

/** The form that requests a mail with a code, and the form that takes the code. */
function codeRoutes(app: FastifyInstance, deps: DeliveryPageDeps): void {
  const { deliveries } = deps.documents;
  const back = (reader: Reader, link: Link, outcome: "sent" | "wait" | "wrong" | "ended" | "locked") => ({
    redirect: linkFor(reader, `${pathOf(link)}?code=${outcome}`),
  });
  clientRoute(
    app,
    deps,
    "/deliveries/:id/:token/code",
    async (call, reader) => {
      const link = linkOf(call);
      try {
        await mailDeliveryCode(deliveries, link);
        return back(reader, link, "sent");
      } catch (error) {
        if (!isServiceError(error, "conflict")) throw error;
        return back(reader, link, "wait");
      }
    },
    "POST",
  );
  clientRoute(
    app,
    deps,
    "/deliveries/:id/:token/enter",
    async (call, reader) => {
      const link = linkOf(call);
      const typed = { typed: call.form["code"] ?? "", network: loggedNetwork(call.request.ip) ?? null };
      try {
        const entered = await enterDelivery(deliveries, link, typed);
        if (typeof entered === "string") return back(reader, link, entered);
        const cookie = stringifySetCookie({
          name: cookieName,
          value: entered.session,
          expires: entered.expiresAt,
          path: `/deliveries/${link.id}`,
          secure: deliveries.verifier.baseUrl.startsWith("https:"),
          httpOnly: true,
          sameSite: "lax",
        });
        return { redirect: linkFor(reader, pathOf(link)), headers: { "Set-Cookie": cookie } };
      } catch (error) {
        if (!isServiceError(error, "conflict")) throw error;
        return back(reader, link, "locked");
      }
    },
    "POST",
  );
}

type Door = Awaited<ReturnType<typeof deliveryDoor>> & { path: string; outcome: string | undefined };

/** The page for a recipient who has not entered the mailed code yet. It names neither the closing nor its documents. */
function doorPage(assets: Assets, { to, isLocked, isMailed, room, path, outcome }: Door, reader: Reader): string {
  const { words } = reader;
  const { code } = words.delivery;
  const isRefused = (outcome === "wrong" || outcome === "ended") && !isLocked;
  // After a code was used, `isMailed` is false. The field is then still shown with the messages "sent" and "wait",
  // because they tell the recipient to look for a code in a mail.
  const showsField = isMailed || outcome === "sent" || outcome === "wait";
  const isTest = room.environment === "test";
  const mailed = outcome === "sent" && isTest ? `${words.documentsMail.test.title}.` : undefined;
  const message = outcome === "sent" || outcome === "wait" || isRefused ? (mailed ?? code[outcome]) : null;
  return layout(assets, {
    ...clientFrame(words),
    title: code.title,
    body: html`<div class="message"><h1>${code.title}</h1>
${isTest && notice("attention", words.test.title, `${words.test.text} ${words.documentsMail.test.title}.`)}
${message && html`<p role="${isRefused ? "alert" : "status"}">${message}</p>`}
${
  isLocked
    ? html`<p role="alert">${code.locked}</p>`
    : html`<p>${code.intro(to)}</p>
<form class="button-form" method="post" action="${linkFor(reader, `${path}/code`)}"><button type="submit" class="${showsField ? "quiet-button" : ""}">${showsField ? code.again : code.send}</button></form>
${
  showsField &&
  html`<form class="form" method="post" action="${linkFor(reader, `${path}/enter`)}">
${field({ form: "code", name: "code", label: code.label, required: true, maxLength: 12, inputMode: "numeric", autocomplete: "one-time-code", hint: code.hint })}
<div class="form-actions"><button type="submit">${code.enter}</button></div>
</form>`
}`
}</div>`,
  });
}

type Opened = Awaited<ReturnType<typeof openDelivery>> & { firm: ShownFirm; path: string };

function deliveryPage(assets: Assets, { delivery, room, listed, proofs, firm, path }: Opened, reader: Reader): string {
  const { words } = reader;
  const { delivery: texts, language, preparedBy, orders } = words;
  const row = (file: (typeof listed)[number]): Html => {
    const { path: name, kind, sha256, deletedAt } = file;
    const isSimulated = "isSimulated" in file && file.isSimulated;
    const shown = name.slice(name.lastIndexOf("/") + 1);
    const button = deletedAt
      ? html`${orders.deleted} ${plainTime(deletedAt, language)}`
      : buttonForm(linkFor(reader, `${path}/${kind}-${sha256}`), texts.download, {
          kind: "quiet-button",
          about: shown,
        });
    const ofLog = (deletedAt ? [] : (proofs.get(sha256) ?? [])).map(
      (form) =>
        html`<br><a href="${path}/${kind}-${sha256}/${form}" download>${orders.proofs[form]}<span class="visually-hidden">: ${shown}</span></a>`,
    );
    const remark = isSimulated && html`. <strong>${orders.simulated.document}</strong>`;
    const hash = html`<span class="quiet">SHA-256</span> ${codeText(sha256, orders.hashOf(shown), words.components.copy)}`;
    return html`<li><span class="breakable">${shown}</span>${remark}<br>${hash} ${button}${ofLog}</li>`;
  };
  return layout(assets, {
    ...clientFrame(words),
    title: texts.title,
    scripts: ["copy.js"],
    body: html`<header class="order-head">
${accentStripe(firm.branding?.accentColor)}
${attribution(firm.name, firm.branding, preparedBy)}
</header>
${room.environment === "test" && notice("attention", words.test.title, words.test.text)}
<div class="order-main">
<section class="card status-card done" aria-labelledby="delivery-title">
<p class="eyebrow"><span class="breakable">${room.reference ?? room.name}</span></p>
<h1 id="delivery-title">${texts.title}</h1>
<p class="lead">${texts.lead(firm.branding?.brandName ?? firm.name)}</p>
${buttonForm(linkFor(reader, path), texts.all)}
</section>
${card("files", texts.documents, html`<ul class="order-documents">${listed.map(row)}</ul>`)}
${card(
  "about",
  texts.about,
  html`${facts([
    [texts.closing, html`<span class="breakable">${room.name}</span>`],
    [texts.reference, room.reference],
    [texts.recipient, html`<span class="breakable">${delivery.recipientName}</span>`],
    [texts.until, plainTime(delivery.expiresAt, language)],
  ])}<p>${texts.check} <a href="/verify">${words.nav.verify}</a></p><p class="quiet-text">${texts.listed}</p>`,
)}
</div>`,
  });
}
