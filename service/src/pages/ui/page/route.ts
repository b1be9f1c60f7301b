import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
} from "fastify";
import { namedQuality } from "../../../kernel/http/accept.ts";
import { contentDisposition } from "../../../kernel/http/content-disposition.ts";
import { wireStatus } from "../../../kernel/http/errors/wire-errors.ts";
import { bodyOf, sendRange } from "../../../kernel/http/file-route.ts";
import type { Policy, RateLimits } from "../../../kernel/http/rate-limits.ts";
import { uncached } from "../../../kernel/http/verdicts.ts";
import type { StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { type ErrorCode, ServiceError } from "../../../kernel/platform/errors.ts";
import { wantsJson } from "../error-page.ts";
import { type FormValues, textsOf } from "../forms/form-body.ts";
import { formHeaders, htmlType } from "./headers.ts";

type Headers = Readonly<Record<string, string | string[]>>;

/**
 * The answer of a page's route. It is a page with its status and headers, a redirect, data for our own script, or a
 * file. Only `download` and `played` support range requests.
 */
export type PageAnswer =
  | string
  | { page: string; status?: number; headers?: Headers }
  | { redirect: string; headers?: Headers }
  | { json: object }
  | { pdf: Buffer | StoredFile; name: string; type?: "application/zip" | "text/plain" | "application/octet-stream" }
  | { download: StoredFile; name: string; type: "application/zip"; etag: string }
  | { file: string; type: string; name: string }
  | { played: StoredFile; type: "video/webm" };

/** The parameter names in a URL pattern like `/orders/:code`, with their values. */
type ParamsOf<Url extends string> = Url extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & ParamsOf<Rest>
  : Url extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

/** A request, as passed to the handler of a page's route. */
export type PageCall<Params = unknown> = {
  params: Params;
  query: FormValues;
  /**
   * The values of the form. A route that reads a multipart form adds its text fields here, so that the form can be
   * shown again.
   */
  form: Record<string, string>;
  request: FastifyRequest;
};

export type PageRoute<Url extends string> = {
  /** The HTTP method. Default GET. */
  method?: "GET" | "POST";
  url: Url;
  /** The rate limit for each request. By default, the limit of the scope applies. */
  policy?: Policy;
  /** Hooks that run after the rate limit has counted the request. */
  onRequest?: onRequestAsyncHookHandler | onRequestAsyncHookHandler[];
  config?: FastifyContextConfig;
  /**
   * True to send the page compressed. If a compressed page contains both a secret and an attacker's text, its length
   * reveals the secret letter by letter (BREACH).
   *
   * The only secret in public pages and pages for clients is their own URL; an attacker who can request the page
   * already has it. Other pages (for members, operators and signers) contain other people's text together with text for
   * this session only. So they are not compressed.
   */
  compressed?: boolean;
  /** The headers of every answer; by default those of a page with forms. */
  headers?: Headers;
  handle: (call: PageCall<ParamsOf<Url>>) => PageAnswer | Promise<PageAnswer>;
  /**
   * Shows the page of a form again, with the error message and the error's status. Called for the errors in
   * `shownWithForm`; a request of a script gets the error itself.
   */
  refused?: (call: PageCall<ParamsOf<Url>>, error: string) => string | Promise<string>;
};

/** Errors that are shown next to the form that caused them. */
const shownWithForm: ReadonlySet<ErrorCode> = new Set([
  "validation",
  "conflict",
  "not_payable",
  "not_found",
  "processor_failed",
  "payments_not_configured",
  "unavailable",
]);

/** Adds a route for browsers: applies the rate limit, sets headers and status, and shows a rejected form again. */
export function pageRoute<Url extends string>(
  app: FastifyInstance,
  { limits }: { limits: Pick<RateLimits, "limit"> },
  {
    method = "GET",
    url,
    policy,
    onRequest = [],
    config = {},
    compressed = false,
    headers = formHeaders,
    handle,
    refused,
  }: PageRoute<Url>,
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
        const answer = await handle(call);
        if (typeof answer !== "string" && "pdf" in answer) return await sendPdf(reply, headers, answer);
        if (typeof answer !== "string" && "download" in answer) {
          const { download, name, type, etag } = answer;
          reply.headers({ ...headers, ...uncached, "Content-Disposition": contentDisposition("attachment", name) });
          return await sendRange(reply.type(type), download, request.headers, etag);
        }
        if (typeof answer !== "string" && "played" in answer)
          return await sendRange(reply.headers(headers).type(answer.type), answer.played, request.headers);
        return compressed ? await sendCompressed(request, reply, headers, answer) : send(reply, headers, answer);
      } catch (error) {
        if (!refused || !isShownWithForm(error) || wantsJson(request)) throw error;
        return send(reply, headers, { page: await refused(call, error.message), status: wireStatus[error.code] });
      }
    },
  });
}

const isShownWithForm = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && shownWithForm.has(error.code);

const compress = promisify(gzip);

async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Headers,
  answer: PlainAnswer,
): Promise<FastifyReply> {
  const response = typeof answer === "string" ? { page: answer } : answer;
  if (!("page" in response)) return send(reply, headers, answer);
  const { page, status = 200, headers: own = {} } = response;
  const vary = ["Accept-Encoding", own["Vary"] ?? []].flat().join(", ");
  reply
    .headers({ ...headers, ...own, Vary: vary })
    .code(status)
    .type(htmlType);
  if ((namedQuality(request.headers["accept-encoding"], "gzip") ?? 0) === 0) return reply.send(page);
  return reply.header("Content-Encoding", "gzip").send(await compress(page));
}

async function sendPdf(
  reply: FastifyReply,
  headers: Headers,
  { pdf, name, type }: Extract<PageAnswer, { pdf: unknown }>,
): Promise<FastifyReply> {
  reply.headers({ ...headers, ...uncached, "Content-Disposition": contentDisposition("attachment", name) });
  const body = await bodyOf(reply.type(type ?? "application/pdf"), pdf);
  return reply.send(body);
}

type PlainAnswer = Exclude<PageAnswer, { pdf: unknown } | { download: unknown } | { played: unknown }>;

export function send(reply: FastifyReply, headers: Headers, answer: PlainAnswer): FastifyReply {
  reply.headers(headers);
  if (typeof answer === "string") return reply.type(htmlType).send(answer);
  if ("json" in answer) return reply.send(answer.json);
  if ("file" in answer) {
    reply.headers({ ...uncached, "Content-Disposition": contentDisposition("attachment", answer.name) });
    return reply.type(answer.type).send(answer.file);
  }
  reply.headers(answer.headers ?? {});
  if ("redirect" in answer) return reply.redirect(answer.redirect, 303);
  return reply
    .code(answer.status ?? 200)
    .type(htmlType)
    .send(answer.page);
}
