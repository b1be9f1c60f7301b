import { ServiceRefusal } from "./errors.ts";

export type ClientOptions = {
  /** The service's base address, `https://...`. */
  baseUrl: string;
  /** A partner key, `svc_pk_...`. Without one only the public routes answer. */
  key?: string;
  /** What requests are sent with. Default: the runtime's own fetch. */
  fetch?: typeof fetch;
};

type Query = Readonly<Record<string, string | number | undefined>>;
type RequestOptions = { body?: unknown; query?: Query; headers?: Record<string, string> };
type Method = "GET" | "POST" | "DELETE";

export type Transport = {
  /** The JSON of a success. @throws ServiceRefusal for any other status; whatever fetch throws when there was no answer. */
  json: <T>(method: Method, path: string, options?: RequestOptions) => Promise<T>;
  /** The bytes of a success. @throws ServiceRefusal */
  bytes: (path: string) => Promise<Uint8Array>;
};

/** A path with its parts escaped: path`/api/rooms/${code}`. */
export const path = (fixed: TemplateStringsArray, ...parts: string[]): string =>
  fixed.reduce((text, piece, n) => text + encodeURIComponent(parts[n - 1] ?? "") + piece);

async function refusalOf(response: Response): Promise<ServiceRefusal> {
  const text = await response.text();
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Some refusals have no body.
  }
  const { error } = (typeof body === "object" && body !== null ? body : {}) as { error?: unknown };
  const retryAfter = response.headers.get("Retry-After");
  return new ServiceRefusal(response.status, typeof error === "string" ? error : `Answered ${response.status}.`, {
    requestId: response.headers.get("Request-Id"),
    retryAfterSeconds: retryAfter === null ? null : Number(retryAfter),
    body,
  });
}

export function createTransport({ baseUrl, key, fetch: send = globalThis.fetch }: ClientOptions): Transport {
  const base = baseUrl.replace(/\/+$/, "");

  async function request(
    method: Method,
    route: string,
    { body, query = {}, headers = {} }: RequestOptions,
  ): Promise<Response> {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const search = given.length > 0 ? `?${new URLSearchParams(given)}` : "";
    const init: RequestInit = {
      method,
      headers: {
        Accept: "application/json",
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...headers,
      },
    };
    if (body instanceof FormData) init.body = body;
    else if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { ...init.headers, "Content-Type": "application/json" };
    }
    const response = await send(base + route + search, init);
    if (!response.ok) throw await refusalOf(response);
    return response;
  }

  return {
    json: async <T>(method: Method, route: string, options: RequestOptions = {}) =>
      (await (await request(method, route, options)).json()) as T,
    bytes: async (route) => new Uint8Array(await (await request("GET", route, {})).arrayBuffer()),
  };
}
