import { ConnectionError, ServiceRefusal } from "./errors.ts";
import { wireName } from "./names.ts";

/** One attempt of a request, for logs and metrics. `attempt` counts from 1. */
export type SentRequest = { method: string; url: string; attempt: number };

/** The outcome of one attempt. `status` and `headers` are null without an answer; `error` is then the reason. */
export type SentResponse = SentRequest & {
  status: number | null;
  headers: Headers | null;
  durationMs: number;
  error: unknown;
};

export type ClientOptions = {
  /** The service's base URL, `https://...`. */
  baseUrl: string;
  /** A partner key, `svc_pk_...`. Without one, only public routes answer. */
  key?: string | undefined;
  /** The fetch function. Default: the runtime's own. */
  fetch?: typeof fetch | undefined;
  /** Timeout of one attempt, up to the last byte of its answer, in milliseconds. Default 60,000. */
  timeoutMs?: number | undefined;
  /**
   * The number of retries when no answer arrives, or for status 429, 502, 503 or 504, or code `idempotency_in_flight`.
   * Applies to reads, and to writes with an idempotency key. The client does not retry for code
   * `payments_not_configured`, or when an answer asks it to wait more than 65 seconds. Default 2.
   */
  maxRetries?: number | undefined;
  /** Aborts every request of the client. */
  signal?: AbortSignal | undefined;
  /** Called before each attempt, and may add headers (`traceparent`) to it. An error thrown here ends the call. */
  onRequest?: ((request: SentRequest, headers: Headers) => void) | undefined;
  /** Called after each attempt. An error thrown here ends the call. */
  onResponse?: ((response: SentResponse) => void) | undefined;
};

type Query = Readonly<Record<string, string | number | undefined>>;
/**
 * A body that streams a file, so that the file is not held in memory. `open` starts the stream again for each attempt.
 */
export type StreamedBody = { contentType: string; open: () => ReadableStream<Uint8Array> };
type RequestOptions = { body?: unknown; query?: Query; idempotencyKey?: string | undefined };
type Method = "GET" | "POST" | "DELETE";

/** The requests that a rate limit still allows in its present window, from the `RateLimit` headers. */
type Allowance = { quota: number; remaining: number; resetsAt: number };

export type Transport = {
  /**
   * Returns the JSON of a successful answer. @throws ServiceRefusal for any other status, ConnectionError when there
   * was no answer, SyntaxError for an answer that is not JSON, and the abort reason of the client's signal
   */
  json: <T>(method: Method, path: string, options?: RequestOptions) => Promise<T>;
  /**
   * The JSON of a list's page. `allowance`: the requests that the rate limit still allows; null when the answer states
   * no limit.
   * @throws as `json`
   */
  page: <T>(path: string, query: Query) => Promise<{ page: T; allowance: Allowance | null }>;
  /** Returns the bytes of a successful answer. @throws as `json` */
  bytes: (path: string) => Promise<Uint8Array<ArrayBuffer>>;
  /** Timeout of one attempt, in milliseconds. */
  timeoutMs: number;
  /** True if the client's own signal was aborted. Then no request is retried. */
  isEnded: () => boolean;
  /** Waits between two requests. @throws the abort reason of the client's signal */
  pause: (ms: number) => Promise<void>;
};

/** A test compares this version with the version of the package. */
const userAgent = "signsealship-typescript/0.1.0";

export type WriteOptions = {
  /**
   * A key of 8 to 255 characters. The service performs requests with the same key only once. By default, each call gets
   * a new key, which covers only the retries of that call.
   */
  idempotencyKey?: string | undefined;
};

/** Builds a path with escaped parts: path`/api/rooms/${code}`. */
export const path = (fixed: TemplateStringsArray, ...parts: string[]): string =>
  fixed.reduce((text, piece, n) => text + encodeURIComponent(parts[n - 1] ?? "") + piece);

/** An idempotency key for a write that may be retried. */
export const newIdempotencyKey = (): string => `sdk-${crypto.randomUUID()}`;

// Status codes of temporary refusals: the service rate-limits or restarts, or a proxy in front of it can't reach it. A
// 503 with the code `payments_not_configured` is not temporary.
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/**
 * True if a retry may succeed. The 409 `idempotency_in_flight` is also temporary: the connection of the first attempt
 * broke, and the service is still working on that attempt.
 */
const isPassing = ({ status, code }: ServiceRefusal): boolean =>
  (passing.has(status) && code !== "payments_not_configured") || code === "idempotency_in_flight";
const firstWaitMs = 500;
/** A little more than the longest window of a key's rate limits. */
const maxWaitMs = 65_000;

export function createTransport(options: ClientOptions): Transport {
  const { fetch: send = globalThis.fetch, timeoutMs = 60_000, maxRetries = 2, signal } = options;
  if (!/^https?:\/\/./.test(options.baseUrl)) throw new TypeError("baseUrl must be an http(s) URL.");
  const base = options.baseUrl.replace(/\/+$/, "");

  async function request<T>(
    method: Method,
    route: string,
    { body, query = {}, idempotencyKey }: RequestOptions,
    read: (answer: Response) => Promise<T>,
  ): Promise<T> {
    const { content, ...bodyHeaders } = bodyOf(body);
    const common = { ...headersOf(options.key, idempotencyKey), ...bodyHeaders };
    const retries = method === "GET" || idempotencyKey !== undefined ? maxRetries : 0;
    const url = base + route + search(query);
    for (let attempt = 1; ; attempt++) {
      const sent = { method, url, attempt };
      const headers = new Headers(common);
      options.onRequest?.(sent, headers);
      const from = Date.now();
      const limit = AbortSignal.timeout(timeoutMs);
      const init = { method, headers, signal: signal ? AbortSignal.any([signal, limit]) : limit, ...content() };
      const outcome = await outcomeOf(() => send(url, init), read);
      const { status = null, headers: answered = null } = outcome.answer ?? {};
      const error = "error" in outcome ? outcome.error : null;
      options.onResponse?.({ ...sent, status, headers: answered, durationMs: Date.now() - from, error });
      if ("data" in outcome) return outcome.data;
      const waitMs = firstWaitMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
      if ("error" in outcome) {
        // A SyntaxError means that the answer is unreadable, so it is thrown unchanged. Every other error here means
        // that no answer arrived.
        if (signal?.aborted || error instanceof SyntaxError) throw error;
        if (attempt > retries) throw new ConnectionError(base, error);
        await wait(waitMs, signal);
        continue;
      }
      const { refusal } = outcome;
      const askedMs = refusal.retryAfterSeconds === null ? waitMs : refusal.retryAfterSeconds * 1000;
      if (attempt > retries || !isPassing(refusal) || askedMs > maxWaitMs) throw refusal;
      await wait(askedMs, signal);
    }
  }

  return {
    json: <T>(method: Method, route: string, asked: RequestOptions = {}) =>
      request(method, route, asked, async (answer) => (await answer.json()) as T),
    page: <T>(route: string, query: Query) =>
      request("GET", route, { query }, async (answer) => {
        const allowance = allowanceOf(answer.headers, Date.now());
        return { page: (await answer.json()) as T, allowance };
      }),
    bytes: (route) => request("GET", route, {}, async (answer) => new Uint8Array(await answer.arrayBuffer())),
    timeoutMs,
    isEnded: () => signal?.aborted ?? false,
    pause: (ms) => wait(ms, signal),
  };
}

type Outcome<T> = { answer: Response; data: T } | { answer: Response; refusal: ServiceRefusal } | Failure;
type Failure = { answer: Response | null; error: unknown };

async function outcomeOf<T>(
  send: () => Promise<Response>,
  read: (answer: Response) => Promise<T>,
): Promise<Outcome<T>> {
  let answer: Response | null = null;
  try {
    answer = await send();
    return answer.ok ? { answer, data: await read(answer) } : { answer, refusal: await refusalOf(answer) };
  } catch (error) {
    return { answer, error };
  }
}

/**
 * Returns the body's `Content-Type` header (unless fetch sets it), and a function that makes the body for each attempt.
 */
function bodyOf(body: unknown): { content: () => { body?: BodyInit; duplex?: "half" }; "Content-Type"?: string } {
  if (body === undefined) return { content: () => ({}) };
  if (body instanceof FormData || body instanceof URLSearchParams) return { content: () => ({ body }) };
  if (isStreamed(body))
    return { content: () => ({ body: body.open(), duplex: "half" }), "Content-Type": body.contentType };
  const text = JSON.stringify(body);
  return { content: () => ({ body: text }), "Content-Type": "application/json" };
}

const isStreamed = (body: unknown): body is StreamedBody =>
  typeof body === "object" && body !== null && typeof (body as Partial<StreamedBody>).open === "function";

function headersOf(key: string | undefined, idempotencyKey: string | undefined): Record<string, string> {
  return {
    Accept: "application/problem+json, application/json;q=0.9",
    // In a browser, this header would cause a CORS preflight request.
    ...(!("document" in globalThis) && { "User-Agent": userAgent }),
    ...(key !== undefined && { Authorization: `Bearer ${key}` }),
    ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
  };
}

function search(query: Query): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[wireName(name), String(value)]],
  );
  return pairs.length > 0 ? `?${new URLSearchParams(pairs)}` : "";
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

async function refusalOf(response: Response): Promise<ServiceRefusal> {
  const text = await response.text();
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // The body is optional: some refusals have none.
  }
  const fields = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const message = [fields["detail"], fields["error"]].find((each) => typeof each === "string");
  const retryAfter = Number(response.headers.get("Retry-After") || Number.NaN);
  return new ServiceRefusal(response.status, (message as string | undefined) ?? `Answered ${response.status}.`, {
    code: typeof fields["code"] === "string" ? fields["code"] : null,
    requestId: response.headers.get("Request-Id"),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
    body,
  });
}

/**
 * Reads the headers of draft-ietf-httpapi-ratelimit-headers: `RateLimit: "partner-write";r=59;t=42` and
 * `RateLimit-Policy: "partner-write";q=60;w=60`. Null if one of these numbers is missing.
 */
function allowanceOf(headers: Headers, now: number): Allowance | null {
  const number = (header: string, name: string) =>
    Number(new RegExp(`;\\s*${name}=(\\d+)`).exec(headers.get(header) ?? "")?.[1] ?? Number.NaN);
  const [remaining, seconds] = [number("RateLimit", "r"), number("RateLimit", "t")];
  const quota = number("RateLimit-Policy", "q");
  if (![remaining, seconds, quota].every(Number.isFinite)) return null;
  return { quota, remaining, resetsAt: now + seconds * 1000 };
}
