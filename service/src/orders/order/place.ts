import type { Principal } from "../../kernel/identity/identity.ts";
import { type Answer, onceInSteps } from "../../kernel/platform/idempotency.ts";
import { fingerprintOf, requestKey } from "../../kernel/platform/idempotency-keys.ts";
import type { OrderDeps } from "./deps.ts";
import { createOrder } from "./draft.ts";
import type { NewOrder } from "./insert.ts";
import type { SentOrder } from "./sent-order.ts";

export type PlaceRequest = {
  principal: Principal;
  sent: SentOrder;
  /** The route that received the request. `idempotencyKey` is the key that the request had; null without one. */
  route: string;
  idempotencyKey: string | null;
};

/**
 * The result that every kind of caller gets. `checkoutUrl` is null without a checkout, and when creating the checkout
 * failed.
 */
export type PlacementResult = { orderCode: string; checkoutUrl: string | null };

/**
 * The answer for one kind of caller: the HTTP status, and a function that makes the result of a placed order. That
 * result has no checkout yet.
 */
export type Answering<Result extends PlacementResult> = {
  status: number;
  resultOf: (order: NewOrder) => Result;
  /** Reads a result that an earlier release stored as text. */
  readText?: (text: string) => Result;
};

/**
 * Places an order once for each Idempotency-Key. The order is stored even if the processor fails, because the caller
 * can request a checkout later. A stored result that lacks a requested checkout is not final: the next request with the
 * same key adds it.
 * @throws ServiceError naming the field and the rule; nothing was written then
 */
export function placeOrder<Result extends PlacementResult>(
  deps: OrderDeps,
  { principal, sent, route, idempotencyKey }: PlaceRequest,
  { resultOf, ...answering }: Answering<Result>,
): Promise<Answer<Result>> {
  const { checkoutUrlOf } = deps.offer;
  const fingerprint = fingerprintOf(withoutCodes(deps, sent.fields), sent.upload?.sha256 ?? null);
  const progressOf = (order: NewOrder) => ({
    result: resultOf(order),
    final: !(order.form.createCheckout && order.status === "QuoteReady" && checkoutUrlOf !== null),
  });
  return onceInSteps(deps, requestKey(principal, route, idempotencyKey, fingerprint), {
    ...answering,
    begin: async (claim) => {
      const order = await createOrder(deps, principal, sent, claim && ((order) => claim(progressOf(order))));
      return order && progressOf(order);
    },
    finish: async (order) => ({ ...order, checkoutUrl: (await checkoutUrlOf?.(order.orderCode)) ?? null }),
  });
}

/**
 * Replaces the fields that contain access codes by keyed hashes before the form is hashed. With a plain hash, anyone
 * could find a short code by trying all codes.
 */
function withoutCodes({ rowMac }: OrderDeps, fields: SentOrder["fields"]): SentOrder["fields"] {
  const hidden = (["signers", "roles"] as const).flatMap((name): [string, string][] => {
    const text = fields.get(name);
    return text === undefined ? [] : [[name, rowMac.of("fingerprint", { [name]: text }).toString("hex")]];
  });
  return hidden.length === 0 ? fields : new Map([...fields, ...hidden]);
}
