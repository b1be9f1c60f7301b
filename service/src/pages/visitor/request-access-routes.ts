import type { FastifyInstance } from "fastify";
import { accessRequestFields, type SentRequest } from "../../firms/access-requests/access-requests.ts";
import { refuseCrossSite } from "../../kernel/http/authentication.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { acceptForms } from "../ui/forms/form-body.ts";
import { publicHeaders } from "../ui/page/headers.ts";
import { pageRoute } from "../ui/page/route.ts";
import { type RecaptchaSite, requestAccessPage, requestReceivedPage } from "./request-access-page.ts";

export type RequestAccessDeps = {
  assets: Assets;
  limits: RateLimits;
  /** Null when reCAPTCHA is not configured. */
  recaptcha: RecaptchaSite | null;
  /** The origin of the public URL. */
  ownOrigin: string;
  requestAccess: (request: SentRequest, remoteIp: string) => Promise<"issued" | "pending">;
};

/**
 * Adds the form for partner access, which has the same effect as `POST /api/partner/request`. It requires neither
 * JavaScript nor a session.
 */
export function requestAccessRoutes(app: FastifyInstance, deps: RequestAccessDeps): void {
  const { assets, recaptcha, requestAccess, ownOrigin } = deps;
  const empty = requestAccessPage(assets, recaptcha);
  // With the referrer policy `no-referrer`, a browser would not send the origin of the form.
  const formPolicy = recaptcha ? scoredHeaders(recaptcha.apiBase) : { "Referrer-Policy": "same-origin" };

  pageRoute(app, deps, {
    url: "/request-access",
    policy: "page",
    headers: { ...publicHeaders, ...formPolicy },
    handle: () => empty,
  });
  for (const status of ["issued", "pending"] as const) {
    const page = requestReceivedPage(assets, status);
    pageRoute(app, deps, {
      url: `/request-access/${status}`,
      policy: "page",
      headers: { ...publicHeaders, "X-Robots-Tag": "noindex, nofollow" },
      handle: () => page,
    });
  }
  app.register(async (scope) => {
    acceptForms(scope);
    pageRoute(scope, deps, {
      method: "POST",
      url: "/request-access",
      // Requests on this page and on the API's route share one rate limit.
      policy: "partner-request",
      // Another site must not send a request in its visitors' browsers (CSRF).
      onRequest: async (request) => refuseCrossSite(request, ownOrigin),
      headers: { ...formPolicy, "Cache-Control": "no-store" },
      handle: async ({ form, request }) => {
        const status = await requestAccess(accessRequestFields(form), request.ip);
        // Redirects to a page with the result. Reloading that page does not send the request again.
        return { redirect: `/request-access/${status}` };
      },
      refused: ({ form: values }, message) => requestAccessPage(assets, recaptcha, { values, message }),
    });
  });
}

/**
 * The policies of the page with Google's script. The script loads a second script from gstatic, and works in a frame.
 * The referrer policy reveals only the origin, by which Google identifies the key's owner.
 * @param apiBase the origin of the script
 */
function scoredHeaders(apiBase: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${apiBase}/ https://www.gstatic.com/recaptcha/`,
    `frame-src ${apiBase}/ https://recaptcha.google.com/recaptcha/`,
    `connect-src ${apiBase}/`,
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return { "Content-Security-Policy": policy, "Referrer-Policy": "strict-origin" };
}
