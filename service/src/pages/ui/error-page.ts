import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { namedQuality } from "../../kernel/http/accept.ts";
import { isRefusal, type Refusal } from "../../kernel/http/errors/http-error.ts";
import { type WireCode, wireError, wireStatus } from "../../kernel/http/errors/wire-errors.ts";
import { AlteredDocumentError } from "../../kernel/platform/errors.ts";
import { languageTags } from "../../kernel/platform/languages.ts";
import type { Assets } from "./assets/assets.ts";
import { clientFrame } from "./client-frame.ts";
import { textsOf } from "./forms/form-body.ts";
import { layout } from "./layout.ts";
import { credentialHeaders, htmlType } from "./page/headers.ts";
import { html } from "./render.ts";
import type { Words } from "./words/en/en.ts";
import { readerOf } from "./words/reader.ts";

/** True if the request accepts HTML, as a browser's does, and is not for the API. */
export const acceptsPage = (request: FastifyRequest): boolean =>
  !/^\/(?:api|internal)(?:\/|$)/.test(request.url) && (namedQuality(request.headers.accept, "text/html") ?? 0) > 0;

/**
 * True if the request accepts JSON, as those of our own scripts do. The response is then JSON, with errors in the API's
 * format.
 */
export const wantsJson = ({ headers }: FastifyRequest): boolean =>
  (namedQuality(headers.accept, "application/json") ?? 0) > 0;

const textType = "text/plain; charset=utf-8";

const titles: Readonly<Partial<Record<WireCode, string>>> = {
  cross_site: "This request came from another site",
  owner_required: "Only an owner can do this",
  role_required: "Your roles do not permit this",
  confirmation_required: "Sign in again to do this",
  unavailable: "Not available right now",
  passkey_required: "This needs a passkey",
};

/** Renders an error as a page for a browser, and in the API's format for any other client. */
export function errorPage(assets: Assets) {
  return (error: FastifyError | Refusal, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (!acceptsPage(request)) return wireError(error as FastifyError, request, reply);
    const code = isRefusal(error) ? error.code : "internal";
    const asker = askerOf(request);
    const { refusals } = asker.words;
    reply.type(htmlType).headers({ ...credentialHeaders, ...inLanguage(asker) });
    if (code === "not_found") return reply.code(404).send(messagePage(assets, asker, refusals.notFound));
    if (code === "sign_in_required" || code === "not_linked") {
      // htmx would follow a redirect and insert the complete sign-in page into the refreshed part.
      if (request.headers["hx-request"] === "true")
        return reply.code(wireStatus[code]).type(textType).send(error.message);
      return reply.redirect(code === "not_linked" ? "/dashboard/link" : signInPath(request), 303);
    }
    if (code === "rate_limited") {
      const { title, text } = refusals.busy;
      return reply.code(429).send(messagePage(assets, asker, { title, text: text(minutesToWait(reply)) }));
    }
    if (code === "unavailable" && asker.isClient)
      return reply.code(wireStatus[code]).send(messagePage(assets, asker, refusals.unavailable));
    if (error instanceof AlteredDocumentError) {
      const { title, text } = refusals.altered;
      const message = { title, text: asker.isClient ? text : error.message };
      return reply.code(wireStatus[code]).send(messagePage(assets, asker, message));
    }
    if (code !== "internal") {
      const message = { title: titles[code] ?? refusals.unreadable.title, text: error.message };
      return reply.code(wireStatus[code]).send(messagePage(assets, asker, message));
    }
    const { statusCode = 500 } = error as FastifyError;
    if (statusCode >= 400 && statusCode < 500)
      return reply.code(statusCode).send(messagePage(assets, asker, refusals.unreadable));
    request.log.error({ requestId: request.id, err: error }, "page failed");
    return reply.code(500).send(messagePage(assets, asker, refusals.broken));
  };
}

/** Headers of a page whose language depends on the reader. */
export const inLanguage = ({ words }: Pick<Asker, "words">) => ({
  "Content-Language": languageTags[words.language],
  Vary: "Accept-Language",
});

/** The page for an unknown URL, or for a method that a URL does not accept. */
export const unmatchedPage = (assets: Assets) => (request: FastifyRequest, isSomeRoute: boolean) => {
  if (!acceptsPage(request)) return null;
  const asker = askerOf(request);
  const { notFound, wrongMethod } = asker.words.refusals;
  return { page: messagePage(assets, asker, isSomeRoute ? wrongMethod : notFound), headers: inLanguage(asker) };
};

const minutesToWait = (reply: FastifyReply): number => Math.ceil(Number(reply.getHeader("Retry-After") ?? 60) / 60);

/** The URL of the sign-in page. After a GET, signing in leads to the requested page. */
function signInPath({ method, url }: FastifyRequest): string {
  return method === "GET" ? `/sign-in?return_to=${encodeURIComponent(url)}` : "/sign-in";
}

/** Matches the paths of pages for clients. Their error pages have the layout for clients. */
const clientAddress = /^\/(?:appointments|deliveries|fill|identity|notary-room|orders|rooms|sign|verify|v)(?:[/?]|$)/;

/** The reader of an error page. `words` are in the reader's language, and `isClient` selects the layout for clients. */
type Asker = { words: Words; isClient: boolean };

/**
 * Determines the reader of an error page. Pages for members are in English only, so a reader of another language is
 * treated as a client.
 */
function askerOf({ url, query, headers }: FastifyRequest): Asker {
  const { words } = readerOf(textsOf(query)["lang"], headers);
  return { words, isClient: words.language !== "en" || clientAddress.test(url) };
}

/** A page with a title and one paragraph. */
const messagePage = (
  assets: Pick<Assets, "url">,
  { words, isClient }: Asker,
  { title, text }: { title: string; text: string },
): string =>
  layout(assets, {
    ...(isClient ? clientFrame(words) : { credential: true }),
    title,
    body: html`<div class="message"><h1>${title}</h1><p>${text}</p><p><a href="/">${words.refusals.home}</a></p></div>`,
  });
