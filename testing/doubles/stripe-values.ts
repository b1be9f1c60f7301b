import { randomBytes } from "node:crypto";

/** Nested form values: `metadata[order_code]=..`, `line_items[0][quantity]=1`. */
export type Params = { [name: string]: string | Params };

export type Reply = { status: number; body: object };

export type StripeObject = Record<string, unknown>;

export const newId = (prefix: string): string => `${prefix}_test_${randomBytes(12).toString("hex")}`;

export const refusal = (status: number, message: string, type = "invalid_request_error"): Reply => ({
  status,
  body: { error: { type, message } },
});

/** The answer about an object that does not exist, or that belongs to another account. */
export const missing = (message: string, param: string): Reply => ({
  status: 404,
  body: { error: { type: "invalid_request_error", code: "resource_missing", param, message } },
});
