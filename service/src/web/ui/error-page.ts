import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { namedQuality } from "../../http/accept.ts";
import { isRefusal, type Refusal } from "../../http/http-error.ts";
import { type WireCode, wireError, wireStatus } from "../../http/wire-errors.ts";
import type { Assets } from "./assets.ts";
import { messagePage, notFoundPage } from "./not-found-page.ts";
import { credentialHeaders, htmlType } from "./page-headers.ts";

/** Whether this request should be answered with a page: it comes from a browser, and not to the API. */
export const acceptsPage = (request: FastifyRequest): boolean =>
  !/^\/(?:api|internal)(?:\/|$)/.test(request.url) && (namedQuality(request.headers.accept, "text/html") ?? 0) > 0;

/** Whether one of our own scripts asks: it gets data, and refusals as the API writes them. */
export const wantsJson = ({ headers }: FastifyRequest): boolean =>
  (namedQuality(headers.accept, "application/json") ?? 0) > 0;

const textType = "text/plain; charset=utf-8";

const titles: Readonly<Partial<Record<WireCode, string>>> = {
  rate_limited: "One moment, please",
  cross_site: "This request came from another site",
  owner_required: "Only an owner can do this",
  role_required: "Your roles do not permit this",
  confirmation_required: "Sign in again to do this",
  passkey_required: "This needs a passkey",
  unavailable: "Not available right now",
};

/** Refusals of a page are pages; anything else than a browser gets the API's errors. */
export function errorPage(assets: Assets) {
  const notFound = notFoundPage(assets);
  const broken = messagePage(
    assets,
    "Something went wrong",
    "This is our fault, not yours. Please reload the page in a moment.",
  );

  return (error: FastifyError | Refusal, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (!acceptsPage(request)) return wireError(error as FastifyError, request, reply);
    const code = isRefusal(error) ? error.code : "internal";
    reply.type(htmlType).headers(credentialHeaders);
    if (code === "not_found") return reply.code(404).send(notFound);
    if (code === "sign_in_required" || code === "not_linked") {
      // Of a part that refreshes itself: a page that it were led to would be put in the part's place.
      if (request.headers["hx-request"] === "true")
        return reply.code(wireStatus[code]).type(textType).send(error.message);
      return reply.redirect(code === "not_linked" ? "/dashboard/link" : signInPath(request), 303);
    }
    if (code !== "internal") {
      const text = code === "rate_limited" ? busy(reply) : error.message;
      return reply.code(wireStatus[code]).send(messagePage(assets, titles[code] ?? "That did not work", text));
    }
    const { statusCode = 500 } = error as FastifyError;
    if (statusCode >= 400 && statusCode < 500)
      return reply.code(statusCode).send(messagePage(assets, "That did not work", "The form could not be read."));
    request.log.error({ requestId: request.id, err: error }, "page failed");
    return reply.code(500).send(broken);
  };
}

function busy(reply: FastifyReply): string {
  const minutes = Math.ceil(Number(reply.getHeader("Retry-After") ?? 60) / 60);
  const wait = minutes > 1 ? `${minutes} minutes` : "a minute";
  return `Too many requests came in a short time. Wait ${wait} and try again.`;
}

/** Where to sign in, and to come back to what was asked for. */
function signInPath({ method, url }: FastifyRequest): string {
  return method === "GET" ? `/sign-in?return_to=${encodeURIComponent(url)}` : "/sign-in";
}
