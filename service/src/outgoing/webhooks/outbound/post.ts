import { Agent, type Dispatcher } from "undici";
import type { Clock } from "../../../kernel/platform/clock.ts";
import { stopwatch } from "../../../kernel/platform/stopwatch.ts";
import type { Answer } from "../exchange.ts";
import { addressesOf, type ConnectorSettings, createConnector } from "./connector.ts";
import { rememberingNames } from "./resolve-name.ts";

/** The reasons why a delivery fails. */
export const failureReasons = [
  "http_status",
  "redirect",
  "timeout",
  "dns_failed",
  "address_refused",
  "connect_failed",
  "tls_failed",
  "connection_lost",
  "bad_response",
  "webhook_deleted",
  "subject_missing",
  "webhook_altered",
  "event_altered",
  "host_limit",
] as const;

export type FailureReason = (typeof failureReasons)[number];

/** The outcome of one POST; null when the service stopped before the outcome was certain. */
type PostOutcome = {
  statusCode: number | null;
  reason: FailureReason | null;
  durationMs: number;
  /** The endpoint's response; null without one. */
  answer: Answer | null;
} | null;

export type Outbound = {
  /**
   * Sends one POST and never throws. Doesn't follow redirects. Returns the first part of the response, so that the firm
   * can inspect it.
   * @param admits true if the host limits allow one more delivery to these addresses. If not, the POST fails with
   * `host_limit` and nothing is sent.
   */
  post: (
    url: string,
    headers: Record<string, string>,
    body: Buffer,
    admits: (addresses: readonly string[]) => boolean,
  ) => Promise<PostOutcome>;
  /** Aborts deliveries in progress. */
  close: () => Promise<void>;
};

const maxAnswerBytes = 64 * 1024;
const storedBytes = 4 * 1024;
const headerLimits = { count: 50, bytes: 4 * 1024, nameLength: 100, valueLength: 500 };

// Maps errors to failure reasons. Each pattern is matched against the error's code, or against the error's name when it
// has no code.
const reasons: [codes: RegExp, reason: FailureReason][] = [
  [/^ADDRESS_REFUSED$/, "address_refused"],
  [/TIMEOUT|^ETIMEDOUT$/, "timeout"],
  [/^(ENOTFOUND|ENODATA|ESERVFAIL|EREFUSED|EFORMERR|EBADNAME|EAI_)/, "dns_failed"],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EACCES|EINVAL)$/, "connect_failed"],
  [/CERT|^ERR_(TLS|SSL)|^UNABLE_TO|^EPROTO$/, "tls_failed"],
  [/^(HTTPParserError|HPE_|UND_ERR_HEADERS_OVERFLOW|UND_ERR_(REQ|RES)_CONTENT_LENGTH)/, "bad_response"],
];

function reasonOf(error: unknown): FailureReason {
  const { code: ownCode, name } = error as { code?: string; name?: string };
  const code = ownCode ?? name ?? "";
  return reasons.find(([codes]) => codes.test(code))?.[1] ?? "connection_lost";
}

/**
 * The first headers of a response, limited in their number, in the size of each, and in their total size. Joins the
 * values of a repeated header.
 */
function storedHeadersOf(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const { count, bytes, nameLength, valueLength } = headerLimits;
  const stored: [name: string, value: string][] = [];
  let left = bytes;
  for (const [name, value] of Object.entries(headers).slice(0, count)) {
    const header: (typeof stored)[0] = [
      name.slice(0, nameLength),
      [value ?? ""].flat().join(", ").slice(0, valueLength),
    ];
    left -= Buffer.byteLength(header.join(""));
    if (left < 0) break;
    stored.push(header);
  }
  return Object.fromEntries(stored);
}

function judge(statusCode: number): FailureReason | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  return statusCode >= 300 && statusCode < 400 ? "redirect" : "http_status";
}

type Connections = {
  agent: Agent;
  settings: ConnectorSettings;
  /** Functions that abort the POSTs in progress. */
  inProgress: Set<() => void>;
};

const sendPost = (
  { agent, settings, inProgress }: Connections,
  ...[url, headers, body, admits]: Parameters<Outbound["post"]>
): Promise<PostOutcome> =>
  new Promise((resolve) => {
    const elapsedMs = stopwatch();
    let answered: PostOutcome = null;
    let settled = false;
    let bytesRead = 0;
    let answer: Answer | null = null;
    let connection: Dispatcher.DispatchController | null = null;

    function settle(outcome: PostOutcome): void {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      inProgress.delete(stop);
      resolve(outcome);
    }
    const outcomeOf = (statusCode: number | null, reason: FailureReason | null): PostOutcome => ({
      statusCode,
      reason,
      durationMs: Math.round(elapsedMs()),
      answer,
    });
    /**
     * Ends the POST early. A response whose status has arrived determines the outcome, even if its body is incomplete.
     */
    function cut(otherwise: PostOutcome): void {
      settle(answered ?? otherwise);
      connection?.abort(new Error("cut"));
    }
    const stop = () => cut(null);
    const timer = setTimeout(() => cut(outcomeOf(null, "timeout")), settings.timeoutMs);
    inProgress.add(stop);

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        connection = controller;
        if (settled) controller.abort(new Error("cut"));
      },
      onResponseStart(_controller, statusCode, answerHeaders) {
        if (statusCode < 200) return;
        answer = { headers: storedHeadersOf(answerHeaders), body: Buffer.alloc(0), isCut: false };
        answered = outcomeOf(statusCode, judge(statusCode));
        if (Number(answerHeaders["content-length"]) > maxAnswerBytes) cut(answered);
      },
      // Reads the body to its end, although only its first bytes are stored, so that the connection can be reused. A
      // body beyond the limit ends the connection instead.
      onResponseData(_controller, chunk) {
        if (answer && bytesRead < storedBytes)
          answer.body = Buffer.concat([answer.body, chunk.subarray(0, storedBytes - bytesRead)]);
        bytesRead += chunk.length;
        if (answer && bytesRead > storedBytes) answer.isCut = true;
        if (bytesRead > maxAnswerBytes) cut(answered);
      },
      onResponseEnd: () => settle(answered),
      onResponseError: (_controller, error) => settle(answered ?? outcomeOf(null, reasonOf(error))),
    };
    const { origin, hostname, pathname, search } = new URL(url);
    addressesOf(settings, hostname).then(
      (addresses) => {
        if (settled) return;
        if (!admits(addresses)) settle(outcomeOf(null, "host_limit"));
        else agent.dispatch({ origin, path: pathname + search, method: "POST", headers, body }, handler);
      },
      (error) => settle(outcomeOf(null, reasonOf(error))),
    );
  });

/**
 * Opens the outbound connections.
 * @param connector.timeoutMs the limit for a whole POST: name resolution, connection and response
 */
export function openOutbound({ clock, ...connector }: ConnectorSettings & { clock: Clock }): Outbound {
  const settings = { ...connector, resolveName: rememberingNames(connector.resolveName, clock) };
  const agent = new Agent({
    connect: createConnector(settings),
    allowH2: false,
    // Closes idle connections early. Otherwise the endpoint might close one just when a POST is sent on it. That POST
    // would be lost, because a POST is never repeated.
    keepAliveTimeout: 1_000,
    keepAliveMaxTimeout: 1_000,
    headersTimeout: settings.timeoutMs,
    bodyTimeout: settings.timeoutMs,
  });
  const inProgress = new Set<() => void>();
  return {
    post: (...request) => sendPost({ agent, settings, inProgress }, ...request),
    async close() {
      for (const stop of inProgress) stop();
      await agent.destroy();
    },
  };
}
