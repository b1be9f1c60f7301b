import type { Principal } from "../identity/identity.ts";
import { fingerprintOf, once, requestKey, type StoredResponse } from "../platform/idempotency.ts";
import { type CreateDeps, createOrder, type SentOrder } from "./create.ts";
import type { NewOrder } from "./insert.ts";

export type OrderDeps = CreateDeps & {
  /** The checkout of a committed order; resolves to null when minting failed, and never rejects. Null: payments are not configured. */
  checkoutUrlOf: ((orderCode: string) => Promise<string | null>) | null;
};

export type PlaceRequest = {
  principal: Principal;
  sent: SentOrder;
  /** The route that received it, and its Idempotency-Key. */
  route: string;
  idempotencyKey: string | null;
};

/** How a caller of `placeOrder` writes its response: the API as JSON, a page as the address it shows next. */
export type Wording = {
  status: number;
  /** The body for an order, without its checkout. */
  bodyOf: (order: NewOrder) => string;
  /** The body with the checkout that `mint` gives for the order's code; null when minting failed. */
  withCheckout: (body: string, mint: (orderCode: string) => Promise<string | null>) => Promise<string>;
};

/**
 * Places an order once for its Idempotency-Key. The order is kept even when the processor fails: a checkout can be
 * requested again. A response that lacks its checkout is not final; after a crash the next request with the key completes it.
 * @throws ServiceError naming the field and the rule; then nothing was written
 */
export function placeOrder(
  deps: OrderDeps,
  { principal, sent, route, idempotencyKey }: PlaceRequest,
  { status, bodyOf, withCheckout }: Wording,
): Promise<StoredResponse & { replayed: boolean }> {
  const { checkoutUrlOf } = deps;
  const fingerprint = fingerprintOf(withoutCodes(deps, sent.fields), sent.upload?.sha256 ?? null);
  const progressOf = (order: NewOrder) => ({
    body: bodyOf(order),
    final: !(order.form.createCheckout && order.status === "QuoteReady" && checkoutUrlOf !== null),
  });
  return once(deps, requestKey(principal, route, idempotencyKey, fingerprint), {
    status,
    begin: async (claim) => {
      const order = await createOrder(deps, principal, sent, claim && ((order) => claim(progressOf(order))));
      return order && progressOf(order);
    },
    finish: (body) => withCheckout(body, async (code) => (await checkoutUrlOf?.(code)) ?? null),
  });
}

/** Signers may have access codes, which a plain hash of the form would let anybody who reads it find by trying. */
function withoutCodes({ rowMac }: OrderDeps, fields: SentOrder["fields"]): SentOrder["fields"] {
  const signers = fields.get("signers");
  if (signers === undefined) return fields;
  return new Map([...fields, ["signers", rowMac.of("fingerprint", { signers }).toString("hex")]]);
}
