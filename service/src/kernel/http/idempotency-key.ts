import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { invalid } from "../platform/errors.ts";
import type { Answer } from "../platform/idempotency.ts";
import { json, type Sent } from "./route.ts";

/** The schema of the `Idempotency-Key` header in /openapi.json, for routes whose requests may be retried. */
export const idempotencyHeader = Type.Object({
  "idempotency-key": Type.Optional(
    Type.String({
      minLength: 8,
      maxLength: 255,
      description:
        "Any text of 8 to 255 characters that names this write. Send the same request with the same key again, and the first answer is repeated instead of the write. Kept for 24 hours.",
      examples: ["FILE-2207-deed"],
    }),
  ),
});

/** The refusal of a key that was already used for another request, for /openapi.json. */
export const reusedKey = { 409: "This Idempotency-Key was used before with another body." } as const;

/**
 * The `Idempotency-Key` header (contract, Order create request); null when it was not sent.
 * @throws ServiceError unless it has 8 to 255 characters
 */
export function idempotencyKeyOf({ headers }: Pick<FastifyRequest, "headers">): string | null {
  const key = headers["idempotency-key"];
  if (key === undefined) return null;
  if (typeof key !== "string" || key.length < 8 || key.length > 255)
    throw invalid("Idempotency-Key must have 8 to 255 characters.");
  return key;
}

/** Sends a result as JSON. A repeated request gets the same bytes as the first one. */
export function sendAnswer(reply: FastifyReply, { status, result, replayed }: Answer<object>): Sent {
  if (replayed) reply.header("Idempotent-Replayed", "true");
  return { sent: reply.code(status).type(json).send(JSON.stringify(result)) };
}
