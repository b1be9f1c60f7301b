import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { unknownFields } from "../platform/nearest-name.ts";
import { principalOf } from "./authentication.ts";

export const warnings = Type.Optional(
  Type.Array(Type.String(), {
    description: "With a test key alone, and only when there is something to warn of: fields that are unknown, say.",
    examples: [['scv_sign is not a field of this request and was ignored: did you mean "svc_sign"?']],
  }),
);

/**
 * The `warnings` member of a response. It is added only in the test environment, and only when there are warnings. So
 * responses to live keys never change.
 */
export function warningsFor(request: FastifyRequest, find: () => string[]): { warnings?: string[] } {
  const found = principalOf(request).environment === "test" ? find() : [];
  return found.length > 0 ? { warnings: found } : {};
}

/** A warning for each member that a JSON body has and its schema lacks; at most `maxWarnings`. */
export const unknownMembers = (body: unknown, { properties = {} }: { properties?: object }): string[] =>
  typeof body === "object" && body !== null ? unknownFields(Object.keys(body), Object.keys(properties)) : [];
