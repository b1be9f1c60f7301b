import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { callerHooks } from "./access.ts";
import { HttpError } from "./errors/http-error.ts";
import type { Policy } from "./rate-limits.ts";
import type { RouteDeps } from "./route.ts";
import { ref } from "./schema-parts.ts";

const UnknownVerdict = Type.Object(
  {
    verdict: Type.String({ enum: ["unknown"], description: "Always `unknown`." }),
    deleted: Type.Optional(Type.String({ description: "Of a file that the retention plan deleted: when and why." })),
  },
  { $id: "UnknownVerdict", description: "No such code, or nothing to be had under it: all look the same." },
);

/** Creates the refusal of a public verification whose code is unknown (contract, Verification). */
export const unknownVerdict = () => new HttpError("verdict_unknown", "No such passport.");

/**
 * The verdict for a deleted document. Only a holder of the document's verify code gets it.
 * @param message the date and reason of the deletion
 */
export const deletedVerdict = (message: string) => new HttpError("verdict_deleted", message);

/** Tells caches not to store a response. A verification's URL is a credential. */
export const uncached = { "Cache-Control": "no-store" };

/**
 * For /openapi.json: a public verification's response to an unknown code. The body of this response is not `{error}`.
 */
export function unknownAnswer(app: FastifyInstance) {
  if (!app.getSchema("UnknownVerdict")) app.addSchema(UnknownVerdict);
  return { 404: ref(UnknownVerdict) };
}

/**
 * Adds a route for URLs with an impossible code: one that is too long or contains slashes. It responds as for an
 * unknown code.
 * @param url the route's URL pattern; ends with `/*`
 */
export function unknownBelow(app: FastifyInstance, deps: RouteDeps, url: string, policy: Policy): void {
  app.get(url, { onRequest: callerHooks(deps, "anybody", policy), schema: { hide: true } }, async () => {
    throw unknownVerdict();
  });
}
