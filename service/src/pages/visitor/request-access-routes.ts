import type { FastifyInstance } from "fastify";
import { accessRequestFields, type SentRequest } from "../../firms/access-requests/access-requests.ts";
import { refuseCrossSite } from "../../kernel/http/authentication.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { acceptForms } from "../ui/forms/form-body.ts";
import { publicHeaders } from "../ui/page/headers.ts";
import { pageRoute } from "../ui/page/route.ts";
import { type RecaptchaSite, requestAccessPage, requestTakenPage } from "./request-access-page.ts";

export type RequestAccessDeps = {
  assets: Assets;
  limits: RateLimits;
  /** Null where reCAPTCHA is not set up. */
  recaptcha: RecaptchaSite | null;
  /** The origin of the public address. */
  ownOrigin: string;
  requestAccess: (request: SentRequest, remoteIp: string) => Promise<"issued" | "pending">;
};

/** The form for partner access: `POST /api/partner/request` for people. It needs no script and no session. */
export function requestAccessRoutes(app: FastifyInstance, deps: RequestAccessDeps): void {
  const { assets, recaptcha, requestAccess, ownOrigin } = deps;
  const empty = requestAccessPage(assets, recaptcha);
  // Without a referrer a browser would not name the origin of the form.
  const formPolicy = recaptcha ? scoredHeaders(recaptcha.apiBase) : { "Referrer-Policy": "same-origin" };

  pageRoute(app, deps, {
    url: "/request-access",
    policy: "page",
    headers: { ...publicHeaders, ...formPolicy },
    handle: () => empty,
  });
  for (const status of ["issued", "pending"] as const) {
    const page = requestTakenPage(assets, status);
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
      // Counts together with the route of the API.
      policy: "partner-request",
      // No other site may send a request in the name of its visitors.
      onRequest: async (request) => refuseCrossSite(request, ownOrigin),
      headers: { ...formPolicy, "Cache-Control": "no-store" },
      handle: async ({ form, request }) => {
        const status = await requestAccess(accessRequestFields(form), request.ip);
        // The answer has an address of its own, so that loading it again sends nothing again.
        return { redirect: `/request-access/${status}` };
      },
      refused: ({ form: values }, message) => requestAccessPage(assets, recaptcha, { values, message }),
    });
  });
}

/**
 * The policy of the page with Google's script. The script loads a second one from gstatic, works in a frame, and tells the origin alone, by which Google
 * knows whose key it is. @param apiBase where the script comes from
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
