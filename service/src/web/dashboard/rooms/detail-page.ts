import type { FastifyInstance, FastifyRequest } from "fastify";
import { closingVersions } from "../../../closing-passports/closing-passports.ts";
import { principalOf } from "../../../http/authentication.ts";
import { orderPage } from "../../../orders/orders.ts";
import { ownRoom } from "../../../rooms/rooms.ts";
import { pageRoute } from "../../ui/page-route.ts";
import { roomRetention } from "../../ui/retention.ts";
import { dashboardPage } from "../page-shell.ts";
import { type RoomsDeps, roomChanges } from "./changes.ts";
import { roomBody } from "./detail.ts";
import type { RoomProblem } from "./view.ts";

const latestOrders = "25";

/** A room of the firm, with everything that its owner may do to it. */
export function roomDetail(forms: FastifyInstance, deps: RoomsDeps): void {
  pageRoute(forms, deps, {
    url: "/dashboard/rooms/:code",
    handle: ({ params, request }) => show(request, params.code),
  });
  roomChanges(forms, deps, show);

  async function show(request: FastifyRequest, code: string, problem?: RoomProblem): Promise<string> {
    const principal = principalOf(request);
    const room = await ownRoom(deps, principal, code);
    const [passport, { orders }] = await Promise.all([
      closingVersions(deps.db, principal, code),
      orderPage(deps.db, principal, { limit: latestOrders }),
    ]);
    const { environment } = principal;
    const retention = roomRetention(deps.retention, environment);
    const body = roomBody({ room, environment, passport, orders, baseUrl: deps.baseUrl, retention, problem });
    return dashboardPage(deps, request, { title: room.name, section: "rooms", body, scripts: ["copy.js"] });
  }
}
