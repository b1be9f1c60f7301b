import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { idempotencyHeader, idempotencyKeyOf, reusedKey, sendAnswer } from "../../kernel/http/idempotency-key.ts";
import { jsonRoute, optionalText, type RouteDeps, sendText } from "../../kernel/http/route.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { onceRecorded, type RecordResult } from "../../kernel/platform/idempotency.ts";
import { fingerprintOf, requestKey } from "../../kernel/platform/idempotency-keys.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import type { CorrectDeps } from "../../orders/corrections/corrections.ts";
import type { SandboxDeps } from "../../orders/fulfilment/fulfilment.ts";
import type { CheckoutDeps } from "../../orders/payments/payments.ts";
import { attachOrder, detachOrder } from "./attachments/attachments.ts";
import { Attached, Attachment } from "./attachments/schemas.ts";
import type { RoomDeps } from "./begin-change.ts";
import { correctInRoom } from "./correct-address.ts";
import { addressFields, attachFields, closesOnField, newRoomFields, sealWhenDoneField } from "./fields.ts";
import { closeRoom, createRoom, reopenRoom, setClosesOn } from "./lifecycle.ts";
import { roomPage } from "./list.ts";
import { moneyRoutes } from "./money-routes.ts";
import { roomOrderParams, roomParams } from "./params.ts";
import { participantRoutes } from "./participants/routes.ts";
import { rotateRoom } from "./rotate-code.ts";
import { roomSandboxRoute } from "./sandbox-routes.ts";
import {
  CreatedRoom,
  NewRoom,
  NewRoomCorrection,
  NewRoomDay,
  NewRoomSeal,
  RoomChanged,
  RoomCorrection,
  RoomDay,
  RoomList,
  RoomSeal,
  RoomStatus,
  RoomSummary,
  RotatedRoom,
} from "./schemas.ts";
import { switchSeal } from "./seal-wish.ts";
import { openViewReader } from "./view/read-view.ts";
import { ActivityItem, OrderCard, RoomView } from "./view/schemas.ts";

export type RoomRouteDeps = CheckoutDeps & RouteDeps;
type Sandbox = { sandbox: SandboxDeps; baseUrl: string };

const common = { tag: "Rooms", caller: "key", policy: "partner-write" } as const;
const unknownRoom = { 404: "Room not found." };
const quotaReached = { 400: "Your trial tier allows 5 open rooms." };

/**
 * Closing rooms (contract, Endpoints, Closing rooms). Several routes are additions to the contract, for example those
 * to close and reopen a room, and those for participants.
 */
export function roomRoutes(
  app: FastifyInstance,
  deps: RoomRouteDeps & Sandbox,
  rowMac: RowMac,
  corrections: CorrectDeps,
): void {
  app.addSchema(RoomSummary);
  publicViewRoute(app, deps, rowMac);
  createAndListRoutes(app, deps);
  lifecycleRoutes(app, deps);
  attachmentRoutes(app, deps);
  moneyRoutes(app, deps, rowMac);
  roomSandboxRoute(app, deps);
  participantRoutes(app, deps);
  correctionRoute(app, deps, corrections);
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
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "rooms",
    url: "/api/rooms/:roomCode/closes-on",
    operationId: "setClosesOn",
    summary: "Set a room's closing day",
    description:
      "Sets the day on which the room's closing is due, or removes it. Your lists of closings are sorted by it; nobody outside your firm sees it, and nothing happens by it. Doing it again changes nothing.",
    params: roomParams,
    body: NewRoomDay,
    answer: RoomDay,
    refusals: { 400: "A valid closing day (YYYY-MM-DD) is required.", ...unknownRoom },
    handle: (request) => setClosesOn(deps, principalOf(request), request.params.roomCode, closesOnField(request.body)),
  });
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "seal",
    url: "/api/rooms/:roomCode/seal-when-done",
    operationId: "setSealWhenDone",
    summary: "Seal a room by itself",
    description:
      "Lets the service seal the room's closing certificate once every order has ended, or stops that. An order that is attached later is sealed in a further version. Doing it again changes nothing.",
    params: roomParams,
    body: NewRoomSeal,
    answer: RoomSeal,
    refusals: { 400: "sealWhenDone must be true or false.", ...unknownRoom },
    handle: (request) =>
      switchSeal(deps, principalOf(request), request.params.roomCode, sealWhenDoneField(request.body)),
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

/** The route that corrects an email address in a whole room (an addition to the contract). */
function correctionRoute(app: FastifyInstance, deps: RouteDeps, corrections: CorrectDeps): void {
  jsonRoute(app, deps, {
    ...common,
    method: "POST",
    scope: "orders",
    url: "/api/rooms/:roomCode/corrections",
    operationId: "correctRoomAddress",
    summary: "Correct an address in a room",
    description:
      "Replaces a person's email address in all of your firm's orders in the room, of its participants, and of people who are sent its documents. Links that were emailed to the earlier address stop working at once, and new ones are emailed, as in a correction of one order. Signatures that were made under the earlier address keep it, and so do people whom a notary identifies now. The room's own link stays the same.",
    params: roomParams,
    body: NewRoomCorrection,
    answer: RoomCorrection,
    refusals: {
      400: "to must be an email address of at most 320 characters.",
      404: "Room not found.",
      409: "No document of this closing has that address where it can still be changed.",
    },
    async handle(request) {
      const { roomCode: code } = request.params;
      const { corrected, altered, isUnmailed } = await correctInRoom(
        corrections,
        principalOf(request),
        code,
        addressFields(request.body),
      );
      const orders = { corrected: [...corrected], notCorrected: [...altered] };
      return { roomCode: code, ...orders, linksNotMailed: isUnmailed, requestId: request.id };
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
