import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { namedQuality } from "../../http/accept.ts";
import { isRefusal, type Refusal } from "../../http/errors/http-error.ts";
import { type WireCode, wireError, wireStatus } from "../../http/errors/wire-errors.ts";
import type { Assets } from "./assets/assets.ts";
import { type Asker, askerOf, messagePage } from "./message-page.ts";
import { credentialHeaders, htmlType } from "./page/headers.ts";

/** Whether this request should be answered with a page: it comes from a browser, and not to the API. */
export const acceptsPage = (request: FastifyRequest): boolean =>
  !/^\/(?:api|internal)(?:\/|$)/.test(request.url) && (namedQuality(request.headers.accept, "text/html") ?? 0) > 0;

/** Whether one of our own scripts asks: it gets data, and refusals as the API writes them. */
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

/** Refusals of a page are pages; anything else than a browser gets the API's errors. */
export function errorPage(assets: Assets) {
  return (error: FastifyError | Refusal, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (!acceptsPage(request)) return wireError(error as FastifyError, request, reply);
    const code = isRefusal(error) ? error.code : "internal";
    const asker = askerOf(request);
    const { refusals } = asker.words;
    reply.type(htmlType).headers({ ...credentialHeaders, ...inLanguage(asker) });
    if (code === "not_found") return reply.code(404).send(messagePage(assets, asker, refusals.notFound));
    if (code === "sign_in_required" || code === "not_linked") {
      // Of a part that refreshes itself: a page that it were led to would be put in the part's place.
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
    if (code !== "internal") {
      const said = { title: titles[code] ?? refusals.unreadable.title, text: error.message };
      return reply.code(wireStatus[code]).send(messagePage(assets, asker, said));
    }
    const { statusCode = 500 } = error as FastifyError;
    if (statusCode >= 400 && statusCode < 500)
      return reply.code(statusCode).send(messagePage(assets, asker, refusals.unreadable));
    request.log.error({ requestId: request.id, err: error }, "page failed");
    return reply.code(500).send(messagePage(assets, asker, refusals.broken));
  };
}

/** Of a page whose language its reader decided. */
export const inLanguage = ({ words }: Pick<Asker, "words">) => ({
  "Content-Language": words.language,
  Vary: "Accept-Language",
});

/** What a browser is shown at an address, or for a method, that there is not. */
export const unmatchedPage = (assets: Assets) => (request: FastifyRequest, isKnown: boolean) => {
  if (!acceptsPage(request)) return null;
  const asker = askerOf(request);
  const { notFound, wrongMethod } = asker.words.refusals;
  return { page: messagePage(assets, asker, isKnown ? wrongMethod : notFound), headers: inLanguage(asker) };
};

const minutesToWait = (reply: FastifyReply): number => Math.ceil(Number(reply.getHeader("Retry-After") ?? 60) / 60);

/** Where to sign in, and to come back to what was asked for. */
function signInPath({ method, url }: FastifyRequest): string {
  return method === "GET" ? `/sign-in?return_to=${encodeURIComponent(url)}` : "/sign-in";
}
