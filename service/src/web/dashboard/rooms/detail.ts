import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { closingVersions, type SealClosingDeps, sealClosing } from "../../../closing-passports/closing-passports.ts";
import { principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import type { Principal } from "../../../identity/identity.ts";
import { orderPage } from "../../../orders/orders.ts";
import { invalid } from "../../../platform/errors.ts";
import {
  addParticipant,
  attachFields,
  attachOrder,
  closeRoom,
  detachOrder,
  ownRoom,
  participantFields,
  removeParticipant,
  reopenRoom,
  rotateRoom,
} from "../../../rooms/rooms.ts";
import type { Assets } from "../../ui/assets.ts";
import { type FormValues, formBody } from "../../ui/forms/fields.ts";
import { attempt, done, sendPage } from "../page-shell.ts";
import { roomBody } from "./detail-body.ts";
import { orderCodeOf } from "./orders.ts";
import type { RoomPart, RoomProblem } from "./view.ts";

export type RoomsDeps = SealClosingDeps & { assets: Assets; limits: RateLimits };

type Room = { code: string; orderCode: string; participantId: string };
type Asked = { principal: Principal; params: Room; typed: FormValues };
/** Where to go when it is done, and what to say there. */
type Done = { word: Parameters<typeof done>[2]; code?: string };

const path = "/dashboard/rooms/:code";
const latestOrders = "25";

/** A room of the firm, with everything that its owner may do to it. */
export function roomDetail(forms: FastifyInstance, deps: RoomsDeps): void {
  async function show(request: FastifyRequest, reply: FastifyReply, problem?: RoomProblem): Promise<FastifyReply> {
    const principal = principalOf(request);
    const { code } = request.params as Room;
    const room = await ownRoom(deps, principal, code);
    const [passport, { orders }] = await Promise.all([
      closingVersions(deps.db, principal, code),
      orderPage(deps.db, principal, { limit: latestOrders }),
    ]);
    const body = roomBody({ room, passport, orders, baseUrl: deps.baseUrl, problem });
    return sendPage(deps, request, reply, { title: room.name, section: "rooms", body, scripts: ["copy.js"] });
  }

  forms.get(path, { schema: { hide: true } }, (request, reply) => show(request, reply));

  const onRequest = deps.limits.limit("partner-write");
  /** A form of the page: what it does, and the part of the page where its refusal is shown. */
  const change = (route: string, part: RoomPart, work: (asked: Asked) => Promise<Done>) =>
    forms.post(path + route, { onRequest, schema: { hide: true } }, (request, reply) => {
      const params = request.params as Room;
      const typed = formBody(request.body);
      return attempt(
        reply,
        async () => {
          const { word, code = params.code } = await work({ principal: principalOf(request), params, typed });
          return done(reply, `/dashboard/rooms/${code}`, word);
        },
        (error) => show(request, reply, { part, error, typed }),
      );
    });

  change("/orders", "attach", async ({ principal, params, typed }) => {
    const fields = attachFields({ ...typed, orderCode: orderCodeOf(typed) });
    const { alreadyAttached } = await attachOrder(deps, principal, params.code, fields);
    return { word: alreadyAttached ? "room-order-there" : "room-order-attached" };
  });
  change("/orders/:orderCode/detach", "orders", async ({ principal, params }) => {
    await detachOrder(deps, principal, params.code, params.orderCode);
    return { word: "room-order-detached" };
  });
  change("/participants", "add-participant", async ({ principal, params, typed }) => {
    const { alreadyPresent } = await addParticipant(deps, principal, params.code, participantFields(typed));
    return { word: alreadyPresent ? "participant-there" : "participant-added" };
  });
  change("/participants/:participantId/remove", "participants", async ({ principal, params }) => {
    await removeParticipant(deps, principal, params.code, params.participantId);
    return { word: "participant-removed" };
  });
  change("/passport", "passport", async ({ principal, params, typed }) => {
    await sealClosing(deps, principal, params.code, versionOf(typed));
    return { word: "room-sealed" };
  });
  change("/rotate", "share", async ({ principal, params }) => {
    const { roomCode } = await rotateRoom(deps, principal, params.code);
    return { word: "room-rotated", code: roomCode };
  });
  change("/close", "state", async ({ principal, params }) => {
    await closeRoom(deps, principal, params.code);
    return { word: "room-closed" };
  });
  change("/reopen", "state", async ({ principal, params }) => {
    await reopenRoom(deps, principal, params.code);
    return { word: "room-reopened" };
  });
}

/** The version that the form offered to seal. */
function versionOf({ version = "" }: FormValues): number {
  if (!/^\d{1,3}$/.test(version)) throw invalid("version must be the number of the next version.");
  return Number(version);
}
