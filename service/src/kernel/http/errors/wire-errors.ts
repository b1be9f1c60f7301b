import { STATUS_CODES } from "node:http";
import type { FastifyBaseLogger, FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { minuteMs } from "../../platform/clock.ts";
import { BusyError, type ErrorCode, NotYetError } from "../../platform/errors.ts";
import { timeLimit } from "../../platform/stopwatch.ts";
import { wantsProblem } from "../accept.ts";
import { type HttpErrorCode, isRefusal, type Refusal } from "./http-error.ts";

/** All error codes in responses. */
export type WireCode = ErrorCode | HttpErrorCode | "internal";

/** The HTTP status of each refusal (contract, Errors). In problem details, the title is this status's reason phrase. */
export const wireStatus: Readonly<Record<WireCode, number>> = {
  validation: 400,
  unauthenticated: 401,
  key_revoked: 401,
  sign_in_required: 401,
  not_linked: 403,
  cross_site: 403,
  owner_required: 403,
  scope_required: 403,
  role_required: 403,
  confirmation_required: 403,
  passkey_required: 403,
  not_found: 404,
  verdict_unknown: 404,
  verdict_deleted: 404,
  method_not_allowed: 405,
  conflict: 409,
  not_payable: 409,
  idempotency_key_reused: 409,
  idempotency_in_flight: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  processor_failed: 502,
  payments_not_configured: 503,
  unavailable: 503,
};

type WireError = { status: number; code: WireCode; message: string };

const wire = (code: WireCode, message: string): WireError => ({ status: wireStatus[code], code, message });

/** The service's messages for Fastify's own refusals. */
const frameworkErrors: ReadonlyMap<string, WireError> = new Map([
  ["FST_ERR_CTP_INVALID_MEDIA_TYPE", wire("unsupported_media_type", "Send the body as application/json.")],
  ["FST_ERR_CTP_EMPTY_JSON_BODY", wire("validation", "The body is not valid JSON.")],
  ["FST_ERR_CTP_INVALID_JSON_BODY", wire("validation", "The body is not valid JSON.")],
  ["FST_ERR_CTP_BODY_TOO_LARGE", wire("payload_too_large", "The body is too large.")],
]);

/** The `Retry-After` of an `unavailable` response, in seconds. Most outages end within this time. */
const retryAfterSeconds = 2;

const internal = wire("internal", "Something went wrong on our side.");

function wireErrorOf(error: FastifyError | Refusal): WireError {
  if (isRefusal(error)) return wire(error.code, error.message);
  const rule = frameworkErrors.get(error.code);
  if (rule) return rule;
  const { statusCode: status = 500 } = error;
  const isRefused = status >= 400 && status < 500;
  return isRefused ? { status, code: "validation", message: "The request is malformed." } : internal;
}

/** Sends a refusal: the contract's `{error}`, or RFC 9457 for a caller that asks for it. */
function sendWireError(request: FastifyRequest, reply: FastifyReply, { status, code, message }: WireError) {
  reply.code(status).serializer(JSON.stringify);
  if (status === 401) reply.header("WWW-Authenticate", "Bearer");
  if (code === "unavailable") reply.header("Retry-After", String(retryAfterSeconds));
  if (wantsProblem(request.headers.accept)) {
    const problem = {
      type: `urn:signsealship:problem:${code}`,
      title: STATUS_CODES[status] ?? "Error",
      status,
      detail: message,
      code,
      requestId: request.id,
    };
    return reply.type("application/problem+json").send(problem);
  }
  return reply.type("application/json; charset=utf-8").send(bodyOf(code, message));
}

/**
 * The body of a refusal: `{error}`. A public verification responds with `{verdict}` instead (contract, Errors). If the
 * document was deleted, the body with the verdict also contains the message about the deletion.
 */
function bodyOf(code: WireCode, message: string): object {
  if (code === "verdict_unknown") return { verdict: "unknown" };
  return code === "verdict_deleted" ? { verdict: "unknown", deleted: message } : { error: message };
}

const busyWarningMs = minuteMs;
const busy = new WeakMap<FastifyBaseLogger, { isDueAgain: () => boolean; refused: number }>();

/**
 * At most once a minute, logs how many requests were refused because of load. A line for each of them would cost more
 * than the refusal itself.
 */
function warnOfBusy(log: FastifyBaseLogger, { message }: BusyError): void {
  const { isDueAgain, refused } = busy.get(log) ?? { isDueAgain: () => true, refused: 0 };
  const isDue = isDueAgain();
  if (isDue) log.warn({ refused: refused + 1, reason: message }, "requests were refused: too much is under way");
  busy.set(log, isDue ? { isDueAgain: timeLimit(busyWarningMs), refused: 0 } : { isDueAgain, refused: refused + 1 });
}

const withoutPayments = new WeakSet<FastifyBaseLogger>();

/**
 * Logs the first request to pay that was refused because the installation has no payment processor. The operator chose
 * that, so it is not an error. Anybody with an order's link can send such requests, so later ones are not logged.
 */
function noteWithoutPayments(log: FastifyBaseLogger): void {
  if (withoutPayments.has(log)) return;
  withoutPayments.add(log);
  log.info("a request to pay was refused: this installation has no payment processor for it");
}

/**
 * Sends the response for an error that a route or hook threw. An unknown error becomes an opaque 500. An error with a
 * status of 500 or above gets a full log line. Exceptions are `BusyError`, `NotYetError` and a missing payment
 * processor.
 */
export function wireError(error: FastifyError | Refusal, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const answer = wireErrorOf(error);
  if (error instanceof BusyError) warnOfBusy(request.log, error);
  else if (answer.code === "payments_not_configured") noteWithoutPayments(request.log);
  else if (answer.status >= 500 && !(error instanceof NotYetError))
    request.log.error({ requestId: request.id, err: error }, "request failed");
  return sendWireError(request, reply, answer);
}
