import type { BoundedAnswer } from "../../kernel/platform/bounds/bounded-request.ts";
import { hourMs } from "../../kernel/platform/clock.ts";
import { membersIn, textIn } from "../../kernel/platform/json.ts";

/**
 * The outcome of one request. Only `unknown` leaves it open whether the provider acted. EasyPost may have acted even
 * after some refusals, so its client turns these into `unknown`.
 */
export type CallOutcome =
  /** The provider answered with a status 2xx. `body` is the parsed JSON; null for an empty answer. */
  | { kind: "answered"; status: number; body: unknown; bytes: Uint8Array }
  /** The act was not done: the provider refused the request, or has no such object. `why` quotes the provider. */
  | { kind: "refused"; status: number; code: string | null; why: string }
  /** The act was not done: the provider was unreachable or refuses this account for now, or requests are paused. */
  | { kind: "unavailable"; why: string; retryAfterMs: number | null }
  /** The act may have been done: there was no response, or an unreadable one. */
  | { kind: "unknown"; why: string };

// HTTP statuses that concern the account or its rate limit. They mean that the provider did not process the request.
const accountStatuses: Readonly<Record<number, string>> = {
  401: "the key is not accepted",
  402: "the account has no balance",
  403: "the key does not permit it",
  429: "too many requests",
};

const maxTextLength = 500;

/**
 * Determines the outcome of a request from the provider's answer.
 * @param secrets removed from the provider's message, which may echo them
 */
export function outcomeOf(answer: BoundedAnswer, secrets: readonly string[]): CallOutcome {
  const words = (text: string) => plainWords(text, secrets);
  if (!answer.ok) {
    const why = words(answer.why);
    return answer.isUnsent ? { kind: "unavailable", why, retryAfterMs: null } : { kind: "unknown", why };
  }
  const { status, headers, body: bytes } = answer;
  const body = parsed(bytes);
  if (status >= 200 && status < 300)
    return body === undefined
      ? { kind: "unknown", why: `status ${status} with a body that is not JSON` }
      : { kind: "answered", status, body, bytes };
  const messages = wordsOf(body);
  const ofAccount = accountStatuses[status];
  if (ofAccount) {
    const why = words(messages.why ? `${ofAccount}: ${messages.why}` : ofAccount);
    return { kind: "unavailable", why, retryAfterMs: retryAfterMs(headers.get("retry-after")) };
  }
  // Statuses 408 and 409 are not refusals, because an earlier copy of the request may be in progress or have succeeded.
  if (status >= 400 && status < 500 && status !== 408 && status !== 409)
    return { kind: "refused", status, code: messages.code, why: words(messages.why || `status ${status}`) };
  return { kind: "unknown", why: words(`status ${status}${messages.why ? `: ${messages.why}` : ""}`) };
}

/** Parses the body as JSON. Undefined for text that is not JSON; null for an empty body. */
function parsed(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return null;
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

/**
 * Reads the message of a refusal: `{error: {code, message, errors}}` of EasyPost and Lob, or `{errors: [{code, title,
 * detail}]}` of Telnyx.
 */
function wordsOf(body: unknown): { code: string | null; why: string } {
  const { error, errors } = membersIn(body);
  const first = membersIn(Array.isArray(errors) ? errors[0] : error);
  const details: unknown[] = Array.isArray(first["errors"]) ? first["errors"] : [];
  const words = [
    first["message"],
    first["title"],
    first["detail"],
    ...details.map((each) => membersIn(each)["message"]),
  ].flatMap((each) => textIn(each) ?? []);
  return { code: textIn(first["code"]), why: words.join(": ") || (textIn(error) ?? "") };
}

/** The text as one line, without control characters and secrets. */
const plainWords = (text: string, secrets: readonly string[]): string =>
  secrets
    .reduce((masked, secret) => masked.replaceAll(secret, "***"), text)
    .replace(/\p{C}+/gu, " ")
    .slice(0, maxTextLength);

const maxRetryAfterMs = hourMs;

/**
 * Converts a `Retry-After` header from seconds to milliseconds, at most an hour (RFC 9110, section 10.2.3). Null
 * without the header, and for its other form, a date, which these providers never send.
 */
function retryAfterMs(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Math.min(Number(header) * 1000, maxRetryAfterMs) : null;
}
