import assert from "node:assert/strict";

export type Answer = { status: number; headers: Headers; body: Record<string, unknown> & { error?: string } };

/** Calls the API with a key. `body` is a form, a text that is sent unchanged, or a value that is sent as JSON. */
export type Client = {
  call: (method: string, path: string, body?: unknown) => Promise<Answer>;
  /** Like `call`, and asserts success. */
  ok: <T = Record<string, unknown>>(method: string, path: string, body?: unknown) => Promise<T>;
  /** POSTs, and asserts a status of 2xx. */
  post: <T = Record<string, unknown>>(path: string, body?: unknown) => Promise<T>;
  /** Like `call`, and asserts a refusal with this status; returns the message. */
  refused: (status: number, method: string, path: string, body?: unknown) => Promise<string>;
};

async function call(baseUrl: string, key: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const init: RequestInit = { method, headers: { Authorization: `Bearer ${key}` } };
  if (body instanceof FormData || body instanceof URLSearchParams) init.body = body;
  else if (body !== undefined) {
    init.body = typeof body === "string" ? body : JSON.stringify(body);
    init.headers = { ...init.headers, "Content-Type": "application/json" };
  }
  const response = await fetch(baseUrl + path, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? {} : JSON.parse(text) };
}

/** @param isOk which statuses the client's method `ok` accepts; only 200 by default */
export function newClient(
  baseUrl: string,
  key: string,
  isOk: (status: number) => boolean = (status) => status === 200,
): Client {
  const client: Client = {
    call: (method, path, body) => call(baseUrl, key, method, path, body),
    async ok<T>(method: string, path: string, body?: unknown) {
      const answer = await client.call(method, path, body);
      assert.ok(isOk(answer.status), `${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body as T;
    },
    async post<T>(path: string, body?: unknown) {
      const answer = await client.call("POST", path, body);
      assert.ok(
        answer.status >= 200 && answer.status < 300,
        `${path}: ${answer.status} ${JSON.stringify(answer.body)}`,
      );
      return answer.body as T;
    },
    async refused(status, method, path, body) {
      const answer = await client.call(method, path, body);
      assert.equal(answer.status, status, JSON.stringify(answer.body));
      assert.deepEqual(Object.keys(answer.body), ["error"]);
      return answer.body.error ?? "";
    },
  };
  return client;
}
