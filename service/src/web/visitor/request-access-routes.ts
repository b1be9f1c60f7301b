import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from "fastify";
import { accessRequestFields, type SentRequest } from "../../access-requests/access-requests.ts";
import { refuseCrossSite } from "../../http/authentication.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { Assets } from "../ui/assets.ts";
import { acceptForms, formBody } from "../ui/forms/fields.ts";
import { htmlType } from "../ui/page-headers.ts";
import { type RecaptchaSite, requestAccessPage, requestTakenPage } from "./request-access-page.ts";

export type RequestAccessDeps = {
  assets: Assets;
  /** Null where reCAPTCHA is not set up. */
  recaptcha: RecaptchaSite | null;
  /** Of the public address. */
  ownOrigin: string;
  requestAccess: (request: SentRequest, remoteIp: string) => Promise<"issued" | "pending">;
  onRequest: onRequestAsyncHookHandler;
  /** Counts together with the route of the API. */
  onPost: onRequestAsyncHookHandler;
};

/** The form for partner access: `POST /api/partner/request` for people. It needs no script and no session. */
export async function requestAccessRoutes(people: FastifyInstance, deps: RequestAccessDeps): Promise<void> {
  const { assets, recaptcha, requestAccess, ownOrigin, onRequest, onPost } = deps;
  const hidden = { schema: { hide: true } };
  const empty = requestAccessPage(assets, recaptcha);
  // Without a referrer a browser would not name the origin of the form.
  const headers = recaptcha ? scoredHeaders(recaptcha.apiBase) : { "Referrer-Policy": "same-origin" };
  const send = (reply: FastifyReply, cache: string, page: string) =>
    reply
      .type(htmlType)
      .headers({ ...headers, "Cache-Control": cache })
      .send(page);

  people.get("/request-access", { onRequest, ...hidden }, async (_request, reply) => send(reply, "no-cache", empty));
  for (const status of ["issued", "pending"] as const) {
    const page = requestTakenPage(assets, status);
    people.get(`/request-access/${status}`, { onRequest, ...hidden }, async (_request, reply) =>
      reply.type(htmlType).headers({ "Cache-Control": "no-cache", "X-Robots-Tag": "noindex, nofollow" }).send(page),
    );
  }
  await people.register(async (scope) => {
    acceptForms(scope);
    // No site may have its visitors ask in somebody's name.
    const ours = async (request: FastifyRequest) => refuseCrossSite(request, ownOrigin);
    scope.post("/request-access", { onRequest: [onPost, ours], ...hidden }, async (request, reply) => {
      const values = formBody(request.body);
      const sent = read(values);
      if (typeof sent === "string")
        return send(reply.code(400), "no-store", requestAccessPage(assets, recaptcha, { values, message: sent }));
      // The answer is an address of its own, so that loading it again sends nothing again.
      return reply.redirect(`/request-access/${await requestAccess(sent, request.ip)}`, 303);
    });
  });
}

/** The request in a form, or the sentence why it is none. */
function read(values: ReturnType<typeof formBody>): SentRequest | string {
  try {
    return accessRequestFields(values);
  } catch (error) {
    if (error instanceof ServiceError && error.code === "validation") return error.message;
    throw error;
  }
}

/**
 * Of the page with Google's script: it loads a second one from gstatic, works in a frame, and tells the origin alone, by which Google
 * knows whose key it is. @param apiBase where the script comes from
 */
function scoredHeaders(apiBase: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `script-src 'self' ${apiBase}/ https://www.gstatic.com/recaptcha/`,
    `frame-src ${apiBase}/ https://recaptcha.google.com/recaptcha/`,
    `connect-src ${apiBase}/`,
    "style-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return { "Content-Security-Policy": policy, "Referrer-Policy": "strict-origin" };
}
