/** The part of `fetch` that is used. `main.ts` passes it in, so that a test can replace it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * The result of a request: a complete response within the limits, with any status. Otherwise a sentence that says why
 * there is no such response.
 */
export type BoundedAnswer =
  | { readonly ok: true; readonly status: number; readonly headers: Headers; readonly body: Uint8Array<ArrayBuffer> }
  /** `isUnsent` is true if the server can't have received the request. */
  | { readonly ok: false; readonly why: string; readonly isUnsent: boolean };

/**
 * Sends one request to an untrusted server. Doesn't follow redirects, and limits the length of the response's body. The
 * time limit covers everything up to the last byte. Never rejects.
 */
export async function requestBounded(
  fetch: Fetch,
  url: string,
  init: RequestInit,
  bounds: { readonly timeoutMs: number; readonly maxBytes: number },
): Promise<BoundedAnswer> {
  const signal = AbortSignal.timeout(bounds.timeoutMs);
  try {
    const response = await fetch(url, { ...init, redirect: "manual", signal });
    const body = await readBounded(response, bounds.maxBytes);
    if (body === null) return { ok: false, why: `the answer is longer than ${bounds.maxBytes} bytes`, isUnsent: false };
    return { ok: true, status: response.status, headers: response.headers, body };
  } catch (error) {
    if (signal.aborted) return { ok: false, why: `no answer within ${bounds.timeoutMs} ms`, isUnsent: false };
    return { ok: false, why: reasonOf(error), isUnsent: unconnected.has(codeOf(error)) };
  }
}

async function readBounded(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // If the loop ends early, the rest of the body is canceled.
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks, length));
}

// Codes of errors that occur before a connection exists. After any other error, the server may have received the
// request.
const unconnected: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? String((cause as NodeJS.ErrnoException).code) : "";
}

/** `fetch` reports only that the request failed. The reason is in the error's cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}
