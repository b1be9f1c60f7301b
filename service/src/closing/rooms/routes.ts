import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, reusedKey, sendAnswer } from "../../kernel/http/idempotency-key.ts";
import { jsonRoute, optionalText, type RouteDeps, sendText } from "../../kernel/http/route.ts";
import { oneOf } from "../../kernel/http/schema-parts.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { once, onceRecorded, type RecordResult } from "../../kernel/platform/idempotency.ts";
import { fingerprintOf, requestKey } from "../../kernel/platform/idempotency-keys.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { type Payer, payers } from "../../orders/order/order.ts";
import type { CheckoutDeps } from "../../orders/payments/payments.ts";
import { attachOrder, detachOrder } from "./attachments/attachments.ts";
import { Attached, Attachment } from "./attachments/schemas.ts";
import type { RoomDeps } from "./begin-change.ts";
import { roomCharge, roomCheckout } from "./checkout.ts";
import { attachFields, newRoomFields } from "./fields.ts";
import { closeRoom, createRoom, reopenRoom } from "./lifecycle.ts";
import { roomPage } from "./list.ts";
import { roomOrderParams, roomParams } from "./params.ts";
import { participantRoutes } from "./participants/routes.ts";
import { rotateRoom } from "./rotate-code.ts";
import {
  CreatedRoom,
  NewRoom,
  RoomChanged,
  RoomCharge,
  RoomCheckout,
  RoomList,
  RoomStatus,
  RoomSummary,
  RotatedRoom,
} from "./schemas.ts";
import { openViewReader } from "./view/read-view.ts";
import { ActivityItem, OrderCard, RoomView } from "./view/schemas.ts";

export type RoomRouteDeps = CheckoutDeps & RouteDeps;

const common = { tag: "Rooms", caller: "key", policy: "partner-write" } as const;
const unknownRoom = { 404: "Room not found." };
const quotaReached = { 400: "Your trial tier allows 5 open rooms." };

/**
 * Closing rooms (contract, Endpoints, Closing rooms). The routes to close and reopen a room, and those for
 * participants, are additions to the contract.
 */
export function roomRoutes(app: FastifyInstance, deps: RoomRouteDeps, rowMac: RowMac): void {
  app.addSchema(RoomSummary);
  publicViewRoute(app, deps, rowMac);
  createAndListRoutes(app, deps);
  lifecycleRoutes(app, deps);
  attachmentRoutes(app, deps);
  checkoutRoute(app, deps);
  chargeRoute(app, deps, rowMac);
  participantRoutes(app, deps);
}

function createAndListRoutes(app: FastifyInstance, deps: RoomRouteDeps): void {
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "rooms",
    url: "/api/rooms",
    operationId: "createRoom",
    summary: "Create a room",
    description:
      "A room bundles the orders of one transaction under one link. How many rooms may be open at a time depends on your tier.",
    headers: idempotencyHeader,
    body: NewRoom,
    answer: CreatedRoom,
    refusals: { 400: "A room name (1-200 chars) is required.", ...reusedKey },
    async handle(request, reply) {
      const fields = newRoomFields(request.body);
      const fingerprint = fingerprintOf(new Map([["room", JSON.stringify(fields)]]), null);
      const key = requestKey(principalOf(request), "POST /api/rooms", idempotencyKeyOf(request), fingerprint);
      const work = (record: RecordResult) => createRoom(deps, principalOf(request), fields, record);
      return sendAnswer(reply, await onceRecorded(deps, key, { status: 200, work }));
    },
  });
  jsonRoute(app, deps, {
    ...common,
    method: "GET",
    scope: "read",
    url: "/api/rooms",
    operationId: "listRooms",
    summary: "List rooms",
    description: "Your rooms, newest first, a page at a time.",
    query: Type.Object({
      limit: optionalText("How many to answer: 1 to 1000, default 1000. Values outside are clamped.", "100"),
      cursor: optionalText("`nextCursor` of the previous page."),
    }),
    answer: RoomList,
    refusals: { 400: "limit must be a whole number from 1 to 1000." },
    handle: async (request) => ({
      ...(await roomPage(deps.db, principalOf(request), request.query)),
      requestId: request.id,
    }),
  });
}

function lifecycleRoutes(app: FastifyInstance, deps: RoomRouteDeps): void {
  const frame = { ...common, method: "POST", scope: "rooms", params: roomParams, bodyIs: "none" } as const;
  jsonRoute(app, deps, {
    ...frame,
    url: "/api/rooms/:roomCode/rotate",
    operationId: "rotateRoom",
    summary: "Replace a room's code",
    description: "The remedy for a leaked link: the room gets a new code, and the old one stops working at once.",
    answer: RotatedRoom,
    refusals: unknownRoom,
    handle: (request) => rotateRoom(deps, principalOf(request), request.params.roomCode),
  });
  jsonRoute(app, deps, {
    ...frame,
    url: "/api/rooms/:roomCode/close",
    operationId: "closeRoom",
    summary: "Close a room",
    description: "A closed room no longer counts against your quota, keeps its public view, and takes no new orders.",
    answer: RoomStatus,
    refusals: unknownRoom,
    handle: (request) => closeRoom(deps, principalOf(request), request.params.roomCode),
  });
  jsonRoute(app, deps, {
    ...frame,
    url: "/api/rooms/:roomCode/reopen",
    operationId: "reopenRoom",
    summary: "Reopen a room",
    description: "The room takes orders again, and counts against your quota again.",
    answer: RoomStatus,
    refusals: { ...quotaReached, ...unknownRoom },
    handle: (request) => reopenRoom(deps, principalOf(request), request.params.roomCode),
  });
}

/** The routes that add orders to a room and remove them. */
function attachmentRoutes(app: FastifyInstance, deps: RoomDeps & RouteDeps): void {
  const common = { tag: "Rooms", caller: "key", policy: "partner-write" } as const;
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "rooms",
    url: "/api/rooms/:roomCode/orders",
    operationId: "attachOrder",
    summary: "Attach an order",
    description:
      "Shows the order in the room. Having the order's code is the authorization. Attaching it again changes nothing.",
    params: roomParams,
    body: Attachment,
    answer: Attached,
    refusals: { 400: "A room holds at most 50 orders.", 404: "Order not found." },
    handle: (request) => attachOrder(deps, principalOf(request), request.params.roomCode, attachFields(request.body)),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "DELETE",
    scope: "rooms",
    url: "/api/rooms/:roomCode/orders/:orderCode",
    operationId: "detachOrder",
    summary: "Detach an order",
    description: "Takes the order out of the room. It may be attached again.",
    params: roomOrderParams,
    bodyIs: "none",
    answer: RoomChanged,
    refusals: { 404: "That order is not in this room." },
    handle: (request) => detachOrder(deps, principalOf(request), request.params.roomCode, request.params.orderCode),
  });
}

const payerBody = Type.Object({
  pay_by: Type.Optional(oneOf(payers, "The same as the query's `pay_by`, in the body.", ["client"])),
});

/**
 * The payer that the query or the body names. @throws ServiceError for another word, and when both name different ones
 */
function payerIn(query: { pay_by?: string | undefined }, body: unknown): Payer | undefined {
  const named = [query.pay_by, (body as { pay_by?: unknown } | undefined)?.pay_by].filter((each) => each !== undefined);
  const payBy = payers.find((each) => each === named[0]);
  if (named.length > 0 && payBy === undefined) throw invalid("pay_by must be client or firm.");
  if (named.some((each) => each !== payBy)) throw invalid("pay_by must be the same in the query and in the body.");
  return payBy;
}

/** The route for one payment of the whole room (an addition to the contract). */
function checkoutRoute(app: FastifyInstance, deps: RoomRouteDeps): void {
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

/** The route by which the firm pays for the room with its own card or bank account (an addition to the contract). */
function chargeRoute(app: FastifyInstance, deps: RoomRouteDeps, rowMac: RowMac): void {
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

// The cache has room for about a thousand views of full rooms.
const cacheBytes = 32 * 1024 * 1024;

/** `GET /api/rooms/{roomCode}`: public for any holder of the code. */
function publicViewRoute(app: FastifyInstance, deps: RouteDeps & { db: Sql }, rowMac: RowMac): void {
  for (const schema of [OrderCard, ActivityItem]) app.addSchema(schema);
  const readView = openViewReader({ db: deps.db, rowMac }, cacheBytes);
  jsonRoute(app, deps, {
    method: "GET",
    url: "/api/rooms/:roomCode",
    tag: "Rooms",
    operationId: "viewRoom",
    summary: "View a room",
    description:
      "Public: the room code is the credential. Shows the status of every attached order, what happened, and the latest closing passport. Poll it no more than once every few seconds; the room's own page does so every 15.",
    caller: "anybody",
    policy: "public-read",
    params: roomParams,
    answer: RoomView,
    otherAnswers: { 404: { type: "null", description: "No such room; the body is empty." } },
    async handle(request, reply) {
      const answer = await readView(request.params.roomCode);
      return answer ? sendText(reply, answer) : { sent: reply.code(404).send() };
    },
  });
}
