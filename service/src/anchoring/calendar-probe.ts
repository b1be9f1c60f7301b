import { type Fetch, requestBounded } from "../platform/bounds/bounded-request.ts";

const maxPageBytes = 1024 * 1024;

/** Asks for a calendar's own page: nothing is submitted that a calendar would then carry. @throws Error with the reason */
export async function probeCalendar(
  url: string,
  { fetch, timeoutMs }: { readonly fetch: Fetch; readonly timeoutMs: number },
): Promise<void> {
  const answer = await requestBounded(fetch, `${url}/`, { method: "GET" }, { timeoutMs, maxBytes: maxPageBytes });
  if (!answer.ok) throw new Error(answer.why);
  // A calendar need have no page, so 404 is an answer as well.
  if (answer.status >= 500) throw new Error(`the answer has the HTTP status ${answer.status}`);
}
