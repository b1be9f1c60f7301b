/** The routes by which the orders of a room are paid together (additions to the contract). */
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, sendAnswer } from "../../kernel/http/idempotency-key.ts";
import { jsonRoute, optionalText, type RouteDeps } from "../../kernel/http/route.ts";
import { oneOf } from "../../kernel/http/schema-parts.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { once, onceRecorded, type RecordResult } from "../../kernel/platform/idempotency.ts";
import { fingerprintOf, requestKey } from "../../kernel/platform/idempotency-keys.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { type Payer, payers } from "../../orders/order/order.ts";
import type { CheckoutDeps } from "../../orders/payments/payments.ts";
import { roomCharge, roomCheckout } from "./checkout.ts";
import { roomParams } from "./params.ts";
import { RoomCharge, RoomCheckout } from "./schemas.ts";

type MoneyDeps = CheckoutDeps & RouteDeps;

const common = { tag: "Rooms", caller: "key", policy: "partner-write" } as const;

export function moneyRoutes(app: FastifyInstance, deps: MoneyDeps, rowMac: RowMac): void {
  checkoutRoute(app, deps);
  chargeRoute(app, deps, rowMac);
}

const payerBody = Type.Object({
  pay_by: Type.Optional(oneOf(payers, "The same as the query's `pay_by`, in the body.", ["client"])),
});

/**
 * The payer that the query or the body names.
 * @throws ServiceError for another word, and when both name different ones
 */
export function payerIn(query: { pay_by?: string | undefined }, body: unknown): Payer | undefined {
  const named = [query.pay_by, (body as { pay_by?: unknown } | undefined)?.pay_by].filter((each) => each !== undefined);
  const payBy = payers.find((each) => each === named[0]);
  if (named.length > 0 && payBy === undefined) throw invalid("pay_by must be client or firm.");
  if (named.some((each) => each !== payBy)) throw invalid("pay_by must be the same in the query and in the body.");
  return payBy;
}

/** Adds the route that opens one checkout for all payable orders of one payer in the room. */
function checkoutRoute(app: FastifyInstance, deps: MoneyDeps): void {
  const url = "/api/rooms/:roomCode/checkout";
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "orders",
    url,
    operationId: "mintRoomCheckout",
    summary: "Create a checkout for a room",
    description:
      "Opens one hosted page that pays all payable orders of the room that your firm placed and that one payer pays: the client, or your firm (`pay_by`). Orders of other firms are never part of it. Each order still moves only by the processor's signed notice. An order has one checkout at a time: a checkout of a single order that is still open is ended first.",
    params: roomParams,
    query: Type.Object({
      pay_by: optionalText(
        "Whose orders it pays: `client` or `firm`. Default: the client's, or your firm's if no order of a client can be paid now. The answer's `payBy` says whose it is.",
        "client",
      ),
    }),
    body: payerBody,
    bodyIs: "optional",
    headers: idempotencyHeader,
    answer: RoomCheckout,
    refusals: {
      400: "pay_by must be client or firm.",
      404: "Room not found.",
      409: "No order of this room is payable.",
      502: "The payment processor failed to create the checkout session.",
      503: "Payments are not configured.",
    },
    handle: async (request, reply) => {
      const principal = principalOf(request);
      const { roomCode } = request.params;
      const payBy = payerIn(request.query, request.body);
      const named = new Map([["code", roomCode], ...(payBy === undefined ? [] : [["pay_by", payBy] as const])]);
      const key = requestKey(principal, `POST ${url}`, idempotencyKeyOf(request), fingerprintOf(named, null));
      const answer = await once(deps, key, {
        status: 200,
        refuseAbandoned: null,
        work: async () => ({ ...(await roomCheckout(deps, principal, roomCode, payBy)), requestId: request.id }),
      });
      return sendAnswer(reply, answer);
    },
  });
}

/** The route by which the firm pays for the room with its own card or bank account. */
function chargeRoute(app: FastifyInstance, deps: MoneyDeps, rowMac: RowMac): void {
  const url = "/api/rooms/:roomCode/charge";
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "spend",
    url,
    operationId: "chargeRoom",
    summary: "Charge a room to your firm",
    description:
      "Charges your firm's card or bank account on file once for every payable order of the room that your firm pays (`pay_by=firm`), all of them or none. An owner sets in the dashboard how much a key may spend for an order and in a month; the sum counts for the month. The orders move together, and only by the processor's signed notice; each order's answer has the charge's state.",
    params: roomParams,
    headers: idempotencyHeader,
    bodyIs: "none",
    status: 202,
    answer: RoomCharge,
    refusals: {
      400: "Idempotency-Key must have 8 to 255 characters.",
      404: "Room not found.",
      409: "Your firm has no card or bank account on file. An owner adds one under Billing.",
      503: "Payments are not configured.",
    },
    handle: async (request, reply) => {
      const principal = principalOf(request);
      const { roomCode } = request.params;
      const fingerprint = fingerprintOf(new Map([["code", roomCode]]), null);
      const key = requestKey(principal, `POST ${url}`, idempotencyKeyOf(request), fingerprint);
      const work = (record: RecordResult) =>
        roomCharge({ ...deps, rowMac }, principal, roomCode, {
          record,
          resultOf: (charged) => ({ ...charged, requestId: request.id }),
        });
      return sendAnswer(reply, await onceRecorded(deps, key, { status: 202, work }));
    },
  });
}
