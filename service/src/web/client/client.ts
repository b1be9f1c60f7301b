import type { FastifyInstance } from "fastify";
import { logoRoute } from "./logo-route.ts";
import { type OrderPageDeps, orderRoutes } from "./order-routes.ts";
import { type PaymentPageDeps, paymentRoutes } from "./payment-routes.ts";
import { type RoomPageDeps, roomRoutes } from "./room-routes.ts";

export type ClientDeps = OrderPageDeps & PaymentPageDeps & RoomPageDeps;

/** What clients of a firm see: an order, the way to its payment, a room. A code in the address is all they need. */
export function clientPages(app: FastifyInstance, deps: ClientDeps): void {
  logoRoute(app, deps);
  orderRoutes(app, deps);
  paymentRoutes(app, deps);
  roomRoutes(app, deps);
}
