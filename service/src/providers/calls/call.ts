import { hash } from "node:crypto";
import { type Fetch, requestBounded } from "../../kernel/platform/bounds/bounded-request.ts";
import { createBreaker } from "../../kernel/platform/bounds/breaker.ts";
import { type Clock, minuteMs } from "../../kernel/platform/clock.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { stopwatch } from "../../kernel/platform/stopwatch.ts";
import { type ProviderName, providerNames } from "../names.ts";
import { type CallOutcome, outcomeOf } from "./outcome.ts";

export type { CallOutcome } from "./outcome.ts";

export type CallRequest = {
  method: "GET" | "POST" | "DELETE";
  /** The path with its query, relative to the account's base URL. */
  path: string;
  /** The body of the request. A form is sent as multipart/form-data. */
  body?: string | Uint8Array | FormData;
  /** The type of a body that is text or bytes; default `application/json`. */
  contentType?: string;
  headers?: Readonly<Record<string, string>>;
  /** The largest answer, in bytes; default 1 MiB. */
  maxBytes?: number;
};

/**
 * Sends one request without retries or redirects. Rejects only when the request can't be built; a failed request is an
 * outcome.
 */
export type Call = (request: CallRequest) => Promise<CallOutcome>;

/**
 * The record of a request: hashes in hex, and the outcome. `requestSha256` is null for a request that was not sent,
 * `answerSha256` without an answer.
 */
export type Exchange = { outcome: CallOutcome; requestSha256: string | null; answerSha256: string | null };

/** Sends requests to a provider, can report them to a watcher, and tracks the provider's health. */
export type Caller = {
  call: Call;
  /** A `call` that also passes each exchange to the watcher. */
  watched: (watch: (exchange: Exchange) => void) => Call;
  /** The health of the provider, from the latest requests. */
  health: () => CallerHealth;
  /** The time limit of a request. */
  timeoutMs: number;
};

type CallerHealth = {
  /** True while no requests are sent, because the circuit breaker is open or the provider asked to wait. */
  isPaused: boolean;
  lastAnsweredAt: Date | null;
  lastFailure: { at: Date; why: string } | null;
};

export type CallerDeps = {
  fetch: Fetch;
  clock: Clock;
  log: Log;
  /** Called with the result of each request that was not held back by a pause, for metrics. */
  count?: (provider: ProviderName, outcome: CallOutcome["kind"], seconds: number) => void;
};

export type CallerSettings = { provider: ProviderName; baseUrl: string; authorization: string; timeoutMs?: number };

const breakerSettings = { failures: 5, coolDownMs: minuteMs };
const usualTimeoutMs = 15_000;
const usualMaxBytes = 1024 * 1024;

/**
 * The only way to send requests with the credentials of an account. It limits time and size, uses a circuit breaker,
 * and removes secrets from messages.
 */
export function createCaller(deps: CallerDeps, settings: CallerSettings): Caller {
  const { clock, log } = deps;
  const { provider } = settings;
  const breaker = createBreaker(breakerSettings, clock);
  let pausedUntil = 0;
  let lastAnsweredAt: Date | null = null;
  let lastFailure: CallerHealth["lastFailure"] = null;

  function heed({ outcome, isKeyRefused }: Sent): void {
    const at = clock();
    if (outcome.kind === "answered" || outcome.kind === "refused") {
      breaker.succeeded();
      lastAnsweredAt = at;
      return;
    }
    // If the provider refuses the account's key, all later requests would fail too, so the breaker opens at once.
    if (isKeyRefused) breaker.open();
    else breaker.failed();
    lastFailure = { at, why: outcome.why };
    if (outcome.kind === "unavailable" && outcome.retryAfterMs !== null)
      pausedUntil = at.getTime() + outcome.retryAfterMs;
    log.warn({ provider, outcome: outcome.kind, why: outcome.why }, "a request to a provider failed");
  }

  const notNow = (why: string, retryAfterMs: number): Exchange => ({
    outcome: { kind: "unavailable", why, retryAfterMs },
    requestSha256: null,
    answerSha256: null,
  });

  async function exchange(request: CallRequest): Promise<Exchange> {
    const name = providerNames[provider];
    const wait = pausedUntil - clock().getTime();
    if (wait > 0) return notNow(`${name} asked to wait`, wait);
    if (!breaker.admits()) return notNow(`${name} did not answer lately`, breakerSettings.coolDownMs);
    const elapsedMs = stopwatch();
    const exchanged = await send(deps.fetch, settings, request).catch((error) => {
      // The breaker must learn the result of every request that it admitted, even if nothing was sent.
      breaker.failed();
      throw error;
    });
    heed(exchanged);
    deps.count?.(provider, exchanged.outcome.kind, elapsedMs() / 1000);
    return exchanged;
  }

  return {
    call: async (request) => (await exchange(request)).outcome,
    watched: (watch) => async (request) => {
      const exchanged = await exchange(request);
      watch(exchanged);
      return exchanged.outcome;
    },
    timeoutMs: settings.timeoutMs ?? usualTimeoutMs,
    health: () => ({
      isPaused: pausedUntil > clock().getTime() || breaker.isOpen(),
      lastAnsweredAt,
      lastFailure,
    }),
  };
}

/**
 * A sent request with its result.
 * @property isKeyRefused true if the provider refuses the account's key
 */
type Sent = Exchange & { isKeyRefused: boolean };

async function send(fetch: Fetch, settings: CallerSettings, request: CallRequest): Promise<Sent> {
  const { baseUrl, authorization, timeoutMs = usualTimeoutMs } = settings;
  const { method, path, headers = {}, maxBytes = usualMaxBytes } = request;
  const { bytes, contentType } = await bodyOf(request);
  const init: RequestInit = {
    method,
    headers: {
      accept: "application/json",
      ...(contentType === null ? {} : { "content-type": contentType }),
      ...headers,
      authorization,
    },
    ...(bytes === null ? {} : { body: bytes }),
  };
  const answer = await requestBounded(fetch, `${baseUrl}${path}`, init, { timeoutMs, maxBytes });
  return {
    outcome: outcomeOf(answer, secretsOf(authorization)),
    requestSha256: hash("sha256", bytes ?? new Uint8Array()),
    answerSha256: answer.ok ? hash("sha256", answer.body) : null,
    isKeyRefused: answer.ok && (answer.status === 401 || answer.status === 403),
  };
}

/** The secrets to remove from messages: the credentials, and the key inside the credentials when these are base64. */
function secretsOf(authorization: string): string[] {
  const [scheme, credentials = ""] = authorization.split(" ");
  const key = scheme === "Basic" ? Buffer.from(credentials, "base64").toString().replace(/:$/, "") : "";
  return [credentials, key].filter((secret) => secret !== "");
}

/** Encodes a body as bytes, so that the hash of the request also covers a form. */
async function bodyOf({
  body,
  contentType = "application/json",
}: CallRequest): Promise<{ bytes: Uint8Array<ArrayBuffer> | null; contentType: string | null }> {
  if (body === undefined) return { bytes: null, contentType: null };
  if (!(body instanceof FormData)) return { bytes: new Uint8Array(Buffer.from(body)), contentType };
  const whole = new Response(body);
  return { bytes: new Uint8Array(await whole.arrayBuffer()), contentType: whole.headers.get("content-type") };
}
