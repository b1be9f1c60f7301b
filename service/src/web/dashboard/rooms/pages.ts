import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { principalOf } from "../../../http/authentication.ts";
import { countOpenRooms } from "../../../partners/partners.ts";
import { createRoom, newRoomFields, roomPage } from "../../../rooms/rooms.ts";
import { formBody } from "../../ui/forms/fields.ts";
import { attempt, done, sendPage } from "../page-shell.ts";
import { creating, requireSameEnvironment, submitOnce } from "../submit-once.ts";
import { type RoomsDeps, roomDetail } from "./detail.ts";
import { type RoomsProblem, roomsBody } from "./list-body.ts";

const path = "/dashboard/rooms";
const pageSize = "20";

/** The firm's rooms, one after another and each by itself. */
export function roomsPages(forms: FastifyInstance, deps: RoomsDeps): void {
  async function show(request: FastifyRequest, reply: FastifyReply, problem?: RoomsProblem): Promise<FastifyReply> {
    const principal = principalOf(request);
    const { cursor } = request.query as { cursor?: unknown };
    const after = typeof cursor === "string" ? cursor : "";
    const [page, openRooms] = await Promise.all([
      roomPage(deps.db, principal, { limit: pageSize, cursor: after }),
      countOpenRooms(deps.db, principal),
    ]);
    const body = roomsBody({
      ...page,
      ...creating(request, problem?.typed),
      isFirstPage: after === "",
      openRooms,
      tier: principal.tier,
      problem,
    });
    return sendPage(deps, request, reply, { title: "Rooms", section: "rooms", body });
  }

  forms.get(path, { schema: { hide: true } }, (request, reply) => show(request, reply));

  const onRequest = deps.limits.limit("partner-write");
  forms.post(path, { onRequest, schema: { hide: true } }, (request, reply) => {
    const typed = formBody(request.body);
    return attempt(
      reply,
      async () => {
        requireSameEnvironment(request, typed["environment"]);
        const { name: roomCode } = await submitOnce(deps, request, {
          fields: new Map(Object.entries(typed)),
          make: () => createRoom(deps, principalOf(request), newRoomFields(typed)),
          nameOf: (room) => room.roomCode,
        });
        return done(reply, `${path}/${roomCode}`, "room-created");
      },
      (error) => show(request, reply, { error, typed }),
    );
  });

  roomDetail(forms, deps);
}
