import { ConnectionError, ServiceRefusal } from "./errors.ts";
import { wireName } from "./names.ts";

export type ClientOptions = {
  /** The service's base address, `https://...`. */
  baseUrl: string;
  /** A partner key, `svc_pk_...`. Without one only the public routes answer. */
  key?: string | undefined;
  /** What requests are sent with. Default: the runtime's own fetch. */
  fetch?: typeof fetch | undefined;
  /** How long one request may take, up to the last byte of its answer, in milliseconds. Default 60,000. */
  timeoutMs?: number | undefined;
  /**
   * How often a request is sent again that was not answered, or was answered 429, 502, 503 or 504: reads, and writes that bear an
   * idempotency key. An answer that asks for more than 30 seconds is not waited for. Default 2.
   */
  maxRetries?: number | undefined;
  /** Ends every request of the client when it aborts. */
  signal?: AbortSignal | undefined;
};

type Query = Readonly<Record<string, string | number | undefined>>;
type RequestOptions = { body?: unknown; query?: Query; idempotencyKey?: string | undefined };
type Method = "GET" | "POST" | "DELETE";

export type Transport = {
  /** The JSON of a success. @throws ServiceRefusal for any other status, ConnectionError when there was no answer. */
  json: <T>(method: Method, path: string, options?: RequestOptions) => Promise<T>;
  /** The bytes of a success. @throws ServiceRefusal */
  bytes: (path: string) => Promise<Uint8Array<ArrayBuffer>>;
  /** How long one request may take. */
  timeoutMs: number;
  /** Whether the client's own signal has ended it: nothing is tried again. */
  isEnded: () => boolean;
  /** Waits between two requests. @throws what the client's signal was aborted with */
  pause: (ms: number) => Promise<void>;
};

/** A path with its parts escaped: path`/api/rooms/${code}`. */
export const path = (fixed: TemplateStringsArray, ...parts: string[]): string =>
  fixed.reduce((text, piece, n) => text + encodeURIComponent(parts[n - 1] ?? "") + piece);

/** A key for a write that may be sent again. */
export const newIdempotencyKey = (): string => `sdk-${crypto.randomUUID()}`;

// What the service may answer while it is restarted, and what stands before it; an installation without payments stays so.
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Also of a request that was cut off and whose first try the service still works on. */
const isPassing = ({ status, code }: ServiceRefusal): boolean =>
  (passing.has(status) && code !== "payments_not_configured") || code === "idempotency_in_flight";
const firstWaitMs = 500;
/** What asks for more is refused to the caller. */
const longestWaitMs = 30_000;

export function createTransport(options: ClientOptions): Transport {
  const { key, fetch: send = globalThis.fetch, timeoutMs = 60_000, maxRetries = 2, signal } = options;
  if (!/^https?:\/\/./.test(options.baseUrl)) throw new TypeError("baseUrl must be an http(s) URL.");
  const base = options.baseUrl.replace(/\/+$/, "");

  async function request<T>(
    method: Method,
    route: string,
    { body, query = {}, idempotencyKey }: RequestOptions,
    read: (answer: Response) => Promise<T>,
  ): Promise<T> {
    const headers: Record<string, string> = { Accept: "application/problem+json, application/json;q=0.9" };
    if (key !== undefined) headers["Authorization"] = `Bearer ${key}`;
    if (idempotencyKey !== undefined) headers["Idempotency-Key"] = idempotencyKey;
    const isForm = body instanceof FormData || body instanceof URLSearchParams;
    if (body !== undefined && !isForm) headers["Content-Type"] = "application/json";
    const sent = body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) };
    const retries = method === "GET" || idempotencyKey !== undefined ? maxRetries : 0;
    for (let attempt = 0; ; attempt++) {
      const limit = AbortSignal.timeout(timeoutMs);
      const init = { method, headers, signal: signal ? AbortSignal.any([signal, limit]) : limit, ...sent };
      const answer = await send(base + route + search(query), init)
        .then(async (got) => (got.ok ? { read: await read(got) } : { refusal: await refusalOf(got) }))
        .catch((error: unknown) => {
          // What can't be read now can't be read the next time; whatever else there is here is a request that was not answered.
          if (signal?.aborted || error instanceof SyntaxError) throw error;
          if (attempt >= retries) throw new ConnectionError(base, error);
          return { refusal: null };
        });
      if ("read" in answer) return answer.read;
      const { refusal } = answer;
      const waitMs = refusal?.retryAfterSeconds == null ? null : refusal.retryAfterSeconds * 1000;
      if (refusal && (attempt >= retries || !isPassing(refusal) || (waitMs ?? 0) > longestWaitMs)) throw refusal;
      await wait(waitMs ?? firstWaitMs * 2 ** attempt * (0.5 + Math.random() / 2), signal);
    }
  }

  return {
    json: <T>(method: Method, route: string, asked: RequestOptions = {}) =>
      request(method, route, asked, async (answer) => (await answer.json()) as T),
    bytes: (route) => request("GET", route, {}, async (answer) => new Uint8Array(await answer.arrayBuffer())),
    timeoutMs,
    isEnded: () => signal?.aborted ?? false,
    pause: (ms) => wait(ms, signal),
  };
}

function search(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[wireName(name), String(value)]],
  );
  return given.length > 0 ? `?${new URLSearchParams(given)}` : "";
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
    // Some refusals have no body.
  }
  const said = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const message = [said["detail"], said["error"]].find((each) => typeof each === "string");
  const retryAfter = Number(response.headers.get("Retry-After") || Number.NaN);
  return new ServiceRefusal(response.status, (message as string | undefined) ?? `Answered ${response.status}.`, {
    code: typeof said["code"] === "string" ? said["code"] : null,
    requestId: response.headers.get("Request-Id"),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
    body,
  });
}
