import { type TSchema, Type } from "typebox";
import { ref, text } from "../schema-parts.ts";

/** The contract's error body. */
export const ErrorBody = Type.Object(
  { error: text("What was refused and why. For people; programs read the problem's `code`.", "Order not found.") },
  { $id: "Error", description: "What was refused and why." },
);

const errorText: Readonly<Record<number, string>> = {
  400: "The request breaks a rule; the message names the field and the rule.",
  401: "No valid credential.",
  403: "The session is not linked to a partner, or the key does not have the scope.",
  404: "Unknown, or another partner's: both look the same.",
  409: "In conflict with the present state.",
  413: "The body is too large.",
  415: "The body has another media type than the route takes.",
  429: "Too many requests in this window; `Retry-After` says when to come back.",
  502: "The payment processor failed.",
  503: "Not available now.",
};

/** The error responses of a route for /openapi.json; `examples` are the contract's messages. */
export function errors(examples: Readonly<Record<number, string>>) {
  const entries = Object.entries(examples).map(([status, error]) => {
    const schema = { ...ref(ErrorBody), description: errorText[Number(status)] ?? "Error.", examples: [{ error }] };
    return [status, schema] as const;
  });
  return Object.fromEntries(entries) as Record<string, TSchema>;
}
