import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
} from "fastify";
import type { Policy, RateLimits } from "../../http/rate-limits.ts";
import { uncached } from "../../http/verdicts.ts";
import { wireStatus } from "../../http/wire-errors.ts";
import { type ErrorCode, ServiceError } from "../../platform/errors.ts";
import { wantsJson } from "./error-page.ts";
import { type FormValues, textsOf } from "./forms/form-body.ts";
import { formHeaders, htmlType } from "./page-headers.ts";

type Headers = Readonly<Record<string, string | string[]>>;

/** What a page's route answers: a page, perhaps with a status or headers of its own; another address; data for our own script; a file to save. */
export type PageAnswer =
  | string
  | { page: string; status?: number; headers?: Headers }
  | { redirect: string; headers?: Headers }
  | { json: object }
  | { pdf: Buffer; name: string }
  | { file: string; type: string; name: string };

/** The names in an address like `/orders/:code`, with their texts. */
type ParamsOf<Url extends string> = Url extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<Rest>
  : Url extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

/** A request as a page's route reads it. */
export type PageCall<Params = unknown> = {
  params: Params;
  query: FormValues;
  /** What was typed. Who reads a multipart form puts its texts here, for the form that is shown again. */
  form: Record<string, string>;
  request: FastifyRequest;
};

export type PageRoute<Url extends string> = {
  /** Default GET. */
  method?: "GET" | "POST";
  url: Url;
  /** Counts each request. A scope may count besides. */
  policy?: Policy;
  /** Hooks that run after the count. */
  onRequest?: onRequestAsyncHookHandler | onRequestAsyncHookHandler[];
  config?: FastifyContextConfig;
  /** Of every answer; default are those of a page with forms. */
  headers?: Headers;
  handle: (call: PageCall<ParamsOf<Url>>) => PageAnswer | Promise<PageAnswer>;
  /** Shows the page of a form again, with why it was refused; its status is that of the refusal. */
  refused?: (call: PageCall<ParamsOf<Url>>, error: string) => string | Promise<string>;
};

/** Refusals that belong beside the form that caused them. */
const besideForm: ReadonlySet<ErrorCode> = new Set([
  "validation",
  "conflict",
  "not_payable",
  "not_found",
  "processor_failed",
  "payments_not_configured",
  "unavailable",
]);

/** Adds a route that answers HTML: counts the request, sets headers and status, and shows a refused form again. */
export function pageRoute<Url extends string>(
  app: FastifyInstance,
  { limits }: { limits: Pick<RateLimits, "limit"> },
  { method = "GET", url, policy, onRequest = [], config = {}, headers = formHeaders, handle, refused }: PageRoute<Url>,
): void {
  app.route({
    method,
    url,
    onRequest: [policy ? limits.limit(policy) : [], onRequest].flat(),
    schema: { hide: true },
    config,
    handler: async (request, reply) => {
      const { params, query, body } = request;
      const call = { params: params as ParamsOf<Url>, query: textsOf(query), form: textsOf(body), request };
      try {
        return send(reply, headers, await handle(call));
      } catch (error) {
        if (!refused || !belongsBesideForm(error) || wantsJson(request)) throw error;
        return send(reply, headers, { page: await refused(call, error.message), status: wireStatus[error.code] });
      }
    },
  });
}

const belongsBesideForm = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && besideForm.has(error.code);

export function send(reply: FastifyReply, headers: Headers, answer: PageAnswer): FastifyReply {
  reply.headers(headers);
  if (typeof answer === "string") return reply.type(htmlType).send(answer);
  if ("json" in answer) return reply.send(answer.json);
  if ("pdf" in answer) {
    reply.headers({ ...uncached, "Content-Disposition": `attachment; filename="${answer.name}"` });
    return reply.type("application/pdf").send(answer.pdf);
  }
  if ("file" in answer) {
    reply.headers({ ...uncached, "Content-Disposition": `attachment; filename="${answer.name}"` });
    return reply.type(answer.type).send(answer.file);
  }
  reply.headers(answer.headers ?? {});
  if ("redirect" in answer) return reply.redirect(answer.redirect, 303);
  return reply
    .code(answer.status ?? 200)
    .type(htmlType)
    .send(answer.page);
}
