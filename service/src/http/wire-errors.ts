import { STATUS_CODES } from "node:http";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { type ErrorCode, ServiceError } from "../platform/errors.ts";
import { wantsProblem } from "./accept.ts";

/** The status of each refusal (contract, Errors). The title of its problem type is the status's reason phrase. */
export const wireStatus: Readonly<Record<ErrorCode, number>> = {
  validation: 400,
  unauthenticated: 401,
  sign_in_required: 401,
  not_linked: 403,
  cross_site: 403,
  owner_required: 403,
  not_found: 404,
  verdict_unknown: 404,
  method_not_allowed: 405,
  conflict: 409,
  not_payable: 409,
  idempotency_key_reused: 409,
  idempotency_in_flight: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  processor_failed: 502,
  payments_not_configured: 503,
  unavailable: 503,
};

type Refusal = { status: number; code: ErrorCode | "internal"; message: string };

const internal: Refusal = { status: 500, code: "internal", message: "Something went wrong on our side." };

/** Errors of Fastify itself (body parser, schema validation, URL decoding), in our words. */
function ofFramework(error: FastifyError, request: FastifyRequest): Refusal {
  const refusal = (code: ErrorCode, message: string): Refusal => ({ status: wireStatus[code], code, message });
  if (error.validation) return refusal("validation", request.routeOptions.config.invalid ?? validationMessage(error));
  switch (error.code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return refusal("unsupported_media_type", "Send the body as application/json.");
    case "FST_ERR_CTP_EMPTY_JSON_BODY":
    case "FST_ERR_CTP_INVALID_JSON_BODY":
      return refusal("validation", "The body is not valid JSON.");
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return refusal("payload_too_large", "The body is too large.");
    default: {
      const status = error.statusCode ?? 500;
      if (status < 400 || status >= 500) return internal;
      return { status, code: "validation", message: "The request is malformed." };
    }
  }
}

/** `name must NOT have fewer than 1 characters` -> names the field and the rule. */
function validationMessage(error: FastifyError): string {
  const [first] = error.validation ?? [];
  const field = first?.instancePath.slice(1).replaceAll("/", ".") || error.validationContext || "body";
  const more = first?.params as { additionalProperty?: unknown } | undefined;
  const what = typeof more?.additionalProperty === "string" ? ` ('${more.additionalProperty}')` : "";
  return `${field} ${first?.message ?? "is not valid"}${what}.`;
}

function refusalOf(error: FastifyError | ServiceError, request: FastifyRequest): Refusal {
  if (error instanceof ServiceError)
    return { status: wireStatus[error.code], code: error.code, message: error.message };
  return ofFramework(error, request);
}

/** Sends a refusal: the contract's `{error}`, or RFC 9457 for a caller that asks for it. */
function sendRefusal(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): FastifyReply {
  const { status, code, message } = refusal;
  reply.code(status).serializer(JSON.stringify);
  if (status === 401) reply.header("WWW-Authenticate", "Bearer");
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
  const body = code === "verdict_unknown" ? { verdict: "unknown" } : { error: message };
  return reply.type("application/json; charset=utf-8").send(body);
}

/** The one place where an error becomes an answer. What it does not know is an opaque 500 and a full log line. */
export function wireError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalOf(error, request);
  if (refusal.status >= 500) request.log.error({ requestId: request.id, err: error }, "request failed");
  return sendRefusal(request, reply, refusal);
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** The message of the contract for a body or query that the schema refuses. */
    invalid?: string;
  }
}
