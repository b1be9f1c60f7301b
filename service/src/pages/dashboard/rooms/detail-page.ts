import type { FastifyInstance, FastifyRequest } from "fastify";
import { closingVersions } from "../../../closing/closing-passports/closing-passports.ts";
import { deliveriesOf } from "../../../closing/deliveries/deliveries.ts";
import { ownRoom, payableOfRoom } from "../../../closing/rooms/rooms.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { takesPayment } from "../../../orders/payments/payments.ts";
import { type FirmOrdersQuery, firmOrders } from "../../../orders/search/search.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { roomRetention } from "../../ui/retention.ts";
import { dashboardPage } from "../page-shell.ts";
import { submissionFor } from "../submit-once.ts";
import { type RoomsDeps, roomChanges } from "./changes.ts";
import { roomBody } from "./detail.ts";
import type { RoomProblem } from "./view.ts";

const latestMost = 25;
const latest: FirmOrdersQuery = {
  ...{ text: null, statuses: null, from: null, until: null, place: null },
  sort: "newest",
  side: "after",
};

function noneIfAltered(error: unknown): null {
  if (error instanceof ServiceError && error.code === "unavailable") return null;
  throw error;
}

/** A room of the firm, with everything that its owner may do to it. */
export function roomDetail(forms: FastifyInstance, deps: RoomsDeps): void {
  pageRoute(forms, deps.frame, {
    url: "/dashboard/rooms/:code",
    handle: ({ params, request }) => show(request, params.code),
  });
  roomChanges(forms, deps, show);

  async function show(request: FastifyRequest, code: string, problem?: RoomProblem): Promise<string> {
    const principal = principalOf(request);
    const { db, titleOf } = deps.deliveries;
    const room = await ownRoom(deps.closings, principal, code);
    const isPaidHere = takesPayment(deps.checkout.processor, principal.environment);
    const [passport, { orders }, payable, deliveries] = await Promise.all([
      closingVersions(db, principal, code),
      firmOrders(db, principal, latest, latestMost),
      isPaidHere ? payableOfRoom(db, principal, code) : { orders: [], withheld: 0 },
      deliveriesOf(deps.deliveries, principal, code).catch(noneIfAltered),
    ]);
    const { environment, submission } = submissionFor(request, problem?.typed);
    const retention = roomRetention(deps.frame.retention, environment);
    const { baseUrl } = deps.frame;
    const parts = { passport, orders, payable, deliveries, titleOf, baseUrl, retention };
    const body = roomBody({ room, environment, submission, ...parts, problem });
    return dashboardPage(deps.frame, request, { title: room.name, section: "rooms", body, scripts: ["copy.js"] });
  }
}
