import type { FastifyInstance, FastifyRequest } from "fastify";
import { refuseCrossSite } from "../../kernel/http/authentication.ts";
import { isRefusal } from "../../kernel/http/errors/http-error.ts";
import { readParts } from "../../kernel/http/uploads/multipart-parts.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import type { DocumentText, Link } from "../../signing/envelopes/envelopes.ts";
import { hiddenFields } from "../ui/forms/button-form.ts";
import { field } from "../ui/forms/fields.ts";
import { acceptForms } from "../ui/forms/form-body.ts";
import { viewerPolicy } from "../ui/page/policy.ts";
import { type PageAnswer, pageRoute } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";
import { type ActDeps, actRoutes } from "./act-routes.ts";
import { pathOf, signUrls } from "./cookie.ts";
import { documentRoute } from "./document-route.ts";
import { renderBegin } from "./embed-page.ts";
import { firmOf, type PageState } from "./frame.ts";
import { writePicture } from "./picture.ts";
import { brokenPage, type RenderDeps, renderPage, renderStep, withRefusalPage } from "./render.ts";
import { sittingPages } from "./sitting-pages.ts";
import { senderValuesPart } from "./steps/fields.ts";
import { noticesPart } from "./steps/notices.ts";
import { linesOf } from "./text-lines.ts";
import type { Words } from "./words/en.ts";
import { wordsOf } from "./words/languages.ts";

export type SigningDeps = ActDeps;

/** `/sign/{token}`: the pages for signers. A signer's link is the credential; some signers must also enter a code. */
export function signingPages(app: FastifyInstance, deps: SigningDeps): void {
  viewRoute(app, deps);
  documentRoute(app, deps);
  textRoute(app, deps);
  enterRoute(app, deps);
  actRoutes(app, deps);
  pictureRoute(app, deps);
  embedPages(app, deps);
  sittingPages(app, deps);
}

/** The page that shows the document as text, as a reading aid. The signature covers the PDF, not this text. */
function textStep(state: PageState, { pages, isWhole }: DocumentText): Html {
  const {
    token,
    words: { text },
  } = state;
  return html`<section class="card document-text" aria-labelledby="text-title"><h2 id="text-title">${text.title}</h2>
<p>${text.note}</p>
${noticesPart(state)}
${senderValuesPart(state.view, state.words)}
<p class="no-print"><a href="/sign/${token}">${text.back}</a></p>
${pages.map((page, index) => {
  const lines = linesOf(page);
  return html`<h3>${text.page(index + 1)}</h3>${lines.length === 0 ? html`<p class="quiet-text">${text.nothing}</p>` : lines.map((line) => html`<p>${line}</p>`)}`;
})}
${!isWhole && html`<p><strong>${text.more}</strong></p>`}
<p class="no-print"><a href="/sign/${token}">${text.back}</a></p>
</section>`;
}

/**
 * `GET /sign/{token}/text`: the document as text, for browsers without JavaScript. In other browsers the script shows
 * the text in the page.
 */
function textRoute(app: FastifyInstance, deps: RenderDeps): void {
  for (const url of signUrls("/text"))
    pageRoute(app, deps, {
      url,
      policy: "page",
      handle: (call) =>
        withRefusalPage(deps, call, async (link) => {
          const text = await deps.ceremony.text(link);
          return renderStep(deps, link, (state) => textStep(state, text));
        }),
    });
}

const isDone = (name: string | undefined): name is keyof Words["done"] =>
  name !== undefined && Object.hasOwn(wordsOf("en").done, name);

/** `GET /sign/{token}`: changes nothing, so that mail scanners that open links do no harm. */
function viewRoute(app: FastifyInstance, deps: RenderDeps): void {
  for (const url of signUrls(""))
    pageRoute(app, deps, {
      url,
      policy: "page",
      handle: (call) => {
        const done = isDone(call.query["done"]) ? call.query["done"] : null;
        return withRefusalPage(deps, call, async (link): Promise<PageAnswer> => {
          const next = link.document ? null : await deps.ceremony.next(link);
          if (next === null) return renderPage(deps, link, { done });
          return { redirect: `/sign/${pathOf({ ...link, document: next })}${done === null ? "" : `?done=${done}`}` };
        });
      },
    });
}

/**
 * `GET /sign/{token}/enter/{entry}`: the entry link in a mail with a code, and in the mail for a locked link. Opening
 * the link changes nothing, so that mail scanners can't use it up. Only the button on the page uses the link.
 */
function enterRoute(app: FastifyInstance, deps: RenderDeps): void {
  for (const url of signUrls("/enter/:entry"))
    pageRoute(app, deps, {
      url,
      policy: "page",
      handle: (call) =>
        withRefusalPage(deps, call, async (link) => {
          const { state } = await deps.ceremony.view(link);
          if (state !== "identify" && state !== "locked") return { redirect: `/sign/${pathOf(link)}` };
          return renderStep(deps, link, (page) => enterStep(page, call.params.entry));
        }),
    });
}

function enterStep(state: PageState, entry: string): Html {
  const { token, view, words } = state;
  const { enter, identify } = words;
  const asksCode = view.step === "access_code";
  return html`<section class="card" aria-labelledby="enter-title"><h2 id="enter-title">${enter.title}</h2>
<p>${asksCode ? identify.access(firmOf(state)) : enter.text}</p>
<form class="form" method="post" action="/sign/${token}/enter">${hiddenFields({ entry })}
${asksCode && field({ name: "code", label: identify.code, required: true, maxLength: 64, autocomplete: "one-time-code" })}
<div class="form-actions"><button type="submit">${enter.go}</button></div></form>
</section>`;
}

const maxBytes = 4 * 1024 * 1024;
/** Space for the multipart headers around the file. */
const frameBytes = 4 * 1024;

/**
 * `POST /sign/{token}/picture`: accepts a picture of the signature, for browsers without JavaScript. The response is
 * the page with the scaled picture in its signing form; the server stores nothing. The Fastify scope must accept
 * multipart forms.
 */
function pictureRoute(app: FastifyInstance, deps: RenderDeps): void {
  for (const url of signUrls("/picture"))
    pageRoute(app, deps, {
      method: "POST",
      url,
      policy: "page",
      onRequest: async (request) => refuseCrossSite(request, deps.ownOrigin),
      handle: (call) => withRefusalPage(deps, call, (link) => pictureOf(deps, link, call.request)),
    });
}

async function pictureOf(deps: RenderDeps, link: Link, request: FastifyRequest): Promise<PageAnswer> {
  const { signer } = await deps.ceremony.view(link);
  const { refused } = wordsOf(signer.language);
  const declared = Number(request.headers["content-length"]);
  if (!request.isMultipart()) throw invalid(refused.input);
  if (!(declared <= maxBytes + frameBytes)) throw invalid(refused.picture.size);
  const messages = { tooLarge: refused.picture.size, incomplete: refused.picture.broken };
  const { upload } = await readParts(request, { filePart: "file", messages }, maxBytes);
  if (!upload || upload.bytes.length === 0) throw invalid(refused.picture.format);
  const picture = await deps.ceremony.picture(link, upload.bytes);
  if ("fault" in picture) throw invalid(refused.picture[picture.fault]);
  const { width, height, deflated } = picture;
  const text = writePicture({ width, height, deflated: Buffer.from(deflated).toString("base64url") });
  return renderPage(deps, link, { typed: { picture: text } });
}

/**
 * `/embed/{ticket}`: the first page in a frame. Opening it changes nothing. Its button redeems the ticket, and opens
 * the signing pages in a new session. The page uses no cookie and no storage, because browsers block both in frames of
 * other sites.
 */
function embedPages(app: FastifyInstance, deps: RenderDeps): void {
  const { ceremony, assets, ownOrigin } = deps;

  pageRoute(app, deps, {
    url: "/embed/:ticket",
    policy: "page",
    handle: async ({ params: { ticket }, request }): Promise<PageAnswer> => {
      const frame = await ceremony.frameOfTicket(ticket);
      if (frame?.state !== "open") return brokenPage(deps, frame, request.headers["accept-language"]);
      const headers = { "Content-Security-Policy": viewerPolicy([], frame.origin) };
      return { page: renderBegin(assets, frame, ticket), headers };
    },
  });

  app.register(async (scope) => {
    acceptForms(scope);
    pageRoute(scope, deps, {
      method: "POST",
      url: "/embed/:ticket/begin",
      policy: "page",
      onRequest: async (request) => refuseCrossSite(request, ownOrigin),
      handle: async ({ params: { ticket }, request }): Promise<PageAnswer> => {
        const client = { ip: request.ip, userAgent: request.headers["user-agent"] ?? "" };
        try {
          const { session } = await ceremony.redeem(ticket, client);
          return { redirect: `/sign/${session}` };
        } catch (error) {
          if (!isRefusal(error) || (error.code !== "conflict" && error.code !== "not_found")) throw error;
          return brokenPage(deps, await ceremony.frameOfTicket(ticket), request.headers["accept-language"]);
        }
      },
    });
  });
}
