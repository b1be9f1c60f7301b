import type { FastifyInstance } from "fastify";
import { principalOf } from "../../http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../http/route.ts";
import type { RoomDeps } from "../change.ts";
import { attachFields } from "../fields.ts";
import { roomOrderParams, roomParams } from "../params.ts";
import { RoomChanged } from "../schemas.ts";
import { attachOrder, detachOrder } from "./attachments.ts";
import { Attached, Attachment } from "./schemas.ts";

/** Orders come into a room and leave it. */
export function attachmentRoutes(app: FastifyInstance, deps: RoomDeps & RouteDeps): void {
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
