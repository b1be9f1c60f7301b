import type { FastifyInstance, FastifyRequest } from "fastify";
import { createRoom, newRoomFields, roomPage } from "../../../closing/rooms/rooms.ts";
import { countOpenRooms } from "../../../firms/partners/partners.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { done } from "../../ui/flash-messages.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { dashboardPage } from "../page-shell.ts";
import { requireSameEnvironment, submissionFor, submitOnce } from "../submit-once.ts";
import type { RoomsDeps } from "./changes.ts";
import { roomDetail } from "./detail-page.ts";
import { type RoomsProblem, roomsBody } from "./list.ts";

const path = "/dashboard/rooms";
const pageSize = "20";

/** The list of the firm's rooms, the form for a new one, and each room's own page. */
export function roomsPages(forms: FastifyInstance, deps: RoomsDeps): void {
  pageRoute(forms, deps.frame, { url: path, handle: ({ request, query }) => show(request, query["cursor"]) });

  pageRoute(forms, deps.frame, {
    method: "POST",
    url: path,
    policy: "partner-write",
    handle: async ({ form, request }) => {
      requireSameEnvironment(request, form["environment"]);
      const { name: roomCode } = await submitOnce(deps.closings, request, {
        fields: new Map(Object.entries(form)),
        make: () => createRoom(deps.closings, principalOf(request), newRoomFields(form)),
        nameOf: (room) => room.roomCode,
      });
      return done(`${path}/${roomCode}`, "room-created");
    },
    refused: ({ form, query, request }, error) => show(request, query["cursor"], { error, typed: form }),
  });

  roomDetail(forms, deps);

  async function show(request: FastifyRequest, cursor = "", problem?: RoomsProblem): Promise<string> {
    const principal = principalOf(request);
    const [page, openRooms] = await Promise.all([
      roomPage(deps.closings.db, principal, { limit: pageSize, cursor }),
      countOpenRooms(deps.closings.db, principal),
    ]);
    const body = roomsBody({
      ...page,
      ...submissionFor(request, problem?.typed),
      isFirstPage: cursor === "",
      openRooms,
      tier: principal.tier,
      problem,
    });
    return dashboardPage(deps.frame, request, { title: "Rooms", section: "rooms", body });
  }
}
