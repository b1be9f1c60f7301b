/** The standard `fetch`, passed as an argument so that tests can replace it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export const fetchLimits = { timeoutMs: 30_000, jsonBytes: 1024 * 1024, fileBytes: 96 * 1024 * 1024 } as const;

/** A server's response, or the reason why there is none or it was not read. */
export type Answer =
  | { readonly ok: true; readonly status: number; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly why: string };

/** Gets a URL without following redirects, with a limit on bytes and thirty seconds in total. */
export async function fetchBounded(fetch: Fetch, url: string, maxBytes: number): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(fetchLimits.timeoutMs);
    const response = await fetch(url, { redirect: "error", signal, headers: { accept: "*/*" } });
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of response.body ?? []) {
      length += chunk.length;
      if (length > maxBytes) return { ok: false, why: `${url} answered with more than ${maxBytes} bytes` };
      chunks.push(chunk);
    }
    return { ok: true, status: response.status, bytes: Buffer.concat(chunks, length) };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { ok: false, why: `${url}: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
}
